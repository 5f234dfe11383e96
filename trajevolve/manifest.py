"""A run's identity: its folder, its configuration, where its traces are, and its lock.

``runs/<run id>/manifest.json`` ties together what the other tools know under names of their own:
git commit, data hashes, Prefect flow runs, MLflow run, package versions.
"""

from __future__ import annotations

import fcntl
import logging
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import yaml

from trajevolve.config import MUTABLE, RunConfig, parse_config
from trajevolve.errors import UserError
from trajevolve.files import make_folder, read_record, write_atomically, write_record, writing

MANIFEST_VERSION = 2
READ_VERSIONS = (1, MANIFEST_VERSION)  # 1 has no `later`
PARAMS_FILE = "params.yaml"
PACKAGES = (
    "trajevolve",
    "torch",
    "transformers",
    "peft",
    "numpy",
    "pyarrow",
    "prefect",
    "mlflow-skinny",
    "mlflow",
    "dvc",
)
REMEDY = "restore it from a backup, or start another run with --run NAME"
RUNS = Path("runs")
RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Manifest:
    """Lineage of one run.

    Attributes:
        run: name of the run, the name of its folder.
        config: the configuration as plain data.
        config_digest: :meth:`trajevolve.config.RunConfig.digest`.
        git: commit of the working tree, "" outside git; ``+changes`` where it was not clean.
        data: name -> digest of the data used (task manifests, shards).
        flow_runs: Prefect's ids, one per start.
        mlflow_run: MLflow's run id, "" when tracking is off.
        packages: name -> installed version.
        python: version and platform.
        later: what of `git`, `packages` and `python` was otherwise when the run was taken up
            again, one mapping of those names to the new values a change, from oldest to newest.
    """

    run: str
    config: Mapping[str, Any]
    config_digest: str
    git: str = ""
    data: Mapping[str, str] = field(default_factory=dict)
    flow_runs: tuple[str, ...] = ()
    mlflow_run: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    later: tuple[Mapping[str, Any], ...] = ()


def run_folder(name: str, project: Path = Path()) -> Path:
    """Return ``runs/<name>`` of `project`. Raises UserError when `name` is none for a folder."""
    _check_name(name)
    return project / RUNS / name


def _check_name(name: str) -> None:
    if not RUN_NAME.fullmatch(name):
        raise UserError(
            f"--run {name!r}: expected a name of letters, digits, '.', '_' and '-', no path"
        )


def open_run(run_dir: Path, config: RunConfig) -> Manifest:
    """Start a run in `run_dir`, or take up the one that is there, with more iterations if asked.

    Raises:
        UserError: see :func:`check_run`.
    """
    there = check_run(run_dir, config)
    write_params(run_dir, config)
    if there is not None:
        return _taken_up(run_dir, there, config.iterations)
    manifest = Manifest(
        run=run_dir.name,
        config=config.model_dump(mode="json"),
        config_digest=config.digest(),
        **_software(),
    )
    save_manifest(run_dir, manifest)
    return manifest


def _taken_up(run_dir: Path, there: Manifest, iterations: int) -> Manifest:
    """Note what is not as it was when the run was begun or taken up last."""
    manifest = replace(there, config={**there.config, "iterations": iterations})
    known: dict[str, Any] = {"git": there.git, "packages": there.packages, "python": there.python}
    for change in there.later:
        known |= change
    changed = {name: value for name, value in _software().items() if value != known[name]}
    if changed:
        log.warning(
            "%s goes on with other software than before: %s differs (%s has both)",
            run_dir.name,
            ", ".join(_differing(known, changed)),
            run_dir / "manifest.json",
        )
        manifest = replace(manifest, later=(*there.later, changed))
    if manifest != there:
        save_manifest(run_dir, manifest)
    return manifest


def _software() -> dict[str, Any]:
    return {
        "git": git_state(Path.cwd()),
        "packages": installed_versions(),
        "python": f"{platform.python_version()} on {platform.platform()}",
    }


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, value in new.items():
        if name != "packages":
            yield name
            continue
        packages = {**old[name], **value}
        yield from (each for each in packages if old[name].get(each) != value.get(each))


