"""`torch.export` stores a trained network as one program.

PyTorch runs the program without any class of this package.

    OUT/program.pt2      frames (B, T, size, size, 3), uint8 RGB
                         -> probabilities (B, V), weights (B, T)
    OUT/export.json      the words in order, how frames are chosen and cut, the model

In the format `onnx` it is OUT/program.onnx, which onnxruntime runs.

Pixels go in as a video has them; the statistics of ImageNet are inside, and so is the
adjustment for rare words if the recipe has one. The clips of one call have one number
of frames and no padding: a short clip goes in by itself, with the frames that it has.
Of one or two frames, and in a network with an LSTM of fewer than the recipe has, the
last is repeated, which padding with a mask does not do: there the program and the
network may differ. Several views and ensembles are sums over such calls and no part of
the program.

>>> program = torch.export.load("OUT/program.pt2").module()
>>> probabilities, weights = program(frames)
"""

import copy
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.app.export import (
    Graph,
    read_program,
    traced,
    write_program,
)
from coursepkg.app.options import ExportFormat
from coursepkg.app.output import required_out
from coursepkg.app.verbs import export_model
from coursepkg.files import check_new
from coursepkg.projects.sign_language.data.clip import Clip, normalise, sample_frames
from coursepkg.projects.sign_language.data.video import CacheConfig, made_small
from coursepkg.projects.sign_language.inference import adjusted
from coursepkg.projects.sign_language.options import (
    WITH_WORDS,
    Export,
    refuse_given,
)
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.recognizer import DEFAULT, SignRecognizer

LEAST_FRAMES = 3
"""Fewest frames that the program takes, for PyTorch traces a single one, and a single
change between two, as cases of their own. An LSTM is traced for one number of frames,
that of the recipe."""
MOST_CLIPS = 4096
"""Of one call."""


