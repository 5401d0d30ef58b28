"""A network as a `torch.export` program with a card; it runs without this package.

OUT/program.pt2     the program
OUT/export.json     what goes in and out, the program's SHA-256, PyTorch's version
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.files import check_new, file_sha256, read_json, whole_folder, write_json

PROGRAM, CARD = "program.pt2", "export.json"


def traced(
    module: nn.Module, example: Tensor, sizes: Mapping[int, Any]
) -> torch.export.ExportedProgram:
    """The program of a module with one input.

    Args:
        module: in evaluation mode from now on.
        example: an input; its sizes are the program's, but for those below.
        sizes: dimensions of the input that may have other sizes, each with its
            `torch.export.Dim`.
    """
    with torch.no_grad():
        return torch.export.export(
            module.eval(),
            (example,),
            dynamic_shapes=(dict(sizes),),
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )


def write_program(
    out: Path, make: Callable[[], torch.export.ExportedProgram], card: Mapping[str, Any]
) -> dict[str, Any]:
    """Write program and card; the folder appears whole or not at all.

    Args:
        out: folder, which must not exist.
        make: gives the program; it is called when the folder is known to be free.
        card: what the program takes and gives, as JSON can hold it.

    Returns:
        the card as it is written.

    Raises:
        ValueError: the folder exists.
        OSError: it cannot be written.
    """
    check_new(out, "choose another --out")
    with whole_folder(out) as part:
        torch.export.save(make(), part / PROGRAM)
        whole = {
            **card,
            "sha256": file_sha256(part / PROGRAM),
            "torch": torch.__version__,
        }
        write_json(part / CARD, whole)
    return whole


def read_program(
    folder: Path, needs: Mapping[str, type]
) -> tuple[nn.Module, dict[str, Any]]:
    """Program and card of a folder that `write_program` wrote.

    Args:
        folder: the folder.
        needs: entries that the card must have, and their kinds.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the program is not the one that the card names.
    """
    card = read_json(folder / CARD, needs={**needs, "sha256": str})
    if file_sha256(folder / PROGRAM) != card["sha256"]:
        raise ValueError(
            f"{folder / PROGRAM} was changed or cut short; export the model again"
        )
    return torch.export.load(folder / PROGRAM).module(), card
