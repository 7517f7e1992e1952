"""Cells with `%agent` in a real kernel: text, values, loading."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import SETUP, Kernel, kernel_in

pytestmark = pytest.mark.slow

TEXTS = [
    "what is this?",
    "really??",
    'don\'t "quote" {me} {{twice}} $HOME $x ${y}',
    "!ls | wc -l; # not a comment",
    'JSON {"a": [1, {"b": null}]}',
    r"C:\temp\new \n \\ end",
    "读取 README.md，用三句话介绍这个项目？",
    "%agent and %%agent",
    "ends with a backslash \\",
    "`code` <b>html</b> & 😀",
]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel_in(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def asked(kernel: Kernel, cell: str) -> str:
    """Run a cell that asks, and return what the model was sent."""
    assert kernel.run("session = play(says('ok'))").status == "ok"
    done = kernel.run(cell)
    assert done.status == "ok", done.traceback
    seen = kernel.run("import json; print(json.dumps(session.runs[-1].question))")
    text: str = json.loads(seen.text)
    return text


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "cell", ["%agent --quiet {}", "x = 1\nr = %agent --quiet {}", "%%agent --quiet\n{}"]
)
def test_text_reaches_the_model_as_it_was_written(kernel: Kernel, text: str, cell: str) -> None:
    assert asked(kernel, cell.replace("{}", text, 1)) == text


def test_a_line_alone_shows_no_value_and_the_value_is_there(kernel: Kernel) -> None:
    kernel.run("session = play(says('the answer'))")
    assert kernel.run("%agent --quiet hi").values == []
    assert kernel.run("_.text").values == ["'the answer'"]
    again = kernel.run("session.runs[-1]")
    assert again.values[0].startswith("<RunResult done")


def test_out_holds_the_value_and_in_the_cell(kernel: Kernel) -> None:
    kernel.run("session = play(says('the answer'))")
    number = kernel.run("%agent --quiet why?").reply["execution_count"]
    assert kernel.run(f"Out[{number}].text").values == ["'the answer'"]
    assert (
        "run_line_magic('agent_awaited', '--quiet why?')" in kernel.run(f"In[{number}]").values[0]
    )
    assert kernel.run(f"%history {number}").text == "%agent --quiet why?\n"


def test_a_result_that_was_kept_is_shown_when_it_is_asked_for(kernel: Kernel) -> None:
    kernel.run("session = play(says('the answer'))")
    assert kernel.run("r = %agent --quiet hi\nr").values == []
    assert len(kernel.run("r").values) == 1


def test_a_prompt_of_a_session_shows_its_value_once_too(kernel: Kernel) -> None:
    kernel.run("session = play(says('the answer'))")
    assert kernel.run("await session.ask(QUIETLY)").values == []


def test_the_extension_loads_from_ipythons_configuration(tmp_path: Path) -> None:
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text(
        "c = get_config()\nc.InteractiveShellApp.extensions = ['agent_nb']\n"
    )
    with kernel_in(tmp_path) as kernel:
        first = kernel.run("r = %agent --quiet --model demo/reader what can you do?\nr.outcome")
        assert (first.status, first.values) == ("ok", ["'done'"])


def test_timing_and_capturing_cells_can_ask(kernel: Kernel) -> None:
    kernel.run("session = play(says('one'), says('two'), says('three'))")
    assert kernel.run("%%time\nr = %agent --quiet hi?").status == "ok"
    assert kernel.run("%%capture out\nr = %agent --quiet hi?").status == "ok"
    assert kernel.run("%time r = agent_nb.session().prompt_sync('hi')").status == "ok"
    assert kernel.run("[run.text for run in session.runs]").values == ["['one', 'two', 'three']"]


def test_the_directory_is_the_kernels(kernel: Kernel, tmp_path: Path) -> None:
    assert kernel.run("session.state.cwd.name").values == ["'work'"]


def test_several_prompts_wait_for_their_own_run(kernel: Kernel) -> None:
    kernel.run("session = play(says('one'), says('two'))")
    cell = "a = %agent --quiet first\nb = %agent --quiet second\na.text, b.text"
    assert kernel.run(cell).values == ["('one', 'two')"]


def test_a_run_can_be_steered_from_another_cell(kernel: Kernel) -> None:
    kernel.run(
        "session = play(calls('ls', {}, text='wait ' * 50, chunk=5, delay_s=0.02), says('done'))\n"
        "handle = session.ask(QUIETLY)"
    )
    kernel.run("await session.steer('be short')")
    answered = kernel.run("r = await handle\n[m.text for m in r.messages if m.role == 'user']")
    assert answered.values == ["['hi', 'be short']"]
