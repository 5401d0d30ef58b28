"""Enrolled words as one program: the embedding, with the words' prototypes in its card.

    OUT/program.pt2      steps (B, N, F), float32 -> vectors (B, E) of length 1
    OUT/export.json      words, prototypes, weights, and what the F numbers are

In the format `onnx` it is OUT/program.onnx. `how` in the card says how the method
`embedding` of `matching` makes probabilities of the vectors. What it does before is
left to the user: it cuts the active parts out of a clip, takes the mean vector of
several cuts of each, and of several parts the least distance. Warping compares examples
and is no network.
"""

import copy
from pathlib import Path
from typing import Any

import torch

from coursepkg.app.export import Graph, traced, write_program
from coursepkg.app.options import ExportFormat
from coursepkg.projects.sign_language.few_shot.embedding import (
    N_FEATURES,
    PARTS,
    SignEmbedding,
    default_embedding,
)
from coursepkg.projects.sign_language.few_shot.features import N_STEPS
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.few_shot.words import Words

MOST_SIGNS = 4096
"""Of one call."""
NUMBERS = (
    "hands: left, right; 20 joints without the wrist, from the wrist, in lengths of the"
    " palm (x, y, z)",
    "how much of the step each hand is seen, 0 to 1",
    "wrists: left, right, from the middle of the shoulders, in their width (x, y)",
    "elbows, the same",
    "nose and ears, the same",
    "natural logarithm of the seconds of the sign, at least 0.2",
)
"""What the parts of a step are, in the order of `PARTS`."""

HOW = (
    "the distance of a word is 1 - cosine to the nearest of its prototypes, of the sign"
    " or of its mirror image; its score is -weights.distance * distance, and that of"
    " none is -weights.none; the probabilities are the softmax of the scores"
)


def export_words(words: Words, out: Path, format: ExportFormat) -> dict[str, Any]:
    """Write program and card; the folder appears whole or not at all.

    Args:
        words: enrolled, at least one.
        out: folder, which must not exist.
        format: of the program.

    Returns:
        the card.

    Raises:
        ImportError: a package that the format needs is not installed.
        ValueError: there is no word, or the folder exists.
        OSError: it cannot be written.
    """
    network = default_embedding()
    recognizer = WordRecognizer(words, method="embedding")
    matcher = recognizer.matcher
    card = {
        "input": "a step's numbers, one part behind another",
        "how": HOW,
        "parts": [
            {"numbers": size, "what": what}
            for size, what in zip(PARTS, NUMBERS, strict=True)
        ],
        "labels": list(matcher.words),
        "prototypes": matcher.prototypes.tolist(),
        "prototype words": matcher.prototype_word.tolist(),
        "weights": {
            "distance": matcher.weights.embedding,
            "none": matcher.weights.none,
        },
        "fingerprint": recognizer.fingerprint,
    }
    graph = Graph(
        lambda: embedding_program(network),
        {"steps": ("B", N_STEPS, N_FEATURES)},
        {"vectors": ("B", network.config.d_model)},
    )
    return write_program(out, graph, card, format)


def embedding_program(network: SignEmbedding) -> torch.export.ExportedProgram:
    """The program for any number of signs."""
    sizes = {0: torch.export.Dim("signs", min=1, max=MOST_SIGNS)}
    example = torch.zeros(2, N_STEPS, N_FEATURES)
    return traced(copy.deepcopy(network), (example, sizes))
