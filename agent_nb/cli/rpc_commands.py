"""The commands of RPC mode as a client writes them. Source: pi 1.6.0, docs/rpc-commands.md."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agent_nb.core.content import ImageContent
from agent_nb.loop.queue import QueueMode


class Command(BaseModel):
    """What every command has; fields we do not know are ignored, as in pi."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)

    id: Any = None


class Image(BaseModel):
    """An image in base64."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)

    data: str
    mime_type: str


class MessageCommand(Command):
    """`steer` and `follow_up`."""

    message: str
    images: tuple[Image, ...] = ()

    @property
    def image_blocks(self) -> tuple[ImageContent, ...]:
        """The images as content blocks."""
        return tuple(ImageContent(image.data, image.mime_type) for image in self.images)


class PromptCommand(MessageCommand):
    """`prompt`."""

    streaming_behavior: Literal["steer", "followUp"] | None = None


class NewSessionCommand(Command):
    """`new_session`."""

    parent_session: str | None = None


class SetModelCommand(Command):
    """`set_model`."""

    provider: str
    model_id: str


class ThinkingCommand(Command):
    """`set_thinking_level`; "max" is more than any model has here, so it means the highest."""

    level: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class QueueModeCommand(Command):
    """`set_steering_mode` and `set_follow_up_mode`."""

    mode: QueueMode


class EnabledCommand(Command):
    """`set_auto_retry`."""

    enabled: bool


class BashCommand(Command):
    """`bash`."""

    command: str
    exclude_from_context: bool | None = None


class SwitchSessionCommand(Command):
    """`switch_session`."""

    session_path: str = Field(min_length=1)


class ForkCommand(Command):
    """`fork`."""

    entry_id: str


class EntriesCommand(Command):
    """`get_entries`."""

    since: str | None = None


class NameCommand(Command):
    """`set_session_name`."""

    name: str


NOT_YET: Mapping[str, str] = {
    "compact": "This version of agent_nb cannot compact a conversation.",
    "set_auto_compaction": "This version of agent_nb cannot compact a conversation.",
    "export_html": "RPC mode of this version of agent_nb cannot export a session.",
}
"""Commands of pi that cannot be done here, and what to answer."""
