"""The tools a model may call, one file each."""

from agent_nb.tools.toolbox import Toolbox, builtin_tools

__all__ = ["Toolbox", "builtin_tools"]
