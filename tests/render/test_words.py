import re

import pytest

from agent_nb.render.words import LANGUAGES, words


def places(sentence: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", sentence))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_sentences_with_the_same_places(language: str) -> None:
    english, other = words("en").catalogue, words(language).catalogue
    assert other.keys() == english.keys()
    assert {k: places(v) for k, v in other.items()} == {k: places(v) for k, v in english.items()}


@pytest.mark.parametrize(
    ("tag", "language"), [("zh-CN", "zh"), ("zh_TW", "zh"), ("EN", "en"), ("fr", "en"), ("", "en")]
)
def test_a_language_tag_finds_its_words_and_english_stands_in(tag: str, language: str) -> None:
    assert words(tag).language == language


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [(0, "0 ms"), (0.0994, "99 ms"), (0.1, "0.1 s"), (9.96, "10 s"), (59.7, "1 min 0 s")],
)
def test_durations_round_to_what_people_say(seconds: float, sentence: str) -> None:
    assert words("en").seconds(seconds) == sentence


def test_numbers_choose_their_sentence() -> None:
    say = words("en")
    assert [say.count("turns", n) for n in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]
