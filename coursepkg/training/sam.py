"""Sharpness-aware minimisation: the gradient at the worst point near the weights.

    e = rho * g / ||g||        g the gradient at the weights w, ||.|| over all parameters together
    step along the gradient at w + e, starting from w

A minimum whose whole neighbourhood of radius rho is low is preferred to a sharp one. The price is a second forward
and backward pass a step. Source: Foret et al. (arXiv 2010.01412), section 2, equations 2 and 3, with p = 2.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from coursepkg.training.seed import load_rng_state, rng_state


class SAM:
    """Puts the gradient at w + e in place of the gradient at w; the loop clips it and steps as always.

    Both passes draw the same random numbers, hence the same dropout masks: otherwise the second gradient would be
    one of another network. Buffers that a forward pass changes (the running statistics of a BatchNorm) keep what the
    first pass wrote.

    Args:
        model: the module that is trained; weights in float32, also under bf16 autocast.
        rho: radius of the neighbourhood, in the units of the weights.

    Raises:
        ValueError: rho is not positive.
    """

    def __init__(self, model: nn.Module, rho: int | float = 0.05) -> None:
        if not 0 < rho < float("inf"):
            raise ValueError(f"rho must be positive and finite, got {rho}")
        self.model, self.rho = model, rho

    def backward(self, backward: Callable[[], Tensor]) -> Tensor:
        """Leave the SAM gradient in `.grad`, and the weights as they were, bit by bit.

        Args:
            backward: one forward and one backward pass over the batch of the step; adds into `.grad`, which is empty
                or zero when this is called, and returns the loss. It is called twice.

        Returns:
            The loss at the weights themselves, from the first pass.
        """
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        device = parameters[0].device if parameters else None
        random = rng_state(device)
        loss = backward()
        kept = [*parameters, *self.model.buffers()]
        values = [tensor.detach().clone() for tensor in kept]
        try:
            climb(parameters, self.rho)
            for parameter in parameters:
                parameter.grad = None
            load_rng_state(random, device)
            backward()
        finally:
            with torch.no_grad():
                for tensor, value in zip(kept, values, strict=True):
                    tensor.copy_(value)
        return loss


@torch.no_grad()
def climb(parameters: Iterable[Tensor], rho: int | float) -> None:
    """w <- w + rho * g / ||g|| for all parameters that have a gradient; where it is zero everywhere, w stays."""
    climbing = [p for p in parameters if p.grad is not None]
    if not climbing:
        return
    norms = [
        torch.linalg.vector_norm(p.grad, dtype=torch.promote_types(p.dtype, torch.float32)) for p in climbing
    ]
    norm = torch.linalg.vector_norm(torch.stack(norms))
    for parameter in climbing:
        parameter.add_(parameter.grad * (rho / norm.clamp_min(1e-12)).to(parameter.grad))


def refuse_sam(*, precision: str, accumulate: int = 1, sharded: bool = False) -> None:
    """Raises a ValueError where SAM would compute something else than it says.

    Args:
        precision: Lightning Fabric's name of it.
        accumulate: micro-batches a step.
        sharded: whether the parameters are spread over processes (FSDP).

    Raises:
        ValueError: the gradients are scaled, a step has several micro-batches, or no process has all the weights.
    """
    if precision.startswith("16"):
        raise ValueError(
            f"precision must be 32-true or bf16-mixed with SAM, got {precision}: "
            "its scaled gradients overflow in one pass and not in the other"
        )
    if accumulate != 1:
        raise ValueError(
            f"accumulate must be 1 with SAM, got {accumulate}: each micro-batch would climb to a point of its own"
        )
    if sharded:
        raise ValueError(
            "strategy must not be fsdp with SAM: no process holds the whole gradient whose norm it needs"
        )
