from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.providers.auth import resolve_value
from agent_nb.providers.catalog import HOSTED, Catalog

CONFIG = {
    "providers": {
        "own": {
            "baseUrl": "http://127.0.0.1:1/v1",
            "api": "openai-completions",
            "apiKey": "$OWN_KEY",
            "headers": {"x-team": "$TEAM", "x-gone": "$NOT_SET"},
            "models": [{"id": "small", "contextWindow": 9, "cost": {"input": 1, "output": 2}}],
        }
    }
}


@pytest.mark.parametrize("provider", list(HOSTED))
def test_a_key_in_the_environment_finds_a_usual_model(provider: str) -> None:
    found = Catalog({}, {HOSTED[provider].variables[0]: "k"}).first_with_key()
    assert found is not None
    assert found[0].provider == provider
    assert found[1].source == HOSTED[provider].variables[0]


def test_models_json_gives_models_keys_and_headers() -> None:
    catalog = Catalog(CONFIG, {"OWN_KEY": "secret-value", "TEAM": "a"})
    model = catalog.find("own/small:high").model
    assert (model.context_window, model.headers) == (9, {"x-team": "a"})
    key = catalog.key(model)
    assert key is not None
    assert key.value == "secret-value"
    assert "secret" not in repr(key)


def test_a_model_offered_twice_asks_for_the_provider() -> None:
    env = {"ANTHROPIC_API_KEY": "a", "OPENROUTER_API_KEY": "b"}
    with pytest.raises(ConfigError, match="offered by anthropic, openrouter"):
        Catalog({}, env).find("sonnet")


def test_the_provider_with_a_key_wins() -> None:
    assert Catalog({}, {"ANTHROPIC_API_KEY": "a"}).find("sonnet").model.provider == "anthropic"


def test_local_servers_take_any_model_and_need_no_key() -> None:
    catalog = Catalog({}, {})
    model = catalog.find("ollama/llama3.2:3b").model
    assert model.base_url == "http://127.0.0.1:11434/v1"
    assert not catalog.needs_key(model)


def test_a_provider_without_an_api_is_reported() -> None:
    with pytest.raises(ConfigError, match='provider "x" needs an "api"'):
        Catalog({"providers": {"x": {"models": [{"id": "m"}]}}}, {}).find("x/m")


def test_a_key_can_come_from_a_command() -> None:
    assert resolve_value("!printf abc") == "abc"
    with pytest.raises(ConfigError, match="should give a key failed"):
        resolve_value("!exit 3")


@pytest.mark.parametrize(
    ("providers", "place"),
    [
        ([], "providers"),
        ({"x": 5}, "providers.x"),
        ({"x": {"models": [1]}}, "providers.x.models.0"),
        ({"x": {"models": {"a": 1}}}, "providers.x.models"),
        ({"x": {"api": "a", "models": [{"id": 5}]}}, "providers.x.models.0.id"),
        ({"x": {"api": "a", "models": [{}]}}, "providers.x.models.0.id"),
        ({"x": {"headers": {"a": 5}}}, "providers.x.headers.a"),
        ({"x": {"models": [{"id": "m", "cost": "free"}]}}, "providers.x.models.0.cost"),
        ({"x": {"models": [{"id": "m", "input": 5}]}}, "providers.x.models.0.input"),
        ({"x": {"baseUrl": 5}}, "providers.x.baseUrl"),
        ({"x": {"apiKey": ["hidden-key"]}}, "providers.x.apiKey"),
        ({"x": {"models": [{"id": "m", "maxTokens": -1}]}}, "providers.x.models.0.maxTokens"),
    ],
)
def test_a_mistake_in_models_json_is_one_line_that_says_where(
    providers: object, place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Catalog({"providers": providers}, {})
    assert str(caught.value).startswith(f"models.json: {place}: ")
    assert "\n" not in str(caught.value)
    assert "hidden-key" not in str(caught.value)


def test_what_models_json_holds_or_names_is_known_as_secret(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    config = {
        "providers": {
            "a": {
                "api": "openai-completions",
                "baseUrl": "http://me:url-password@h/v1?key=query-secret",
                "apiKey": "$CORP_LLM_SECRET_1",
                "headers": {"Authorization": "Bearer literal-token", "x-team": "data-science"},
                "models": [{"id": "m", "headers": {"x-api-key": "${HEADER_VALUE}"}}],
            },
            "b": {
                "api": "openai-completions",
                "apiKey": f"!echo once >> {ran}; echo command-key",
                "models": [{"id": "n"}],
            },
        }
    }
    environment = {"CORP_LLM_SECRET_1": "corp-value", "HEADER_VALUE": "header-value"}
    catalog = Catalog(config, environment)
    assert catalog.secret_variables == set(environment)
    expected = {"url-password", "query-secret", "corp-value", "literal-token", "header-value"}
    assert set(catalog.secrets) == expected
    model = catalog.find("b/n").model
    for _ in range(2):
        catalog.key(model)
    assert set(catalog.secrets) == expected | {"command-key"}
    assert ran.read_text() == "once\n"
    shown = repr(catalog.find("a/m").model)
    assert not any(secret in shown for secret in catalog.secrets)
