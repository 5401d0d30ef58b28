"""A network as a program with a card; it runs without this package.

    OUT/program.pt2     a `torch.export` program, which PyTorch runs
    OUT/export.json     what goes in and out, the program's SHA-256, PyTorch's version

Or, for onnxruntime, in a browser too:

    OUT/NAME.onnx       one graph or several, weights inside
    OUT/export.json     of each file its inputs, outputs and SHA-256; the opset
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.app.options import ExportFormat
from coursepkg.files import (
    check_new,
    file_sha256,
    missing_entry,
    read_json,
    whole_folder,
    write_json,
)

PROGRAM, CARD = "program.pt2", "export.json"
ONNX_PROGRAM = "program.onnx"
OPSET = 18
"""Version of ONNX's operators: what PyTorch writes without converting, and what
runtimes since 2023 read."""


def traced(
    module: nn.Module, *inputs: tuple[Tensor, Mapping[int, Any]]
) -> torch.export.ExportedProgram:
    """The program of a module.

    Args:
        module: in evaluation mode from now on.
        *inputs: of each input an example, whose sizes are the program's, but for those
            dimensions that come with it, each with its `torch.export.Dim`.
    """
    with torch.no_grad():
        return torch.export.export(
            module.eval(),
            tuple(example for example, _ in inputs),
            dynamic_shapes=tuple(dict(sizes) for _, sizes in inputs),
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )


Shapes = Mapping[str, Sequence[str | int]]
"""Names of inputs or outputs, in order, and of each its sizes; those that may differ
from call to call are letters of `coursepkg.shapes`, or words."""


@dataclass(frozen=True)
class Graph:
    """A program with the names of what goes in and out."""

    make: Callable[[], torch.export.ExportedProgram]
    inputs: Shapes
    outputs: Shapes


def write_program(
    out: Path, graph: Graph, card: Mapping[str, Any], format: ExportFormat
) -> dict[str, Any]:
    """Write one program and its card; the folder appears whole or not at all.

    Args:
        out: folder, which must not exist.
        graph: its program is made when the folder is known to be free.
        card: what the program takes and gives, as JSON can hold it.
        format: `pt2` or `onnx`.

    Returns:
        the card as it is written.

    Raises:
        ImportError: a package that the format needs is not installed.
        ValueError: the folder exists.
        OSError: it cannot be written.
    """
    if format == "onnx":
        return write_onnx(out, {ONNX_PROGRAM: graph}, card)
    check_new(out, "choose another --out")
    with whole_folder(out) as part:
        torch.export.save(graph.make(), part / PROGRAM)
        whole = {
            **card,
            "sha256": file_sha256(part / PROGRAM),
            "torch": torch.__version__,
        }
        write_json(part / CARD, whole)
    return whole


def write_onnx(
    out: Path,
    graphs: Mapping[str, Graph],
    card: Mapping[str, Any],
    also: Callable[[Path], object] | None = None,
) -> dict[str, Any]:
    """Write ONNX graphs and their card; the folder appears whole or not at all.

    Args:
        out: folder, which must not exist.
        graphs: by file name.
        card: what a user of the graphs must know, as JSON can hold it.
        also: writes what else belongs to the folder; called with the unfinished one.

    Returns:
        the card as it is written, with `files`, `opset` and `torch`.

    Raises:
        ImportError: onnx or onnxscript is not installed.
        ValueError: the folder exists.
        OSError: it cannot be written.
    """
    check_new(out, "choose another --out")
    for module in ("onnx", "onnxscript"):
        _needed(module)
    files = {}
    with whole_folder(out) as part:
        for name, graph in graphs.items():
            files[name] = _save_graph(graph, part / name)
        if also is not None:
            also(part)
        whole = {**card, "files": files, "opset": OPSET, "torch": torch.__version__}
        write_json(part / CARD, whole)
    return whole


def _save_graph(graph: Graph, path: Path) -> dict[str, Any]:
    """Convert and save; return what the card says of it."""
    letters = tuple(
        {i: size for i, size in enumerate(shape) if isinstance(size, str)}
        for shape in graph.inputs.values()
    )
    with _quiet():
        made = torch.onnx.export(
            graph.make(),
            input_names=list(graph.inputs),
            output_names=list(graph.outputs),
            dynamic_shapes=letters,
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
        assert made is not None
        made.save(path, external_data=False)

    def told(values: Any, shapes: Shapes) -> dict[str, Any]:
        kinds = [str(value.dtype.numpy()) for value in values]
        return {
            name: {"dtype": kind, "shape": list(shape)}
            for kind, (name, shape) in zip(kinds, shapes.items(), strict=True)
        }

    return {
        "inputs": told(made.model.graph.inputs, graph.inputs),
        "outputs": told(made.model.graph.outputs, graph.outputs),
        "sha256": file_sha256(path),
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's notes on itself, which no user can act on."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnx_ir")]
    levels = [one.level for one in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in loggers:
            one.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for one, level in zip(loggers, levels, strict=True):
                one.setLevel(level)


def _needed(module: str) -> Any:
    """An optional module.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as reason:
        raise ImportError(
            f"the ONNX format needs {module}: pip install 'coursepkg[onnx]'"
        ) from reason


