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
    \.env(?:\..+)?(?<!\.example)(?<!\.sample)(?<!\.template)
    | .*\.(?:pem|key|p12|pfx|keystore|jks|kdbx|ovpn|asc|gpg)
    | id_(?:rsa|dsa|ecdsa|ed25519).*(?<!\.pub)
    | \.netrc | _netrc | \.pgpass | \.pypirc | \.npmrc | \.htpasswd | \.git-credentials
    | (?:auth|credentials?|secrets?|service[-_]account.*)\.(?:json|ya?ml|toml|ini)
    | credentials | \.dockercfg
    """
_PROTECTED_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker"})


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

    Args:
        cwd: The session's directory.
        allow: Names of effects ("write", "execute", "read") or tools ("bash"), or "all".
    """

    def __init__(self, cwd: Path, allow: Collection[str] = ()) -> None:
        self._root = cwd.resolve()
        self.allow: Collection[str] = frozenset(allow)

    async def decide(self, call: ToolCall, tool: Tool, arguments: Any) -> Decision | None:
        """Allow what is free or was allowed; refuse the rest and name the option."""
        if "all" in self.allow or tool.name in self.allow:
            return Decision(allowed=True, reason=f"{tool.name} is allowed")
        missing = {effect for effect in tool.effects if effect not in self.allow} - {Effect.READ}
        if missing:
            return Decision(
                allowed=False,
                reason=f"{tool.name} was not run: it needs the user's permission. "
                f"To allow it, ask again with --allow {tool.name}.",
            )
        if Effect.READ not in self.allow:
            for written in tool.paths(arguments):
                refused = self._why_not(resolve(self._root, written), written)
                if refused:
                    return Decision(allowed=False, reason=refused)
        return Decision(allowed=True, reason="reading inside the directory")

    def may_read(self, path: Path) -> bool:
        """Keep key files out of searches unless reading was allowed."""
        return bool({"all", Effect.READ} & set(self.allow)) or not is_protected(path)

    def _why_not(self, path: Path, written: str) -> str | None:
        real = path.resolve()
        if not real.is_relative_to(self._root):
            why = "it is outside the notebook's directory"
        elif is_protected(real) or is_protected(path):
            why = "it may hold keys or passwords"
        else:
            return None
        return (
            f"{written} was not read: {why}. "
            "To allow reading anything, ask again with --allow read."
        )


def is_protected(path: Path) -> bool:
    """Say whether a file is of a kind that usually holds keys or passwords.

    >>> is_protected(Path("a/.env")), is_protected(Path(".env.example")), is_protected(Path("a.py"))
    (True, False, False)
    """
    return re.fullmatch(_PROTECTED, path.name) is not None or bool(
        _PROTECTED_DIRECTORIES.intersection(path.parts)
    )
