"""What the verbs of the three systems do alike: the ends of train, describe, export."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.app.output import print_json, required_out, write_json_output
from coursepkg.app.training_run import Trained
from coursepkg.files import check_new
from coursepkg.training.weights import parameter_counts


def model_parameters(build: Callable[[], nn.Module]) -> dict[str, int]:
    """Weights of a network that is never filled, by part and in `total`."""
    with torch.device("meta"):
        return parameter_counts(build())


def parameters_as_text(parameters: Mapping[str, int]) -> str:
    """The parts of a network with the numbers of their weights, a line each."""
    parts = ((name, n) for name, n in parameters.items() if name != "total")
    return "\n".join(f"  {name}: {n:,}" for name, n in parts)


def report_training(
    trained: Trained,
    scores: Any | None,
    *,
    out: Path,
    then: str,
    as_json: bool,
) -> int:
    """Print what a finished training gave, and return the exit code.

    Args:
        trained: the run.
        scores: of the dev part, with `as_json`; None where there is none.
        out: folder of the run.
        then: what to do next, such as `score it with: coursepkg ocr evaluate`.
        as_json: whether a JSON document is the last line.
    """
    none = "no dev part, so nothing was chosen and nothing is scored"
    print(scores if scores is not None else none)
    print(f"model in {out}; {then}")
    if as_json:
        history = trained.history
        card = trained.card | {"seconds": history.seconds, "stopped": history.stopped}
        dev = None if scores is None else scores.as_json()
        print_json({"out": str(out), "card": card, "dev": dev})
    return 0


def report_findings(
    document: Mapping[str, Any], *, out: Path | None, as_json: bool, leaks: bool
) -> int:
    """Hand over what an audit found; 1 where parts leak into one another."""
    write_json_output(document, out=out, as_json=as_json)
    return int(leaks)


def export_model(
    out: Path | None,
    folder: Path,
    export: Callable[[Path], Mapping[str, Any]],
    told: Callable[[Mapping[str, Any]], str],
    *,
    as_json: bool,
) -> int:
    """Export a model into `--out`, say so, and return the exit code.

    Args:
        out: folder, which must not exist.
        folder: of the model.
        export: writes the folder and returns its card.
        told: lines about the card, behind `exported to OUT`.
        as_json: whether a JSON document is the last line.

    Raises:
        ValueError: `--out` is not given, or is there.
    """
    out = required_out(out)
    check_new(out, "choose another --out")
    card = export(out)
    print(f"exported to {out}{told(card)}")
    if as_json:
        print_json({"out": str(out), "model": folder.name, **card})
    return 0
