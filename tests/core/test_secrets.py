import pytest

from agent_nb.core.provider import SentRequest
from agent_nb.core.secrets import (
    MASK,
    is_secret_name,
    mask,
    public_address,
    secret_values,
    without_secrets,
)

SHAPES = [
    "sk-" + "a" * 40,
    "sk-ant-api03-" + "b" * 40,
    "sk-proj-" + "c" * 40,
    "sk-or-v1-" + "d" * 60,
    "ghp_" + "e" * 36,
    "github_pat_" + "f" * 40,
    "glpat-" + "g" * 20,
    "hf_" + "h" * 34,
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "i" * 35,
    "xoxb-" + "1" * 24,
    "gsk_" + "j" * 40,
    "xai-" + "k" * 40,
    "pypi-" + "l" * 60,
    "npm_" + "m" * 36,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\ncut off",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_what_is_shaped_like_a_key_is_masked(secret: str) -> None:
    assert mask(f"before {secret} after").startswith(f"before {MASK}")
    assert secret not in mask(f"before {secret} after")


def test_values_of_secret_variables_are_masked_everywhere() -> None:
    environment = {"DB_PASSWORD": "correct horse", "MY_TOKEN": "short", "HOME": "/home/someone"}
    values = secret_values(environment, ["a known key"])
    text = mask("correct horse, short, /home/someone, a known key", values)
    assert text == f"{MASK}, short, /home/someone, {MASK}"


def test_ordinary_text_stays() -> None:
    text = "sk-learn is a library; task-force; AKIA; eyJ; the key is under the mat"
    assert mask(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True), ("GITHUB_TOKEN", True), ("DB_PASSWORD", True),
        ("AWS_SECRET", True), ("KEYBOARD", False), ("MONKEY", False), ("TOKENIZERS", False),
    ],
)  # fmt: skip
def test_secret_variables_are_known_by_name(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_children_do_not_inherit_model_keys() -> None:
    environment = {"ANTHROPIC_API_KEY": "k", "HF_TOKEN": "t", "PATH": "/bin", "GIT_TOKEN": "g"}
    assert without_secrets(environment) == {"PATH": "/bin", "GIT_TOKEN": "g"}


def test_children_do_not_inherit_variables_that_are_named() -> None:
    environment = {"CORP_LLM_VALUE": "v", "PATH": "/bin"}
    assert without_secrets(environment, {"CORP_LLM_VALUE"}) == {"PATH": "/bin"}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.org/v1", "api.example.org/v1"),
        ("http://u:hidden@h:1/v1?key=hidden#hidden", "h:1/v1"),
        ("http://far.example?@localhost", "far.example"),
        ("http://[::1]:8080/v1", "[::1]:8080/v1"),
        ("u:hidden@h/v1", "h/v1"),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_key(url: str, shown: str) -> None:
    assert public_address(url) == shown
    sent = SentRequest(url, {}, b"{", (), 0, b"}")
    assert repr(sent) == f"SentRequest({shown}, 2 bytes)"
