"""What MLflow's pages show beyond a run's numbers, and where: descriptions, a table, addresses.

MLflow's pages read tags of these names. Those that begin with "mlflow." are not listed among the
tags of a run or an experiment.
"""

from __future__ import annotations

import json
import shlex

from trajevolve.tracker import Place

SERVERS = ("http://", "https://")
NOTE = "mlflow.note.content"
TABLE = "ablation"

_EXPERIMENT_NOTE = """\
Tag `variant` tells runs apart: the method and the switches thrown against its defaults.

- One run is one training run; `step` is the iteration. Its description says what is switched on,
  where it lies and what came out. Its artifact `README.md` is the model card of its weights, which
  stay in its folder.
- Tag `changed` names all that differs from the preset. Group by `variant` to average over seeds.
- Metrics are called `<stage>/<name>`. `evaluation_before` and `evaluation_after` are both ends of a
  run on the same panel, `evaluation` is the panel that chooses the checkpoint, `seconds` wall time.
- A table of the variants with both ends: add `?viewStateShareKey=ablation` to this page's address.
"""

# Columns of the table, as the runs page calls them, and their widths in pixels.
_COLUMNS = {
    "attributes.`Run Name`": 150,
    "tags.`variant`": 240,
    "tags.`seed`": 60,
    "metrics.`evaluation_before/success`": 200,
    "metrics.`evaluation_after/success`": 200,
    "metrics.`evaluation_after/steps`": 200,
    "metrics.`evaluation_after/redundancy`": 220,
}

EXPERIMENT_TAGS = {
    NOTE: _EXPERIMENT_NOTE,
    "mlflow.experimentKind": "custom_model_development",
    f"mlflow.sharedViewState.{TABLE}": json.dumps(
        {
            "selectedColumns": [name for name in _COLUMNS if not name.startswith("attributes.")],
            "columnOrder": list(_COLUMNS),
            "columnWidths": _COLUMNS,
        }
    ),
}
# What the columns "Source" and "Version" of the runs page show.
SOURCE_TAGS = {"mlflow.source.name": "trajevolve train", "mlflow.source.type": "LOCAL"}
COMMIT = "mlflow.source.git.commit"

# Without it the pages open as those of an application that calls models, where runs are hidden.
_MODE = "workflowType=machine_learning"


def place_of(uri: str, experiment: str, run_id: str) -> Place:
    """Return where a run of the store at `uri` is looked at."""
    page = f"#/experiments/{experiment}/runs/{run_id}?{_MODE}"
    table = f"#/experiments/{experiment}/runs?viewStateShareKey={TABLE}&{_MODE}"
    if uri.startswith(SERVERS):
        base = uri.rstrip("/")
        return Place(f"{base}/{page}", f"{base}/{table}", "", run_id)
    return Place(page, table, f"mlflow ui --backend-store-uri {shlex.quote(uri)}", run_id)
