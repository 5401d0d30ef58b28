"""The copy for reading: in bfloat16 close to float32, alike in every batch, and refused where it means nothing."""

import numpy as np
import pytest
import torch

from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr.bench import lines
from coursepkg.projects.ocr.model.recognizer import ENCODING
from coursepkg.projects.ocr.predict import Recognizer

HALF = pytest.mark.skipif(
    not multiplies_bfloat16(), reason="this processor does not multiply bfloat16 itself"
)


@pytest.fixture(scope="module")
def pictures() -> list[np.ndarray]:
    return [line.image for line in lines(16, seed=93, held_out=True)]


@HALF
def test_only_encoding_is_in_bfloat16_and_its_output_is_float32(pictures: list[np.ndarray]) -> None:
    half = Recognizer.load_default(precision="auto")
    for name, part in half.fast.named_children():
        types = {weight.dtype for weight in part.parameters()}
        assert types <= ({torch.bfloat16} if name in ENCODING else {torch.float32})
    assert {weight.dtype for weight in half.model.parameters()} == {torch.float32}
    image = half.prepare(pictures[0])
    pixels, width = (
        torch.from_numpy(image.copy()).float()[None, None] / 127.5 - 1,
        torch.tensor([image.shape[1]]),
    )
    with torch.inference_mode():
        mine, theirs = (m.encode(pixels, width).outputs for m in (half.fast, half.model))
    assert mine.dtype == torch.float32
    assert 0 < float((mine - theirs).norm() / theirs.norm()) < 0.03


@HALF
def test_it_reads_as_float32_does_and_alike_in_every_batch(pictures: list[np.ndarray]) -> None:
    exact, half = Recognizer.load_default(), Recognizer.load_default(precision="auto")
    together = half.read_lines(pictures, second_look=0)
    for one, other in zip(together, exact.read_lines(pictures, second_look=0), strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=0.03)
        assert one.text == other.text or other.confidence < 0.9
    for picture, one in zip(pictures, together, strict=True):
        (alone,) = half.read_lines([picture], second_look=0)
        assert alone.text == one.text
        assert alone.confidence == pytest.approx(one.confidence, abs=5e-3)
    assert half.fingerprint != exact.fingerprint
    assert half.describe_reading() == exact.describe_reading() + ", bfloat16"


def test_without_the_instruction_auto_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda: False, raising=False)
    assert not multiplies_bfloat16()
    plain, asked = Recognizer.load_default(), Recognizer.load_default(precision="auto")
    assert asked.dtype == torch.float32
    assert {weight.dtype for weight in asked.fast.parameters()} == {torch.float32}
    assert asked.fingerprint == plain.fingerprint


def test_another_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="precision must be 32-true or auto, got '16-mixed'"):
        Recognizer.load_default(precision="16-mixed")
