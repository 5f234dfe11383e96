"""Muon: momentum whose update is orthogonalised, for hidden matrices (Jordan et al. 2024).

The one in torch runs its iteration in bfloat16 and matrix by matrix, which costs more than the
whole backward pass of a small model on a CPU. This one stacks matrices of equal shape and stays in
float32.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised by Newton-Schulz, scaled to the matrix' shape."""

    def __init__(
        self,
        matrices: Iterable[torch.nn.Parameter],
        lr: float = 0.02,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        defaults = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(matrices, defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update all matrices that have a gradient."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[torch.nn.Parameter]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    shapes.setdefault(tuple(matrix.shape), []).append(matrix)
            for matrices in shapes.values():
                self._update(matrices, group["lr"], group["momentum"], group["weight_decay"])

    def _update(
        self, matrices: list[torch.nn.Parameter], lr: float, momentum: float, weight_decay: float
    ) -> None:
        updates = []
        for matrix in matrices:
            gradient = matrix.grad
            if gradient is None:
                continue
            state = self.state[matrix]
            velocity = state.setdefault("velocity", torch.zeros_like(matrix))
            velocity.lerp_(gradient, 1 - momentum)
            updates.append(gradient.lerp(velocity, momentum))
        rows, columns = matrices[0].shape
        scale = max(1.0, rows / columns) ** 0.5
        for matrix, direction in zip(matrices, orthogonalise(torch.stack(updates)), strict=True):
            matrix.mul_(1 - lr * weight_decay).add_(direction, alpha=-lr * scale)


def orthogonalise(stack: torch.Tensor) -> torch.Tensor:
    """Bring the singular values of each [N, rows, columns] matrix near 1."""
    tall = stack.shape[1] > stack.shape[2]
    x = stack.transpose(1, 2) if tall else stack
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.transpose(1, 2) if tall else x
