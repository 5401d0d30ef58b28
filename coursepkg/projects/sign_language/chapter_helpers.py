"""The chapters on signs share exact poses, short picture runs, and skeletons.

    perfect eyes    31 exact numbers a frame: palms, turn and shape of hands, the head
    pictures        a row of the ladder after some steps on `signers-tiny`
    skeletons       a step of a sign as it looks after normalising

>>> config = SignersConfig(least_frames=30, most_frames=30, full_length=1.0)
>>> vectors, words, lifts = pose_part(0, 32, config)
>>> vectors.shape, words.shape, lifts.shape
((768, 16, 31), (768,), (768, 16))
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursepkg.files import read_json
from coursepkg.metrics.scoring import Score
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import (
    ClipBatch,
    ClipBatches,
    MixFunction,
)
from coursepkg.projects.sign_language.data.clip import uniform_frames
from coursepkg.projects.sign_language.few_shot.embedding import CHECKPOINT
from coursepkg.projects.sign_language.few_shot.features import (
    ELBOWS,
    SHOULDERS,
    WRISTS,
    SignSteps,
)
from coursepkg.projects.sign_language.few_shot.generator import PALM
from coursepkg.projects.sign_language.ladder import LADDER, RESULTS, ROWS, read_rows
from coursepkg.projects.sign_language.landmarks.drawing import draw_skeleton
from coursepkg.projects.sign_language.landmarks.pose import N_LANDMARKS
from coursepkg.projects.sign_language.model.classifier import (
    ClipClassifier,
    build_model,
)
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.scores import Answer, answers_of
from coursepkg.projects.sign_language.synthetic.clips import clip_pose
from coursepkg.projects.sign_language.synthetic.signer import WORDS, SignersConfig
from coursepkg.projects.sign_language.training import (
    make_batches,
    make_task,
    train_config,
)
from coursepkg.training.loop import History, fit
from coursepkg.training.saved_model import CARD
from coursepkg.training.seed import set_seed

FRAMES = 16
"""Frames that perfect eyes look at in a clip, evenly spaced."""


def pose_vectors(
    word: str, signer: int, seed: int, number: int, config: SignersConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Return pose numbers (16, 31) and how far the hands are raised (16,).

    The numbers describe both hands and the head in 16 frames of a clip.
    """
    pose = clip_pose(word, signer, seed, number, config)
    columns = []
    for hand in (pose.strong, pose.weak):
        angle = np.deg2rad(hand.degrees)[:, None]
        shape = [hand.fingers[..., 0] / 90, hand.fingers[..., 1], hand.facing[:, None]]
        columns += [hand.palm, np.sin(angle), np.cos(angle), *shape]
    columns.append(pose.head[:, None] / 10)
    chosen = uniform_frames(np.arange(len(pose.lift), dtype=np.float64), FRAMES)
    return np.concatenate(columns, axis=1)[chosen], pose.lift[chosen]


