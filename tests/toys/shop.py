"""A shop like WebShop: pages, coupled tab and ``< prev``, an end without success."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task

TABS = ("click[description]", "click[features]")
PREV = "click[< prev]"


@dataclass(frozen=True)
class Page:
    kind: str = "index"  # index, results, item, sub, bought
    query: str = ""
    number: int = 1
    item: str = ""
    sub: str = ""
    option: str = ""


class ShopEnvironment(Environment):
    """Two pages of two items; the right one in the right colour has to be bought."""

    spec = Spec(
        name="shop",
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        step_limit=15,
        kinds={"search": Kind.CHANGING, "click": Kind.CHANGING, "tab": Kind.INFORMATION},
    )
    stock = (("m1", "m2"), ("m3", "m4"))

    def reset(self, task: Task) -> Observation:
        self.wanted: tuple[str, str] = task.payload
        self.page = Page()
        return self._observe()

    def step(self, action: str) -> Outcome:
        feasible = action in self._admissible()
        if feasible:
            self.page = self._after(action)
        bought = self.page.kind == "bought"
        solved = bought and (self.page.item, self.page.option) == self.wanted
        score = float(solved)
        return Outcome(self._observe(), feasible, solved, bought, score, score)

    def kind(self, action: str) -> Kind:
        return Kind.INFORMATION if action in TABS else Kind.CHANGING

    def task(self, ref: str) -> Task:
        return next(task for task in self.tasks("all") if task.id == ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        goals = [("m1", "red"), ("m3", "blue"), ("m4", "red")]
        return tuple(
            Task(str(n), "shop", "buy", f"buy a {colour} {item}", f"{item}{colour}", (item, colour))
            for n, (item, colour) in enumerate(goals)
        )[:count]

    def coupled(self, actions: Sequence[str]) -> Iterable[tuple[int, ...]]:
        return [
            (index, index + 1)
            for index, (action, after) in enumerate(pairwise(actions))
            if action in TABS and after == PREV
        ]

    def candidates(self) -> Sequence[str]:
        return self._admissible()

    def snapshot(self) -> Page:
        return self.page

    def restore(self, mark: Page) -> None:
        self.page = mark

    def state_key(self) -> Page:
        return self.page

    def _admissible(self) -> tuple[str, ...]:
        page = self.page
        if page.kind == "index":
            return ("search[mug]", "search[cup]")
        if page.kind == "bought":
            return ()
        actions = ["click[back to search]"]
        if page.kind == "results":
            actions += [f"click[{item}]" for item in self.stock[page.number - 1]]
            actions += ["click[next >]"] if page.number == 1 else [PREV]
        elif page.kind == "item":
            actions += [PREV, "click[red]", "click[blue]", *TABS, "click[buy now]"]
        else:
            actions.append(PREV)
        return tuple(actions)

    def _after(self, action: str) -> Page:
        page, word = self.page, action[action.index("[") + 1 : -1]
        if action.startswith("search"):
            return Page("results", word)
        if word == "back to search":
            return Page()
        if action in TABS:
            return replace(page, kind="sub", sub=word)
        if action == PREV and page.kind == "sub":
            return replace(page, kind="item", sub="")
        if action == PREV and page.kind == "item":
            return replace(page, kind="results", item="", option="")
        if word in ("next >", "< prev"):
            return replace(page, number=page.number + (1 if word == "next >" else -1))
        if word in ("red", "blue"):
            return replace(page, option=word)
        if word == "buy now":
            return replace(page, kind="bought")
        return replace(page, kind="item", item=word)

    def _observe(self) -> Observation:
        page = self.page
        return Observation(f"{page.kind} {page.query} {page.item} {page.sub}", self._admissible())
