"""Content blocks: what messages are made of. Source: pi 1.6.0, docs/message-types.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent_nb.core.wire import from_wire

Extra = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TextContent:
    """Plain text; `text_signature` is the provider's own and opaque."""

    text: str
    text_signature: str | None = None
    type: Literal["text"] = "text"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class ThinkingContent:
    """The model's reasoning; a redacted block has an encrypted payload in `thinking_signature`."""

    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None
    type: Literal["thinking"] = "thinking"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class ImageContent:
    """An image; `data` is base64, `mime_type` for instance `image/png`."""

    data: str
    mime_type: str
    type: Literal["image"] = "image"
    extra: Extra = None

    def __repr__(self) -> str:
        return f"ImageContent({self.mime_type}, {len(self.data) * 3 // 4:,} bytes)"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool.

    `arguments` are as the model wrote them, not yet validated; where its text was no JSON object
    they are empty and `arguments_error` says what was wrong and quotes the text.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    arguments_error: str | None = None
    thought_signature: str | None = None
    type: Literal["toolCall"] = "toolCall"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """A block of a kind we do not know; kept as it came and left out of requests."""

    type: str
    extra: Extra = None

    @property
    def raw(self) -> dict[str, Any]:
        """The block as it came."""
        return {"type": self.type, **(self.extra or {})}


ContentBlock = TextContent | ThinkingContent | ImageContent | ToolCall | UnknownContent

_KINDS: Mapping[str, type[Any]] = {
    "text": TextContent,
    "thinking": ThinkingContent,
    "image": ImageContent,
    "toolCall": ToolCall,
}


def block_from_wire(data: Mapping[str, Any]) -> ContentBlock:
    """Build a content block; a kind or shape we do not know becomes `UnknownContent`."""
    kind = _KINDS.get(data.get("type", ""), UnknownContent)
    try:
        block: ContentBlock = from_wire(kind, data)
    except (KeyError, ValueError):
        rest = {key: value for key, value in data.items() if key != "type"}
        return UnknownContent(str(data.get("type", "")), rest)
    return block


def blocks_from_wire(data: Sequence[Mapping[str, Any]] | str) -> str | tuple[ContentBlock, ...]:
    """Build the content of a message: a string stays a string."""
    if isinstance(data, str):
        return data
    return tuple(block_from_wire(block) for block in data)


def text_of(content: str | Sequence[ContentBlock]) -> str:
    """Join the text blocks of a message's content.

    >>> text_of((TextContent("a"), ThinkingContent("b"), TextContent("c")))
    'ac'
    """
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextContent))
