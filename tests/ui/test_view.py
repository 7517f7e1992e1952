from collections.abc import Iterable
from dataclasses import replace

from run_events import (
    answered,
    asked,
    next_turn,
    ran,
    streamed_call,
    streamed_text,
    streamed_thinking,
    together,
    update,
)

from agent_nb.core.content import TextContent, ThinkingContent, ToolCall
from agent_nb.core.events import (
    AgentStart,
    AutoRetryEnd,
    AutoRetryStart,
    MessageEnd,
    MessageStart,
    PermissionDecided,
    QueueUpdate,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from agent_nb.core.messages import AssistantMessage, ToolResultMessage, Usage, UserMessage
from agent_nb.core.tool import ToolResult
from agent_nb.render.blocks import (
    Block,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    UserBlock,
)
from agent_nb.render.history import transcript_of
from agent_nb.ui.view import (
    Clock,
    Notice,
    RunEnded,
    Stopping,
    ViewEvent,
    ViewState,
    reduce,
    start_view,
)

START = start_view("Which files?", model="demo/reader")


def after(*parts: ViewEvent | Iterable[ViewEvent], start: ViewState = START) -> ViewState:
    for event in together(*parts):  # type: ignore[arg-type]
        start = reduce(start, event)
    return start


def blocks(state: ViewState) -> list[Block]:
    return [block for turn in state.turns for block in turn.blocks]


def card(state: ViewState) -> ToolCard:
    return next(block for block in blocks(state) if isinstance(block, ToolCard))


def test_the_prompt_is_the_question_and_later_messages_are_shown() -> None:
    later = UserMessage.of("Hurry up")
    state = after(asked("Which files?"), answered(), next_turn(), MessageEnd(later))
    assert blocks(state) == [UserBlock("Hurry up")]


def test_text_grows_by_deltas_and_is_closed_at_its_end() -> None:
    events = list(streamed_text("There is one."))
    middle = after(asked("q"), events[:2])
    assert [str(b.text) for b in blocks(middle) if isinstance(b, TextBlock)] == ["Ther"]
    assert middle.phase == "answering"
    end = after(events[2:], start=middle)
    assert [(str(b.text), b.is_open) for b in blocks(end) if isinstance(b, TextBlock)] == [
        ("There is one.", False)
    ]


def test_blocks_that_did_not_change_stay_the_same_objects() -> None:
    before = after(asked("q"), streamed_thinking("hm"), streamed_text("a", index=1), answered())
    state = after(next_turn(), streamed_text("b"), start=before)
    assert blocks(state)[0] is blocks(before)[0]
    assert blocks(state)[1] is blocks(before)[1]
    assert state.past[0].blocks is before.now.blocks


def test_reducing_leaves_the_state_before_as_it_was() -> None:
    before = after(asked("q"), update(TextStart(0)), update(TextDelta(0, "a")))
    one, other = (reduce(before, update(TextDelta(0, piece))) for piece in "bc")
    texts = [
        str(b.text) for s in (before, one, other) for b in blocks(s) if isinstance(b, TextBlock)
    ]
    assert texts == ["a", "ab", "ac"]


def test_an_event_that_shows_nothing_returns_the_same_state() -> None:
    assert reduce(START, AgentStart()) is START


def test_thinking_is_timed_by_the_clock() -> None:
    first, *rest = streamed_thinking("hm")
    state = after(asked("q"), Clock(1.0), first, Clock(2.25), rest)
    block = blocks(state)[0]
    assert isinstance(block, ThinkingBlock)
    assert (block.is_open, block.duration_s) == (False, 1.25)


def test_a_card_goes_from_being_written_to_done() -> None:
    written = list(streamed_call("1", "read", {"path": "a.csv"}))
    seen = []
    state = after(asked("q"))
    for event in together(written, answered(), ran("1", "read", {"path": "a.csv"}, "x")):
        state = reduce(state, event)
        if [card(state).status] != seen[-1:]:
            seen.append(card(state).status)
    assert seen == ["writing", "ready", "running", "done"]
    assert (card(state).output, card(state).duration_ms) == ("x", 4)
    assert state.phase == "waiting"


def test_a_running_tool_shows_its_latest_output() -> None:
    start = ToolExecutionStart("1", "bash", {"command": "make"})
    updates = [ToolExecutionUpdate("1", "bash", {}, ToolResult.of(text)) for text in ("a", "ab")]
    state = after(asked("q"), Clock(2.0), start, updates)
    assert (card(state).output, card(state).started_s, state.phase) == ("ab", 2.0, "running")


def test_parallel_calls_end_in_any_order_and_the_phase_follows_the_last() -> None:
    starts = [ToolExecutionStart(call_id, "read", {}) for call_id in "12"]
    ends = [ToolExecutionEnd(call_id, "read", ToolResult.of(call_id), False) for call_id in "21"]
    one = after(asked("q"), starts, ends[:1])
    assert [b.status for b in blocks(one) if isinstance(b, ToolCard)] == ["running", "done"]
    assert one.phase == "running"
    assert after(ends[1:], start=one).phase == "waiting"


def test_calls_with_the_same_id_are_told_apart() -> None:
    state = after(
        asked("q"), ran("x", "read", {"path": "a"}, "A"), ran("x", "read", {"path": "b"}, "B")
    )
    assert [b.output for b in blocks(state) if isinstance(b, ToolCard)] == ["A", "B"]


def test_a_refused_call_says_why() -> None:
    state = after(
        asked("q"),
        PermissionDecided("1", "bash", False, "nobody to ask"),
        ran("1", "bash", {}, "refused", is_error=True),
    )
    assert (card(state).status, card(state).refusal) == ("error", "nobody to ask")


def test_an_answer_that_was_not_streamed_is_shown_whole() -> None:
    content = (ThinkingContent("hm"), TextContent("Hi."), ToolCall("1", "read", {"path": "a"}))
    result = ToolResultMessage("1", "read", (TextContent("x"),))
    state = after(asked("q"), answered(*content), MessageStart(result), MessageEnd(result))
    kinds = [type(block) for block in blocks(state)]
    assert kinds == [ThinkingBlock, TextBlock, ToolCard]
    assert (card(state).status, card(state).output) == ("done", "x")


def test_the_live_view_and_the_stored_messages_show_the_same() -> None:
    call = ToolCall("1", "read", {"path": "a"})
    result = ToolResultMessage("1", "read", (TextContent("x"),), duration_ms=4)
    first, last = (TextContent("I look."), call), (TextContent("Done."),)
    state = after(
        asked("Which files?"),
        streamed_text("I look."),
        streamed_call("1", "read", {"path": "a"}, index=1),
        answered(*first),
        ran("1", "read", {"path": "a"}, "x"),
        MessageEnd(result),
        next_turn(),
        streamed_text("Done."),
        answered(*last),
        RunEnded("done", 1.5),
    )
    messages = [UserMessage.of("Which files?"), AssistantMessage(first), result]
    stored = transcript_of([*messages, AssistantMessage(last)], duration_s=1.5, model="demo/reader")
    live = state.transcript
    plain = replace(card(state), written=card(state).written.of(), started_s=None)
    turn = replace(live.turns[0], blocks=(live.turns[0].blocks[0], plain))
    assert replace(live, turns=(turn, live.turns[1])) == stored


def test_tokens_add_up_over_the_answers() -> None:
    usage = Usage(total_tokens=100)
    state = after(asked("q"), answered(usage=usage), next_turn(), answered(usage=usage))
    assert state.usage.total_tokens == 200


def test_a_retry_is_announced_and_then_told_in_the_past() -> None:
    retry = AutoRetryStart(1, 3, 2000, "429: busy")
    failed = answered(TextContent("half"), reason="error", error="429: busy")
    waiting = after(asked("q"), failed, TurnEnd(AssistantMessage(())), retry)
    assert waiting.phase == "retrying"
    assert blocks(waiting)[-1] == NoticeBlock(
        "429: busy. Trying again in 2.0 s, attempt 1 of 3.", "warning"
    )
    again = after(TurnStart(), streamed_text("whole"), start=waiting)
    assert blocks(again)[1] == NoticeBlock("429: busy. Tried again (attempt 1).", "warning")
    assert len(again.turns) == 2


def test_a_failed_run_says_why_once() -> None:
    failed = answered(reason="error", error="401: no key")
    ended = after(asked("q"), failed, RunEnded("error", 1.0))
    assert blocks(ended) == [NoticeBlock("401: no key", "error")]
    told = after(asked("q"), failed, RunEnded("error", 1.0, "No key for openai."))
    assert blocks(told) == [NoticeBlock("No key for openai.", "error")]
    given_up = after(asked("q"), AutoRetryEnd(False, 3, "503"), RunEnded("error", 1.0))
    assert blocks(given_up) == [NoticeBlock("503", "error")]


def test_stopping_lasts_until_the_run_has_ended() -> None:
    start = ToolExecutionStart("1", "bash", {"command": "sleep 9"})
    end = ToolExecutionEnd("1", "bash", ToolResult.of("Operation aborted", is_error=True), True, 9)
    aborted = [TurnEnd(AssistantMessage(())), TurnStart(), MessageStart(AssistantMessage(()))]
    state = after(asked("q"), start, Stopping(), end, aborted, answered(reason="aborted"))
    assert (state.phase, card(state).status) == ("stopping", "stopped")
    ended = after(RunEnded("stopped", 2.0), start=state)
    assert (ended.phase, ended.duration_s, len(ended.turns)) == ("stopped", 2.0, 1)


def test_nothing_is_going_on_any_more_when_a_run_has_ended() -> None:
    half = [*streamed_text("half")][:2]
    state = after(asked("q"), half, ToolExecutionStart("1", "bash", {}), RunEnded("stopped", 1))
    text = blocks(state)[0]
    assert isinstance(text, TextBlock)
    assert (text.is_open, card(state).status) == (False, "stopped")
    assert after(Stopping(), start=state).phase == "stopped"


def test_a_spent_budget_is_a_warning() -> None:
    state = after(asked("q"), RunEnded("budget", 1.0, "12 turns are spent."))
    assert blocks(state) == [NoticeBlock("12 turns are spent.", "warning")]


def test_notices_before_the_first_turn_belong_to_it() -> None:
    state = after(Notice("demo/reader answers."), asked("q"), streamed_text("Hi."))
    assert [turn.number for turn in state.turns] == [1]
    assert blocks(state)[0] == NoticeBlock("demo/reader answers.")


def test_an_answer_cut_at_the_limit_says_so() -> None:
    state = after(asked("q"), streamed_text("half"), answered(reason="length"))
    assert isinstance(blocks(state)[-1], NoticeBlock)


def test_the_queue_is_what_waits_to_be_said() -> None:
    state = after(QueueUpdate(("sooner",), ("later",)))
    assert state.queue == (("sooner",), ("later",))


def test_thinking_ends_where_the_answer_begins_although_the_protocol_ends_both_together() -> None:
    state = start_view("q", model="m")
    thinking = [update(ThinkingStart(0)), update(ThinkingDelta(0, "hm"))]
    for event in [*asked("q"), Clock(0.0), *thinking]:
        state = reduce(state, event)
    for event in [Clock(0.5), update(TextStart(1)), Clock(2.0), update(ThinkingEnd(0, "hm"))]:
        state = reduce(state, event)
    [thought, _text] = state.transcript.turns[0].blocks
    assert isinstance(thought, ThinkingBlock)
    assert (thought.is_open, thought.duration_s) == (False, 0.5)


def test_a_refusal_stands_in_its_card_once() -> None:
    state = start_view("q", model="m")
    refused = ToolResult.of("not allowed", is_error=True)
    events = [
        *asked("q"),
        ToolExecutionStart("1", "bash", {"command": "ls"}),
        PermissionDecided("1", "bash", allowed=False, reason="not allowed"),
        ToolExecutionEnd("1", "bash", refused, is_error=True),
    ]
    for event in events:
        state = reduce(state, event)
    [card] = state.transcript.turns[0].blocks
    assert isinstance(card, ToolCard)
    assert (card.refusal, card.output) == ("not allowed", "")
