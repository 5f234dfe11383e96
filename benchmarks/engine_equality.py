"""Random games and random texts, simulator against the real TextWorld engine.

Texts, admissible lists, feasibility and won flags have to be equal after every text sent:
admissible commands, plan steps, commands about things elsewhere, malformed and non-ASCII text, odd
blanks and case, nothing, and thousands of characters. Half of the games are published ones, half
freshly generated; half are walked along a plan with detours, so that they are won.

    python benchmarks/engine_equality.py [--games 150] [--actions 25] [--seed 0] [--data DIR]

Needs the extra alfworld (``make install EXTRAS=alfworld``). Exit status 1 on a difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from against_engine.equality import Comparison, compare
from against_engine.games import sample_games
from against_engine.record import DEFAULT_DATA, surroundings, write_record

from trajevolve.envs.alfworld.environment import AlfworldEnvironment

RECORD = Path(__file__).parents[1] / "docs" / "records" / "engine_equality.json"
KEPT_DIFFERENCES = 20


def run(games: int, actions: int, seed: int, data: Path) -> Comparison:
    """Compare, with a line of progress a game on stderr."""
    total = Comparison()
    simulator, engine = AlfworldEnvironment(data), AlfworldEnvironment(data, "engine")
    with tempfile.TemporaryDirectory() as folder:
        chosen = sample_games(games, seed, data, Path(folder))
        running = compare(simulator, engine, chosen, actions, seed)
        for number, total in enumerate(running, 1):
            print(
                f"game {number}/{games}: {sum(total.sent.values())} texts, {total.wins} wins, "
                f"{len(total.differences)} differences",
                file=sys.stderr,
            )
    return total


def main() -> int:
    """Compare, record, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=150)
    parser.add_argument("--actions", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    total = run(arguments.games, arguments.actions, arguments.seed, arguments.data)
    texts = sum(total.sent.values())
    record = {
        "compared": "texts, admissible commands, feasibility, won flags: simulator against engine",
        "command": (
            f"python benchmarks/engine_equality.py --games {arguments.games} "
            f"--actions {arguments.actions} --seed {arguments.seed}"
        ),
        **surroundings(),
        "games": sum(total.games.values()),
        "games_by_type_and_origin": dict(sorted(total.games.items())),
        "texts_sent": texts,
        "texts_by_kind": {
            kind: {"sent": sent, "executed": total.executed[kind]}
            for kind, sent in sorted(total.sent.items())
        },
        "observations_compared": total.observations,
        "admissible_commands_compared": total.commands,
        "wins": total.wins,
        "differences": len(total.differences),
        "first_differences": total.differences[:KEPT_DIFFERENCES],
        "cpu_seconds": {
            "engine": round(total.engine_seconds, 1),
            "simulator": round(total.simulator_seconds, 3),
        },
    }
    write_record(arguments.record, record)
    print(
        f"{record['games']} games, {texts} texts, {total.wins} wins: "
        f"{len(total.differences)} differences; CPU {total.engine_seconds:.0f} s engine, "
        f"{total.simulator_seconds:.2f} s simulator; {arguments.record}"
    )
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
