"""What a server sent, taken for what it should be; anything else counts as not there."""

from collections.abc import Mapping, Sequence
from typing import Any


def text(value: Any) -> str:
    """Return a string, or nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else ()


def whole(value: Any) -> int | None:
    """Return a number as an integer; neither true nor infinity is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None