def pose_part(
    seed: int, clips_a_word: int, config: SignersConfig
) -> tuple[Tensor, Tensor, np.ndarray]:
    """Vectors (N, 16, 31), words (N,) and lifts (N, 16) of 24 words by 16 signers."""
    words = list(WORDS)[:24]
    places = range(24 * clips_a_word)
    rows = [
        pose_vectors(words[n % 24], (n // 24) % 16, seed, n, config) for n in places
    ]
    vectors, lifts = (np.stack(column) for column in zip(*rows, strict=True))
    return (
        torch.tensor(vectors, dtype=torch.float32),
        torch.arange(len(rows)) % 24,
        lifts,
    )


def with_rest(x: Tensor, n: int) -> Tensor:
    """Repeat the last frame of clips (B, T, D) n times, which gives (B, T + n, D).

    The added frames show rest.
    """
    return torch.cat([x, x[:, -1:].expand(-1, n, -1)], dim=1)


def share_right(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Return the share of clips whose class the model names.

    The model maps x (B, T, D) to scores (B, V) and weights.
    """
    with torch.no_grad():
        return float((model(x)[0].argmax(1) == y).float().mean())


def learn(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    steps: int,
    rest: int = 0,
    asked: tuple[Tensor, Tensor] | None = None,
    every: int = 10,
) -> list[float]:
    """Train the model in place on drawn clips with noise.

    Every model that is given the same clips gets the same batches.

    Args:
        model: from x (B, T, D) to scores (B, V) and weights.
        x: (N, T, D).
        y: class numbers (N,).
        steps: of 64 clips each.
        rest: frames of rest that are added to each clip.
        asked: clips and classes that are asked about now and then.
        every: so many steps.

    Returns:
        The share of `asked` that was right, each time.
    """
    torch.manual_seed(0)
    optimiser, course = torch.optim.AdamW(model.parameters(), lr=3e-3), []
    for step in range(1, steps + 1):
        rows = torch.randint(len(x), (64,))
        batch = x[rows] + 0.3 * torch.randn(64, *x.shape[1:])
        F.cross_entropy(model(with_rest(batch, rest))[0], y[rows]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        if asked is not None and step % every == 0:
            course.append(share_right(model, *asked))
    return course


def without_room(
    batch: ClipBatch, chance: np.random.Generator | None = None
) -> ClipBatch:
    """What each frame has other than the first of its clip."""
    return ClipBatch(batch.frames - batch.frames[:, :1], batch.mask, batch.targets)


def whole(
    corpus: SignCorpus, part: str, recipe: Recipe, change: MixFunction | None = None
) -> ClipBatch:
    """All clips of a part as one batch, in their order; `change` as `without_room`."""
    clips = corpus.part(part)
    options: dict[str, Any] = {"n_frames": recipe.n_frames, "padding": recipe.padding}
    options |= {"batch_clips": len(clips), "shuffle": False, "mix_clips": change}
    return ClipBatches(clips, corpus.mapping, **options).epoch(0)[0]


def on_pictures(
    row: str,
    corpus: SignCorpus,
    base: Recipe,
    *,
    steps: int,
    change: MixFunction | None = None,
) -> tuple[ClipClassifier, History]:
    """Train a row of the ladder for some steps, and return it with its history.

    It trains on the training part; the model is returned in evaluation mode.
    """
    own = LADDER.recipe(ROWS[row], base)
    set_seed(0)
    model = build_model(own, len(corpus.labels))
    batches = make_batches(own, corpus, seed=0)
    batches.mix_clips = change
    settings = train_config(
        own, model, epoch_steps=len(batches.epoch(0)), progress=False, validated=False
    )
    settings = dataclasses.replace(
        settings, max_steps=steps, max_epochs=None, max_seconds=None, ema_decay=None
    )
    history = fit(
        model, make_task(own, corpus.counts), batches, config=settings, out=None
    )
    return model.eval(), history


def answers_to(
    model: nn.Module,
    corpus: SignCorpus,
    parts: Sequence[str],
    base: Recipe,
    change: MixFunction | None = None,
) -> list[Answer]:
    """The answers to all clips of some parts."""
    answers: list[Answer] = []
    for part in parts:
        batch = whole(corpus, part, base, change)
        with torch.no_grad():
            said = model(batch.frames, batch.mask).logits.softmax(dim=1)
        answers += answers_of(said.numpy(), corpus.part(part), corpus.labels)
    return answers


def with_interval(one: Score) -> str:
    """A score as text: `0.47 [0.38, 0.53]`."""
    if one.interval is None:
        return f"{one.value:.2f}"
    return f"{one.value:.2f} [{one.interval.lower:.2f}, {one.interval.upper:.2f}]"


def stored_ladder(names: Sequence[str], ladder: str = "ladder") -> list[dict[str, Any]]:
    """Return the stored rows of these names in the ladder's order.

    The list is empty where the package came without them.

    Args:
        names: of rows.
        ladder: folder of the stored rows, such as `ladder-hard`.

    Raises:
        ValueError: a file is damaged.
    """
    folder = RESULTS.folder()
    stored = read_rows(folder / ladder) if folder else []
    return [row for row in stored if row["row"] in names]


def missing_lines(
    names: Sequence[str], stored: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Name the rows that are not stored, what each tries and the command for them.

    Raises:
        ValueError: the ladder has no row of a name.
    """
    rows = [LADDER.row(name) for name in names]
    there = {row["row"] for row in stored}
    missing = [row for row in rows if row.name not in there]
    if not missing:
        return []
    made_by = " ".join(
        [
            "coursepkg sign-language ladder --preset small --rows",
            *(row.name for row in missing),
        ]
    )
    told = [
        f"  {row.name:20} {row.about} (against {row.builds_on or 'none'})"
        for row in missing
    ]
    return [f"not stored; `{made_by}` makes:", *told]


def made_up_scores() -> dict[tuple[str, int], tuple[float, int]]:
    """How few-example matching does on made-up signs, from the embedding's card.

    Returns:
        by method and examples a word: share of right nearest words, signs asked about.

    Raises:
        FileNotFoundError: this installation has no embedding.
        ValueError: the card is damaged.
    """
    table = read_json(CHECKPOINT / CARD, needs={"meta": dict})["meta"]["made_up_signs"]
    found = {}
    for name, row in table.items():
        method, n_examples = name.split()
        found[method, int(n_examples)] = row["top1"], row["n"]
    return found


def normalised_picture(steps: SignSteps, at: int, size: int = 240) -> np.ndarray:
    """One step of a sign as a skeleton on a dark ground, uint8 (size, size, 3).

    The shoulders have the same place and width in every picture; hands are drawn with
    an average palm.

    Args:
        steps: normalised.
        at: number of the step.
        size: side of the picture, in pixels.
    """
    width = 0.28 * size
    middle = np.array([0.5 * size, 0.4 * size])
    body = np.full((N_LANDMARKS, 3), np.nan)
    body[list(SHOULDERS), :2] = [[0.5, 0.0], [-0.5, 0.0]]
    body[list(ELBOWS), :2], body[list(WRISTS), :2] = steps.elbows[at], steps.wrists[at]
    hands = np.full((2, 21, 3), np.nan)
    for side in np.flatnonzero(steps.seen[at] > 0.5):
        shape = PALM * steps.hands[at, side, :, :2]
        hands[side, :, :2] = (steps.wrists[at, side] + shape) * width + middle
    body[:, :2] = body[:, :2] * width + middle
    ground = np.full((size, size, 3), 40, np.uint8)
    return draw_skeleton(ground, body, hands)
