"""Between frozen dataclasses here and camelCase objects on the wire and on disk.

A dataclass names its wire keys by its field names (`tool_call_id` is `toolCallId`). A field called
`extra` keeps the keys we do not know, so that they come back out unchanged.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

Decode = Callable[[Any], Any]


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=_Dataclass)


def camel(name: str) -> str:
    """Return the wire spelling of a field name.

    >>> camel("tool_call_id")
    'toolCallId'
    """
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


@cache
def _keys(cls: type[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (field.name, field.metadata.get("key") or camel(field.name))
        for field in dataclasses.fields(cls)
        if field.name != "extra" and not field.metadata.get("internal")
    )


@cache
def _decoders(cls: type[Any]) -> dict[str, tuple[str, Decode | None]]:
    return {
        field.metadata.get("key") or camel(field.name): (field.name, field.metadata.get("decode"))
        for field in dataclasses.fields(cls)
        if field.name != "extra" and not field.metadata.get("internal")
    }


@cache
def _checks(cls: type[Any]) -> dict[str, Callable[[Any], bool]]:
    return {name: _check(hint) for name, hint in get_type_hints(cls).items()}


def _check(hint: Any) -> Callable[[Any], bool]:
    """Return what says whether a value may stand where `hint` is declared.

    Texts that a `Literal` does not list pass: a newer pi may know more of them.
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _value: True
    if origin in {Union, UnionType}:
        options = [_check(option) for option in args]
        return lambda value: any(option(value) for option in options)
    if origin is Literal:
        return lambda value: isinstance(value, str)
    if hint in {int, float}:
        return lambda value: isinstance(value, int | float)
    kind = origin or hint
    if kind in {Mapping, Sequence}:
        part = _check(args[-1])
        return lambda value: (
            isinstance(value, kind)
            and not isinstance(value, str)
            and all(map(part, value.values() if kind is Mapping else value))
        )
    return lambda value: isinstance(value, kind)


def to_wire(value: Any) -> Any:
    """Return `value` as plain JSON data; fields that are None are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out = {}
        for name, key in _keys(type(value)):
            item = getattr(value, name)
            if item is not None:
                out[key] = item if isinstance(item, str | int | float) else to_wire(item)
        out.update(getattr(value, "extra", None) or {})
        return out
    if isinstance(value, tuple | list):
        return [to_wire(item) for item in value]
    return value


def from_wire(cls: type[T], data: Mapping[str, Any]) -> T:
    """Build a `cls` from a JSON object; unknown keys go to its `extra`, if it has one.

    Raises:
        KeyError: If a field without a default is missing.
        ValueError: If a field has another type than it should.
    """
    known, checks = _decoders(cls), _checks(cls)
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, item in data.items():
        target = known.get(key)
        if target is None:
            extra[key] = item
        elif item is not None:
            name, decode = target
            value = decode(item) if decode else item
            if not checks[name](value):
                raise ValueError(f"{cls.__name__}: {key} is a {type(item).__name__}")
            values[name] = value
    if extra and "extra" in cls.__dataclass_fields__:
        values["extra"] = extra
    try:
        return cls(**values)
    except TypeError as error:
        raise KeyError(f"{cls.__name__}: {error}") from error


def wire_field(*, decode: Decode | None = None, key: str | None = None, **options: Any) -> Any:
    """Declare a field with its own decoder or wire key."""
    return dataclasses.field(metadata={"decode": decode, "key": key}, **options)
