"""Collects the errors that the exercises "classify errors" of parts 1, 2, 3, 5 and 6 ask about.

    python scripts/collect_errors.py foundations       translations of a GRU with attention
    python scripts/collect_errors.py attention         symbols recalled beyond the trained length
    python scripts/collect_errors.py transformer       greedy translations of a Transformer
    python scripts/collect_errors.py ocr               1,200 lines of receipts
    python scripts/collect_errors.py sign-language     clips of made-up signers

The first three run the cells of a chapter until its models are trained, and print a whole table as
`coursepkg/checks/error_lists/` holds it: the first fifty errors, with at most twelve of a label where translations are
labelled. The others print it without the last two columns. Of it the first fifty errors were chosen, at most twelve
lines of a label and at most twenty clips with a covered hand. The labels follow the rules that the exercises state;
each was then read against its line or its film's record.
"""

import argparse
import contextlib
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import nbformat
import torch

from coursepkg import decoding
from coursepkg.metrics import edit_distance
from coursepkg.projects import ocr, sign_language

SEED = 25
LINES, SIGNERS = 1200, 24
CHAPTERS = Path(__file__).resolve().parents[1] / "notebooks"
NUMERALS = {
    *("một", "hai", "ba", "bốn", "năm", "sáu", "bảy"),
    *("tám", "chín", "mười", "mươi", "lăm", "trăm"),
}

Row = tuple[str, ...]


def chapter(path: str, until: str) -> dict[str, Any]:
    """The names of a chapter after the first cell that defines `until`; its setup cell and its output are left out."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = nbformat.read(CHAPTERS / path, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"][1:]
    for number, source in enumerate(code, start=1):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, f"{path}, code cell {number}", "exec"), names)
        if until in names:
            return names
    raise ValueError(f"until: no cell of {path} defines {until!r}")


def at_most(n: int, rows: Iterable[Row]) -> Iterator[Row]:
    """The first `n` rows of each label, which is the last column but one."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row[-2]] += 1
        if seen[row[-2]] <= n:
            yield row


def wrong_translations() -> Iterator[Row]:
    """Source, reference and greedy output of part 1's GRU with the score `general`."""
    names = chapter("foundations/alignment_attention.ipynb", until="looked_at")
    test, vi = names["test"], names["vi"]
    source, lengths, _, _ = names["batch"](test)
    ids, _ = names["models"]["general"].greedy(
        source, lengths, names["BOS"], names["EOS"], max_len=20
    )
    yield "source", "reference", "output", "label", "reason"
    outputs = (" ".join(vi.decode(one)) for one in ids)
    for triple, output in zip(test, outputs, strict=True):
        if output != triple.line("vi"):
            yield (
                triple.line("zh"),
                triple.line("vi"),
                output,
                *kind_of_translation(triple.line("vi"), output),
            )


def kind_of_translation(reference: str, output: str) -> tuple[str, str]:
    """Label and reason of a wrong translation of the GRU."""
    right, said = reference.lower().split(), output.lower().split()
    if _without_numerals(right) == _without_numerals(said):
        return "number", "without the numerals the two are equal"
    for word in said:
        if 0 < right.count(word) < said.count(word):
            return (
                "repetition",
                f"{word} stands {said.count(word)} times in place of {right.count(word)}",
            )
    for label, long, short in (("omission", right, said), ("addition", said, right)):
        rest = iter(long)
        if all(word in rest for word in short):
            return (
                label,
                f"{len(long)} words, and in their order all {len(short)} of the other",
            )
    lost, put = _between(right, said)
    label = "one place" if max(len(lost), len(put)) <= 3 else "several places"
    return label, f"{' '.join(put) or 'nothing'} for {' '.join(lost) or 'nothing'}"


def _between(a: list[str], b: list[str]) -> tuple[list[str], list[str]]:
    """What is left of two sentences without their common beginning and their common end."""
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return a, b


def _without_numerals(words: list[str]) -> list[str]:
    return [word for word in words if word not in NUMERALS]