def check_run(run_dir: Path, config: RunConfig) -> Manifest | None:
    """Return the manifest of the run that is there, None where there is none; change nothing.

    Raises:
        UserError: the folder holds a run of another configuration (the text names the first key
            that differs) or of more iterations, or something that is no run; or its name is none
            of a run.
    """
    _check_name(run_dir.name)
    path = run_dir / "manifest.json"
    if not path.is_file():
        if any(run_dir.glob("iter_*")):
            raise UserError(
                f"{path}: missing, though the folder holds iterations; use another --run name"
            )
        return None
    manifest = load_manifest(run_dir)
    started = parse_config(manifest.config, source=str(path))  # keys of after it as default
    difference = first_difference(started.model_dump(mode="json"), config.model_dump(mode="json"))
    if difference is not None:
        key, there, here = difference
        raise UserError(
            f"{path}: this run was started with {key}={there!r}, now it is {here!r}; "
            "set it back, or start another run with --run NAME"
        )
    if config.iterations < manifest.config["iterations"]:
        raise UserError(
            f"{path}: this run has iterations={manifest.config['iterations']}, more than "
            f"{config.iterations}; a run can only get longer"
        )
    return manifest


def write_params(run_dir: Path, config: RunConfig) -> Path:
    """Write the whole configuration as ``params.yaml`` of the run, and return its path."""
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    path = run_dir / PARAMS_FILE
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))
    return path


def load_manifest(run_dir: Path) -> Manifest:
    """Read a run's manifest. Raises UserError naming the file when it cannot."""
    path = run_dir / "manifest.json"
    try:
        return read_record(path, READ_VERSIONS, _manifest, remedy=REMEDY)
    except FileNotFoundError:
        raise UserError(f"{run_dir}: not a run (no manifest.json); runs lie in runs/") from None


def save_manifest(run_dir: Path, manifest: Manifest) -> None:
    """Write the manifest atomically, with the hash of its content."""
    write_record(run_dir / "manifest.json", MANIFEST_VERSION, asdict(manifest))


def update_manifest(run_dir: Path, **changes: Any) -> Manifest:
    """Replace fields of the stored manifest and return it."""
    manifest = replace(load_manifest(run_dir), **changes)
    save_manifest(run_dir, manifest)
    return manifest


def _manifest(content: dict[str, Any]) -> Manifest:
    lists = {name: tuple(content.get(name, ())) for name in ("flow_runs", "later")}
    return Manifest(**content | lists)


def first_difference(
    there: Mapping[str, Any], here: Mapping[str, Any], prefix: str = ""
) -> tuple[str, Any, Any] | None:
    """Find the first key (dotted) whose values differ, in the order of `here`.

    What does not decide the result of a stage is left out.
    """
    for key in [*here, *(key for key in there if key not in here)]:
        if f"{prefix}{key}" in MUTABLE:
            continue
        old, new = there.get(key), here.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            below = first_difference(old, new, f"{prefix}{key}.")
            if below is not None:
                return below
        elif old != new:
            return f"{prefix}{key}", old, new
    return None


class RunLock(AbstractContextManager["RunLock"]):
    """At most one process works on a run.

    The lock is the kernel's (``flock``), so it is gone when its process is, however it ended; the
    process id in the file is only for the message.
    """

    def __init__(self, run_dir: Path) -> None:
        """Name the run; the lock is taken on entering."""
        self._path = run_dir / "lock"
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> RunLock:
        """Take the lock. Raises UserError when another process holds it."""
        make_folder(self._path.parent)
        with writing(self._path):
            stream = self._path.open("a+b", buffering=0)  # nothing is left to write on closing
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().decode(errors="replace").strip() or "unknown"
            stream.close()
            raise UserError(
                f"{self._path.parent}: process {holder} is working on this run; wait for it or "
                "use another --run name"
            ) from None
        self._stream = stream
        try:
            with writing(self._path):
                stream.truncate(0)
                stream.write(f"{os.getpid()}\n".encode())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """Let it go."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def git_state(folder: Path) -> str:
    """Name the commit checked out in `folder`, with ``+changes`` when files differ from it."""
    sha = _git(folder, "rev-parse", "HEAD")
    if not sha:
        return ""
    return sha + ("+changes" if _git(folder, "status", "--porcelain", "-uno") else "")


def installed_versions() -> dict[str, str]:
    """List the versions of the packages that decide results or write files."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _git(folder: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()
