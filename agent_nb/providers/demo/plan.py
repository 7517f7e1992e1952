"""From a conversation to the next answer: a pure function, so a session resumes where it was."""

import re
from collections.abc import Collection, Mapping, Sequence

from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.inspect.turns import CallRecord, turns_of
from agent_nb.providers.demo.answers import about, declined, encoding_note, last_shown
from agent_nb.providers.demo.asking import ask
from agent_nb.providers.demo.documents import documents_of, split_attachments
from agent_nb.providers.demo.functions import functions
from agent_nb.providers.demo.intent import (
    About,
    Ask,
    Calculate,
    Continue,
    CountText,
    Decline,
    FindFile,
    Functions,
    Intent,
    Introduce,
    Join,
    ListFiles,
    ManyTables,
    Read,
    Search,
    ShowLines,
    TableShape,
)
from agent_nb.providers.demo.joins import join, many_tables
from agent_nb.providers.demo.listing import find_file, list_files, search
from agent_nb.providers.demo.reading import count_text, go_on, introduce, read, show_lines
from agent_nb.providers.demo.results import read_part
from agent_nb.providers.demo.rules import parse
from agent_nb.providers.demo.script import Desk, Reply, Script, call_key, run
from agent_nb.providers.demo.summary import summary_of
from agent_nb.providers.demo.tables import calculate, table_shape

_INSTEAD = re.compile(
    r"\b(?:instead|stop|forget|never mind|don't|rather)\b|算了|不用|别|改为|停", re.I
)


def plan(messages: Sequence[Message], tools: Collection[str]) -> Reply:
    """Return what to say or call next.

    Args:
        messages: The conversation; the last user message is the question.
        tools: Names of the tools that can be called.
    """
    asked = _questions(messages)
    if not asked:
        return Reply(about(Desk(), was_greeted=True))
    if not tools and (summary := summary_of(_text(messages[asked[-1]]))):
        return Reply(summary)
    records = _records(messages[asked[0] :])
    texts = []
    for index in asked:
        text, attached = split_attachments(_text(messages[index]))
        wanted = parse(text)
        before = messages[:index]  # and nothing later: the plan must stay the same as it goes on
        desk = Desk(
            wanted.language,
            frozenset(tools),
            documents_of(before),
            attached,
            _shown(before),
            text,
            [message.text for message in before if isinstance(message, AssistantMessage)],
        )
        for intent in wanted.intents:
            reply = run(script_of(intent, desk), records)
            if reply.calls:
                return reply
            texts.append(reply.text + encoding_note(desk, reply.text, _encoding(records)))
    return Reply("\n\n".join(dict.fromkeys(texts)))


def _encoding(records: Mapping[str, CallRecord]) -> str:
    """Return what `read` took the encoding of the files to be, if it was the same for all."""
    reads = [read_part(record) for record in records.values() if record.name == "read"]
    guesses = {part.encoding for part in reads if part.encoding}
    return guesses.pop() if len(guesses) == 1 else ""


def _questions(messages: Sequence[Message]) -> list[int]:
    """Return where the messages stand that are to be answered.

    A message that steers comes after tool results, and is answered together with the question
    before it. Of messages with nothing in between only the last counts: the others were given up.
    """
    asked, between = list[int](), False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage):
            if asked and not between:
                break
            asked.insert(0, index)
            between = False
            if _INSTEAD.search(message.text):
                break
        elif isinstance(message, AssistantMessage) and not _calls_tools(message):
            break
        elif isinstance(message, ToolResultMessage):
            if message.is_error and "abort" in message.text.lower():
                break
            between = True
    return asked


def _text(message: Message) -> str:
    return message.text if isinstance(message, UserMessage) else ""


def _shown(messages: Sequence[Message]) -> tuple[str, int] | None:
    answers = (m.text for m in reversed(messages) if isinstance(m, AssistantMessage))
    return next((shown for text in answers if (shown := last_shown(text))), None)


def _calls_tools(message: AssistantMessage) -> bool:
    return bool(message.tool_calls) and message.stop_reason not in {"error", "aborted"}


def _records(messages: Sequence[Message]) -> Mapping[str, CallRecord]:
    return {
        call_key(call.name, call.arguments): call
        for turn in turns_of(messages)
        for call in turn.tool_calls
        if call.result is not None
    }


def script_of(intent: Intent, desk: Desk) -> Script:  # noqa: C901 - one line for each intent
    """Return the script that carries out an intent."""
    match intent:
        case Introduce():
            return introduce(intent, desk)
        case Read():
            return read(intent, desk)
        case ShowLines():
            return show_lines(intent, desk)
        case CountText():
            return count_text(intent, desk)
        case TableShape():
            return table_shape(intent, desk)
        case ManyTables():
            return many_tables(intent, desk)
        case Functions():
            return functions(intent, desk)
        case ListFiles():
            return list_files(intent, desk)
        case FindFile():
            return find_file(intent, desk)
        case Search():
            return search(intent, desk)
        case Join():
            return join(intent, desk)
        case Continue():
            return go_on(desk)
        case Ask():
            return ask(intent, desk)
        case Calculate():
            return calculate(intent, desk)
        case Decline(what=what, reason=reason):
            return _saying(declined(desk, what, reason))
        case About(was_greeted=was_greeted):
            return _saying(about(desk, was_greeted=was_greeted))


def _saying(text: str) -> Script:
    yield from ()
    return text
