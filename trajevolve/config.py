"""params.yaml -> one frozen RunConfig.

Every choice the paper leaves open is a field here with its default; ``preset: paper`` sets each
field to the paper's published value where it has one (paper §5.1 and appendix B).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from trajevolve.credentials import tells_secret
from trajevolve.errors import UserError
from trajevolve.presets import ENVIRONMENTS, METHODS, PRESETS
from trajevolve.wording import did_you_mean
from trajevolve.yaml_text import read_params, read_yaml, shown

SECRET = "secret"
"""Type of the error whose input is not to be repeated."""

# What can change between two starts of a run; what the run computes cannot.
MUTABLE = frozenset({"tracking", "versioning", "iterations", "env.step_timeout_s", "env.workers"})
# Keys that did not exist from the start, and the values at which they hash as if they did not, so
# that older runs go on.
ADDED: Mapping[tuple[str, str], Any] = {
    ("env", "options"): {},
    ("credit", "exploration_neutral"): False,
    ("credit", "invalid_advantage"): None,
}

Positive = Annotated[int, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
NonNegative = Annotated[float, Field(ge=0.0)]


class Section(BaseModel):
    """A part of the configuration: frozen, finite, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class EnvConfig(Section):
    """Which tasks, and how long an episode may be."""

    name: str = Field("alfworld", description="registered environment or module:attribute")
    backend: Literal["simulator", "engine"] = "simulator"
    data: str | None = Field(None, description="data folder; null: $ALFWORLD_DATA, then data/")
    split: str = Field("generated:train", description="tasks to train on")
    difficulty: str = Field("default", description="of generated tasks")
    options: dict[str, str | int | float | bool] = Field(
        {}, description="what else the environment takes, by name (simplifications: easy)"
    )
    workers: Positive | None = Field(
        None, description="processes of an environment that needs some; null: its own choice"
    )
    step_limit: Positive = Field(30, description="steps of an episode, evolved ones included")
    step_timeout_s: float | None = Field(
        120.0, ge=0, description="longest answer to a reset or step in seconds; 0: wait for ever"
    )
    success_reward: float = 10.0
    invalid_penalty: NonNegative = 0.1


class ModelConfig(Section):
    """The policy's language model."""

    name: str = Field("builtin", description="builtin, or a local folder in Hugging Face layout")
    dtype: Literal["float32", "bfloat16"] = "float32"
    device: str = "auto"
    backend: Literal["transformers"] = "transformers"


class AgentConfig(Section):
    """How prompts are laid out and answers are read."""

    layout: Literal["window", "dialogue"] = "dialogue"
    answer: Literal["action", "tagged"] = Field(
        "action", description="action: the answer is the action alone; tagged: <think>, <action>"
    )
    history_length: int = Field(2, ge=0, description="pairs shown by the window layout")
    max_prompt_tokens: Positive = 2048
    max_response_tokens: Positive = 24
    compatibility: Literal["strict", "verl_agent_compat"] = "strict"


class RolloutConfig(Section):
    """How much is sampled in one iteration."""

    groups: Positive = 8
    group_size: int = Field(8, ge=2, description="N")
    temperature: float = Field(1.0, gt=0)


class CreditConfig(Section):
    """Hindsight verification and what its labels do (paper §3.2, §3.3)."""

    mode: Literal["cumulative", "independent"] = "cumulative"
    order: Literal["backward", "forward"] = "backward"
    loop_prepass: bool | None = Field(
        None, description="remove loops of exact states first; null: with backward order"
    )
    alpha: NonNegative = Field(1.0, description="α of the shaped reward")
    lam: NonNegative = Field(0.5, description="λ, weight of the step advantage")
    step_advantage: Literal["signed", "penalty", "centred"] = "signed"
    failed_step_credit: bool = True
    invalid_advantage: float | None = Field(
        None,
        le=0,
        description="A^S of an invalid step, beyond the paper; null: that of its label",
    )
    exploration_neutral: bool = Field(
        False,
        description="A^S = 0 for steps that look for the task's object before it is seen; beyond "
        "the paper",
    )


