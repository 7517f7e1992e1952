"""How many tokens an answer may have. Source: pi-ai 1.6.0, `api/simple-options`."""

import math
from collections.abc import Mapping, Sequence

from agent_nb.core import json_text
from agent_nb.core.content import ContentBlock, ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import ThinkingLevel
from agent_nb.core.provider import Request

THINKING_BUDGETS: Mapping[ThinkingLevel, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 16_384,
}
"""Tokens of thinking where a server wants a number."""
LEAST_ANSWER = 1024
"""Tokens that thinking leaves for the answer."""

_CHARS_PER_TOKEN = 3.5
_IMAGE_CHARS = 4800
_MARGIN = 4096
_MARGIN_RATIO = 0.15
_WORTH_THE_RATIO = 32_768


def answer_limit(request: Request, wanted: int | None = None) -> int:
    """Return the tokens to allow: `wanted`, or the request's, as far as the window has room.

    Servers count the input differently, so 15 % of it (at least 4,096 tokens) stay free; near the
    end of the window only the 4,096.
    """
    model = request.model
    limit = wanted or request.max_tokens or model.max_tokens
    if model.context_window <= 0:
        return max(limit, 1)
    used = input_tokens(request)
    room = model.context_window - used - max(_MARGIN, math.ceil(used * _MARGIN_RATIO))
    if room < _WORTH_THE_RATIO:
        room = min(_WORTH_THE_RATIO, model.context_window - used - _MARGIN)
    return min(limit, max(room, 1))


def input_tokens(request: Request) -> int:
    """Estimate the tokens of a request, from the last reported usage where there is one."""
    messages = request.messages
    for index in range(len(messages) - 1, -1, -1):
        counted = _counted(messages, index)
        if counted:
            return counted + sum(map(_message_tokens, messages[index + 1 :]))
    prompt = len(request.system) + (len(json_text.dumps(request.tools)) if request.tools else 0)
    return math.ceil(prompt / _CHARS_PER_TOKEN) + sum(map(_message_tokens, messages))


def _counted(messages: Sequence[Message], index: int) -> int:
    answer = messages[index]
    if not isinstance(answer, AssistantMessage) or answer.stop_reason in {"error", "aborted"}:
        return 0
    for first in messages[:2]:  # where a summary takes the place of what the server had counted
        if isinstance(first, UserMessage) and first.timestamp > answer.timestamp:
            return 0
    usage = answer.usage
    return usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write


def _message_tokens(message: Message) -> int:
    if not isinstance(message, UserMessage | AssistantMessage | ToolResultMessage):
        return 0
    content = message.content
    chars = len(content) if isinstance(content, str) else sum(map(_block_chars, content))
    return math.ceil(chars / _CHARS_PER_TOKEN)


def _block_chars(block: ContentBlock) -> int:
    match block:
        case TextContent(text=text):
            return len(text)
        case ThinkingContent(thinking=thinking):
            return len(thinking)
        case ImageContent():
            return _IMAGE_CHARS
        case ToolCall(name=name, arguments=arguments):
            return len(name) + len(json_text.dumps(arguments))
        case _:
            return 0
