"""What there is to know of `demo/reader` before its rules are loaded."""

from agent_nb.core.model import Model, Prices

DEMO_MODEL = Model(
    id="reader",
    provider="demo",
    api="demo",
    name="Reader (rule-based, not a language model)",
    inputs=("text",),
    context_window=1_000_000,
    prices=Prices(),
)
