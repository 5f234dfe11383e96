"""Where the three packages live; everything else stands in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["trajevolve", "trajevolve.*"]),
        "trajevolve_flows",
        "trajevolve_tasks",
    ],
    package_dir={"trajevolve_flows": "flows", "trajevolve_tasks": "tasks"},
)
