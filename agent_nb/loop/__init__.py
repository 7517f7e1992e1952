"""The agent loop: ask the model, run tools, ask again."""
