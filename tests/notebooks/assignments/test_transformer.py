"""The tasks of the assignment on the Transformer accept what is right and say what is wrong."""

import torch
import torch.nn.functional as F

from coursepkg.checks.assignments import transformer
from tests.notebooks.assignments.sources import solution_tests


def pieces(logits, labels, wide=None):
    wide = wide or torch.promote_types(logits.dtype, torch.float32)
    logs = logits.to(wide).log_softmax(-1)
    right = logs.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return logs, right, labels != -100


def smoothed_loss(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels)
    each = -(1 - smoothing) * right - smoothing * logs.mean(-1)
    return (each * is_real).sum() / is_real.sum().clamp(min=1)


def loss_of_targets(logits, labels, smoothing):
    """The smoothed target written out, of the tokens that count alone."""
    is_real = labels != -100
    n_classes = logits.shape[-1]
    wide = torch.promote_types(logits.dtype, torch.float32)
    target = (1 - smoothing) * F.one_hot(labels[is_real], n_classes).to(wide) + smoothing / n_classes
    total = -(target * logits[is_real].to(wide).log_softmax(-1)).sum()
    return total / max(1, int(is_real.sum()))


def loss_in_place(logits, labels, smoothing):
    """Writes to the labels that it was given."""
    counted = labels.ge(0)
    labels.clamp_(min=0)
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_p = wide - wide.logsumexp(dim=-1, keepdim=True)
    picked = torch.gather(log_p, -1, labels[..., None]).squeeze(-1)
    losses = torch.lerp(picked, log_p.sum(dim=-1) / log_p.shape[-1], smoothing).neg()
    return losses.masked_fill(~counted, 0.0).sum() / max(1, counted.count_nonzero().item())


def loss_of_one_half(logits, labels, smoothing):
    """Knows bfloat16, but no float16."""
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    logs, right, is_real = pieces(logits, labels, wide=logits.dtype)
    each = -(1 - smoothing) * right - smoothing * logs.mean(-1)
    return (each * is_real).sum() / is_real.sum().clamp(min=1)


def loss_of_torch(logits, labels, smoothing):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).flatten(0, 1)
    loss = F.cross_entropy(wide, labels.flatten(), label_smoothing=smoothing)
    return torch.where(loss.isnan(), 0.0 * wide.sum(), loss)


def loss_over_padding(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels)
    return ((-(1 - smoothing) * right - smoothing * logs.mean(-1)) * is_real).mean()


def loss_by_sentence(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels)
    each = (-(1 - smoothing) * right - smoothing * logs.mean(-1)) * is_real
    return (each.sum(1) / is_real.sum(1).clamp(min=1)).mean()


def loss_of_other_classes(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels)
    share = smoothing / (logits.shape[-1] - 1)
    each = -(1 - smoothing) * right - share * (logs.sum(-1) - right)
    return (each * is_real).sum() / is_real.sum().clamp(min=1)


def loss_summed(logits, labels, smoothing):
    return smoothed_loss(logits, labels, smoothing) * (labels != -100).sum()


def loss_nan(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels)
    return (-(1 - smoothing) * right - smoothing * logs.mean(-1))[is_real].mean()


def loss_narrow(logits, labels, smoothing):
    logs, right, is_real = pieces(logits, labels, logits.dtype)
    each = -(1 - smoothing) * right - smoothing * logs.mean(-1)
    return (each * is_real).sum() / is_real.sum().clamp(min=1)


def loss_narrow_inside(logits, labels, smoothing):
    loss = loss_narrow(logits, labels, smoothing)
    return loss.float() if loss.dtype == torch.bfloat16 else loss


def loss_counts_padding(logits, labels, smoothing):
    return smoothed_loss(logits, labels.clamp(min=0), smoothing)


