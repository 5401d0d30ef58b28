"""Checks of the exercises in the chapter on word vectors."""

import unicodedata
from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.text.skipgram import SkipGram
from coursepkg.text.word_vectors import ppmi


def nearest_row(student: Callable[[Tensor, int], int]) -> None:
    """The nearest row by cosine."""
    table = torch.tensor([[3.0, 4.0], [4.0, 3.0], [-4.0, 3.0], [0.0, 40.0]])
    apart = torch.tensor([[1.0, 0.0], [-1.0, 1.0], [-1.0, -3.0]])
    for vectors, row, nearest in [
        *((table, row, nearest) for row, nearest in enumerate((1, 0, 3, 0))),
        (apart, 0, 2),
    ]:
        expect.equal(
            student(vectors.clone(), row),
            nearest,
            what=f"the row nearest to row {row} of {vectors.int().tolist()}",
            hint=(
                "compare angles: divide by the lengths, and leave out the row itself,"
                " also where all other cosines are negative"
            ),
        )


def narrow_table(student: str) -> None:
    """The memory of a table of 128 columns and of the matrix that widens its rows."""
    table, matrix = 30_000 * 128, 128 * 768
    expect.quantity(
        student,
        4 * (table + matrix) / 1e6,
        "MB",
        what="the memory",
        mistakes={
            4 * table / 1e6: "the matrix that widens the rows is missing",
            4 * 30_000 * 768 / 1e6: "that is a table of the full width",
            (table + matrix) / 1e6: "a number in float32 takes 4 bytes",
            2 * (table + matrix) / 1e6: "2 bytes a number would be half precision",
        },
    )


def positive_pmi(student: Callable[[Tensor], Tensor]) -> None:
    """PPMI of a square table, of one with more contexts than words."""
    for counts in (
        [[0.0, 4.0, 1.0], [4.0, 2.0, 0.0], [1.0, 0.0, 0.0]],
        [[2.0, 0.0, 1.0, 7.0], [1.0, 3.0, 0.0, 2.0]],
        [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]],
    ):
        table = torch.tensor(counts, dtype=torch.float64)
        result = student(table.clone())
        what = f"the PPMI of {[[int(x) for x in row] for row in counts]}"
        expect.close(
            result,
            ppmi(table),
            what=what,
            hint=(
                "log of count * total / (row sum * column sum), at least 0; 0 where the"
                " count is 0"
            ),
        )


def one_spelling(student: Callable[[str], str]) -> None:
    """Texts that read alike, in several spellings each."""
    for wanted, spellings, hint in [
        (
            "tàu hoả",
            ["tàu_hỏa", "Tàu_hoả", "tàu hỏa"],
            "new tone style, no underscores, lower case",
        ),
        (
            "việt nam",
            [unicodedata.normalize("NFD", "Việt Nam"), "Vie\u0302\u0323t_Nam"],
            "NFC",
        ),
        (
            "lấy",
            ["la\u0301\u0302y", "lấy"],
            "marks in an odd order: compose, not NFC alone",
        ),
        ("đà nẵng", ["Ðà\u00a0Nẵng", "Đà Nẵn\u200bg"], "clean the text first"),
        (
            "sức khoẻ",
            ["su\u031b\u0301c_kho\u0309e", "sức khỏ\u200be"],
            "clean before placing the tone",
        ),
    ]:
        for text in spellings:
            expect.equal(
                student(text), wanted, what=f"one_spelling({text!r})", hint=hint
            )


def skipgram_gradient(
    student: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]],
) -> None:
    """The three gradients against autograd, with one negative and with several."""
    generator = torch.Generator().manual_seed(0)
    for n_negatives in (1, 4):
        v, u = torch.randn(2, 3, generator=generator)
        negatives = torch.randn(n_negatives, 3, generator=generator)
        model = SkipGram(n_negatives + 2, 3)
        with torch.no_grad():
            model.centers.weight[0] = v
            model.contexts.weight.copy_(torch.cat([v[None], u[None], negatives]))
        ids = torch.arange(n_negatives + 2)
        model(ids[:1], ids[1:2], ids[None, 2:]).backward()
        centers, contexts = model.centers.weight.grad, model.contexts.weight.grad
        assert centers is not None
        assert contexts is not None
        answer = student(v.clone(), u.clone(), negatives.clone())
        is_triple = isinstance(answer, tuple | list) and len(answer) == 3
        assert is_triple, "three gradients are expected, of v, u and the negatives"
        for name, got, wanted in zip(
            ("v", "u", "the negatives"),
            answer,
            (centers[0], contexts[1], contexts[2:]),
            strict=True,
        ):
            expect.close(
                got,
                wanted,
                what=f"the gradient of {name} with K = {n_negatives}",
                hint=(
                    "error of the score times the other vector of the product;"
                    " negatives add up in v"
                ),
            )
