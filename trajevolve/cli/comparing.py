"""`evaluate --against`: an earlier evaluation, and whether the two can be compared at all."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajevolve.evaluation import EpisodeResult

#: What both have to share; the difference of two policies would be of these otherwise.
SHARED = {"env": "--env", "step_limit": "--limit", "temperature": "--set evaluation.temperature="}


@dataclass(frozen=True)
class Earlier:
    """An evaluation that was written before.

    Attributes:
        path: its file.
        facts: under which conditions it was made: the keys of SHARED, and ``options`` of the
            environment.
        episodes: one a task.
    """

    path: Path
    facts: Mapping[str, Any]
    episodes: tuple[EpisodeResult, ...]

    def check_conditions(self, facts: Mapping[str, Any], here: str) -> None:
        """Raise UserError where conditions differ. A policy without temperature fits any.

        Args:
            facts: the conditions now.
            here: name of this evaluation.
        """
        from trajevolve.errors import UserError

        for key, option in SHARED.items():
            there, now = self.facts[key], facts[key]
            if there == now or (key == "temperature" and None in (there, now)):
                continue
            setting = f"{option}{there}" if option.endswith("=") else f"{option} {there}"
            raise UserError(
                f"--against {self.path}: was made with {key.replace('_', ' ')} {there}, {here} "
                f"has {now}, so that the two cannot be compared; add {setting}"
            )
        there, now = self.facts["options"], facts.get("options") or {}
        if there != now:
            raise UserError(
                f"--against {self.path}: was made with env.options {json.dumps(there)}, {here} has "
                f"{json.dumps(now)}, so that the two cannot be compared"
            )

    def check_tasks(self, tasks: Collection[str], here: str) -> None:
        """Raise UserError where the tasks are not the same ones.

        Args:
            tasks: ids of those that are about to be played.
            here: name of this evaluation.
        """
        from trajevolve.errors import UserError
        from trajevolve.wording import counted

        there = {episode.task_id for episode in self.episodes}
        strange = sorted(there ^ set(tasks))
        if not strange:
            return
        holder = self.path if strange[0] in there else here
        raise UserError(
            f"--against {self.path}: holds {counted(len(there), 'task')}, {here} {len(tasks):,}, "
            f"{len(there & set(tasks))} of them in both ({strange[0]!r} only in {holder}); give "
            "the same --split, --tasks and --data"
        )


def read_earlier(path: Path) -> Earlier:
    """Read what ``evaluate --output`` wrote, or ``evaluation.json`` of a run's stage.

    Raises:
        UserError: it is neither.
    """
    from trajevolve.errors import UserError
    from trajevolve.evaluation import SCHEMA_VERSION, EpisodeResult

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema_version"] != SCHEMA_VERSION:
            raise UserError(
                f"{path}: schema {content['schema_version']}, expected {SCHEMA_VERSION}"
            )
        episodes = tuple(EpisodeResult(**episode) for episode in content["episodes"])
        facts = content if "step_limit" in content else _facts_of_run(path)
        conditions = {key: facts[key] for key in SHARED}
        return Earlier(path, conditions | {"options": facts.get("options") or {}}, episodes)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: expected a file written by evaluate --output") from None


def _facts_of_run(path: Path) -> dict[str, Any]:
    """Take the conditions of a run's own evaluation from the run's configuration."""
    from trajevolve.manifest import load_manifest

    run = path.absolute().parent.parent.parent  # runs/NAME/iter_0007/<stage>/evaluation.json
    if not (run / "manifest.json").is_file():
        raise KeyError("step_limit")
    config = load_manifest(run).config
    return {
        "env": config["env"]["name"],
        "step_limit": config["env"]["step_limit"],
        "temperature": config["evaluation"]["temperature"],
        "options": config["env"].get("options"),
    }
