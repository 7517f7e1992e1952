"""Tools: a pydantic model of arguments, an async function, and what both need of the world."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ContentBlock, TextContent, text_of

if TYPE_CHECKING:
    from pydantic import BaseModel


class Effect(StrEnum):
    """What a tool does to the world; the permission gate decides by it."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave: blocks for the model, `details` for people and programs."""

    content: tuple[ContentBlock, ...]
    details: Mapping[str, Any] | None = None
    is_error: bool = False
    terminate: bool = False

    @classmethod
    def of(
        cls, text: str, *, details: Mapping[str, Any] | None = None, is_error: bool = False
    ) -> "ToolResult":
        """Make a result of one text block."""
        return cls((TextContent(text),), details, is_error)

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return text_of(self.content)


def _allow_all(_path: Path) -> bool:
    return True


def _ignore(_result: ToolResult) -> None:
    return None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool may use.

    Attributes:
        cwd: The session's directory; relative paths start here.
        signal: Set when the user stops the run.
        environment: Variables for child processes; model keys are not in it.
        sees_images: Whether the model takes images.
        may_read: False for files whose content must not show up in a search unasked.
        update: Shows a partial result; each call replaces the one before.
    """

    cwd: Path
    signal: AbortSignal
    environment: Mapping[str, str] = field(default_factory=dict)
    sees_images: bool = True
    may_read: Callable[[Path], bool] = _allow_all
    update: Callable[[ToolResult], None] = _ignore


Execute = Callable[[Any, ToolContext], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Tool:
    """A tool as a value.

    Attributes:
        name: As the model calls it.
        description: Tells the model what it does.
        arguments: The pydantic model that validates what the model wrote.
        execute: Runs a call; raises `ToolError` for what the model should read as an error.
        effects: What it does to the world.
        summary: One line for the system prompt.
        guidelines: Rules for the system prompt.
        paths: The paths a call would touch, as written by the model.
        prepare: Mends arguments before validation.
        sequential: True if no other call of the answer may run meanwhile.
    """

    name: str
    description: str
    arguments: "type[BaseModel]"
    execute: Execute
    effects: frozenset[Effect] = frozenset()
    summary: str = ""
    guidelines: tuple[str, ...] = ()
    paths: Callable[[Any], Sequence[str]] = lambda _arguments: ()
    prepare: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    sequential: bool = False

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of the arguments, without pydantic's titles."""
        schema: dict[str, Any] = _without_titles(self.arguments.model_json_schema())
        schema.pop("description", None)
        return schema

    @property
    def declaration(self) -> dict[str, Any]:
        """How the tool is declared to a model and in a session file."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }

    def __repr__(self) -> str:
        return f"Tool({self.name}: {self.summary or self.description.splitlines()[0]})"


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    return schema
