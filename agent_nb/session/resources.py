"""Resources: context files, skills, prompt templates and the user's own system prompt.

Those of the agent directory always load; those of the project only where it is trusted, except
context files, which need no trust.

Source: pi 1.6.0, `resource-loader`, `skills`, `prompt-templates`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_nb.session.settings import PROJECT_DIRECTORY

_CONTEXT_NAMES = ("AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
_FRONT_MATTER = r"(?s)\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)"
_PLACEHOLDER = r"\$\{(\d+|ARGUMENTS|@):-([^}]*)\}|\$\{@:(\d+)(?::(\d+))?\}|\$(ARGUMENTS|@|\d+)"
_ARGUMENT = r"""(?s)"((?:\\"|[^"])*)"(?=\s|\Z)|'((?:\\'|[^'])*)'(?=\s|\Z)|(\S+)"""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's path and text."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill: its description is always in the prompt, its text only when it is used."""

    name: str
    description: str
    path: Path

    def expanded(self, arguments: str) -> str:
        """Return the skill's text with the arguments after it, as a user message."""
        _, body = front_matter(self.path.read_text(encoding="utf-8"))
        block = (
            f'<skill name="{self.name}" location="{self.path}">\n'
            f"References are relative to {self.path.parent}.\n\n{body.strip()}\n</skill>"
        )
        return f"{block}\n\n{arguments}" if arguments else block


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with places for arguments."""

    name: str
    description: str
    body: str
    path: Path

    def expanded(self, arguments: str) -> str:
        """Return the prompt with the arguments in place."""
        return substitute(self.body, split_arguments(arguments))


@dataclass(frozen=True, slots=True)
class Resources:
    """What was found, and what could not be loaded."""

    context_files: tuple[TextFile, ...] = ()
    skills: Mapping[str, Skill] = field(default_factory=dict)
    templates: Mapping[str, PromptTemplate] = field(default_factory=dict)
    system_prompt: str | None = None
    appended_prompt: str = ""
    reports: tuple[str, ...] = ()

    def expanded(self, text: str) -> str:
        """Return `text` with a leading `/skill:name` or `/template` expanded; others stay."""
        if not text.startswith("/"):
            return text
        command, _, arguments = text[1:].partition(" ")
        if command.startswith("skill:"):
            skill = self.skills.get(command.removeprefix("skill:"))
            return skill.expanded(arguments.strip()) if skill else text
        template = self.templates.get(command)
        return template.expanded(arguments) if template else text


def load_resources(
    cwd: Path, agent_dir: Path, *, trusted: bool, context_files: bool = True
) -> Resources:
    """Find what belongs to a session in `cwd`."""
    reports: list[str] = []
    places = [agent_dir, *([cwd / PROJECT_DIRECTORY] if trusted else [])]
    skill_places = [place / "skills" for place in places]
    if trusted:
        skill_places.append(cwd / ".agents" / "skills")
    skills = [skill for place in skill_places for skill in _skills_in(place, reports)]
    templates = [item for place in places for item in _templates_in(place / "prompts", reports)]
    system = [text for place in places if (text := _read(place / "SYSTEM.md", reports)) is not None]
    appended = [text for place in places if (text := _read(place / "APPEND_SYSTEM.md", reports))]
    return Resources(
        tuple(_context_files(cwd, agent_dir, reports)) if context_files else (),
        {skill.name: skill for skill in reversed(skills)},
        {template.name: template for template in templates},
        system[-1] if system else None,
        "\n\n".join(appended),
        tuple(reports),
    )


def _context_files(cwd: Path, agent_dir: Path, reports: list[str]) -> list[TextFile]:
    """Return one file a directory: the agent's, then from the root of the path down to `cwd`."""
    found = []
    for directory in [agent_dir, *reversed(cwd.parents), cwd]:
        for name in _CONTEXT_NAMES:
            text = _read(directory / name, reports)
            if text is not None:
                found.append(TextFile(directory / name, text))
                break
    return found


def _read(path: Path, reports: list[str]) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reports.append(f"Cannot read {path}: {error.strerror}")
        return None


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    r"""Split a YAML front matter from a text; one that is not YAML counts as none.

    >>> front_matter("---\nname: x\n---\nBody")
    ({'name': 'x'}, 'Body')
    """
    match = re.match(_FRONT_MATTER, text)
    if not match:
        return {}, text
    import yaml

    try:
        data = yaml.safe_load(match[1])
    except yaml.YAMLError:
        data = None
    return (data if isinstance(data, dict) else {}), text[match.end() :]


def _skills_in(directory: Path, reports: list[str]) -> list[Skill]:
    """Return the skills below a directory: `NAME/SKILL.md`, and single Markdown files."""
    found = []
    for path in [*sorted(directory.glob("**/SKILL.md")), *sorted(directory.glob("*.md"))]:
        text = _read(path, reports)
        if text is None:
            continue
        data, _ = front_matter(text)
        name = str(data.get("name") or (path.parent.name if path.name == "SKILL.md" else path.stem))
        description = str(data.get("description") or "").strip()
        if description:
            found.append(Skill(name, description, path))
        else:
            reports.append(f"{path}: a skill needs a description; it was not loaded.")
    return found


def _templates_in(directory: Path, reports: list[str]) -> list[PromptTemplate]:
    found = []
    for path in sorted(directory.glob("*.md")):
        text = _read(path, reports)
        if text is not None:
            data, body = front_matter(text)
            first = next((line for line in body.split("\n") if line.strip()), "")
            description = str(data.get("description") or first)
            found.append(PromptTemplate(path.stem, description, body, path))
    return found


def split_arguments(text: str) -> list[str]:
    """Split at white space; quotes at the start of an argument hold it together.

    >>> split_arguments("hello 'big world' don't")
    ['hello', 'big world', "don't"]
    """
    found = []
    for double, single, plain in re.findall(_ARGUMENT, text):
        found.append(plain or double.replace('\\"', '"') or single.replace("\\'", "'"))
    return found


def substitute(body: str, arguments: Sequence[str]) -> str:
    """Put arguments into a template: `$1`, `$@`, `${1:-default}`, `${@:2}`, `${@:2:1}`.

    >>> substitute("Say $1 to ${2:-all}. Rest: ${@:2}", ["hi"])
    'Say hi to all. Rest: '
    """

    def value(match: re.Match[str]) -> str:
        target, default, start, length, simple = match.groups()
        if target:
            return _argument(target, arguments) or default
        if start:
            first = max(int(start) - 1, 0)
            last = first + int(length) if length else None
            return " ".join(arguments[first:last])
        return _argument(simple, arguments)

    return re.sub(_PLACEHOLDER, value, body)


def _argument(name: str, arguments: Sequence[str]) -> str:
    if name in {"@", "ARGUMENTS"}:
        return " ".join(arguments)
    index = int(name) - 1
    return arguments[index] if 0 <= index < len(arguments) else ""
