"""The system prompt: named sections, each replaceable on its own, stored as a system message.

Source: pi 1.6.0, `system-prompt` (the shape; the words are ours).
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from agent_nb.core.messages import SystemMessage
from agent_nb.core.tool import Tool
from agent_nb.session.resources import Resources, Skill

_PREAMBLE = (
    "You are agent_nb, a coding agent that works in the user's directory, often from inside a "
    "Jupyter notebook. You answer questions about the files there, run commands and change code "
    "with the tools you have."
)
_RULES = (
    "Keep answers short and to the point.",
    "Name files by their paths.",
    "Say what you found, not what you assume; when a tool fails, say so.",
)


def build_sections(cwd: Path, tools: Sequence[Tool], resources: Resources) -> dict[str, str]:
    """Return the prompt's sections in order."""
    sections = {}
    if resources.system_prompt is not None:
        sections["preamble"] = resources.system_prompt
    else:
        listed = "\n".join(f"- {tool.name}: {tool.summary}" for tool in tools if tool.summary)
        rules = dict.fromkeys([rule for tool in tools for rule in tool.guidelines])
        sections["preamble"] = _PREAMBLE
        sections["tools"] = _tagged("tools", listed or "(none)")
        sections["rules"] = _tagged("rules", "\n".join(f"- {r}" for r in [*rules, *_RULES]))
    if resources.appended_prompt:
        sections["addendum"] = _tagged("addendum", resources.appended_prompt)
    if resources.context_files:
        files = "\n\n".join(
            f'<project_instructions path="{escape(str(file.path))}">\n{file.text}\n'
            "</project_instructions>"
            for file in resources.context_files
        )
        sections["project_context"] = _tagged("project_context", files)
    if resources.skills and {tool.name for tool in tools} & {"read", "bash"}:
        sections["skills"] = _tagged("skills", _skills(resources.skills.values()))
    sections["cwd"] = _tagged("cwd", cwd.as_posix())
    return sections


def _tagged(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"


def _skills(skills: Iterable[Skill]) -> str:
    lead = (
        "Instructions for particular tasks. When a task matches a description, read the skill's "
        "file before you start; paths in it are relative to its folder."
    )
    entries = "\n".join(
        f"<skill><name>{escape(skill.name)}</name>"
        f"<description>{escape(skill.description)}</description>"
        f"<location>{escape(str(skill.path))}</location></skill>"
        for skill in skills
    )
    return f"{lead}\n{entries}"


def prompt_text(sections: Mapping[str, str]) -> str:
    """Return the prompt as one text."""
    return SystemMessage(sections=sections).text


def prompt_change(
    stored: Iterable[SystemMessage], sections: Mapping[str, str], tools: Sequence[Tool]
) -> SystemMessage | None:
    """Return the system message that brings the stored prompt up to date, None if it already is."""
    old_sections: dict[str, str] = {}
    old_tools: dict[str, Mapping[str, Any]] = {}
    for message in stored:
        for name, text in (message.sections or {}).items():
            if text is None:
                old_sections.pop(name, None)
            else:
                old_sections[name] = text
        for gone in message.tools_removed or ():
            old_tools.pop(str(gone.get("name")), None)
        old_tools.update({str(tool.get("name")): tool for tool in message.tools_added or ()})
    changed: dict[str, str | None] = {
        name: text for name, text in sections.items() if old_sections.get(name) != text
    }
    changed.update({name: None for name in old_sections if name not in sections})
    declared = {tool.name: tool.declaration for tool in tools}
    added = [tool for name, tool in declared.items() if old_tools.get(name) != tool]
    removed = [{"name": name} for name in old_tools if name not in declared]
    if not (changed or added or removed):
        return None
    return SystemMessage(
        sections=changed or None, tools_added=added or None, tools_removed=removed or None
    )
