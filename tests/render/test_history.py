from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.messages import (
    AssistantMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agent_nb.render.blocks import NoticeBlock, TextBlock, ThinkingBlock, ToolCard, UserBlock
from agent_nb.render.history import transcript_of

CALL = ToolCall("1", "read", {"path": "a.csv"})


def run() -> list[Message]:
    return [
        SystemMessage("be brief"),
        UserMessage.of("What is in a.csv?"),
        AssistantMessage((ThinkingContent("hm"), CALL), usage=Usage(total_tokens=10)),
        ToolResultMessage(
            "1", "read", (TextContent("x"), ImageContent("AAAA", "image/png")), duration_ms=3
        ),
        UserMessage.of("Hurry up"),
        AssistantMessage((TextContent("An x."),), usage=Usage(total_tokens=5)),
    ]


def test_stored_messages_become_turns_of_blocks() -> None:
    shown = transcript_of(run(), outcome="done", duration_s=1.5, model="demo/reader")
    assert shown.question == "What is in a.csv?"
    assert [turn.number for turn in shown.turns] == [1, 2]
    kinds = [[type(block) for block in turn.blocks] for turn in shown.turns]
    assert kinds == [[ThinkingBlock, ToolCard], [UserBlock, TextBlock]]
    assert shown.usage.total_tokens == 15
    assert (shown.phase, shown.duration_s, shown.tool_count) == ("done", 1.5, 1)


def test_a_card_has_its_result_and_its_pictures() -> None:
    card = transcript_of(run()).turns[0].blocks[1]
    assert isinstance(card, ToolCard)
    assert (card.status, card.output, card.duration_ms, len(card.images)) == ("done", "x", 3, 1)


def test_a_call_without_a_result_was_stopped() -> None:
    card = transcript_of([AssistantMessage((CALL,))], outcome="stopped").turns[0].blocks[0]
    assert isinstance(card, ToolCard)
    assert card.status == "stopped"


def test_a_failure_is_told_with_its_reason() -> None:
    failed = AssistantMessage((), stop_reason="error", error_message="503: busy")
    for messages, error in ([run(), "No key"], [[*run(), failed], "503: busy"]):
        given = "No key" if error == "No key" else ""
        shown = transcript_of(messages, outcome="error", error=given)
        assert shown.turns[-1].blocks[-1] == NoticeBlock(error, "error")


def test_a_failed_attempt_before_a_retry_is_a_warning_in_its_place() -> None:
    failed = AssistantMessage((), stop_reason="error", error_message="503: busy")
    shown = transcript_of([UserMessage.of("q"), failed, AssistantMessage((TextContent("a"),))])
    assert shown.turns[0].blocks == (NoticeBlock("503: busy", "warning"),)


def test_an_answer_cut_at_the_limit_says_so() -> None:
    message = AssistantMessage((TextContent("a"),), stop_reason="length")
    notice = transcript_of([message]).turns[0].blocks[-1]
    assert isinstance(notice, NoticeBlock)
    assert "limit" in notice.text


def test_messages_of_extensions_and_summaries_are_notes() -> None:
    shown = transcript_of(
        [
            CompactionSummaryMessage("long story"),
            CustomMessage("x", "shown"),
            CustomMessage("x", "hidden", display=False),
        ]
    )
    texts = [block.text for turn in shown.turns for block in turn.blocks]
    assert texts == ["Earlier conversation was replaced by a summary.", "shown"]


def test_a_run_of_nothing_is_an_empty_transcript() -> None:
    assert transcript_of([]).turns == ()
    assert transcript_of([], outcome="error").turns[0].blocks == (
        NoticeBlock("The run failed.", "error"),
    )