class DiscriminatorConfig(Section):
    """The LoRA discriminator D_φ (paper §3.2, appendix B.2)."""

    enabled: bool = True
    model: str = Field("builtin", description="builtin, or a local folder")
    adapter: str | None = Field("builtin", description="builtin, a folder, or null: untrained")
    lora_rank: Positive = 16
    lora_alpha: Positive = 32
    lr: float = Field(1e-5, gt=0)
    epochs: Positive = 1
    batch_size: Positive = Field(8, description="trajectories a batch")
    hidden_tail_share: Fraction = Field(
        0.5, description="share of training successes shown with their last steps hidden"
    )
    class_weights: Literal["balanced", "none"] = "balanced"
    scored: int = Field(
        16,
        ge=0,
        description="trajectories its predictions are scored on: successes every iteration, "
        "failures every F iterations where plan distances can be computed",
    )


class EvolutionConfig(Section):
    """Trajectory evolution (paper §3.4)."""

    enabled: bool = True
    every: Positive = Field(5, description="F, in iterations")
    per_group: Positive = Field(2, description="trajectories evolved per group")
    strategies: tuple[Literal["elimination", "correction", "rollback"], ...] = (
        "elimination",
        "correction",
        "rollback",
    )
    min_similarity: Fraction = 0.5
    membership: Literal["enlarge", "replace"] = "enlarge"
    keep_failed: bool = False
    oracle_rollback: bool = False


class LearnerConfig(Section):
    """The policy update (paper §3.3)."""

    lr: float = Field(1e-6, gt=0)
    epochs: Positive = 1
    mini_batch_steps: Positive = Field(256, description="steps per optimiser step")
    clip: float = Field(0.2, gt=0, lt=1, description="ε")
    kl: NonNegative = Field(0.01, description="weight of the k3 KL to the reference")
    ratio: Literal["token", "step"] = "token"
    aggregation: Literal["trajectory-mean", "step-mean", "token-mean"] = "trajectory-mean"
    ddof: Literal[0, 1] = Field(0, description="of the group's standard deviation")
    max_grad_norm: float = Field(1.0, gt=0)
    weight_decay: NonNegative = 0.0
    tokens_per_batch: Positive = Field(16384, description="padded tokens of one forward pass")
    max_bad_steps: Positive = Field(5, description="non-finite updates in a row before stopping")


class EvaluationConfig(Section):
    """Fixed panels, every task once."""

    every: int = Field(0, ge=0, description="iterations between selections; 0: at the end only")
    panel: str = Field("generated:eval", description="the reported panel")
    panel_size: Positive = 200
    selection: str = Field("generated:select", description="chooses the best checkpoint")
    selection_size: Positive = 64
    temperature: float = Field(0.4, ge=0)


class CheckpointConfig(Section):
    """Which checkpoints stay."""

    keep_last: Positive = 2
    keep_best: Positive = 1


class TrackingConfig(Section):
    """What shows a run: MLflow, written to and never read, and a page of trajectories."""

    enabled: bool = True
    uri: str = "sqlite:///mlflow.db"
    artifacts: str = "mlruns"
    experiment: str = "trajevolve"
    traces_per_iteration: int = Field(0, ge=0)
    page: bool = Field(True, description="write trajectories.html into the run's folder at its end")

    @field_validator("uri", "artifacts")
    @classmethod
    def _holds_no_password(cls, uri: str) -> str:
        """Refuse what the run would write down in its manifest, its parameters and its logs."""
        if tells_secret(uri):
            raise PydanticCustomError(
                SECRET,
                "a user or password in it would be kept with the run in clear; leave it out and "
                "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD (of a database: its "
                "own variables, PGPASSWORD for instance)",
            )
        return uri


class VersioningConfig(Section):
    """DVC: Parquet shards of the run."""

    enabled: bool = True
    every: Positive = 5


