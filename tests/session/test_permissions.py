from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_nb.core.content import ToolCall
from agent_nb.providers.scripted import calls, says
from agent_nb.session.permissions import NotebookGate, is_protected
from agent_nb.session.session import AgentSession
from agent_nb.tools import Toolbox

MakeSession = Callable[..., Awaitable[AgentSession]]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "read": {},
    "ls": {},
    "grep": {"pattern": "x"},
    "write": {"content": "x"},
    "edit": {"edits": [{"oldText": "a", "newText": "b"}]},
}


async def verdict(root: Path, allow: str, name: str, path: str) -> str:
    """Return "yes", or the option that the refusal names."""
    tool = Toolbox().tool(name)
    arguments = {"path": path, **ARGUMENTS[name]}
    decision = await NotebookGate(root, allow.split()).decide(
        ToolCall("1", name, arguments), tool, tool.arguments.model_validate(arguments)
    )
    assert decision is not None
    return "yes" if decision.allowed else decision.reason.rpartition("--allow ")[2].rstrip(".")


@pytest.mark.parametrize(
    ("allow", "name", "inside", "key_file", "outside"),
    [
        ("", "read", "yes", "read", "read"),
        ("", "grep", "yes", "read", "read"),
        ("", "write", "write", "write", "write"),
        ("", "edit", "edit", "edit", "edit"),
        ("read", "read", "yes", "yes", "yes"),
        ("read", "ls", "yes", "yes", "yes"),
        ("read", "edit", "edit", "edit", "edit"),
        ("write", "write", "yes", "all", "all"),
        ("write", "edit", "yes", "all", "all"),
        ("edit", "edit", "yes", "all", "all"),
        ("edit", "write", "write", "write", "write"),
        ("write", "read", "yes", "read", "read"),
        ("read write", "edit", "yes", "all", "all"),
        ("all", "write", "yes", "yes", "yes"),
        ("all", "read", "yes", "yes", "yes"),
    ],
)
async def test_what_is_allowed_where(
    work: Path, allow: str, name: str, inside: str, key_file: str, outside: str
) -> None:
    assert await verdict(work, allow, name, "sub/new.txt") == inside
    assert await verdict(work, allow, name, ".env") == key_file
    assert await verdict(work, allow, name, "../../x") == outside


async def test_links_are_followed_before_it_is_decided(work: Path) -> None:
    (work / "out").symlink_to("..")
    (work / "harmless.txt").symlink_to(".env")
    assert await verdict(work, "write", "write", "out/x") == "all"
    assert await verdict(work, "write", "write", "harmless.txt") == "all"
    assert await verdict(work, "", "read", "out/x") == "read"


async def test_gate_and_tools_mean_the_same_file_in_a_linked_directory(
    make_session: MakeSession, tmp_path: Path
) -> None:
    real = tmp_path / "srv" / "project"
    real.mkdir(parents=True)
    (real / "x.txt").write_text("inside")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "x.txt").write_text("OUTSIDE")
    (tmp_path / "nb").symlink_to(real)
    script = calls("read", {"path": "../project/x.txt"})
    session = await make_session(script, says("ok"), gate="notebook", cwd=tmp_path / "nb")
    result = await session.prompt("Hi")
    assert (session.cwd, result.tool_calls[0].text.strip()) == (real, "inside")


async def test_a_loop_of_links_is_refused_and_the_run_goes_on(
    make_session: MakeSession, work: Path
) -> None:
    (work / "a").symlink_to("b")
    (work / "b").symlink_to("a")
    script = calls("read", {"path": "a"}) + calls("read", {"path": "c.txt"})
    (work / "c.txt").write_text("fine")
    session = await make_session(script, says("ok"), gate="notebook")
    result = await session.prompt("Hi")
    assert [call.is_error for call in result.tool_calls] == [True, False]
    assert result.outcome == "done"


@pytest.mark.parametrize(
    "name",
    [
        ".envrc", ".env~", ".env-prod", ".env_local", "prod.env", "secrets.env", ".ENV",
        ".ipynb_checkpoints/.env-checkpoint", "server.pem.bak", "server-checkpoint.pem",
        ".git/config", ".git/modules/m/config", "application_default_credentials.json",
        "client_secret_123.json", "gcp-service-account.json", ".kaggle/kaggle.json",
        "terraform.tfstate", "terraform.tfstate.backup", ".SSH/config", ".Aws/config",
        "Secrets.JSON", "secrets.yml.bak", ".pgpass~", "credentials.csv", "id_rsa~",
    ],
)  # fmt: skip
def test_copies_and_kinds_of_key_files_are_protected(name: str) -> None:
    assert is_protected(Path("/home/x") / name)


@pytest.mark.parametrize(
    "name",
    [
        ".env.example", ".env.example.bak", "example.env", "config", "src/config", ".gitignore",
        "secretary.md", "tokens.py", "env.yml", "notebook-checkpoint.ipynb", "author.json",
        "id_rsa.pub", "unauth.json",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_key_file_is_free(name: str) -> None:
    assert not is_protected(Path("/home/x") / name)
