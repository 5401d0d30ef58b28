"""Exported words: the program gives the embedding's vectors, and its card is enough to name a sign."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.app.export import CARD, ONNX_PROGRAM, read_program
from coursepkg.projects.sign_language.few_shot.embedding import N_FEATURES, default_embedding, step_features
from coursepkg.projects.sign_language.few_shot.features import N_STEPS, signs_of
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.few_shot.matching import Matcher
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.few_shot.words import EnrolledClip, Words
from tests.said import said

EXPORT = """
import sys
from coursepkg.cli import main
for format in ("pt2", "onnx"):
    arguments = ["--words", sys.argv[1], "--format", format, "--out", f"{sys.argv[1]}-{format}"]
    assert main(["sign-language", "export", *arguments]) == 0
"""


@pytest.fixture(scope="module")
def words() -> Words:
    """Four made-up words, two clips each."""
    drawn = sign(np.random.default_rng(8), draw_words(np.random.default_rng(8), 4).repeated(2))
    return Words(
        tuple(EnrolledClip(f"từ {i // 2}", f"{i}.mp4", f"{i:064x}", "", drawn.clip(i)) for i in range(8))
    )


@pytest.fixture(scope="module")
def folder(words: Words, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The words; behind its name `-pt2` and `-onnx`: their programs, made where no shape is checked."""
    folder = tmp_path_factory.mktemp("exported") / "words"
    words.save(folder)
    done = subprocess.run([sys.executable, "-c", EXPORT, str(folder)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(f"exported to {folder}-{kind}: 4 words\n" for kind in ("pt2", "onnx"))
    return folder


@pytest.mark.parametrize("format", ["pt2", "onnx"])
def test_vectors_of_any_number_of_signs(folder: Path, format: str) -> None:
    """Within 1e-5: vectors of length 1, the same sums in float32 in another order."""
    program, _ = read_program(Path(f"{folder}-{format}"), {"labels": list})
    for n_signs in (1, 2, 7):
        steps = torch.randn(n_signs, N_STEPS, N_FEATURES, generator=torch.Generator().manual_seed(0))
        with torch.no_grad():
            torch.testing.assert_close(program(steps), default_embedding()(steps), atol=1e-5, rtol=0)


def test_a_sign_is_named_by_program_and_card_as_by_the_matcher(folder: Path, words: Words) -> None:
    program, card = read_program(Path(f"{folder}-onnx"), {"labels": list})
    matcher = Matcher(words.examples, method="embedding")
    prototypes, owner = np.array(card["prototypes"]), np.array(card["prototype words"])
    for clip in words.clips[::3]:
        signs, apart = signs_of(clip.landmarks), []
        for mirror in (False, True):
            for cuts in signs:
                steps = [step_features(cut.mirrored() if mirror else cut) for cut in cuts]
                vector = program(torch.from_numpy(np.stack(steps))).numpy().sum(axis=0)
                apart.append(1 - prototypes @ (vector / np.linalg.norm(vector)))
        nearest = [np.min(apart, axis=0)[owner == word].min() for word in range(len(card["labels"]))]
        np.testing.assert_allclose(
            np.array(nearest) * card["weights"]["distance"], matcher.word_distances(clip.landmarks), atol=1e-4
        )
        assert card["labels"][int(np.argmin(nearest))] == clip.word


def test_the_card_says_what_goes_in(folder: Path, words: Words) -> None:
    card = json.loads((Path(f"{folder}-onnx") / CARD).read_text("utf-8"))
    assert card["fingerprint"] == WordRecognizer(words, method="embedding").fingerprint
    told = card["files"][ONNX_PROGRAM]
    assert told["inputs"] == {"steps": {"dtype": "float32", "shape": ["B", N_STEPS, N_FEATURES]}}
    assert told["outputs"] == {"vectors": {"dtype": "float32", "shape": ["B", 128]}}
    assert sum(part["numbers"] for part in card["parts"]) == N_FEATURES
    assert card["labels"] == [f"từ {i}" for i in range(4)]


def test_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, message in (
        (["--words", folder, "--model", tmp_path], "--model goes with a trained model"),
        (["--words", tmp_path / "none"], "none"),
    ):
        assert message in said("sign-language", "export", *arguments, "--out", out).mistake
    assert not out.exists()
