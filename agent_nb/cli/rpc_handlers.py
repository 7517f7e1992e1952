"""What each command of RPC mode does, in the order of pi's reference (docs/rpc-commands.md)."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

from agent_nb.cli import rpc_answers as answers
from agent_nb.cli import rpc_commands as shapes
from agent_nb.cli.rpc_server import DONE, Handler, Reply, RpcServer
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.providers.catalog import DEMO, LOCAL
from agent_nb.session.available import available_thinking
from agent_nb.session.fork import branch_off, fork_point, fresh_store
from agent_nb.session.session import Disposition
from agent_nb.session.store import SessionStore
from agent_nb.session.user_bash import UserCommand

logger = logging.getLogger(__name__)

_NOT_CANCELLED: Reply = {"data": {"cancelled": False}}


async def _prompt(server: RpcServer, command: shapes.PromptCommand) -> None:
    """Start or queue a prompt; it is answered when it is accepted, before the run's events."""
    decided = asyncio.Event()

    def accept(disposition: Disposition) -> None:
        server.answer("prompt", command.id, {"data": {"disposition": disposition}})
        decided.set()

    async def ask() -> None:
        try:
            await server.session.prompt(
                command.message,
                images=command.image_blocks,
                streaming_behavior=command.streaming_behavior,
                on_accepted=accept,
            )
        except (AgentError, OSError) as error:
            if decided.is_set():
                logger.error("The run broke off: %s", error)
            else:
                server.answer("prompt", command.id, error=str(error))
        finally:
            decided.set()

    server.spawn(ask())
    await decided.wait()  # so that the next command finds the run it may be about


def _steer(server: RpcServer, command: shapes.MessageCommand) -> Reply:
    server.session.steer(command.message, command.image_blocks)
    return {"data": {"disposition": "queued"}}


def _follow_up(server: RpcServer, command: shapes.MessageCommand) -> Reply:
    server.session.follow_up(command.message, command.image_blocks)
    return {"data": {"disposition": "queued"}}


async def _abort(server: RpcServer, _command: shapes.Command) -> Reply:
    await server.session.abort()
    return DONE


def _clear_queue(server: RpcServer, _command: shapes.Command) -> Reply:
    steering, follow_ups = server.session.clear_queues()
    return {
        "data": {
            "steering": [message.text for message in steering],
            "followUp": [message.text for message in follow_ups],
        }
    }


async def _new_session(server: RpcServer, command: shapes.NewSessionCommand) -> Reply:
    old = server.session
    await server.replace(
        lambda: fresh_store(old.store, old.cwd, parent_session=command.parent_session)
    )
    return _NOT_CANCELLED


def _get_state(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.state_data(server.session)}


def _get_messages(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.messages_data(server.session)}


def _set_model(server: RpcServer, command: shapes.SetModelCommand) -> Reply:
    """Set a model by its exact name; local servers take any id, and the demo is always there."""
    session, wanted = server.session, f"{command.provider}/{command.model_id}"
    listed = (model.key for model in session.available_models())
    if command.provider not in LOCAL and wanted != DEMO and wanted not in listed:
        raise ConfigError(f"Model not found: {wanted}")
    return {"data": answers.model_data(session.set_model(wanted))}


def _cycle_model(server: RpcServer, _command: shapes.Command) -> Reply:
    """Set the next model that can be asked; null if there is no other."""
    session = server.session
    keys = [model.key for model in session.available_models()]
    place = keys.index(session.model.key) if session.model.key in keys else -1
    for key in [*keys[place + 1 :], *keys[: max(place, 0)]]:
        try:
            model = session.set_model(key)
        except ConfigError:
            continue  # its protocol is one this version does not know
        data = answers.model_data(model)
        level = session.thinking_level
        return {"data": {"model": data, "thinkingLevel": level, "isScoped": False}}
    return {"data": None}


def _get_available_models(server: RpcServer, _command: shapes.Command) -> Reply:
    models = server.session.available_models()
    return {"data": {"models": [answers.model_data(model) for model in models]}}


def _set_thinking_level(server: RpcServer, command: shapes.ThinkingCommand) -> Reply:
    server.session.set_thinking_level("xhigh" if command.level == "max" else command.level)
    return DONE


def _cycle_thinking_level(server: RpcServer, _command: shapes.Command) -> Reply:
    session = server.session
    levels = available_thinking(session.model)
    if len(levels) < 2:
        return {"data": None}
    place = levels.index(session.thinking_level) if session.thinking_level in levels else -1
    session.set_thinking_level(levels[(place + 1) % len(levels)])
    return {"data": {"level": session.thinking_level}}


