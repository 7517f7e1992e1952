"""Static forms of messages and runs: HTML, Markdown, plain text."""
