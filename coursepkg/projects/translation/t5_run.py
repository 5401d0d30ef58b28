"""A T5 run from data to scores, and a T5 at work: what the commands `t5-train` and `t5-predict` do."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from coursepkg.arguments import check_count
from coursepkg.files import whole_file
from coursepkg.projects.translation.corpus import numbered_lines
from coursepkg.projects.translation.t5_corpora import Direction, directions_of, natural
from coursepkg.projects.translation.t5_data import encode_text
from coursepkg.projects.translation.t5_evaluate import score_direction, scores_as_json, table_scores
from coursepkg.projects.translation.t5_model import T5, load_t5, save_t5, tiny_t5
from coursepkg.projects.translation.t5_task import T5Output, write_texts
from coursepkg.projects.translation.t5_text import prefix_of
from coursepkg.projects.translation.t5_tokenizer import Coverage, coverage
from coursepkg.projects.translation.t5_train import FineTuning, fine_tune
from coursepkg.training.files import write_json

LONGEST_SOURCE = 512
"""Most tokens of a source in prediction; a T5 takes longer ones, but was not trained on them."""


def run_training(
    settings: FineTuning,
    *,
    model: str,
    source: str,
    target: str,
    out: Path,
    both: bool = False,
    corpus: str = "auto",
    beam_size: int = 4,
    vocab_size: int = 4000,
    n_train: int = 0,
    max_seconds: int | float | None = None,
    resume: bool = False,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Report coverage, fine-tune, score, save.

    Args:
        settings: how to train.
        model: `tiny`, a folder or a name on the Hub.
        source: language to translate from.
        target: language to translate into.
        out: folder of the run.
        both: learn the other direction, too.
        corpus: name of the data, see `directions_of`.
        beam_size: beams of the search on the test part.
        vocab_size: most pieces of the tiny model.
        n_train: training pairs to take, the first ones; 0 takes all.
        max_seconds: limit of training.
        resume: go on with the run in `out`.
        folder: of the data sets; None is `data_folder()`.

    Returns:
        what `out/result.json` holds.

    Raises:
        ValueError: data or settings cannot be trained with, or `out` holds another run.
        OSError: the model cannot be loaded, or `out` not be written.
    """
    check_count("--n-train", n_train, least=0)
    check_count("--beam-size", beam_size)
    if not resume and out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} already holds a run; add --resume or choose another --out")
    directions = directions_of(source, target, corpus=corpus, both=both, folder=folder)
    directions = [_shortened(direction, n_train) for direction in directions]
    for note in directions[0].parts.notes:
        print(f"note: {note}")
    t5 = _start(model, directions, out, vocab_size, settings.seed)
    covered = report_coverage(t5, directions[0])
    history, notes = fine_tune(
        t5, directions, settings, out=out / "run", resume=resume, max_seconds=max_seconds, progress=True
    )
    for note in notes:
        print(f"note: {note}")
    prefixes = {direction.name: direction.prefix for direction in directions}
    save_t5(t5, out / "model", prefixes=prefixes, began_with=model, corpus=directions[0].parts.corpus)
    result = {
        "model": model,
        "parameters": sum(p.numel() for p in t5.network.parameters()),
        "corpus": directions[0].parts.corpus,
        "settings": dataclasses.asdict(settings),
        "steps": history.step,
        "stopped": history.stopped,
        "best_dev_loss": history.best_score,
        "coverage": {name: one.lost_share for name, one in covered.items()},
        "notes": [*directions[0].parts.notes, *notes],
        "scores": {d.name: _scored(t5, d, beam_size, settings) for d in directions},
    }
    write_json(out / "result.json", result)
    return result


def report_coverage(t5: T5, direction: Direction) -> dict[str, Coverage]:
    """Print what the vocabulary loses of either side, in training and test part, with a warning where it is much."""
    found = {}
    for part in ("train", "test"):
        pairs = direction.natural(getattr(direction.parts, part))
        for language, texts in (
            (direction.parts.source, [p.source for p in pairs]),
            (direction.parts.target, [p.target for p in pairs]),
        ):
            one = coverage(t5.tokenizer, texts)
            found[f"{language} {part}"] = one
            print(f"coverage of {language}, {part}: {one}")
            if one.warning:
                print(one.warning)
    return found


