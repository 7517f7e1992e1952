"""Looking through a directory tree: with ripgrep, or without it where there is none.

Left out are `.git` and what `.gitignore` files rule out, in a git repository or not; hidden files
are searched.
"""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from agent_nb.core.tool import ToolContext
from agent_nb.tools import python_search
from agent_nb.tools.ripgrep import Ripgrep, find_ripgrep
from agent_nb.tools.search_query import Hit, Query


def list_files(
    root: Path, name_glob: str | None, context: ToolContext
) -> AsyncGenerator[Sequence[str], None]:
    """Yield the files below the directory `root`, relative to it, in batches and in no order.

    Those whose name does not match `name_glob` may be left out.
    """
    program = find_ripgrep(context.environment)
    if program is None:
        return python_search.list_files(root, context.signal)
    return Ripgrep(program, context).list_files(root, name_glob)


def search(query: Query, context: ToolContext) -> AsyncGenerator[Sequence[Hit], None]:
    """Yield the lines that match, in batches; the lines of one file come together and in order.

    Raises:
        ToolError: If the pattern is not a regular expression.
    """
    program = find_ripgrep(context.environment)
    if program is None:
        return python_search.search(query, context.signal)
    return Ripgrep(program, context).search(query)
