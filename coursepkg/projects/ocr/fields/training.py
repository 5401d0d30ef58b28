"""Training of the line tagger (`line_tagger`) on labelled receipts.

The loss is the cross-entropy of each line's label. Texts lose a tenth of their n-grams
at random in every epoch, as if letters were read wrongly, and places move a little, as
on a photograph.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.app.training_run import (
    BestWeights,
    Trained,
    TrainingSetup,
    train_in_folder,
)
from coursepkg.projects.ocr.fields.line_tagger import (
    TAGS,
    LineTagger,
    PageBatch,
    PageFeatures,
    collate,
    page_features,
)
from coursepkg.projects.ocr.fields.lines import as_field_lines
from coursepkg.projects.ocr.fields.table import LabelledReceipt
from coursepkg.training.config import TrainConfig
from coursepkg.training.schedules import cosine
from coursepkg.training.seed import set_seed
from coursepkg.training.task import mean_loss
from coursepkg.validation import check_count

PAGES = 32
"""Of a batch."""
EPOCHS = 20
LEARNING_RATE = 2e-3
N_DROPPED = 0.1
"""Share of the n-grams of a page that an epoch leaves out."""
SHIFT = 0.01
"""Standard deviation by which places move, over the size of the page."""


class TagBatches:
    """The receipts of a training part, in another order in every epoch.

    Args:
        receipts: with a line at least.
        seed: of the order and of what is changed.
    """

    def __init__(self, receipts: Sequence[LabelledReceipt], seed: int) -> None:
        self.pages = [page_features(as_field_lines(one.lines)) for one in receipts]
        self.tags = [[TAGS.index(label) for label in one.labels] for one in receipts]
        self.seed = seed

    def epoch(self, number: int) -> "list[PageBatch]":
        """The batches of an epoch."""
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(len(self.pages)).tolist()
        groups = [order[i : i + PAGES] for i in range(0, len(order), PAGES)]
        return [
            collate(
                [_changed(self.pages[i], rng) for i in group],
                [self.tags[i] for i in group],
            )
            for group in groups
        ]

    def plain(self) -> list[PageBatch]:
        """All receipts in their order, unchanged."""
        starts = range(0, len(self.pages), PAGES)
        return [
            collate(self.pages[i : i + PAGES], self.tags[i : i + PAGES]) for i in starts
        ]


def _changed(page: PageFeatures, rng: np.random.Generator) -> PageFeatures:
    ngrams = tuple(
        tuple(np.array(line)[rng.random(len(line)) >= N_DROPPED].tolist())
        for line in page.ngrams
    )
    moved = rng.normal(0.0, SHIFT, page.places.shape).astype(np.float32)
    return replace(page, ngrams=ngrams, places=page.places + torch.from_numpy(moved))


@dataclass(frozen=True)
class TagTask:
    """Cross-entropy of the labels of lines."""

    def count(self, batch: PageBatch) -> int:
        """Lines of the batch."""
        return int(batch.lengths.sum())

    def loss(self, model: nn.Module, batch: PageBatch) -> Tensor:
        """The sum over the lines, a tensor of no dimension."""
        logits = model(batch).flatten(0, 1)
        return F.cross_entropy(logits, batch.tags.flatten(), reduction="sum")


def train_line_tagger(
    receipts: Sequence[LabelledReceipt],
    dev: Sequence[LabelledReceipt],
    out: Path,
    *,
    data: dict[str, Any],
    epochs: int = EPOCHS,
    seed: int = 0,
    resume: bool = False,
    log: Callable[[str], None] = print,
) -> Trained:
    """Train, choose by the loss on the dev part, and store the model in `out`.

    Args:
        receipts: the training part; pages without a line are left out.
        dev: receipts that choose the best weights; without any, the last ones stay.
        out: folder, which must not hold another run.
        data: what the receipts are, as JSON can hold it; it is stored with the model.
        epochs: passes over the training part.
        seed: of weights, order, dropout.
        resume: go on with the run in `out`.
        log: receives one line at a time.

    Raises:
        ValueError: there is no receipt with a line; `out` holds a run already, or
            another one.
    """
    check_count("--epochs", epochs)
    check_count("--seed", seed, least=0, most=2**32 - 1)
    kept = [one for one in receipts if one.lines]
    if not kept:
        raise ValueError("the training part has no receipt with a line")
    batches = TagBatches(kept, seed)
    scored = TagBatches([one for one in dev if one.lines], seed).plain()
    task = TagTask()

    def prepare() -> TrainingSetup:
        set_seed(seed)
        model = LineTagger()
        n_weights = sum(one.numel() for one in model.parameters())
        log(f"{len(kept):,} receipts to learn from, {n_weights:,} parameters")
        total = epochs * -(-len(kept) // PAGES)
        config = TrainConfig(
            max_epochs=epochs,
            learning_rate=cosine(
                LEARNING_RATE, warmup=total // 10 + 1, total=total + 1
            ),
            weight_decay=0.01,
            seed=seed,
            log_every=20,
        )
        validate = (lambda m: {"loss": mean_loss(m, task, scored)}) if scored else None
        return TrainingSetup(model, task, batches, config, validate)

    def describe(best: BestWeights) -> dict[str, Any]:
        return {"dev_loss": best.score, "n_dev": len(dev)}

    card = {"recipe": {"epochs": epochs}, "data": data, "seed": seed}
    return train_in_folder(
        out, card, prepare, describe, resume=resume, changeable=(), added={}
    )
