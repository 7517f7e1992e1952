import asyncio
from itertools import pairwise

from run_events import answered, asked, ran, streamed_text, together, update

from agent_nb.core.events import TextDelta, TextStart, ToolExecutionStart
from agent_nb.ui.feed import MIN_GAP_S, ViewFeed
from agent_nb.ui.patch import ViewPatch
from agent_nb.ui.view import Notice, RunEnded, Stopping, start_view

START = start_view("q", model="demo/reader")


class Sent:
    """Takes patches and notes when they came."""

    def __init__(self) -> None:
        self.patches: list[ViewPatch] = []
        self.times: list[float] = []
        self.came = asyncio.Event()

    def __call__(self, patch: ViewPatch) -> None:
        self.patches.append(patch)
        self.times.append(asyncio.get_running_loop().time())
        self.came.set()


async def test_events_of_one_moment_make_one_message() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent)
    for event in together(asked("q"), streamed_text("one two three")):
        feed.push(event)
    assert sent.patches == []
    await sent.came.wait()
    assert len(sent.patches) == 1
    assert sent.patches[0].seq == feed.state.seq


async def test_text_is_sent_at_most_twenty_times_a_second_and_all_of_it() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent, interval_s=0.05)
    feed.push(update(TextStart(0)))
    for _ in range(60):
        feed.push(update(TextDelta(0, "word ")))
        await asyncio.sleep(0.005)
    feed.close()
    gaps = [later - earlier for earlier, later in pairwise(sent.times[:-1])]
    assert min(gaps) > 0.045
    assert [patch.from_seq for patch in sent.patches[1:]] == [p.seq for p in sent.patches[:-1]]
    assert sent.patches[-1].seq == feed.state.seq


async def test_a_tool_that_starts_shows_at_once_but_never_too_often() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent, interval_s=60.0)
    feed.push(update(TextStart(0)))
    feed.push(update(TextDelta(0, "a")))
    await sent.came.wait()
    sent.came.clear()
    feed.push(update(TextDelta(0, "b")))
    for number in range(20):
        feed.push(ToolExecutionStart(str(number), "read", {}))
        await asyncio.sleep(0.002)
    await sent.came.wait()
    for event in ran("99", "read", {}, "x"):
        feed.push(event)
    sent.came.clear()
    await sent.came.wait()
    assert all(later - earlier >= MIN_GAP_S for earlier, later in pairwise(sent.times))
    assert len(sent.times) <= 4


async def test_the_end_is_sent_when_the_feed_is_closed() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent)
    feed.push(RunEnded("done", 1.0))
    feed.close()
    assert sent.patches[-1].body["head"]["phase"] == "done"
    feed.close()
    assert len(sent.patches) == 1


async def test_a_snapshot_first_sends_what_is_still_to_be_sent() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent)
    for event in together(asked("q"), streamed_text("hello")):
        feed.push(event)
    whole = feed.snapshot()
    assert (whole.kind, whole.seq) == ("snapshot", sent.patches[-1].seq)
    feed.push(Notice("more"))
    feed.close()
    assert sent.patches[-1].from_seq == whole.seq


async def test_events_that_show_nothing_do_not_put_a_snapshot_ahead_of_the_patches() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent)
    feed.push(answered())  # the phase changes, then nothing that shows
    feed.close()
    for event in asked("q"):
        feed.push(event)
    whole = feed.snapshot()
    feed.push(Stopping())
    feed.close()
    assert sent.patches[-1].from_seq == whole.seq


async def test_thinking_and_tools_are_timed() -> None:
    sent = Sent()
    feed = ViewFeed(START, sent)
    await asyncio.sleep(0.01)
    feed.push(ToolExecutionStart("1", "bash", {"command": "make"}))
    feed.close()
    since = sent.patches[0].body["turns"][0]["blocks"][0]["new"]["since"]
    assert 0.01 <= since < 5


async def test_a_feed_that_goes_on_from_a_state_goes_on_with_its_clock() -> None:
    sent = Sent()
    feed = ViewFeed(ViewFeed(START, sent).state, sent)
    feed.push(Stopping())
    older = feed.state
    again = ViewFeed(older, sent)
    again.push(Notice("here"))
    assert again.state.clock_s >= older.clock_s
    feed.close()
    again.close()
