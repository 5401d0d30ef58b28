"""Batches of lines: complete, repeatable, and no line changed by its neighbours."""

import numpy as np
import pytest
import torch

from coursepkg.projects.ocr.data.batches import LineBatch, LineBatches, character_vocabulary, encode_text
from coursepkg.projects.ocr.data.images import resize_to_box, resize_to_height
from coursepkg.projects.ocr.line import TextLine, bucket_width, pad_images
from coursepkg.text.vocabulary import BOS, EOS, PAD
from tests.projects.ocr.data.tables import lines

GIVEN = lines(37)
VOCABULARY = character_vocabulary(line.text for line in GIVEN)


def batches(**changes: object) -> LineBatches:
    return LineBatches(GIVEN, VOCABULARY, **({"max_columns": 700} | changes))  # type: ignore[arg-type]


def texts(batch: LineBatch) -> list[str]:
    return ["".join(VOCABULARY.decode(row)) for row in batch.tgt_out]


def equal(one: LineBatch, other: LineBatch) -> bool:
    pairs = ((one.images, other.images), (one.widths, other.widths), (one.tgt_in, other.tgt_in))
    return all(torch.equal(a, b) for a, b in pairs) and one.n_tokens == other.n_tokens


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("max_columns", [1, 200, 700, 10**6])
def test_every_line_is_in_exactly_one_batch(shuffle: bool, max_columns: int) -> None:
    epoch = batches(shuffle=shuffle, max_columns=max_columns).epoch(3)
    assert sorted(text for batch in epoch for text in texts(batch)) == sorted(line.text for line in GIVEN)
    for batch in epoch:
        n_lines, width = batch.images.shape[0], batch.images.shape[3]
        assert n_lines == 1 or n_lines * width <= max_columns


def test_a_batch_holds_pictures_texts_and_padding() -> None:
    by_text = {line.text: line for line in GIVEN}
    for batch in batches().epoch(0):
        assert batch.images.dtype == torch.float32
        assert batch.tgt_in.shape == batch.tgt_out.shape
        for row, text in enumerate(texts(batch)):
            image = resize_to_height(by_text[text].image, 40)
            width = int(batch.widths[row])
            assert width == image.shape[1]
            exact = torch.from_numpy(image.astype(np.float64)) / 127.5 - 1
            assert torch.allclose(batch.images[row, 0, :, :width].double(), exact, atol=1e-6)
            assert (batch.images[row, 0, :, width:] == 1.0).all()
            ids = encode_text(text, VOCABULARY)
            n, rest = len(ids), [PAD] * (batch.tgt_in.shape[1] - len(ids) - 1)
            assert batch.tgt_in[row].tolist() == [BOS, *ids, *rest]
            assert batch.tgt_out[row].tolist() == [*ids, EOS, *rest]
            assert n > 0
        assert batch.n_tokens == int((batch.tgt_out != PAD).sum())


def test_a_line_chooses_its_width_alone() -> None:
    alone = {}
    for line in GIVEN:
        (batch,) = LineBatches([line], VOCABULARY).epoch(0)
        alone[line.text] = batch.images[0]
    for batch in batches().epoch(5):
        for row, text in enumerate(texts(batch)):
            assert torch.equal(batch.images[row], alone[text])


def test_a_box_makes_all_pictures_equally_wide() -> None:
    source = batches(box_width=100)
    by_text = {line.text: line for line in GIVEN}
    for batch in source.epoch(0):
        assert batch.images.shape[3] == 128
        assert set(batch.widths.tolist()) == {100}
        for row, text in enumerate(texts(batch)):
            image = resize_to_box(by_text[text].image, 40, 100)
            assert torch.equal(batch.images[row, 0, :, :100], pad_images([image], 100)[0][0, 0])
    assert source.fingerprint != batches().fingerprint


@pytest.mark.parametrize(("width", "padded"), [(1, 32), (32, 32), (33, 64), (64, 64), (100, 128)])
def test_widths_are_rounded_up(width: int, padded: int) -> None:
    assert bucket_width(width, 32) == padded
    assert bucket_width(width, 1) == width


def test_an_epoch_is_a_function_of_seed_and_number() -> None:
    one, other = batches(seed=1), batches(seed=1)
    list(one.epoch(0))
    assert all(equal(a, b) for a, b in zip(one.epoch(4), other.epoch(4), strict=True))
    orders = {str(source.epoch(number).groups) for source in (one, batches(seed=2)) for number in range(3)}
    assert len(orders) == 6
    still = batches(shuffle=False)
    assert still.epoch(0).groups == still.epoch(7).groups


def test_neighbours_change_from_epoch_to_epoch() -> None:
    source = batches()
    together = [
        {frozenset(group) for group in source.epoch(number).groups if len(group) > 1} for number in (0, 1)
    ]
    assert together[0] != together[1]


def noisy(image: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    return draw.integers(0, 256, image.shape, dtype=np.uint8)


def test_augmentation_belongs_to_line_and_epoch() -> None:
    first = {t: b.images[i] for b in batches(augment=noisy).epoch(2) for i, t in enumerate(texts(b))}
    again = {
        t: b.images[i]
        for b in batches(augment=noisy, max_columns=200).epoch(2)
        for i, t in enumerate(texts(b))
    }
    later = {t: b.images[i] for b in batches(augment=noisy).epoch(3) for i, t in enumerate(texts(b))}
    assert all(torch.equal(first[text], again[text]) for text in first)
    assert not any(torch.equal(first[text], later[text]) for text in first)
    assert batches(augment=noisy).fingerprint != batches().fingerprint


def test_equal_data_have_equal_fingerprints() -> None:
    changed = [*GIVEN[:-1], TextLine(255 - GIVEN[-1].image, GIVEN[-1].text, "g", "n")]
    assert batches().fingerprint == batches().fingerprint
    others = (batches(seed=9), batches(max_columns=800), LineBatches(changed, VOCABULARY, max_columns=700))
    assert len({batches().fingerprint, *(other.fingerprint for other in others)}) == 4


def test_slices_of_an_epoch_and_moving_to_a_device() -> None:
    epoch = batches().epoch(0)
    assert len(epoch[1:3]) == 2
    assert equal(epoch[1:3][0], epoch[1])
    assert equal(epoch[0].to("cpu"), epoch[0])


def test_pictures_are_padded_with_white() -> None:
    images, widths = pad_images([np.zeros((2, 3), dtype=np.uint8), np.full((2, 1), 255, dtype=np.uint8)], 4)
    assert images[:, 0, 0].tolist() == [[-1, -1, -1, 1], [1, 1, 1, 1]]
    assert widths.tolist() == [3, 1]


def test_a_line_without_text_is_named() -> None:
    empty = TextLine(np.zeros((40, 99), dtype=np.uint8), "", "g", "a.jpg, instance 1")
    with pytest.raises(ValueError, match=r"^a\.jpg, instance 1: the line has no text; leave it out$"):
        LineBatches([empty, *GIVEN], VOCABULARY)


def test_other_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="lines must hold at least one line"):
        LineBatches([], VOCABULARY)
    with pytest.raises(ValueError, match="max_columns must be an integer of at least 1"):
        batches(max_columns=0)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0"):
        batches(seed=-1)
    cut = batches(augment=lambda image, draw: image[:, 1:])
    with pytest.raises(ValueError, match=r"augment must return uint8 \(40, .* for receipt"):
        cut.build([0], 0)
