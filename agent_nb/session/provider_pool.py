"""Concrete providers, made when a model of theirs is first asked."""

from collections.abc import Callable, Mapping

from agent_nb.core.errors import ConfigError
from agent_nb.core.model import Model
from agent_nb.core.provider import Provider
from agent_nb.providers.catalog import Catalog

Make = Callable[[str | None, float], Provider]


def _openai_completions(key: str | None, idle_timeout_s: float) -> Provider:
    from agent_nb.providers.openai_completions import OpenAICompletions

    return OpenAICompletions(api_key=key, idle_timeout_s=idle_timeout_s)


def _anthropic_messages(key: str | None, idle_timeout_s: float) -> Provider:
    from agent_nb.providers.anthropic_messages import AnthropicMessages

    return AnthropicMessages(api_key=key, idle_timeout_s=idle_timeout_s)


APIS: Mapping[str, Make] = {
    "openai-completions": _openai_completions,
    "anthropic-messages": _anthropic_messages,
}


class ProviderPool:
    """One provider per name; in-process ones are given by their name.

    Args:
        catalog: Knows keys.
        given: Ready providers by provider name ("demo", "scripted").
        idle_timeout_s: How long a server may be silent, in seconds.
        api_key: Used instead of every other key.
    """

    def __init__(
        self,
        catalog: Catalog,
        given: Mapping[str, Provider],
        *,
        idle_timeout_s: float,
        api_key: str | None = None,
    ) -> None:
        self._catalog = catalog
        self._providers = {(name, ""): provider for name, provider in given.items()}
        self._idle_timeout_s = idle_timeout_s
        self._api_key = api_key

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
        value = self._api_key or (key.value if key else None)
        if value is None and self._catalog.needs_key(model):
            raise ConfigError(self._catalog.missing_key(model))
        return make(value, self._idle_timeout_s)

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers.values():
            await provider.close()
