"""Prefect tasks: one per stage, a few lines over `trajevolve`. Installed as `trajevolve_tasks`."""
