"""The summary a session asks for when it is compacted: what was asked, done and answered."""

import re

from agent_nb.providers.demo.answers import code

_CONVERSATION = re.compile(r"<conversation>\n?(.*?)\n?</conversation>", re.DOTALL)
_BEFORE = re.compile(r"<previous-summary>\n?(.*?)\n?</previous-summary>", re.DOTALL)
_SPEAKER = re.compile(r"^\[(User|Assistant|Assistant tool calls|Tool result)\]: ", re.MULTILINE)
_LONGEST = 300
_HEADINGS = {
    "User": "Asked",
    "Assistant tool calls": "Tools called",
    "Assistant": "Answered",
}


def summary_of(text: str) -> str | None:
    r"""Summarise the conversation a request holds by its own lines; None if it holds none.

    >>> print(summary_of("<conversation>\n[User]: Read a.md\n</conversation>"))
    ## Asked
    <BLANKLINE>
    - Read a.md
    """
    conversation = _CONVERSATION.search(text)
    if conversation is None:
        return None
    _, *parts = _SPEAKER.split(conversation[1])
    said: dict[str, list[str]] = {speaker: [] for speaker in _HEADINGS}
    for speaker, words in zip(parts[::2], parts[1::2], strict=True):
        if speaker in said:
            said[speaker].append(_line(words, as_code=speaker == "Assistant tool calls"))
    before = _BEFORE.search(text)
    sections = [before[1].strip()] if before else []
    for speaker, heading in _HEADINGS.items():
        if lines := dict.fromkeys(said[speaker]):
            sections.append(f"## {heading}\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(sections) or "Nothing was said."


def _line(words: str, *, as_code: bool) -> str:
    text = re.sub(r"\s+", " ", words).strip()
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return code(text) if as_code else text
