"""What went wrong on a model server's side, as errors with a text to read and to decide by.

Whether to ask again is decided by the text (`session/retry.py`), so it keeps the server's words.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.errors import ContextOverflowError, ProviderError
from agent_nb.core.secrets import mask

BODY_LIMIT = 4000
"""Characters of an error's text that are kept. Source: pi-ai 1.6.0, `utils/error-body`."""

_LONGEST_KEY = 4096

_OVERFLOW = re.compile(
    r"""(?xi)
    ^413\b                                                    # whatever the body says
    | prompt\ (?:is\ )?too\ long | prompt\ exceeds\ max\ length | request_too_large
    | input\ is\ too\ long\ for\ requested\ model | exceeds?\ the\ context\ window
    | exceeds\ (?:the\ )?(?:model'?s\ )?maximum\ context\ length(?:\ of\ |\s*\()[\d,]+
    | context\ window\ exceed(?:ed|s\ limit) | exceed\ context\ window
    | input\ token\ count.*exceeds\ the\ maximum | maximum\ prompt\ length\ is\ \d
    | reduce\ the\ length\ of\ the\ messages | maximum\ context\ length\ is\ \d+\ tokens
    | exceeds\ (?:the\ )?maximum\ allowed\ input\ length | exceeds\ the\ limit\ of\ \d
    | is\ longer\ than\ the\ model'?s\ context\ length | greater\ than\ the\ context\ length
    | (?:exceed|exceeds\ the\ available)[_ ]context[_ ]size | exceeded\ model\ token\ limit
    | too\ large\ for\ model\ with\ \d+\ maximum\ context
    | prompt\ has\ [\d,]+\ tokens?,\ but\ the\ configured\ context\ size
    | model_context_window_exceeded | exceeded\ (?:max\ )?context\ length
    | range\ of\ input\ length\ should\ be | context[_ ]length[_ ]exceeded
    | too\ many\ tokens | token\ limit\ exceeded
    """
)
_OTHER_LIMIT = re.compile(
    r"(?i)rate limit|too many requests|^(?:throttling error|service unavailable):"
)
_TAGS = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>")


def is_context_overflow(text: str) -> bool:
    """Say whether an error's text means that the request is too long for the model.

    Source: the kinds that pi-ai 1.6.0 knows (`utils/overflow`), and two llama.cpp wordings.

    >>> is_context_overflow("400: prompt is too long: 213462 tokens > 200000 maximum")
    True
    >>> is_context_overflow("429: Rate limit: too many tokens")
    False
    """
    return _OVERFLOW.search(text) is not None and _OTHER_LIMIT.search(text) is None


def failure(
    text: str,
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
    secrets: Iterable[str] = (),
) -> ProviderError:
    """Make the error for `text`: `secrets` and whatever looks like a key masked, cut to size."""
    shown = _cut(text, secrets)
    kind = ContextOverflowError if is_context_overflow(shown) else ProviderError
    return kind(shown, status=status, retry_after_s=retry_after_s)


def _cut(text: str, secrets: Iterable[str]) -> str:
    """Mask, then cut: of a key that is cut in two no part would be recognised."""
    start = mask(text[: BODY_LIMIT + 2 * _LONGEST_KEY], secrets)
    if len(text) > BODY_LIMIT + 2 * _LONGEST_KEY:
        start = start[:-_LONGEST_KEY]
    elif len(start) <= BODY_LIMIT:
        return start
    return f"{start[:BODY_LIMIT]}… ({len(text):,} characters)"


def refusal(
    status: int, body: str, headers: Mapping[str, str], secrets: Iterable[str] = ()
) -> ProviderError:
    """Make the error for an answer that is no success: `STATUS: body`."""
    # Masked as it came: the words of a web page may end where reading it did, within a key.
    text = f"{status}: {readable(mask(body, secrets)) or '(no body)'}"
    location = headers.get("location") if 300 <= status < 400 else None
    if location:
        text = f"{status}: the server sends us on to {location}; use that as the model's base URL"
    return failure(text, status=status, retry_after_s=retry_after_s(headers), secrets=secrets)


def readable(body: str) -> str:
    """Return an error body fit to be read, a web page as its words; `failure` cuts it to size.

    >>> readable("<html><title>502 Bad Gateway</title><hr>nginx</html>")
    '502 Bad Gateway nginx'
    """
    text = body.strip()
    return " ".join(_TAGS.sub(" ", text).split()) if text.startswith("<") else text


def error_text(error: Any) -> str:
    """Put what a server says in an error object into words.

    >>> error_text({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}})
    'Busy (overloaded_error)'
    >>> error_text({"code": 500, "message": "No grammar", "type": "server_error"})
    'No grammar (server_error, 500)'
    """
    if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping | str):
        error = error["error"]
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return error if isinstance(error, str) else json_text.dumps(error).decode()
    kinds = dict.fromkeys(str(error[key]) for key in ("type", "code") if error.get(key))
    text = f"{error['message']} ({', '.join(kinds)})" if kinds else str(error["message"])
    metadata = error.get("metadata")  # OpenRouter: what its upstream said
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f"{text}\n{readable(str(raw))}" if raw else text


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return how long the server asks to wait, in seconds, however long; None if it does not.

    >>> retry_after_s({"retry-after": "7"}), retry_after_s({"retry-after": "soon"})
    (7.0, None)
    """
    value, unit = headers.get("retry-after-ms"), 1000
    if value is None:
        value, unit = headers.get("retry-after"), 1
    if value is None:
        return None
    try:
        seconds = float(value) / unit
    except ValueError:
        return _seconds_until(value, now or datetime.now(UTC))
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max((then - now).total_seconds(), 0.0)
