"""Translate sentences: the class that an application imports.

>>> translator = Translator.load_default()
>>> [one.text for one in translator.translate(["酒店在哪里？"], source="zh", target="vi")]
['Khách sạn ở đâu?']
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from coursepkg.app.model_folder import (
    check_finished,
    default_device,
    weights_sha256,
)
from coursepkg.blocks.packed import pack_where_possible
from coursepkg.blocks.transformer import Transformer, attention_maps
from coursepkg.decoding.beam import length_penalty_of
from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.translation.confidence import (
    Calibration,
    Ranked,
    judged,
    rank,
)
from coursepkg.projects.translation.corpus import (
    cut_text,
    split_sentences,
    to_reader,
)
from coursepkg.projects.translation.models import (
    EXTRA_LENGTH,
    Subwords,
    check_plain,
    log_probs,
    rebuilder,
    recipe_from,
    recipe_in,
    search,
)
from coursepkg.projects.translation.placeholders import (
    MARKS,
    Masked,
    cut_crowded,
    keep_marks,
    mask,
    missing_copies,
    notes_on_codes,
    restore,
    unmask,
    with_own_marks,
)
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.text.languages import (
    LANGUAGES,
    language_doubt,
    language_of,
    output_doubt,
)
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.training.saved_model import load_model
from coursepkg.validation import (
    as_list,
    check_at_least,
    check_count,
    check_finite,
    check_largest,
)

if TYPE_CHECKING:
    from coursepkg.projects.translation.export.runtime import ExportedNetwork

LONGEST_TEXT = 100_000
"""Characters of one text, which is then some fifty pages."""
MOST_CHARACTERS = 32
"""Of a subword; a text with more characters for each token does not fit."""
DOUBTFUL = 0.5
"""Probability of being usable below which a translation is doubtful."""
NOT_COPIED = "not copied"
"""How the note begins on numbers and codes that a translation lacks."""
PUT_IN = "put in after the search, look where"
"""How it begins on those that the search lost."""
IN_PARTS = ("longer than the", "more numbers and codes than the")
"""How it begins on a text that was translated in parts."""
DEFAULT = Path(__file__).parent / "checkpoint"
"""The model that ships with the package: it learnt real sentences in four directions.
"""
PHRASEBOOK = Path(__file__).parent / "checkpoint_phrasebook"
"""A small model beside it, an example, which learnt the generated phrasebook alone."""


@dataclass(frozen=True)
class Alternative:
    """One of several translations of a sentence."""

    text: str
    """As it is read."""
    line: str
    """In the form of the training data: punctuation spaced, underscores where the model
    writes them."""
    tokens: tuple[str, ...]
    """Its subwords."""
    confidence: float
    """Geometric mean of the probabilities of its tokens, in (0, 1]."""
    score: float
    """What the search ranks by: the log-probability after the length penalty."""
    reverse: float | None = None
    """Mean log-probability of the source's tokens given it; None where there is no
    `reverse_weight`, and of a text in parts."""


@dataclass(frozen=True)
class Translation:
    """A sentence and its translations."""

    source: str
    """The sentence as it was given."""
    source_tokens: tuple[str, ...]
    """Its subwords, tag included; those of parts with EOS between them."""
    n_best: tuple[Alternative, ...]
    """Translations, best first: those that keep all marks, then by `score` and, with a
    `reverse_weight`, by `reverse`, too."""
    alignment: Tensor | None
    """Cross-attention (T, S) of the best one over `source_tokens` and EOS, where it was
    asked for; rows sum to 1. Of a text in parts each part looks at itself alone."""
    note: str = ""
    """What a reader must know: that it was translated in parts, that it is doubtful;
    in one line."""
    usable: float | None = None
    """Probability that it is usable; None where the model has no calibration, see
    `coursepkg.projects.translation.confidence`. Of a text in parts the lowest."""

    @property
    def text(self) -> str:
        """The best translation as it is read."""
        return self.n_best[0].text

    @property
    def line(self) -> str:
        """The best translation in the form of the training data."""
        return self.n_best[0].line

    @property
    def confidence(self) -> float:
        """The calibrated one where there is one, else that of the best translation."""
        return self.n_best[0].confidence if self.usable is None else self.usable

    @property
    def doubtful(self) -> bool:
        """Whether it is more likely unusable than usable, by a calibrated model."""
        return self.usable is not None and self.usable < DOUBTFUL


def aligned_layer(n_layers: int) -> int:
    """The decoder layer whose cross-attention is the alignment: the last but one."""
    return max(0, n_layers - 2)


def _noted(one: Translation, source: str, target: str) -> Translation:
    """The translation with all that a reader must know of it."""
    notes = [one.note, language_doubt(one.source, source)]
    notes.append(output_doubt(one.source, one.text, target))
    notes += notes_on_codes(one.source, one.text, source)
    if one.doubtful:
        notes.append(f"doubtful: {one.usable:.2f} likely to be usable")
    return replace(one, note="; ".join(filter(None, notes)))


def _copied(part: Masked) -> Translation:
    """What has no word to translate, as it stands."""
    text = unmask(part.text, part.values)
    copy = Alternative(text, text, (), 1.0, 0.0)
    return Translation(text, (), (copy,), None)


class Translator:
    """A trained model with its vocabulary.

    Args:
        model: `Transformer` or `GRUSeq2Seq`.
        subwords: what it was trained with.
        recipe: what it was trained by; its search settings are the defaults here.
        directions: pairs of languages that it translates, such as ("zh", "vi").
        card: what is known of its training, as `train` stores it; None: nothing.
    """

    def __init__(
        self,
        model: nn.Module,
        subwords: Subwords,
        recipe: Recipe,
        directions: Sequence[Sequence[str]],
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.subwords, self.recipe = model.eval(), subwords, recipe
        self.card = dict(card or {})
        self.directions = list(dict.fromkeys((one, other) for one, other in directions))
        self.fast = pack_where_possible(model)
        """The same model with packed matrices, where it can have them: for searching.
        """
        self.members: Sequence[Translator] = ()  # those of an ensemble
        self.looked_up = ""  # corpus of the datastore, if it has neighbours
        self.calibration: Calibration | None = None  # of its confidence
        self.exported: ExportedNetwork | None = None  # what then searches and scores

    @classmethod
    def load(cls, folder: str | Path) -> "Translator":
        """Read the folder that `coursepkg translation train --out` or `export` wrote.

        Raises:
            FileNotFoundError: there is no finished model in it.
            ValueError: a file is damaged, it is no translator, or vocabulary and
                weights do not belong together.
        """
        folder = Path(folder)
        if (folder / "model.bin").is_file():
            made = cls._exported(folder)
        else:
            recipe = recipe_from(check_finished(folder))
            subwords = Subwords.load(folder, recipe.underscores)
            prints, build = subwords.fingerprints, rebuilder(recipe)
            model, meta = load_model(folder / "model", build, vocabulary=prints)
            model = model.to(default_device())
            made = cls(model, subwords, recipe, meta["directions"], meta)
        made.calibration = Calibration.load(folder)
        return made

    @classmethod
    def _exported(cls, folder: Path) -> "Translator":
        from coursepkg.projects.translation.export.runtime import ExportedNetwork

        network = ExportedNetwork(folder)
        recipe = recipe_in(network.card, folder)
        subwords = Subwords.load(folder, recipe.underscores)
        made = cls(network, subwords, recipe, network.card["directions"], network.card)
        made.exported, made.fingerprint = network, network.fingerprint
        return made

    @classmethod
    def load_default(cls) -> "Translator":
        """The model that ships with the package; it learnt real sentences."""
        return cls.load(DEFAULT)

    @classmethod
    def load_phrasebook(cls) -> "Translator":
        """The small example, which learnt the generated phrasebook alone."""
        return cls.load(PHRASEBOOK)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of weights and vocabulary."""
        return weights_sha256(" ".join(self.subwords.fingerprints), [self.model])

    @property
    def longest(self) -> int:
        """Most tokens of a source, its tag included and EOS not."""
        return self.recipe.max_len - 1

    def check_direction(self, source: str, target: str) -> None:
        """Raises a ValueError unless the model knows the direction."""
        for name, language in (("--from", source), ("--to", target)):
            if language not in LANGUAGES:
                raise ValueError(
                    f"{name} must be one of {', '.join(LANGUAGES)}, got {language}"
                )
        if (source, target) not in self.directions:
            known = ", ".join(f"{a} to {b}" for a, b in self.directions)
            raise ValueError(
                f"this model does not translate {LANGUAGES[source].name} into"
                f" {LANGUAGES[target].name}"
                f" (it knows {known}); choose one of these, or another model"
            )

    def encode(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        *,
        first: int = 1,
        name: str = "line",
    ) -> list[list[int]]:
        """Ids of sentences, tag in front.

        Raises:
            ValueError: a text is empty, far too long or not plain (`check_plain`);
                it is named by `name` and number.
        """
        check_plain(texts, first=first, name=name)
        ids = self.subwords.encode_sources(texts, source, target)
        for number, (text, own) in enumerate(zip(texts, ids, strict=True), start=first):
            if not text.strip() or len(own) <= int(self.subwords.joint):
                raise ValueError(
                    f"{name} {number}: empty; give a sentence or remove it"
                )
            if len(text) > LONGEST_TEXT:
                raise ValueError(
                    f"{name} {number}: {len(text):,} characters, at most"
                    f" {LONGEST_TEXT:,} are taken at once; split it into sentences"
                )
        return ids

    def sentences_of(self, text: str) -> list[str]:
        """What is translated by itself: a sentence, or all the text by the recipe."""
        return split_sentences(text) if self.recipe.split_sentences else [text.strip()]

    def parts_of(self, text: str, source: str, target: str) -> list[str]:
        """A text in parts that the model takes: cut at sentence ends, else at commas.

        What has neither is cut where the model's longest source ends. What has more
        numbers and codes than it carries is cut between them. What fits is cut only by
        a recipe with `split_sentences`.
        """

        def fits(part: str) -> bool:
            (ids,) = self.subwords.encode_sources([part], source, target)
            return len(ids) <= self.longest

        # No piece is shorter than a character: a longer text needs no look.
        most = MOST_CHARACTERS * self.longest
        read, space = self.sentences_of(text), self._space(source)
        parts = [part for one in read for part in cut_text(one, fits, most, space)]
        if self.recipe.placeholders != "mask":
            return parts
        return [piece for part in parts for piece in cut_crowded(part)]

    @staticmethod
    def _space(language: str) -> str:
        """What stands between two sentences of a language."""
        return "" if language_of(language).is_han else " "

    def translate(
        self,
        texts: Sequence[str],
        *,
        source: str = "zh",
        target: str = "vi",
        beam_size: int | None = None,
        length_penalty: float | None = None,
        n_best: int = 1,
        alignments: bool = False,
        batch_size: int = 64,
        reverse_weight: float | None = None,
    ) -> list[Translation]:
        """Translate texts, in order, each sentence by itself if the recipe says so.

        What is longer than the model takes, or has more numbers and codes in a
        sentence, is translated in parts; the `note` says so.

        Args:
            texts: a sentence or several each, as users write them or as the training
                files have them.
            source: language of the texts, a code of `LANGUAGES`.
            beam_size: beams of the search, 1 is greedy; None takes the recipe's. Where
                several beams all lose a number or code that must be copied, the search
                is repeated with 20, and what these lose is put in.
            length_penalty: exponent of its length penalty; None takes the recipe's.
            n_best: translations of each sentence, at most `beam_size`; fewer where
                several of them read the same.
            alignments: also compute where the best translation looks, in a
                `Transformer`.
            reverse_weight: of log p(source | translation) in the ranking, see `rank`;
                None takes the recipe's where the model also translates back.

        Raises:
            ValueError: the direction is not the model's, a sentence is empty, an option
                is out of range, or the model does not translate back.
        """
        texts = as_list("texts", texts, str, "sentences")
        self.check_direction(source, target)
        beams = self.recipe.beam_size if beam_size is None else beam_size
        alpha = self.recipe.length_penalty if length_penalty is None else length_penalty
        check_count("beam_size", beams)
        check_largest("beam_size", beams)
        check_count("n_best", n_best, most=beams)
        check_count("batch_size", batch_size)
        check_finite("length_penalty", alpha)
        weight = self.reverse_weight_of(source, target, reverse_weight, beams)
        is_reranked = weight or self.recipe.placeholders == "mask"
        masked = [self.masked(text) for text in texts]
        self.encode([one.text for one in masked], source, target, name="sentence")
        parts = [
            []
            if not one.has_words
            # Each part has all marks for itself.
            else [
                self.masked(unmask(part, one.values))
                for part in self.parts_of(one.text, source, target)
            ]
            for one in masked
        ]
        each = [part for own in parts for part in own if part.has_words]
        ids = self.subwords.encode_sources([one.text for one in each], source, target)
        found = self.search(
            ids,
            beam_size=beams,
            length_penalty=alpha,
            # Duplicates, which read the same, are replaced by the next candidates, and
            # so is what loses a mark or from which the source is not read back.
            n_best=beams if n_best > 1 or is_reranked else 1,
            batch_size=batch_size,
        )
        put_in: dict[int, list[str]] = {}
        if beams > 1:
            put_in = keep_marks(self, each, ids, found, target, alpha, batch_size)
        ranked = rank(self, each, found, source, target, weight, alpha)
        made = [
            self._translation(*one, put_in.get(i, []), target, n_best, alignments)
            for i, one in enumerate(zip(each, ids, ranked, strict=True))
        ]
        known = iter(judged(self, each, made, source, target))
        whole = (
            [next(known) if one.has_words else _copied(one) for one in own]
            for own in parts
        )
        return [
            _noted(self._joined(text, read.text, own, source, target), source, target)
            for text, read, own in zip(texts, masked, whole, strict=True)
        ]

    def search(
        self,
        sources: Sequence[Sequence[int]],
        *,
        beam_size: int,
        length_penalty: float,
        n_best: int,
        batch_size: int,
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each source, best first; see the function `search`."""
        options: dict[str, Any] = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "n_best": n_best,
            "batch_size": batch_size,
        }
        if self.exported is not None:
            return self.exported.search(sources, extra_length=EXTRA_LENGTH, **options)
        return search(self.fast, sources, max_len=self.recipe.max_len, **options)

    def log_probs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[float]:
        """log p of each target given its source; see the function `log_probs`."""
        if self.exported is not None:
            return self.exported.log_probs(sources, targets)
        return log_probs(self.model, sources, targets)

    def line_of(self, one: Hypothesis, part: Masked) -> str:
        """What a hypothesis says, in the form of the training data, with marks."""
        return with_own_marks(self.subwords.target.decode(one.ids), part.values)

    def penalised(self, log_prob: float, n_tokens: int, alpha: float) -> float:
        """A log-probability after the search's length penalty of exponent `alpha`."""
        if self.exported is not None:
            return log_prob / n_tokens**alpha
        return log_prob / length_penalty_of(torch.tensor(n_tokens), alpha).item()

    def reads_back(self, source: str, target: str) -> bool:
        """Whether it is one model that also translates the other way."""
        is_one = not (self.members or self.looked_up)
        return is_one and (target, source) in self.directions

    def reverse_weight_of(
        self,
        source: str,
        target: str,
        given: float | None = None,
        beam_size: int | None = None,
    ) -> float:
        """The weight of log p(source | translation): the given one, else the recipe's.

        It is 0 with one beam, which leaves nothing to rank, and without a given one in
        a model that does not translate back.

        Raises:
            ValueError: the given one is negative, or the model does not translate back.
        """
        reads_back = self.reads_back(source, target)
        if given is None:
            given = self.recipe.reverse_weight if reads_back else 0.0
        check_at_least("reverse_weight", given, 0)
        if given and not reads_back:
            raise ValueError(
                "reverse_weight needs one model that also translates"
                f" {LANGUAGES[target].name} into {LANGUAGES[source].name}; leave it out"
            )
        return 0.0 if beam_size == 1 else given

    def _joined(
        self,
        text: str,
        masked: str,
        parts: Sequence[Translation],
        source: str,
        target: str,
    ) -> Translation:
        """The translation of a text from those of its parts."""
        if not parts:
            copy = _copied(Masked(text, {}))
            return replace(copy, note="no word to translate, so copied")
        if len(parts) == 1:
            return replace(parts[0], source=text)
        n_best = []
        for i in range(max(len(part.n_best) for part in parts)):
            # A part with fewer alternatives than the others repeats its last one.
            chosen = [part.n_best[min(i, len(part.n_best) - 1)] for part in parts]
            n_tokens = [len(one.tokens) for one in chosen]
            logs = [math.log(max(one.confidence, 1e-300)) for one in chosen]
            mean = sum(map(operator.mul, logs, n_tokens)) / max(1, sum(n_tokens))
            n_best.append(
                Alternative(
                    self._space(target).join(one.text for one in chosen),
                    " ".join(one.line for one in chosen),
                    tuple(token for one in chosen for token in one.tokens),
                    math.exp(mean),
                    sum(one.score for one in chosen),
                )
            )
        # Each part ends in EOS, which of the last one is left out, as always.
        end = self.subwords.source.pieces[EOS]
        read = [part for part in parts if part.source_tokens]
        tokens = tuple(token for part in read for token in (*part.source_tokens, end))
        maps = [part.alignment for part in read]
        note = ""
        (ids,) = self.subwords.encode_sources([masked], source, target)
        is_long = len(ids) > self.longest
        if is_long or len(parts) > len(self.sentences_of(masked)):
            why = f"{IN_PARTS[1]} {len(MARKS)}"
            if is_long:
                why = f"{IN_PARTS[0]} {self.longest} tokens"
            note = f"{why} that the model takes, so translated in {len(parts)} parts"
        note = "; ".join(filter(None, [note, *(part.note for part in parts)]))
        known = [part.usable for part in parts if part.usable is not None]
        usable = min(known, default=None)
        is_known = maps and all(one is not None for one in maps)
        alignment = torch.block_diag(*maps) if is_known else None
        return Translation(text, tokens[:-1], tuple(n_best), alignment, note, usable)

    def masked(self, text: str) -> Masked:
        """What the model reads of a text."""
        return mask(text) if self.recipe.placeholders == "mask" else Masked(text, {})

    def _translation(
        self,
        part: Masked,
        ids: list[int],
        ranked: list[Ranked],
        put_in: list[str],
        target: str,
        n_best: int,
        aligned: bool,
    ) -> Translation:
        by_text: dict[str, Alternative] = {}
        for one in ranked:
            alternative = self._alternative(one, part.values, target)
            by_text.setdefault(alternative.text, alternative)
            if len(by_text) == n_best:
                break
        best = ranked[0]
        alignment = self._alignment(ids, best.hypothesis.ids) if aligned else None
        tokens = tuple(self.subwords.source.pieces[i] for i in ids)
        told = {NOT_COPIED: missing_copies(part, next(iter(by_text))), PUT_IN: put_in}
        note = "; ".join(f"{k}: {', '.join(v)}" for k, v in told.items() if v)
        return Translation(part.text, tokens, tuple(by_text.values()), alignment, note)

    def _alternative(
        self, ranked: Ranked, values: dict[str, str], target: str
    ) -> Alternative:
        one = ranked.hypothesis
        tokens = tuple(self.subwords.target.pieces[i] for i in one.ids)
        mean = sum(one.token_log_probs) / max(1, len(one.token_log_probs))
        text = restore(to_reader(ranked.line, target), values)
        line = restore(ranked.line, values)
        return Alternative(
            text, line, tokens, math.exp(mean), one.score, ranked.reverse
        )

    def _alignment(self, source: Sequence[int], target: Sequence[int]) -> Tensor | None:
        """Mean over heads of the last layer but one (Garg et al., arXiv 1909.02074)."""
        model: Any = self.model
        if not isinstance(model, Transformer):
            return None
        if not target:
            return torch.zeros(0, len(source) + 1)
        device = next(model.parameters()).device
        src = torch.tensor([[*source, EOS]], device=device)
        cross = attention_maps(
            model, src, torch.tensor([[BOS, *target[:-1]]], device=device)
        ).cross
        return cross[aligned_layer(len(cross)), 0].mean(dim=0).cpu()