class T5Translator:
    """A T5 for one direction.

    Args:
        t5: the model.
        source: language of the texts.
        target: language to translate into.
        prefix: what stands in front of each text, as in training.
    """

    def __init__(self, t5: T5, source: str, target: str, prefix: str) -> None:
        self.t5, self.source, self.target, self.prefix = t5, source, target, prefix

    @classmethod
    def load(cls, model: str, source: str, target: str, *, prefix: str | None = None) -> "T5Translator":
        """Load a model; its card says which prefix it was trained with.

        Args:
            model: folder or name on the Hub.
            source: language of the texts.
            target: language to translate into.
            prefix: another prefix than the card's or the course's; may be empty.

        Raises:
            ValueError: the model was not trained for this direction, or there is no such direction.
            OSError: it cannot be loaded.
        """
        known = prefix_of(source, target)
        t5 = load_t5(model)
        trained = t5.card.get("prefixes", {})
        name = f"{source}-{target}"
        if prefix is None and trained and name not in trained:
            raise ValueError(
                f"{model} was trained for {', '.join(trained)}, not for {name}; choose one of these"
            )
        t5.network.to("cuda" if torch.cuda.is_available() else "cpu")
        return cls(t5, source, target, trained.get(name, known) if prefix is None else prefix)

    def check(self, text: str, where: str) -> None:
        """Raises a ValueError that begins with `where` unless the text can be translated."""
        if not text.strip():
            raise ValueError(f"{where}: empty; give a text or remove the line")
        n_tokens = len(encode_text(self.t5, self.prefix + natural(text, self.source)))
        if n_tokens > LONGEST_SOURCE:
            raise ValueError(f"{where}: {n_tokens} tokens, at most {LONGEST_SOURCE}; split it into sentences")

    def translate(self, texts: Sequence[str], **options: Any) -> list[T5Output]:
        """Translate texts, in order; options are those of `write_texts`.

        Raises:
            ValueError: a text is empty or too long; it is named.
        """
        for i, text in enumerate(texts, start=1):
            self.check(text, f"text {i}")
        return write_texts(self.t5, [natural(text, self.source) for text in texts], self.prefix, **options)


def translate_lines(translator: T5Translator, path: Path, out: Path, **options: Any) -> int:
    """Translate a file line by line in constant memory; the output appears whole, when all lines are done.

    Returns:
        the number of lines.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8, empty or too long, which is found before anything is translated.
    """
    count = 0
    for count, text in numbered_lines(path):
        translator.check(text, f"{path}, line {count}")
    if not count:
        raise ValueError(f"{path}: empty; a file to translate has at least one line")
    with whole_file(out) as file:
        for texts in _chunks(path):
            for found in translator.translate(texts, **options):
                file.write(f"{found.text}\n".encode())
    return count


def _chunks(path: Path, size: int = 512) -> Iterator[list[str]]:
    lines = numbered_lines(path)
    while chunk := [text for _, text in itertools.islice(lines, size)]:
        yield chunk


def _start(model: str, directions: Sequence[Direction], out: Path, vocab_size: int, seed: int) -> T5:
    """The model to begin with; a tiny one is stored first, so that a resumed run begins with the same one."""
    if model != "tiny":
        return load_t5(model)
    folder = out / "start"
    if not folder.is_dir():
        pairs = [pair for d in directions for pair in d.natural(d.parts.train)]
        texts = dict.fromkeys(text for pair in pairs for text in (pair.source, pair.target))
        save_t5(tiny_t5(texts, vocab_size=vocab_size, seed=seed), folder)
    return load_t5(folder)


def _shortened(direction: Direction, n_train: int) -> Direction:
    parts = direction.parts
    train = parts.train[: n_train or None]
    return dataclasses.replace(direction, parts=dataclasses.replace(parts, train=train))


def _scored(t5: T5, direction: Direction, beam_size: int, settings: FineTuning) -> dict[str, Any]:
    """Scores of a direction, printed and as JSON; for Nom those of looking up as well."""
    found, outputs = score_direction(
        t5, direction, beam_size=beam_size, max_tokens=settings.max_tokens, batch_size=settings.batch_size
    )
    tables = {"T5": found}
    if "nom" in (direction.parts.source, direction.parts.target):
        tables["look-up"] = table_scores(direction)
    for name, scores in tables.items():
        for score in scores.values():
            print(f"{name}: {score}")
    mean = math.fsum(one.confidence for one in outputs) / len(outputs)
    return {name: scores_as_json(scores) for name, scores in tables.items()} | {"mean_confidence": mean}
