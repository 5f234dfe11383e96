"""Files that others made are data, never code; names never reach a shell; secrets stay outside."""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trajevolve.cli.main import main
from trajevolve.config import ModelConfig, load_config
from trajevolve.credentials import tells_secret
from trajevolve.errors import UserError
from trajevolve.models.loading import BUILTIN

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for folder in ("trajevolve", "flows", "tasks", "benchmarks", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
GAME = "generated/eval/default/0/0-pick_and_place_simple"
PICKLERS = frozenset({"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"})
SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
SAFE_LOADERS = frozenset({"yaml.SafeLoader", "yaml.CSafeLoader", "_Loader"})


# The source.


def dangers(source: str) -> Iterator[str]:
    """Name every construct in `source` that could run what a file or a name says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            for name in [module or "", *(alias.name for alias in node.names)]:
                if name.partition(".")[0] in PICKLERS:
                    yield f"line {node.lineno}: import of {name}"
        if isinstance(node, ast.Call):
            problem = _danger(ast.unparse(node.func), node)
            if problem:
                yield f"line {node.lineno}: {problem}"


def _danger(function: str, call: ast.Call) -> str:
    options = {word.arg: ast.unparse(word.value) for word in call.keywords}
    last = function.rpartition(".")[2]
    if function in {"eval", "exec", "compile", "__import__"} or function in SHELLS:
        return function
    if options.get("shell", "False") != "False":
        return f"{function} with a shell"
    if options.get("allow_pickle", "False") != "False" or last == "read_pickle":
        return f"{function} of pickles"
    if function == "torch.load" and options.get("weights_only") != "True":
        return "torch.load of pickles"
    if function in {"yaml.load", "yaml.load_all"}:
        loader = options.get("Loader") or (ast.unparse(call.args[1]) if call.args[1:] else "")
        return "" if loader in SAFE_LOADERS else "yaml.load of objects"
    if last in {"unsafe_load", "full_load"}:
        return function
    return _model_danger(function, options) if last == "from_pretrained" else ""


def _model_danger(function: str, options: dict[str, str]) -> str:
    if options.get("trust_remote_code", "False") != "False":
        return f"{function} of a model's own code"
    if "Model" in function and options.get("use_safetensors") != "True":
        return f"{function} of pickled weights"
    return ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_source_runs_nothing_that_a_file_says(path: Path) -> None:
    assert list(dangers(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "bad",
    [
        "import pickle",
        "from joblib import load",
        "import numpy, cloudpickle as c",
        "eval(text)",
        "exec(text)",
        "os.system('ls ' + name)",
        "subprocess.run(command, shell=True)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
        "yaml.load(text)",
        "yaml.load(text, yaml.Loader)",
        "yaml.unsafe_load(text)",
        "AutoModelForCausalLM.from_pretrained(path)",
        "AutoTokenizer.from_pretrained(path, trust_remote_code=True)",
    ],
)
def test_such_source_would_be_found(bad: str) -> None:
    assert len(list(dangers(bad))) == 1


@pytest.mark.parametrize(
    "good",
    [
        "subprocess.run([git, name])",
        "torch.load(path, weights_only=True)",
        "yaml.safe_load(text)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "model.eval()",
        "AutoModel.from_pretrained(path, use_safetensors=True, trust_remote_code=False)",
    ],
)
def test_other_source_is_fine(good: str) -> None:
    assert list(dangers(good)) == []


def test_models_are_loaded_from_safetensors_and_without_their_code() -> None:
    tree = ast.parse((ROOT / "trajevolve" / "models" / "loading.py").read_text())
    calls = [
        {word.arg: ast.unparse(word.value) for word in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".from_pretrained")
    ]
    assert len(calls) == 2
    assert all(options["trust_remote_code"] == "False" for options in calls)
    assert [options.get("use_safetensors") for options in calls].count("True") == 1


# Pickles in the place of files that commands read.


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.marker),)


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A path that must never appear, with the working directory beside it."""
    path = tmp_path / "marker"
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    yield path
    assert not path.exists(), "somebody ran the payload"


def test_the_payload_works(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Payload(tmp_path / "marker")))
    assert (tmp_path / "marker").is_dir()


