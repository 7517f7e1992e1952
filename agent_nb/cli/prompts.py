"""What is asked first: standard input, then `@file` references, then the prompt."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_nb.core.content import ImageContent
from agent_nb.core.errors import ConfigError
from agent_nb.tools.images import image_type


@dataclass(frozen=True, slots=True)
class FirstPrompt:
    """The first prompt, with the images it refers to."""

    text: str
    images: tuple[ImageContent, ...] = ()


def first_prompt(piped: str, files: Sequence[str], prompt: str) -> FirstPrompt:
    """Put the parts together as pi does: text, file references and prompt are one text.

    Raises:
        ConfigError: If a file cannot be read.
    """
    parts = [piped] if piped else []
    images = []
    for name in files:
        path = Path(name).expanduser().absolute()
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"Cannot read @{name}: {error.strerror}") from error
        kind = image_type(data)
        if kind:
            images.append(ImageContent(base64.b64encode(data).decode("ascii"), kind))
            parts.append(f'<file name="{path}"></file>\n')
        elif data:
            text = data.decode("utf-8", "replace")
            parts.append(f'<file name="{path}">\n{text}\n</file>\n')
    return FirstPrompt("".join([*parts, prompt]), tuple(images))
