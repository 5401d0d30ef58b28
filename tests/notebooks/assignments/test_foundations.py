"""The tasks of the assignment on the foundations accept what is right and say what is wrong."""

import pytest
import torch
import torch.nn.functional as F

from coursepkg.checks.assignments import foundations
from tests.notebooks.assignments.sources import solution_tests


def encode(x, lengths, w, u, b, c):
    last = x.new_zeros(x.shape[0], u.shape[1])
    states = []
    for s in range(x.shape[1]):
        new = torch.gru_cell(x[:, s], last, w, u, b, c)
        is_real = (s < lengths)[:, None]
        last = torch.where(is_real, new, last)
        states.append(torch.where(is_real, new, 0.0))
    return torch.stack(states, dim=1), last


def encode_by_gather(x, lengths, w, u, b, c):
    """Runs on through the padding; what comes after the end is cut off."""
    h, states = x.new_zeros(x.shape[0], u.shape[1]), []
    for step in x.unbind(1):
        gates, from_state = F.linear(step, w, b), F.linear(h, u, c)
        (r, z, n), (r_h, z_h, n_h) = gates.chunk(3, -1), from_state.chunk(3, -1)
        r, z = torch.sigmoid(r + r_h), torch.sigmoid(z + z_h)
        h = (1 - z) * torch.tanh(n + r * n_h) + z * h
        states.append(h)
    states = torch.stack(states, 1)
    is_real = torch.arange(x.shape[1]) < lengths[:, None]
    states = states.masked_fill(~is_real[..., None], 0.0)
    at = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, states.shape[2])
    return states, states.gather(1, at)[:, 0]


def runs_on(x, lengths, w, u, b, c):
    h, states = x.new_zeros(x.shape[0], u.shape[1]), []
    for step in x.unbind(1):
        h = torch.gru_cell(step, h, w, u, b, c)
        states.append(h)
    return torch.stack(states, 1), h


def last_of_the_row(x, lengths, w, u, b, c):
    states, _ = encode(x, lengths, w, u, b, c)
    return states, states[:, -1]


def last_runs_on(x, lengths, w, u, b, c):
    states, _ = encode(x, lengths, w, u, b, c)
    kept = torch.where((lengths > 0)[:, None], runs_on(x, lengths, w, u, b, c)[1], 0.0)
    return states, kept


def one_before(x, lengths, w, u, b, c):
    states, _ = encode(x, lengths, w, u, b, c)
    at = (lengths - 2).clamp(min=0)[:, None, None].expand(-1, 1, states.shape[2])
    return states, states.gather(1, at)[:, 0]


def gates_swapped(x, lengths, w, u, b, c):
    def swap(a):
        r, z, n = a.chunk(3)
        return torch.cat([z, r, n])

    return encode(x, lengths, swap(w), swap(u), swap(b), swap(c))


def wraps_around(x, lengths, w, u, b, c):
    states = encode(x, lengths, w, u, b, c)[0]
    return states, runs_on(x, lengths, w, u, b, c)[0][torch.arange(len(x)), lengths - 1]


def detached_state(x, lengths, w, u, b, c):
    h, states = x.new_zeros(x.shape[0], u.shape[1]), []
    for s, step in enumerate(x.unbind(1)):
        new = torch.gru_cell(step, h.detach(), w, u, b, c)
        is_real = (s < lengths)[:, None]
        h = torch.where(is_real, new, h)
        states.append(torch.where(is_real, new, 0.0))
    return torch.stack(states, 1), h


def in_float32(x, lengths, w, u, b, c):
    return encode(x.float(), lengths, w.float(), u.float(), b.float(), c.float())


def scores_of(query, keys, W):
    return query @ W @ keys.transpose(1, 2)


def real(keys, lengths):
    return (torch.arange(keys.shape[1]) < lengths[:, None])[:, None]


def attend(query, keys, W, lengths):
    scores, is_real = scores_of(query, keys, W), real(keys, lengths)
    weights = scores.masked_fill(~is_real, torch.finfo(scores.dtype).min).softmax(-1) * is_real
    return weights @ keys, weights


