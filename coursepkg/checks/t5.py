"""Checks of the exercises in the chapter on T5."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from coursepkg.attention.position_bias import relative_buckets
from coursepkg.checks import expect


def similarity_text(student: Callable[[float], str]) -> None:
    """Scores of the data set, from 0 on, among them halves between two strings."""
    from coursepkg.projects.translation.t5.text import sts_to_text

    for similarity in (0.0, 0.8, 1.0, 1.1, 2.57, 3.3, 3.64, 4.9, 5.0):
        expect.equal(
            student(similarity),
            sts_to_text(max(1.0, similarity)),
            what=f"the string for {similarity}",
            hint=(
                "clip to at least 1, round to the nearest 0.2 with halves upwards, and"
                " write one decimal"
            ),
        )


def restored(student: Callable[[str, str], str]) -> None:
    """Spans inside a text, at both of its ends, one word or many, a dozen spans."""
    from coursepkg.projects.translation.t5.text import corrupt_spans

    text = "the night train to the coast leaves at nine and arrives before the sun"
    longer = f"{text} and the day train leaves at ten and arrives when it is dark"
    for whole, spans in (
        (text, [(2, 4), (8, 9)]),
        (text, [(0, 1), (5, 8), (13, 14)]),
        (text, [(0, 14)]),
        (text, []),
        (longer, [(i, i + 1) for i in range(0, 26, 2)]),
    ):
        words = whole.split()
        source, target = corrupt_spans(words, spans)
        expect.equal(
            student(source, target),
            whole,
            what=f"the text behind {source!r} and {target!r}",
            hint=(
                "what stands in the target behind a sentinel belongs where that"
                " sentinel stands in the source"
            ),
        )


def decoder_input(student: Callable[[Tensor, int, int], Tensor]) -> None:
    """Targets of different lengths, with ids of PAD and start that differ."""
    labels = torch.tensor([[7, 8, 9, 1], [5, 1, -100, -100], [6, 7, 1, -100]])
    for start, pad in ((0, 0), (3, 4)):
        given = labels.clone()
        wanted = torch.tensor([[start, 7, 8, 9], [start, 5, 1, pad], [start, 6, 7, 1]])
        found = student(given, start, pad)
        expect.unchanged(labels, given, what="labels")
        expect.is_tensor(found, wanted.shape, what="the decoder's input")
        expect.equal(
            found.tolist(),
            wanted.tolist(),
            what=f"the decoder's input for start {start} and PAD {pad}",
            hint=(
                "one place later, start in front, and no -100 left: an embedding has no"
                " row -100"
            ),
        )


def causal_bucket(student: Callable[[int, int, int], int]) -> None:
    """Near and far distances, for T5's settings and for two others.

    None lies where the logarithmic share is a whole bucket, which rounding moves.
    """
    for n_buckets, max_distance in ((32, 128), (16, 64), (8, 100)):
        for steps in (0, 1, 3, 5, 7, 9, 13, 21, 30, 50, 75, 100, 127, 500):
            wanted = int(
                relative_buckets(torch.tensor(-steps), n_buckets, max_distance, False)
            )
            expect.equal(
                student(steps, n_buckets, max_distance),
                wanted,
                what=(
                    f"the bucket of {steps} steps back, {n_buckets} buckets,"
                    f" max_distance {max_distance}"
                ),
                hint=(
                    "one bucket each below half of the buckets, then logarithmic, and"
                    " the last one for all the rest"
                ),
            )


T5_SIZES = {
    "Small": (60_506_624, 512, 6),
    "Base": (222_903_552, 768, 12),
    "Large": (737_668_096, 1024, 24),
    "3B": (2_851_598_336, 1024, 24),
    "11B": (11_307_321_344, 1024, 24),
}
"""Parameters, width and layers on each side of the sizes that were published."""
CARD = 12e9
"""Bytes of the card in the exercise on fine-tuning."""


def fine_tuning_plan(answer: Mapping[str, Any]) -> None:
    """The plan fits, makes 64 sentences a step, and none larger would fit."""
    is_plan = isinstance(answer, Mapping) and set(answer) == {
        "size",
        "batch",
        "accumulate",
    }
    assert is_plan, f"the plan is {answer!r}; its keys are size, batch and accumulate"
    size, batch = answer["size"], answer["batch"]
    assert size in T5_SIZES, f"size is {size!r}; choose one of {', '.join(T5_SIZES)}"
    whole = [answer[name] for name in ("batch", "accumulate")]
    assert all(expect.is_whole(n) and n > 0 for n in whole), (
        f"batch and accumulate are {whole}; two whole numbers above 0 are expected"
    )
    assert batch * answer["accumulate"] == 64, (
        f"{batch} sentences times {answer['accumulate']} are"
        f" {batch * answer['accumulate']}; a step has 64"
    )
    state, sentence = _memory(size)
    needed = f"{size} needs {state / 1e9:.2f} GB for its state"
    assert state <= CARD, f"{needed}; the card has 12 GB"
    assert state + batch * sentence <= CARD, (
        f"{needed} and {batch * sentence / 1e9:.2f} GB for the activations of"
        f" {batch} {'sentence' if batch == 1 else 'sentences'}; together more than"
        " 12 GB"
    )
    names = list(T5_SIZES)
    larger = names[names.index(size) + 1]
    fits = sum(_memory(larger)) <= CARD
    assert not fits, f"{size} fits, but so does {larger} with a batch of 1"
    assert state + 2 * batch * sentence > CARD or 2 * batch > 64, (
        f"a batch of {batch} fits, but so does one of {2 * batch}"
    )


def _memory(size: str) -> tuple[float, float]:
    """Bytes of the state of training, and of the activations of a sentence."""
    parameters, width, layers = T5_SIZES[size]
    return 16.0 * parameters, 32.0 * 4 * 64 * width * 2 * layers
