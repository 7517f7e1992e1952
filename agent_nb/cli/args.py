"""The command line's options: pi's names, for what works without a terminal interface."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from agent_nb.core.errors import ConfigError
from agent_nb.session.create import SessionOptions

_MODES = "text, events as JSON lines, or rpc: commands as JSON lines on standard input"


@dataclass(frozen=True, slots=True)
class Invocation:
    """What the command line asks for."""

    mode: Literal["text", "json", "rpc"]
    options: SessionOptions
    prompts: tuple[str, ...]
    files: tuple[str, ...]
    list_models: str | None = None
    show_version: bool = False


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See agent-nb --help.")


def parse(arguments: Sequence[str]) -> Invocation:
    """Read the command line.

    Raises:
        ConfigError: If an option is unknown or its value wrong; the text names it.
    """
    given = _parser().parse_intermixed_args(_without_optional_list(arguments))
    positional: list[str] = given.prompts
    files = tuple(item[1:] for item in positional if item.startswith("@") and len(item) > 1)
    prompts = tuple(item for item in positional if not (item.startswith("@") and len(item) > 1))
    tools = [] if given.no_tools else _names(given.tools)
    if given.provider and not given.model:
        raise ConfigError("--provider needs --model.")
    if given.mode == "rpc" and positional:
        raise ConfigError("--mode rpc takes prompts as commands on standard input, not here.")
    return Invocation(
        given.mode,
        SessionOptions(
            model=given.model,
            provider=given.provider,
            thinking=given.thinking,
            tools=tools,
            api_key=given.api_key,
            session_file=given.session,
            resume=given.resume,
            no_session=given.no_session,
            session_dir=given.session_dir,
            trusted=bool(given.approve),
            context_files=not given.no_context_files,
        ),
        prompts,
        files,
        given.list_models,
        given.version,
    )


def _names(value: str | None) -> list[str] | None:
    if value is None:
        return None
    return [name.strip() for name in value.split(",") if name.strip()]


def _without_optional_list(arguments: Sequence[str]) -> list[str]:
    """Give `--list-models` without a search the empty one, so that argparse takes it."""
    out = []
    for index, item in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else "-"
        bare = item == "--list-models" and following.startswith("-")
        out.append("--list-models=" if bare else item)
    return out


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="agent-nb",
        description="Ask a coding agent about the files in this directory. "
        "Without any key the rule-based demo/reader answers.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompts", nargs="*", metavar="PROMPT", help="what to ask; @FILE includes a file")
    add("-p", "--print", action="store_true", help="print the last answer (the default)")
    add("--mode", choices=["text", "json", "rpc"], default="text", help=_MODES)
    add("--model", "-m", help="provider/id, an id or a part of one; :LEVEL sets thinking")
    add("--provider", help="look for --model at this provider only")
    add("--thinking", help="off, minimal, low, medium, high or xhigh")
    add("--api-key", help="key for the model's provider, kept nowhere")
    add("--tools", "-t", help="comma-separated names, or +name and -name")
    add("--no-tools", "-nt", action="store_true", help="no tools at all")
    add("--continue", "-c", dest="resume", action="store_true", help="go on with the last session")
    add("--session", help="open or make this session file")
    add("--session-dir", help="where session files are")
    add("--no-session", action="store_true", help="keep nothing on disk")
    add("--approve", action="store_true", help="trust this project's settings and resources")
    add("--no-approve", dest="approve", action="store_false", help="do not (the default)")
    add("--no-context-files", "-nc", action="store_true", help="leave AGENTS.md and CLAUDE.md out")
    add("--list-models", metavar="SEARCH", help="list models and exit")
    add("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(approve=False)
    return parser


def package_version() -> str:
    """Return the installed version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("jupyter-agent-nb")
    except PackageNotFoundError:
        return "not installed"