STATE = (
    "manifest.json",
    "params.yaml",
    "summary.json",
    "metrics.jsonl",
    "iter_0000/rollout/commit.json",
    "iter_0000/rollout/metrics.json",
    "iter_0000/update/commit.json",
    "iter_0000/update/checkpoint/checkpoint.json",
    "iter_0000/update/checkpoint/config.json",
    "iter_0000/update/checkpoint/pytorch_model.bin",
    "iter_0000/update/checkpoint/model.safetensors",
    "iter_0000/update/checkpoint/optimizer.safetensors",
    "iter_0000/update/checkpoint/random.safetensors",
    "iter_0000/update/checkpoint/tokenizer.json",
    "shards/iter_0000_rollout.parquet",
)
READERS = {
    "report": ["report", "mine"],
    "export model": ["export", "mine", "--as", "model", "--out", "out"],
    "export sft": ["export", "mine", "--as", "sft", "--out", "out.jsonl"],
    "gc": ["gc", "mine", "--shards"],
    "train": ["train", "--run", "mine", "--dry-run"],
    "train again": ["train", "--config", "runs/mine/params.yaml", "--dry-run"],
    "play": ["play", "--env", "alfworld", "--task", "runs/mine/manifest.json"],
    "evaluate": ["evaluate", "--policy", "random", "--split", "train", "--data", "data"],
    "verify": ["verify", "--env", "alfworld", "--input", "runs/mine/manifest.json"],
}


@pytest.mark.parametrize("real", [False, True], ids=["pickles alone", "in a real run"])
@pytest.mark.parametrize("command", READERS)
def test_a_pickle_in_the_place_of_a_file_is_not_run(
    command: str, real: bool, marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    payload = pickle.dumps(Payload(marker))
    run = Path("runs/mine")
    for name in STATE:
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(payload)
    for name in ("train.tar", "train.tar.zst", "train.parquet"):
        Path("data").mkdir(exist_ok=True)
        (Path("data") / name).write_bytes(payload)
    if real:
        from trajevolve.manifest import open_run

        (run / "manifest.json").unlink()
        shutil.rmtree(run / "iter_0000")
        open_run(run, load_config())
    status = main(READERS[command])
    assert status in ((0, 1, 2) if real else (1, 2))
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors", "training_args.bin"])
def test_a_model_with_a_pickle_in_it_is_not_run(name: str, marker: Path) -> None:
    from trajevolve.models.loading import load_policy

    folder = Path("model")
    shutil.copytree(BUILTIN / "alfworld" / "policy", folder)
    if name != "training_args.bin":
        (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps(Payload(marker)))
    if name == "training_args.bin":
        load_policy(ModelConfig(name=str(folder)))
        return
    with pytest.raises(UserError, match="cannot be loaded"):
        load_policy(ModelConfig(name=str(folder)))


def test_the_code_of_a_model_is_not_run(marker: Path) -> None:
    from trajevolve.models.loading import load_policy

    folder = Path("model")
    shutil.copytree(BUILTIN / "alfworld" / "policy", folder)
    (folder / "code.py").write_text(f"import os\nos.mkdir({str(marker)!r})\n")
    for file in ("config.json", "tokenizer_config.json"):
        content = json.loads((folder / file).read_text())
        content["auto_map"] = {
            "AutoConfig": "code.Config",
            "AutoModelForCausalLM": "code.Model",
            "AutoTokenizer": ["code.Tokenizer", None],
        }
        (folder / file).write_text(json.dumps(content | {"model_type": "mine"}))
    with pytest.raises(UserError, match="cannot be loaded"):
        load_policy(ModelConfig(name=str(folder)))


# Names.

NASTY = (
    "$(mkdir ../marker)",
    "; mkdir ../marker",
    "x\nmkdir ../marker",
    "../../marker",
    "--config",
    "x" * 5000,
)


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize(
    "place", ["run", "model", "config", "data", "env", "task", "split", "input"]
)
def test_a_name_is_a_name_and_nothing_else(
    name: str, place: str, marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = {
        "run": ["train", "--dry-run", f"--run={name}"],
        "model": ["train", f"--set=model.name={json.dumps(name)}"],
        "config": ["estimate", f"--config={name}"],
        "data": ["play", "--env=alfworld", "--task=valid_seen/a/b", f"--data={name}"],
        "env": ["play", f"--env={name}:{name}", "--task=1"],
        "task": ["play", "--env=alfworld", f"--task={name}"],
        "split": ["evaluate", "--policy=random", f"--split={name}", "--data=."],
        "input": ["verify", "--env=alfworld", f"--input={name}"],
    }
    assert main(commands[place]) == 2
    captured = capsys.readouterr()
    assert len([line for line in captured.err.splitlines() if line.startswith("error: ")]) == 1
    assert "Traceback" not in captured.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["a; mkdir ..marker", "$(mkdir marker)", "a\nb", "--data"])
def test_a_folder_with_such_a_name_works(
    name: str, marker: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trajevolve.manifest import git_state

    Path(name).mkdir()
    assert main(["generate", "--count=1", f"--out={name}/valid_seen"]) == 0
    (game,) = Path(name).rglob("game.tw-pddl")
    assert git_state(Path(name)) == ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"look\n")))
    assert main(["play", "--env=alfworld", f"--task={game}", f"--data={name}"]) == 0
    assert [path.name for path in Path().iterdir()] == [name]


