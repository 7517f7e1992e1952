"""Concrete providers, made when a model of theirs is first asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from agent_nb.core.errors import ConfigError
from agent_nb.core.model import Model
from agent_nb.core.provider import Provider
from agent_nb.core.secrets import secret_values
from agent_nb.providers.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Terms:
    """What a provider is made with.

    Attributes:
        api_key: Its key, if it needs one.
        idle_timeout_s: How long a server may be silent, in seconds.
        demo_words_per_s: How fast the demo speaks; None does not wait.
    """

    api_key: str | None = field(default=None, repr=False)
    idle_timeout_s: float = 300
    demo_words_per_s: float | None = None


def _openai_completions(terms: Terms) -> Provider:
    from agent_nb.providers.openai_completions import OpenAICompletions

    return OpenAICompletions(api_key=terms.api_key, idle_timeout_s=terms.idle_timeout_s)


def _openai_responses(terms: Terms) -> Provider:
    from agent_nb.providers.openai_responses import OpenAIResponses

    return OpenAIResponses(api_key=terms.api_key, idle_timeout_s=terms.idle_timeout_s)


def _anthropic_messages(terms: Terms) -> Provider:
    from agent_nb.providers.anthropic_messages import AnthropicMessages

    return AnthropicMessages(api_key=terms.api_key, idle_timeout_s=terms.idle_timeout_s)


def _demo(terms: Terms) -> Provider:
    from agent_nb.providers.demo import DemoProvider

    return DemoProvider(terms.demo_words_per_s)


APIS: Mapping[str, Callable[[Terms], Provider]] = {
    "openai-completions": _openai_completions,
    "openai-responses": _openai_responses,
    "anthropic-messages": _anthropic_messages,
    "demo": _demo,
}


class ProviderPool:
    """One provider per name; in-process ones are given by their name.

    Args:
        catalog: Knows keys.
        given: Ready providers by provider name ("demo", "scripted").
        terms: For those made here; a key in it is used instead of every other.
    """

    def __init__(self, catalog: Catalog, given: Mapping[str, Provider], terms: Terms) -> None:
        self._catalog = catalog
        self._providers = {(name, ""): provider for name, provider in given.items()}
        self._terms = terms

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown, the given key among it; longest first."""
        return secret_values({}, (*self._catalog.secrets, self._terms.api_key or ""))

    def for_model(self, model: Model) -> Provider:
        """Return who serves the model.

        Raises:
            ConfigError: If its key is missing or its protocol unknown.
        """
        own = self._providers.get((model.provider, ""))
        if own is not None:
            return own
        place = (model.provider, model.api)
        if place not in self._providers:
            self._providers[place] = self._make(model)
        return self._providers[place]

    def _make(self, model: Model) -> Provider:
        make = APIS.get(model.api)
        if make is None:
            raise ConfigError(
                f"{model.key} speaks {model.api!r}; this version knows {', '.join(APIS)}."
            )
        key = self._catalog.key(model)
        value = self._terms.api_key or (key.value if key else None)
        if value is None and self._catalog.needs_key(model):
            raise ConfigError(self._catalog.missing_key(model))
        return make(replace(self._terms, api_key=value))

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers.values():
            await provider.close()
