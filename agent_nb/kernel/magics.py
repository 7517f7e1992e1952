"""`%agent` and `%%agent`: a prompt in a cell."""

import re
import warnings
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.conversation import Question, Setup
from agent_nb.kernel.failure import AgentRunError
from agent_nb.kernel.handle import Handle
from agent_nb.kernel.notebook_session import DEFAULT_NAME, session
from agent_nb.kernel.options import AgentOptions, parse_options
from agent_nb.kernel.output import show_text
from agent_nb.kernel.slash import Slash, help_text, slash_in
from agent_nb.session.run import Budget


class BudgetSpentWarning(UserWarning):
    """A run ended early because its limit of turns, cost or time was reached."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a magic has set going: something to wait for, and what to do with what comes of it."""

    options: AgentOptions
    handle: Handle[Any]
    then: Callable[[Any], Any]


@magics_class
class AgentMagics(Magics):
    """The magics; `agent_awaited` is what cells that can await are rewritten to."""

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> Any:
        """Ask the agent: `%agent [options] your question`; `%agent /help` says more.

        The value is the run's result: `text`, `messages`, `tool_calls`, `usage`, `outcome`.
        """
        asked = self._ask(line, cell)
        if asked is None or asked.options.background:
            return self._in_background(asked)
        try:
            return asked.then(asked.handle.result())
        except AgentRunError as error:
            self._bind(asked.options, error.result)
            raise

    @no_var_expand
    @line_cell_magic
    async def agent_awaited(self, line: str, cell: str | None = None) -> Any:
        """Ask the agent as `%agent` does, in a way that can be awaited."""
        asked = self._ask(line, cell)
        if asked is None or asked.options.background:
            return self._in_background(asked)
        try:
            return asked.then(await asked.handle)
        except AgentRunError as error:
            self._bind(asked.options, error.result)
            raise

    def _ask(self, line: str, cell: str | None) -> Asked | None:
        options, text = parse_options(line)
        text = "\n".join(part for part in (text, (cell or "").strip("\r\n")) if part)
        command = slash_in(text)
        if command is not None:
            return self._command(command, options)
        return self._prompt(text, options) if text.strip() else self._status(options)

    def _prompt(self, text: str, options: AgentOptions) -> Asked:
        names = self.shell.user_ns if self.shell is not None else {}
        question = replace(_question(text, options), notes=_literal_places(text, names))
        handle = session(options.session or DEFAULT_NAME).ask(question)

        def then(result: RunResult) -> RunResult:
            self._bind(options, result)
            if result.outcome == "budget" and options.quiet:  # else the view says so
                # with no registry of its own a warning is shown each time
                warnings.warn_explicit(f"{result.error}", BudgetSpentWarning, "%agent", 1)
            return result

        return Asked(options, handle, then)

    def _command(self, command: Slash, options: AgentOptions) -> Asked | None:
        if command.name == "help":
            show_text(help_text())
            return None
        if command.name == "new":
            options = replace(options, new=True)
        elif command.argument:
            options = replace(options, model=command.argument)
        return self._status(options)

    def _status(self, options: AgentOptions) -> Asked:
        """Change what the options say, then show where things stand."""
        spoken_to = session(options.session or DEFAULT_NAME)
        handle = spoken_to.change(_setup(options), new=options.new)
        return Asked(options, handle, lambda _choice: show_text(spoken_to.describe()))

    def _in_background(self, asked: Asked | None) -> Handle[Any] | None:
        if asked is None:
            return None
        self._bind(asked.options, asked.handle)
        return asked.handle

    def _bind(self, options: AgentOptions, value: object) -> None:
        if options.output and value is not None and self.shell is not None:
            self.shell.user_ns[options.output] = value


def _literal_places(text: str, names: Container[str]) -> tuple[str, ...]:
    """Say that a variable in the text is not filled in, where one seems to be meant.

    >>> len(_literal_places("read {f} and {x}", {"f"})), _literal_places("read {x}", {"f"})
    (1, ())
    """
    meant = [name for name in _PLACE.findall(text) if name in names]
    if not meant:
        return ()
    places = ", ".join(f"{{{name}}}" for name in dict.fromkeys(meant))
    return (
        f"The text is sent as it is written: {places} was not filled in. "
        '`await agent.prompt(f"…")` does that.',
    )


_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


def _setup(options: AgentOptions) -> Setup:
    return Setup(options.model, options.thinking, options.tools)


def _question(text: str, options: AgentOptions) -> Question:
    return Question(
        text,
        budget=Budget(options.max_turns, options.max_cost_usd, options.timeout_s),
        setup=_setup(options),
        new=options.new,
        allow=options.allow,
        shown="nothing" if options.quiet else "static" if options.raw else "view",
    )
