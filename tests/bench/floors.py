"""The least a program must do for each workload: what the package is measured against."""

import asyncio
import gc
import sys
import time
from pathlib import Path

import httpx
import orjson


async def deltas(url: str) -> None:
    """Read a stream: raw bytes, line split, orjson, one write per read."""
    out = sys.stdout.buffer
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "go"}]}
    async with (
        httpx.AsyncClient(timeout=300) as client,
        client.stream("POST", f"{url}/chat/completions", json=body) as response,
    ):
        rest = b""
        async for data in response.aiter_raw():
            *lines, rest = (rest + data).split(b"\n")
            parsed = []
            for line in lines:
                if line.startswith(b"data: {"):
                    choices = orjson.loads(line[6:])["choices"]
                    parsed.append(orjson.dumps(choices))
            out.write(b"\n".join(parsed) + b"\n")
            out.flush()


async def tools(url: str, directory: str) -> None:
    """Loop: encode the whole history each time, ask, call a function, remember."""
    history: list[dict[str, object]] = [{"role": "user", "content": "go"}]
    file = Path(directory, "file.txt")
    async with httpx.AsyncClient(timeout=300) as client:
        while True:
            body = orjson.dumps({"model": "m", "stream": True, "messages": history})
            call = None
            async with client.stream("POST", f"{url}/chat/completions", content=body) as response:
                rest = b""
                async for data in response.aiter_raw():
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        if line.startswith(b"data: {"):
                            for choice in orjson.loads(line[6:])["choices"]:
                                calls = choice["delta"].get("tool_calls")
                                call = calls[0] if calls else call
            if call is None:
                return
            arguments = orjson.loads(call["function"]["arguments"])
            text = file.with_name(arguments["path"]).read_text()
            history.append({"role": "assistant", "content": None, "tool_calls": [call]})
            history.append({"role": "tool", "tool_call_id": call["id"], "content": text})


def session(path: str) -> None:
    """Parse every line of a session file with the collector off; print the seconds it took."""
    gc.disable()
    started = time.perf_counter()
    for line in Path(path).read_bytes().split(b"\n"):
        if line:
            orjson.loads(line)
    sys.stdout.write(f"{time.perf_counter() - started}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["deltas", url]:
            asyncio.run(deltas(url))
        case ["tools", url, directory]:
            asyncio.run(tools(url, directory))
        case ["session", path]:
            session(path)
        case ["imports"]:
            import pydantic  # noqa: F401