class RunConfig(Section):
    """Everything a run depends on."""

    schema_version: Literal[1] = 1
    preset: Literal["default", "paper", "verl_agent_compat"] = "default"
    method: str = Field("trajevolve", description="advantage estimator")
    seed: int = Field(0, ge=0)
    iterations: int = Field(40, ge=0, le=100_000)
    threads: int = Field(0, ge=0, description="torch threads; 0: all cores")
    env: EnvConfig = EnvConfig()
    model: ModelConfig = ModelConfig()
    agent: AgentConfig = AgentConfig()
    rollout: RolloutConfig = RolloutConfig()
    credit: CreditConfig = CreditConfig()
    discriminator: DiscriminatorConfig = DiscriminatorConfig()
    evolution: EvolutionConfig = EvolutionConfig()
    learner: LearnerConfig = LearnerConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()
    tracking: TrackingConfig = TrackingConfig()
    versioning: VersioningConfig = VersioningConfig()

    def digest(self) -> str:
        """Hash what decides the result of a stage.

        Where a run is tracked or versioned does not, nor does when it ends: it can be extended.
        How long an environment may take depends on the machine.
        """
        content = self.model_dump(mode="json")
        for (section, name), unset in ADDED.items():
            if content[section][name] == unset:
                del content[section][name]
        for key in MUTABLE:
            section, _, name = key.rpartition(".")
            (content[section] if section else content).pop(name)
        return hashlib.md5(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_config(
    path: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    under: Sequence[str] = (),
    over: Sequence[str] = (),
) -> RunConfig:
    """Read params.yaml, lay it over its preset, and apply ``a.b=value`` overrides.

    Args:
        path: the file; None: the defaults.
        overrides: values of --set, which a mistake in one of them names.
        under: the same from elsewhere, as from a record; lies under `overrides`.
        over: the same from elsewhere, as from other options; lies over `overrides`.

    Raises:
        UserError: the file cannot be read, a key is unknown or a value is out of range; the text
            names the key and what is allowed.
    """
    content = read_params(path) if path else {}
    source = str(path) if path else "the command line"
    for setting in under:
        _apply_override(content, setting)
    origins = {_apply_override(content, each): f"--set {_key(each)}" for each in overrides}
    origins |= {_apply_override(content, each): "the command line" for each in over}
    return _parse(content, source, origins)


def parse_config(content: Mapping[str, Any], source: str = "the configuration") -> RunConfig:
    """Validate a plain mapping. Raises UserError like :func:`load_config`."""
    return _parse(content, source, {})


def _parse(
    content: Mapping[str, Any], source: str, origins: Mapping[tuple[str, ...], str]
) -> RunConfig:
    """Validate `content`, which is of `source` but for the keys of `origins`."""
    preset = content.get("preset", "default")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise UserError(
            f"{origins.get(('preset',), source)}: preset: {shown(preset)} is unknown; "
            f"allowed: {', '.join(PRESETS)}"
        )
    try:
        base = _merge(PRESETS[preset], ENVIRONMENTS.get(_environment(content), {}))
        base = _merge(base, METHODS.get(str(content.get("method")), {}))
        return RunConfig.model_validate(_merge(base, content))
    except ValidationError as error:
        location = error.errors()[0]["loc"]
        raise UserError(f"{_origin(location, source, origins)}: {_explain(error)}") from None


def _origin(
    location: tuple[int | str, ...], source: str, origins: Mapping[tuple[str, ...], str]
) -> str:
    """Say where the value at `location` comes from; a mistake may show above the key itself."""
    for names, origin in reversed(list(origins.items())):
        if all(one == other for one, other in zip(names, location, strict=False)):
            return origin
    return source


def _environment(content: Mapping[str, Any]) -> str:
    env = content.get("env")
    return str(env.get("name")) if isinstance(env, Mapping) else ""


def _key(override: str) -> str:
    return override.partition("=")[0]


def _apply_override(content: dict[str, Any], override: str) -> tuple[str, ...]:
    """Set one value in `content` and return where."""
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise UserError(f"--set {override!r}: expected a.b=value, for instance rollout.groups=4")
    names = key.split(".")
    section = getattr(RunConfig(), key, None)
    if isinstance(section, Section):
        keys = list(type(section).model_fields)
        if "name" not in keys:
            raise UserError(
                f"--set {override!r}: {key} has keys of its own; name one, as in "
                f"{key}.{keys[0]}=...; they are {', '.join(keys)}"
            )
        names.append("name")
    node = content
    for name in names[:-1]:
        child = node.setdefault(name, {})
        if not isinstance(child, dict):
            raise UserError(f"--set {override!r}: {name} has no keys below it")
        node = child
    node[names[-1]] = read_yaml(value, f"--set {override!r}")
    return tuple(names)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _explain(error: ValidationError) -> str:
    """Turn the first problem into one line that names the key and what is allowed."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == SECRET:
        return f"{key}: {first['msg']}"
    if first["type"] != "extra_forbidden":
        return f"{key}: {first['msg']}, got {shown(first['input'])}"
    known = list(_section_at(first["loc"][:-1]).model_fields)
    hint = did_you_mean(str(first["loc"][-1]), known)
    return f"unknown key {key!r}; {hint}allowed here: {', '.join(known)}"


def _section_at(location: tuple[int | str, ...]) -> type[BaseModel]:
    section: type[BaseModel] = RunConfig
    for name in location:
        annotation = section.model_fields[str(name)].annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            section = annotation
    return section
