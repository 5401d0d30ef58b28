"""Fit a model's confidence on a dev part, and say what it is worth.

The sentences are those of the dev part, and run-on sentences made of its short ones.
Each half of them is judged by a regression that was fitted on the other half; a run-on
sentence of one may hold a sentence of the other. What is stored is fitted on all.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursepkg.app.output import print_json
from coursepkg.bench.machine import circumstances
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import score, score_as_json, sentence_scores
from coursepkg.projects.translation.confidence import Calibration, features_of
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import run_ons, to_scorer
from coursepkg.projects.translation.evaluate import search_note
from coursepkg.projects.translation.predict import DOUBTFUL, Translator
from coursepkg.text.languages import language_of

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Calibrate

SCHEMA = "coursepkg.translation.calibration/2"
USABLE, USABLE_HAN = 40.0, 25.0
"""chrF from which on a translation counts as usable, 0 to 100; that of Chinese, whose
characters are words, is lower for equal quality."""
DECAY = 1e-3
"""Of the weights, for each sentence, in units of the standardised features."""
SENTENCES_A_RUN_ON = 4
"""A run-on sentence is fitted on for so many sentences of the dev part."""
N_ROUNDS = 25
"""Of Newton's method, which has long converged then."""


def fit(features: Tensor, is_usable: Sequence[bool]) -> list[float]:
    """Bias and weights of a logistic regression, by Newton's method.

    Args:
        features: (N, F).
        is_usable: N truths, not all the same.

    Raises:
        ValueError: all are usable or none is.
    """
    n_usable = sum(is_usable)
    if not 0 < n_usable < len(is_usable):
        raise ValueError(
            f"{n_usable} of {len(is_usable)} translations are usable; to learn to tell"
            " them apart some must be and some not"
        )
    mean, spread = features.mean(dim=0), features.std(dim=0).clamp(min=1e-6)
    inputs = torch.cat(
        [torch.ones(len(features), 1), (features - mean) / spread], dim=1
    )
    inputs, truth = inputs.double(), torch.tensor(is_usable).double()
    decay = DECAY * len(features) * torch.eye(inputs.shape[1], dtype=torch.float64)
    decay[0, 0] = 0.0
    weights = torch.zeros(inputs.shape[1], dtype=torch.float64)
    for _ in range(N_ROUNDS):
        p = torch.sigmoid(inputs @ weights)
        slope = inputs.T @ (p - truth) + decay @ weights
        curve = (inputs * (p * (1 - p))[:, None]).T @ inputs + decay
        weights = weights - torch.linalg.solve(
            curve + 1e-9 * torch.eye(len(weights), dtype=torch.float64), slope
        )
    plain = weights[1:] / spread
    bias = weights[0] - (plain * mean).sum()
    return [float(bias), *plain.tolist()]


