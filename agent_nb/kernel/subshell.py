"""Let buttons of a view be heard while a cell keeps the kernel busy.

ipykernel 7.4 sends what a page says on a comm to the subshell that last published on it, which is
the busy main shell. One attribute of the comm changes that; where it is missing, the front end's
own subshell or an awaiting cell has to do.
"""

from queue import Empty
from typing import Any

_ROUTE = "_reply_subshell_for"
_TIMEOUT_S = 2.0


def has_subshells(kernel: Any) -> bool:
    """Say whether the kernel can run subshells."""
    return "kernel subshells" in getattr(kernel, "kernel_info", {}).get("supported_features", ())


def can_route() -> bool:
    """Say whether what a page says can be sent to a subshell of our choice."""
    from ipykernel.comm.comm import BaseComm

    return hasattr(BaseComm, _ROUTE)


def route(comm: Any, subshell_id: str) -> None:
    """Have everything the page says on `comm` handled in the subshell, however busy the kernel."""
    setattr(comm, _ROUTE, lambda _data, _default: subshell_id)


def create_subshell() -> str | None:
    """Make a subshell of this kernel and return its id; None if the kernel gives none.

    Blocks for some milliseconds. The request goes over the control channel, which the kernel
    serves while cells run, so this must not be called on the control thread.
    """
    from ipykernel.connect import get_connection_file
    from jupyter_client.blocking.client import BlockingKernelClient

    try:
        client = BlockingKernelClient(connection_file=get_connection_file())
        client.load_connection_file()
    except (RuntimeError, OSError):  # a kernel inside another program has no connection file
        return None
    client.start_channels(shell=False, iopub=False, stdin=False, hb=False, control=True)
    try:
        client.control_channel.send(client.session.msg("create_subshell_request"))
        reply = client.control_channel.get_msg(timeout=_TIMEOUT_S)
    except Empty:
        return None
    finally:
        client.stop_channels()
    subshell_id: str | None = reply["content"].get("subshell_id")
    return subshell_id
