"""Which failures are worth another try, and when. Decided by the text of the error, as pi does.

Source: pi-ai 1.6.0, `utils/retry`; BEHAVIOUR: 529 without "overloaded" and 408 are not in the list.
"""

import re

from agent_nb.core.messages import AssistantMessage
from agent_nb.session.settings import RetrySettings

_FINAL = (
    r"(?i)insufficient_quota|quota exceeded|out of budget|billing|usage limit reached"
    r"|UsageLimitError|available balance|usage_limit_exceeded|\"code\"\s*:\s*\"?1308(?!\d)"
)
_RETRYABLE = r"""(?xi)
    overloaded | server_busy | servers\ are\ currently\ busy | high\ demand | at\ capacity
    | rate.?limit | too\ many\ requests | resource.?exhausted
    | (?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])
    | service.?(?:is.?)?(?:temporarily.?)?unavailable | server.?error | internal.?error
    | provider.?returned.?(?:an.?)?error | upstream.?(?:request.?failed|connect)
    | unable\ to\ forward\ upstream | upstream_stream_read_error | stream\ was\ interrupted
    | network.?error | connection.?(?:error|refused|lost|closed) | other\ side\ closed
    | fetch\ failed | getaddrinfo | connection\ reset\ by\ peer | reset\ before\ headers
    | (?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND)
      (?![a-z0-9_])
    | socket\ (?:hang\ up|connection\ was\ closed) | timed?\ out | timeout | terminated
    | ended\ without | stream\ ended\ before | stream\ disconnected | retry\ delay
    | (?:retry\ your\ request|try\ your\ request\ again)
    """


def is_retryable(message: AssistantMessage) -> bool:
    """Say whether asking again may help; wording about quota or billing settles it.

    >>> is_retryable(AssistantMessage((), stop_reason="error", error_message="503: busy"))
    True
    >>> is_retryable(AssistantMessage((), stop_reason="error", error_message="429: billing"))
    False
    """
    text = message.error_message
    if message.stop_reason != "error" or not text:
        return False
    return not re.search(_FINAL, text) and re.search(_RETRYABLE, text) is not None


def retry_delay_ms(attempt: int, settings: RetrySettings) -> float:
    """Return the wait before the n-th retry: doubled each time, up to the limit.

    >>> [retry_delay_ms(n, RetrySettings()) for n in (1, 2, 3, 9)]
    [2000, 4000, 8000, 60000]
    """
    delay = settings.base_delay_ms * 2 ** min(attempt - 1, 60)
    limited = min(delay, settings.max_agent_delay_ms)
    return int(limited) if limited == int(limited) else limited


class Retry:
    """Counts the tries of one run."""

    def __init__(self, settings: RetrySettings) -> None:
        self._settings = settings
        self.attempt = 0
        self.exhausted = False

    def wanted(self, answer: AssistantMessage) -> bool:
        """Say whether to ask again after `answer`; remembers when the tries are used up."""
        if not self._settings.enabled or not is_retryable(answer):
            return False
        left = self.attempt < self._settings.max_retries
        self.exhausted = self.attempt > 0 and not left
        return left

    def next_delay_ms(self) -> float:
        """Count another try and return how long to wait before it."""
        self.attempt += 1
        return retry_delay_ms(self.attempt, self._settings)

    def succeeded(self, message: object) -> bool:
        """Say whether `message` is an answer that ends a series of tries."""
        return (
            self.attempt > 0
            and isinstance(message, AssistantMessage)
            and message.stop_reason not in {"error", "aborted"}
        )

    def reset(self) -> int:
        """Start counting anew; return how many tries there were."""
        attempt, self.attempt = self.attempt, 0
        return attempt