class ClipProgram(nn.Module):
    """What is exported: a network with what stands before and behind it.

    Args:
        recognizer: its network, and the adjustment of its recipe.
    """

    def __init__(self, recognizer: SignRecognizer) -> None:
        super().__init__()
        self.model = copy.deepcopy(recognizer.model).cpu().float().eval()
        zeros = torch.zeros(1, len(recognizer.labels))
        tau = recognizer.recipe.adjust
        self.register_buffer(
            "offset", adjusted(zeros, recognizer.counts, tau) if tau else zeros
        )

    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Map uint8 (B, T, H, W, 3) to probabilities and weights, both float32.

        The probabilities are (B, V), the weights (B, T).
        """
        found = self.model(normalise(frames))
        return (found.logits + self.offset).softmax(dim=-1), found.weights


def export_program(
    recognizer: SignRecognizer, out: Path, format: ExportFormat = "pt2"
) -> dict[str, Any]:
    """Write program and card; the folder appears whole or not at all.

    Args:
        recognizer: one network.
        out: folder, which must not exist.
        format: of the program.

    Returns:
        the card.

    Raises:
        ImportError: a package that the format needs is not installed.
        ValueError: it is an ensemble or reads landmarks, or the folder exists.
        OSError: it cannot be written.
    """
    if len(recognizer.models) > 1:
        raise ValueError(
            "an ensemble is no single program; export each model and average their"
            " probabilities"
        )
    if recognizer.cache_config.n_features:
        raise ValueError(
            "a model of landmarks cannot be exported: other networks find the landmarks"
            " that it reads; export a model of pictures"
        )
    recipe = recognizer.recipe
    n_frames = recipe.n_frames if least_frames(recipe) == recipe.n_frames else "T"
    graph = Graph(
        lambda: clip_program(recognizer),
        {"frames": ("B", n_frames, recipe.size, recipe.size, 3)},
        {"probabilities": ("B", len(recognizer.labels)), "weights": ("B", n_frames)},
    )
    return write_program(out, graph, _card(recognizer), format)


def clip_program(recognizer: SignRecognizer) -> torch.export.ExportedProgram:
    """The program for any number of clips, and of frames that the model takes."""
    recipe = recognizer.recipe
    example = torch.zeros(
        2, recipe.n_frames, recipe.size, recipe.size, 3, dtype=torch.uint8
    )
    sizes: dict[int, Any] = {0: torch.export.Dim("clips", min=1, max=MOST_CLIPS)}
    least = least_frames(recipe)
    if recipe.n_frames > least:
        sizes[1] = torch.export.Dim("frames", min=least, max=recipe.n_frames)
    with warnings.catch_warnings():
        # An LSTM lists its weights anew while it is traced; they are the same ones.
        warnings.filterwarnings(
            "ignore", message=r"The tensor attributes? .*_flat_weights"
        )
        return traced(ClipProgram(recognizer), (example, sizes))


def least_frames(recipe: Recipe) -> int:
    """Fewest frames of a clip that the program of a recipe takes."""
    return (
        recipe.n_frames
        if recipe.temporal == "lstm"
        else min(LEAST_FRAMES, recipe.n_frames)
    )


class ExportedRecognizer:
    """Names clips by an exported program: what to copy into a service of one's own.

    Args:
        folder: that `export_program` wrote.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the program is not the one that the card names.
    """

    def __init__(self, folder: Path) -> None:
        self.program, self.card = read_program(folder, {"labels": list, "frames": dict})
        self.labels = tuple(self.card["labels"])

    @torch.inference_mode()
    def probabilities(self, clips: Sequence[Clip]) -> Tensor:
        """Return the probabilities (N, V) of the words for N clips, one by one.

        The clips may have any size and length.
        """
        return torch.cat([self.program(self.frames_of(clip))[0] for clip in clips])

    def label(self, clip: Clip) -> str:
        """The likeliest word of a clip."""
        return self.labels[int(self.probabilities([clip])[0].argmax())]

    def frames_of(self, clip: Clip) -> Tensor:
        """A clip as the program takes it, uint8 (1, T, size, size, 3)."""
        told = self.card["frames"]
        config = CacheConfig(
            told["size"], told["kept"], told["fit"], skip_solid=told["skip_solid"]
        )
        kept = made_small(clip, config)
        sampled = sample_frames(kept.times, told["count"], told["padding"])
        numbers = sampled.numbers[sampled.mask]
        numbers = numbers[
            np.arange(max(len(numbers), told["least"])).clip(max=len(numbers) - 1)
        ]
        return torch.from_numpy(kept.frames[numbers])[None]


def _card(recognizer: SignRecognizer) -> dict[str, Any]:
    recipe, reading = recognizer.recipe, recognizer.cache_config
    return {
        "input": (
            "frames, uint8 RGB (clips, frames, size, size, 3); all clips of a call have"
            " one number of frames"
        ),
        "output": (
            "probabilities, float32 (clips, words); weights of the frames, float32"
            " (clips, frames)"
        ),
        "labels": list(recognizer.labels),
        "frames": {
            "size": recipe.size,
            "fit": reading.fit,
            "kept": reading.frames,
            "skip_solid": reading.skip_solid,
            "count": recipe.n_frames,
            "least": least_frames(recipe),
            "padding": recipe.padding,
            "how": (
                f"the middle square of each frame, scaled to {recipe.size} pixels; of a"
                f" clip with more than {reading.frames} frames those on the screen at"
                f" {reading.frames} evenly spaced moments from the first frame to the"
                f" last{_SKIPPED if reading.skip_solid else ''}; of these in the same"
                f" way {recipe.n_frames}; {_FILLED[recipe.padding]}, and with its last"
                f" frame up to {least_frames(recipe)}"
            ),
        },
        "adjust": recipe.adjust,
        "views": 1,
        "fingerprint": recognizer.fingerprint,
    }


_SKIPPED = ", less those in one colour, over which time stands still"
_FILLED = {
    "mask": "a clip with fewer goes in with all it has",
    "repeat": "a clip with fewer is filled up with its last frame",
    "loop": "a clip with fewer is filled up from its beginning",
}
"""What becomes of short clips."""


def export_command(options: Export) -> int:
    """Export a model and return the exit code."""
    common = options.common
    if common.data != "auto":
        raise ValueError("--data names clips, and export needs none; leave it out")
    out = required_out(common.out)
    check_new(out, "choose another --out")
    if options.words is not None:
        return _export_words(options, options.words)
    folder = options.model or (common.run_folder if common.preset else DEFAULT)
    recognizer = SignRecognizer.load(folder)

    def told(card: Mapping[str, Any]) -> str:
        views, words = recognizer.recipe.views, f": {len(card['labels'])} words"
        once = "\nthe program looks once; the model's recipe averages"
        return words + (f"{once} {views} views" if views > 1 else "")

    export = partial(export_program, recognizer, format=options.format)
    return export_model(out, folder, export, told, as_json=common.json)


def _export_words(options: Export, folder: Path) -> int:
    from coursepkg.projects.sign_language.few_shot.export import export_words
    from coursepkg.projects.sign_language.few_shot.words import Words

    common = options.common
    flags = (("--model", options.model), ("--preset", common.preset))
    refuse_given(flags, WITH_WORDS)
    words = Words.load(folder)
    return export_model(
        common.out,
        folder,
        lambda out: export_words(words, out, options.format),
        lambda card: f": {len(card['labels'])} words",
        as_json=common.json,
    )
