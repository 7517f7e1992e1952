"""Call tools the way the loop does: mended, validated, executed."""

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_nb.core.abort import AbortSignal
from agent_nb.core.tool import Tool, ToolContext, ToolResult
from agent_nb.tools import builtin_tools
from agent_nb.tools.process_groups import ProcessGroups

Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def groups() -> Iterator[ProcessGroups]:
    groups = ProcessGroups()
    yield groups
    groups.close()


@pytest.fixture
def tools(groups: ProcessGroups) -> dict[str, Tool]:
    return {tool.name: tool for tool in builtin_tools(groups)}


@pytest.fixture
def call(tools: dict[str, Tool], tmp_path: Path) -> Call:
    async def call(name: str, *, with_: dict[str, Any] | None = None, **arguments: Any):
        """Call a tool; `with_` holds fields of its context other than the usual."""
        tool = tools[name]
        fields: dict[str, Any] = {
            "cwd": tmp_path,
            "signal": AbortSignal(),
            "environment": dict(os.environ),
            **(with_ or {}),
        }
        raw = tool.prepare(arguments) if tool.prepare else arguments
        return await tool.execute(tool.arguments.model_validate(raw), ToolContext(**fields))

    return call
