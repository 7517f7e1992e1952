"""`demo/reader`: answers by rules and real tool calls; no key, no network, no language model."""

from agent_nb.providers.demo.provider import DemoProvider
from agent_nb.providers.demo_model import DEMO_MODEL

__all__ = ["DEMO_MODEL", "DemoProvider"]
