"""Messages that wait: steering for the next turn, follow-ups for when a run would end."""

from collections.abc import Sequence
from typing import Literal

from agent_nb.core.messages import UserMessage

QueueMode = Literal["one-at-a-time", "all"]


class MessageQueue:
    """A queue of user messages. A message leaves it when it is delivered, not when it is taken."""

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode = mode
        self._waiting: list[UserMessage] = []
        self._taken: list[UserMessage] = []

    def put(self, message: UserMessage) -> None:
        """Add a message at the end."""
        self._waiting.append(message)

    def drain(self) -> list[UserMessage]:
        """Take what is due: one message, or all, by the queue's mode."""
        count = 1 if self.mode == "one-at-a-time" else len(self._waiting)
        due, self._waiting = self._waiting[:count], self._waiting[count:]
        self._taken += due
        return due

    def delivered(self, message: object) -> bool:
        """Note that a taken message has become part of the history; say whether it was ours."""
        for index, taken in enumerate(self._taken):
            if taken is message:
                del self._taken[index]
                return True
        return False

    def put_back(self) -> None:
        """Return to the front what was taken and never delivered."""
        self._waiting[:0] = self._taken
        self._taken = []

    def clear(self) -> list[UserMessage]:
        """Empty the queue; return what was waiting."""
        waiting, self._waiting = self._waiting, []
        return waiting

    @property
    def pending(self) -> Sequence[UserMessage]:
        """What has not been delivered, oldest first."""
        return (*self._taken, *self._waiting)

    def __len__(self) -> int:
        return len(self._taken) + len(self._waiting)
