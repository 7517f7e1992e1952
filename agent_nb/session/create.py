"""The factory: puts a session together from settings, models, resources, history and tools.

It alone knows concrete classes of providers, tools and gates.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import ConfigError
from agent_nb.core.model import THINKING_LEVELS, Model, ThinkingLevel, clamp_thinking
from agent_nb.core.provider import Provider
from agent_nb.core.secrets import without_secrets
from agent_nb.core.tool import Tool, ToolContext
from agent_nb.providers.catalog import DEMO, Catalog
from agent_nb.providers.demo_model import DEMO_MODEL
from agent_nb.session.choice import ModelChoice
from agent_nb.session.context import BranchState, branch_state
from agent_nb.session.history import History
from agent_nb.session.permissions import Gate, NotebookGate, OpenGate
from agent_nb.session.provider_pool import ProviderPool, Terms
from agent_nb.session.resources import load_resources
from agent_nb.session.session import AgentSession, SessionParts
from agent_nb.session.sessions import latest_session, session_directory
from agent_nb.session.settings import (
    PROJECT_DIRECTORY,
    Settings,
    agent_directory,
    load_settings,
    read_json_object,
)
from agent_nb.session.store import SessionStore
from agent_nb.tools import Toolbox

PI_TOOLS = ("read", "bash", "edit", "write")
"""The tools of print, JSON and RPC mode unless others are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What `create_session` may be told; everything has a default.

    Attributes:
        cwd: The session's directory; default the process's.
        model: `provider/id`, an id, or a part of one, with an optional `:thinking`.
        provider: Looks for `model` at one provider only.
        thinking: "off", "minimal", "low", "medium", "high" or "xhigh".
        tools: Names of tools; `+name` and `-name` change the default set; None for the default.
        all_tools: Whether the default set is every tool, as in a notebook.
        allow: What the notebook's gate lets through.
        gate: "notebook" asks for permission, "allow" lets everything through as pi does.
        session_file: Open or make this session file.
        resume: Go on with the newest session of the directory.
        no_session: Keep the session in memory.
        store: Use this store and open none.
        session_dir: Where session files are.
        trusted: Whether the project's settings and resources may load.
        context_files: Whether `AGENTS.md` and `CLAUDE.md` load.
        api_key: Used instead of any other key.
        providers: In-process providers by name, with their models in `models`.
        models: Models of `providers`.
        extra_tools: More tools.
        demo_words_per_s: How fast `demo/reader` speaks; None does not wait.
        environment: Variables; default the process's.
    """

    cwd: str | Path | None = None
    model: str | None = None
    provider: str | None = None
    thinking: str | None = None
    tools: Sequence[str] | None = None
    all_tools: bool = False
    allow: Collection[str] = ()
    gate: Literal["notebook", "allow"] = "allow"
    session_file: str | Path | None = None
    resume: bool = False
    no_session: bool = False
    store: SessionStore | None = None
    session_dir: str | Path | None = None
    trusted: bool = False
    context_files: bool = True
    api_key: str | None = field(default=None, repr=False)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    models: Sequence[Model] = ()
    extra_tools: Sequence[Tool] = ()
    demo_words_per_s: float | None = None
    environment: Mapping[str, str] | None = None


async def create_session(options: SessionOptions | None = None, **changes: Any) -> AgentSession:
    """Make or restore a session.

    Args:
        options: What it should be.
        **changes: Fields of `SessionOptions`, on top of `options`.

    Raises:
        TypeError: If `changes` names no field of `SessionOptions`.
        ConfigError: If an option, setting or model is wrong; one line that says what to do.
        SessionFileError: If the session file cannot be read.
    """
    options = replace(options or SessionOptions(), **changes)
    environment = os.environ if options.environment is None else options.environment
    cwd = _directory(options.cwd)
    agent_dir = agent_directory(environment)
    settings = load_settings(agent_dir, cwd / PROJECT_DIRECTORY if options.trusted else None)
    catalog = load_catalog(environment, options.models)
    store = _open_store(options, cwd, agent_dir, settings)
    state = branch_state(store)
    choice, thinking = _choose(options, settings, catalog, state)
    gate: Gate = NotebookGate(cwd, options.allow) if options.gate == "notebook" else OpenGate()
    toolbox = Toolbox(options.extra_tools)
    parts = SessionParts(
        cwd=cwd,
        history=History(store),
        settings=settings,
        catalog=catalog,
        providers=ProviderPool(
            catalog,
            options.providers,
            Terms(
                options.api_key,
                settings.http_idle_timeout_ms / 1000,
                settings.demo_words_per_second or options.demo_words_per_s,
            ),
        ),
        resources=load_resources(
            cwd, agent_dir, trusted=options.trusted, context_files=options.context_files
        ),
        gate=gate,
        toolbox=toolbox,
        tool_context=ToolContext(
            cwd=cwd,
            signal=AbortSignal(),
            environment=without_secrets(environment, catalog.secret_variables),
            sees_images="image" in choice.model.inputs,
            may_read=gate.may_read,
        ),
    )
    names = _tool_names(options, settings, toolbox, choice.model)
    session = AgentSession(parts, choice, thinking, tools=names)
    _note_beginning(store, state, choice.model, thinking)
    return session


def load_catalog(
    environment: Mapping[str, str] | None = None, extra: Sequence[Model] = ()
) -> Catalog:
    """Read `models.json` and return the models a session may use."""
    variables = os.environ if environment is None else environment
    config = read_json_object(agent_directory(variables) / "models.json")
    return Catalog(config, variables, (DEMO_MODEL, *extra))


def _directory(cwd: str | Path | None) -> Path:
    path = Path.cwd() if cwd is None else Path(cwd).expanduser()
    if not path.is_dir():
        raise ConfigError(f"The directory {path} does not exist; the agent needs one to work in.")
    return path.resolve()  # tools and gate must mean the same file by the same path


def _open_store(
    options: SessionOptions, cwd: Path, agent_dir: Path, settings: Settings
) -> SessionStore:
    if options.store is not None:
        return options.store
    if options.no_session:
        return SessionStore.in_memory(cwd)
    if options.session_file is not None:
        return SessionStore.open(Path(options.session_file).expanduser().absolute(), cwd)
    directory = session_directory(cwd, agent_dir, options.session_dir or settings.session_dir)
    if options.resume:
        latest = latest_session(directory, cwd)
        if latest is not None:
            return SessionStore.open(latest, cwd)
    return SessionStore.create(cwd, directory)


def _choose(
    options: SessionOptions, settings: Settings, catalog: Catalog, state: BranchState
) -> tuple[ModelChoice, ThinkingLevel]:
    """Choose the model and how much it thinks: option, session, settings, key, demo."""
    choice, asked = _choose_model(options, settings, catalog, state)
    if options.thinking is not None and options.thinking not in THINKING_LEVELS:
        raise ConfigError(
            f"There is no thinking level {options.thinking!r}. "
            f"There are: {', '.join(THINKING_LEVELS)}."
        )
    wanted = options.thinking or asked or state.thinking_level or settings.default_thinking_level
    level: ThinkingLevel = next((lv for lv in THINKING_LEVELS if lv == wanted), "off")
    return choice, clamp_thinking(level, choice.model)


def _choose_model(
    options: SessionOptions, settings: Settings, catalog: Catalog, state: BranchState
) -> tuple[ModelChoice, ThinkingLevel | None]:
    if options.model:
        found = catalog.find(options.model, provider=options.provider)
        return ModelChoice(found.model, "asked"), found.thinking
    if state.model:
        try:
            found = catalog.find(state.model[1], provider=state.model[0])
        except ConfigError:
            pass  # its model is gone; the next rule applies
        else:
            return ModelChoice(found.model, "session"), None
    if settings.default_model:
        found = catalog.find(settings.default_model, provider=settings.default_provider)
        return ModelChoice(found.model, "settings"), found.thinking
    with_key = catalog.first_with_key()
    if with_key:
        return ModelChoice(with_key[0], "key", with_key[1].source), None
    return ModelChoice(catalog.find(DEMO).model, "default"), None


def _tool_names(
    options: SessionOptions, settings: Settings, toolbox: Toolbox, model: Model
) -> Sequence[str]:
    every = toolbox.names
    extra = [tool.name for tool in options.extra_tools]
    default: Sequence[str] = [*PI_TOOLS, *extra]
    if options.all_tools or model.key == DEMO:
        default = every
    for wanted in (settings.default_tools, options.tools):
        if wanted is not None:
            default = _selected(wanted, default)
    return default


def _selected(wanted: Sequence[str], default: Sequence[str]) -> list[str]:
    """Apply a list of names, or of `+name` and `-name`.

    >>> _selected(["+ls", "-bash"], ["read", "bash"])
    ['read', 'ls']
    """
    signed = [name for name in wanted if name.startswith(("+", "-"))]
    if signed and len(signed) < len(wanted):
        raise ConfigError("Tools: either plain names, or names with + and -, not both.")
    if not signed:
        return list(dict.fromkeys(wanted))
    removed = {name[1:] for name in signed if name.startswith("-")}
    added = [name[1:] for name in signed if name.startswith("+")]
    return [name for name in dict.fromkeys([*default, *added]) if name not in removed]


def _note_beginning(
    store: SessionStore, state: BranchState, model: Model, thinking: ThinkingLevel
) -> None:
    """Store model and thinking level where the session does not say them yet."""
    if state.model is None:
        store.append("model_change", provider=model.provider, modelId=model.id)
    if state.thinking_level is None:
        store.append("thinking_level_change", thinkingLevel=thinking)
