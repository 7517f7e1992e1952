import re
import time
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from page_checker import checked, static_problems
from run_events import (
    HOSTILE,
    answered,
    asked,
    hostile_events,
    next_turn,
    ran,
    streamed_call,
    streamed_text,
    streamed_thinking,
    together,
)

from agent_nb.core.content import ImageContent
from agent_nb.core.events import SessionEvent
from agent_nb.core.messages import Cost, Usage
from agent_nb.render.blocks import NoticeBlock, ShownTurn, TextBlock, ToolCard, Transcript
from agent_nb.render.bundle import MAX_BYTES, static_bundle
from agent_nb.render.growing import GrowingText
from agent_nb.render.stream import html_blocks
from agent_nb.render.text import markdown_of, tame_markdown
from agent_nb.ui.view import Notice, RunEnded, reduce, start_view

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
PNG = "iVBORw0KGgo="


def transcript(
    events: list[SessionEvent], question: str = "Which files?", **fields: str
) -> Transcript:
    state = start_view(question, **{"model": "demo/reader", **fields})
    for event in events:
        state = reduce(state, event)
    return state.transcript


def usual_run() -> Transcript:
    arguments = {"path": "README.md"}
    events = together(
        asked("Which files?"),
        streamed_thinking("I should look."),
        streamed_call("1", "read", arguments, index=1),
        answered(usage=Usage(900, 100, 200, 0, 1_234, cost=Cost(total=0.012))),
        ran("1", "read", arguments, "# Title\n\nText `with` ``` ticks"),
        next_turn(),
        streamed_text("There is **one** file:\n\n```python\nx = 1 < 2\n```\n\n`a < b` and 1 < 2"),
        answered(),
        RunEnded("done", 0.4),
    )
    return transcript(events, model_note="rule-based, not a language model")


def test_all_three_forms_tell_the_run() -> None:
    bundle = static_bundle(usual_run())
    assert list(bundle) == ["text/html", "text/markdown", "text/plain"]
    texts = [
        checked(bundle["text/html"]).text,
        MarkdownIt().render(bundle["text/markdown"]),
        bundle["text/plain"],
    ]
    for text in texts:
        for part in ("Done", "demo/reader", "not a language model", "Which files?", "README.md"):
            assert part in text
        for part in ("2 turns", "1 tool", "1.2k tokens (200 cached)", "$0.012", "0.4 s", "one"):
            assert part in text


def test_the_html_survives_the_sanitiser_of_an_untrusted_notebook() -> None:
    html = static_bundle(usual_run())["text/html"]
    assert static_problems(html) == []
    assert html.count("<details") == 2
    assert "<pre" in html


def test_a_tool_result_is_folded_and_a_failure_stands_open() -> None:
    events = together(
        asked("q"),
        ran("1", "bash", {"command": "true"}, "fine"),
        ran("2", "bash", {"command": "false"}, "it broke", is_error=True),
    )
    html = static_bundle(transcript(events))["text/html"]
    assert html.count("<details open") == 1
    assert "failed" in html
    assert "it broke" in static_bundle(transcript(events))["text/plain"]


def test_hostile_text_is_inert_in_every_field_of_the_html() -> None:
    events = together(hostile_events(), Notice(HOSTILE, "warning"), RunEnded("error", 1, HOSTILE))
    run = transcript(events, HOSTILE, model=HOSTILE, model_note=HOSTILE)
    bundle = static_bundle(run)
    assert static_problems(bundle["text/html"]) == []
    for form in bundle.values():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", form)


def test_hostile_text_is_inert_in_the_markdown() -> None:
    events = together(hostile_events(), RunEnded("error", 1, HOSTILE))
    run = transcript(events, HOSTILE, model=HOSTILE)
    markdown = static_bundle(run)["text/markdown"]
    page = checked(MarkdownIt("commonmark", {"html": True}).render(markdown))
    assert page.problems == []
    assert page.links == ["https://evil.example/y.png"] * len(page.links)
    assert "img" not in page.tags


