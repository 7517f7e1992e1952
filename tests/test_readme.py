"""README says only what is true: its commands, options, providers and code."""

import re
import tomllib
from pathlib import Path

from agent_nb.providers.catalog import HOSTED, LOCAL
from agent_nb.session.create import create_session

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[>=<\[]", line, maxsplit=1)[0] for line in project["dependencies"]]
    table = README.split("Why each dependency is there:")[1]
    assert [name for name in names if name not in table] == []


def test_every_provider_and_local_server_is_named() -> None:
    variables = [hosted.variables[0] for hosted in HOSTED.values()]
    assert [name for name in [*variables, *LOCAL] if name not in README] == []


def test_pictures_and_files_it_names_exist() -> None:
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    named = re.findall(r"(?<![\w/])(?:notebooks|tests|\.ci)/[\w./-]+\w", README)
    assert [path for path in {*linked, *named} if not (ROOT / path).exists()] == []


async def test_what_the_python_example_does(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    session = await create_session(
        cwd=tmp_path,
        model="demo/reader",
        no_session=True,
        environment={"AGENT_NB_DIR": str(tmp_path / "agent")},
    )
    result = await session.prompt("how many files are here?")
    assert result.outcome == "done"
    assert "1" in result.text
    assert [call.name for call in result.tool_calls]
