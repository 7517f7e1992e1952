"""History as data: turns, runs, requests, events."""
