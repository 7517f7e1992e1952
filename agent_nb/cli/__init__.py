"""The command line: print, JSON and RPC mode."""