def read_card(path: Path, needs: Mapping[str, type]) -> dict[str, Any]:
    """The card of an export.

    Args:
        path: of the card.
        needs: entries that it must have, and their kinds.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or that of another project's export.
    """
    card = read_json(path)
    check_entries(path, card, needs)
    return card


def check_entries(path: Path, entries: Any, needs: Mapping[str, type]) -> None:
    """Refuse the card of an export, or a part of it, that lacks entries.

    Raises:
        ValueError: it is damaged, or that of another project's export.
    """
    if missing := missing_entry(entries, needs):
        raise ValueError(
            f"{path} is damaged or of another project: it has no {missing}; export the"
            " model again"
        )


def read_onnx(
    folder: Path, needs: Mapping[str, type]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The graphs of a folder that `write_onnx` wrote, by file name, and its card.

    Each is an `onnxruntime.InferenceSession`, with as many threads as PyTorch has.

    Args:
        folder: the folder.
        needs: entries that the card must have, and their kinds.

    Raises:
        ImportError: onnxruntime is not installed.
        FileNotFoundError: a file is missing.
        ValueError: a file is not the one that the card names, or the card is that of
            another project.
    """
    card = read_card(folder / CARD, {**needs, "files": dict})
    runtime = _needed("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    for name, told in card["files"].items():
        check_entries(folder / CARD, told, {"sha256": str})
        _check_whole(folder / name, told["sha256"])
    sessions = {
        name: runtime.InferenceSession(folder / name, options) for name in card["files"]
    }
    return sessions, card


def read_program(
    folder: Path, needs: Mapping[str, type]
) -> tuple[Callable[[Tensor], Any], dict[str, Any]]:
    """Program and card of a folder that `write_program` wrote.

    The program maps a tensor to a tensor, or to several where it has several outputs.

    Args:
        folder: the folder.
        needs: entries that the card must have, and their kinds.

    Raises:
        ImportError: it is ONNX, and onnxruntime is not installed.
        FileNotFoundError: a file is missing.
        ValueError: the program is not the one that the card names, or the card is that
            of another project.
    """
    card = read_card(folder / CARD, needs)
    if "files" in card:
        sessions, card = read_onnx(folder, needs)
        check_entries(folder / CARD, card["files"], {ONNX_PROGRAM: dict})
        session = sessions[ONNX_PROGRAM]
        (only,) = session.get_inputs()

        def run(tensor: Tensor) -> Tensor | list[Tensor]:
            found = session.run(None, {only.name: tensor.numpy()})
            tensors = [torch.from_numpy(one) for one in found]
            return tensors[0] if len(tensors) == 1 else tensors

        return run, card
    check_entries(folder / CARD, card, {"sha256": str})
    _check_whole(folder / PROGRAM, card["sha256"])
    return torch.export.load(folder / PROGRAM).module(), card


def _check_whole(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; export the model again")
    if file_sha256(path) != sha256:
        raise ValueError(f"{path} was changed or cut short; export the model again")
