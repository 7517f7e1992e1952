"""What chat-completions servers want differently, in the words of pi's `models.json`.

Source: pi-ai 1.6.0, `api/openai-completions` (`detectCompat`) and docs/models-configuration.md.
"""

from collections.abc import Mapping
from typing import Any

from agent_nb.core.model import Model

_DEFAULTS: Mapping[str, Any] = {
    "supportsStore": True,
    "supportsDeveloperRole": False,
    "supportsReasoningEffort": True,
    "supportsUsageInStreaming": True,
    "supportsFinishReason": True,
    "supportsStrictMode": False,
    "supportsLongCacheRetention": True,
    "maxTokensField": "max_completion_tokens",
    "thinkingFormat": "openai",
    "promptCacheKeyMode": "auto",
    "sessionAffinityFormat": "openai",
    # pi sends null, which one server in use answers with status 500; nobody minds "".
    "requiresNonNullAssistantContent": True,
}
_NO_STORE = {"supportsStore": False}
_NO_EFFORT = {"supportsReasoningEffort": False}
_MAX_TOKENS = {"maxTokensField": "max_tokens"}

_KNOWN: tuple[tuple[frozenset[str], tuple[str, ...], Mapping[str, Any]], ...] = (
    (frozenset({"openai"}), ("api.openai.com",), {"supportsDeveloperRole": True}),
    (
        frozenset({"openrouter"}),
        ("openrouter.ai",),
        {
            "thinkingFormat": "openrouter",
            "sendSessionAffinityHeaders": True,
            "sessionAffinityFormat": "openrouter",
        },
    ),
    (
        frozenset({"deepseek"}),
        ("deepseek.com",),
        {
            **_NO_STORE,
            **_MAX_TOKENS,
            "thinkingFormat": "deepseek",
            "requiresReasoningContentOnAssistantMessages": True,
        },
    ),
    (
        frozenset({"zai", "zai-coding-cn"}),
        ("api.z.ai", "open.bigmodel.cn"),
        {**_NO_STORE, **_NO_EFFORT, **_MAX_TOKENS, "thinkingFormat": "zai"},
    ),
    (
        frozenset({"together"}),
        ("api.together.ai", "api.together.xyz"),
        {**_NO_STORE, **_NO_EFFORT, **_MAX_TOKENS, "thinkingFormat": "together"},
    ),
    (
        frozenset({"ant-ling"}),
        ("api.ant-ling.com",),
        {**_NO_STORE, **_NO_EFFORT, **_MAX_TOKENS, "thinkingFormat": "ant-ling"},
    ),
    (
        frozenset({"moonshotai", "moonshotai-cn", "nvidia", "cloudflare-ai-gateway"}),
        ("api.moonshot.", "integrate.api.nvidia.com", "gateway.ai.cloudflare.com"),
        {**_NO_STORE, **_NO_EFFORT, **_MAX_TOKENS},
    ),
    (frozenset({"xai"}), ("api.x.ai",), {**_NO_STORE, **_NO_EFFORT}),
    (frozenset(), ("chutes.ai",), {**_NO_STORE, **_MAX_TOKENS}),
    (
        frozenset({"cerebras", "opencode", "cloudflare-workers-ai"}),
        ("cerebras.ai", "opencode.ai", "api.cloudflare.com"),
        _NO_STORE,
    ),
)


def compat_of(model: Model) -> Mapping[str, Any]:
    """Return the quirks of the model's server; what the model states wins over what is known.

    >>> compat_of(Model("m", "p", "a", "http://127.0.0.1:8080/v1"))["maxTokensField"]
    'max_completion_tokens'
    """
    found = dict(_DEFAULTS)
    url = model.base_url.lower()
    for providers, hosts, quirks in _KNOWN:
        if model.provider in providers or any(host in url for host in hosts):
            found.update(quirks)
    if model.provider == "openrouter" and model.id.startswith("anthropic/"):
        found["cacheControlFormat"] = "anthropic"
    found.update((key, value) for key, value in model.compat.items() if value is not None)
    return found
