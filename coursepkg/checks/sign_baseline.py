"""Checks of the exercises in the chapter on the baseline for signs."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from coursepkg.checks import expect


def lstm_parameters(student: Callable[[int, int, int, int], int]) -> None:
    """The baseline's own sizes, sizes that all differ."""
    for n_inputs, hidden, n_layers, n_classes in [
        (512, 256, 1, 100),
        (5, 3, 1, 2),
        (7, 4, 2, 5),
        (4, 6, 3, 9),
    ]:
        parts = (nn.LSTM(n_inputs, hidden, n_layers), nn.Linear(hidden, n_classes))
        expect.equal(
            student(n_inputs, hidden, n_layers, n_classes),
            sum(weight.numel() for part in parts for weight in part.parameters()),
            what=(
                f"the number of parameters with {n_inputs} inputs, {hidden} numbers of"
                f" state, {n_layers} layer(s) and {n_classes} classes"
            ),
            hint=(
                "a layer that reads m numbers has 4 h (m + h) weights and 8 h biases,"
                " and every layer above the first reads h numbers; the linear layer has"
                " a bias as well"
            ),
        )


def lstm_step(
    student: Callable[
        [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]
    ],
) -> None:
    """Random weights, an empty and a full memory, against PyTorch's own cell."""
    torch.manual_seed(0)
    for n_clips, n_inputs, width, full in [
        (2, 3, 4, False),
        (3, 5, 2, True),
        (1, 1, 1, True),
    ]:
        cell = nn.LSTMCell(n_inputs, width).double()
        x = torch.randn(n_clips, n_inputs, dtype=torch.float64)
        h, c = (
            torch.randn(n_clips, width, dtype=torch.float64) * float(full)
            for _ in range(2)
        )
        before = [one.clone() for one in (x, h, c)]
        bias = cell.bias_ih + cell.bias_hh
        with torch.no_grad():
            expected = cell(x, (h, c))
            answer = student(x, h, c, cell.weight_ih, cell.weight_hh, bias)
        for name, old, new in zip(("x", "h", "c"), before, (x, h, c), strict=True):
            expect.unchanged(old, new, what=name)
        expect.equal(
            len(answer) if isinstance(answer, tuple | list) else 1,
            2,
            what="the number of tensors that are returned",
            hint="the new state and the new cell, in this order",
        )
        hints = (
            (
                "o times tanh of the NEW cell; the gates lie one after the other, i, f,"
                " g, o"
            ),
            (
                "f times the old cell plus i times g; i, f and o go through a sigmoid,"
                " g through tanh"
            ),
        )
        # The cell first: a state that is wrong because of it would be told the wrong
        # reason.
        for part in (1, 0):
            expect.close(
                answer[part],
                expected[part],
                what=(
                    f"the new {('state', 'cell')[part]} of {n_clips} clip(s),"
                    f" {n_inputs} input(s), width {width}"
                ),
                hint=hints[part],
            )


def last_real(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Clips of all lengths in one batch, from one frame to all of them."""
    torch.manual_seed(0)
    for lengths in ([5, 5], [3, 1, 5, 2, 4], [1]):
        states = torch.randn(len(lengths), 5, 3)
        mask = torch.arange(5) < torch.tensor(lengths)[:, None]
        before = states.clone()
        answer = student(states, mask)
        expect.unchanged(before, states, what="states")
        expect.close(
            answer,
            torch.stack([states[i, n - 1] for i, n in enumerate(lengths)]),
            what=f"the last real states of clips with {lengths} real frames of 5",
            hint=(
                "the place of the last real frame is mask.sum(dim=1) - 1, another one"
                " in each clip"
            ),
        )


def named_when_covered(
    student: Callable[
        [Callable[[Tensor, Tensor], Tensor], Tensor, Tensor, Tensor], float
    ],
) -> None:
    """Models that know rooms or motions; frames of vectors and of pictures."""
    torch.manual_seed(0)
    rooms, motions = torch.randn(24, 4), torch.randn(24, 4)
    moved = motions[:, None] * torch.linspace(-1, 1, 6)[None, :, None]

    # What a model adds for the number of real frames: another mask, other answers.
    for_count = torch.randn(7, 8)
    for_count[6] = 0

    def model(weight: float) -> Callable[[Tensor, Tensor], Tensor]:
        def scores(frames: Tensor, mask: Tensor) -> Tensor:
            count, frames = mask.sum(dim=1), frames.flatten(2)
            mean = (frames * mask[..., None]).sum(dim=1) / count[:, None]
            last = frames[torch.arange(len(frames)), count - 1]
            parts = [mean, weight * (last - frames[:, 0])]
            return torch.cat(parts, dim=1) + for_count[count]

        return scores

    for lengths, name in [
        (torch.full((24,), 6), "whole clips"),
        (torch.arange(24) % 6 + 1, "clips with padding"),
    ]:
        mask = torch.arange(6) < lengths[:, None]
        frames = rooms[:, None] + moved
        frames[~mask] = 3 * torch.randn(int((~mask).sum()), 4)
        last = torch.stack([frames[i, n - 1] for i, n in enumerate(lengths.tolist())])
        for weight, knows, size in [
            (0.0, "rooms", (4,)),
            (9.0, "motions", (4,)),
            (0.0, "rooms in pictures", (1, 2, 2)),
        ]:
            judge = model(weight)
            # Every third clip has another word, so that some answers are wrong.
            targets = torch.where(
                torch.arange(24) % 3 > 0,
                judge(frames, mask).argmax(dim=1),
                torch.arange(24) % 8,
            )
            said = judge(last[:, None].repeat(1, 6, 1), mask).argmax(dim=1)
            given = frames.reshape(24, 6, *size).clone()
            before = given.clone()
            answer = student(judge, given, mask.clone(), targets)
            expect.unchanged(before, given, what="frames")
            expect.close(
                answer,
                float((said == targets).double().mean()),
                what=(
                    f"the share that a model of {knows} still names, {name}, frames"
                    f" {tuple(given.shape)}"
                ),
                hint=(
                    "each clip shows its last REAL frame, the one at mask.sum(dim=1) -"
                    " 1, in all places; the model gets these frames and the same mask"
                ),
            )


def half_right(student: Callable[[], str]) -> None:
    """Where the curve of the last state passes one half."""
    expect.quantity(
        student(),
        32.0,
        "frames",
        what="the added rest at which the last state is right in half of the clips",
        tolerance=0.15,
        mistakes={
            24.0: "there the curve still stands at two thirds; go on to the right",
            40.0: "that is the last point, where the curve stands at one third",
            16.0: "there the curve stands at 0.8",
        },
    )
