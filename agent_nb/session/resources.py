"""Resources: context files, skills, prompt templates and the user's own system prompt.

Those of the agent directory always load; those of the project only where it is trusted, except
context files, which need no trust.

Source: pi 1.6.0, `resource-loader`, `skills`, `prompt-templates`.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_nb.core.errors import ConfigError
from agent_nb.session.permissions import is_protected
from agent_nb.session.settings import PROJECT_DIRECTORY

MAX_BYTES = 1_000_000
"""The largest file that is loaded; each goes to the model in every request."""

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
        """Return the skill's text with the arguments after it, as a user message.

        Raises:
            ConfigError: If the file cannot be read any more.
        """
        try:
            _, body = front_matter(_text_of(self.path))
        except OSError as error:
            raise ConfigError(f"Cannot read {self.path}: {error.strerror}") from error
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
    places = [(agent_dir, agent_dir), *([(cwd / PROJECT_DIRECTORY, cwd)] if trusted else [])]
    skill_places = [(place / "skills", home) for place, home in places]
    if trusted:
        skill_places.append((cwd / ".agents" / "skills", cwd))
    skills = [skill for place, home in skill_places for skill in _skills_in(place, home, reports)]
    templates = [
        item for place, home in places for item in _templates_in(place / "prompts", home, reports)
    ]
    system, appended = (
        [text for place, home in places if (text := _read(place / name, home, reports)) is not None]
        for name in ("SYSTEM.md", "APPEND_SYSTEM.md")
    )
    return Resources(
        tuple(_context_files(cwd, agent_dir, reports)) if context_files else (),
        {skill.name: skill for skill in reversed(skills)},
        {template.name: template for template in templates},
        system[-1] if system else None,
        "\n\n".join(filter(None, appended)),
        tuple(reports),
    )


def _context_files(cwd: Path, agent_dir: Path, reports: list[str]) -> list[TextFile]:
    """Return one file a directory: the agent's, then from the root of the path down to `cwd`."""
    found = []
    for directory in [agent_dir, *reversed(cwd.parents), cwd]:
        for name in _CONTEXT_NAMES:
            text = _read(directory / name, directory, reports)
            if text is not None:
                found.append(TextFile(directory / name, text))
                break
    return found


def _read(path: Path, home: Path, reports: list[str]) -> str | None:
    """Return a file's text; None, and a report, where it is not to be read.

    Args:
        path: The file; it, or a directory on the way, may be a link.
        home: Where a link must stay: a project that came from elsewhere must not be able to send
            the model files that are not its own.
        reports: Is told why a file was left out.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(home.resolve()):
            reports.append(f"{path} was not read: it is a link to a file outside {home}.")
        elif is_protected(real):
            reports.append(f"{path} was not read: what it links to may hold keys or passwords.")
        else:
            return _text_of(real)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except RuntimeError:  # a loop of links; an OSError from Python 3.13 on
        reports.append(f"Cannot read {path}: it is a loop of links")
    except OSError as error:
        reports.append(f"Cannot read {path}: {error.strerror}")
    return None


def _text_of(path: Path) -> str:
    """Read a regular file; a pipe or device could block or never end.

    Raises:
        OSError: If it cannot be read, is something else, or is larger than `MAX_BYTES`.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(0, f"it has more than {MAX_BYTES:,} bytes")
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


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


def _skills_in(directory: Path, home: Path, reports: list[str]) -> list[Skill]:
    """Return the skills below a directory: `NAME/SKILL.md`, and single Markdown files."""
    found = []
    for path in [*sorted(directory.glob("**/SKILL.md")), *sorted(directory.glob("*.md"))]:
        text = _read(path, home, reports)
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


def _templates_in(directory: Path, home: Path, reports: list[str]) -> list[PromptTemplate]:
    found = []
    for path in sorted(directory.glob("*.md")):
        text = _read(path, home, reports)
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
