"""Whether runs were measured under the same conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trajevolve.manifest import Manifest

CONDITIONS = (
    "env.name",
    "env.backend",
    "env.difficulty",
    "env.options",
    "env.step_limit",
    "evaluation.panel",
    "evaluation.panel_size",
    "evaluation.temperature",
)


def unlike(manifests: Sequence[Manifest]) -> list[str]:
    """Name the conditions of the reported evaluations that differ, with each run's value."""
    lines = []
    for key in CONDITIONS:
        values = [_value(manifest.config, key) for manifest in manifests]
        if len(set(map(repr, values))) > 1:
            pairs = zip(manifests, values, strict=True)
            told = ", ".join(f"{manifest.run} {value}" for manifest, value in pairs)
            lines.append(f"not comparable, {key} differs: {told}")
    return lines


def _value(config: Mapping[str, Any], key: str) -> Any:
    section, _, name = key.partition(".")
    return config.get(section, {}).get(name) or None  # runs of earlier versions lack some
