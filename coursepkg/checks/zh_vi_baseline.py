"""Checks of the exercises in the chapter on Chinese-Vietnamese data."""

import random
import unicodedata
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from coursepkg.checks import expect
from coursepkg.data.split import group_records


def drop_empty(
    student: Callable[[list[str], list[str]], tuple[list[tuple[str, str]], list[int]]],
) -> None:
    """Holes on either side, on both, and nowhere; white space alone is empty."""
    for sources, targets, pairs, left_out in [
        (["a", "", "c", "d"], ["x", "y", "z", ""], [("a", "x"), ("c", "z")], [2, 4]),
        (["a ", "  ", " c"], [" x", " ", "z"], [("a", "x"), ("c", "z")], [2]),
        (["a"], ["x"], [("a", "x")], []),
        (["", "b"], ["x", "\t"], [], [1, 2]),
    ]:
        answer = student(list(sources), list(targets))
        got, numbers = answer
        said = f"of {sources} and {targets}"
        expect.equal(
            [tuple(pair) for pair in got],
            pairs,
            what=f"the pairs {said}",
            hint=(
                "a line goes from both files, or the lines behind it shift; strip both"
                " sides"
            ),
        )
        expect.equal(
            list(numbers),
            left_out,
            what=f"the lines left out {said}",
            hint="numbers count from 1, in the files as they were",
        )


def seen_share(student: Callable[[list[str], list[str]], float]) -> None:
    """Copies in other spellings count, other sentences do not."""
    apart = unicodedata.normalize("NFD", "Khách_sạn ở đâu ?")
    for train, test, share in [
        (["Khách_sạn ở đâu ?", "Xin_chào ."], ["khách sạn ở đâu", "Tạm_biệt ."], 0.5),
        (["Khách_sạn ở đâu ?"], [apart, "Khách_sạn ở đây ."], 0.5),
        (["Xin_chào .", "Xin_chào ."], ["Xin chào!", "Xin_chào .", "Chào ."], 2 / 3),
        (["Má .", "Mã ."], ["Ma .", "Mà .", "Mạ ."], 0.0),
    ]:
        expect.close(
            student(list(train), list(test)),
            share,
            what=f"the share of {test} that {train} has",
            hint=(
                "NFC first, then casefold, then letters and digits only; count test"
                " lines, not different ones"
            ),
        )


def groups(student: Callable[[list[list[str]]], Sequence[int]]) -> None:
    """The chapter's six records, chains that close late."""
    draw = random.Random(0)
    cases = [
        [["A", "a"], ["B", "b"], ["C", "a"], ["D", "d"], ["B", "c"], ["C", "c"]],
        [["a"], ["b"], ["c"]],
        [["a", "b"], ["c", "d"], ["e", "f"], ["d", "e"], ["f", "a"]],
        *(
            [[f"{draw.randrange(30)}" for _ in range(2)] for _ in range(25)]
            for _ in range(8)
        ),
    ]
    for keys in cases:
        answer = student([list(own) for own in keys])
        expect.equal(
            list(answer),
            group_records(keys),
            what=f"the groups of {keys}",
            hint=(
                "records are linked through others, too: join the roots, and follow"
                " parents up to the root"
            ),
        )


def last_real_state(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Against each sentence read alone; lengths from 1 to the whole width."""
    generator = torch.Generator().manual_seed(0)
    gru = nn.GRU(3, 5, batch_first=True)
    with torch.no_grad():
        for parameter in gru.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        for lengths in ([4, 1, 6], [2], [3, 3, 1, 2, 7]):
            inputs = torch.randn(len(lengths), max(lengths) + 2, 3, generator=generator)
            outputs, _ = gru(inputs)
            alone = torch.cat(
                [gru(inputs[i : i + 1, :n])[1][0] for i, n in enumerate(lengths)]
            )
            expect.close(
                student(outputs.clone(), torch.tensor(lengths)),
                alone,
                what=f"the states for lengths {lengths}",
                hint=(
                    "the state after the last real token is outputs[b, lengths[b] - 1]"
                ),
            )
