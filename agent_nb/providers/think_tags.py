"""Reasoning that a model writes as `<think>…</think>` at the start of its answer."""

from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"
_LINE_ENDS = "\r\n"


class ThinkTags:
    """Split the reasoning off the start of an answer's content, however it is cut.

    Only the very beginning counts, so a tag in the middle of a text stays text. Line ends
    around the tags go. pi leaves the tags in the text; we do not.
    """

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["start", "opened", "inside", "closed", "text"] = "start"

    @property
    def is_past(self) -> bool:
        """Whether all that follows is plain text."""
        return self._place == "text"

    def feed(self, piece: str) -> tuple[str, str]:
        """Return what `piece` adds to the reasoning and to the text."""
        held = self._held + piece
        if self._place == "start":
            held = self._opened(held)
        if self._place in {"opened", "inside"}:
            thinking, held = self._inside(held)
        else:
            thinking = ""
        if self._place == "closed":
            held = held.lstrip(_LINE_ENDS)
            if held:
                self._place = "text"
        text = held if self._place == "text" else ""
        self._held = "" if text else held
        return thinking, text

    def flush(self) -> tuple[str, str]:
        """Return what is still held back, as `feed` does: the answer ends here."""
        held, self._held = self._held, ""
        return (held, "") if self._place in {"opened", "inside"} else ("", held)

    def _opened(self, held: str) -> str:
        start = held.lstrip()
        if start.startswith(_OPEN):
            self._place = "opened"
            return start.removeprefix(_OPEN)
        if not _OPEN.startswith(start):
            self._place = "text"
        return held

    def _inside(self, held: str) -> tuple[str, str]:
        if self._place == "opened":
            held = held.lstrip(_LINE_ENDS)
        thinking, tag, rest = held.partition(_CLOSE)
        if tag:
            self._place = "closed"
            return thinking.rstrip(_LINE_ENDS), rest
        size = next((n for n in range(len(_CLOSE) - 1, 0, -1) if held.endswith(_CLOSE[:n])), 0)
        ready = held[: len(held) - size].rstrip(_LINE_ENDS)
        if ready:
            self._place = "inside"
        return ready, held[len(ready) :]
