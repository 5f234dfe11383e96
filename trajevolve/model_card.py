"""The model card of a run's weights, in the form of the Hugging Face hub.

YAML front matter for machines, Markdown for people. The same run and weights give the same bytes:
no time, no host and no folder of the machine is in it, so that it can be published as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment as Jinja
from jinja2 import PackageLoader, StrictUndefined, Template

from trajevolve.config import RunConfig, parse_config
from trajevolve.description import changes, code, facts, plain
from trajevolve.errors import UserError
from trajevolve.ledger import Commit
from trajevolve.manifest import Manifest, load_manifest
from trajevolve.models.loading import tokenizer_class
from trajevolve.reports.tables import end_rows, figure, markdown, outcome_line
from trajevolve.wording import counted

CARD = "model_card.md"
"""Name in the run's folder; beside exported weights it is README.md, as the hub expects."""

TAGS = ("reinforcement-learning", "agents", "trajevolve")

_CACHED = re.compile(r"models--([\w.-]+?)--([\w.-]+)")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# Values that are folders of this machine.
_FOLDERS = frozenset({"env.data", "model.name", "discriminator.model", "discriminator.adapter"})


def model_card(run_dir: Path, commit: Commit, summary: Mapping[str, Any] | None) -> str:
    """Write the card of the weights that `commit`, of a stage ``update``, holds.

    Args:
        run_dir: folder of the run.
        commit: which weights.
        summary: content of ``summary.json``, None where the run is not finished. Its evaluation is
            shown if it is of these weights.
    """
    manifest = load_manifest(run_dir)
    config = parse_config(manifest.config, source=str(run_dir / "manifest.json"))
    updates = commit.iteration + 1
    measured = summary if summary and summary.get("updates_of_result") == updates else None
    release = manifest.packages.get("trajevolve", "")
    return _template().render(
        front=_front_matter(manifest, config, measured),
        name=plain(manifest.run),
        environment=code(config.env.name),
        env=config.env.name,
        method=code(config.method),
        version=f" {release}" if release else "",
        base=_base(config),
        updates=counted(updates, "update"),
        result=_result(measured) if measured else None,
        panel=code(config.evaluation.panel),
        panel_name=config.evaluation.panel,
        step_limit=config.env.step_limit,
        temperature=f"{config.evaluation.temperature:g}",
        training=_training(config),
        tokenizer=_tokenizer(run_dir / commit.outputs["checkpoint"].path),
        layout=config.agent.layout,
        answer=config.agent.answer,
        lineage=_lineage(manifest, commit),
    )


def stored_summary(run_dir: Path) -> dict[str, Any] | None:
    """Read ``summary.json``; None where the run is not finished.

    Raises:
        UserError: it is damaged.
    """
    path = run_dir / "summary.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        raise UserError(f"{path}: cannot be read; run the training command again") from None


def base_model(name: str) -> str | None:
    """Name the model that training started from as the hub does; None where it has no such name.

    A folder of the hub's cache says owner and name, another one the name alone.
    """
    if name == "builtin":
        return None
    cached = _CACHED.search(name)
    if cached:
        return f"{cached[1]}/{cached[2]}"
    last = Path(name).name
    return last if _HUB_NAME.fullmatch(last) else None


@cache
def _template() -> Template:
    loader = PackageLoader("trajevolve", "templates")
    jinja = Jinja(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True)
    return jinja.get_template("model_card.md.jinja")


def _front_matter(manifest: Manifest, config: RunConfig, summary: Mapping[str, Any] | None) -> str:
    content: dict[str, Any] = {
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        "language": ["en"],
        "tags": list(dict.fromkeys((*TAGS, config.method, config.env.name))),
    }
    base = base_model(config.model.name)
    if base is not None:
        content["base_model"] = base
        content["base_model_relation"] = "finetune"
    if summary:
        content["model-index"] = [{"name": manifest.run, "results": [_index(config, summary)]}]
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _index(config: RunConfig, summary: Mapping[str, Any]) -> dict[str, Any]:
    after = summary["after"]
    named = {"success rate": after["success"], "steps": after["steps"]}
    env, panel = config.env.name, summary["panel"]
    return {
        "task": {"type": "reinforcement-learning", "name": env},
        "dataset": {"type": env, "name": f"{env} {panel}", "split": panel},
        "metrics": [
            {"type": name.replace(" ", "_"), "name": name, "value": value}
            for name, value in named.items()
            if value is not None
        ],
    }


def _result(summary: Mapping[str, Any]) -> dict[str, Any]:
    (_, *_), *rows = end_rows(summary)
    shown = [("success", _counted(summary["before"]), _counted(summary["after"])), *rows]
    difference = summary["difference"]
    return {
        "tasks": counted(summary["after"]["tasks"], "task"),
        "table": markdown(
            ("", "before", "after"),
            [(plain(label.strip()), *ends) for label, *ends in shown],
        ),
        "outcome": outcome_line(summary),
        "only_after": difference["only_b"],
        "only_before": difference["only_a"],
    }


def _counted(end: Mapping[str, Any]) -> str:
    low, high = end["success_interval"]
    solved = round(end["success"] * end["tasks"])
    share = figure(end["success"], share=True)
    return f"{solved} of {end['tasks']}, {share} [{100 * low:.1f}, {100 * high:.1f}]"


def _base(config: RunConfig) -> str:
    if config.model.name == "builtin":
        return f"the small policy that TrajEvolve brings along for {code(config.env.name)}"
    return code(base_model(config.model.name) or "a local model")


def _training(config: RunConfig) -> str:
    learner, rollout = config.learner, config.rollout
    rows = [
        ("tasks", code(config.env.split)),
        ("an iteration", f"{counted(rollout.groups, 'task')}, {rollout.group_size} episodes each"),
        ("step limit", str(config.env.step_limit)),
        ("sampling temperature", f"{rollout.temperature:g}"),
        ("learning rate", f"{learner.lr:g}"),
        ("ε of the clip, weight of the KL", f"{learner.clip:g}, {learner.kl:g}"),
        ("α, λ", f"{config.credit.alpha:g}, {config.credit.lam:g}"),
        ("discriminator", "on" if config.discriminator.enabled else "off"),
        ("evolution", _evolution(config)),
        ("seed", str(config.seed)),
    ]
    changed = ", ".join(code(f"{key}={value}") for key, value in _published(config).items())
    table = facts(("what", "value"), rows)
    return f"{table}\n\nChanged against the preset {code(config.preset)}: {changed or 'nothing'}."


def _published(config: RunConfig) -> dict[str, str]:
    """What differs from the preset, with folders of the machine reduced to their names."""
    return {
        key: Path(value).name if key in _FOLDERS and value else json.dumps(value)
        for key, value in changes(config).items()
    }


def _evolution(config: RunConfig) -> str:
    evolution = config.evolution
    if not evolution.enabled:
        return "off"
    return f"every {counted(evolution.every, 'iteration')}: {', '.join(evolution.strategies)}"


def _lineage(manifest: Manifest, commit: Commit) -> str:
    rows = [
        ("configuration, digest", manifest.config_digest),
        ("weights, MD5", commit.outputs["checkpoint"].md5),
        *((f"data, {name}", digest) for name, digest in sorted(manifest.data.items())),
        ("git commit", manifest.git or "unknown"),
        *((name, version) for name, version in manifest.packages.items()),
    ]
    return facts(("what", "value"), [(plain(name), code(value)) for name, value in rows])


def _tokenizer(checkpoint: Path) -> str:
    try:
        return tokenizer_class(checkpoint)
    except (OSError, ValueError, AttributeError):
        return "AutoTokenizer"
