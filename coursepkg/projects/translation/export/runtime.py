"""An exported network at work in a translator: it searches and scores in CTranslate2.

Its search divides by |y|^alpha where ours divides by ((5 + |y|) / 6)^alpha, so that a
beam may choose another translation.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from coursepkg.app.export import read_card
from coursepkg.decoding.step import Hypothesis
from coursepkg.files import file_sha256, write_json
from coursepkg.projects.translation.export.convert import ExportedTranslator
from coursepkg.text.vocabulary import EOS

if TYPE_CHECKING:
    from coursepkg.projects.translation.predict import Translator

CARD = "translator.json"
"""In an exported folder: recipe, directions and card of the model."""


class ExportedNetwork(nn.Module):
    """The network of an exported folder, in place of a PyTorch one; it has no weights.

    Args:
        folder: that `coursepkg translation export` wrote.

    Raises:
        ImportError: ctranslate2 is not installed.
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        needs = {"recipe": dict, "directions": list}
        self.card: dict[str, Any] = read_card(folder / CARD, needs)
        self.fingerprint = file_sha256(folder / "model.bin")
        self.runtime = ExportedTranslator(folder, batches=torch.get_num_threads())

    def __deepcopy__(self, memo: dict[int, Any]) -> "ExportedNetwork":
        return self  # the weights lie in the runtime, which is not copied

    def search(
        self,
        sources: Sequence[Sequence[int]],
        *,
        extra_length: int,
        beam_size: int,
        length_penalty: float,
        n_best: int,
        batch_size: int,
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each source, best first.

        Args:
            sources: ids, tags in front, EOS not yet behind.
            extra_length: tokens by which a hypothesis may be longer than the longest
                source.
        """
        if not sources:
            return []
        longest = max(map(len, sources)) + 1 + extra_length
        found = self.runtime.translate(
            [[*ids, EOS] for ids in sources],
            max_len=min(self.runtime.max_len - 1, longest),
            beam_size=beam_size,
            n_best=n_best,
            length_penalty=length_penalty,
            max_batch_size=batch_size,
        )
        return [
            [
                _hypothesis(one.ids, one.score, one.finished, length_penalty)
                for one in own
            ]
            for own in found
        ]

    def log_probs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[float]:
        """log p of each target, EOS included, given its source."""
        rows = self.runtime.score([[*ids, EOS] for ids in sources], targets)
        return [sum(one) for one in rows]


def _hypothesis(
    ids: tuple[int, ...], score: float, finished: bool, alpha: float
) -> Hypothesis:
    """A result in our form; each token gets the mean, the only one that is known."""
    n = max(1, len(ids) + finished)
    total = score * n**alpha
    return Hypothesis(ids, (total / n,) * n, total, score, finished)


def write_card(folder: Path, translator: "Translator") -> None:
    """Write what a translator needs beside an exported network."""
    translator.subwords.save(folder)
    told: dict[str, Any] = {
        **translator.card,
        "recipe": translator.recipe.described(),
        "directions": [list(way) for way in translator.directions],
    }
    write_json(folder / CARD, told)
    if translator.calibration is not None:
        translator.calibration.save(folder)
