"""History as a model may see it: the rules every wire protocol shares.

Source: pi-ai 1.6.0, `api/transform-messages`. The input is what the session keeps; nothing is
changed there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from uuid import uuid4

import orjson

from agent_nb.core import json_text
from agent_nb.core.content import (
    ContentBlock,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import Model

NO_RESULT = "There is no result: the call was interrupted before it ended."
USER_IMAGE_LEFT_OUT = "(An image was here; this model takes no images.)"
TOOL_IMAGE_LEFT_OUT = "(The tool gave an image; this model takes no images.)"

Said = TextContent | ThinkingContent | ToolCall
Shown = TextContent | ImageContent


@dataclass(frozen=True, slots=True)
class Unit:
    """What is encoded together: a user message, or an answer with the results of its calls.

    Attributes:
        head: The user's message or the answer; None where neither is to be sent.
        results: One for each call of the answer, in the order they came.
        start: Index of its first message.
        end: Index of the first message after it.
        is_open: It is the last one, and results may still come.
    """

    head: UserMessage | AssistantMessage | None
    results: tuple[ToolResultMessage, ...]
    start: int
    end: int
    is_open: bool = False


def units(messages: Sequence[Message], start: int = 0) -> Iterator[Unit]:
    """Cut the history from `start` on into units.

    Failed and stopped answers are left out, with what belongs to them; so are results without a
    call, and messages of other kinds. A call without a result gets one that says so.
    """
    first, end = start, start
    for end, message in enumerate(islice(messages, start, None), start):
        if end > first and isinstance(message, UserMessage | AssistantMessage):
            yield _unit(messages[first:end], first)
            first = end
    if first < len(messages):
        yield _unit(messages[first:], first, is_last=True)


def _unit(messages: Sequence[Message], start: int, *, is_last: bool = False) -> Unit:
    head, end = messages[0], start + len(messages)
    if isinstance(head, UserMessage):
        return Unit(head, (), start, end)
    if not isinstance(head, AssistantMessage) or head.stop_reason in {"error", "aborted"}:
        return Unit(None, (), start, end)
    wanted = {call.id: call for call in head.tool_calls}
    results = []
    for message in messages:
        if isinstance(message, ToolResultMessage) and message.tool_call_id in wanted:
            del wanted[message.tool_call_id]
            results.append(message)
    missing = [_no_result(call) for call in wanted.values()]
    return Unit(head, (*results, *missing), start, end, is_open=is_last and bool(missing))


def _no_result(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(call.id, call.name, (TextContent(NO_RESULT),), is_error=True)


def is_of_model(message: AssistantMessage, model: Model) -> bool:
    """Say whether `model` itself gave this answer."""
    said_by = (message.provider, message.api, message.model)
    return said_by == (model.provider, model.api, model.id)


def said(message: AssistantMessage, model: Model) -> list[Said]:
    """Return the blocks of an answer that `model` may see; empty ones are left out.

    Thinking is for the model that thought it: signatures are worth nothing to another one, which
    would also take readable thinking for part of the answer.
    """
    own = is_of_model(message, model)
    blocks: list[Said] = []
    for block in message.content:
        if isinstance(block, ToolCall):
            blocks.append(block)
        elif isinstance(block, TextContent):
            if block.text.strip():
                blocks.append(block)
        elif isinstance(block, ThinkingContent) and own and _can_be_replayed(block):
            blocks.append(block)
    return blocks


def _can_be_replayed(block: ThinkingContent) -> bool:
    return bool(block.redacted or block.thinking_signature or block.thinking.strip())


def shown(content: str | Sequence[ContentBlock], model: Model, left_out: str) -> list[Shown]:
    """Return text and images for `model`; without eyes it gets the text `left_out` for images."""
    if isinstance(content, str):
        content = (TextContent(content),)
    blocks: list[Shown] = []
    for block in content:
        if isinstance(block, ImageContent) and "image" not in model.inputs:
            block = TextContent(left_out)
            if blocks and blocks[-1] == block:
                continue
        if isinstance(block, ImageContent) or (
            isinstance(block, TextContent) and block.text.strip()
        ):
            blocks.append(block)
    return blocks


def with_call_ids(
    message: AssistantMessage,
    results: Sequence[ToolResultMessage],
    rename: Callable[[str], str],
) -> tuple[AssistantMessage, list[ToolResultMessage]]:
    """Return both with their call ids renamed; ids that are different stay different."""
    ids: dict[str, str] = {}
    for call in message.tool_calls:
        name = rename(call.id)
        taken = set(ids.values())
        number = 1
        while name in taken:
            number += 1
            ending = f"_{number}"
            name = rename(call.id)[: -len(ending)] + ending
        ids[call.id] = name
    content = tuple(
        replace(block, id=ids[block.id]) if isinstance(block, ToolCall) else block
        for block in message.content
    )
    renamed = [replace(result, tool_call_id=ids[result.tool_call_id]) for result in results]
    return replace(message, content=content), renamed


def new_call_id() -> str:
    """Return an id for a call whose server gave it none."""
    return f"call_{uuid4().hex[:24]}"


def encode(value: Any) -> bytes:
    """Write JSON for a model server: lone surrogate halves, which servers refuse, are left out.

    The result is a copy of its own size: orjson's holds on to several times of what it needs.
    """
    try:
        return memoryview(orjson.dumps(value)).tobytes()
    except TypeError:
        return json_text.dumps(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return json_text.drop_surrogates(value)
    if isinstance(value, dict):
        return {json_text.drop_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