@dataclass(frozen=True)
class Reliability:
    """What a confidence is worth, judged by translations that it was not fitted on."""

    n: int
    share_usable: float
    """Of all translations, in [0, 1]."""
    auc: float
    """Probability that a usable translation has more confidence than an unusable one.
    """
    calibration_error: float
    """Mean distance of confidence and share of usable ones, over ten equal groups."""
    risk: dict[str, float]
    """By coverage in per cent, the most confident first: share of unusable ones."""
    chrf: dict[str, float]
    """Mean chrF of the sentences without a note (`sure`) and with one (`doubtful`); 0
    to 100."""
    n_doubtful: int

    def __str__(self) -> str:
        risks = ", ".join(
            f"{share:.2f} at {name}%" for name, share in self.risk.items()
        )
        return (
            f"{self.n} sentences, {self.share_usable:.0%} usable; area under the curve"
            f" {self.auc:.2f}, calibration error {self.calibration_error:.3f}; risk"
            f" {risks}; chrF {self.chrf['sure']:.1f} without a note,"
            f" {self.chrf['doubtful']:.1f} with one ({self.n_doubtful} sentences)"
        )

    def as_json(self) -> dict[str, Any]:
        """All fields; None where there is no sentence to tell a number of."""
        return asdict(self) | {
            "auc": _or_none(self.auc),
            "chrf": {name: _or_none(value) for name, value in self.chrf.items()},
        }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def reliability(
    probabilities: Sequence[float], chrf: Sequence[float], usable_from: float = USABLE
) -> Reliability:
    """How well confidences tell good translations from bad ones.

    Args:
        probabilities: N, each in [0, 1].
        chrf: of the same translations; 0 to 100.
        usable_from: chrF from which on one counts as usable.

    Raises:
        ValueError: there is none, or the numbers differ.
    """
    if not len(chrf) or len(probabilities) != len(chrf):
        raise ValueError(
            f"probabilities and chrf must be equally many, got {len(probabilities)} and"
            f" {len(chrf)}"
        )
    p, quality = (torch.tensor(x, dtype=torch.float64) for x in (probabilities, chrf))
    usable = (quality >= usable_from).double()
    order = p.argsort(descending=True, stable=True)
    sorted_usable = usable[order]
    risk = {
        f"{share}": float(1 - sorted_usable[: max(1, len(p) * share // 100)].mean())
        for share in (100, 90, 80, 70, 50, 30)
    }
    groups = [g for g in order.chunk(10) if len(g)]
    error = sum(len(g) * abs(float(p[g].mean() - usable[g].mean())) for g in groups)
    is_sure = p >= DOUBTFUL
    means = {
        name: float(quality[which].mean()) if which.any() else math.nan
        for name, which in (("sure", is_sure), ("doubtful", ~is_sure))
    }
    return Reliability(
        len(p),
        float(usable.mean()),
        _auc(p, usable),
        error / len(p),
        risk,
        means,
        int((~is_sure).sum()),
    )


def _auc(p: Tensor, usable: Tensor) -> float:
    good, bad = p[usable == 1], p[usable == 0]
    if not len(good) or not len(bad):
        return math.nan
    higher = (good[:, None] > bad).double() + 0.5 * (good[:, None] == bad).double()
    return float(higher.mean())


@dataclass(frozen=True)
class Judged:
    """What a direction's confidence is worth on some sentences."""

    reliability: Reliability
    signature: str
    """Of the chrF of all of them: what was translated, and how."""

    def as_json(self) -> dict[str, Any]:
        """The fields of the reliability, and the signature."""
        return self.reliability.as_json() | {"signature": self.signature}


@dataclass(frozen=True)
class Fitted:
    """A direction's regression and what it is worth."""

    weights: list[float]
    dev: Judged
    run_ons: Judged | None
    """The same of run-on sentences of dev; None where dev has too few short ones."""


def calibrate(translator: Translator, parts: Parts, batch_size: int = 64) -> Fitted:
    """Translate a dev part, fit the confidence of its direction, and judge it.

    People type sentences without full stops, and dev parts have none of these; so it is
    fitted on run-on sentences as well, made of short ones of any kind that dev has.
    What is translated in parts is left out: each part is judged alone.

    Raises:
        ValueError: the dev part is too small, or all its translations are usable or
            none is.
    """
    languages = parts.source, parts.target
    made = run_ons(parts.dev, len(parts.dev) // SENTENCES_A_RUN_ON, *languages)
    dev, joined = (
        [pair for pair in own if _is_whole(translator, pair.source, *languages)]
        for own in (parts.dev, made)
    )
    pairs = [*dev, *joined]
    texts = [pair.source for pair in pairs]
    found = translator.translate(
        texts, source=languages[0], target=languages[1], batch_size=batch_size
    )
    masked = [translator.masked(text) for text in texts]
    features = features_of(translator, masked, found, *languages)
    written = [one.line for one in found], [pair.target for pair in pairs]
    scored = [[to_scorer(text, languages[1]) for text in one] for one in written]
    chrf = sentence_scores(CHRF(), *scored).tolist()
    least = USABLE_HAN if language_of(languages[1]).is_han else USABLE
    usable = [one >= least for one in chrf]
    probabilities = _by_the_other_half(features, usable, *languages)

    def judged(which: slice, n_in_file: int, name: str) -> Judged:
        protocol = f"{name}, {search_note(translator, *languages)}"
        sides = [side[which] for side in scored]
        value = score(CHRF(), *sides, n_in_file=n_in_file, protocol=protocol)
        signed = score_as_json(value)["signature"]
        return Judged(reliability(probabilities[which], chrf[which], least), signed)

    name, n = f"{parts.corpus} dev", len(dev)
    return Fitted(
        fit(features[:, :-1], usable),
        judged(slice(n), len(parts.dev), name),
        judged(slice(n, None), len(made), f"run-on sentences of {name}")
        if joined
        else None,
    )


def _by_the_other_half(
    features: Tensor, usable: Sequence[bool], source: str, target: str
) -> list[float]:
    """What a regression fitted on every second translation says of the others."""
    probabilities = [0.0] * len(usable)
    for ours in (0, 1):
        fitted = fit(features[1 - ours :: 2, :-1], usable[1 - ours :: 2])
        own = Calibration({f"{source}-{target}": fitted}, "")
        probabilities[ours::2] = own.probabilities(features[ours::2], source, target)
    return probabilities


def _is_whole(translator: Translator, text: str, source: str, target: str) -> bool:
    return len(translator.parts_of(translator.masked(text).text, source, target)) == 1


def calibrate_command(options: "Calibrate") -> int:
    """Fit every direction of a model, store the result beside it, return the code."""
    folder = options.model
    if folder is None:
        raise ValueError("--model FOLDER is needed; the confidence is written into it")
    translator = Translator.load(folder)
    translator.calibration = None  # the old one would be computed for nothing
    # A direction that the data lack is told before the long work.
    given = {
        f"{source}-{target}": load_parts(options.data, source, target)
        for source, target in translator.directions
    }
    found = {}
    for name, parts in given.items():
        found[name] = calibrate(translator, parts, options.batch_size)
        print(f"{name}: {found[name].dev.reliability}")
        if (joined := found[name].run_ons) is not None:
            print(f"{name}, run-on sentences: {joined.reliability}")
    weights = {name: one.weights for name, one in found.items()}
    has_run_ons = any(one.run_ons for one in found.values())
    fitted_on = f"{options.data} dev" + " and its run-on sentences" * has_run_ons
    Calibration(weights, fitted_on).save(folder)
    print(f"written: {folder / 'confidence.json'}")
    if options.json:
        told = {
            name: one.dev.as_json()
            | {"run_ons": None if one.run_ons is None else one.run_ons.as_json()}
            for name, one in found.items()
        }
        document = {
            "fitted_on": fitted_on,
            "model": translator.fingerprint,
            "directions": told,
        }
        print_json({"schema": SCHEMA, **document, **circumstances()})
    return 0
