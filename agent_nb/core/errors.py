"""Our errors: one root, few kinds, facts as attributes."""


class AgentError(Exception):
    """The root of every error agent_nb raises on purpose; its text is fit to be shown."""


class ConfigError(AgentError):
    """A setting, option, model or key is missing or wrong; the text says which and what to do."""


class RunInProgressError(AgentError):
    """A prompt came while a run was going on and did not say whether to steer or follow up."""


class ToolError(AgentError):
    """A tool failed in a way its model should read; the text becomes the error result."""


class SessionFileError(AgentError):
    """A session file cannot be read or written; `path` names it."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class ProviderError(AgentError):
    """The model's server refused or broke off.

    Attributes:
        status: The HTTP status, None if the server never answered.
        retry_after_s: What its `retry-after` asked for, in seconds.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class ContextOverflowError(ProviderError):
    """The request holds more than the model can take."""