def attend_by_hand(query, keys, W, lengths):
    scores, is_real = torch.einsum("btq,qk,bsk->bts", query, W, keys), real(keys, lengths)
    largest = scores.masked_fill(~is_real, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.where(is_real, (scores - largest).clamp(max=0.0), 0.0).exp() * is_real
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ keys, weights


def infinite(query, keys, W, lengths):
    weights = scores_of(query, keys, W).masked_fill(~real(keys, lengths), -torch.inf).softmax(-1)
    return weights @ keys, weights


def nan_to_num(query, keys, W, lengths):
    weights = scores_of(query, keys, W).masked_fill(~real(keys, lengths), -torch.inf).softmax(-1)
    weights = weights.nan_to_num(0.0)
    return weights @ keys, weights


def nan_in_gradients(query, keys, W, lengths):
    powers = scores_of(query, keys, W).exp() * real(keys, lengths)
    total = powers.sum(-1, keepdim=True)
    weights = torch.where(total > 0, powers / total, 0.0)
    return weights @ keys, weights


def masked_afterwards(query, keys, W, lengths):
    weights = scores_of(query, keys, W).softmax(-1) * real(keys, lengths)
    return weights @ keys, weights


def uniform_where_empty(query, keys, W, lengths):
    scores = scores_of(query, keys, W)
    weights = scores.masked_fill(~real(keys, lengths), torch.finfo(scores.dtype).min).softmax(-1)
    return weights @ keys, weights


def scaled(query, keys, W, lengths):
    return attend(query, keys, W / keys.shape[2] ** 0.5, lengths)


def over_queries(query, keys, W, lengths):
    is_real = real(keys, lengths)
    scores = scores_of(query, keys, W)
    weights = scores.masked_fill(~is_real, torch.finfo(scores.dtype).min).softmax(1) * is_real
    return weights @ keys, weights


def float64_only(query, keys, W, lengths):
    return attend(query.double(), keys.double(), W.double(), lengths)


def weights_detached(query, keys, W, lengths):
    weights = attend(query, keys, W, lengths)[1].detach()
    return weights @ keys, weights


def unmasked(query, keys, W, lengths):
    return attend(query, keys, W, torch.where(lengths > 0, keys.shape[1], 0))


def decoder_batch(targets, bos, eos, pad):
    longest = max(len(ids) for ids in targets)
    inputs = [[bos, *ids] + [pad] * (longest - len(ids)) for ids in targets]
    labels = [[*ids, eos] + [-100] * (longest - len(ids)) for ids in targets]
    return torch.tensor(inputs), torch.tensor(labels)


def decoder_batch_by_shift(targets, bos, eos, pad):
    longest = max(map(len, targets))
    whole = torch.full((len(targets), longest + 2), -100)
    for row, ids in enumerate(targets):
        whole[row, : len(ids) + 2] = torch.tensor([bos, *ids, eos])
    inputs = whole[:, :-1].clone()
    inputs[(inputs == -100) | (inputs == eos)] = pad
    return inputs, whole[:, 1:]


def unshifted(targets, bos, eos, pad):
    rows = [[bos, *ids, eos] for ids in targets]
    longest = max(map(len, rows))
    inputs = torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
    return inputs, inputs.masked_fill(inputs == pad, -100)


def unshifted_right_size(targets, bos, eos, pad):
    labels = decoder_batch(targets, bos, eos, pad)[1]
    return labels.masked_fill(labels == -100, pad), labels


def without_eos(targets, bos, eos, pad):
    inputs, labels = decoder_batch(targets, bos, eos, pad)
    return inputs, labels.masked_fill(labels == eos, -100)


def padding_as_label(targets, bos, eos, pad):
    inputs, labels = decoder_batch(targets, bos, eos, pad)
    return inputs, labels.masked_fill(labels == -100, pad)


def reads_eos(targets, bos, eos, pad):
    longest = max(map(len, targets))
    inputs = [([bos, *ids, eos] + [pad] * longest)[: longest + 1] for ids in targets]
    return torch.tensor(inputs), decoder_batch(targets, bos, eos, pad)[1]


def one_too_wide(targets, bos, eos, pad):
    inputs, labels = decoder_batch(targets, bos, eos, pad)
    return F.pad(inputs, (0, 1), value=pad), F.pad(labels, (0, 1), value=-100)


def padding_on_the_left(targets, bos, eos, pad):
    longest = max(map(len, targets))
    inputs = [[pad] * (longest - len(ids)) + [bos, *ids] for ids in targets]
    labels = [[-100] * (longest - len(ids)) + [*ids, eos] for ids in targets]
    return torch.tensor(inputs), torch.tensor(labels)


def as_float(targets, bos, eos, pad):
    inputs, labels = decoder_batch(targets, bos, eos, pad)
    return inputs.float(), labels


COUNT = 1
for size in foundations.sizes_of("an-id").values():
    COUNT *= size


RIGHT = {
    "encode": encode,
    "encode by gather": encode_by_gather,
    "attend": attend,
    "attend by hand": attend_by_hand,
    "attend nan_to_num": nan_to_num,
    "decoder_batch": decoder_batch,
    "decoder_batch by shift": decoder_batch_by_shift,
    "additive_memory": lambda: f"{4 * COUNT / 2**20} MiB",
    "additive_memory without a zero": lambda: f"{4 * COUNT / 2**30:.6f} GiB".removeprefix("0"),
    "additive_memory in bytes": lambda: f"{4 * COUNT:,} bytes",
}
WRONG = {
    "encode runs on": (runs_on, "a state at padding"),
    "encode last of the row": (last_of_the_row, "the last state belongs to the last real token"),
    "encode last runs on": (last_runs_on, "the last state belongs to the last real token"),
    "encode one before": (one_before, "the last state belongs to the last real token"),
    "encode gates": (gates_swapped, "the order of the rows is r, z, n"),
    "encode wraps around": (wraps_around, "the last state of a sentence of length 0"),
    "encode detached": (detached_state, "the gradient of"),
    "encode float32": (in_float32, "torch.float64 is expected, as it came"),
    "encode one tensor": (lambda *a: encode(*a)[0], "two results are expected"),
    "encode raises": (lambda *a: a[0] @ a[1], "encode raised RuntimeError"),
    "attend infinite": (infinite, "of a sentence of length 0 is NaN"),
    "attend NaN": (nan_in_gradients, "is NaN or infinite, though the output is finite"),
    "attend masked afterwards": (masked_afterwards, "mask the scores, then softmax"),
    "attend uniform": (uniform_where_empty, "of a sentence of length 0"),
    "attend scaled": (scaled, "there is no scale"),
    "attend over queries": (over_queries, "softmax over the keys"),
    "attend float64": (float64_only, "torch.float32 is expected, as it came"),
    "attend detached": (weights_detached, "no gradient reaches query"),
    "attend unmasked": (unmasked, "a weight at padding"),
    "decoder_batch unshifted": (unshifted, "(2, 4) is expected"),
    "decoder_batch same": (unshifted_right_size, "reads the very token that it has to predict"),
    "decoder_batch no EOS": (without_eos, "EOS comes last"),
    "decoder_batch padding": (padding_as_label, "padding is no label"),
    "decoder_batch reads EOS": (reads_eos, "reads behind the end"),
    "decoder_batch wide": (one_too_wide, "(2, 4) is expected"),
    "decoder_batch left": (padding_on_the_left, "begins with BOS"),
    "decoder_batch float": (as_float, "torch.int64 is expected"),
    "additive_memory MB": (lambda: f"{4 * COUNT / 2**20} MB", "would be right in MiB, not in MB"),
    "additive_memory comma": (
        lambda: f"{4 * COUNT / 2**20:.2f} MiB".replace(".", ","),
        "write a point before the decimals",
    ),
    "additive_memory no unit": (lambda: f"{4 * COUNT / 2**20}", "has no unit"),
    "additive_memory elements": (lambda: f"{COUNT / 2**20} MiB", "a float32 has 4 bytes"),
    "additive_memory double": (lambda: f"{8 * COUNT / 2**20} MiB", "not 8"),
    "additive_memory scores": (
        lambda: f"{4 * COUNT / foundations.sizes_of('an-id')['m'] / 2**20} MiB",
        "all m components",
    ),
    "additive_memory number": (lambda: 4 * COUNT, "a text such as"),
    "additive_memory seconds": (lambda: f"{COUNT} s", "the unit is 's'"),
    "additive_memory off": (lambda: f"{5 * COUNT / 2**20} MiB", "multiply the four sizes"),
}

test_right, test_wrong = solution_tests("foundations", foundations, RIGHT, WRONG)


@pytest.mark.parametrize("student", ["", " ", None, 20_261_125])
def test_an_id_that_is_no_text_is_refused(student):
    """In the grader, too, as the student's mistake and not as one of the test."""
    with pytest.raises(AssertionError, match="in quotation marks"):
        foundations.additive_memory.judge((student,), "1 MiB")
