"""JSON as wire and session files carry it: orjson, and the standard library where it refuses.

orjson refuses lone surrogate halves and integers beyond 64 bits. pi stores both, so we do.
"""

import json
from typing import Any

import orjson


def loads(data: bytes | str) -> Any:
    """Parse one JSON text; lone surrogate halves written as escapes are kept.

    Raises:
        ValueError: If the text is not JSON, or nested too deeply.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8", "surrogatepass")
        try:
            return json.loads(text, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise ValueError("JSON that is nested too deeply") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def dumps(value: Any) -> bytes:
    """Write compact JSON as UTF-8; what orjson refuses is written with escapes instead."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def join_surrogates(text: str) -> str:
    """Return `text` with surrogate halves that stand side by side joined to one character.

    >>> join_surrogates("a" + chr(0xD83D) + chr(0xDE00)) == "a😀"
    True
    """
    if is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def drop_surrogates(text: str) -> str:
    """Return `text` without lone surrogate halves, as a model server wants it."""
    if is_encodable(text):
        return text
    return join_surrogates(text).encode("utf-8", "ignore").decode("utf-8")


def is_encodable(text: str) -> bool:
    """Say whether `text` is valid Unicode, free of surrogate halves."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
