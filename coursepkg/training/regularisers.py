"""Averages of weights, R-Drop, sharpness-aware minimisation and a cheaper dropout.

EMA: late in training the weights circle around a minimum; their mean lies nearer to it
than any of them.

R-Drop: two passes with different dropout masks must predict the same distribution.

    loss = (CE_1 + CE_2) / 2 + alpha / 2 * (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2

p_1 and p_2 come from one forward pass over the batch put twice below itself, whose
halves draw different masks. This is half of the paper's loss, so that alpha = 0 leaves
a cross-entropy of the usual size. Source: Liang et al. (arXiv 2106.14448), section 2.

SAM: the gradient at the worst point near the weights.

    e = rho * g / ||g||    g the gradient at the weights w, over all parameters together
    step along the gradient at w + e, starting from w

The price is a second forward and backward pass a step. Source: Foret et al. (arXiv
2010.01412), section 2, equations 2 and 3, with p = 2.

Dropout: PyTorch draws one random number for every component, on one thread on
processors that are not Intel's. `ByteDropout` takes one byte for a component.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from coursepkg.blocks.norm import to_float32
from coursepkg.text.vocabulary import PAD
from coursepkg.training.losses import check_logits, label_smoothed_cross_entropy, reduce
from coursepkg.training.seed import load_rng_state, rng_state
from coursepkg.validation import as_list


def duplicate_batch(ids: Tensor) -> Tensor:
    """A batch (B, ...) put twice below itself (2 B, ...)."""
    return torch.cat([ids, ids])


def r_drop_loss(
    logits: Tensor,
    targets: Tensor,
    alpha: int | float,
    *,
    smoothing: float = 0.0,
    ignore_index: int = PAD,
    convention: str = "pytorch",
    reduction: str = "sum",
) -> Tensor:
    """The loss of R-Drop from the logits of both passes.

    Args:
        logits: (2 B, ..., V), for the batch that `duplicate_batch` makes.
        targets: ids (B, ...), once.
        alpha: weight of the divergence.
        smoothing: as in `label_smoothed_cross_entropy`.
        ignore_index: positions with this target count for nothing.
        convention: as in `label_smoothed_cross_entropy`.
        reduction: "sum" over the positions of `targets` that count, "mean" over them,
            or "none" (shape of targets).

    Raises:
        ValueError: the logits are not for twice the targets, or an option is out of
            range.
    """
    if not 0 <= alpha < float("inf"):
        raise ValueError(f"alpha must be at least 0 and finite, got {alpha}")
    both = label_smoothed_cross_entropy(
        logits,
        duplicate_batch(targets),
        smoothing,
        ignore_index=ignore_index,
        convention=convention,
        reduction="none",
    )
    loss = both.view(2, *targets.shape).mean(dim=0)
    if alpha:
        first, second = logits.chunk(2)
        divergence = symmetric_kl(
            first, second, targets, ignore_index=ignore_index, reduction="none"
        )
        loss = loss + alpha / 2 * divergence
    return reduce(loss, (targets != ignore_index).sum(), reduction)


def symmetric_kl(
    logits: Tensor,
    others: Tensor,
    targets: Tensor,
    *,
    ignore_index: int = PAD,
    reduction: str = "sum",
) -> Tensor:
    """(KL(p || q) + KL(q || p)) / 2 at every position that counts.

    The two directions share their logarithms: together they are sum_v (p_v - q_v) (log
    p_v - log q_v).

    Args:
        logits: of p (..., V).
        others: logits of q (..., V).
        targets: ids (...); only where they say `ignore_index` matters.
        ignore_index: positions with this target count for nothing.
        reduction: "sum", "mean" over the positions that count, or "none" (shape of
            targets).

    Raises:
        ValueError: shapes do not fit, or the reduction is unknown.
    """
    check_logits(logits, targets)
    check_logits(others, targets)
    counts = targets != ignore_index
    log_p, log_q = (
        to_float32(rows[counts]).log_softmax(dim=-1) for rows in (logits, others)
    )  # (N, V)
    divergence = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(dim=-1) / 2
    everywhere = divergence.new_zeros(targets.shape).masked_scatter(counts, divergence)
    return reduce(everywhere, counts.sum(), reduction)


class SAM:
    """Replaces the gradient at w by that at w + e; the loop clips and steps as always.

    Both passes draw the same random numbers, hence the same dropout masks: otherwise
    the second gradient would be one of another network. Buffers that a forward pass
    changes (the running statistics of a BatchNorm) keep what the first pass wrote.

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
            ascent_step(parameters, self.rho)
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
def ascent_step(parameters: Iterable[Tensor], rho: int | float) -> None:
    """w <- w + rho * g / ||g||, unless the gradient is zero everywhere."""
    climbing = [p for p in parameters if p.grad is not None]
    if not climbing:
        return
    norms = [
        torch.linalg.vector_norm(
            p.grad, dtype=torch.promote_types(p.dtype, torch.float32)
        )
        for p in climbing
    ]
    norm = torch.linalg.vector_norm(torch.stack(norms))
    for parameter in climbing:
        parameter.add_(
            parameter.grad * (rho / norm.clamp_min(1e-12)).to(parameter.grad)
        )


