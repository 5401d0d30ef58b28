"""The checks of the chapter on the baseline for signs accept what is right and say what is wrong."""

import torch


def parameters(n_inputs, hidden, n_layers, n_classes):
    total = hidden * n_classes + n_classes
    for layer in range(n_layers):
        width = hidden if layer else n_inputs
        total += 4 * hidden * (width + hidden + 2)
    return total


def test_lstm_parameters_right(assert_accepts):
    assert_accepts("sign_baseline.lstm_parameters", parameters)


def test_lstm_parameters_with_one_bias_a_gate(assert_rejects):
    def one_bias(n_inputs, hidden, n_layers, n_classes):
        return parameters(n_inputs, hidden, n_layers, n_classes) - 4 * hidden * n_layers

    assert_rejects("sign_baseline.lstm_parameters", one_bias, "8 h biases")


def test_lstm_parameters_with_equal_layers(assert_rejects):
    def equal(n_inputs, hidden, n_layers, n_classes):
        one = parameters(n_inputs, hidden, 1, n_classes) - hidden * n_classes - n_classes
        return n_layers * one + hidden * n_classes + n_classes

    assert_rejects("sign_baseline.lstm_parameters", equal, "2 layer(s)")


def test_lstm_parameters_without_the_last_bias(assert_rejects):
    assert_rejects(
        "sign_baseline.lstm_parameters",
        lambda n, h, layers, v: parameters(n, h, layers, v) - v,
        "100 classes",
    )


def step(x, h, c, w_in, w_state, bias, *, order=(0, 1, 2, 3), show=torch.tanh, old_cell=False):
    gates = (x @ w_in.T + h @ w_state.T + bias).chunk(4, dim=1)
    i, f, g, o = (gates[k] for k in order)
    cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * show(c if old_cell else cell), cell


def test_lstm_step_right(assert_accepts):
    assert_accepts("sign_baseline.lstm_step", step)


def test_lstm_step_with_gates_in_another_order(assert_rejects):
    assert_rejects(
        "sign_baseline.lstm_step",
        lambda *given: step(*given, order=(0, 1, 3, 2)),
        "the new cell of 2 clip(s)",
    )


def test_lstm_step_that_shows_the_old_cell(assert_rejects):
    assert_rejects("sign_baseline.lstm_step", lambda *given: step(*given, old_cell=True), "NEW cell")


def test_lstm_step_that_shows_the_cell_as_it_is(assert_rejects):
    assert_rejects("sign_baseline.lstm_step", lambda *given: step(*given, show=lambda c: c), "the new state")


def test_lstm_step_that_forgets_nothing(assert_rejects):
    def keeps(x, h, c, w_in, w_state, bias):
        i, _, g, o = (x @ w_in.T + h @ w_state.T + bias).chunk(4, dim=1)
        cell = c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell

    assert_rejects("sign_baseline.lstm_step", keeps, "f times the old cell")


def test_lstm_step_in_place(assert_rejects):
    def in_place(x, h, c, *weights):
        h_new, c_new = step(x, h, c, *weights)
        c.copy_(c_new)
        return h_new, c

    assert_rejects("sign_baseline.lstm_step", in_place, "c was changed in place")


def test_lstm_step_of_one_tensor(assert_rejects):
    assert_rejects(
        "sign_baseline.lstm_step", lambda *given: step(*given)[0], "the new state and the new cell"
    )


def test_last_real_right(assert_accepts):
    assert_accepts(
        "sign_baseline.last_real",
        lambda states, mask: states[torch.arange(len(states)), mask.sum(dim=1) - 1],
    )


def test_last_real_by_gathering(assert_accepts):
    def gathered(states, mask):
        place = (mask.sum(dim=1) - 1)[:, None, None].expand(-1, 1, states.shape[2])
        return states.gather(1, place)[:, 0]

    assert_accepts("sign_baseline.last_real", gathered)


def test_last_real_after_the_padding(assert_rejects):
    assert_rejects("sign_baseline.last_real", lambda states, mask: states[:, -1], "mask.sum(dim=1) - 1")


def test_last_real_of_the_longest(assert_rejects):
    assert_rejects(
        "sign_baseline.last_real",
        lambda states, mask: states[:, int(mask.sum(dim=1).max()) - 1],
        "another one in each clip",
    )


def test_last_real_of_all_pairs(assert_rejects):
    assert_rejects(
        "sign_baseline.last_real", lambda states, mask: states[:, mask.sum(dim=1) - 1], "has shape"
    )


def covered(model, frames, mask, targets, *, place=None):
    place = mask.sum(dim=1) - 1 if place is None else place
    still = frames[torch.arange(len(frames)), place][:, None].expand_as(frames)
    return float((model(still, mask).argmax(dim=1) == targets).float().mean())


NAMED = "sign_baseline.named_when_covered"


def test_named_when_covered_right(assert_accepts):
    assert_accepts(NAMED, covered)


def test_named_when_covered_as_a_tensor(assert_accepts):
    assert_accepts(NAMED, lambda *given: torch.tensor(covered(*given)))


def test_named_when_covered_by_padding(assert_rejects):
    def padding(model, frames, mask, targets):
        return covered(model, frames, mask, targets, place=torch.full((len(frames),), -1))

    assert_rejects(NAMED, padding, "clips with padding")


def test_named_when_covered_by_the_first_frame(assert_rejects):
    def first(model, frames, mask, targets):
        return covered(model, frames, mask, targets, place=torch.zeros(len(frames), dtype=torch.long))

    assert_rejects(NAMED, first, "last REAL frame")


def test_named_when_nothing_is_covered(assert_rejects):
    def open_eyes(model, frames, mask, targets):
        return float((model(frames, mask).argmax(dim=1) == targets).float().mean())

    assert_rejects(NAMED, open_eyes, "whole clips")


def test_named_when_covered_by_the_mean(assert_rejects):
    def blurred(model, frames, mask, targets):
        mean = (frames * mask[..., None]).sum(dim=1) / mask.sum(dim=1)[:, None]
        return float((model(mean[:, None].expand_as(frames), mask).argmax(dim=1) == targets).float().mean())

    assert_rejects(NAMED, blurred, "last REAL frame")


def test_named_when_covered_without_a_mask(assert_rejects):
    def unmasked(model, frames, mask, targets):
        return covered(model, frames, torch.ones_like(mask), targets)

    assert_rejects(NAMED, unmasked, "clips with padding")


def test_named_when_covered_as_a_count(assert_rejects):
    assert_rejects(NAMED, lambda *given: covered(*given) * len(given[1]), "whole clips")


def test_named_when_covered_in_place(assert_rejects):
    def in_place(model, frames, mask, targets):
        frames[:] = frames[torch.arange(len(frames)), mask.sum(dim=1) - 1][:, None].clone()
        return float((model(frames, mask).argmax(dim=1) == targets).float().mean())

    assert_rejects(NAMED, in_place, "frames was changed in place")