def wrong_symbols() -> Iterator[Row]:
    """Layer, last symbols, right symbol and answer at length 64: of each sequence the first error of one layer.

    The layers of the chapter on RoPE take turns over the sequences.
    """
    names = chapter("attention/rope.ipynb", until="results")
    length = 2 * names["TRAINED"]
    tokens, _ = names["batch"](torch.Generator().manual_seed(9), length)
    ropes = {
        "RoPE": names["RotaryEmbedding"](16),
        "linear scaling": names["RotaryEmbedding"](
            16, scaling=names["LinearScaling"](2.0)
        ),
        "NTK-aware": names["RotaryEmbedding"](16, scaling=names["NTKScaling"](2.0)),
    }
    answers = {}
    with torch.no_grad():
        for name, rope in ropes.items():
            names["with_rope"].attention.rope = rope
            answers[name] = names["with_rope"](tokens).argmax(-1)
        bias = names["alibi_bias"](4, length, length)
        answers["ALiBi"] = names["with_alibi"](tokens, bias).argmax(-1)
    yield "layer", "symbols", "right", "answered", "label", "reason"
    for number, sequence in enumerate(tokens):
        layer = list(answers)[number % len(answers)]
        letters = "".join(chr(ord("A") + symbol) for symbol in sequence.tolist())
        for place in range(length - 16, length):
            answer = chr(ord("A") + int(answers[layer][number, place]))
            right, shown = (
                letters[place - names["LOOK_BACK"]],
                letters[place - 15 : place + 1],
            )
            if answer != right:
                yield (
                    layer,
                    " ".join(shown),
                    right,
                    answer,
                    *kind_of_place(shown, answer),
                )
                break


def kind_of_place(shown: str, answer: str) -> tuple[str, str]:
    """Label and reason of a wrong symbol, by its distances from the last of the shown ones."""
    back = [i for i, symbol in enumerate(reversed(shown)) if symbol == answer]
    kinds = {
        "six back": {6},
        "nearer": {0, 1, 2},
        "five or seven back": {5, 7},
        "farther": {4, *range(8, 16)},
    }
    for label, distances in kinds.items():
        if met := sorted(distances.intersection(back)):
            return label, f"{answer} stands {met[0]} back"
    return "not shown", f"{answer} is none of the sixteen symbols"


def greedy_errors() -> Iterator[Row]:
    """Source, reference and greedy output of part 3's half-trained translator, with the log-probabilities of both."""
    names = chapter("transformer/decoding.ipynb", until="said")
    lesson, test = names["lesson"], names["test"]
    batch = lesson.batch(test)
    with torch.no_grad():
        logits = names["translator"](
            names["sources"], batch.tgt_in.to(names["device"])
        ).cpu()
    each = logits.log_softmax(-1).gather(-1, batch.tgt_out[..., None])[..., 0]
    of_reference = each.masked_fill(batch.tgt_out == 0, 0.0).sum(1).tolist()
    found = decoding.greedy(
        names["start"](names["sources"]), max_len=names["LONGEST"] - 1
    )
    yield (
        "source",
        "reference",
        "output",
        "log p of reference",
        "log p of output",
        "label",
        "reason",
    )
    for triple, one, log_prob in zip(test, found, of_reference, strict=True):
        reference, output = triple.line("vi"), names["said"](one)
        numbers = f"{log_prob:.2f}", f"{one.log_prob:.2f}"
        if output != reference:
            yield (
                triple.line("zh"),
                reference,
                output,
                *numbers,
                *kind_of_greedy(reference, output, *numbers),
            )


def kind_of_greedy(
    reference: str, output: str, log_p_reference: str, log_p_output: str
) -> tuple[str, str]:
    """Label and reason of a wrong greedy translation."""
    right, said = reference.lower().split(), output.lower().split()
    if float(log_p_reference) > float(log_p_output):
        return "search error", f"{log_p_reference} is more than {log_p_output}"
    for word, after in pairwise(said):
        if word == after:
            return "repetition", f"{word} follows itself"
    if sorted(said) == sorted(right):
        return "other order", "the same words stand in another order"
    if len(said) < len(right):
        return "shorter", f"{len(said)} words in place of {len(right)}"
    lost, put = _between(right, said)
    label = "one word" if len(lost) == len(put) == 1 else "several words"
    return label, f"{' '.join(put) or 'nothing'} for {' '.join(lost) or 'nothing'}"


