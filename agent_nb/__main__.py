"""`python -m agent_nb`."""

from agent_nb.cli.main import run

if __name__ == "__main__":
    run()
