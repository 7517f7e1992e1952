"""Which models and thinking levels a user can choose now.

Source: pi 1.6.0, `agent-session` (`cycleModel`, `cycleThinkingLevel`).
"""

from agent_nb.core.model import THINKING_LEVELS, Model, ThinkingLevel, clamp_thinking
from agent_nb.providers.catalog import DEMO, Catalog


def available_models(catalog: Catalog, current: Model) -> list[Model]:
    """Return the models that can be asked without another key.

    The demo stands in where there is nothing else, and is listed while it is in use.
    """
    models = [
        model
        for provider in catalog.providers()
        if _is_open(catalog, Model("", provider, ""))
        for model in catalog.models(provider)
    ]
    hosted = [model for model in models if model.key != DEMO]
    return models if current.key == DEMO or not hosted else hosted


def _is_open(catalog: Catalog, model: Model) -> bool:
    return not catalog.needs_key(model) or catalog.key(model) is not None


def available_thinking(model: Model) -> list[ThinkingLevel]:
    """Return the levels the model has, least first.

    >>> available_thinking(Model("m", "p", "a"))
    ['off']
    """
    return [level for level in THINKING_LEVELS if clamp_thinking(level, model) == level]
