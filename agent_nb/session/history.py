"""The history of a session: the store's branch as messages, kept up to date as entries come."""

from collections.abc import Sequence

from agent_nb.core.messages import Message, SystemMessage
from agent_nb.session.context import context_of, for_model
from agent_nb.session.entries import Entry
from agent_nb.session.store import SessionStore


class History:
    """What was said on the current branch, and what of it the model sees."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store
        self._context: list[Message] = []
        self._system: list[SystemMessage] = []
        self._messages: list[Message] | None = None
        self.rebuild()

    def rebuild(self) -> None:
        """Read the branch again, after its leaf or its edits changed."""
        self._context = []
        self._system = []
        self._messages = None
        for placed in context_of(self.store):
            self._take(placed.message)

    def add(self, message: Message) -> Entry:
        """Store a message; it is on disk when this returns."""
        entry = self.store.append_message(message)
        if self._messages is not None:
            self._messages.append(message)
        self._take(message)
        return entry

    def _take(self, message: Message) -> None:
        if isinstance(message, SystemMessage):
            self._system.append(message)
        sent = for_model(message)
        if sent is not None:
            self._context.append(sent)

    @property
    def context(self) -> Sequence[Message]:
        """What the next request carries, before the prompt."""
        return self._context

    @property
    def system_messages(self) -> Sequence[SystemMessage]:
        """The system messages in force, oldest first."""
        return self._system

    @property
    def messages(self) -> tuple[Message, ...]:
        """Every message of the branch, also what was compacted; read when first asked."""
        if self._messages is None:
            entries = self.store.branch()
            self._messages = [entry.message for entry in entries if entry.message is not None]
        return tuple(self._messages)
