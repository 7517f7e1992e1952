"""The static bundle of a run: one output that reads everywhere, of bounded size."""

from collections.abc import Sequence
from html import escape

from agent_nb.render.blocks import Transcript
from agent_nb.render.fit import Limits, cut, fitted, masked
from agent_nb.render.html import html_of
from agent_nb.render.text import markdown_of, plain_of
from agent_nb.render.words import words

MAX_BYTES = 200_000
"""Of the whole bundle, so that a notebook of many runs stays small."""

_LADDER = (
    Limits(outputs=60_000, texts=60_000, images=120_000, blocks=400),
    Limits(outputs=25_000, texts=25_000, images=60_000, blocks=200),
    Limits(outputs=8_000, texts=8_000, images=0, blocks=60),
    Limits(outputs=2_000, texts=2_000, images=0, blocks=16),
)


def static_bundle(transcript: Transcript, *, secrets: Sequence[str] = ()) -> dict[str, str]:
    """Return a run as a MIME bundle of HTML, Markdown and plain text, without secrets.

    What is too long is cut with a note, more of it the longer the run, to `MAX_BYTES` in all.
    """
    say = words(transcript.language)
    safe = masked(transcript, secrets)
    for limits in _LADDER:
        shown = fitted(safe, limits, say)
        bundle = {
            "text/html": html_of(shown),
            "text/markdown": markdown_of(shown),
            "text/plain": plain_of(shown),
        }
        if _size(bundle) <= MAX_BYTES:
            return bundle
    plain = cut(bundle["text/plain"], MAX_BYTES // 40, say)
    return {
        "text/html": f"<pre>{escape(plain)}</pre>",
        "text/markdown": f"<pre>{escape(plain)}</pre>",
        "text/plain": plain,
    }


def _size(bundle: dict[str, str]) -> int:
    return sum(len(text.encode()) for text in bundle.values())