@pytest.mark.parametrize(
    "source",
    [
        "a <b>bold</b> move </details>",
        "`` ` `` <script>alert(1)</script> `",
        "text\n<div>\nblock\n</div>",
        "<!-- comment -->\n\n<https://a.example>",
        "![a](https://a.example/p.png)",
        "![a][r]\n\n[r]: https://a.example/p.png",
        "`unclosed <img src=x>",
        "- item\n\n      <script>code in a list</script>\n",
        "[a](javascript:alert(1))",
    ],
)
def test_markdown_for_code_hosts_holds_no_html_and_loads_nothing(source: str) -> None:
    page = checked(MarkdownIt("commonmark", {"html": True}).render(tame_markdown(source)))
    assert page.problems == []
    assert page.tags.isdisjoint({"img", "b", "div", "script"})


def test_code_in_the_markdown_stays_as_it_is() -> None:
    source = "`a < b` and\n\n```html\n<b>&lt;</b> ![x](y)\n```\n"
    assert tame_markdown(source) == source


def test_secrets_are_masked_everywhere() -> None:
    value = "hunter2hunter2"
    text = f"key {KEY} and {value}"
    arguments = {"command": text, "more": {"deep": [text]}}
    events = together(
        asked(text),
        streamed_thinking(text),
        streamed_text(text, index=1),
        streamed_call("1", "bash", arguments, index=2),
        answered(),
        ran("1", "bash", arguments, text, details={"diff": f"-{text}"}, is_error=True),
        Notice(text),
        RunEnded("error", 1, text),
    )
    bundle = static_bundle(transcript(events, text, model=text), secrets=[value])
    for form in bundle.values():
        assert KEY not in form
        assert value not in form
        assert "•••" in form


def test_pictures_a_tool_made_are_kept_and_others_are_not() -> None:
    images = (
        ImageContent(PNG, "image/png"),
        ImageContent('"><script>', "image/png"),
        ImageContent(PNG, "image/svg+xml"),
    )
    card = ToolCard("1", "python", "done", GrowingText.of(), {}, images=images)
    html = static_bundle(Transcript("q", (ShownTurn(1, (card,)),)))["text/html"]
    assert html.count("<img") == 1
    assert static_problems(html) == []


def test_a_long_result_is_cut_with_a_note() -> None:
    output = "\n".join(f"line {n}" for n in range(5_000))
    events = together(asked("q"), ran("1", "bash", {"command": "seq"}, output))
    html = static_bundle(transcript(events))["text/html"]
    assert "line 0\n" in html
    assert "line 4999" in html
    assert re.search(r"… [\d,]+ lines not shown …", html)


def _cards(count: int, output: str) -> tuple[ToolCard, ...]:
    card = ToolCard("1", "bash", "done", GrowingText.of(), {"command": output}, output)
    return (card,) * count


@pytest.mark.parametrize(
    "run",
    [
        Transcript("q", tuple(ShownTurn(n, _cards(1, "x" * 50_000)) for n in range(1, 200))),
        Transcript("q", (ShownTurn(1, _cards(3_000, "<&>" * 500)),)),
        Transcript("q" * 500_000, (ShownTurn(1, (NoticeBlock("<" * 500_000),)),)),
        Transcript("q", (ShownTurn(1, (TextBlock(GrowingText.of("`a` " * 200_000)),)),)),
        Transcript("q", (ShownTurn(1, (TextBlock(GrowingText.of("*a* " * 200_000)),) * 50),)),
        Transcript(
            "q",
            (
                ShownTurn(
                    1,
                    (
                        replace(
                            _cards(1, "")[0], images=(ImageContent("A" * 900_000, "image/png"),)
                        ),
                    ),
                ),
            ),
        ),
        Transcript("q", tuple(ShownTurn(n, (NoticeBlock("<"),)) for n in range(1, 10_000))),
    ],
)
def test_a_bundle_is_never_larger_than_promised(run: Transcript) -> None:
    bundle = static_bundle(run)
    assert sum(len(form.encode()) for form in bundle.values()) <= MAX_BYTES
    assert static_problems(bundle["text/html"]) == []


def test_the_bundle_speaks_chinese() -> None:
    bundle = static_bundle(replace(usual_run(), language="zh-CN"))
    assert "完成" in bundle["text/plain"]
    assert "第 1 轮" in bundle["text/html"]


