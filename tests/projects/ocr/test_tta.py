"""A second look: the mean over several widths, line by line; only where the first was unsure; and never for nothing."""

import dataclasses

import numpy as np
import pytest
import torch

from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import score
from coursepkg.projects.ocr import readers
from coursepkg.projects.ocr.bench import lines
from coursepkg.projects.ocr.data.images import resize_to_box
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.readers import TTA_BELOW, TTA_WIDTHS, Reader, read_augmented, read_encoded
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK

JOINT = Reader("joint", ctc_share=0.3)


@pytest.fixture(scope="module")
def shipped() -> Recognizer:
    return Recognizer.load_default()


@pytest.fixture(scope="module")
def drawn() -> list[TextLine]:
    return lines(20, seed=91, held_out=True)


@pytest.fixture(scope="module")
def images(shipped: Recognizer, drawn: list[TextLine]) -> list[np.ndarray]:
    return [shipped.prepare(line.image) for line in drawn[:6]]


def test_one_look_at_the_own_width_is_the_first_look(
    shipped: Recognizer, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "TTA_WIDTHS", (1.0,))
    widely = dataclasses.replace(JOINT, beam_size=readers.TTA_BEAMS)
    once = read_encoded(shipped.fast, encode_lines(shipped.fast, images), widely, n_best=2)
    for mine, theirs in zip(read_augmented(shipped.fast, images, JOINT, n_best=2), once, strict=True):
        assert len(mine) == 2
        assert [one.ids for one in mine] == [one.ids for one in theirs]
        assert [one.score for one in mine] == pytest.approx([one.score for one in theirs], abs=1e-3)


def test_a_score_is_the_mean_of_the_joint_scores_of_all_looks(
    shipped: Recognizer, images: list[np.ndarray]
) -> None:
    """By the network itself, one line and one text at a time, and PyTorch's CTC loss."""
    found = read_augmented(shipped.fast, images[:2], JOINT, n_best=2)
    for image, candidates in zip(images, found, strict=False):
        assert len(candidates) == 2
        for one in candidates:
            scores = [_joint(shipped, _narrowed(image, share), one.ids) for share in TTA_WIDTHS]
            assert one.score == pytest.approx(float(np.mean(scores)), rel=1e-3, abs=1e-3)
            assert one.confidence == pytest.approx(np.exp(one.score / (len(one.ids) + 1)))


def _narrowed(image: np.ndarray, share: float) -> np.ndarray:
    return resize_to_box(image, image.shape[0], round(image.shape[1] * share))


@torch.inference_mode()
def _joint(shipped: Recognizer, image: np.ndarray, ids: tuple[int, ...]) -> float:
    model = shipped.model
    pixels = torch.from_numpy(image.copy()).float()[None, None] / 127.5 - 1
    memory = model.encode(pixels, torch.tensor([image.shape[1]]))
    ctc = model.ctc_logits(memory)
    ctc[..., [BOS, EOS, UNK]] = -torch.inf
    target = torch.tensor([ids])
    steps = ctc.log_softmax(-1).transpose(0, 1)
    loss = torch.nn.functional.ctc_loss(
        steps, target, torch.tensor([len(steps)]), torch.tensor([len(ids)]), reduction="sum"
    )
    logits = model.decode(torch.tensor([[BOS, *ids]]), memory)
    logits[..., [PAD, BOS, UNK]] = -torch.inf
    decoder = logits.log_softmax(-1)[0].gather(1, torch.tensor([[*ids, EOS]]).T).sum()
    return float(0.7 * decoder - 0.3 * loss)


def test_what_else_is_looked_at_changes_nothing(shipped: Recognizer, images: list[np.ndarray]) -> None:
    together = read_augmented(shipped.fast, images, JOINT)
    for image, (one,) in zip(images, together, strict=True):
        ((alone,),) = read_augmented(shipped.fast, [image], JOINT)
        assert alone.ids == one.ids
        assert alone.score == pytest.approx(one.score, abs=1e-3)


