"""Result tables of runs, as rows for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Summary = Mapping[str, Any]

MEASURES = (
    ("success", "success", True),
    ("steps", "steps, all episodes", False),
    ("steps_successful", "steps, successes", False),
    ("redundancy", "redundancy of successes", True),
)


def end_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Rows (what, before, after) of one run: measures first, then success by task type."""
    before, after = summary["before"], summary["after"]
    rows = [
        (label, figure(before[name], share), figure(after[name], share))
        for name, label, share in MEASURES
    ]
    if _graded(before) or _graded(after):
        rows.insert(1, ("score", figure(before["score"], True), figure(after["score"], True)))
    if after["success_by_type"]:
        rows.append(("success by type of task", "", ""))
    for name, end in after["success_by_type"].items():
        start = before["success_by_type"].get(name)
        rows.append((f"  {name}", figure(start, True), figure(end, True)))
    return rows


def _graded(end: Mapping[str, Any]) -> bool:
    """Say whether the score tells more than success does; older summaries have none."""
    return end.get("score", end["success"]) != end["success"]


def outcome_line(summary: Summary) -> str:
    """Say in one line how much success and steps changed, with paired 95 % intervals."""
    change = summary["difference"]
    low, high = change["success_interval"]
    fewest, most = change["steps_interval"]
    return (
        f"success {change['success_difference']:+.1%} [{low:+.1%}, {high:+.1%}], "
        f"steps {change['steps_difference']:+.2f} [{fewest:+.2f}, {most:+.2f}] "
        f"on {change['tasks']} paired tasks (95 %)"
    )


def comparison_table(summaries: Sequence[Summary]) -> str:
    """One Markdown row per run: method, seed, both ends, intervals."""
    header = ("run", "method", "seed", "success before", "success after", "95 % interval",
              "steps before", "steps after", "redundancy before", "redundancy after")  # fmt: skip
    return markdown(header, [_run_row(summary) for summary in summaries])


def type_table(summaries: Sequence[Summary]) -> str:
    """Markdown: task types in rows, one column per run with the success after training."""
    types = sorted({name for each in summaries for name in each["after"]["success_by_type"]})
    rows = [
        (name, *(figure(each["after"]["success_by_type"].get(name), True) for each in summaries))
        for name in types
    ]
    rows.append(("all", *(figure(each["after"]["success"], True) for each in summaries)))
    return markdown(("task type", *(each["run"] for each in summaries)), rows)


def evolution_table(summaries: Sequence[Summary]) -> str:
    """Markdown: what each strategy attempted, solved and added to groups."""
    rows = [
        (each["run"], strategy, *(str(counts[outcome]) for outcome in counts))
        for each in summaries
        for strategy, counts in each["evolution"].items()
    ]
    return markdown(("run", "strategy", "attempted", "succeeded", "used"), rows)


def time_table(summaries: Sequence[Summary]) -> str:
    """Markdown: seconds of wall time per stage."""
    stages = sorted({stage for each in summaries for stage in each["seconds"]})
    rows = [
        (stage, *(figure(each["seconds"].get(stage), False) for each in summaries))
        for stage in stages
    ]
    return markdown(("stage, seconds", *(each["run"] for each in summaries)), rows)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others figures."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def figure(value: float | None, share: bool) -> str:
    """Write a number, as percent where it is a share; "-" where there is none."""
    if value is None:
        return "-"
    return f"{100 * value:.1f} %" if share else f"{value:.2f}"


def interval(ends: Sequence[float]) -> str:
    """Write a 95 % interval of a share, in percent."""
    low, high = ends
    return f"{100 * low:.1f}-{100 * high:.1f} %"


def _run_row(summary: Summary) -> tuple[str, ...]:
    before, after = summary["before"], summary["after"]
    return (
        summary["run"],
        summary["method"],
        str(summary["seed"]),
        figure(before["success"], True),
        figure(after["success"], True),
        interval(after["success_interval"]),
        figure(before["steps"], False),
        figure(after["steps"], False),
        figure(before["redundancy"], True),
        figure(after["redundancy"], True),
    )
