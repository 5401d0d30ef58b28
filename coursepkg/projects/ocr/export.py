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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.app.export import (
    CARD,
    ONNX_PROGRAM,
    PROGRAM,
    Graph,
    read_program,
    traced,
    write_program,
)
from coursepkg.app.options import ExportFormat
from coursepkg.files import file_sha256
from coursepkg.projects.ocr.line import LineReading, pad_images
from coursepkg.projects.ocr.model.recognizer import LineTransformer, folded_copy
from coursepkg.projects.ocr.predict import (
    Picture,
    Recognizer,
    line_reading,
    prepare_all,
    prepare_picture,
)
from coursepkg.projects.ocr.readers import read_ctc
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary
from coursepkg.validation import as_list, check_count

LEAST_WIDTH = 5
"""Narrowest picture that the program takes, in pixels: two columns, for PyTorch traces
a single one as a case of its own. A narrower one, which hardly shows a letter, is
padded."""


MOST_LINES = 4096
"""Most lines that the program takes at once."""


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
    recognizer: Recognizer,
    out: Path,
    format: ExportFormat = "pt2",
    *,
    training: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write program and card; the folder appears whole or not at all.

    Args:
        recognizer: its CTC head must have been trained.
        out: folder, which must not exist.
        format: of the program.
        training: the card of the model's training; the export's card repeats its `data`
            and `start`, which say what the model learnt from.

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
    for name in ("data", "start"):
        if training and name in training:
            card[name] = training[name]
    graph = Graph(
        lambda: line_program(recognizer.model),
        {"images": ("B", 1, config.height, "width")},
        {"log_probs": ("B", "columns", len(recognizer.vocabulary.tokens))},
    )
    return write_program(out, graph, card, format)


def line_program(model: LineTransformer) -> torch.export.ExportedProgram:
    """The program for any number of lines of any width that the model takes."""
    sizes = {
        0: torch.export.Dim("lines", min=1, max=MOST_LINES),
        3: torch.export.Dim("width", min=LEAST_WIDTH, max=model.config.max_width),
    }
    example = torch.zeros(2, 1, model.config.height, 128)
    return traced(LineProgram(model), (example, sizes))


def is_export(folder: Path) -> bool:
    """Whether a folder holds an exported program, or what is left of one."""
    return any((folder / name).is_file() for name in (CARD, PROGRAM, ONNX_PROGRAM))


class ExportedReader:
    """Reads lines by an exported program, as a `Recognizer` does by its network.

    CTC alone reads, greedily and in float32. Lines of one width go through the program
    together, for it takes no padding.

    Args:
        folder: that `export_program` wrote.

    Raises:
        ImportError: it is ONNX, and onnxruntime is not installed.
        FileNotFoundError: a file is missing.
        ValueError: the card is damaged, or the program is not the one that it names.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        needs = {"height": int, "box_width": int, "widths": list, "characters": list}
        self.program, self.card = read_program(folder, needs)
        if [type(width) for width in self.card["widths"]] != [int, int]:
            raise ValueError(f"{folder / CARD} is damaged; export the model again")
        self.vocabulary = Vocabulary((*SPECIALS, *self.card["characters"]))
        self.fingerprint = file_sha256(folder / CARD)
        """SHA-256 of the card, which names that of the program."""

    def read_lines(
        self,
        pictures: Sequence[Picture],
        *,
        batch_size: int = 64,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
        keep_going: bool = False,
        names: Sequence[str] | None = None,
    ) -> list[LineReading]:
        """Read pictures that show one line each, in order.

        The arguments are those of `Recognizer.read_lines`; see `reading_settings` for
        the ways of reading that there are.

        Raises:
            ValueError: a picture cannot be read, or an export cannot read so.
            FileNotFoundError: there is no such picture.
        """
        pictures = as_list("pictures", pictures, Picture, "pictures")
        check_count("batch_size", batch_size)
        self.reading_settings(reader, beam_size, second_look)
        images, found = prepare_all(pictures, self._prepare, names, keep_going)
        by_width: dict[int, list[int]] = {}
        for i, image in images.items():
            by_width.setdefault(image.shape[1], []).append(i)
        size = min(batch_size, MOST_LINES)
        for alike in by_width.values():
            for first in range(0, len(alike), size):
                chosen = alike[first : first + size]
                readings = self._read([images[i] for i in chosen])
                found |= zip(chosen, readings, strict=True)
        return [found[i] for i in range(len(pictures))]

    def reading_settings(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> dict[str, Any]:
        """Reader, beam_size, second_look and dtype of `read_lines` with these options.

        Raises:
            ValueError: they ask for what an export lacks.
        """
        if reader not in (None, "ctc"):
            raise ValueError(
                f"reader {reader} needs the decoder, which an export lacks; take reader"
                " ctc, or the model itself"
            )
        if beam_size not in (None, 1):
            raise ValueError(
                f"beam_size must be 1 for an export, which reads greedily, got"
                f" {beam_size}; leave it out, or take the model itself"
            )
        if second_look:
            raise ValueError(
                "second_look needs the decoder, which an export lacks; take second_look"
                " 0, or the model itself"
            )
        return {"reader": "ctc", "beam_size": 1, "second_look": 0.0, "dtype": "float32"}

    def describe_reading(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> str:
        """How `read_lines` reads with these options, for the signature of a score."""
        settings = self.reading_settings(reader, beam_size, second_look)
        kind = "onnx" if "files" in self.card else "pt2"
        return f"{settings['reader']} beam {settings['beam_size']}, exported to {kind}"

    def _prepare(self, picture: Picture, name: str) -> np.ndarray:
        card = self.card
        return prepare_picture(
            picture, name, card["height"], card["box_width"], card["widths"][1]
        )

    @torch.inference_mode()
    def _read(self, images: Sequence[np.ndarray]) -> list[LineReading]:
        """Lines of one width, uint8 (height, width) each."""
        pixels, _ = pad_images(images, max(self.card["widths"][0], images[0].shape[1]))
        log_probs = self.program(pixels)
        columns = torch.full((len(images),), log_probs.shape[1])
        return [
            line_reading(line, self.vocabulary) for line in read_ctc(log_probs, columns)
        ]
