"""What IPython gets to parse when a cell says `%agent`."""

import ast
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from agent_nb.kernel.failure import AgentUsageError
from agent_nb.kernel.syntax import rewrite

TEXTS = [
    "hello",
    "what is this?",
    "what??",
    "don't",
    "say \"hi\" and 'bye'",
    "unbalanced ( [ { and ' quote",
    "cost is $HOME and {x} and {{y}}",
    "!ls -l",
    "# no comment",
    "a; b;",
    'JSON {"a": [1, {"b": null}]}',
    r"C:\temp\new and \n and \\ too",
    "介绍一下这个项目？",
    "emoji 😀 and é",
    "r = %agent inner",
    "%agent inner",
    "%%agent inner",
    '"""triple',
    "f'{x!r}'",
    "line separator \u2028 inside",
    "-- dashes --",
    "=?",
]


class Recorder:
    """Stands for IPython's shell: takes magic calls down instead of running them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def run_line_magic(self, name: str, line: str) -> Any:
        return self._record(name, line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        return self._record(name, line, cell)

    def _record(self, *call: str) -> Any:
        self.calls.append(call)
        value = SimpleNamespace(text=call[-1])
        return _soon(value) if call[0] == "agent_awaited" else value


async def _soon(value: Any) -> Any:
    return value


def transformed(cell: str, *, can_await: bool = True) -> str:
    manager = TransformerManager()
    manager.cleanup_transforms.insert(0, lambda lines: rewrite(lines, can_await=can_await))
    return manager.transform_cell(cell)


async def run(cell: str, *, can_await: bool = True) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
    """Run a cell as IPython would, awaiting if it awaits, and return the calls and its names."""
    recorder = Recorder()
    names: dict[str, Any] = {"get_ipython": lambda: recorder}
    code = compile(
        transformed(cell, can_await=can_await), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    value = eval(code, names)
    if value is not None:
        await value
    return recorder.calls, names


@pytest.mark.parametrize("text", TEXTS)
async def test_text_on_a_line_arrives_as_it_was_written(text: str) -> None:
    assert (await run(f"%agent {text}"))[0] == [("agent_awaited", text)]


@pytest.mark.parametrize("text", TEXTS)
async def test_text_after_an_assignment_arrives_as_it_was_written(text: str) -> None:
    calls, names = await run(f"before = 1\nr = %agent {text}\nafter = r.text")
    assert calls == [("agent_awaited", text)]
    assert names["after"] == text


@pytest.mark.parametrize("text", TEXTS)
async def test_text_of_a_cell_arrives_as_it_was_written(text: str) -> None:
    body = f"{text}\n    indented {text}\n\n>>> {text}\n"
    assert (await run(f"%%agent --quiet\n{body}"))[0] == [("agent_awaited", "--quiet", body)]


@pytest.mark.parametrize("text", TEXTS)
async def test_a_plain_function_gets_the_blocking_magic(text: str) -> None:
    calls, _ = await run(
        f"def f():\n    return_value = %agent {text}\n    return return_value\nf()"
    )
    assert calls == [("agent", text)]


async def test_a_cell_without_a_body_is_a_line() -> None:
    assert (await run("%%agent why?"))[0] == [("agent_awaited", "why?")]
    assert (await run("%%agent why?\n  \n"))[0] == [("agent_awaited", "why?")]


async def test_prompts_in_a_text_stay() -> None:
    calls, _ = await run("%%agent\n>>> x = 1\nwhat does this do?")
    assert calls == [("agent_awaited", "", ">>> x = 1\nwhat does this do?\n")]


async def test_blank_lines_above_a_cell_magic_do_not_matter() -> None:
    assert (await run("\n  \n%%agent\ntext"))[0] == [("agent_awaited", "", "text\n")]


@pytest.mark.parametrize(
    ("cell", "calls"),
    [
        ("for i in range(2):\n    %agent go", [("agent_awaited", "go")] * 2),
        ("if True:\n\t%agent go?", [("agent_awaited", "go?")]),
        ("if True: r = %agent go?", [("agent_awaited", "go?")]),
        ("%agent one\n%agent two?", [("agent_awaited", "one"), ("agent_awaited", "two?")]),
        ("import asyncio\nawait asyncio.sleep(0)\n%agent go", [("agent_awaited", "go")]),
        ("x = [1,\n  2]\n%agent go", [("agent_awaited", "go")]),
        ("x = '''\n'''\n%agent go", [("agent_awaited", "go")]),
        ("# don't\n%agent go", [("agent_awaited", "go")]),
        ("%agent don't (\nx = 1\n%agent [", [("agent_awaited", "don't ("), ("agent_awaited", "[")]),
        ("d = {}\nd['a=%agent'] = %agent go", [("agent_awaited", "go")]),
        ("a, b = 1, 2\nr: object = %agent go", [("agent_awaited", "go")]),
        ("%agent one \\\n  two\nx = 1", [("agent_awaited", "one two")]),
        ("%agent ends with \\", [("agent_awaited", "ends with \\")]),
        ("%agent", [("agent_awaited", "")]),
        ("%agent\t tab", [("agent_awaited", "tab")]),
        ("%agent go\r\nx = 1\r\n", [("agent_awaited", "go")]),
        (
            "def f(\n    a=1,\n    b=(2,),\n):\n    if a:\n        %agent go\nf()",
            [("agent", "go")],
        ),
        ("def f():\n    pass\n%agent go", [("agent_awaited", "go")]),
        ("def f():\n    pass\n\n  # a comment\nif True:\n    %agent go", [("agent_awaited", "go")]),
        ("def f(): r = %agent go\nf()", [("agent", "go")]),
        ("class A:\n    r = %agent go", [("agent", "go")]),
        ("class A:\n    def f(self):\n        %agent go\nA().f()", [("agent", "go")]),
        (
            "def f():\n  async def g():\n    %agent go\n  return g\nawait f()()",
            [("agent_awaited", "go")],
        ),
        (
            "async def f():\n  def g():\n    %agent in\n  g()\n  %agent out\nawait f()",
            [("agent", "in"), ("agent_awaited", "out")],
        ),
        (
            "async def f():\n    for i in 'a':\n        %agent go\nawait f()",
            [("agent_awaited", "go")],
        ),
        (
            "def deco(f): return f\n@deco\ndef f(x=lambda: 1):\n    %agent go\nf()",
            [("agent", "go")],
        ),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    %agent go", [("agent_awaited", "go")]),
        ("g = lambda x: x\n%agent go", [("agent_awaited", "go")]),
        ("x = 1 + \\\n    2\n%agent go", [("agent_awaited", "go")]),
    ],
)
async def test_where_a_line_can_stand(cell: str, calls: list[tuple[str, ...]]) -> None:
    assert (await run(cell))[0] == calls


async def test_code_that_cannot_await_calls_the_blocking_magic() -> None:
    assert (await run("%agent go?", can_await=False))[0] == [("agent", "go?")]
    assert (await run("%%agent\ngo?", can_await=False))[0] == [("agent", "", "go?\n")]
    cell = "async def f():\n    %agent go?\n"
    assert "await" in transformed(cell, can_await=False)


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1\n",
        "s = '%agent go'\n",
        's = """\n%agent go\n"""\n',
        's = """\nr = %agent go\n%%agent\n"""\n',
        "x = [\n%agent\n]\n",
        "x = (1 \\\n%agent)\n",
        "# %agent go\n",
        "# r = %agent go\n",
        "x = 1 # r = %agent go\n",
        "%agents go\n",
        "%agent? \n",
        "%agent.x\n",
        "%time %agent go\n",
        "!echo %agent\n",
        "x = !echo 'it %agent\n",
        "%%bash\n%agent go\n%%agent\n",
        "%%writefile x.py\nr = %agent go\n",
        "f(a = %agent)\n",
        "x == %agent\n",
        "x += %agent go\n",
        "agent = 5\nx = 7 %agent\n",
        "agent = 5\nx = (7\n%agent)\n",
        "print(f'{x = %agent}')\n",
        "x = 'unfinished\n%agent_of_change\n",
        "%agents\n%%agents\n",
    ],
)
def test_other_cells_stay_as_they_are(cell: str) -> None:
    lines = cell.splitlines(keepends=True)
    assert "".join(rewrite(lines, can_await=True)) == cell


def test_a_cell_without_the_magic_is_not_even_looked_at() -> None:
    lines = ["def broken(:\n", "'''"]
    assert rewrite(lines, can_await=True) is lines


def test_after_something_unfinished_the_rest_is_left_alone() -> None:
    cell = "%agent one\nx = '''\n%agent two\n"
    assert transformed_lines(cell)[1:] == ["x = '''\n", "%agent two\n"]


def transformed_lines(cell: str) -> list[str]:
    return rewrite(cell.splitlines(keepends=True), can_await=True)


@pytest.mark.parametrize("above", ["# a comment\n", "x = 1\n", "%matplotlib inline\n", "\n\n# a\n"])
def test_a_cell_magic_below_something_says_what_to_do(above: str) -> None:
    with pytest.raises(AgentUsageError, match="must be the first line of its cell"):
        transformed(f"{above}%%agent --quiet\nit's text\n")


def test_line_numbers_stay_right_below_a_continued_line() -> None:
    lines = transformed_lines("%agent one \\\n two \\\n three\n1 / 0\n")
    assert lines[3] == "1 / 0\n"


def test_rewriting_twice_changes_nothing_more() -> None:
    for cell in ("%agent go?", "%%agent --new\ngo %agent now", "def f():\n    x = %agent go\n"):
        once = transformed_lines(cell)
        assert rewrite(once, can_await=True) == once


@pytest.mark.parametrize(
    "make",
    [
        lambda text: f"%agent {text}",
        lambda text: f"x = %agent {text}",
        lambda text: f"%%agent\n{text}",
    ],
)
def test_what_is_left_is_valid_python_whatever_the_text(make: Callable[[str], str]) -> None:
    for code_point in [*range(0x20), 0x7F, 0x85, 0xA0, 0x2028, 0x2029, 0xFEFF, 0xD800, 0x1F600]:
        text = f"a{chr(code_point)}b" if code_point != 0x0A else "a"
        tree = ast.parse(transformed(make(text)), mode="exec")
        assert text in [
            node.value.rstrip("\n")
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
