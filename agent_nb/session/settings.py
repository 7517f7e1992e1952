"""Settings: the user's, with the project's on top. Names are pi's (1.6.0, docs/settings.md)."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from agent_nb.core.errors import ConfigError
from agent_nb.core.model import ThinkingLevel
from agent_nb.loop.queue import QueueMode

PROJECT_DIRECTORY = ".agent_nb"


class _Settings(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
    )


class RetrySettings(_Settings):
    """How failed answers are asked for again; delays in milliseconds."""

    enabled: bool = True
    max_retries: int = Field(3, ge=0)
    base_delay_ms: float = Field(2_000, ge=0)
    max_agent_delay_ms: float = Field(60_000, ge=0)
    respect_retry_after: bool | None = None


class CompactionSettings(_Settings):
    """When and how much of the history is summarised, in tokens."""

    enabled: bool = True
    reserve_tokens: int = Field(16_384, ge=0)
    keep_recent_tokens: int = Field(20_000, ge=0)


class Settings(_Settings):
    """What can be set in `settings.json`; fields we do not know are kept and ignored."""

    default_provider: str | None = None
    default_model: str | None = None
    default_thinking_level: ThinkingLevel = "medium"
    default_tools: tuple[str, ...] | None = None
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    http_idle_timeout_ms: float = Field(300_000, ge=0)
    session_dir: str | None = None
    demo_words_per_second: float | None = Field(None, ge=0)
    retry: RetrySettings = RetrySettings.model_construct()
    compaction: CompactionSettings = CompactionSettings.model_construct()


def agent_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Return where settings, models and sessions are: `AGENT_NB_DIR`, or the data directory."""
    named = (os.environ if environment is None else environment).get("AGENT_NB_DIR")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_data_path

    return user_data_path("agent_nb", appauthor=False)


def load_settings(agent_dir: Path, project_dir: Path | None = None) -> Settings:
    """Read the user's settings, and the project's where it is trusted.

    Raises:
        ConfigError: If a file is not JSON or a value is not what was expected; names the file.
    """
    merged: dict[str, Any] = {}
    settings = Settings.model_construct()
    for directory in [agent_dir, *([project_dir] if project_dir else [])]:
        path = directory / "settings.json"
        found = read_json_object(path)
        if not found:
            continue
        merged = _merged(merged, found)
        try:
            settings = Settings.model_validate(merged)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigError(
                f"{path}: {where}: {first['msg']}, found {first['input']!r}"
            ) from error
    return settings


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; a file that is not there is an empty one.

    Raises:
        ConfigError: If it cannot be read or is no JSON object.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold a JSON object, found {type(data).__name__}")
    return data


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge nested objects; anything else is replaced."""
    out = dict(base)
    for key, value in over.items():
        old = out.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            out[key] = _merged(old, value)
        else:
            out[key] = value
    return out
