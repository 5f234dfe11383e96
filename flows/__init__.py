"""Prefect flows: wiring only. Installed as `trajevolve_flows`."""
