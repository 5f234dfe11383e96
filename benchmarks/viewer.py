"""How long a viewer page of 2,000 trajectories takes to write, and to open in Chromium.

250 generated games, 8 episodes of a clumsy expert each, at most 30 steps, all evidence. Opening is
measured from the start of the navigation until the second frame after the list and the first
trajectory, with its evidence, were put into the page. Needs selenium, chromium and chromedriver.

    python benchmarks/viewer.py [--page PAGE.html] [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.alfworld.clumsy import ClumsyExpert
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory
from trajevolve.viewer.collect import document, gather_evidence
from trajevolve.viewer.page import write_page
from trajevolve.viewer.source import Source

GAMES, MEMBERS, LIMIT, AT_ONCE = 250, 8, 30, 25
SHOWN = "const [mark] = performance.getEntriesByName('shown'); return mark ? mark.startTime : 0"


def record() -> list[Trajectory]:
    """Play and verify the trajectories."""
    env = AlfworldEnvironment()
    tasks = env.tasks("generated:train", GAMES, 0)
    trajectories: list[Trajectory] = []
    for first in range(0, GAMES, AT_ONCE):
        some = tasks[first : first + AT_ONCE]
        episodes = [
            Episode(
                f"{first // AT_ONCE:04d}/{number:02d}/{member}", task, derive_seed(task.id, member)
            )
            for number, task in enumerate(some)
            for member in range(MEMBERS)
        ]
        played = play(episodes, ClumsyExpert(), AlfworldEnvironment, EnvConfig(step_limit=LIMIT))
        labelled, _ = verify_trajectories(env, {t.id: t for t in some}, played, CreditConfig())
        trajectories += labelled
        print(f"played {len(trajectories)}", file=sys.stderr)
    return trajectories


def write(path: Path) -> dict[str, float]:
    """Write the page and say what that cost."""
    trajectories = record()
    iterations = {each.id: int(each.id[:4]) for each in trajectories}
    source = Source("benchmark", trajectories, iterations, AlfworldEnvironment())
    started = time.process_time()
    evidence = gather_evidence(source, "all")
    replayed = time.process_time()
    size = write_page(path, document(source, evidence, "all"))
    return {
        "trajectories": len(trajectories),
        "steps": sum(map(len, trajectories)),
        "replays": sum(len(each.counterfactuals) for each in evidence.values()),
        "evidence_cpu_s": round(replayed - started, 2),
        "write_cpu_s": round(time.process_time() - replayed, 2),
        "megabytes": round(size / 1e6, 2),
    }


def open_page(path: Path, repeats: int) -> list[float]:
    """Return the milliseconds that each opening took, in a fresh browser."""
    taken = []
    for _ in range(repeats):
        options = ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
            options.add_argument(argument)
        with Chrome(options=options, service=Service(str(shutil.which("chromedriver")))) as driver:
            driver.get(path.resolve().as_uri())
            taken.append(WebDriverWait(driver, 60).until(lambda tab: tab.execute_script(SHOWN)))
    return taken


def main() -> None:
    """Write, open, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="open this page instead of writing one")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = arguments.page or Path(folder) / "page.html"
        figures = {} if arguments.page else write(page)
        taken = open_page(page, arguments.repeats)
    figures |= {"open_ms_median": round(statistics.median(taken)), "open_ms_max": round(max(taken))}
    if arguments.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:16} {value:>10,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