def misread_lines() -> Iterator[Row]:
    """Truth and reading of every line with one edit, each truth once."""
    reader = ocr.Recognizer.load_default()
    _, unseen = ocr.split_faces(ocr.matplotlib_faces())
    texts = ocr.TextConfig(
        receipts=1,
        documents=0,
        prose=0,
        sentences=0,
        syllables=0,
        codes=0,
        max_length=40,
    )
    sheet = ocr.SyntheticLines(SEED, faces=unseen, config=ocr.LineConfig(texts=texts))
    yield "truth", "read"
    told = set()
    for start in range(0, LINES, 40):
        lines = [sheet[number] for number in range(start, start + 40)]
        readings = reader.read_lines([line.image for line in lines])
        for line, reading in zip(lines, readings, strict=True):
            if edit_distance(reading.text, line.text) == 1 and line.text not in told:
                told.add(line.text)
                yield line.text, reading.text


def wrong_answers() -> Iterator[Row]:
    """Number of the clip, what was signed and answered, the film, the signing hand, and both signs.

    Of six clips one stops after 40% of its frames, and in one a wall covers the half of the picture in which the
    signing hand moves.
    """
    recogniser = sign_language.SignRecognizer.load_default()
    config = sign_language.SignersConfig(varied_people=True, size=128)
    words = list(sign_language.WORDS)
    clips_of = sign_language.clip_counts(sign_language.SignersConfig())
    films = ("whole", "whole", "whole", "stops early", "whole", "half covered")
    yield (
        "clip",
        "signed",
        "answered",
        "film",
        "frames",
        "hand",
        "signed as",
        "answered as",
        "training clips",
    )
    for signer in range(SIGNERS):
        is_left = config.is_left_handed(signer)
        clips, shown = [], []
        for place, word in enumerate(words):
            number = signer * len(words) + place
            clip = sign_language.draw_clip(word, signer, SEED, number, config)
            film = films[(number + signer) % len(films)]
            if film == "stops early":
                n_kept = round(0.4 * len(clip.frames))
                clip = replace(
                    clip, frames=clip.frames[:n_kept], times=clip.times[:n_kept]
                )
            elif film == "half covered":
                frames, middle = clip.frames.copy(), clip.frames.shape[2] // 2
                frames[:, :, slice(middle, None) if is_left else slice(middle)] = (
                    70,
                    74,
                    80,
                )
                clip = replace(clip, frames=frames)
            clips.append(clip)
            shown.append((str(number), film))
        for clip, (number, film), answer in zip(
            clips, shown, recogniser.recognize_clips(clips), strict=True
        ):
            if answer.label != clip.label:
                yield (
                    number,
                    clip.label,
                    answer.label,
                    film,
                    str(len(clip.frames)),
                    "left" if is_left else "right",
                    described(clip.label),
                    described(answer.label),
                    str(clips_of[clip.label]),
                )


def described(word: str) -> str:
    """Shapes, path and place of a word's sign."""
    sign = sign_language.WORDS[word]
    begin, end = sign.shapes
    shape = begin if begin == end else f"{begin} to {end}"
    return f"{shape}, {sign.path}, at {sign.place}"


def table(part: str) -> Iterator[Row]:
    """The rows of a part's table, its head first."""
    if part == "ocr":
        yield from misread_lines()
    elif part == "sign-language":
        yield from wrong_answers()
    else:
        collect, most = {
            "foundations": (wrong_translations, 12),
            "attention": (wrong_symbols, 50),
            "transformer": (greedy_errors, 12),
        }[part]
        rows = collect()
        yield next(rows)
        yield from islice(at_most(most, rows), 50)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("foundations", "attention", "transformer", "ocr", "sign-language")
    parser.add_argument("part", choices=parts)
    for row in table(parser.parse_args().part):
        print("\t".join(row), flush=True)


if __name__ == "__main__":
    main()
