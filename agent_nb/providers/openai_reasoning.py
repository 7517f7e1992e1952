"""OpenRouter's structured reasoning: it goes back to the model with the next request."""

from collections.abc import Mapping
from typing import Any

from agent_nb.core import json_text
from agent_nb.providers.lenient import items, mapping, text

_MERGED = {"reasoning.text": "text", "reasoning.summary": "summary"}
_KINDS = frozenset({*_MERGED, "reasoning.encrypted"})


class ReasoningDetails:
    """Gathers `reasoning_details`: pieces of text that follow each other become one entry."""

    def __init__(self) -> None:
        self._details: list[dict[str, Any]] = []

    @property
    def signature(self) -> str:
        """What was gathered, as JSON; empty if nothing was."""
        return json_text.dumps(self._details).decode() if self._details else ""

    def add(self, details: Any) -> bool:
        """Add the details of one delta; say whether there were any."""
        known = [
            detail for detail in map(mapping, items(details)) if text(detail.get("type")) in _KINDS
        ]
        for detail in known:
            self._add(detail)
        return bool(known)

    def _add(self, detail: Mapping[str, Any]) -> None:
        field = _MERGED.get(detail["type"])
        last = self._details[-1] if self._details else {}
        if field is None or last.get("type") != detail["type"]:
            self._details.append(dict(detail))
            return
        last[field] = text(last.get(field)) + text(detail.get(field))
        for key, value in detail.items():
            if last.get(key) is None:
                last[key] = value
