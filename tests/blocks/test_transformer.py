"""The Transformer as a whole: its size, the past and the future, padding and batching, training, bad input."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel, PrefixTransformer
from coursepkg.blocks.transformer import Transformer
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch
from tests.blocks.models import CONFIGS, SOURCES, TARGETS, V, config, make, source, target


def n_parameters(configuration: TransformerConfig) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in Transformer(configuration).parameters())


def test_the_model_of_the_report_has_157_179_200_parameters() -> None:
    assert n_parameters(TransformerConfig.zh_vi_report()) == 157_179_200


def test_the_base_model_of_2017_counted_by_hand() -> None:
    attention, ff, norm = 4 * (512 * 512 + 512), 512 * 2048 + 2048 + 2048 * 512 + 512, 2 * 512
    encoder, decoder = 6 * (attention + ff + 2 * norm), 6 * (2 * attention + ff + 3 * norm)
    assert n_parameters(TransformerConfig.vaswani2017(37000)) == 37000 * 512 + encoder + decoder


def test_modern_parts_weigh_about_what_the_old_ones_did() -> None:
    old = n_parameters(TransformerConfig.vaswani2017(8000, n_kv_heads=2))
    assert abs(n_parameters(TransformerConfig.modern(8000)) / old - 1) < 0.005


def test_embeddings_are_shared_or_not_as_the_config_says() -> None:
    shared, split = make("2017"), make("two vocabularies", tie_output=False)
    assert [n for n, _ in shared.named_parameters() if "embedding" in n or "output" in n] == [
        "target_embedding.weight"
    ]
    assert split.source_embedding.weight.shape == (V + 8, 16)
    assert split.output.weight.shape == (V, 16)
    high_source = torch.tensor([[V + 7, EOS]])
    assert split(high_source, target()[:1]).shape == (1, 9, V)


@pytest.mark.parametrize("kind", CONFIGS)
def test_future_tokens_never_change_the_past(kind: str) -> None:
    model, tgt = make(kind), target()
    logits = model(source(), tgt)
    for t in range(1, tgt.shape[1]):
        changed = tgt.clone()
        changed[:, t:] = torch.randint(4, V, changed[:, t:].shape)
        found = model(source(), changed)
        torch.testing.assert_close(found[:, :t], logits[:, :t], rtol=0, atol=0)
        assert (found[:, t:] != logits[:, t:]).any()


@pytest.mark.parametrize("kind", CONFIGS)
def test_no_gradient_reaches_a_position_from_its_past(kind: str) -> None:
    model = make(kind)
    x = model.target_embedding(target()).detach().requires_grad_()
    out = model.decoder(x, model.decoder.read(model.encode(source())))
    out[:, 4].square().sum().backward()
    assert (x.grad[:, 5:] == 0).all()
    assert (x.grad[:, :5].abs().sum(-1) > 0).all()


@pytest.mark.parametrize("kind", CONFIGS)
def test_padding_and_batching_change_no_result(kind: str) -> None:
    model = make(kind)
    cut = [row[: 3 + 2 * i] for i, row in enumerate(TARGETS)]
    tgt, lengths = pad_batch(cut)
    together = model(source(), tgt)
    for row, (src, ids) in enumerate(zip(SOURCES, cut, strict=True)):
        alone = model(torch.tensor([src]), torch.tensor([ids]))
        torch.testing.assert_close(together[row, : lengths[row]], alone[0])


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(4, V - 1), min_size=1, max_size=12), min_size=1, max_size=4))
def test_any_batch_equals_its_single_sentences(sentences: list[list[int]]) -> None:
    model = make("modern")
    together = model(pad_batch(sentences)[0], torch.full((len(sentences), 1), BOS))
    for row, sentence in enumerate(sentences):
        alone = model(torch.tensor([sentence]), torch.tensor([[BOS]]))
        torch.testing.assert_close(together[row], alone[0])


@pytest.mark.parametrize("kind", ["2017", "modern", "t5"])
def test_padding_gets_no_gradient(kind: str) -> None:
    model = make(kind, source_vocab_size=V, dropout_p=0.0).train()
    tgt, lengths = pad_batch([[BOS, 5, 6], [BOS], [BOS, 7]])
    logits = model(source(), tgt)
    counted = torch.arange(tgt.shape[1]) < lengths[:, None]
    logits[counted].logsumexp(-1).sum().backward()
    assert (model.source_embedding.weight.grad[PAD] == 0).all()
    assert (model.source_embedding.weight.grad[EOS] != 0).any()


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_weight_takes_part(kind: str) -> None:
    model = make(kind)
    model(source(), target()).square().sum().backward()
    # A key's bias adds the same to all scores of a row, so a softmax never feels it.
    idle = [n for n, p in model.named_parameters() if p.grad is None or p.grad.abs().max() < 1e-9]
    assert all(name.endswith("k_proj.bias") for name in idle)


@pytest.mark.parametrize("kind", ["2017", "pre-norm", "modern", "learned"])
def test_starting_weights_give_logits_of_unit_variance_and_nearly_the_loss_of_a_uniform_guess(
    kind: str,
) -> None:
    torch.manual_seed(0)
    size = 2000
    model = Transformer(config(kind, vocab_size=size, d_model=128, tie_output=True, max_len=16)).eval()
    assert abs(float(model.target_embedding.weight.detach().std()) * 128**0.5 - 1) < 0.02
    src, tgt_in, tgt_out = torch.randint(4, size, (3, 8, 16))
    with torch.no_grad():
        logits = model(src, tgt_in)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tgt_out.flatten())
    assert float(logits.std()) < 1.1
    assert float(loss) < math.log(size) + 1


def test_dropout_acts_in_training_only_and_on_each_place_it_names() -> None:
    for place in ("dropout_p", "attention_dropout_p", "activation_dropout_p"):
        model = make("2017", **({"dropout_p": 0.0} | {place: 0.5}))
        calm = model(source(), target())
        model.train()
        assert not torch.allclose(model(source(), target()), calm), place
    torch.testing.assert_close(make("2017", dropout_p=0.0).train()(source(), target()), calm)


def bad(change: str) -> tuple[Tensor, Tensor]:
    src, tgt = source(), target()
    if change == "empty source":
        src[1] = PAD
    elif change == "padding first":
        src[1, 0] = PAD
    elif change == "source id":
        src[0, 0] = V
    elif change == "negative id":
        tgt[0, 3] = -1
    elif change == "target id":
        tgt[0, 3] = V
    elif change == "long source":
        src = torch.full((1, 25), 5)
    elif change == "long target":
        tgt = torch.full((3, 25), 5)
    elif change == "batch":
        tgt = tgt[:2]
    elif change == "float":
        src = src.float()
    elif change == "shape":
        src = src[0]
    elif change == "no tokens":
        tgt = tgt[:, :0]
    return src, tgt


@pytest.mark.parametrize("change", ["long source", "long target", "float", "shape", "no tokens"])
def test_shapes_are_checked_in_every_pass_and_values_before_decoding(change: str) -> None:
    model, (src, tgt_in) = make("2017"), bad(change)
    with pytest.raises(ValueError, match=r"must (be integer ids|have at most max_len = 24 tokens a row)"):
        model(src, tgt_in)
    for value in ("source id", "padding first", "empty source"):
        with pytest.raises(ValueError, match=r"^src must"):
            model.start(bad(value)[0], max_len=4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("empty source", "src must have a token in every row, got only padding in row 1"),
        ("padding first", "src must be padded behind its last token only, got padding before it in row 1"),
        ("source id", "src must hold ids in 0..22, got 0..23"),
        ("negative id", "tgt_in must hold ids in 0..22, got -1..22"),
        ("target id", "tgt_in must hold ids in 0..22, got 1..23"),
        ("long source", "src must have at most max_len = 24 tokens a row, got 25"),
        ("long target", "tgt_in must have at most max_len = 24 tokens a row, got 25"),
        ("batch", "tgt_in must have the batch size of src, 3, got 2"),
        ("float", "src must be integer ids (B, length), got torch.float32 (3, 7)"),
        ("shape", "src must be integer ids (B, length), got torch.int64 (7,)"),
        ("no tokens", "tgt_in must be integer ids (B, length), got torch.int64 (3, 0)"),
    ],
)
def test_bad_input_is_named_in_one_line(change: str, message: str) -> None:
    model, (src, tgt_in) = make("2017"), bad(change)
    # The batch sizes alone are left to the forward pass.
    check = model if change == "batch" else model.check_inputs
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(src, tgt_in)


@pytest.mark.parametrize("kind", CONFIGS)
def test_no_forward_pass_reads_a_value(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on the meta device have none, so whoever asks for one fails, as a GPU would wait."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)
    src, tgt_in = source().to("meta"), target().to("meta")
    for model, inputs in (
        (make(kind), (src, tgt_in)),
        (make(kind, LanguageModel), (tgt_in,)),
        (PrefixTransformer(config("modern")), (src, tgt_in)),
    ):
        assert model.to("meta")(*inputs).shape == (*tgt_in.shape, V)
