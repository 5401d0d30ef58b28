"""Wrong answers to the exercises of part 3 that are more than a function to write: each is told what is wrong."""

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from tests.checks.solutions import rejects


def last_change(x, causal, n_layers):
    def last_row(x):
        for _ in range(n_layers):
            x = x + F.scaled_dot_product_attention(x, x, x, is_causal=causal)
        return x[-1]

    return (last_row(x) - last_row(torch.cat([x[[1, 0]], x[2:]]))).abs().max().item()


SEEN = {"no mask, 2 layers": False, "causal, 1 layer": False, "causal, 2 layers": True}
BYTES = {"phở in NFC": 5, "phở in NFD": 7, "感冒": 6, "🙂": 4}
KEPT = {0.5: 1, 1.0: 2, 2.0: 5}


def n_bytes(text, form):
    import unicodedata

    return len(unicodedata.normalize(form, text).encode())


def n_kept(probs, temperature, p, power=lambda t: 1 / t, more=0):
    shaped = probs ** power(temperature)
    ordered = (shaped / shaped.sum()).sort(descending=True).values
    return int((ordered.cumsum(0) - ordered < p).sum()) - more


def best(divide=True, end=1, penalty=lambda n, alpha: ((5 + n) / 6) ** alpha):
    def best_of(hypotheses, alpha):
        def score(tokens, log_prob):
            by = penalty(len(tokens) + end, alpha)
            return log_prob / by if divide else log_prob * by

        return max(hypotheses, key=lambda one: score(*one))[0]

    return best_of


def bleu(per_sentence=False, arithmetic=False, brevity=True):
    def penalty(rows):
        return min(1.0, math.exp(1 - sum(row[1] for row in rows) / sum(row[0] for row in rows)))

    def corpus_bleu(rows):
        precisions = [sum(row[2][n] for row in rows) / sum(row[3][n] for row in rows) for n in range(4)]
        mean = sum(precisions) / 4 if arithmetic else math.prod(precisions) ** 0.25
        shares = [penalty([row]) for row in rows] if per_sentence else [penalty(rows)]
        return 100 * mean * (sum(shares) / len(shares) if brevity else 1.0)

    return corpus_bleu


def block(eps_inside=True, stream=True, gated=True):
    def modern_block(x, attend, p, eps):
        def norm(x, weight):
            square = x.square().mean(dim=-1, keepdim=True)
            return x / ((square + eps).sqrt() if eps_inside else square.sqrt() + eps) * weight

        normed = norm(x, p["norm_1"])
        x = (x if stream else normed) + attend(normed)
        y = norm(x, p["norm_2"])
        one, other = (y @ p["gate"], y @ p["up"]) if gated else (y @ p["up"], y @ p["gate"])
        return x + (F.silu(one) * other) @ p["down"]

    return modern_block


def loss(shift=True, ignored=0):
    def target_loss(decode, target):
        read, labels = (target[:, :-1], target[:, 1:]) if shift else (target, target)
        return F.cross_entropy(decode(read).flatten(0, 1), labels.flatten(), ignore_index=ignored)

    return target_loss


def cosine(step, peak, warmup, last):
    if step <= warmup:
        return peak * (step - 1) / warmup
    return peak / 2 * (1 + math.cos(math.pi * (step - warmup) / (last - warmup)))


def cosine_from_the_start(step, peak, warmup, last):
    return peak * step / warmup if step <= warmup else peak / 2 * (1 + math.cos(math.pi * step / last))


def cosine_to_a_tenth(step, peak, warmup, last):
    if step <= warmup:
        return peak * step / warmup
    half = (1 + math.cos(math.pi * (step - warmup) / (last - warmup))) / 2
    return peak * (0.1 + 0.9 * half)


