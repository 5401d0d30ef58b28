"""What the options of all commands share: types of fields, presets, folders, threads.

A type carries the help of its flag, so that a text which all systems share stands here
alone; a field of such a type has no docstring.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import tyro

from coursepkg.processor import check_threads

T = TypeVar("T")

RUNS = Path("runs")
"""Where training puts a run that gets no --out, and where other verbs look for it."""

Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]
"""A switch that is off, without its opposite."""
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]
Part = Literal["train", "dev", "test"]
Inputs = tyro.conf.Positional[
    Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE|FOLDER...")]
]
"""Files and folders to predict from."""

Out = Annotated[Path | None, tyro.conf.arg(metavar="PATH", help="Where results go.")]
Json = Annotated[
    bool,
    tyro.conf.FlagCreatePairsOff,
    tyro.conf.arg(help="Print one JSON document as the last line."),
]
PRESET_HELP = (
    "Settings to start from; the other verbs then take the run that `train` made by it."
)
Model = Annotated[
    Path | None,
    tyro.conf.arg(
        metavar="FOLDER",
        help="Folder that `train` wrote. Without it that of --preset, and without both "
        "the model that ships.",
    ),
]
"""The model that a verb uses."""
ModelOrExport = Annotated[
    Path | None,
    tyro.conf.arg(
        metavar="FOLDER",
        help="Folder that `train` or `export` wrote. Without it the run of --preset, "
        "and without both the model that ships.",
    ),
]
"""The model, or its export, that a verb reads or translates with."""
ExportFormat = Annotated[
    Literal["pt2", "onnx"],
    tyro.conf.arg(
        help="A torch.export program, or an ONNX graph, which onnxruntime runs, in a "
        "browser too."
    ),
]
ScoredPart = Annotated[
    Part,
    tyro.conf.arg(help="Which part to score. The test part is for the last word."),
]
Resume = Annotated[
    bool,
    tyro.conf.FlagCreatePairsOff,
    tyro.conf.arg(help="Go on with the run in --out."),
]
TrainThreads = Annotated[
    int,
    tyro.conf.arg(
        help="CPU threads; 0 is one for `tiny`, whose matrices are too small to share, "
        "and else one for each core that this process has to itself."
    ),
]
Recursive = Annotated[
    bool,
    tyro.conf.FlagCreatePairsOff,
    tyro.conf.arg(help="Open folders in folders."),
]


def preset_in(
    arguments: Sequence[str], presets: Mapping[str, T], usual: str = "tiny"
) -> T:
    """Look up the preset that the arguments name, or the usual one.

    It is looked for before the arguments are parsed, because it gives the other flags
    their defaults. An unknown name gives the usual one; parsing refuses it later.
    """
    named = value_in(arguments, "--preset")
    return presets.get(usual if named is None else named, presets[usual])


def value_in(arguments: Sequence[str], flag: str) -> str | None:
    """The value that arguments which are not parsed yet give a flag, the last one."""
    found = None
    for number, one in enumerate(arguments, start=1):
        if one == flag and number < len(arguments):
            found = arguments[number]
        elif one.startswith(f"{flag}="):
            found = one.partition("=")[2]
    return found


def run_folder(project: str, preset: str | None, *more: str) -> Path:
    """The folder where `train` puts a run of a preset, such as `runs/ocr-tiny`."""
    return RUNS / "-".join((project, preset or "tiny", *more))


def is_tiny(preset: str | None) -> bool:
    """Whether a verb that makes a model makes a tiny one."""
    return preset in (None, "tiny")


def set_training_threads(threads: int, preset: str | None) -> None:
    """Set the CPU threads of a training: one for `tiny` where none are asked for.

    Raises:
        ValueError: the number is negative.
    """
    check_threads(threads)
    if threads or is_tiny(preset):
        import torch

        torch.set_num_threads(threads or 1)
