import os
from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.session.permissions import is_protected
from agent_nb.session.resources import load_resources, split_arguments, substitute
from agent_nb.session.settings import load_settings


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_context_files_come_from_the_agent_directory_then_downwards(tmp_path: Path) -> None:
    put(tmp_path / "agent/AGENTS.md", "A")
    put(tmp_path / "p/AGENTS.md", "B")
    put(tmp_path / "p/q/CLAUDE.md", "C")
    put(tmp_path / "p/q/r/AGENTS.md", "D")
    put(tmp_path / "p/q/r/CLAUDE.md", "no")
    found = load_resources(tmp_path / "p/q/r", tmp_path / "agent", trusted=False)
    assert [file.text for file in found.context_files] == ["A", "B", "C", "D"]


def test_project_resources_need_trust(tmp_path: Path) -> None:
    put(tmp_path / ".agent_nb/prompts/p.md", "project $1")
    put(tmp_path / "agent/prompts/u.md", "user $1")
    untrusted = load_resources(tmp_path, tmp_path / "agent", trusted=False)
    trusted = load_resources(tmp_path, tmp_path / "agent", trusted=True)
    assert untrusted.expanded("/p x") == "/p x"
    assert trusted.expanded("/p x") == "project x"
    assert untrusted.expanded("/u x") == "user x"


def test_a_skill_without_a_description_is_reported(tmp_path: Path) -> None:
    put(tmp_path / "agent/skills/a/SKILL.md", "---\nname: a\ndescription: does a\n---\nBody")
    put(tmp_path / "agent/skills/b/SKILL.md", "just text")
    found = load_resources(tmp_path, tmp_path / "agent", trusted=False)
    assert list(found.skills) == ["a"]
    assert "Body" in found.expanded("/skill:a now")
    assert found.expanded("/skill:a now").endswith("\n\nnow")
    assert len(found.reports) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", ["a", "b"]),
        ("'a b' c", ["a b", "c"]),
        ('"say \\"hi\\"" x', ['say "hi"', "x"]),
        ("don't stop", ["don't", "stop"]),
        ('"open', ['"open']),
        ("'' x", ["", "x"]),
        ("", []),
    ],
)
def test_arguments_split_as_in_a_shell(text: str, expected: list[str]) -> None:
    assert split_arguments(text) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$1-$2-$3", "x-y z-"),
        ("$@", "x y z"),
        ("$ARGUMENTS", "x y z"),
        ("${3:-d}", "d"),
        ("${1:-d}", "x"),
        ("${@:2}", "y z"),
        ("${@:1:1}", "x"),
        ("${@:9}", ""),
        ("cost $ 5", "cost $ 5"),
    ],
)
def test_placeholders_take_arguments(body: str, expected: str) -> None:
    assert substitute(body, ["x", "y z"]) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold a JSON object, found list"),
        ('{"retry": {"maxRetries": "many"}}', "retry.maxRetries"),
    ],
)
def test_bad_settings_name_the_file_and_the_field(
    tmp_path: Path, content: str, expected: str
) -> None:
    put(tmp_path / "settings.json", content)
    with pytest.raises(ConfigError, match=r"settings\.json") as caught:
        load_settings(tmp_path)
    assert expected in str(caught.value)


def test_project_settings_lie_on_top_of_the_users(tmp_path: Path) -> None:
    put(tmp_path / "u/settings.json", '{"retry": {"maxRetries": 1, "baseDelayMs": 5}, "theme": 1}')
    put(tmp_path / "p/settings.json", '{"retry": {"maxRetries": 2}}')
    settings = load_settings(tmp_path / "u", tmp_path / "p")
    assert (settings.retry.max_retries, settings.retry.base_delay_ms) == (2, 5)


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", "server.pem", "id_rsa", "id_ed25519", ".netrc", "key.p12",
        ".ssh/config", ".aws/credentials", ".git-credentials", "auth.json", "credentials.json",
        "service-account-x.json", ".npmrc", ".pypirc", "secrets.toml", "private.key",
    ],
)  # fmt: skip
def test_files_that_hold_keys_are_protected(name: str) -> None:
    assert is_protected(Path("/home/x") / name)


@pytest.mark.parametrize(
    "name",
    [".env.example", "id_rsa.pub", "keys.md", "monkey.py", "environment.yml", "authors.json"],
)
def test_ordinary_files_are_not_protected(name: str) -> None:
    assert not is_protected(Path("/home/x") / name)


def test_only_regular_files_of_the_project_itself_are_loaded(tmp_path: Path) -> None:
    work, agent = tmp_path / "work", tmp_path / "agent"
    put(tmp_path / "other/idkey", "OUTSIDE")
    for name in ("outside", "key", "pipe", "big", "loop", "inside"):
        put(work / name / "docs" / "rules.md", "INSIDE")
    (work / "outside/AGENTS.md").symlink_to(tmp_path / "other/idkey")
    put(work / "key/.env", "PASSWORD=1")
    (work / "key/AGENTS.md").symlink_to(".env")
    os.mkfifo(work / "pipe/AGENTS.md")
    put(work / "big/AGENTS.md", "x" * 1_000_001)
    (work / "loop/AGENTS.md").symlink_to("AGENTS.md")
    (work / "inside/AGENTS.md").symlink_to("docs/rules.md")
    texts, reports = {}, {}
    for directory in work.iterdir():
        loaded = load_resources(directory, agent, trusted=False)
        texts[directory.name] = [file.text for file in loaded.context_files]
        reports[directory.name] = " ".join(loaded.reports)
    assert texts.pop("inside") == ["INSIDE"]
    assert not any(texts.values())
    assert "outside" in reports["outside"]
    assert "keys" in reports["key"]
    assert "regular" in reports["pipe"]
    assert "1,000,000" in reports["big"]
    assert reports["loop"]


def test_a_projects_own_prompt_may_not_link_to_files_outside(tmp_path: Path) -> None:
    put(tmp_path / "secret", "OUTSIDE")
    put(tmp_path / "work/.agent_nb/prompts/a.md", "fine")
    (tmp_path / "work/.agent_nb/SYSTEM.md").symlink_to(tmp_path / "secret")
    (tmp_path / "work/.agent_nb/prompts/b.md").symlink_to(tmp_path / "secret")
    loaded = load_resources(tmp_path / "work", tmp_path / "agent", trusted=True)
    assert (loaded.system_prompt, list(loaded.templates)) == (None, ["a"])
    assert len(loaded.reports) == 2
