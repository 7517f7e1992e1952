"""The `edit` tool: replace exact pieces of a file."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from agent_nb.core import json_text
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments
from agent_nb.tools.edit_match import match_edits
from agent_nb.tools.file_writes import FileLocks, replace_file
from agent_nb.tools.line_diff import diff_details
from agent_nb.tools.line_ends import replace_in, to_newlines
from agent_nb.tools.paths import check_is_file, printable, resolve

_BOM = "\ufeff"


class Edit(Arguments):
    """One replacement."""

    old_text: str = Field(
        description="Text to replace, exactly as it stands in the file and standing there once"
    )
    new_text: str = Field(description="Text to put in its place")


class EditArguments(Arguments):
    """Arguments of `edit`."""

    path: str = Field(description="File to edit, absolute or relative to the working directory")
    edits: list[Edit] = Field(
        min_length=1,
        description=(
            "Replacements. Each is matched against the file as it was before the call, and no two "
            "may overlap: changes of lines that touch belong in one edit"
        ),
    )


def mend_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Accept edits as a JSON string, as a single object, or as oldText and newText at the top."""
    mended = dict(arguments)
    edits = mended.get("edits")
    if isinstance(edits, str):
        try:
            edits = json_text.loads(edits)
        except ValueError:
            return arguments
    if isinstance(edits, Mapping):
        edits = [edits]
    if isinstance(mended.get("oldText"), str) and isinstance(mended.get("newText"), str):
        single = {"oldText": mended.pop("oldText"), "newText": mended.pop("newText")}
        edits = [*(edits if isinstance(edits, list) else ()), single]
    if edits is not None:
        mended["edits"] = edits
    return mended


async def edit(locks: FileLocks, arguments: EditArguments, context: ToolContext) -> ToolResult:
    """Replace the pieces; the file's byte order mark and line ends stay.

    Raises:
        ToolError: If any of the edits cannot be made; none is then.
    """
    path = resolve(context.cwd, arguments.path)
    async with locks.of(path):
        context.signal.check()
        # Not guarded: the lock must be held until the file is whole.
        details = await asyncio.to_thread(_edit, path, arguments, context)
    count = len(arguments.edits)
    pieces = "1 piece" if count == 1 else f"{count} pieces"
    return ToolResult.of(f"Replaced {pieces} of text in {arguments.path}.", details=details)


def _edit(path: Path, arguments: EditArguments, context: ToolContext) -> dict[str, Any]:
    try:
        check_is_file(path, arguments.path)
        # Bytes that are not UTF-8 go through unharmed.
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        mark, body = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
        plain = to_newlines(body)
        edits = [(printable(one.old_text), printable(one.new_text)) for one in arguments.edits]
        replacements = match_edits(plain, edits, arguments.path)
        changed = replace_in(plain, replacements)
        if changed == plain:
            raise ToolError(f"Nothing would change in {arguments.path}.")
        details = diff_details(arguments.path, printable(plain), printable(changed))
        context.signal.check()
        written = mark + replace_in(body, replacements)
        replace_file(path, written.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise ToolError(f"Cannot edit {arguments.path}: {error.strerror or error}.") from error
    return details


def edit_tool(locks: FileLocks) -> Tool:
    """Make the tool; `locks` are shared by all tools that change files."""
    return Tool(
        name="edit",
        description=(
            "Edit a file by replacing pieces of its text. Every old text must stand in the file "
            "exactly once. If one of the edits cannot be made, none is."
        ),
        arguments=EditArguments,
        execute=partial(edit, locks),
        effects=frozenset({Effect.READ, Effect.WRITE}),
        summary="Replace exact pieces of a file, several in one call",
        guidelines=(
            "Make all changes to one file in one edit call.",
            "Keep old texts in edits short, but long enough to stand in the file just once.",
        ),
        paths=lambda arguments: (arguments.path,),
        prepare=mend_arguments,
    )
