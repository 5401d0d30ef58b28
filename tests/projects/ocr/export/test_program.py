"""The exported program gives the numbers of the model, for any number of lines of any width, without this package."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from coursepkg.app.export import CARD, PROGRAM
from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.export import ExportedReader, export_program
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.text.vocabulary import BOS, EOS, SPECIALS, UNK
from coursepkg.training.saved_model import save_model
from tests.projects.ocr.drawn import network

VOCABULARY = character_vocabulary([], declared="abcdefgh")
RECIPE = PRESETS["tiny"]


def export(model: Path, out: Path) -> Path:
    """In a process of its own: the shape checks of the tests cannot follow a traced size."""
    command = [sys.executable, "-m", "coursepkg", "ocr", "export", "--model", str(model), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return out


@pytest.mark.parametrize("sequence", ["fold", "grid"])
def test_any_number_of_lines_of_any_width(sequence: str, tmp_path: Path) -> None:
    model = network(sequence=sequence, vocab_size=len(VOCABULARY)).float()
    (tmp_path / "model_of").mkdir()
    VOCABULARY.save(tmp_path / "model_of" / "vocabulary.json")
    save_model(
        tmp_path / "model_of" / "model", model, recipe=RECIPE.described(), vocabulary=VOCABULARY.fingerprint
    )
    program = torch.export.load(export(tmp_path / "model_of", tmp_path / "out") / PROGRAM).module()
    for n_lines, width in ((1, 5), (1, 33), (3, 200), (2, 511), (1, 512)):
        images = torch.rand(n_lines, 1, 32, width) * 2 - 1
        with torch.no_grad():
            found = program(images).exp()
            memory = model.encode(images, torch.full((n_lines,), width))
            logits = model.ctc_logits(memory).clone()
        logits[..., [BOS, EOS, UNK]] = -torch.inf
        torch.testing.assert_close(found, logits.softmax(dim=-1), atol=1e-5, rtol=0)


@pytest.fixture
def exported(export_to: Callable[[str], Path]) -> Path:
    return export_to("pt2")


def test_the_card_says_what_was_exported(exported: Path, quick_run: Path) -> None:
    card = json.loads((exported / CARD).read_text("utf-8"))
    recognizer = Recognizer.load(quick_run)
    assert card["fingerprint"] == recognizer.fingerprint
    assert (card["height"], card["box_width"], card["torch"]) == (32, 0, torch.__version__)
    assert [*SPECIALS, *card["characters"]] == list(recognizer.vocabulary.tokens)


def test_the_program_runs_without_this_package(exported: Path) -> None:
    code = (
        "import sys, torch; program = torch.export.load(sys.argv[1]).module(); "
        "print(tuple(program(torch.ones(1, 1, 32, 90)).shape), any('coursepkg' in name for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(exported / PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=exported)
    assert done.stdout.startswith("(1, 23, ")
    assert done.stdout.strip().endswith("False")


def test_a_changed_program_and_a_taken_folder_are_refused(
    exported: Path, quick_run: Path, tmp_path: Path
) -> None:
    recognizer = Recognizer.load(quick_run)
    with pytest.raises(ValueError, match=r"already exists; choose another --out$"):
        export_program(recognizer, exported)
    for name in (PROGRAM, CARD):
        (tmp_path / name).write_bytes((exported / name).read_bytes())
    with (tmp_path / PROGRAM).open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="was changed or cut short; export the model again"):
        ExportedReader(tmp_path)


def test_a_model_without_a_trained_ctc_head_is_refused(quick_run: Path, tmp_path: Path) -> None:
    found = Recognizer.load(quick_run)
    found.recipe = dataclasses.replace(found.recipe, ctc_weight=0.0, reader="attention")
    with pytest.raises(ValueError, match="no trained CTC head to export"):
        export_program(found, tmp_path / "out")
    assert not list(tmp_path.iterdir())
