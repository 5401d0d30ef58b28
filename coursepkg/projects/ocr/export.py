"""Encoder and CTC head as one program, which needs no class from here.

    OUT/program.pt2      pictures (B, 1, H, W), float32 in [-1, 1], paper is 1
                         -> log-probabilities (B, columns, V)
    OUT/export.json      height, widths, characters, and where the model is from

In the format `onnx` it is OUT/program.onnx, which onnxruntime runs.

The pictures of one call have one width and no padding. The CTC head reads alone: the
decoder writes letter by letter, which is a loop and no program.

>>> program = torch.export.load("OUT/program.pt2").module()
>>> program(picture).argmax(dim=-1)
"""

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
from coursepkg.projects.ocr.data.images import fit_image
from coursepkg.projects.ocr.line import decode_text, pad_images
from coursepkg.projects.ocr.model.ctc import greedy_ctc
from coursepkg.projects.ocr.model.recognizer import LineTransformer, folded_copy
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary

LEAST_WIDTH = 5
"""Narrowest picture that the program takes, in pixels: two columns, for PyTorch traces
a single one as a case of its own. A narrower one, which hardly shows a letter, is
padded."""


class LineProgram(nn.Module):
    """What is exported: CNN, encoder and CTC head of a recogniser.

    Args:
        model: as it was trained; batch normalisation is folded into a copy.
    """

    def __init__(self, model: LineTransformer) -> None:
        super().__init__()
        self.model = folded_copy(model).cpu().float()

    def forward(self, images: Tensor) -> Tensor:
        """images (B, 1, H, W) without padding -> log-probabilities (B, columns, V).

        The special tokens that no text holds get -1e30, which is as good as never.
        """
        steps = self.model.encode(images, None).outputs
        logits = self.model.ctc_head(self.model.sequence.by_column(steps))
        never = torch.zeros(logits.shape[-1]).index_fill(
            0, torch.tensor([BOS, EOS, UNK]), -1e30
        )
        log_probs: Tensor = (logits + never).log_softmax(dim=-1)
        return log_probs


def export_program(
    recognizer: Recognizer, out: Path, format: ExportFormat = "pt2"
) -> dict[str, Any]:
    """Write program and card; the folder appears whole or not at all.

    Args:
        recognizer: its CTC head must have been trained.
        out: folder, which must not exist.
        format: of the program.

    Returns:
        the card.

    Raises:
        ImportError: a package that the format needs is not installed.
        ValueError: the CTC head is untrained, or the folder exists.
        OSError: it cannot be written.
    """
    recipe, config = recognizer.recipe, recognizer.model.config
    if not recipe.ctc_weight:
        raise ValueError(
            "the model has no trained CTC head to export; train with --ctc-weight"
            " above 0"
        )
    card = {
        "input": "grey levels 0 to 255, divided by 127.5, less 1; paper is 1",
        "output": (
            f"ids from {len(SPECIALS)} on are the characters; {PAD} is CTC's blank"
        ),
        "height": config.height,
        "box_width": recipe.box_width,
        "widths": [LEAST_WIDTH, config.max_width],
        "characters": list(recognizer.vocabulary.tokens[len(SPECIALS) :]),
        "fingerprint": recognizer.fingerprint,
    }
    graph = Graph(
        lambda: line_program(recognizer.model),
        {"images": ("B", 1, config.height, "width")},
        {"log_probs": ("B", "columns", len(recognizer.vocabulary.tokens))},
    )
    return write_program(out, graph, card, format)


def line_program(model: LineTransformer) -> torch.export.ExportedProgram:
    """The program for any number of lines of any width that the model takes."""
    sizes = {
        0: torch.export.Dim("lines", min=1, max=4096),
        3: torch.export.Dim("width", min=LEAST_WIDTH, max=model.config.max_width),
    }
    example = torch.zeros(2, 1, model.config.height, 128)
    return traced(LineProgram(model), (example, sizes))


class ExportedReader:
    """Reads lines by an exported program: what to copy into a service of one's own.

    Args:
        folder: that `export_program` wrote.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the program is not the one that the card names.
    """

    def __init__(self, folder: Path) -> None:
        needs = {"height": int, "box_width": int, "widths": list, "characters": list}
        self.program, self.card = read_program(folder, needs)
        self.vocabulary = Vocabulary((*SPECIALS, *self.card["characters"]))

    def read(self, images: list[np.ndarray]) -> list[str]:
        """What some lines say, uint8 (height, width) each, one after another."""
        return [self._read(image) for image in images]

    @torch.inference_mode()
    def _read(self, image: np.ndarray) -> str:
        height, (least, most) = self.card["height"], self.card["widths"]
        fitted = fit_image(image, height, self.card["box_width"], most_width=most)
        pixels, _ = pad_images([fitted], max(least, fitted.shape[1]))
        log_probs = self.program(pixels)
        draft = greedy_ctc(log_probs, torch.tensor([log_probs.shape[1]]))[0]
        return decode_text(draft.ids, self.vocabulary)
