"""Keep keys out of what is shown, saved or exported."""

import re
from collections.abc import Container, Iterable, Mapping

MASK = "•••"

_SECRET_NAME = re.compile(r"(?i)(?:_|^)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_KEY_SHAPES = re.compile(
    r"""(?x)
    \b(?:
        sk-(?:ant-|proj-|or-v1-)?[A-Za-z0-9_-]{20,}      # OpenAI, Anthropic, OpenRouter
      | (?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}         # GitHub
      | github_pat_[A-Za-z0-9_]{30,}
      | glpat-[A-Za-z0-9_-]{20,}                         # GitLab
      | hf_[A-Za-z0-9]{30,}                              # Hugging Face
      | AKIA[A-Z0-9]{16}                                 # AWS
      | AIza[A-Za-z0-9_-]{35}                            # Google
      | xox[abprs]-[A-Za-z0-9-]{20,}                     # Slack
      | gsk_[A-Za-z0-9]{30,}                             # Groq
      | xai-[A-Za-z0-9]{30,}                             # xAI
      | pypi-[A-Za-z0-9_-]{50,}
      | npm_[A-Za-z0-9]{36}
      | eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}   # JWT
    )
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    """,
    re.DOTALL,
)


def is_secret_name(name: str) -> bool:
    """Say whether an environment variable of this name holds a secret.

    >>> is_secret_name("OPENAI_API_KEY"), is_secret_name("KEYBOARD")
    (True, False)
    """
    return _SECRET_NAME.search(name) is not None


def secret_values(environment: Mapping[str, str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the values to mask, longest first; shorter ones than 8 characters are left out."""
    values = {value for name, value in environment.items() if is_secret_name(name)}
    values.update(known)
    return tuple(sorted((v for v in values if len(v) >= 8), key=len, reverse=True))


def mask(text: str, values: Iterable[str] = ()) -> str:
    """Return `text` with `values` and whatever is shaped like a key masked.

    >>> mask("use hunter2hunter2 now", ["hunter2hunter2"])
    'use ••• now'
    """
    for value in values:
        if value in text:
            text = text.replace(value, MASK)
    return _KEY_SHAPES.sub(MASK, text)


def public_address(url: str) -> str:
    """Return host and path of a URL: name, password and query may hold keys.

    >>> public_address("http://me:hunter2@example.org:8080/v1?key=hunter2")
    'example.org:8080/v1'
    """
    rest = re.split(r"[?#]", url.partition("//")[2] or url, maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    return host.rpartition("@")[2] + slash + path


def without_secrets(environment: Mapping[str, str], names: Container[str] = ()) -> dict[str, str]:
    """Return `environment` without model keys and `names`, for child processes of tools."""
    return {
        name: value
        for name, value in environment.items()
        if not (
            name in names
            or name.upper().endswith(("_API_KEY", "_AUTH_TOKEN"))
            or name.upper() in _MODEL_SECRETS
        )
    }


_MODEL_SECRETS = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "COPILOT_GITHUB_TOKEN"})