def test_what_a_call_wrote_is_kept_though_its_result_is_short() -> None:
    content = "\n".join(f"line {n}" for n in range(200))
    events = together(asked("q"), ran("1", "write", {"path": "a", "content": content}, "Wrote it."))
    html = static_bundle(transcript(events))["text/html"]
    assert "line 100\n" in html
    assert "not shown" not in html


def test_what_is_left_out_of_a_turn_and_of_a_question_is_said() -> None:
    cards = tuple(
        ToolCard(str(n), "ls", "done", GrowingText.of(), {"path": f"dir{n}"}) for n in range(500)
    )
    for bundle in (
        static_bundle(Transcript("q", (ShownTurn(1, cards),))),
        static_bundle(Transcript("Q" * 30_000)),
    ):
        for text in bundle.values():
            assert re.search(r"parts of this turn not kept here|1 line not shown", text)


@pytest.mark.parametrize("status", ["done", "stopped"])
def test_a_key_that_is_split_or_escaped_in_a_call_is_masked(status: str) -> None:
    written = '{"command": "' + "y" * 145 + ' \\u0068unter2hunter2xyz hunter2\\u001b[0mhunter2xyz"}'
    card = ToolCard("1", "bash", status, GrowingText.of(written), output="hunter2\x1b[1mhunter2xyz")
    bundle = static_bundle(Transcript("q", (ShownTurn(1, (card,)),)), secrets=["hunter2hunter2xyz"])
    for text in bundle.values():
        assert "hunter2" not in text


def test_half_a_character_in_unfinished_arguments_is_replaced() -> None:
    card = ToolCard("1", "write", "stopped", GrowingText.of('{"path": "a.txt", "content": "\ud83d'))
    for text in static_bundle(Transcript("q\ud800", (ShownTurn(1, (card,)),))).values():
        assert "a.txt" in text
        assert text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "Here:\n~~~\ncode",
        "```python\nx",
        "````\n```",
        "~~~",
        "```\na\n~~~",
        "- a\n  ~~~\n  code",
        "> ```\n> a",
        "```\na\n```\n```",
    ],
)
def test_code_left_open_swallows_nothing_that_follows(text: str) -> None:
    image = "<img src=x onerror=alert(1)>"
    card = ToolCard("1", "bash", "done", GrowingText.of(), {}, output=f"~~~\n```\n{image}")
    shown = Transcript("q", (ShownTurn(1, (TextBlock(GrowingText.of(text)), card)),))
    html = MarkdownIt("commonmark", {"html": True}).render(static_bundle(shown)["text/markdown"])
    assert "<details><summary><b>bash</b>" in html
    assert "<img" not in html


def test_code_that_ends_is_left_as_it_is() -> None:
    for text in ("~~~~\na\n~~~~~ ", "```\n\n  ```", "    indented", "```\na\n```\n\nmore"):
        assert tame_markdown(text) == text


def test_hidden_codes_between_backticks_open_no_way_out_of_a_fence() -> None:
    text = "`\x1b[0m``\n<script>alert(1)</script>"
    card = ToolCard("1", "write", "done", GrowingText.of(), {"path": "a", "content": text})
    shown = Transcript("q", (ShownTurn(1, (card,)),))
    html = MarkdownIt("commonmark", {"html": True}).render(markdown_of(shown))
    assert "<script" not in html


@pytest.mark.parametrize(
    "text",
    [
        "```perl\n" + "m{" * 25_000,
        ("```perl\n" + "m{" * 4_000 + "\n```\n") * 20,
        " ".join("`" * size for size in range(1, 600)),
        "- [ ] a\n" * 20_000,
    ],
    ids=["one long code", "much code", "backticks", "tasks"],
)
def test_no_text_takes_long_to_draw(text: str) -> None:
    began = time.process_time()
    static_bundle(Transcript("q", (ShownTurn(1, (TextBlock(GrowingText.of(text)),)),)))
    html_blocks(GrowingText.of(text), is_open=False)
    assert time.process_time() - began < 6  # it was 20 s and more
