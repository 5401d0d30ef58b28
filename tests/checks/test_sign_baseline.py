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


def f1(truths, said, words, *, divide_by=len):
    total = 0.0
    for word in words:
        pairs = truths.count(word) + said.count(word)
        hits = sum(t == s == word for t, s in zip(truths, said, strict=True))
        total += 2 * hits / pairs if pairs else 0.0
    return total / divide_by(words)


def test_macro_f1_right(assert_accepts):
    assert_accepts("sign_baseline.macro_f1", f1)


def test_macro_f1_over_what_occurs(assert_rejects):
    assert_rejects(
        "sign_baseline.macro_f1",
        lambda truths, said, words: f1(truths, said, sorted(set(truths))),
        "the missing ones too",
    )


def test_macro_f1_by_recall(assert_rejects):
    def recall(truths, said, words):
        hits = [sum(t == s == w for t, s in zip(truths, said, strict=True)) for w in words]
        return sum(n / max(1, truths.count(w)) for n, w in zip(hits, words, strict=True)) / len(words)

    assert_rejects("sign_baseline.macro_f1", recall, "times it was said")


def test_macro_f1_as_accuracy(assert_rejects):
    assert_rejects(
        "sign_baseline.macro_f1",
        lambda truths, said, words: sum(t == s for t, s in zip(truths, said, strict=True)) / len(truths),
        "macro-F1 of",
    )


def test_macro_f1_that_divides_by_zero(assert_rejects):
    def fragile(truths, said, words):
        return sum(
            2
            * sum(t == s == w for t, s in zip(truths, said, strict=True))
            / (truths.count(w) + said.count(w))
            for w in words
        ) / len(words)

    assert_rejects("sign_baseline.macro_f1", fragile, "ZeroDivisionError")