WRONG: dict[str, tuple[Any, str]] = {
    "positions.exchanged_words predicted with the mask alone": (
        (SEEN | {"causal, 1 layer": True}, last_change),
        "as a set",
    ),
    "positions.exchanged_words predicted as if no order passed": (
        (SEEN | {"causal, 2 layers": False}, last_change),
        "word 0 sees itself alone",
    ),
    "positions.exchanged_words measured without layers": (
        (SEEN, lambda x, causal, n_layers: last_change(x, causal, n_layers - 1)),
        "the measured change",
    ),
    "subwords.cheapest_cut greedy from the left": ("19 bits", "est at the end is cheaper"),
    "subwords.cheapest_cut of letters": ("31 bits", "single letters"),
    "subwords.cheapest_cut without a unit": ("18", "without a unit"),
    "subwords.byte_counts that count characters": ((BYTES, lambda text, form: len(text)), "not characters"),
    "subwords.byte_counts predicted as characters": ((BYTES | {"感冒": 2}, n_bytes), "three bytes"),
    "subwords.byte_counts in one form": ((BYTES, lambda text, form: n_bytes(text, "NFC")), "normalise"),
    "training_craft.cosine_rate that begins at 0": (cosine, "peak / warmup, not 0"),
    "training_craft.cosine_rate that counts the warm-up": (cosine_from_the_start, "behind the warm-up"),
    "training_craft.cosine_rate that does not end at 0": (cosine_to_a_tenth, "step - warmup"),
    "training_craft.step_in_memory in one": ({"micro_batch": 25_000, "accumulate": 1}, "GB of 16"),
    "training_craft.step_in_memory too small": ({"micro_batch": 5000, "accumulate": 4}, "25,000 are needed"),
    "training_craft.step_in_memory in many": ({"micro_batch": 2500, "accumulate": 10}, "more than needed"),
    "transformer.equal_shares with the network": ("2048 tokens", "feed-forward"),
    "transformer.equal_shares at half": ("3000 tokens", "half of all work"),
    "transformer.equal_shares in a wrong unit": ("1024 layers", "tokens is expected"),
    "transformer.target_loss unshifted": (loss(shift=False), "that it has just read"),
    "transformer.target_loss with padding": (loss(ignored=-100), "padding counts"),
    "transformer.target_loss of a sum": (
        lambda decode, target: loss()(decode, target) * (target[:, 1:] != 0).sum(),
        "divided once",
    ),
    "transformer_by_hand.encoder_work of one layer": ("3.76 GFLOP", "one layer"),
    "transformer_by_hand.encoder_work without scores": ("19.3 GFLOP", "4 n^2 E"),
    "transformer_by_hand.encoder_work of products alone": ("11.27 GFLOP", "two operations"),
    "transformer_by_hand.gradient_ratio on a linear axis": ("4.4 times", "logarithmic"),
    "transformer_by_hand.gradient_ratio upside down": ("4e-5 times", "larger number"),
    "transformer_by_hand.gradient_ratio ten times too large": ("2.5e5 times", "between 1e-6"),
    "word_vectors.narrow_table without the matrix": ("15.36 MB", "matrix"),
    "word_vectors.narrow_table of full width": ("92.16 MB", "full width"),
    "word_vectors.narrow_table in half precision": ("7.88 MB", "half precision"),
    "decoding.best_of multiplied": (best(divide=False), "divided by the penalty"),
    "decoding.best_of without the end": (best(end=0), "counts the end token"),
    "decoding.best_of by plain length": (best(penalty=lambda n, alpha: n**alpha), "not |y|^alpha"),
    "decoding.kept_tokens with the inverse temperature": (
        (KEPT, lambda probs, t, p: n_kept(probs, t, p, power=lambda t: t)),
        "1 / temperature",
    ),
    "decoding.kept_tokens without the last": (
        (KEPT, lambda probs, t, p: n_kept(probs, t, p, more=1)),
        "crosses p",
    ),
    "decoding.kept_tokens predicted the wrong way": ((KEPT | {2.0: 1}, n_kept), "flattens"),
    "metrics.sentences_needed doubled": ("3200 sentences", "root of 2"),
    "metrics.sentences_needed fewer": ("800 sentences", "wider"),
    "metrics.sentences_needed without a unit": ("6400", "without a unit"),
    "metrics.corpus_bleu by sentence": (bleu(per_sentence=True), "sums of lengths"),
    "metrics.corpus_bleu with the wrong mean": (bleu(arithmetic=True), "geometric"),
    "metrics.corpus_bleu without a penalty": (bleu(brevity=False), "no brevity penalty"),
    "modern_transformer.modern_block eps": (block(eps_inside=False), "outside the root"),
    "modern_transformer.modern_block stream": (block(stream=False), "not to the stream"),
    "modern_transformer.modern_block gate": (block(gated=False), "around the content"),
    "modern_transformer.modern_block two": (block(gated=False, stream=False), "stream itself; the SiLU"),
    "modern_transformer.widest_network of all heads": ({"n_kv_heads": 8, "d_ff": 1024}, "at most a quarter"),
    "modern_transformer.widest_network of one head": ({"n_kv_heads": 1, "d_ff": 1744}, "two GPUs"),
    "modern_transformer.widest_network too wide": ({"n_kv_heads": 2, "d_ff": 2048}, "too many"),
    "modern_transformer.widest_network too narrow": ({"n_kv_heads": 2, "d_ff": 1024}, "unused"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str) -> None:
    wrong, message = WRONG[case]
    rejects(case.split()[0], wrong, message)