def refuse_sam(*, precision: str, accumulate: int = 1, sharded: bool = False) -> None:
    """Raises a ValueError where SAM would compute something else than it says.

    Raises:
        ValueError: the gradients are scaled, a step has several micro-batches, or no
            process has all the weights.
    """
    if precision.startswith("16"):
        raise ValueError(
            f"precision must be 32-true or bf16-mixed with SAM, got {precision}: "
            "its scaled gradients overflow in one pass and not in the other"
        )
    if accumulate != 1:
        raise ValueError(
            f"accumulate must be 1 with SAM, got {accumulate}: each micro-batch would"
            " climb to a point of its own"
        )
    if sharded:
        raise ValueError(
            "strategy must not be fsdp with SAM: no process holds the whole gradient"
            " whose norm it needs"
        )


class EMA:
    """Exponential moving average of the weights of a model.

        average <- d * average + (1 - d) * weights
        d = min(decay, (1 + t) / (10 + t)) at the t-th update

    It starts as the weights at its creation. With `warmup` the early d is small, so
    that these first, random weights are soon forgotten; without, d = decay throughout.
    Averages are kept in float32 at least. Buffers are not averaged. Source: Polyak and
    Juditsky (SIAM J. Control Optim. 30(4), 1992) for averaging; the warm-up is the
    `num_updates` rule of TensorFlow's `ExponentialMovingAverage`.

    Args:
        model: whose weights are averaged.
        decay: share of the old average at an update, at least 0 and below 1.
        warmup: let the decay rise with the number of updates.

    Raises:
        ValueError: decay is out of range.
    """

    def __init__(
        self, model: nn.Module, decay: int | float = 0.999, *, warmup: bool = True
    ) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be at least 0 and below 1, got {decay}")
        self.decay, self.warmup, self.n_updates = decay, warmup, 0
        self.averages = {
            name: p.detach().to(torch.promote_types(p.dtype, torch.float32), copy=True)
            for name, p in model.named_parameters()
        }

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the present weights, once after each optimiser step.

        Raises:
            ValueError: the model has other parameters.
        """
        matched = self._matched(model)
        self.n_updates += 1
        decay = (
            min(self.decay, (1 + self.n_updates) / (10 + self.n_updates))
            if self.warmup
            else self.decay
        )
        for name, parameter in matched:
            self.averages[name].lerp_(parameter.to(self.averages[name]), 1 - decay)

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[nn.Module]:
        """Inside `with`, the model has the averaged weights; then its own, bit by bit.

        Raises:
            ValueError: the model has other parameters.
        """
        matched = self._matched(model)
        own = [parameter.detach().clone() for _, parameter in matched]
        try:
            with torch.no_grad():
                for name, parameter in matched:
                    parameter.copy_(self.averages[name])
            yield model
        finally:
            with torch.no_grad():
                for (_, parameter), value in zip(matched, own, strict=True):
                    parameter.copy_(value)

    def state_dict(self) -> dict[str, Tensor]:
        """The averages by parameter name, and `n_updates`, as tensors."""
        return {**self.averages, "n_updates": torch.tensor(self.n_updates)}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` returned.

        Raises:
            ValueError: names or shapes are not those of this model.
        """
        _check_names(
            "state", state.keys(), [*self.averages, "n_updates"], "the average"
        )
        for name, average in self.averages.items():
            _check_shape(f"state[{name!r}]", state[name], average)
        for name, average in self.averages.items():
            average.copy_(state[name])
        self.n_updates = int(state["n_updates"])

    def _matched(self, model: nn.Module) -> list[tuple[str, nn.Parameter]]:
        """The model's parameters by name, if they are those of the averages."""
        parameters = list(model.named_parameters())
        _check_names(
            "model", dict(parameters).keys(), self.averages.keys(), "the average"
        )
        for name, parameter in parameters:
            _check_shape(f"model.{name}", parameter, self.averages[name])
        return parameters


