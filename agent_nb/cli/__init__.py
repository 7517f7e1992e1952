"""The command line: print and JSON mode."""
