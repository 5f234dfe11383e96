"""Which checkpoint is the best: the one that solved most of the selection panel.

That panel is never the reported one, so that choosing does not flatter the result.
"""

from __future__ import annotations

from trajevolve.ledger import Commit, Ledger


def by_success(ledger: Ledger) -> list[Commit]:
    """Return the tries on the selection panel, the best first and later ones first on ties."""
    tried = ledger.commits("evaluation")
    return sorted(tried, key=lambda c: (c.metrics["success"], c.iteration), reverse=True)


def best_updates(ledger: Ledger, iterations: int) -> int:
    """Return after how many updates the policy is the run's result.

    Without a try on the selection panel it is the one after all `iterations`.
    """
    best = next(iter(by_success(ledger)), None)
    return iterations if best is None else best.iteration + 1
