import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.providers.demo.choosing import choose
from agent_nb.providers.demo.prose import passages_of
from agent_nb.providers.demo.sentences import Sentence, sentences_of, split_sentences
from agent_nb.providers.demo.wording import Language

README = """\
# Tidemark

[![CI](https://ci.example/badge.svg)](https://ci.example)
[Docs](https://docs.example) | [Chat](https://chat.example)

Tidemark is a small **Python** library that reads tide tables and predicts
water levels for [any harbour](https://h.example). It works offline, with data
from v1.2 of the *National Archive* (e.g. the stations of Brest). See the docs!

![A chart.](chart.png)

| command | what it does. |
|---|---|
| predict | It predicts. |

## Install

```sh
pip install tidemark. Then run it.
```

Install it with:

- `tidemark list`
- `tidemark predict brest`

## Licence

Tidemark is licensed under the MIT licence.
"""


def sentences(text: str, path: str = "README.md") -> tuple[Sentence, ...]:
    return sentences_of(passages_of(text, path))


def texts(text: str, path: str = "README.md") -> list[str]:
    return [sentence.text for sentence in sentences(text, path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Use Python 3.5 or file.py. It works.", ["Use Python 3.5 or file.py.", "It works."]),
        ("Ask Dr. Ada, i.e. her. Yes.", ["Ask Dr. Ada, i.e. her.", "Yes."]),
        ("Tea, milk etc. are free. Ok.", ["Tea, milk etc. are free.", "Ok."]),
        ("By J. R. Smith. Done.", ["By J. R. Smith.", "Done."]),
        ("It reads files. pandas is used.", ["It reads files.", "pandas is used."]),
        ('He said "Stop. Now." Then he left.', ['He said "Stop. Now."', "Then he left."]),
        ("It works (see below. Or not). Fine.", ["It works (see below. Or not).", "Fine."]),
        ("Run `a. B`. Then stop.", ["Run `a. B`.", "Then stop."]),
        ('A 5" wide one. A 6" one.', ['A 5" wide one.', 'A 6" one.']),
        ("Wait... what? Yes… No.", ["Wait... what?", "Yes…", "No."]),
        ("你好。真的吗？真的！", ["你好。", "真的吗？", "真的！"]),
        ("他说：“你好。走吧。”然后走了。好。", ["他说：“你好。走吧。”", "然后走了。", "好。"]),
        ("中文。English one. 又中文。", ["中文。", "English one.", "又中文。"]),
        ("no end mark", ["no end mark"]),
        ("", []),
    ],
)
def test_text_is_cut_into_whole_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_only_running_text_of_markdown_is_left() -> None:
    assert texts(README) == [
        "Tidemark is a small Python library that reads tide tables and predicts water levels for "
        "any harbour.",
        "It works offline, with data from v1.2 of the National Archive (e.g. the stations of "
        "Brest).",
        "See the docs!",
        "Install it with:",
        "Tidemark is licensed under the MIT licence.",
    ]


def test_sentences_know_the_line_they_begin_in() -> None:
    assert [sentence.line for sentence in sentences(README)] == [6, 7, 8, 22, 29]


def test_lines_of_chinese_text_are_joined_without_spaces() -> None:
    assert texts("潮汐表可以\n预测水位，\n支持 Python\n语言。\n") == [
        "潮汐表可以预测水位，支持 Python 语言。"
    ]


def test_front_matter_html_and_footnotes_are_no_text() -> None:
    text = "---\ntitle: It is.\n---\n<p align='center'>\nIt is fast.\n</p>\n\n[^1]: A note.\n"
    assert texts(text) == ["It is fast."]


def test_docstrings_and_comments_are_the_text_of_python() -> None:
    source = (
        '"""Predict tides."""\n\n\ndef f():\n    r"""Match \\d. Twice."""\n    x = "No."\n# Why.\n'
    )
    assert texts(source, "a.py") == ["Predict tides.", "Match \\d.", "Twice.", "Why."]


def test_broken_python_still_gives_what_came_before_the_break() -> None:
    assert texts('"""It reads."""\ndef f(:\n  (', "a.py") == ["It reads."]


def test_markdown_cells_are_the_text_of_a_notebook() -> None:
    cells = [
        {"cell_type": "code", "source": ["# no text.\n"]},
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "It reads “tides”. Yes.\n"]},
    ]
    text = json.dumps({"cells": cells}, indent=1, ensure_ascii=False)
    found = sentences(text, "a.ipynb")
    assert [sentence.text for sentence in found] == ["It reads “tides”.", "Yes."]
    assert "It reads" in text.split("\n")[found[0].line - 1]
    assert texts("It reads.\n\n```python\n# no.\n```\n", "a.ipynb") == ["It reads."]
    assert texts(text[:-4], "a.ipynb") == []


def test_comments_are_the_text_of_other_languages() -> None:
    assert texts("// It counts.\nint x; // no\n/* And\n * more. */\n", "a.c") == [
        "It counts.",
        "And more.",
    ]


def test_markup_directives_and_code_of_restructured_text_are_no_text() -> None:
    text = (
        "Title\n=====\n\n.. image:: a.png\n\nIt reads ``x`` of `Docs <https://d>`_. Use::\n\n"
        "    code. Here.\n\n>>> f()\n"
    )
    assert texts(text, "a.rst") == ["It reads `x` of Docs.", "Use::"]


def test_the_opening_is_preferred_and_the_order_of_the_file_kept() -> None:
    chosen = [sentence.line for sentence in choose(sentences(README), 3)]
    assert chosen == [6, 7, 29]  # and not `See the docs!`


def test_what_is_not_whole_is_never_chosen() -> None:
    assert [s.text for s in choose(sentences("A tagline\n\nIt is one.\n"), 5)] == ["It is one."]


def test_a_sentence_that_stands_twice_is_chosen_once() -> None:
    assert len(choose(sentences("It is one.\n\nIt is one.\n\nTwo are here.\n"), 3)) == 2


def test_a_text_in_two_languages_is_quoted_in_that_of_the_question() -> None:
    text = "Tides are predicted here. It reads tables.\n\n这里预测潮汐。它读取表格。\n"
    english = choose(sentences(text), 2, language=Language.ENGLISH)
    chinese = choose(sentences(text), 2, language=Language.CHINESE)
    assert [s.text for s in english] == ["Tides are predicted here.", "It reads tables."]
    assert [s.text for s in chinese] == ["这里预测潮汐。", "它读取表格。"]


def test_nothing_is_chosen_from_nothing() -> None:
    assert choose((), 3) == ()


LINES = st.sampled_from(
    [
        "# Title",
        "It is. So",
        "```",
        "> quote.",
        "- item",
        "| a | b |",
        "<p>x.",
        '"""',
        "// c",
        "{",
        "",
    ]
)


@given(
    st.one_of(st.text(max_size=60), st.lists(LINES, max_size=8).map("\n".join)),
    st.sampled_from(["md", "py", "txt", "rst", "html", "ipynb", "c", "yaml"]),
)
@settings(max_examples=200, deadline=None, database=None)
def test_any_file_can_be_quoted_from(text: str, ending: str) -> None:
    last = text.count("\n") + 1
    for sentence in choose(sentences(text, f"a.{ending}"), 3):
        assert sentence.text.strip()
        assert 1 <= sentence.line <= last
