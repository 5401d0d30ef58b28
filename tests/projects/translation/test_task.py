"""The translation task on both models: its sums, its options, and that teacher forcing is its special case."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import TokenBatches, make_batch
from coursepkg.projects.translation.task import TranslationTask, mean_loss, predict
from coursepkg.text.vocabulary import PAD
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.scheduled_sampling import linear_decay
from coursepkg.training.schedules import Plateau, constant

V = 20
PAIRS = [([4, 5, 6], [7, 8]), ([9], [10, 11, 12, 13]), ([14, 15], [16]), ([5, 5, 5, 5], [8, 7, 6])]


def transformer(dropout_p: float = 0.0) -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=V,
        d_model=16,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        d_ff=32,
        dropout_p=dropout_p,
    )
    return Transformer(config).double()


def gru(dropout_p: float = 0.0) -> GRUSeq2Seq:
    torch.manual_seed(0)
    return GRUSeq2Seq(Seq2SeqConfig(V, V, 8, 16, dropout_p, "additive")).double()


both = pytest.mark.parametrize("make", [transformer, gru], ids=["transformer", "gru"])


@both
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_is_the_sum_over_target_tokens(make, smoothing: float) -> None:
    model, batch = make(), make_batch(PAIRS)
    task = TranslationTask(label_smoothing=smoothing)
    logits = predict(model, batch.src, batch.tgt_in)
    expected = F.cross_entropy(
        logits.flatten(0, 1),
        batch.tgt_out.flatten(),
        ignore_index=PAD,
        label_smoothing=smoothing,
        reduction="sum",
    )
    torch.testing.assert_close(task.loss(model, batch), expected)
    assert task.count(batch) == sum(len(target) + 1 for _, target in PAIRS)


@both
@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (([V], [5]), rf"^src must hold ids in 0\.\.{V - 1}, got 4\.\.{V}$"),
        (([5], [V + 3, 4]), rf"^tgt_in must hold ids in 0\.\.{V - 1}, got 4\.\.{V + 3}$"),
    ],
)
def test_training_refuses_ids_outside_the_vocabulary_before_the_network_reads_any(
    make, pair, message: str
) -> None:
    model, batches = make(), TokenBatches([*PAIRS, pair], 40)
    model.forward = None  # nothing may reach it
    with pytest.raises(ValueError, match=message):
        fit(
            model,
            TranslationTask(),
            batches,
            config=TrainConfig(max_steps=1, learning_rate=0.1, progress=False),
        )


@both
def test_a_batch_is_the_sum_of_its_sentences(make) -> None:
    model, task = make(), TranslationTask(convention="olympiad")
    whole = task.loss(model, make_batch(PAIRS))
    alone = sum(task.loss(model, make_batch([pair])) for pair in PAIRS)
    torch.testing.assert_close(whole, alone)


@both
def test_r_drop_without_dropout_is_the_plain_loss_and_with_it_is_not(make) -> None:
    batch, r_drop = make_batch(PAIRS), TranslationTask(r_drop_alpha=5.0)
    torch.testing.assert_close(r_drop.loss(make(), batch), TranslationTask().loss(make(), batch))
    torch.manual_seed(1)
    noisy = make(0.5)
    assert r_drop.loss(noisy, batch).item() != pytest.approx(
        TranslationTask().loss(noisy, batch).item(), rel=1e-3
    )
    noisy.eval()
    torch.testing.assert_close(r_drop.loss(noisy, batch), TranslationTask().loss(noisy, batch))


def weights_after(model: nn.Module, task: TranslationTask, steps: int = 6) -> list[Tensor]:
    config = TrainConfig(max_steps=steps, learning_rate=constant(0.01), progress=False)
    fit(model.float(), task, TokenBatches(PAIRS, 30), config=config)
    return [parameter.detach() for parameter in model.parameters()]


@both
def test_scheduled_sampling_with_true_tokens_only_is_teacher_forcing_bit_by_bit(make) -> None:
    forced = weights_after(make(0.3), TranslationTask())
    sampled = weights_after(make(0.3), TranslationTask(scheduled_sampling=constant(1.0)))
    assert all(torch.equal(a, b) for a, b in zip(forced, sampled, strict=True))


@both
def test_scheduled_sampling_begins_as_teacher_forcing_and_leaves_it(make) -> None:
    task = TranslationTask(scheduled_sampling=linear_decay(1.0, 0.25))
    model, batch = make(), make_batch(PAIRS)
    plain = TranslationTask().loss(model, batch)
    task.start_step(4)  # epsilon 0: every token is predicted
    assert task.loss(model, batch).item() != pytest.approx(plain.item(), rel=1e-3)
    model.eval()
    torch.testing.assert_close(task.loss(model, batch), plain)


def test_the_transformer_reads_its_predictions_of_a_first_pass() -> None:
    model, batch = transformer(), make_batch(PAIRS)
    task = TranslationTask(scheduled_sampling=linear_decay(0.0, 0.0), label_smoothing=0.0)
    task.start_step(1)
    predicted = predict(model, batch.src, batch.tgt_in).argmax(dim=-1)
    tgt_in = torch.where(batch.tgt_in == PAD, PAD, torch.cat([batch.tgt_in[:, :1], predicted[:, :-1]], dim=1))
    logits = predict(model, batch.src, tgt_in)
    expected = F.cross_entropy(
        logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD, reduction="sum"
    )
    torch.testing.assert_close(task.loss(model, batch), expected)


def test_the_gru_reads_what_it_would_say_after_its_own_words() -> None:
    model, batch = gru(), make_batch([([4, 5], [7, 8, 9, 10])])
    task = TranslationTask(scheduled_sampling=linear_decay(0.0, 0.0), label_smoothing=0.0)
    task.start_step(1)
    tgt_in = batch.tgt_in[:, :1]
    for _ in range(4):
        following = predict(model, batch.src, tgt_in)[:, -1:].argmax(dim=-1)
        tgt_in = torch.cat([tgt_in, following], dim=1)
    logits = predict(model, batch.src, tgt_in)
    expected = F.cross_entropy(logits.flatten(0, 1), batch.tgt_out.flatten(), reduction="sum")
    torch.testing.assert_close(task.loss(model, batch), expected)


@both
def test_every_option_trains(make) -> None:
    for task in (
        TranslationTask(r_drop_alpha=1.0),
        TranslationTask(scheduled_sampling=linear_decay(1.0, 0.01)),
        TranslationTask(r_drop_alpha=1.0, scheduled_sampling=linear_decay(1.0, 0.01)),
    ):
        model = make(0.1).float()
        before = mean_loss(model, [make_batch(PAIRS)])
        config = TrainConfig(max_steps=12, learning_rate=constant(0.01), progress=False)
        fit(model, task, TokenBatches(PAIRS, 30), config=config)
        assert mean_loss(model, [make_batch(PAIRS)]) < 0.9 * before


@both
@pytest.mark.parametrize("extra", [{"sam_rho": 0.05}, {"ema_decay": 0.9}], ids=["sam", "ema"])
def test_a_run_that_was_stopped_goes_on_bit_by_bit(make, extra: dict, tmp_path: Path) -> None:
    def train(model: nn.Module, out: Path, max_steps: int, resume: bool = False) -> list[Tensor]:
        task = TranslationTask(r_drop_alpha=1.0, scheduled_sampling=linear_decay(0.9, 0.1))
        rate = Plateau(0.01, factor=0.5, patience=0)
        config = TrainConfig(
            max_steps=max_steps, learning_rate=rate, validate_every=2, progress=False, **extra
        )
        batches = TokenBatches(PAIRS, 30)
        fit(
            model,
            task,
            batches,
            config=config,
            out=out,
            validate=lambda network: {"loss": mean_loss(network, batches.epoch(0))},
            resume=resume,
        )
        return [parameter.detach().clone() for parameter in model.parameters()]

    whole = train(make(0.3).float(), tmp_path / "whole", 5)
    train(make(0.3).float(), tmp_path / "parts", 2)
    resumed = train(make(0.3).float(), tmp_path / "parts", 5, resume=True)
    assert all(torch.equal(a, b) for a, b in zip(whole, resumed, strict=True))


@both
def test_mean_loss_is_a_token_and_leaves_the_model_as_it_was(make) -> None:
    model = make(0.5)
    batches = [make_batch(PAIRS[:1]), make_batch(PAIRS[1:])]
    found = mean_loss(model, batches)
    assert model.training
    assert found == pytest.approx(mean_loss(model, [make_batch(PAIRS)]))
    model.eval()
    expected = TranslationTask(label_smoothing=0.0).loss(model, make_batch(PAIRS)).item() / 14
    assert found == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"^batches must hold at least one batch, got none$"):
        mean_loss(model, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_smoothing": 1.0}, "label_smoothing must be at least 0 and below 1, got 1.0"),
        ({"convention": "other"}, "convention must be one of pytorch, olympiad, got 'other'"),
        ({"r_drop_alpha": -1.0}, "r_drop_alpha must be at least 0 and finite, got -1.0"),
    ],
)
def test_bad_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        TranslationTask(**options)


def test_scheduled_sampling_needs_to_know_the_step() -> None:
    task = TranslationTask(scheduled_sampling=linear_decay(1.0, 0.1))
    with pytest.raises(
        ValueError, match=r"^start_step must be called before loss where scheduled_sampling is given$"
    ):
        task.loss(transformer(), make_batch(PAIRS))
