"""Step labels of trajevolve.credit against a second implementation on the real engine.

Redundant successes of the clumsy expert, on published and generated games of all six types, are
labelled twice: by ``trajevolve.verify`` on the simulator, and by a verifier written apart that
drives libdownward, the planner library under TextWorld. Labels of both modes, D(t), whether the
trajectory succeeds without each step, and the minimal sequence have to be equal. A few of them are
verified by complete naive replay in the whole engine, too: a reset for every omitted step.

    python benchmarks/engine_labels.py [--games 30] [--each 2] [--naive 12 16 20] [--seed 0]

Needs the extra alfworld (``make install EXTRAS=alfworld``). Exit status 1 on a difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from against_engine.games import sample_games
from against_engine.labels import Compared, Replayed, against_downward, against_replay
from against_engine.machines import Engines
from against_engine.record import DEFAULT_DATA, surroundings, write_record
from against_engine.trajectories import LIMIT, Success, clumsy_successes

RECORD = Path(__file__).parents[1] / "docs" / "records" / "engine_labels.json"
ATTEMPTS, REPEATS = 24, 300
NAIVE = (12, 16, 20)


def for_replay(successes: Sequence[Success], lengths: Sequence[int]) -> list[Success]:
    """Choose the success nearest to each length, of a type not chosen yet."""
    chosen: list[Success] = []
    for length in lengths:
        types = {success.game.type for success in chosen}
        others = [success for success in successes if success.game.type not in types]
        chosen += sorted(others, key=lambda success: abs(len(success.actions) - length))[:1]
    return chosen


def summary(compared: Sequence[Compared]) -> dict[str, Any]:
    """Count what was compared on libdownward."""
    steps = [len(one.success.actions) for one in compared]
    modes = compared[0].redundant if compared else {}
    return {
        "trajectories": len(compared),
        "by_type_and_origin": dict(
            sorted(
                Counter(f"{o.success.game.type}, {o.success.game.origin}" for o in compared).items()
            )
        ),
        "step_limit": LIMIT,
        "steps": {"all": sum(steps), "least": min(steps), "most": max(steps)},
        "invalid_steps": sum(one.invalid for one in compared),
        "steps_labelled_0": {mode: sum(one.redundant[mode] for one in compared) for mode in modes},
        "omissions_compared": sum(one.trials for one in compared),
        "cpu_seconds_libdownward": round(sum(one.engine_seconds for one in compared), 1),
    }


def naive(replayed: Replayed) -> dict[str, Any]:
    """Report one naive replay; the ratio leaves set-up out on both sides, or in on both."""
    return {
        "type": replayed.success.game.type,
        "origin": replayed.success.game.origin,
        "steps": len(replayed.success.actions),
        "engine_resets": replayed.resets,
        "engine_steps": replayed.steps,
        "engine_cpu_seconds": round(replayed.engine_seconds, 1),
        "engine_load_cpu_seconds": round(replayed.load_seconds, 2),
        "verify_cpu_milliseconds": round(1000 * replayed.verify_seconds, 3),
        "verify_with_grounding_cpu_milliseconds": round(1000 * replayed.fresh_seconds, 3),
        "ratio": round(replayed.engine_seconds / replayed.verify_seconds),
        "ratio_with_set_up": round(
            (replayed.engine_seconds + replayed.load_seconds) / replayed.fresh_seconds
        ),
    }


def main() -> int:
    """Compare, record, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=30)
    parser.add_argument("--each", type=int, default=2, help="trajectories a game")
    parser.add_argument(
        "--naive", type=int, nargs="*", default=NAIVE, help="lengths of those replayed naively"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    engines = Engines()
    compared: list[Compared] = []
    replayed: list[Replayed] = []
    with tempfile.TemporaryDirectory() as folder:
        games = sample_games(arguments.games, arguments.seed, arguments.data, Path(folder))
        successes = clumsy_successes(games, arguments.each, ATTEMPTS, arguments.seed)
        for one in against_downward(engines, successes):
            compared.append(one)
            _tell(f"{len(compared)}/{len(successes)} libdownward", one.success, one.differences)
        for success in for_replay(successes, arguments.naive):
            replayed.append(against_replay(engines, success, REPEATS))
            _tell("naive replay", success, replayed[-1].differences)
    everything: list[Compared | Replayed] = [*compared, *replayed]
    differences = [
        {"game": one.success.game.name, "what": what, "engine": engine, "trajevolve": found}
        for one in everything
        for what, engine, found in one.differences
    ]
    record = {
        "compared": (
            "labels (cumulative with and without loops, independent), D(t), success without each "
            "step, survivors: trajevolve.verify on the simulator against the engine"
        ),
        "command": (
            f"python benchmarks/engine_labels.py --games {arguments.games} "
            f"--each {arguments.each} --naive {' '.join(map(str, arguments.naive))} "
            f"--seed {arguments.seed}"
        ),
        **surroundings(),
        "libdownward": summary(compared),
        "naive_replay": [naive(one) for one in replayed],
        "differences": len(differences),
        "first_differences": differences[:20],
    }
    write_record(arguments.record, record)
    print(
        f"{len(compared)} trajectories on libdownward, {len(replayed)} replayed naively: "
        f"{len(differences)} differences; {arguments.record}"
    )
    return 1 if differences else 0


def _tell(what: str, success: Success, differences: Sequence[object]) -> None:
    print(
        f"{what}: {success.game.type}, {len(success.actions)} steps, "
        f"{len(differences)} differences",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
