"""The permission gate: one decision for each tool call, by what it does and to which path."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent_nb.core.content import ToolCall
from agent_nb.core.tool import Effect, Tool
from agent_nb.tools.paths import resolve

_PROTECTED = r"""(?ix)
    \.env(?:rc|[.\-_].+)?(?<!example)(?<!sample)(?<!template)
    | .+\.env(?<!example\.env)(?<!sample\.env)(?<!template\.env)
    | .*\.(?:pem|key|p12|pfx|keystore|jks|kdbx|ovpn|asc|gpg|tfstate|tfvars)
    | id_(?:rsa|dsa|ecdsa|ed25519).*(?<!\.pub)
    | [._]netrc | \.pgpass | \.pypirc | \.npmrc | \.htpasswd | \.git-credentials | \.dockercfg
    | \.my\.cnf | \.Renviron | \.vault-token | rclone\.conf | kubeconfig | kaggle\.json
    | (?:auth|token|(?:.*[-_.])?(?:credentials?|secrets?)|client[-_]secret.*|.*service[-_]account.*)
      \.(?:json|ya?ml|toml|ini|csv)
    | credentials
    """
_COPY = r"(?i)-checkpoint(?=\.|$)|(?:~|\.(?:bak|backup|old|orig|save|swp|tmp))+$"
"""What Jupyter, editors and people add to the name of a copy."""
_PROTECTED_DIRECTORIES = frozenset(
    {".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".kaggle", ".huggingface"}
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may run; `reason` is for the model and the user."""

    allowed: bool
    reason: str


class Gate(Protocol):
    """Decides every tool call of a session."""

    allow: Collection[str]

    async def decide(self, call: ToolCall, tool: Tool, arguments: Any) -> Decision | None:
        """Decide a call; None where no gate is in force."""
        ...

    def may_read(self, path: Path) -> bool:
        """Say whether a file's content may show up in a search."""
        ...


class OpenGate:
    """Allows everything, as pi does; the default outside notebooks."""

    allow: Collection[str] = ("all",)

    async def decide(self, call: ToolCall, tool: Tool, arguments: Any) -> Decision | None:
        """Allow the call without saying so."""
        return None

    def may_read(self, path: Path) -> bool:
        """Allow every file."""
        return True


class NotebookGate:
    """Reading inside the directory is free; the rest needs `--allow`.

    What was allowed to write may do so inside the directory, except to files that may hold keys;
    what was allowed to read may read anything. Only "all" lifts every limit.

    Args:
        cwd: The session's directory.
        allow: Names of effects ("write", "execute", "read") or tools ("bash"), or "all".
    """

    def __init__(self, cwd: Path, allow: Collection[str] = ()) -> None:
        self._root = cwd.resolve()
        self.allow: Collection[str] = frozenset(allow)

    async def decide(self, call: ToolCall, tool: Tool, arguments: Any) -> Decision | None:
        """Allow what is free or was allowed; refuse the rest and name the option."""
        if "all" in self.allow:
            return Decision(allowed=True, reason=f"{tool.name} is allowed")
        is_named = tool.name in self.allow
        missing = {effect for effect in tool.effects if effect not in self.allow} - {Effect.READ}
        if missing and not is_named:
            return Decision(
                allowed=False,
                reason=f"{tool.name} was not run: it needs the user's permission. "
                f"To allow it, ask again with --allow {tool.name}.",
            )
        writes = Effect.WRITE in tool.effects
        if writes or not (is_named or Effect.READ in self.allow):
            for written in tool.paths(arguments):
                refused = self._why_not(written, writes=writes)
                if refused:
                    return Decision(allowed=False, reason=refused)
        is_free = not (writes or is_named)
        reason = "reading inside the directory" if is_free else f"{tool.name} is allowed"
        return Decision(allowed=True, reason=reason)

    def may_read(self, path: Path) -> bool:
        """Keep key files out of searches unless reading was allowed."""
        return bool({"all", Effect.READ} & set(self.allow)) or not is_protected(path)

    def _why_not(self, written: str, *, writes: bool) -> str | None:
        path = resolve(self._root, written)
        try:
            real = path.resolve()
        except (OSError, RuntimeError):  # a loop of links; RuntimeError before Python 3.13
            return f"{written} was not touched: it cannot be found out which file it is."
        if not real.is_relative_to(self._root):
            why = "it is outside the notebook's directory"
        elif is_protected(real) or is_protected(path):
            why = "it may hold keys or passwords"
        else:
            return None
        if writes:
            return (
                f"{written} was not changed: {why}. "
                "To allow everything, ask again with --allow all."
            )
        return (
            f"{written} was not read: {why}. "
            "To allow reading anything, ask again with --allow read."
        )


def is_protected(path: Path) -> bool:
    """Say whether a file is of a kind that usually holds keys or passwords, or a copy of one.

    >>> is_protected(Path("a/.env")), is_protected(Path(".env.example")), is_protected(Path("a.py"))
    (True, False, False)
    """
    parts = [part.lower() for part in path.parts]
    return (
        re.fullmatch(_PROTECTED, re.sub(_COPY, "", path.name)) is not None
        or not _PROTECTED_DIRECTORIES.isdisjoint(parts)
        or (".git" in parts and path.name.lower() == "config")
    )
