"""How the search tools put what they found into a result."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent_nb.core.tool import ToolResult
from agent_nb.tools.truncate import MAX_BYTES, NO_LIMIT, format_size, truncate_head


def listing(
    lines: Sequence[str], nothing: str, notices: Sequence[str], details: Mapping[str, Any]
) -> ToolResult:
    """Make a result of lines, cut to the output limit, and of notices below them.

    Args:
        lines: What was found.
        nothing: The text if there are no lines.
        notices: Sentences for the model.
        details: Facts for programs.
    """
    truncation = truncate_head("\n".join(lines), max_lines=NO_LIMIT)
    text = truncation.content if lines else nothing
    notes, facts = list(notices), dict(details)
    if truncation.truncated:
        notes.append(f"Cut at the output limit of {format_size(MAX_BYTES)}.")
        facts["truncation"] = truncation.details()
    if notes:
        text += f"\n\n[{' '.join(notes)}]"
    return ToolResult.of(text, details=facts or None)
