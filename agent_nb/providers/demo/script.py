"""How an intent is carried out: a generator that yields tool calls and is sent their results.

The generator starts from the beginning for every request. What the conversation already holds
answers its first steps, so a plan has no state of its own, and a resumed session goes on where it
was.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agent_nb.inspect.turns import CallRecord
from agent_nb.providers.demo.documents import Document, same_path
from agent_nb.providers.demo.wording import Language

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What makes two calls the same."""
        return call_key(self.name, self.arguments)


def call_key(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a text that is equal for calls that are."""
    return f"{name} {json.dumps(dict(arguments), sort_keys=True, default=str)}"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: what it says and the tools it calls."""

    text: str
    calls: tuple[Call, ...] = ()


Talk = Generator[Reply, Sequence[CallRecord], T]
Script = Talk[str]


class CannotAnswerError(Exception):
    """Ends a script early; its text is the answer."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a script may know.

    Attributes:
        language: Of the question, and so of the answer.
        tools: Names of the tools that can be called.
        documents: Files read before this question, the latest last.
        attached: Files that came with the question.
        shown: The file whose lines were shown last, and the last of those.
        asked: The question as it was put.
        said: The answers given before.
    """

    language: Language = Language.ENGLISH
    tools: frozenset[str] = frozenset()
    documents: Sequence[Document] = ()
    attached: Sequence[Document] = ()
    shown: tuple[str, int] | None = None
    asked: str = ""
    said: Sequence[str] = ()

    def say(self, english: str, chinese: str) -> str:
        """Choose the text in the language of the question."""
        return chinese if self.language is Language.CHINESE else english

    def once(self, text: str) -> str:
        """Return a remark, or nothing if it was made before."""
        return "" if any(text.strip() in answer for answer in self.said) else text

    def known(self, path: str | None) -> Document | None:
        """Return the file as it was read before; without a path, the latest one."""
        documents = [*self.documents, *self.attached]
        if path is not None:
            documents = [document for document in documents if same_path(document.path, path)]
        return documents[-1] if documents else None

    def given(self, path: str | None) -> Document | None:
        """Return the file if it came with the question."""
        found = self.known(path)
        return found if found in self.attached else None


def use(desk: Desk, text: str, *calls: Call) -> Talk[Sequence[CallRecord]]:
    """Call tools and return their records, in order.

    Raises:
        CannotAnswerError: If one of the tools is not there.
    """
    missing = sorted({call.name for call in calls} - desk.tools)
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        there = ", ".join(f"`{name}`" for name in sorted(desk.tools)) or desk.say("none", "无")
        raise CannotAnswerError(
            desk.say(
                f"I would need {names} for that, which I cannot call here. "
                f"Tools I can call: {there}. `--tools` decides which there are.",
                f"这需要工具 {names}，但现在不能调用。可用的工具：{there}。用 `--tools` 可以更改。",
            )
        )
    return (yield Reply(text, calls))


def run(script: Script, records: Mapping[str, CallRecord]) -> Reply:
    """Go on with `script` as far as `records` reach: to its next calls, or to its answer."""
    try:
        reply = next(script)
        while all(call.key in records for call in reply.calls):
            reply = script.send([records[call.key] for call in reply.calls])
    except StopIteration as end:
        return Reply(end.value)
    except CannotAnswerError as reason:
        return Reply(str(reason))
    script.close()
    return Reply(reply.text, tuple(c for c in reply.calls if c.key not in records))
