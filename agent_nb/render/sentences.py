"""What views and static forms say of a run in words: its phase, its thinking, its size."""

from agent_nb.render.blocks import ENDED, NoticeKind, Phase, ThinkingBlock, ToolCard, Transcript
from agent_nb.render.words import Words, rounded


def phase_sentence(transcript: Transcript, say: Words) -> str:
    """Say what is going on, or how the run ended."""
    if transcript.phase != "running":
        return say(f"phase.{transcript.phase}")
    blocks = transcript.turns[-1].blocks if transcript.turns else ()
    names = [b.name for b in blocks if isinstance(b, ToolCard) and b.status == "running"]
    if len(names) == 1:
        return say("phase.running", name=names[0])
    return say("phase.running.many", n=len(names))


def model_line(transcript: Transcript) -> str:
    """Name the model, and what must be said of it."""
    return " · ".join(part for part in (transcript.model, transcript.model_note) if part)


def thinking_label(block: ThinkingBlock, say: Words) -> str:
    """Head a thinking block."""
    if block.is_open:
        return say("thinking.now")
    if block.duration_s is None:
        return say("thinking.untimed")
    return say("thinking.done", time=say.seconds(block.duration_s))


def figures(transcript: Transcript, say: Words) -> list[str]:
    """Return the footer: turns, tools, tokens, cost where it is known, time once it is over."""
    usage = transcript.usage
    parts = []
    if transcript.turns:
        parts.append(say.count("turns", len(transcript.turns)))
    if transcript.tool_count:
        parts.append(say.count("tools", transcript.tool_count))
    if usage.total_tokens:
        tokens = say.tokens(usage.total_tokens)
        cached = rounded(usage.cache_read)
        parts.append(say("tokens.cached", tokens=tokens, n=cached) if usage.cache_read else tokens)
    if usage.cost.total > 0:
        parts.append(dollars(usage.cost.total))
    if transcript.duration_s is not None and transcript.phase in ENDED:
        parts.append(say.seconds(transcript.duration_s))
    return parts


def dollars(amount_usd: float) -> str:
    """Return a price, with as many digits as say something.

    >>> dollars(0.00004), dollars(0.0123), dollars(12.5)
    ('<$0.001', '$0.012', '$12.50')
    """
    if amount_usd < 0.001:
        return "<$0.001"
    return f"${amount_usd:.3f}" if amount_usd < 1 else f"${amount_usd:.2f}"


def tone(phase: Phase) -> NoticeKind | None:
    """Return how an end is to be coloured: not at all, as a warning, as an error."""
    if phase == "error":
        return "error"
    return "warning" if phase in {"stopped", "budget"} else None
