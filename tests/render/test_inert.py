import time

import pytest

from agent_nb.render.inert import clip, inert, tail_of, terminal_text, without_secrets


def test_terminal_codes_are_removed_and_hidden_characters_shown() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07 a\u202eb\u2066c\x00\x9b"
    assert inert(text) == "red  a<U+202E>b<U+2066>c<U+0000><U+009B>"


def test_an_unfinished_terminal_code_hides_nothing_after_it() -> None:
    assert "rm -rf" in inert("\x1b]0;" + "x" * 10 + "\nrm -rf")


def test_ordinary_text_in_any_script_stays_as_it_is() -> None:
    text = "naïve 中文 עברית العربية 👩‍👩‍👧 a\tb\nc"
    assert inert(text) == text


def test_surrogate_halves_join_or_become_a_replacement_character() -> None:
    assert inert("a\ud83d\ude00b\ud83d") == "a😀b\ufffd"


def test_a_line_written_again_shows_only_its_last_form() -> None:
    assert terminal_text("10%\r20%\r100%\ndone\r\n") == "100%\ndone\n"


def test_a_long_line_without_carriage_returns_takes_no_time() -> None:
    started = time.process_time()
    terminal_text("x" * 300_000 + "\r")
    assert time.process_time() - started < 0.5


def test_clip_keeps_whole_lines_at_both_ends_and_counts_the_rest() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    head, left_out, tail = clip(text, 120)
    assert head.startswith("line 0\n")
    assert tail.endswith("line 99")
    assert len(head.split("\n")) + left_out + len(tail.split("\n")) == 100


def test_the_tail_of_a_text_begins_at_a_line() -> None:
    assert tail_of("one\ntwo\nthree", 9) == "three"
    assert tail_of("x" * 20, 5) == "xxxxx"


@pytest.mark.parametrize(
    "within",
    ["\x1b[1m", "\x9b31m", "\x1b]8;;x\x07", "\x00", "\x08", "\u200b", "\u202e", "\ud800", "\x1b"],
)
def test_a_key_is_masked_whatever_unseen_stands_in_it(within: str) -> None:
    shown = without_secrets(f"is hunter2{within}hunter2 it", ["hunter2hunter2"])
    assert (shown == "is ••• it") == (within != "\ud800")  # a half is seen: it splits the key


def test_hidden_characters_are_shown_where_there_is_no_key() -> None:
    assert without_secrets("a\x00b", ["hunter2hunter2"]) == "a<U+0000>b"