def average_checkpoints(paths: Sequence[str | Path]) -> dict[str, Tensor]:
    """The mean of the weights in several safetensors files.

    Sums are kept in float64; only one tensor of each file is in memory at a time.
    Integers and booleans have no mean and must agree in all files. Source: Vaswani et
    al. (arXiv 1706.03762), section 6.1, who average the last 5.

    Returns:
        tensors by name, of the dtypes in the files.

    Raises:
        ValueError: `paths` is no list or names no file, one cannot be read, or names,
            shapes or dtypes differ; the file is named.
    """
    paths = as_list("paths", paths, str | Path, "files")
    if not paths:
        raise ValueError("paths must name at least one checkpoint, got none")
    first, *others = map(Path, paths)
    wanted = _described(first)
    for path in others:
        found = _described(path)
        _check_names(str(path), found.keys(), wanted.keys(), str(first))
        for name in wanted:
            if found[name] != wanted[name]:
                raise ValueError(
                    f"{path} must have {name} as {wanted[name]} as {first} has, got"
                    f" {found[name]}"
                )
    return {name: _mean_tensor(name, [first, *others]) for name in wanted}


def _mean_tensor(name: str, paths: Sequence[Path]) -> Tensor:
    first = _read(paths[0], name)
    if not first.is_floating_point():
        for path in paths[1:]:
            if not torch.equal(_read(path, name), first):
                raise ValueError(
                    f"{path} must have the {name} of {paths[0]}, as {first.dtype} has"
                    " no mean"
                )
        return first
    total = first.double()
    for path in paths[1:]:
        total += _read(path, name)
    return (total / len(paths)).to(first.dtype)


def _described(path: Path) -> dict[str, str]:
    """Dtype and shape of every tensor of a file."""
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()  # a file is no mapping
            slices = {name: file.get_slice(name) for name in names}
            return {
                name: f"{part.get_dtype()} {part.get_shape()}"
                for name, part in slices.items()
            }
    except (OSError, SafetensorError) as reason:
        raise ValueError(
            f"{path} must be a safetensors file, but: {reason}"
        ) from reason


def _read(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        return file.get_tensor(name)


def _check_names(
    owner: str, found: Collection[str], wanted: Collection[str], other: str
) -> None:
    missing = [name for name in wanted if name not in found]
    extra = [name for name in found if name not in wanted]
    if missing or extra:
        said = f"it lacks {missing[0]}" if missing else f"it also has {extra[0]}"
        raise ValueError(f"{owner} must have the same tensors as {other}, but {said}")


def _check_shape(name: str, tensor: Tensor, wanted: Tensor) -> None:
    if tensor.shape != wanted.shape:
        raise ValueError(
            f"{name} must have shape {tuple(wanted.shape)}, got {tuple(tensor.shape)}"
        )


class ByteDropout(nn.Dropout):
    """`nn.Dropout` with p rounded to n / 256, n >= 1, and drawn bytewise on a CPU.

    What is kept is divided by the rounded probability of keeping, so the mean stays. On
    other devices, and in evaluation mode, it is `nn.Dropout` itself.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop components of a tensor of any shape."""
        if (
            not self.training
            or not self.p
            or self.p == 1
            or self.inplace
            or input.device.type != "cpu"
        ):
            return super().forward(input)
        dropped = max(1, min(255, round(self.p * 256)))
        words = torch.empty(-(-input.numel() // 8), dtype=torch.int64).random_(
            -(2**63), None
        )
        kept = words.view(torch.uint8)[: input.numel()].view(input.shape) >= dropped
        return input * (kept.to(input.dtype) * (256 / (256 - dropped)))


def draw_bytewise(model: nn.Module) -> None:
    """Put `ByteDropout` in the place of every `nn.Dropout` of a model."""
    for parent in model.modules():
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p, child.inplace))
