import time

from agent_nb.render.growing import GrowingText


def test_an_older_value_does_not_see_what_was_added_to_a_newer_one() -> None:
    first = GrowingText.of("a")
    second = first.appended("b")
    assert [str(first), str(second), second.since(1)] == ["a", "ab", "b"]


def test_two_values_that_grow_from_the_same_one_part_ways() -> None:
    root = GrowingText.of("a")
    left, right = root.appended("b"), root.appended("c")
    assert [str(root), str(left), str(right)] == ["a", "ab", "ac"]


def test_values_of_the_same_text_are_equal_however_they_came_about() -> None:
    assert GrowingText.of("ab") == GrowingText.of("a").appended("b")
    assert not GrowingText.of("")


def test_adding_costs_the_same_however_long_the_text_is() -> None:
    def seconds(pieces: int) -> float:
        text = GrowingText.of()
        started = time.process_time()
        for _ in range(pieces):
            text = text.appended("abcd")
        return time.process_time() - started

    short = min(seconds(20_000) for _ in range(3))
    assert min(seconds(80_000) for _ in range(3)) < 12 * short  # 4 where it is linear, 16 squared
