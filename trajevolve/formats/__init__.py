"""Recorded trajectories of other tools, one file a format, as the rows that ``verify`` reads."""
