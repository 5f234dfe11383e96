"""WebShop: exactness, and what it costs, against the bars it was built for.

    python benchmarks/webshop.py                         # 1,000 products
    python benchmarks/webshop.py --products 100000       # minutes of preparation

Larger catalogues are made of the real products in ../shared/data/webshop (generated ones where they
are absent), repeated under new keys with every tenth word exchanged. All times are CPU seconds of
one process. Each measurement of a catalogue runs in a process of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.envs.webshop.generated import generate
from trajevolve.envs.webshop.jsonfile import array_elements, object_entries

DATA = Path(__file__).parents[2] / "shared" / "data" / "webshop"
FULL = 1_181_436
"""Products of the complete catalogue."""

Row = tuple[str, str, str]


def main() -> None:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=1000)
    parser.add_argument("--work", type=Path, help="kept: a second run prepares nothing")
    parser.add_argument("--worker", choices=sorted(WORKERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(WORKERS[arguments.worker](arguments.work)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        work = arguments.work or Path(scratch)
        rows = measure(work, arguments.products)
    width = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for what, bar, found in rows:
        print(f"{what:{width[0]}}  {bar:>{width[1]}}  {found}")


def measure(work: Path, count: int) -> list[Row]:
    """Prepare a catalogue of `count` products in `work` and measure it."""
    shop = work / f"shop_{count}"
    rows: list[Row] = [("what", "bar", f"measured, {count} products")]
    if not (shop / "catalogue.json").is_file():
        write_originals(work, count)
        made = run_worker("prepare", shop)
        rows.append(("prepare: CPU s, peak MB", "", f"{made['cpu']:.0f}, {made['peak']:.0f}"))
    bytes_ = sum(file.stat().st_size for file in shop.iterdir())
    rows.append(("size on disk, MB", "", f"{bytes_ / 1e6:.0f} (1.18 M: {scale(bytes_, count)})"))
    first = run_worker("first", shop)
    rows.append(("import, CPU s", "", f"{first['import']:.2f}"))
    rows.append(("open and first observation, CPU s", "<= 1.0", f"{first['open']:.3f}"))
    query = run_worker("queries", shop)
    bar = "<= 1" if count <= 1000 else "<= 10"
    found = f"{query['median']:.2f} (95 %: {query['p95']:.2f})"
    rows.append(("query, CPU ms, median", bar, found))
    rows.append(("USS of a second worker, MB", "<= 150", two_workers(shop)))
    rows += [tuple(row) for row in run_worker("play", shop)["rows"]]
    return rows


def scale(bytes_: int, count: int) -> str:
    """Estimate a size at 1.18 M products."""
    return f"{bytes_ * FULL / count / 1e9:.1f} GB by proportion"


def run_worker(name: str, shop: Path) -> dict[str, Any]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, __file__, "--worker", name, "--work", str(shop)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def two_workers(shop: Path) -> str:
    """Let two processes use the catalogue at once; report the second's own memory."""
    command = [sys.executable, __file__, "--worker", "memory", "--work", str(shop)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        second = subprocess.run(command, check=True, capture_output=True, text=True, input="\n")
        first.communicate("\n")
    found = json.loads(second.stdout.splitlines()[0])
    return f"{found['used']:.0f} (before the catalogue was opened: {found['empty']:.0f})"


def write_originals(work: Path, count: int) -> None:
    """Write `count` products, repeated and changed, in the form of WebShop's files."""
    if (DATA / "products.json").is_file():
        products = list(array_elements(DATA / "products.json"))
        annotations = dict(object_entries(DATA / "items_ins.json"))
    else:
        made = generate(480, 0)
        products, annotations = made.products, made.annotations
    rng = np.random.default_rng(0)
    words = np.array(sorted({w for p in products for w in str(p["full_description"]).split()}))
    copies = work / "attributes.json"
    with (work / "products.json").open("w") as stream, copies.open("w") as other:
        stream.write("[")
        other.write("{")
        for number in range(count):
            product = products[number % len(products)]
            asin = f"P{number:09}"
            copy = product | {"asin": asin, "images": [], "product_information": {}}
            for field in ("name", "full_description"):
                copy[field] = changed(str(product[field]), words, rng)
            comma = "," if number else ""
            stream.write(f"{comma}\n{json.dumps(copy)}")
            note = json.dumps(annotations.get(product["asin"], {}))
            other.write(f'{comma}\n"{asin}": {note}')
        stream.write("]")
        other.write("}")


def changed(text: str, words: Any, rng: np.random.Generator) -> str:
    """Exchange every tenth word or so."""
    parts = text.split(" ")
    places = np.flatnonzero(rng.random(len(parts)) < 0.1)
    for place, word in zip(places, rng.choice(words, len(places)), strict=True):
        parts[place] = str(word)
    return " ".join(parts)


# What a fresh process does. Imports stand inside, because importing is measured too.


def prepare_worker(shop: Path) -> dict[str, float]:
    """Prepare the catalogue from the files beside it."""
    import resource

    from trajevolve.envs.webshop.prepare import Inputs, prepare

    inputs = Inputs(shop.parent / "products.json", shop.parent / "attributes.json", None, "words")
    start = time.process_time()
    prepare(inputs, shop, lambda line: print(line, file=sys.stderr))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": time.process_time() - start, "peak": peak}


def first_worker(shop: Path) -> dict[str, float]:
    """Import, open, and reset on the first test goal."""
    start = time.process_time()
    from trajevolve.envs.webshop.environment import WebshopEnvironment

    imported = time.process_time()
    env = WebshopEnvironment(shop)
    env.reset(env.task("0"))
    return {"import": imported - start, "open": time.process_time() - imported}


def queries_worker(shop: Path) -> dict[str, float]:
    """Time every query once; nothing is remembered from before."""
    from trajevolve.envs.webshop.folder import open_catalogue

    catalogue = open_catalogue(shop)
    texts = queries(catalogue)
    catalogue.hits(texts[0] + " warm")
    times = [timed(lambda text=text: catalogue.hits(text)) * 1e3 for text in texts]  # type: ignore[misc]
    return {"median": float(np.median(times)), "p95": float(np.quantile(times, 0.95))}


def memory_worker(shop: Path) -> dict[str, float]:
    """Use the catalogue, say what it took, and stay until told to go."""
    import psutil  # type: ignore[import-untyped]

    from trajevolve.envs.webshop.environment import WebshopEnvironment

    process = psutil.Process()
    empty = process.memory_full_info().uss / 1e6
    env = WebshopEnvironment(shop)
    for text in queries(env.shop):
        rows = env.shop.hits(text)
        for row in rows[:10]:
            env.shop.product(env.shop.listing(row).asin)
    gc.collect()
    found = {"empty": empty, "used": process.memory_full_info().uss / 1e6}
    print(json.dumps(found), flush=True)
    sys.stdin.readline()
    return found


def play_worker(shop: Path) -> dict[str, list[Row]]:
    """Step, verify, and open many environments."""
    import psutil

    from trajevolve.credit.verification import verify
    from trajevolve.envs.webshop.environment import WebshopEnvironment

    env = WebshopEnvironment(shop)
    episodes = list(detours(env, 128))
    total = sum(len(actions) for _, actions in episodes)

    def play() -> None:
        for task, actions in episodes:
            env.reset(task)
            for action in actions:
                assert env.step(action).feasible

    play()
    steps = total / timed(play)
    fresh = WebshopEnvironment(shop)
    verified: list[Any] = []

    def check() -> None:
        verified.extend(verify(fresh, task, actions) for task, actions in episodes)

    seconds = timed(check)
    assert all(each.success for each in verified)
    transitions = sum(each.transitions for each in verified)
    process = psutil.Process()
    before = process.memory_info().rss
    many = [WebshopEnvironment(shop) for _ in range(128)]
    for other, (task, _) in zip(many, episodes, strict=True):
        other.reset(task)
    growth = (process.memory_info().rss - before) / 128 / 1e6
    task = episodes[0][0]
    reset = timed(lambda: [env.reset(task) for _ in range(1000)]) * 1e3
    marks = timed(lambda: there_and_back(env, 1000)) * 1e3
    return {
        "rows": [
            ("steps a second, with texts", ">= 2000", f"{steps:.0f}"),
            (
                f"verification of {len(episodes)} trajectories, CPU s",
                "<= 2",
                f"{seconds:.2f} ({total} steps, {transitions} transitions)",
            ),
            ("growth of an environment beside 128, MB", "<= 1", f"{growth:.3f}"),
            ("reset, snapshot and restore, CPU us", "O(1)", f"{reset:.1f}, {marks:.2f}"),
        ]
    }


def there_and_back(env: Any, times: int) -> None:
    """Take marks and go back to them."""
    for _ in range(times):
        env.restore(env.snapshot())


def queries(catalogue: Any) -> list[str]:
    """Return the recorded queries, or instructions where they are absent."""
    if (DATA / "lucene_hits.json").is_file():
        recorded = json.loads((DATA / "lucene_hits.json").read_text())["results"]
        return [case["query"] for case in recorded]
    return [catalogue.goal(number).instruction for number in range(min(300, catalogue.goals))]


def detours(env: Any, count: int) -> Iterator[tuple[Any, list[str]]]:
    """Yield successful episodes of 15 to 20 steps with every kind of detour."""
    found = 0
    for task in env.tasks("train"):
        goal = task.payload
        product = env.shop.product(goal.asin)
        query = f"search[{product.title.lower()}]"
        rows = env.shop.hits(product.title.lower())[:10]
        listed = [env.shop.listing(row).asin for row in rows]
        others = [f"click[{asin.lower()}]" for asin in listed if asin != goal.asin]
        if goal.asin not in listed or not others or not product.nouns:
            continue
        actions = [query, "click[next >]", "click[< prev]", others[0], "click[features]"]
        actions += ["click[< prev]", "click[< prev]", "click[back to search]", query]
        actions += [f"click[{goal.asin.lower()}]", "click[description]", "click[< prev]"]
        actions += [f"click[{value}]" for _, value in goal.options] * 2
        actions = [*actions[:19], "click[buy now]"]
        env.reset(task)
        outcomes = [env.step(action) for action in actions]
        if outcomes[-1].success:
            yield task, actions
            found += 1
        if found == count:
            return


def timed(work: Callable[[], object]) -> float:
    """Return the CPU seconds of `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


WORKERS: dict[str, Callable[[Path], Any]] = {
    "prepare": prepare_worker,
    "first": first_worker,
    "queries": queries_worker,
    "memory": memory_worker,
    "play": play_worker,
}

if __name__ == "__main__":
    main()
