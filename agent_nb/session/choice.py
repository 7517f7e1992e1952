"""Which model answers, why, and where the text goes: facts, and words fit to be shown."""

from dataclasses import dataclass
from typing import Literal

from agent_nb.core.model import Model
from agent_nb.core.secrets import public_address
from agent_nb.render.words import words

Why = Literal["asked", "session", "settings", "key", "default"]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A choice of a model.

    Attributes:
        why: It was asked for; the session used it; settings name it; its key was the first found;
            or there was nothing to choose by.
        detail: What was found, for instance the name of a variable.
    """

    model: Model
    why: Why
    detail: str = ""

    @property
    def reason(self) -> str:
        """Why this model, to follow "because"."""
        return self._reason("en")

    @property
    def destination(self) -> str:
        """Where prompts and files are sent."""
        return self._destination("en")

    def introduction(self, language: str = "en") -> str:
        """Return one sentence: which model answers, why, and where the text goes.

        >>> ModelChoice(Model("reader", "demo", "demo"), "asked").introduction()
        'demo/reader answers because it was asked for; nothing leaves this computer.'
        """
        return words(language)(
            "choice.line",
            model=self.model.key,
            reason=self._reason(language),
            destination=self._destination(language),
        )

    def _reason(self, language: str) -> str:
        return words(language)(f"choice.{self.why}", detail=self.detail)

    def _destination(self, language: str) -> str:
        host = public_address(self.model.base_url).partition("/")[0]
        v6, bracket, _ = host.removeprefix("[").partition("]")
        name = v6 if bracket else host.partition(":")[0]
        if not self.model.base_url:
            return words(language)("goes.nowhere")
        local = name in {"127.0.0.1", "localhost", "::1"}
        return words(language)("goes.local" if local else "goes.away", host=host)
