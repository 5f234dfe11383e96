"""`python -m trajevolve` is the same as the command `trajevolve`."""

from trajevolve.cli.main import run

run()
