"""What holds for every command: exit statuses, one line of error, quiet ends, speed of --help."""

import ast
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trajevolve.cli.main import main

ROOT = Path(__file__).parent.parent
COMMANDS = ["train", "evaluate", "generate", "play", "verify", "check-env", "report", "export",
            "view", "estimate", "doctor", "gc", "warmup"]  # fmt: skip
GAME = "generated/eval/default/0/0-pick_and_place_simple"


def start(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "trajevolve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_version_and_help_name_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("trajevolve ")
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in COMMANDS:
        assert f" {command} " in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert "Usage: trajevolve " + command in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["play"], "--env"),
        (["play", "--env", "alfworld"], "--task"),
        (["doctor", "--wrong"], "--wrong"),
        (["verify", "--env", "alfworld", "--input", "x", "--mode", "both"], "--mode"),
        (["play", "--env", "alfworld", "--task", GAME, "--limit", "0"], "--limit"),
        (["play", "--env", "alfworld", "--task", GAME, "--backend", "guess"], "guess"),
        (["play", "--env", "alfworld", "--task", GAME, "--data", "/nowhere"], "/nowhere"),
        (["play", "--env", "chess", "--task", "1"], "chess"),
        (["play", "--env", "alfworld", "--task", "valid_seen/none/none"], "valid_seen/none/none"),
        (["verify", "--env", "alfworld", "--input", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (["evaluate"], "--model"),
        (["evaluate", "--policy", "clever"], "clever"),
        (["evaluate", "--policy", "random", "--split", "generated:nothing"], "generated:nothing"),
        (["evaluate", "--policy", "random", "--tasks", "0"], "--tasks"),
        (["evaluate", "--policy", "random", "--set", "credit.mode=neither"], "credit.mode"),
        (["evaluate", "--policy", "random", "--config", "/nowhere.yaml"], "/nowhere.yaml"),
        (["evaluate", "--model", "/nowhere"], "/nowhere"),
        (["check-env", "no.such.module:Thing"], "no"),
        (["view"], "RUN-OR-FILE"),
        (["report", "n" * 5000], "longer than the name of a file"),
        (["train", "--dry-run", "--set", "iterations=1000000000"], "iterations"),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_status_2(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert named in captured.err


def broken() -> None:
    raise ZeroDivisionError("a defect")


def test_a_defect_is_one_line_and_a_traceback_only_with_debug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check-env", f"{__name__}:broken"]) == 1
    plain = capsys.readouterr().err
    assert plain == (
        "error: ZeroDivisionError: a defect; run again with --debug for the traceback\n"
    )
    assert main(["check-env", f"{__name__}:broken", "--debug"]) == 1
    detailed = capsys.readouterr().err
    assert "Traceback" in detailed
    assert "in broken" in detailed


def test_a_reader_that_leaves_is_no_error() -> None:
    process = start("play", "--env", "alfworld", "--task", GAME, stdin=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    assert process.stdout.readline().startswith(b'{"observation"')
    process.stdout.close()
    process.stdin.write(b"look\n" * 4000)
    process.stdin.close()
    assert process.wait(60) == 130
    assert process.stderr.read() == b""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_is_quiet(number: signal.Signals, status: int) -> None:
    process = start("play", "--env", "alfworld", "--task", GAME, stdin=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait(60) == status
    assert process.stderr.read() == b""


def test_help_costs_about_a_second_of_processor_time() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "trajevolve", "--help"], check=True, stdout=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.0


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from trajevolve.cli.main import main; main(['--help']);"
        "print(sorted({name.partition('.')[0] for name in sys.modules} &"
        "{'torch', 'transformers', 'pandas', 'pyarrow', 'mlflow', 'dvc', 'prefect', 'numpy',"
        "'matplotlib', 'scipy', 'pydantic'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.decode().strip() == "[]"


ALLOWED = {
    "mlflow": {"trajevolve/tracking.py"},
    "dvc": {"trajevolve/versioning.py"},
    "prefect": set(),
    "trajevolve_tasks": set(),
}


def imports(path: Path) -> set[str]:
    """Top-level names of everything a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_the_library_does_not_import_what_drives_it() -> None:
    broken_rules = [
        f"{name} imports {package}"
        for path in (ROOT / "trajevolve").rglob("*.py")
        for package in imports(path) & ALLOWED.keys()
        if (name := path.relative_to(ROOT).as_posix()) not in ALLOWED[package]
    ]
    assert broken_rules == []


def test_only_the_command_line_starts_flows() -> None:
    users = {
        path.relative_to(ROOT / "trajevolve").parts[0]
        for path in (ROOT / "trajevolve").rglob("*.py")
        if "trajevolve_flows" in imports(path)
    }
    assert users <= {"cli"}


def test_every_package_and_data_file_is_installed() -> None:
    folders = {path.parent for path in (ROOT / "trajevolve").rglob("*.py")}
    without = [str(folder) for folder in folders if not (folder / "__init__.py").is_file()]
    assert without == []


def test_flows_and_tasks_are_installed_under_their_own_names() -> None:
    import trajevolve_flows
    import trajevolve_tasks

    assert trajevolve_flows.__file__ and trajevolve_tasks.__file__
    assert os.path.samefile(Path(trajevolve_flows.__file__).parent, ROOT / "flows")
    assert os.path.samefile(Path(trajevolve_tasks.__file__).parent, ROOT / "tasks")
