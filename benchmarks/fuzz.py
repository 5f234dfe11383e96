"""The long run of the fuzzing that the tests do a little of; writes ``docs/records/fuzz.json``.

Usage: ``python benchmarks/fuzz.py [--count 100000] [--seed 0] [--record FILE]``. The same seed
gives the same inputs. Every failure is printed and its input kept beside the record, to
become a sample in ``tests/fuzz/test_samples.py``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from fuzz.campaign import Tally, fuzz  # noqa: E402
from fuzz.judging import CPU_SECONDS, MEMORY  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402

PACKAGES = ("numpy", "pyarrow", "pydantic", "pyyaml", "zstandard", "typer")


def main() -> int:
    """Fuzz every target, write the record, and return 1 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="inputs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, default=ROOT / "docs" / "records" / "fuzz.json")
    options = parser.parse_args()
    tallies: dict[str, Tally] = {}
    for target in TARGETS:
        count = max(1, options.count * target.share // 100)
        tally = tallies[target.name] = fuzz(target, count, options.seed, print)
        print(f"{target.name}: {dict(tally.outcomes)}, {tally.seconds:.0f} s", flush=True)
        for number, _, data in tally.failures:
            kept = options.record.with_name(f"fuzz-{target.name.replace(' ', '-')}-{number}")
            kept.write_bytes(data)
    record = record_of(tallies, options.seed)
    options.record.parent.mkdir(parents=True, exist_ok=True)
    options.record.write_text(json.dumps(record, indent=2) + "\n")
    print(f"{record['inputs']} inputs, {record['failures']} failures: {options.record}")
    return int(record["failures"] > 0)


def record_of(tallies: dict[str, Tally], seed: int) -> dict[str, Any]:
    """Say what was run, where and with what result."""
    total: Counter[str] = sum((tally.outcomes for tally in tallies.values()), Counter())
    return {
        "command": f"python benchmarks/fuzz.py --count {total.total()} --seed {seed}",
        "inputs": total.total(),
        "failures": total["failed"],
        "property": "a normal result, or UserError (one printable line under 1,000 characters "
        f"naming the place), within {CPU_SECONDS:.0f} CPU seconds and {MEMORY >> 20} MiB",
        "targets": {
            name: {
                "inputs": tally.outcomes.total(),
                "done": tally.outcomes["done"],
                "refused": tally.outcomes["refused"],
                "failed": tally.outcomes["failed"],
                "cpu_seconds": round(tally.seconds, 1),
            }
            for name, tally in tallies.items()
        },
        "cpu_seconds": round(sum(tally.seconds for tally in tallies.values()), 1),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": {name: version(name) for name in PACKAGES},
    }


if __name__ == "__main__":
    sys.exit(main())