def rms(x, gain, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain


def normed_weights(q, k, gain, mask, scale, eps, *, norm=rms, norm_k=None):
    scores = norm(q, gain, eps) @ (norm_k or norm)(k, gain, eps).transpose(-1, -2) * scale
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def weights_by_hand(q, k, gain, mask, scale, eps):
    def norm(x):
        return F.rms_norm(x, x.shape[-1:], gain, eps)

    powers = (torch.einsum("bhtd,bhsd->bhts", norm(q), norm(k)) * scale).exp() * mask
    return powers / powers.sum(-1, keepdim=True)


def outside(x, gain, eps):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * gain


def weights_mask_first(q, k, gain, mask, scale, eps):
    scores = rms(q, gain, eps) @ rms(k, gain, eps).transpose(-1, -2)
    return (scores.masked_fill(~mask, -1e4) * scale).softmax(-1)


def weights_broken(q, k, gain, mask, scale, eps):
    def norm(x, gain, eps):
        x = x * gain.mean()
        return x / (x.square().mean(-1, keepdim=True).sqrt() + eps)

    scores = norm(q, gain, eps) @ norm(k, gain, eps).transpose(-1, -2)
    return (scores.masked_fill(~mask, -1e4) * scale).softmax(-1)


def weights_masked_afterwards(q, k, gain, mask, scale, eps):
    scores = rms(q, gain, eps) @ rms(k, gain, eps).transpose(-1, -2) * scale
    return scores.softmax(-1) * mask


def weights_over_queries(q, k, gain, mask, scale, eps):
    scores = rms(q, gain, eps) @ rms(k, gain, eps).transpose(-1, -2) * scale
    return scores.masked_fill(~mask, -1e30).softmax(-2) * mask


def packed_mask(lengths, total):
    counts = torch.tensor(lengths)
    document = torch.full((total,), -1)
    document[: counts.sum()] = torch.arange(len(lengths)).repeat_interleave(counts)
    positions = torch.zeros(total, dtype=torch.int64)
    positions[: counts.sum()] = torch.cat([torch.arange(n) for n in lengths])
    same = (document[:, None] == document) & (document >= 0)
    return positions, same.tril()


def packed_by_blocks(lengths, total):
    positions = torch.zeros(total, dtype=torch.int64)
    mask = torch.zeros(total, total, dtype=torch.bool)
    start = 0
    for n in lengths:
        positions[start : start + n] = torch.arange(n)
        mask[start : start + n, start : start + n] = torch.ones(n, n, dtype=torch.bool).tril()
        start += n
    return positions, mask


def packed_leaking(lengths, total):
    n = sum(lengths)
    mask = torch.ones(total, total, dtype=torch.bool).tril()
    mask[n:] = mask[:, n:] = False
    return packed_mask(lengths, total)[0], mask


def packed_both_ways(lengths, total):
    positions, mask = packed_mask(lengths, total)
    return positions, mask | mask.T


def packed_one_document_of_padding(lengths, total):
    return packed_mask(lengths, total)[0], packed_mask([*lengths, total - sum(lengths)], total)[1]


def packed_going_on(lengths, total):
    positions = torch.arange(total)
    positions[sum(lengths) :] = 0
    return positions, packed_mask(lengths, total)[1]


def packed_strict(lengths, total):
    positions, mask = packed_mask(lengths, total)
    return positions, mask & ~torch.eye(total, dtype=torch.bool)


def packed_as_number(lengths, total):
    positions, mask = packed_mask(lengths, total)
    return positions, mask.float()


def packed_from_one(lengths, total):
    positions, mask = packed_mask(lengths, total)
    return positions + mask.any(-1), mask


def packed_too_short(lengths, total):
    return packed_mask(lengths, sum(lengths))


SIZES = transformer.layer_of("an-id")
GIB = transformer.training_gib(SIZES)
FULL = transformer.training_gib({**SIZES, "n_kv_heads": SIZES["n_heads"]})
TWO = GIB - 16 * SIZES["n_layers"] * SIZES["d_model"] * SIZES["d_ff"] / 2**30

RIGHT = {
    "smoothed_loss": smoothed_loss,
    "smoothed_loss of targets": loss_of_targets,
    "smoothed_loss labels in place": loss_in_place,
    "normed_weights": normed_weights,
    "normed_weights by hand": weights_by_hand,
    "packed_mask": packed_mask,
    "packed_mask by blocks": packed_by_blocks,
    "training_memory": lambda: f"{GIB} GiB",
    "training_memory in GB": lambda: f"{GIB * 2**30 / 1e9} GB",
}
WRONG = {
    "smoothed_loss torch": (loss_of_torch, "cross_entropy_loss was called"),
    "smoothed_loss padding in the number": (loss_over_padding, "must not count in the number of tokens"),
    "smoothed_loss padding as a class": (loss_counts_padding, "is expected"),
    "smoothed_loss by sentence": (loss_by_sentence, "not every sentence"),
    "smoothed_loss others": (loss_of_other_classes, "spread over all V classes"),
    "smoothed_loss sum": (loss_summed, "not their sum"),
    "smoothed_loss unsmoothed": (lambda x, y, s: smoothed_loss(x, y, 0.0), "are not smoothed"),
    "smoothed_loss NaN": (loss_nan, "without a single label the loss is nan"),
    "smoothed_loss bfloat16": (loss_narrow, "torch.float32 is expected"),
    "smoothed_loss bfloat16 inside": (loss_narrow_inside, "compute log_softmax in float32"),
    "smoothed_loss float16": (loss_of_one_half, "for torch.float16 the loss has dtype torch.float16"),
    "smoothed_loss detached": (lambda x, y, s: smoothed_loss(x.detach(), y, s), "no gradient reaches logits"),
    "normed_weights broken": (weights_broken, "the weights at"),
    "normed_weights mask first": (weights_mask_first, "is the mask applied before the scale?"),
    "normed_weights eps outside": (lambda *a: normed_weights(*a, norm=outside), "eps stands inside the root"),
    "normed_weights no gain": (
        lambda *a: normed_weights(*a, norm=lambda x, gain, eps: rms(x, 0 * gain + 1, eps)),
        "gain has no effect",
    ),
    "normed_weights keys as they are": (
        lambda *a: normed_weights(*a, norm_k=lambda x, gain, eps: x * gain),
        "both normalised",
    ),
    "normed_weights sum": (
        lambda *a: normed_weights(
            *a, norm=lambda x, gain, eps: x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * gain
        ),
        "RMS is a mean over D",
    ),
    "normed_weights masked afterwards": (weights_masked_afterwards, "the sum of a row of weights"),
    "normed_weights over queries": (weights_over_queries, "the sum of a row of weights"),
    "normed_weights detached norm": (
        lambda *a: normed_weights(
            *a, norm=lambda x, gain, eps: x / (x.square().mean(-1, keepdim=True) + eps).sqrt().detach() * gain
        ),
        "the gradient of",
    ),
    "normed_weights small scale": (lambda *a: normed_weights(*a[:4], min(a[4], 2.0), a[5]), "the weights at"),
    "packed_mask leak": (packed_leaking, "of another document"),
    "packed_mask both ways": (packed_both_ways, "which comes after it"),
    "packed_mask padding": (packed_one_document_of_padding, "one of them is padding"),
    "packed_mask going on": (packed_going_on, "begin at 0 in every document"),
    "packed_mask strict": (packed_strict, "does not see place 0 of its own document"),
    "packed_mask float": (packed_as_number, "torch.bool is expected"),
    "packed_mask from one": (packed_from_one, "begin at 0 in every document"),
    "packed_mask short": (packed_too_short, "a tensor of shape (7,) is expected"),
    "training_memory weights": (lambda: f"{GIB / 4} GiB", "two moments take memory as well"),
    "training_memory one moment": (lambda: f"{GIB / 2} GiB", "two moments of each parameter"),
    "training_memory all heads": (lambda: f"{FULL} GiB", "fewer heads"),
    "training_memory two matrices": (lambda: f"{TWO} GiB", "SwiGLU has three matrices"),
    "training_memory one layer": (lambda: f"{GIB / SIZES['n_layers']} GiB", "every layer counts"),
    "training_memory GB": (lambda: f"{GIB} GB", "would be right in GiB, not in GB"),
    "training_memory bare": (lambda: f"{GIB}", "has no unit"),
}

test_right, test_wrong = solution_tests("transformer", transformer, RIGHT, WRONG)
