"""Collects the errors that the exercises "classify errors" of parts 5 and 6 ask about.

    python scripts/collect_errors.py ocr               1,200 lines of receipts
    python scripts/collect_errors.py sign-language     clips of made-up signers

prints a table as `coursepkg/checks/error_lists/` holds it, without the last two columns. Of it the first fifty errors
were chosen, at most twelve lines of a label and at most twenty clips with a covered hand. The labels follow the rules
that the exercises state; each was then read against its line or its film's record.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from coursepkg.metrics import edit_distance
from coursepkg.projects import ocr, sign_language

SEED = 25
LINES, SIGNERS = 1200, 24


def misread_lines() -> Iterator[tuple[str, ...]]:
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


def wrong_answers() -> Iterator[tuple[str, ...]]:
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("ocr", "sign-language"))
    rows = misread_lines() if parser.parse_args().part == "ocr" else wrong_answers()
    for row in rows:
        print("\t".join(row), flush=True)


if __name__ == "__main__":
    main()
