"""Leave one signer out: train on all others, ask about this one, for every signer.

A set of real clips with two of each word cannot spare a test part. But each clip can be
asked about once, by a network that has never seen its signer. What comes out is one
answer a clip, of as many networks as there are signers. Nothing may be chosen by these
scores: there is no dev part, so the last weights are kept. What they must beat is
chance, which stands beside them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.app.output import Log, silent
from coursepkg.projects.sign_language.corpora import folder_of, shows_word, signer_folds
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.scores import Answer, SignScores, answers_of
from coursepkg.projects.sign_language.scoring import N_RESAMPLES, score_answers
from coursepkg.projects.sign_language.training import train
from coursepkg.validation import check_count


@dataclass(frozen=True)
class Fold:
    """One signer, asked about by a network that learnt from the others."""

    signer: str
    n_train: int
    """Clips that it learnt from."""
    labels: tuple[str, ...]
    """Words that it could have said; guessing is right once in so many times."""
    steps: int
    """Steps of its training."""
    answers: tuple[Answer, ...]
    n_unlearnt: int = 0
    """Clips of words of which cleaning left nothing to learn from; they are asked about
    and cannot be right."""

    @property
    def n_right(self) -> int:
        """Right answers."""
        return sum(one.is_right for one in self.answers)

    @property
    def n_by_chance(self) -> float:
        """Right answers that guessing would have."""
        return len(self.answers) / len(self.labels)

    def __str__(self) -> str:
        unlearnt = (
            f"; {self.n_unlearnt} of words that cleaning took from the others"
            if self.n_unlearnt
            else ""
        )
        return (
            f"{self.signer}: {self.n_right} of {len(self.answers)} clips right,"
            f" {self.n_by_chance:.1f} by chance ({len(self.labels)} words from"
            f" {self.n_train} clips of others{unlearnt})"
        )


@dataclass(frozen=True)
class LeftOut:
    """All signers together."""

    folds: tuple[Fold, ...]
    scores: SignScores
    """Of all answers as if one network had given them; the intervals draw signers."""
    marked: frozenset[str] = field(default_factory=frozenset, repr=False)
    """Names of files in whose pictures the word can be read."""

    @property
    def chance(self) -> float:
        """Share of right answers that guessing would have."""
        return sum(fold.n_by_chance for fold in self.folds) / len(self.scores.answers)

    @property
    def apart(self) -> dict[str, tuple[int, int]]:
        """Return (right, clips) with and without the word in the picture.

        The result is empty where no clip is marked.
        """
        if not self.marked:
            return {}
        groups: dict[str, tuple[int, int]] = {}
        for name, wanted in (
            ("word in the picture", True),
            ("no word in the picture", False),
        ):
            own = [
                one
                for one in self.scores.answers
                if (Path(one.name).name in self.marked) == wanted
            ]
            groups[name] = sum(one.is_right for one in own), len(own)
        return groups

    def __str__(self) -> str:
        rows = [str(fold) for fold in self.folds]
        rows += [
            f"{name}: {right} of {n} clips right"
            for name, (right, n) in self.apart.items()
        ]
        rows.append(f"chance: accuracy {self.chance:.4f}")
        return "\n".join([*rows, str(self.scores)])

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        folds = [
            {
                "signer": fold.signer,
                "n": len(fold.answers),
                "right": fold.n_right,
                "by_chance": fold.n_by_chance,
                "n_train": fold.n_train,
                "n_words": len(fold.labels),
                "n_unlearnt": fold.n_unlearnt,
                "steps": fold.steps,
            }
            for fold in self.folds
        ]
        apart = {
            name: {"right": right, "n": n} for name, (right, n) in self.apart.items()
        }
        return {
            "folds": folds,
            "chance": self.chance,
            "apart": apart,
        } | self.scores.as_json()


def leave_signers_out(
    name: str,
    recipe: Recipe,
    out: str | Path,
    *,
    folder: Path | None = None,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
    log: Log = print,
) -> LeftOut:
    """Train a network without each signer who shares words and test it on that signer.

    Stopped anywhere and called again in the same way, it goes on.

    Args:
        name: of the clips, see `corpora.signer_folds`.
        recipe: how each network is made; its schedule must not go by a dev part.
        out: folder of all runs, one folder a signer.
        folder: of the real data sets; None for the usual place.
        seed: of every network.
        n_resamples: bootstrap resamples behind the intervals.
        log: receives one line at a time.

    Raises:
        FileNotFoundError: there are no such clips.
        ValueError: no word is signed by two signers, or `out` holds other runs.
        ImportError: av is not installed.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    folds = [
        _fold(signer, corpus, recipe, Path(out), seed, log)
        for signer, corpus in signer_folds(name, recipe, folder=folder, log=log)
    ]
    if not folds:
        raise ValueError(
            f"--data {name}: no signer signs a word that another one signs, so none can"
            " be left out"
        )
    return together(
        folds,
        marked=marked_files(name, folder),
        protocol=_protocol(name, recipe, seed),
        n_resamples=n_resamples,
    )


def together(
    folds: Sequence[Fold],
    *,
    marked: Iterable[str] = (),
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> LeftOut:
    """Score the answers of all folds as one.

    Args:
        folds: at least one.
        marked: names of files in whose pictures the word can be read.
        protocol: for the signature.
        n_resamples: bootstrap resamples behind the intervals.

    Raises:
        ValueError: there is no answer.
    """
    answers = [one for fold in folds for one in fold.answers]
    labels = sorted({word for fold in folds for word in fold.labels})
    counts = [sum(one.label == word for one in answers) for word in labels]
    scores = score_answers(
        answers, labels, counts, protocol=protocol, n_resamples=n_resamples
    )
    return LeftOut(tuple(folds), scores, frozenset(marked))


def marked_files(name: str, folder: Path | None = None) -> frozenset[str]:
    """Return names of files that the clip table marks as showing their word written.

    Args:
        name: see `corpora.folder_of`.
        folder: see `corpora.folder_of`.
    """
    scan = scan_clips(folder_of(name, folder))
    rows = zip(scan.files, scan.rows, strict=True) if scan.rows else ()
    return frozenset(file.path.name for file, row in rows if shows_word(row))


def _fold(
    signer: str, corpus: SignCorpus, recipe: Recipe, out: Path, seed: int, log: Log
) -> Fold:
    log(
        f"without {signer}: {len(corpus.part('train'))} clips of {len(corpus.labels)}"
        " words to learn from"
    )
    place = out / ("without-" + re.sub(r"[^\w-]+", "_", signer))
    # What training says of its data is the same in every fold.
    trained = train(
        recipe,
        corpus,
        place,
        seed=seed,
        resume=True,
        log=silent,
        progress=False,
    )
    clips = corpus.part("test")
    said = predict_clips(trained.model, clips, recipe, counts=corpus.counts)
    answers = answers_of(said.probabilities, clips, corpus.labels)
    lacking = corpus.absent("train")
    fold = Fold(
        signer,
        len(corpus.part("train")),
        corpus.labels,
        int(trained.card["steps"]),
        answers,
        sum(one.label in lacking for one in answers),
    )
    log(f"  {fold}")
    return fold


def _protocol(name: str, recipe: Recipe, seed: int) -> str:
    told = f"{recipe.backbone} {recipe.size} px {recipe.max_epochs} epochs, seed {seed}"
    return f"{name}, one signer left out at a time, {told}".replace("|", "/")
