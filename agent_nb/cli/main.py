"""The entry point: `agent-nb` and `python -m agent_nb`."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence

from agent_nb.cli.args import Invocation, package_version, parse
from agent_nb.cli.json_mode import run_json
from agent_nb.cli.print_mode import run_print
from agent_nb.cli.prompts import FirstPrompt, first_prompt
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.session.create import create_session
from agent_nb.session.session import AgentSession

TERMINATED = 128 + signal.SIGTERM


def run() -> None:
    """Run the command line and exit with its code."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code. Errors are one line on standard error."""
    try:
        invocation = parse(arguments)
        if invocation.show_version:
            sys.stdout.write(f"agent-nb {package_version()}\n")
            return 0
        if invocation.list_models is not None:
            return _list_models(invocation.list_models)
        if invocation.mode == "rpc":
            return asyncio.run(_serve(invocation))
        first, rest = _prompts(invocation)
        return asyncio.run(_run(invocation, first, rest))
    except AgentError as error:
        sys.stderr.write(f"agent-nb: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # whoever read our output has left; nothing more can be said there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _prompts(invocation: Invocation) -> tuple[FirstPrompt, Sequence[str]]:
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    head, *rest = invocation.prompts or ("",)
    first = first_prompt(piped, invocation.files, head)
    if not first.text.strip():
        raise ConfigError('There is nothing to ask. Try: agent-nb -p "What is in README.md?"')
    return first, rest


async def _session(invocation: Invocation) -> AgentSession:
    session = await create_session(invocation.options)
    for report in session.reports:
        sys.stderr.write(f"agent-nb: {report}\n")
    return session


async def _serve(invocation: Invocation) -> int:
    from agent_nb.cli.rpc_mode import private_output, run_rpc

    if sys.stdin is None:
        raise ConfigError("--mode rpc needs standard input.")
    with private_output() as records:
        session = await _session(invocation)
        return await run_rpc(
            session, invocation.options, commands=sys.stdin.fileno(), records=records
        )


async def _run(invocation: Invocation, first: FirstPrompt, rest: Sequence[str]) -> int:
    session = await _session(invocation)
    terminated = _abort_when_terminated(session)
    try:
        if invocation.mode == "json":
            code = await run_json(session, first, rest, sys.stdout.buffer)
        else:
            code = await run_print(session, first, rest, sys.stdout.buffer, sys.stderr)
    finally:
        await session.dispose()
    return TERMINATED if terminated.is_set() else code


def _abort_when_terminated(session: AgentSession) -> asyncio.Event:
    terminated = asyncio.Event()

    def stop() -> None:
        terminated.set()
        session.abort_soon()

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers in asyncio
        loop.add_signal_handler(signal.SIGTERM, stop)
        loop.add_signal_handler(signal.SIGINT, stop)
    return terminated


def _list_models(search: str) -> int:
    from agent_nb.session.create import load_catalog

    catalog = load_catalog()
    for provider in catalog.providers():
        for model in catalog.models(provider):
            if search.lower() in model.key.lower():
                sys.stdout.write(f"{model.key}\n")
    return 0
