"""The `bash` tool, and running a shell command for whoever else needs it."""

import asyncio
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import Field

from agent_nb.core.abort import Aborted
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments
from agent_nb.tools.children import Child
from agent_nb.tools.file_writes import encode
from agent_nb.tools.output_tail import MOST_FILE_BYTES, OutputTail
from agent_nb.tools.paths import is_directory
from agent_nb.tools.process_groups import ProcessGroups
from agent_nb.tools.truncate import MAX_BYTES, MAX_LINES, format_size

_UPDATE_EVERY_S = 0.1
_DRAIN_S = (
    0.2  # with the time a stop takes, less than what an aborted tool has before it is cancelled
)
_MOST_TIMEOUT_S = 2_147_483  # pi's, the longest timer of its runtime


class BashArguments(Arguments):
    """Arguments of `bash`."""

    command: str = Field(description="Shell command to run")
    timeout: float | None = Field(
        None,
        gt=0,
        le=_MOST_TIMEOUT_S,
        description="Seconds after which the command is ended; without it there is no limit",
    )


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """How a command ended and what it wrote.

    Attributes:
        ended: Whether it ended by itself, by its timeout or by the user.
        exit_code: The shell's, None if it did not end by itself.
        output: The end of its output, and where all of it is.
        shell_exit_code: The shell's, even if the timeout struck what it left in the background.
    """

    ended: Literal["exited", "timed out", "aborted"]
    output: OutputTail
    shell_exit_code: int | None

    @property
    def exit_code(self) -> int | None:
        """The exit code, None if the command did not end by itself."""
        return self.shell_exit_code if self.ended == "exited" else None


def _ignore(_data: bytes) -> None:
    return None


async def run_command(
    groups: ProcessGroups,
    command: str,
    context: ToolContext,
    *,
    timeout_s: float | None = None,
    hear: Callable[[bytes], None] = _ignore,
) -> CommandOutcome:
    """Run a shell command to its end, showing its output through `context.update` as it comes.

    `hear` is given each piece of the output, before any of it is left out.

    It is ended with all it started when the time is over, the user stops it, or this is cancelled.

    Raises:
        ToolError: If it cannot be started.
    """
    context.signal.check()
    child = await _start(groups, command, context)
    output = OutputTail()
    collecting = asyncio.create_task(_collect(child, output, context, hear))
    ended: Literal["exited", "timed out", "aborted"] = "exited"
    shell_exit_code = None
    try:
        try:
            waiting = asyncio.wait({collecting}, timeout=timeout_s)
            done, _pending = await context.signal.guard(waiting)
            for task in done:
                task.result()
            ended = "exited" if done else "timed out"
        except Aborted:
            ended = "aborted"
        shell_exit_code = child.exit_code
        if ended != "exited":
            await groups.stop(child)
            # What left the group could write for ever.
            await asyncio.wait({collecting}, timeout=_DRAIN_S)
    finally:
        if not collecting.done():
            groups.kill(child)
            collecting.cancel()
        groups.release(child)
        output.finish()
    return CommandOutcome(ended, output, shell_exit_code)


async def _start(groups: ProcessGroups, command: str, context: ToolContext) -> Child:
    if "\0" in command:
        raise ToolError("The command has a NUL character, which no command may hold.")
    if not is_directory(context.cwd, f"The working directory {context.cwd}"):
        raise ToolError(f"The working directory {context.cwd} is not a directory.")
    search = context.environment.get("PATH")
    shell = shutil.which("bash", path=search) or shutil.which("sh", path=search)
    if shell is None:
        raise ToolError(
            "No bash was found. On Windows it comes with Git for Windows (https://gitforwindows.org)"
            " or MSYS2; its directory must be on PATH."
        )
    try:
        return await groups.start(
            shell, encode(command), cwd=context.cwd, environment=context.environment
        )
    except OSError as error:
        raise ToolError(f"The command cannot be started: {error.strerror or error}.") from error


async def _collect(
    child: Child, output: OutputTail, context: ToolContext, hear: Callable[[bytes], None]
) -> None:
    """Read to the end of the output and of the process, showing changes ten times a second."""
    shown_at, changed, ended = 0.0, False, False
    while not ended:
        wait_s = shown_at + _UPDATE_EVERY_S - time.monotonic() if changed else None
        if wait_s is not None and wait_s <= 0:
            context.update(_partial_result(output))
            shown_at, changed = time.monotonic(), False
            continue
        try:
            async with asyncio.timeout(wait_s):
                data = await child.read()
        except TimeoutError:
            continue
        hear(data)
        await asyncio.to_thread(output.append, data)
        changed, ended = changed or bool(data), not data
    await child.exited.wait()


def _partial_result(output: OutputTail) -> ToolResult:
    return ToolResult.of(output.truncation.content, details=output.details())


async def bash(groups: ProcessGroups, arguments: BashArguments, context: ToolContext) -> ToolResult:
    """Run the command; a result that is not a success has the output so far and says why.

    Raises:
        ToolError: If the command cannot be started.
    """
    outcome = await run_command(groups, arguments.command, context, timeout_s=arguments.timeout)
    text = _shown(outcome.output)
    status = _status(outcome, arguments.timeout)
    if status:
        text = f"{text.removesuffix(chr(10))}\n\n{status}" if text else status
    return ToolResult.of(
        text or "(The command wrote nothing.)",
        details=outcome.output.details(),
        is_error=bool(status),
    )


def _shown(output: OutputTail) -> str:
    truncation = output.truncation
    if not truncation.truncated:
        return truncation.content
    where = f"Full output: {output.full_output_path or 'could not be kept'}"
    if output.full_output_cut:
        where = f"The first {format_size(MOST_FILE_BYTES)} of the output: {output.full_output_path}"
    if truncation.last_line_partial:
        size = format_size(output.last_line_bytes)
        part = f"The last {format_size(truncation.output_bytes)} of a line of {size}"
    else:
        first = truncation.total_lines - truncation.output_lines + 1
        part = f"Lines {first}-{truncation.total_lines} of {truncation.total_lines}"
        if truncation.truncated_by == "bytes":
            part += f" ({format_size(MAX_BYTES)} limit)"
    return f"{truncation.content}\n\n[{part}. {where}]"


def _status(outcome: CommandOutcome, timeout_s: float | None) -> str:
    if outcome.ended == "aborted":
        return "The command was aborted by the user."
    if outcome.ended == "timed out":
        status = f"The command was ended after its timeout of {timeout_s:g} seconds."
        if outcome.shell_exit_code is not None:
            status += (
                f" The shell itself had ended before, with exit code {outcome.shell_exit_code}; "
                "what it left in the background went on writing."
            )
        return status
    return f"Exit code {outcome.exit_code}" if outcome.exit_code else ""


def bash_tool(groups: ProcessGroups) -> Tool:
    """Make the tool; `groups` hold what its commands leave running."""
    return Tool(
        name="bash",
        description=(
            "Run a shell command in the working directory; each starts afresh. Returns what it "
            f"writes to stdout and stderr, of long output the last {MAX_LINES} lines or "
            f"{MAX_BYTES // 1024} KB and the name of a file with all of it."
        ),
        arguments=BashArguments,
        execute=partial(bash, groups),
        effects=frozenset({Effect.EXECUTE}),
        summary="Run shell commands",
    )
