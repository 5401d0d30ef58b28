"""The loss: its parts against PyTorch's own, sums over lines, what is masked and what is not."""

import dataclasses

import pytest
import torch
from torch.nn import functional as F

from coursepkg.projects.ocr.data.batches import LineBatch, LineBatches, character_vocabulary
from coursepkg.projects.ocr.model.ctc import path_log_prob
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.training import LineTask, ctc_loss, mask_tokens, mean_loss
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from tests.projects.ocr.drawn import drawn_lines, network

LINES = drawn_lines(6)
VOCABULARY = character_vocabulary((line.text for line in LINES), declared="")


def batch_of(indices: range) -> LineBatch:
    batches = LineBatches([LINES[i] for i in indices], VOCABULARY, height=32, step=512, shuffle=False)
    found = batches.epoch(0)
    assert len(found) == 1
    return dataclasses.replace(found[0], images=found[0].images.double())


def model() -> LineTransformer:
    return network(vocab_size=len(VOCABULARY))


def test_the_loss_is_cross_entropy_and_ctc() -> None:
    batch, net = batch_of(range(6)), model()
    found = net(batch.images, batch.widths, batch.tgt_in)
    entropy = F.cross_entropy(
        found.attention.flatten(0, 1),
        batch.tgt_out.flatten(),
        ignore_index=PAD,
        label_smoothing=0.1,
        reduction="sum",
    )
    paths = sum(
        path_log_prob(row[:n].log_softmax(-1), [i for i in text if i > EOS])
        for row, n, text in zip(found.ctc, found.n_columns.tolist(), batch.tgt_out.tolist(), strict=True)
    )
    loss = LineTask(0.1, 0.0, 0.5).loss(net, batch)
    assert loss.item() == pytest.approx((entropy - 0.5 * paths).item(), rel=1e-5)
    assert LineTask(0.1, 0.0, 0.0).loss(net, batch).item() == pytest.approx(entropy.item())


def test_the_loss_of_a_batch_is_the_sum_over_its_lines() -> None:
    net, task = model(), LineTask()
    whole = task.loss(net, batch_of(range(6)))
    parts = [task.loss(net, batch_of(range(i, i + 2))) for i in (0, 2, 4)]
    assert whole.item() == pytest.approx(sum(parts).item(), rel=1e-5)
    assert task.count(batch_of(range(6))) == sum(len(line.text) + 1 for line in LINES)


def test_a_text_without_room_adds_nothing_and_no_nan() -> None:
    logits = torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[4, 5, EOS, PAD, PAD], [4, 4, 5, 5, EOS]])
    loss = ctc_loss(logits, torch.tensor([3, 3]), targets)
    loss.backward()
    assert loss.item() == pytest.approx(-path_log_prob(logits[0].log_softmax(-1), [4, 5]).item(), rel=1e-5)
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[1].any()


def test_masking_hides_characters_only_and_in_training_only() -> None:
    tgt_in = torch.tensor([[BOS, *range(4, 24), PAD]]).repeat(200, 1)
    torch.manual_seed(0)
    hidden = mask_tokens(tgt_in, 0.05)
    assert (hidden[:, 0] == BOS).all()
    assert (hidden[:, -1] == PAD).all()
    share = (hidden == UNK).sum().item() / (200 * 20)
    assert 0.03 < share < 0.07
    assert ((hidden == tgt_in) | (hidden == UNK)).all()
    assert mask_tokens(tgt_in, 0.0) is tgt_in
    net, batch, task = model(), batch_of(range(6)), LineTask(0.0, 0.9, 0.0)
    assert task.loss(net, batch).item() == task.loss(net, batch).item()
    for module in net.modules():
        module.training = isinstance(module, LineTransformer)  # of the whole, only the masking
    assert task.loss(net, batch).item() != task.loss(net, batch).item()


def test_mean_loss_leaves_the_mode() -> None:
    net, batch = model().train(), batch_of(range(6))
    found = mean_loss(net, [batch])
    assert net.training
    plain = LineTask(0.0, 0.0, 0.0)
    assert found == pytest.approx(plain.loss(net.eval(), batch).item() / plain.count(batch))
    with pytest.raises(ValueError, match="at least one batch"):
        mean_loss(net, [])


@pytest.mark.parametrize(
    "options", [{"label_smoothing": 1.0}, {"token_mask": -0.1}, {"ctc_weight": float("inf")}]
)
def test_bad_options_are_named(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        LineTask(**options)
