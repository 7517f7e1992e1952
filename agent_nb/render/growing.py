"""Text that grows, as an immutable value: adding to it costs the same however long it is."""

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")


class _Log:
    """What all values of one text share: its pieces, and what readers keep beside them."""

    __slots__ = ("kept", "pieces")

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.kept: object = None


class GrowingText:
    """A text so far. Values made of one another share pieces; each sees only its own.

    >>> short = GrowingText.of("a")
    >>> long = short.appended("b")
    >>> str(short), str(long)
    ('a', 'ab')
    """

    __slots__ = ("_log", "count")

    def __init__(self, log: _Log, count: int) -> None:
        self._log = log
        self.count = count

    @classmethod
    def of(cls, text: str = "") -> "GrowingText":
        """Make a text of one piece, or an empty one."""
        return cls(_Log([text]), 1) if text else cls(_Log([]), 0)

    def appended(self, piece: str) -> "GrowingText":
        """Return the text with `piece` after it, in constant time where this is the newest."""
        log, count = self._log, self.count
        if count != len(log.pieces):  # somebody else grew on from here: part ways
            log = _Log(log.pieces[:count])
        log.pieces.append(piece)
        return GrowingText(log, count + 1)

    def since(self, count: int) -> str:
        """Return what came after the first `count` pieces."""
        return "".join(self._log.pieces[count : self.count])

    def keeping(self, make: Callable[[], T]) -> T:
        """Return what a reader keeps beside the pieces, made by `make` when first asked for."""
        kept = self._log.kept
        if kept is None:
            kept = self._log.kept = make()
        return cast(T, kept)  # one reader, one kind

    def __str__(self) -> str:
        return self.since(0)

    def __bool__(self) -> bool:
        return self.count > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingText) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        text = str(self)
        return f"GrowingText({text if len(text) <= 60 else text[:59] + '…'!r})"
