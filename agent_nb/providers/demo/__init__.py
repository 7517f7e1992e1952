"""`demo/reader`: answers by rules and real tool calls; no key, no network, no language model."""

from agent_nb.providers.demo.provider import DEMO_MODEL, DemoProvider

__all__ = ["DEMO_MODEL", "DemoProvider"]
