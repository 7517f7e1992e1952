"""IPython, the agent thread, and the wiring between them."""
