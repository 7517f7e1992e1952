"""A scripted chat-completions server on loopback for the benchmarks; one HTTP chunk per event.

The path says what it plays: `/deltas/COUNT/v1/…` streams that many deltas of 4 characters;
`/tools/TURNS/RUN/v1/…` asks for `read` that many times, then answers. `GET /times/RUN` returns when
each request of a run came, in seconds.
"""

import asyncio
import json
import sys
import time


def chunk(data: bytes) -> bytes:
    """Return one event as an HTTP chunk."""
    body = b"data: " + data + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(body), body)


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    """Return one chat-completions event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "bench", "object": "chat.completion.chunk", "choices": [choice]}
    return chunk(json.dumps(data, separators=(",", ":")).encode())


USAGE = chunk(
    b'{"id":"bench","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}'
)
DONE = chunk(b"[DONE]") + b"0\r\n\r\n"
DELTA = event({"content": "abcd"})
HEADERS = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)


class Server:
    """Plays answers and remembers when requests came."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, _ = head.split(b" ", 2)
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                await reader.readexactly(length)
                await self.answer(method, path.decode().strip("/").split("/"), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, method: bytes, path: list[str], writer: asyncio.StreamWriter) -> None:
        """Play what the path says."""
        if method == b"GET":
            body = json.dumps(self.times.get(path[1], [])).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            return
        writer.write(HEADERS)
        if path[0] == "deltas":
            await self.deltas(int(path[1]), writer)
        else:
            self.tools(int(path[1]), path[2], writer)
        writer.write(USAGE + DONE)
        await writer.drain()

    async def deltas(self, count: int, writer: asyncio.StreamWriter) -> None:
        """Stream many small deltas, each written on its own."""
        for _ in range(count):
            writer.write(DELTA)
            await writer.drain()
        writer.write(event({}, "stop"))

    def tools(self, turns: int, run: str, writer: asyncio.StreamWriter) -> None:
        """Ask for a file until enough turns have passed."""
        times = self.times.setdefault(run, [])
        times.append(time.perf_counter())
        if len(times) > turns:
            writer.write(event({"content": "done"}))
            writer.write(event({}, "stop"))
            return
        call = {"index": 0, "id": f"call_{len(times)}", "type": "function"}
        call["function"] = {"name": "read", "arguments": '{"path":"file.txt"}'}
        writer.write(event({"tool_calls": [call]}))
        writer.write(event({}, "tool_calls"))


async def main() -> None:
    """Serve until interrupted; the port is the first line of the output."""
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 0, limit=2**26)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
