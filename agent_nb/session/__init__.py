"""State and disk: what a conversation is between and across runs."""
