"""What the argument models of all tools share: leniency towards how models write them."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic.alias_generators import to_camel


class Arguments(BaseModel):
    """Arguments of a tool: camelCase for the model, numbers for text and text for numbers are fine.

    A null means "not given", and keys we do not know are ignored.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        coerce_numbers_to_str=True,
        defer_build=True,  # half of what importing the tools would cost
        extra="ignore",
        frozen=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            return {key: value for key, value in data.items() if value is not None}
        return data

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the schema in the plain words every provider knows: no references, no null."""
        schema = super().model_json_schema(*args, **kwargs)
        definitions = schema.pop("$defs", {})
        plain: dict[str, Any] = _plain(schema, definitions)
        return plain


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain = {key: _plain(value, definitions) for key, value in schema.items()}
    if plain.get("default", ...) is None:
        del plain["default"]
    kinds = [kind for kind in plain.pop("anyOf", ()) if kind != {"type": "null"}]
    return {**kinds[0], **plain} if len(kinds) == 1 else plain | ({"anyOf": kinds} if kinds else {})


def _whole(value: Any) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return value
    return math.floor(number) if math.isfinite(number) else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""An integer; "2" and 2.7 are accepted for 2."""
