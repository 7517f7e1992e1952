import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_checker import checked

from agent_nb.render.growing import GrowingText
from agent_nb.render.stream import MAX_BLOCK, _take, html_blocks

ANSWER = """# Title

Some *text* with `code`, **strong words** and a [link](https://a.example).

- one
- two

  still two

1. first
   - inner

| a | b |
|---|--:|
| 1 | 2 |

```python
def f():

    return 1
```

Setext
======

Formula:
\\[
a
+ b
\\]

$$
x = \\frac{a}{b}
$$
> quoted
> more

The end.
"""


def streamed(text: str, sizes: random.Random) -> list[list[str]]:
    """The blocks after each of many pieces, the last one closed."""
    value, at, states = GrowingText.of(), 0, []
    while at < len(text):
        size = sizes.randint(1, 9)
        value = value.appended(text[at : at + size])
        states.append(html_blocks(value, is_open=True))
        at += size
    return [*states, html_blocks(value, is_open=False)]


@pytest.mark.parametrize("seed", range(20))
def test_however_it_is_cut_the_end_is_the_same(seed: int) -> None:
    whole = html_blocks(GrowingText.of(ANSWER), is_open=False)
    assert streamed(ANSWER, random.Random(seed))[-1] == whole
    assert len(whole) == 12


@pytest.mark.parametrize("seed", range(5))
def test_a_finished_block_never_changes_again(seed: int) -> None:
    before: list[str] = []
    for blocks in streamed(ANSWER, random.Random(seed)):
        assert blocks[: len(before) - 1] == before[:-1]
        before = blocks


def test_nothing_is_shown_that_would_have_to_be_taken_back() -> None:
    """No heading for a list's first dash, no stars for strong words, no bars for a table."""
    value = GrowingText.of()
    for character in ANSWER:
        value = value.appended(character)
        html = "".join(html_blocks(value, is_open=True))
        text = checked(html).text
        assert "**" not in text
        assert "|" not in text
        assert "](" not in text
        assert html.count("<h3") + html.count("<h4") <= 2


@given(st.text(alphabet="ab *`_-#>|$\\[](){}<&\n1.~=+:\t", max_size=200), st.randoms())
def test_any_markdown_streams_to_harmless_html(text: str, sizes: random.Random) -> None:
    rng = random.Random(sizes.random())
    for blocks in streamed(text, rng):
        assert checked("".join(blocks)).problems == []


def test_an_older_value_is_drawn_as_it_was() -> None:
    old = GrowingText.of("one\n\ntw")
    new = old.appended("o\n\nthree\n\nfour\n")
    assert len(html_blocks(new, is_open=True)) == 4
    fresh = html_blocks(GrowingText.of("one\n\ntw"), is_open=False)
    assert html_blocks(old, is_open=False) == fresh


def test_a_long_paragraph_is_cut_between_words() -> None:
    text = "word " * 5_000
    blocks = html_blocks(GrowingText.of(text), is_open=False)
    assert len(blocks) > 3
    assert all(len(block) <= MAX_BLOCK + 100 for block in blocks)
    assert "".join(checked(b).text.replace("\n", " ") for b in blocks).split() == text.split()


def test_long_code_goes_on_in_pieces_of_the_same_language() -> None:
    code = "".join(f"x_{n} = {n}\n" for n in range(2_000))
    blocks = html_blocks(GrowingText.of(f"```python\n{code}```\n\nafter\n"), is_open=False)
    pieces = [block for block in blocks if "<pre" in block]
    assert len(pieces) > 2
    assert ["agn-more" in piece for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert all("agn-number" in piece for piece in pieces)
    assert "".join(checked(piece).text[:-1] for piece in pieces) == code
    assert "after" in blocks[-1]


def test_a_long_table_repeats_its_head() -> None:
    rows = "".join(f"| {n} | b |\n" for n in range(2_000))
    blocks = html_blocks(GrowingText.of(f"| n | m |\n|---|---|\n{rows}"), is_open=False)
    assert len(blocks) > 1
    assert all(block.startswith("<table>\n<thead>") for block in blocks)


def test_links_defined_before_are_known_later() -> None:
    text = "[r]: https://a.example\n\none\n\n[two][r]\n"
    blocks = html_blocks(GrowingText.of(text), is_open=False)
    assert 'href="https://a.example"' in blocks[-1]


def test_secrets_are_masked_even_where_they_come_in_pieces() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    value = GrowingText.of()
    for character in f"the key {key} and hunter2hunter2.\n\nmore":
        value = value.appended(character)
    html = "".join(html_blocks(value, is_open=True, secrets=["hunter2hunter2"]))
    assert "the key ••• and •••." in html
    assert "0123456789" not in html


OPENERS = st.sampled_from(
    ["", "```\n", "```json\nok\n", "~~~\n", "|a|\n|-|\n|", "> ", "- ", "    "]
)
LONG = st.tuples(
    st.sampled_from(["x", "{", "word ", "a\n", "\n", "`", "|", '"k":1,']), st.integers(1, 9_000)
)


@settings(deadline=None, max_examples=60)
@given(OPENERS, st.lists(LONG, max_size=3))
def test_every_cut_of_any_text_makes_it_shorter(opener: str, parts: list[tuple[str, int]]) -> None:
    rest = opener + "".join(piece * (size // len(piece)) for piece, size in parts)
    while taken := _take(rest):
        assert len(taken.rest) < len(rest)
        done = "".join(taken.finished)
        assert rest.startswith(done)
        assert taken.rest.endswith(rest[len(done) :])
        rest = taken.rest


@pytest.mark.parametrize("opener", ["```json\n", "|a|\n|-|\n|"])
def test_a_line_longer_than_a_block_is_cut_in_its_middle(opener: str) -> None:
    html = html_blocks(GrowingText.of(opener + "1" * 9_000), is_open=False)
    assert len(html) == 2
    assert "".join(html).count("1") == 9_000


def test_a_cut_does_not_fall_within_a_key() -> None:
    text = "```\n" + '"x",' * 1_995 + '"hunter2hunter2"' + "," * 100
    html = html_blocks(GrowingText.of(text), is_open=False, secrets=["hunter2hunter2"])
    assert "•••" in "".join(html)
    assert "hunter" not in "".join(html)
