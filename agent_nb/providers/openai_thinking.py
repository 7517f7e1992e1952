"""How chat-completions servers are told how much to think.

Source: pi-ai 1.6.0, `api/openai-completions` (`buildParams`), one function for each
`thinkingFormat` of `models.json`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.providers.answer_limit import LEAST_ANSWER, THINKING_BUDGETS

Fields = dict[str, Any]
Compat = Mapping[str, Any]


def thinking_fields(model: Model, level: ThinkingLevel, compat: Compat, max_tokens: int) -> Fields:
    """Return the fields of the request that ask for thinking, or for none."""
    if not model.reasoning:
        return {}
    fields = _FORMATS.get(compat["thinkingFormat"], _openai)(model, level, compat, max_tokens)
    budget_field = compat.get("thinkingTokenBudgetField") or (
        "thinking_token_budget" if compat.get("supportsThinkingTokenBudget") else None
    )
    budget = _budget(level, max_tokens)
    if budget_field and budget:
        fields[budget_field] = budget
    return fields


def _budget(level: ThinkingLevel, max_tokens: int) -> int:
    return max(0, min(THINKING_BUDGETS.get(level, 0), max_tokens - LEAST_ANSWER))


def _word(model: Model, level: ThinkingLevel) -> str | None:
    """The server's word for a level; None where the level is disabled, or off without a word."""
    if level in model.thinking_levels:
        return model.thinking_levels[level]
    return None if level == "off" else level


def _can_be_off(model: Model) -> bool:
    return model.thinking_levels.get("off", "") is not None


def _effort(model: Model, level: ThinkingLevel, compat: Compat) -> Fields:
    word = _word(model, level)
    return {"reasoning_effort": word} if word and compat["supportsReasoningEffort"] else {}


def _effort_if_on(model: Model, level: ThinkingLevel, compat: Compat) -> Fields:
    return {} if level == "off" else _effort(model, level, compat)


def _openai(model: Model, level: ThinkingLevel, compat: Compat, _max_tokens: int) -> Fields:
    return _effort(model, level, compat)


def _zai(model: Model, level: ThinkingLevel, compat: Compat, _max_tokens: int) -> Fields:
    on = {"type": "enabled", "clear_thinking": False}
    thinking = {"type": "disabled"} if level == "off" else on
    return {"thinking": thinking, **_effort_if_on(model, level, compat)}


def _qwen(model: Model, level: ThinkingLevel, compat: Compat, _max_tokens: int) -> Fields:
    return {"enable_thinking": level != "off", **_effort_if_on(model, level, compat)}


def _qwen_template(
    _model: Model, level: ThinkingLevel, _compat: Compat, _max_tokens: int
) -> Fields:
    values = {"enable_thinking": level != "off", "preserve_thinking": True}
    return {"chat_template_kwargs": values}


def _chat_template(model: Model, level: ThinkingLevel, compat: Compat, max_tokens: int) -> Fields:
    values = _filled(compat.get("chatTemplateKwargs"), model, level, max_tokens)
    return {"chat_template_kwargs": values} if values else {}


def _baseten(model: Model, level: ThinkingLevel, compat: Compat, max_tokens: int) -> Fields:
    values = _filled(compat.get("chatTemplateArgs"), model, level, max_tokens)
    arguments = {"chat_template_args": values} if values else {}
    return {**arguments, **_effort(model, level, compat)}


def _deepseek(model: Model, level: ThinkingLevel, compat: Compat, _max_tokens: int) -> Fields:
    if level != "off":
        return {"thinking": {"type": "enabled"}, **_effort(model, level, compat)}
    return {"thinking": {"type": "disabled"}} if _can_be_off(model) else {}


def _openrouter(model: Model, level: ThinkingLevel, _compat: Compat, _max_tokens: int) -> Fields:
    if level == "off" and not _can_be_off(model):
        return {}
    return {"reasoning": {"effort": _word(model, level) or "none"}}


def _ant_ling(model: Model, level: ThinkingLevel, _compat: Compat, _max_tokens: int) -> Fields:
    word = model.thinking_levels.get(level)
    return {"reasoning": {"effort": word}} if word and level != "off" else {}


def _together(model: Model, level: ThinkingLevel, compat: Compat, _max_tokens: int) -> Fields:
    return {"reasoning": {"enabled": level != "off"}, **_effort_if_on(model, level, compat)}


def _string(model: Model, level: ThinkingLevel, _compat: Compat, _max_tokens: int) -> Fields:
    if level == "off" and not _can_be_off(model):
        return {}
    return {"thinking": _word(model, level) or "none"}


def _filled(
    values: Mapping[str, Any] | None, model: Model, level: ThinkingLevel, max_tokens: int
) -> Fields:
    """Put our values in for `{"$var": ...}`; what has none is left out."""
    filled = {}
    for key, value in (values or {}).items():
        if isinstance(value, Mapping):
            if level == "off" and value.get("omitWhenOff"):
                continue
            value = {
                "thinking.enabled": level != "off",
                "thinking.budget": _budget(level, max_tokens) or None,
            }.get(str(value.get("$var")), _word(model, level))
        if value is not None:
            filled[key] = value
    return filled


_FORMATS: Mapping[str, Callable[[Model, ThinkingLevel, Compat, int], Fields]] = {
    "openai": _openai,
    "zai": _zai,
    "qwen": _qwen,
    "qwen-chat-template": _qwen_template,
    "chat-template": _chat_template,
    "baseten": _baseten,
    "deepseek": _deepseek,
    "openrouter": _openrouter,
    "ant-ling": _ant_ling,
    "together": _together,
    "string-thinking": _string,
}
