"""The tools a model may call, one file each."""

from agent_nb.core.tool import Tool
from agent_nb.tools.bash import bash_tool
from agent_nb.tools.edit import edit_tool
from agent_nb.tools.file_writes import FileLocks
from agent_nb.tools.find import find_tool
from agent_nb.tools.grep import grep_tool
from agent_nb.tools.ls import ls_tool
from agent_nb.tools.process_groups import ProcessGroups
from agent_nb.tools.read import read_tool
from agent_nb.tools.write import write_tool


def builtin_tools(groups: ProcessGroups | None = None) -> tuple[Tool, ...]:
    """Make the seven tools of pi, in its order.

    Args:
        groups: Holds what commands leave running; whoever passes it can `close` it. Without it
            that ends when the tools are no longer used, or with the process.
    """
    locks = FileLocks()
    return (
        read_tool,
        bash_tool(groups or ProcessGroups()),
        edit_tool(locks),
        write_tool(locks),
        grep_tool,
        find_tool,
        ls_tool,
    )
