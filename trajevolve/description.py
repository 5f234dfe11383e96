"""What a run is, in a few words: how a list of runs, or a table of an ablation, tells them apart.

Runs are told apart by what was changed, not by what they have in common. Hence two texts: the
variant names the method and the switches thrown against what the method has by default, and the
changes name every value that differs from the preset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trajevolve.advantages.registry import LABELLED
from trajevolve.config import MUTABLE, RunConfig, parse_config
from trajevolve.reports.tables import end_rows, markdown, outcome_line
from trajevolve.tracking import flatten
from trajevolve.wording import counted

# What an ablation of the method throws; amounts (learning rates, sizes, limits) are none of it.
SWITCHES = (
    "credit.",
    "discriminator.enabled",
    "evolution.enabled",
    "evolution.strategies",
    "evolution.membership",
    "evolution.keep_failed",
    "evolution.oracle_rollback",
)
# Without effect where the method's advantages do not depend on the labels.
WEIGHTS = (
    "credit.alpha",
    "credit.lam",
    "credit.step_advantage",
    "credit.failed_step_credit",
    "credit.invalid_advantage",
    "credit.exploration_neutral",
)
# Named by themselves wherever a run is named, or without effect on its result.
APART = ("preset", "seed", "threads", "env.name", "checkpoints.", *sorted(MUTABLE))

# MLflow's pages set no space between the columns of a table; these blanks are not stripped.
GAP = "\u00a0\u00a0"


def variant(config: RunConfig) -> str:
    """Name the method and the switches that differ from its defaults.

    ``trajevolve``, ``grpo`` or ``trajevolve, credit.lam=0.0, evolution.enabled=false``.
    """
    changed = _differences(config, method=config.method)
    unread = () if config.method in LABELLED else WEIGHTS
    thrown = {
        key: value
        for key, value in changed.items()
        if key.startswith(SWITCHES) and key not in unread
    }
    return ", ".join([config.method, *_assignments(thrown)])


def changes(config: RunConfig) -> dict[str, Any]:
    """Return dotted key -> value of all that differs from the preset in this environment.

    Method and switches come first. What the method itself switches off counts as different; the
    seed and the number of iterations do not, nor does what has no effect on the result.
    """
    differ = _differences(config)
    order = sorted(differ, key=lambda key: not key.startswith(("method", *SWITCHES)))
    return {key: differ[key] for key in order}


def changes_text(config: RunConfig) -> str:
    """Write :func:`changes` in one line: ``method=grpo, evolution.enabled=false, …``."""
    return ", ".join(_assignments(changes(config))) or "nothing"


def run_tags(config: RunConfig) -> dict[str, str]:
    """Tags by which runs are filtered, grouped and compared."""
    return {
        "variant": variant(config),
        "changed": changes_text(config),
        "method": config.method,
        "preset": config.preset,
        "model": config.model.name,
        "environment": config.env.name,
        "seed": str(config.seed),
        "iterations": str(config.iterations),
        "config": config.digest(),
    }


def run_description(
    config: RunConfig, run_dir: Path, summary: Mapping[str, Any] | None = None
) -> str:
    """Describe a run in Markdown.

    Args:
        config: of the run.
        run_dir: its folder; shown, not read.
        summary: content of ``summary.json`` where the run is finished.
    """
    parts = [
        f"**{plain(variant(config))}** in {code(config.env.name)}: tasks of "
        f"{code(config.env.split)}, at most {counted(config.env.step_limit, 'step')}; "
        f"model {code(config.model.name)}, seed {config.seed}, "
        f"{counted(config.iterations, 'iteration')}.",
        "### Result\n\n" + result_text(summary) if summary else "",
        "### Method\n\n" + facts(("part", "setting"), _parts(config)),
        f"Changed against the preset {code(config.preset)}: {_changed_codes(config)}.",
        "### Where\n\n" + places(run_dir, finished=summary is not None),
    ]
    return "\n\n".join(part for part in parts if part)


def result_text(summary: Mapping[str, Any]) -> str:
    """Write both ends of a run as a Markdown table, and the paired difference below it."""
    rows = [
        (plain(label.strip()) + GAP, before + GAP, after)
        for label, before, after in end_rows(summary)
    ]
    panel = f"Panel {code(summary['panel'])}, {counted(summary['after']['tasks'], 'task')}."
    table = markdown(("", "before", "after"), rows)
    return f"{panel}\n\n{table}\n\nDifference: {outcome_line(summary)}."


def places(run_dir: Path, finished: bool) -> str:
    """List the run's folder and the commands that show it, go on with it or take its weights."""
    name = run_dir.name
    parameters = f"{run_dir.parent.name}/{name}/params.yaml"
    rows = (
        ("folder", str(run_dir)),
        ("trajectories, step by step", f"trajevolve view {name}"),
        ("tables and curves", f"trajevolve report {name}"),
        ("weights, with model card", f"trajevolve export {name} --as model --out {name}-model")
        if finished
        else ("go on after a stop", f"trajevolve train --config {parameters} --run {name}"),
    )
    return "\n".join(f"- {label}: {code(text)}" for label, text in rows)


def facts(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """Write a Markdown table of texts."""
    return "\n".join(f"| {name} | {value} |" for name, value in (header, ("---", "---"), *rows))


def code(text: str) -> str:
    """Show `text` word for word inside Markdown, in one line and within a table's cell."""
    return "`" + " ".join(text.split()).replace("`", "'").replace("|", "\\|") + "`"


def plain(text: str) -> str:
    """Keep Markdown from reading underscores and stars of a name as marks."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in text)


def _parts(config: RunConfig) -> list[tuple[str, str]]:
    credit, judge, evolution = config.credit, config.discriminator, config.evolution
    strategies = ", ".join(evolution.strategies)
    own = credit.invalid_advantage
    spared = "" if own is None else f", invalid steps {own:g}"
    spared += ", exploration-neutral" if credit.exploration_neutral else ""
    rows = [
        ("advantage", plain(config.method)),
        ("hindsight verification", f"{credit.mode}, {credit.order}"),
        ("α, redundancy ratio", f"{credit.alpha:g}"),
        ("λ, step advantage", f"{credit.lam:g}, {credit.step_advantage}{spared}"),
        ("discriminator", f"LoRA rank {judge.lora_rank}" if judge.enabled else "off"),
        (
            "evolution",
            f"{strategies}; every {counted(evolution.every, 'iteration')}"
            if evolution.enabled
            else "off",
        ),
        ("sampling", f"{counted(config.rollout.groups, 'group')} of {config.rollout.group_size}"),
    ]
    return [(name + GAP, setting) for name, setting in rows]


def _changed_codes(config: RunConfig) -> str:
    return ", ".join(map(code, _assignments(changes(config)))) or "nothing"


def preset_values(config: RunConfig, **more: Any) -> dict[str, Any]:
    """Return dotted key -> value of the preset in the environment of `config`.

    Args:
        config: names both.
        more: settings that are taken for given, as ``method``.
    """
    preset = parse_config({"preset": config.preset, "env": {"name": config.env.name}, **more})
    return flatten(preset.model_dump(mode="json"))


def _differences(config: RunConfig, **base: Any) -> dict[str, Any]:
    before = preset_values(config, **base)
    now = flatten(config.model_dump(mode="json"))
    return {
        key: value
        for key, value in now.items()
        if value != before.get(key) and not key.startswith(APART)
    }


def _assignments(values: Mapping[str, Any]) -> list[str]:
    return [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in values.items()
    ]
