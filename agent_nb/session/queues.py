"""The two queues of a session, seen and changed together."""

from agent_nb.core.events import QueueUpdate
from agent_nb.loop.queue import MessageQueue, QueueMode


class Queues:
    """Messages that wait: steering for the next turn, follow-ups for when a run would end."""

    def __init__(self, steering_mode: QueueMode, follow_up_mode: QueueMode) -> None:
        self.steering = MessageQueue(steering_mode)
        self.follow_ups = MessageQueue(follow_up_mode)

    def delivered(self, message: object) -> bool:
        """Note that a message became part of the history; say whether it had waited."""
        return self.steering.delivered(message) or self.follow_ups.delivered(message)

    def put_back(self) -> None:
        """Return what was taken and never delivered, after a stop."""
        self.steering.put_back()
        self.follow_ups.put_back()

    def update(self) -> QueueUpdate:
        """Return the event that shows both queues as they are."""
        return QueueUpdate(
            tuple(message.text for message in self.steering.pending),
            tuple(message.text for message in self.follow_ups.pending),
        )

    def __len__(self) -> int:
        return len(self.steering) + len(self.follow_ups)