def test_only_unsure_lines_are_read_again(shipped: Recognizer, drawn: list[TextLine]) -> None:
    pictures = [line.image for line in drawn]
    first, usual, every = (shipped.read_lines(pictures, second_look=below) for below in (0, None, 1))
    again = [one.confidence < TTA_BELOW for one in first]
    assert 0 < sum(again) < len(drawn)
    for i, is_again in enumerate(again):
        assert usual[i] == (every[i] if is_again else first[i]) or usual[i].confidence == pytest.approx(
            every[i].confidence, abs=1e-3
        )
    assert shipped.tta_below() == TTA_BELOW
    assert shipped.tta_below(reader="ctc") == 0


def test_it_mends_more_than_it_spoils(shipped: Recognizer) -> None:
    read = lines(64, seed=96, held_out=True)
    pictures, texts = [line.image for line in read], [line.text for line in read]
    once = [one.text for one in shipped.read_lines(pictures, second_look=0)]
    twice = [one.text for one in shipped.read_lines(pictures)]
    assert once != twice
    assert score(CER(), twice, texts).value < score(CER(), once, texts).value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"second_look": 1.5}, r"second_look must be in \[0, 1\], got 1\.5"),
        ({"second_look": float("nan")}, "second_look must be"),
        ({"second_look": 0.5, "reader": "ctc"}, "second_look needs reader joint, got ctc"),
    ],
)
def test_what_cannot_be_asked_for_is_named(shipped: Recognizer, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shipped.read_lines([np.full((40, 300), 255, np.uint8)], **options)
    with pytest.raises(ValueError, match="needs the joint reader"):
        read_augmented(shipped.fast, [np.full((40, 300), 255, np.uint8)], Reader("ctc"))
    assert shipped.read_lines([], reader="attention", second_look=0) == []


def test_a_line_wider_than_the_network_takes_is_looked_at(shipped: Recognizer, drawn: list[TextLine]) -> None:
    wide = np.concatenate([shipped.prepare(line.image) for line in drawn], axis=1)
    assert wide.shape[1] > shipped.model.config.max_width
    (found,) = shipped.read_lines([wide], second_look=1)
    assert found.text


def test_an_empty_picture_stays_empty(shipped: Recognizer) -> None:
    (found,) = shipped.read_lines([np.full((40, 9000), 255, np.uint8)], second_look=1)
    assert found.text.strip() == ""


def test_a_width_that_cannot_grow_counts_once(shipped: Recognizer, images: list[np.ndarray]) -> None:
    """At the greatest width there are two looks, and the mean is that of the two."""
    most = shipped.model.config.max_width
    wide = resize_to_box(images[0], 40, most)
    (found,) = read_augmented(shipped.fast, [wide], JOINT)
    scores = [_joint(shipped, _narrowed(wide, share), found[0].ids) for share in TTA_WIDTHS if share <= 1]
    assert found[0].score == pytest.approx(float(np.mean(scores)), rel=1e-3, abs=1e-3)


def test_what_is_known_beforehand_is_a_candidate(shipped: Recognizer, images: list[np.ndarray]) -> None:
    text = (10, 11, 12)
    found = read_augmented(shipped.fast, images[:1], JOINT, n_best=100, known=[[text]])[0]
    assert text in [one.ids for one in found]
    assert found[0].ids != text


def test_pictures_of_one_fixed_width_have_no_second_look(shipped: Recognizer) -> None:
    boxed = dataclasses.replace(shipped.recipe, box_width=320)
    recognizer = Recognizer(shipped.model, shipped.vocabulary, boxed)
    assert recognizer.tta_below() == 0
    with pytest.raises(ValueError, match="reads pictures of 320 pixels alone"):
        recognizer.tta_below(second_look=0.5)


def test_a_score_says_how_lines_were_read(shipped: Recognizer) -> None:
    assert shipped.describe_reading() == "joint beam 1, second look below 0.92"
    assert shipped.describe_reading(second_look=0) == "joint beam 1"
    assert shipped.describe_reading("ctc", 8) == "ctc beam 8"
