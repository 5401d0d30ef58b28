"""The checks of the chapter on the baseline for signs accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def parameters(n_inputs, hidden, n_layers, n_classes):
    total = hidden * n_classes + n_classes
    for layer in range(n_layers):
        width = hidden if layer else n_inputs
        total += 4 * hidden * (width + hidden + 2)
    return total


def one_bias(n_inputs, hidden, n_layers, n_classes):
    return parameters(n_inputs, hidden, n_layers, n_classes) - 4 * hidden * n_layers


def equal(n_inputs, hidden, n_layers, n_classes):
    one = parameters(n_inputs, hidden, 1, n_classes) - hidden * n_classes - n_classes
    return n_layers * one + hidden * n_classes + n_classes


def step(x, h, c, w_in, w_state, bias, *, order=(0, 1, 2, 3), show=torch.tanh, old_cell=False):
    gates = (x @ w_in.T + h @ w_state.T + bias).chunk(4, dim=1)
    i, f, g, o = (gates[k] for k in order)
    cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * show(c if old_cell else cell), cell


def keeps(x, h, c, w_in, w_state, bias):
    i, _, g, o = (x @ w_in.T + h @ w_state.T + bias).chunk(4, dim=1)
    cell = c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def lstm_step_in_place(x, h, c, *weights):
    h_new, c_new = step(x, h, c, *weights)
    c.copy_(c_new)
    return h_new, c


def gathered(states, mask):
    place = (mask.sum(dim=1) - 1)[:, None, None].expand(-1, 1, states.shape[2])
    return states.gather(1, place)[:, 0]


def covered(model, frames, mask, targets, *, place=None):
    place = mask.sum(dim=1) - 1 if place is None else place
    still = frames[torch.arange(len(frames)), place][:, None].expand_as(frames)
    return float((model(still, mask).argmax(dim=1) == targets).float().mean())


def padding(model, frames, mask, targets):
    return covered(model, frames, mask, targets, place=torch.full((len(frames),), -1))


def first(model, frames, mask, targets):
    return covered(model, frames, mask, targets, place=torch.zeros(len(frames), dtype=torch.long))


def open_eyes(model, frames, mask, targets):
    return float((model(frames, mask).argmax(dim=1) == targets).float().mean())


def blurred(model, frames, mask, targets):
    mean = (frames * mask[..., None]).sum(dim=1) / mask.sum(dim=1)[:, None]
    return float((model(mean[:, None].expand_as(frames), mask).argmax(dim=1) == targets).float().mean())


def unmasked(model, frames, mask, targets):
    return covered(model, frames, torch.ones_like(mask), targets)


def of_vectors(model, frames, mask, targets):
    last = frames[torch.arange(len(frames)), mask.sum(dim=1) - 1]
    still = last[:, None].repeat(1, frames.shape[1], 1)
    return float((model(still, mask).argmax(dim=1) == targets).float().mean())


def other_mask(model, frames, mask, targets):
    def see_all(still, _):
        return model(still, torch.ones_like(mask))

    return covered(see_all, frames, mask, targets)


def named_when_covered_in_place(model, frames, mask, targets):
    frames[:] = frames[torch.arange(len(frames)), mask.sum(dim=1) - 1][:, None].clone()
    return float((model(frames, mask).argmax(dim=1) == targets).float().mean())


RIGHT = {
    "lstm_parameters": parameters,
    "lstm_step": step,
    "last_real": lambda states, mask: states[torch.arange(len(states)), mask.sum(dim=1) - 1],
    "last_real by gathering": gathered,
    "named_when_covered": covered,
    "named_when_covered as a tensor": lambda *given: torch.tensor(covered(*given)),
    "half_right": lambda: "32 frames",
    "half_right roughly": lambda: "30 frames",
}

WRONG = {
    "lstm_parameters with one bias a gate": (one_bias, "8 h biases"),
    "lstm_parameters with equal layers": (equal, "2 layer(s)"),
    "lstm_parameters without the last bias": (
        lambda n, h, layers, v: parameters(n, h, layers, v) - v,
        "100 classes",
    ),
    "lstm_step with gates in another order": (
        lambda *given: step(*given, order=(0, 1, 3, 2)),
        "the new cell of 2 clip(s)",
    ),
    "lstm_step that shows the old cell": (lambda *given: step(*given, old_cell=True), "NEW cell"),
    "lstm_step that shows the cell as it is": (
        lambda *given: step(*given, show=lambda c: c),
        "the new state",
    ),
    "lstm_step that forgets nothing": (keeps, "f times the old cell"),
    "lstm_step in place": (lstm_step_in_place, "c was changed in place"),
    "lstm_step of one tensor": (lambda *given: step(*given)[0], "the new state and the new cell"),
    "last_real after the padding": (lambda states, mask: states[:, -1], "mask.sum(dim=1) - 1"),
    "last_real of the longest": (
        lambda states, mask: states[:, int(mask.sum(dim=1).max()) - 1],
        "another one in each clip",
    ),
    "last_real of all pairs": (lambda states, mask: states[:, mask.sum(dim=1) - 1], "has shape"),
    "named_when_covered by padding": (padding, "clips with padding"),
    "named_when_covered by the first frame": (first, "last REAL frame"),
    "named_when_covered where nothing is covered": (open_eyes, "whole clips"),
    "named_when_covered by the mean": (blurred, "last REAL frame"),
    "named_when_covered without a mask": (unmasked, "clips with padding"),
    "named_when_covered of vectors alone": (of_vectors, "your code raised RuntimeError"),
    "named_when_covered as a count": (lambda *given: covered(*given) * len(given[1]), "whole clips"),
    "named_when_covered with another mask": (other_mask, "the same mask"),
    "named_when_covered in place": (named_when_covered_in_place, "frames was changed in place"),
    "half_right last point before": (lambda: "24 frames", "two thirds"),
    "half_right last point": (lambda: "40 frames", "one third"),
    "half_right first fall": (lambda: "16 frames", "0.8"),
    "half_right without unit": (lambda: "32", "without a unit"),
}

test_right, test_wrong = solution_tests("sign_baseline", RIGHT, WRONG)