def _get_thinking_levels(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": {"levels": available_thinking(server.session.model)}}


def _set_steering_mode(server: RpcServer, command: shapes.QueueModeCommand) -> Reply:
    server.session.queues.steering.mode = command.mode
    return DONE


def _set_follow_up_mode(server: RpcServer, command: shapes.QueueModeCommand) -> Reply:
    server.session.queues.follow_ups.mode = command.mode
    return DONE


def _set_auto_retry(server: RpcServer, command: shapes.EnabledCommand) -> Reply:
    server.session.set_auto_retry(enabled=command.enabled)
    return DONE


async def _abort_retry(server: RpcServer, _command: shapes.Command) -> Reply:
    await server.session.abort_retry()
    return DONE


def _bash(server: RpcServer, command: shapes.BashCommand) -> None:
    """Start a command; it is answered when it has ended."""
    wanted = UserCommand(command.command, command.id, command.exclude_from_context)
    running = server.session.run_bash(wanted)

    async def run() -> None:
        try:
            message = await running
        except (AgentError, OSError) as error:
            server.answer("bash", command.id, error=str(error))
        else:
            server.answer("bash", command.id, {"data": answers.bash_data(message)})

    server.spawn(run())


def _abort_bash(server: RpcServer, _command: shapes.Command) -> Reply:
    server.session.abort_bash()
    return DONE


def _get_session_stats(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.statistics_data(server.session)}


async def _switch_session(server: RpcServer, command: shapes.SwitchSessionCommand) -> Reply:
    cwd = server.session.cwd

    def reopened() -> SessionStore:
        return SessionStore.open(_absolute(command.session_path), cwd)

    there = reopened().header.get("cwd") or cwd
    await server.replace(reopened, Path(str(there)))
    return _NOT_CANCELLED


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


async def _fork(server: RpcServer, command: shapes.ForkCommand) -> Reply:
    old = server.session
    leaf_id, text = fork_point(old.store, command.entry_id)
    await server.replace(lambda: branch_off(old.store, old.cwd, leaf_id))
    return {"data": {"text": text, "cancelled": False}}


async def _clone(server: RpcServer, _command: shapes.Command) -> Reply:
    old = server.session
    await server.replace(lambda: branch_off(old.store, old.cwd, old.store.leaf_id))
    return _NOT_CANCELLED


def _get_fork_messages(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.fork_messages_data(server.session)}


def _get_entries(server: RpcServer, command: shapes.EntriesCommand) -> Reply:
    return {"data": answers.entries_data(server.session, command.since)}


def _get_tree(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.tree_data(server.session)}


def _get_last_text(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.last_text_data(server.session)}


def _set_session_name(server: RpcServer, command: shapes.NameCommand) -> Reply:
    server.session.set_name(command.name)
    return DONE


def _get_commands(server: RpcServer, _command: shapes.Command) -> Reply:
    return {"data": answers.commands_data(server.session)}


HANDLERS: Mapping[str, Handler] = {
    "prompt": Handler(_prompt, shapes.PromptCommand),
    "steer": Handler(_steer, shapes.MessageCommand),
    "follow_up": Handler(_follow_up, shapes.MessageCommand),
    "abort": Handler(_abort),
    "clear_queue": Handler(_clear_queue),
    "new_session": Handler(_new_session, shapes.NewSessionCommand),
    "get_state": Handler(_get_state),
    "get_messages": Handler(_get_messages),
    "set_model": Handler(_set_model, shapes.SetModelCommand),
    "cycle_model": Handler(_cycle_model),
    "get_available_models": Handler(_get_available_models),
    "set_thinking_level": Handler(_set_thinking_level, shapes.ThinkingCommand),
    "cycle_thinking_level": Handler(_cycle_thinking_level),
    "get_available_thinking_levels": Handler(_get_thinking_levels),
    "set_steering_mode": Handler(_set_steering_mode, shapes.QueueModeCommand),
    "set_follow_up_mode": Handler(_set_follow_up_mode, shapes.QueueModeCommand),
    "set_auto_retry": Handler(_set_auto_retry, shapes.EnabledCommand),
    "abort_retry": Handler(_abort_retry),
    "bash": Handler(_bash, shapes.BashCommand),
    "abort_bash": Handler(_abort_bash),
    "get_session_stats": Handler(_get_session_stats),
    "switch_session": Handler(_switch_session, shapes.SwitchSessionCommand),
    "fork": Handler(_fork, shapes.ForkCommand),
    "clone": Handler(_clone),
    "get_fork_messages": Handler(_get_fork_messages),
    "get_entries": Handler(_get_entries, shapes.EntriesCommand),
    "get_tree": Handler(_get_tree),
    "get_last_assistant_text": Handler(_get_last_text),
    "set_session_name": Handler(_set_session_name, shapes.NameCommand),
    "get_commands": Handler(_get_commands),
}
"""What to do for each `type`."""
