"""`models.json`, checked: pi's format, with the place of a mistake in one line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from agent_nb.core.errors import ConfigError
from agent_nb.core.secrets import is_secret_name

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class _Checked(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="allow", alias_generator=to_camel, defer_build=True
    )


class CostEntry(_Checked):
    """US dollars per million tokens."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


class _Served(_Checked):
    api: str | None = None
    base_url: str | None = None
    headers: Mapping[str, str] | None = None
    compat: Mapping[str, Any] | None = None


class ModelEntry(_Served):
    """A model; what it does not say its provider does."""

    id: str = Field(min_length=1)
    name: str | None = None
    reasoning: bool | None = None
    input: tuple[str, ...] | None = None
    context_window: int | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=0)
    cost: CostEntry | None = None
    thinking_level_map: Mapping[str, str | None] | None = None


class ProviderEntry(_Served):
    """A provider with its models."""

    api_key: str | None = Field(None, repr=False)
    models: tuple[ModelEntry, ...] | None = None

    @property
    def secrets(self) -> Iterator[str]:
        """Yield the key and the secret headers, as they are written."""
        if self.api_key:
            yield self.api_key
        for place in (self, *(self.models or ())):
            for name, value in (place.headers or {}).items():
                if is_secret_header(name):
                    yield value


class _ModelsFile(_Checked):
    providers: Mapping[str, ProviderEntry | None] | None = None


def checked_providers(config: Mapping[str, Any]) -> dict[str, ProviderEntry]:
    """Return the providers of a parsed `models.json`.

    Raises:
        ConfigError: If a value is not what was expected; says where, but not what it is:
            it may be a key.
    """
    try:
        found = _ModelsFile.model_validate(config)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"models.json: {where}: {first['msg']}") from None
    return {name: entry or ProviderEntry() for name, entry in (found.providers or {}).items()}


def is_secret_header(name: str) -> bool:
    """Say whether a header of this name holds a secret.

    >>> is_secret_header("X-Api-Key"), is_secret_header("Authorization"), is_secret_header("X-Team")
    (True, True, False)
    """
    low = name.lower()
    return low.endswith(("authorization", "cookie")) or is_secret_name(low.replace("-", "_"))


def variables_in(value: str) -> list[str]:
    """Return the names of the variables that a value of `models.json` uses.

    >>> variables_in("Bearer ${A} $B")
    ['A', 'B']
    """
    if value.startswith("!"):
        return []
    return [braced or plain for braced, plain in _VARIABLE.findall(value)]
