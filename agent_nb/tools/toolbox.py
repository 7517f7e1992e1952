"""The tools of a session, each made when it is first chosen."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from agent_nb.core.tool import Tool

if TYPE_CHECKING:
    from agent_nb.tools.file_writes import FileLocks
    from agent_nb.tools.process_groups import ProcessGroups


class Toolbox:
    """The seven tools of pi, in its order, and whatever else is put in.

    Args:
        extra: More tools; one with the name of a built-in tool takes its place.
        groups: Holds what commands leave running; default one that `close` ends.
    """

    def __init__(self, extra: Sequence[Tool] = (), groups: "ProcessGroups | None" = None) -> None:
        self._tools = {tool.name: tool for tool in extra}
        self._given_groups = groups
        self.names: tuple[str, ...] = tuple(dict.fromkeys([*_MAKERS, *self._tools]))

    def tool(self, name: str) -> Tool:
        """Return a tool.

        Raises:
            KeyError: If there is none of that name.
        """
        if name not in self._tools:
            self._tools[name] = _MAKERS[name](self)
        return self._tools[name]

    def close(self) -> None:
        """End what commands left running in the background."""
        if "groups" in self.__dict__:
            self.groups.close()

    @cached_property
    def groups(self) -> "ProcessGroups":
        """The process groups of commands."""
        from agent_nb.tools.process_groups import ProcessGroups

        return self._given_groups or ProcessGroups()

    @cached_property
    def locks(self) -> "FileLocks":
        """One lock a file, shared by all tools that change files."""
        from agent_nb.tools.file_writes import FileLocks

        return FileLocks()


def builtin_tools(groups: "ProcessGroups | None" = None) -> tuple[Tool, ...]:
    """Make the seven tools of pi, in its order."""
    box = Toolbox(groups=groups)
    return tuple(box.tool(name) for name in box.names)


def _read(_box: Toolbox) -> Tool:
    from agent_nb.tools.read import read_tool

    return read_tool


def _bash(box: Toolbox) -> Tool:
    from agent_nb.tools.bash import bash_tool

    return bash_tool(box.groups)


def _edit(box: Toolbox) -> Tool:
    from agent_nb.tools.edit import edit_tool

    return edit_tool(box.locks)


def _write(box: Toolbox) -> Tool:
    from agent_nb.tools.write import write_tool

    return write_tool(box.locks)


def _grep(_box: Toolbox) -> Tool:
    from agent_nb.tools.grep import grep_tool

    return grep_tool


def _find(_box: Toolbox) -> Tool:
    from agent_nb.tools.find import find_tool

    return find_tool


def _ls(_box: Toolbox) -> Tool:
    from agent_nb.tools.ls import ls_tool

    return ls_tool


_MAKERS: Mapping[str, Callable[[Toolbox], Tool]] = {
    "read": _read,
    "bash": _bash,
    "edit": _edit,
    "write": _write,
    "grep": _grep,
    "find": _find,
    "ls": _ls,
}