# Secrets.


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("sqlite:///mlflow.db", False),
        ("sqlite:////home/me@work/mlflow.db", False),
        ("mlruns", False),
        ("s3://bucket/folder", False),
        ("http://127.0.0.1:5000", False),
        ("postgresql://me@host/db", False),
        ("http://me:hunter2@host", True),
        ("HTTPS://token@host/x", True),
        ("postgresql+psycopg2://me:hunter2@host/db", True),
        ("postgresql://host/db?user=me&password=hunter2", True),
        ("https://host/?access_token=1", True),
        ("http://[broken@host", True),
    ],
)
def test_an_address_with_a_password_is_known(address: str, secret: bool) -> None:
    assert tells_secret(address) is secret


@pytest.mark.parametrize("key", ["tracking.uri", "tracking.artifacts"])
@pytest.mark.parametrize("command", ["train", "estimate"])
def test_a_password_in_an_address_is_refused_and_not_repeated(
    command: str, key: str, marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--set", f"{key}=http://me:hunter2@host"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: --set {key}: ")
    assert "MLFLOW_TRACKING_PASSWORD" in err
    assert "hunter2" not in err
    assert list(Path().iterdir()) == []


MARK = "sEcReT0815"
SECRETS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "HF_TOKEN",
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_TRACKING_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "PREFECT_API_KEY",
    "WANDB_API_KEY",
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_run_leaves_no_secret_anywhere(tmp_path: Path) -> None:
    from toys.training import make_model, toy_config

    make_model(tmp_path / "model")
    tracked = {"enabled": True, "traces_per_iteration": 1}
    changes = {"iterations": 1, "tracking": tracked, "versioning": {"enabled": True, "every": 1}}
    config = toy_config(tmp_path / "model", **changes)
    (tmp_path / "config.json").write_text(config.model_dump_json())
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    secrets = {name: f"{MARK}-{name}" for name in SECRETS}
    done = subprocess.run(
        [sys.executable, "-m", "toys.training", "config.json", "mine"],
        cwd=tmp_path,
        env={**kept, **secrets, "PYTHONPATH": str(Path(__file__).parent), "HOME": str(tmp_path)},
        capture_output=True,
        timeout=1700,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"manifest.json", "mlflow.db", "server.log", "prefect.db"} <= names
    assert {"model_card.md", "README.md", "trajectories.html"} <= names
    assert any(".dvc" in path.parts for path in files)
    leaks = [str(path) for path in files if MARK.encode() in path.read_bytes()]
    assert leaks == []
    assert MARK.encode() not in done.stdout + done.stderr


# Archives.


def archive_with(*members: tarfile.TarInfo, data: bytes = b"{}") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for member in members:
            if member.isfile():
                member.size = len(data)
            tar.addfile(member, io.BytesIO(data) if member.isfile() else None)
    return stream.getvalue()


def link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_an_archive_is_read_and_never_unpacked(
    tmp_path: Path, marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--count=1", "--out=made"]) == 0
    (game,) = Path("made").rglob("game.tw-pddl")
    data = game.read_bytes()
    shutil.rmtree("made")
    secret = tmp_path / "secret" / "game.tw-pddl"
    secret.parent.mkdir()
    secret.write_bytes(data)
    plain = [
        tarfile.TarInfo(f"{start}train/task/trial{number}/game.tw-pddl")
        for number, start in enumerate(("", "../../../", f"{tmp_path}/abs/", "a/../../b/"))
    ]
    links = [
        link("train/task/symbolic/game.tw-pddl", str(secret), tarfile.SYMTYPE),
        link("train/task/hard/game.tw-pddl", str(secret), tarfile.LNKTYPE),
        link("train/task/device/game.tw-pddl", "", tarfile.CHRTYPE),
        link("train/task/pipe/game.tw-pddl", "", tarfile.FIFOTYPE),
    ]
    Path("train.tar").write_bytes(archive_with(*plain, *links, data=data))
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    options = ["--policy=random", "--split=train", "--data=.", "--limit=1", "--json"]
    assert main(["evaluate", *options]) == 0
    # The four plain members are games, whatever they are called; nothing else is looked at.
    assert json.loads(capsys.readouterr().out)["overall"]["tasks"] == len(plain)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_module_in_the_folder_of_the_data_is_not_imported(marker: Path) -> None:
    Path("zstandard.py").write_text(f"import os\nos.mkdir({str(marker)!r})\n")
    Path("train.tar.zst").write_bytes(b"no archive")
    command = "import sys; from trajevolve.cli.main import main; sys.exit(main(sys.argv[1:]))"
    options = ["play", "--env=alfworld", "--task=train/a/b", "--data=."]
    done = subprocess.run(
        [sys.executable, "-P", "-c", command, *options], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
