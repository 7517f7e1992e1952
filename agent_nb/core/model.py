"""Models: who serves them, over which protocol, with which limits and prices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb.core.messages import Cost, Usage

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high", "xhigh")


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A model id with its limits and prices.

    Attributes:
        provider: Who serves it (`anthropic`, `demo`).
        api: Which wire protocol it speaks (`anthropic-messages`).
        inputs: What it takes: "text", "image".
        context_window: Tokens a request and its answer may hold together.
        max_tokens: Tokens an answer may hold.
        prices: None where no price is known: then cost is unknown, not zero.
        headers: Sent with each request.
        compat: Quirks of the server, in pi's words.
        thinking_levels: Our thinking levels in the server's words; None disables one.
    """

    id: str
    provider: str
    api: str
    base_url: str = field(default="", repr=False)
    name: str = ""
    reasoning: bool = False
    inputs: tuple[str, ...] = ("text",)
    context_window: int = 128_000
    max_tokens: int = 16_384
    prices: Prices | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    compat: Mapping[str, Any] = field(default_factory=dict)
    thinking_levels: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """`provider/id`, as options and settings name it."""
        return f"{self.provider}/{self.id}"

    def __str__(self) -> str:
        return self.key


def priced(usage: Usage, prices: Prices | None) -> Usage:
    """Return `usage` with its cost in US dollars; without prices it stays as it is."""
    if prices is None:
        return usage
    million = 1_000_000
    parts = (
        usage.input * prices.input / million,
        usage.output * prices.output / million,
        usage.cache_read * prices.cache_read / million,
        usage.cache_write * prices.cache_write / million,
    )
    return Usage(
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.total_tokens,
        usage.reasoning,
        Cost(*parts, sum(parts)),
        usage.extra,
    )


def clamp_thinking(level: ThinkingLevel, model: Model) -> ThinkingLevel:
    """Return the nearest level the model has, as pi does: silently, downwards first.

    >>> clamp_thinking("high", Model("m", "p", "a"))
    'off'
    >>> clamp_thinking("xhigh", Model("m", "p", "a", reasoning=True))
    'high'
    """
    if not model.reasoning:
        return "off"
    levels = [lv for lv in THINKING_LEVELS if _has_level(lv, model)]
    if level in levels:
        return level
    below = [lv for lv in levels if THINKING_LEVELS.index(lv) < THINKING_LEVELS.index(level)]
    return below[-1] if below else levels[0]


def _has_level(level: ThinkingLevel, model: Model) -> bool:
    if level in model.thinking_levels:
        return model.thinking_levels[level] is not None
    return level != "xhigh"
