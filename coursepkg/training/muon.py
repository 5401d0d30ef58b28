"""Muon: momentum whose matrix is made orthogonal before it moves the weights.

AdamW divides each entry of the gradient by its own size. Muon treats a weight matrix as
one thing: where the momentum is U S V^T it moves by U V^T, so that all directions move
equally far and rare ones are learnt, too. Source: Jordan et al. 2024, "Muon: An
optimizer for hidden layers in neural networks" (https://kellerjordan.github.io/posts/
muon/); the scale of the step from Liu et al. (arXiv 2502.16982), section 2.2, with
which the learning rate of AdamW fits both.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the polynomial a x + b x^3 + c x^5, which draws singular values towards 1."""
N_ITERATIONS = 5


def orthogonalise(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors and singular values near 1.

    Newton-Schulz iterations: X <- a X + b (X X^T) X + c (X X^T)^2 X. On a GPU they
    run in bfloat16, which suffices; on a CPU in float32, since many CPUs multiply
    bfloat16 some twenty times more slowly.

    Args:
        matrix: (rows, columns).

    Returns:
        the same shape, in the precision of the iterations; singular values between
        about 0.7 and 1.2.
    """
    a, b, c = COEFFICIENTS
    x = matrix.to(torch.bfloat16 if matrix.is_cuda else torch.float32)
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(N_ITERATIONS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if is_tall else x


def hidden_matrices(model: nn.Module) -> set[nn.Parameter]:
    """The weights that Muon moves: matrices that are no embedding and no output layer.

    An output layer of its own is known by its name, which begins with `output`.
    """
    spared = {
        module.weight for module in model.modules() if isinstance(module, nn.Embedding)
    }
    return {
        parameter
        for name, parameter in model.named_parameters()
        if parameter.dim() == 2
        and parameter not in spared
        and not any(part.startswith("output") for part in name.split("."))
    }


class Muon(torch.optim.AdamW):
    """Muon for the groups with `muon`, AdamW for the others.

    Args:
        groups: as AdamW takes them; those with the entry `"muon": True` hold matrices.
        momentum: share of the old direction in the new one, in [0, 1).
        **options: of AdamW.
    """

    def __init__(
        self, groups: list[dict[str, Any]], *, momentum: float = 0.95, **options: Any
    ) -> None:
        super().__init__(groups, **options)
        self.momentum = momentum

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of all parameters that have a gradient."""
        moved = [
            (parameter, parameter.grad, group)
            for group in self.param_groups
            if group.get("muon")
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        for parameter, gradient, group in moved:
            self._move(parameter, gradient, group)
            parameter.grad = None  # AdamW passes over what has no gradient
        result = super().step(closure)
        for parameter, gradient, _ in moved:
            parameter.grad = gradient
        return result

    def _move(self, weights: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weights]
        if not state:
            # AdamW looks for a step in every state that it loads.
            state["step"] = torch.tensor(0.0)
            state["momentum"] = torch.zeros_like(gradient)
        state["step"] += 1
        state["momentum"].lerp_(gradient, 1 - self.momentum)
        ahead = gradient.lerp(state["momentum"], self.momentum)  # Nesterov's step
        scale = 0.2 * max(weights.shape) ** 0.5
        weights.mul_(1 - group["lr"] * group["weight_decay"])
        weights.add_(orthogonalise(ahead).to(weights), alpha=-group["lr"] * scale)
