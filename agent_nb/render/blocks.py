"""The shape of a transcript: what a view shows and every static form is made of.

Neutral and frozen: the live view holds these same blocks while a run goes on, `history.py` makes
them from stored messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent_nb.core.content import ImageContent
from agent_nb.core.messages import NO_USAGE, Usage
from agent_nb.render.growing import GrowingText

Outcome = Literal["done", "error", "stopped", "budget"]
Phase = Literal[
    "starting",
    "waiting",
    "thinking",
    "answering",
    "calling",
    "running",
    "retrying",
    "stopping",
    "done",
    "error",
    "stopped",
    "budget",
]
Status = Literal["writing", "ready", "running", "done", "error", "stopped"]
NoticeKind = Literal["info", "warning", "error"]

ENDED: frozenset[Phase] = frozenset({"done", "error", "stopped", "budget"})


@dataclass(frozen=True, slots=True)
class UserBlock:
    """Something the user said after the question, for instance to steer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Markdown of the model; `is_open` while it is being written."""

    text: GrowingText
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """The model's reasoning; `started_s` counts from the start of the run."""

    text: GrowingText
    is_open: bool = False
    started_s: float | None = None
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One tool call and what came of it.

    Attributes:
        written: The JSON text of the arguments as far as it is written.
        arguments: The arguments, once they are whole.
        output: What the tool gave so far, then its result.
        duration_ms: None if the tool did not run.
        started_s: When it began to run, in seconds from the start of the run.
        refusal: Why a gate refused the call.
        line_count: Lines of the whole result, its closing remark apart; None until there is one.
    """

    id: str
    name: str
    status: Status
    written: GrowingText
    arguments: Mapping[str, Any] | None = None
    output: str = ""
    images: tuple[ImageContent, ...] = ()
    details: Mapping[str, Any] | None = None
    duration_ms: int | None = None
    started_s: float | None = None
    refusal: str = ""
    line_count: int | None = None


@dataclass(frozen=True, slots=True)
class NoticeBlock:
    """A sentence about the run that neither the user nor the model said."""

    text: str
    kind: NoticeKind = "info"


Block = UserBlock | TextBlock | ThinkingBlock | ToolCard | NoticeBlock


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn as it is shown; `number` counts from 1 within the run."""

    number: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A run as it is shown.

    Attributes:
        phase: What is going on, or how the run ended.
        model: `provider/id`.
        model_note: What must be said of the model, such as that it is no language model.
        duration_s: Seconds from the prompt to the end; None if not known.
    """

    question: str
    turns: tuple[ShownTurn, ...] = ()
    phase: Phase = "done"
    model: str = ""
    model_note: str = ""
    language: str = "en"
    usage: Usage = NO_USAGE
    duration_s: float | None = None

    @property
    def tool_count(self) -> int:
        """How many tools were called."""
        return sum(isinstance(b, ToolCard) for turn in self.turns for b in turn.blocks)
