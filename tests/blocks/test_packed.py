"""Packed layers: the same numbers, the same beams, the model left alone, bad input."""

import copy

import pytest
import torch
from torch import Tensor, nn

from coursepkg.blocks.convolution import ConvNormReLU, ResidualBlock
from coursepkg.blocks.feedforward import FeedForward
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.packed import PackedConvReLU, PackedLinear, can_pack, pack, pack_where_possible
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.decoding.beam import beam_search
from tests.blocks.models import make, source, target

KINDS = ["2017", "learned", "t5", "modern", "half, one kv head"]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [(1,), (5, 7), (2, 3, 4)])
def test_a_packed_matrix_gives_what_a_linear_layer_gives(rows: tuple[int, ...], bias: bool) -> None:
    linear, x = nn.Linear(24, 10, bias=bias), torch.randn(*rows, 24)
    found = PackedLinear(linear.weight, linear.bias)(x)
    torch.testing.assert_close(found, linear(x).detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stride", [1, (2, 1)])
@pytest.mark.parametrize("n_in", [1, 8])
def test_a_packed_convolution_adds_and_rectifies(n_in: int, stride: int | tuple[int, int]) -> None:
    conv, x = nn.Conv2d(n_in, 16, 3, stride, padding=1), torch.randn(3, n_in, 12, 9)
    packed, plain = PackedConvReLU(conv), conv(x).detach()
    added = torch.randn_like(plain)
    before = added.clone()
    torch.testing.assert_close(packed(x), plain.relu(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(packed(x, added), (plain + added).relu(), rtol=1e-5, atol=1e-5)
    assert torch.equal(added, before)
    assert packed(x).is_contiguous(memory_format=torch.channels_last)


def test_what_a_packed_convolution_does_not_know_is_refused() -> None:
    x, packed = torch.randn(2, 4, 6, 7), PackedConvReLU(nn.Conv2d(4, 8, 3, padding=1))
    for shape in [(2, 8, 1, 1), (1, 8, 6, 7), (2, 8, 6, 3), (2, 4, 6, 7)]:
        with pytest.raises(ValueError, match=r"added must have shape \(2, 8, 6, 7\), got"):
            packed(x, torch.zeros(shape))
    for options in ({"padding": "same"}, {"padding": 1, "padding_mode": "reflect"}):
        with pytest.raises(ValueError, match="conv must pad with a number of zeros"):
            PackedConvReLU(nn.Conv2d(4, 8, 3, **options))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_a_feed_forward_network_keeps_its_activation(activation: str, bias: bool) -> None:
    model = nn.Sequential(FeedForward(8, 24, activation, bias, dropout_p=0.5)).eval()
    packed, x = pack(model), torch.randn(5, 8)
    torch.testing.assert_close(packed(x), model(x).detach(), rtol=1e-5, atol=1e-5)
    matrices = [module for module in packed.modules() if isinstance(module, PackedLinear)]
    assert len(matrices) == 2 + (activation == "swiglu")
    assert [matrix.activation for matrix in matrices].count("relu") == (activation == "relu")


def test_another_feed_forward_network_computes_as_it_did() -> None:
    class Shifted(FeedForward):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + 1.0

    model, x = nn.Sequential(Shifted(8, 24)), torch.randn(5, 8)
    torch.testing.assert_close(pack(model)(x), model(x).detach(), rtol=1e-5, atol=1e-5)


def test_a_convolution_is_packed_where_its_normalisation_is_folded() -> None:
    x = torch.randn(2, 4, 6, 7)
    model = nn.Sequential(ConvNormReLU(4, 4), ResidualBlock(4)).eval()
    assert not any(isinstance(module, PackedConvReLU) for module in pack(model).modules())
    for module in model.modules():
        if isinstance(module, ConvNormReLU):
            module.norm = nn.Identity()
    packed = pack(model)
    torch.testing.assert_close(packed(x), model(x).detach(), rtol=1e-5, atol=1e-5)
    assert sum(isinstance(module, PackedConvReLU) for module in packed.modules()) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_model_gives_the_same_logits_and_beams(kind: str) -> None:
    model = make(kind).float()
    packed = pack(model)
    torch.testing.assert_close(packed(source(), target()), model(source(), target()), rtol=1e-4, atol=1e-5)
    results = [beam_search(m.start(source(), max_len=9), beam_size=3, max_len=8) for m in (model, packed)]
    ours, theirs = ([[one.ids for one in found] for found in result] for result in results)
    assert ours == theirs
    assert not any(isinstance(module, nn.Linear) for module in packed.modules())


def test_a_packed_language_model_gives_the_same_logits() -> None:
    model = make("modern", LanguageModel).float()
    torch.testing.assert_close(pack(model)(target()), model(target()), rtol=1e-4, atol=1e-5)


def test_a_gru_is_packed_where_it_has_matrices() -> None:
    model = GRUSeq2Seq(Seq2SeqConfig(source_vocab=11, target_vocab=13)).eval()
    inputs = torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[1, 7]])
    torch.testing.assert_close(pack(model)(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)


def test_the_model_itself_stays_as_it_is_and_shares_its_other_weights() -> None:
    model = make("2017").float().train()
    before = copy.deepcopy(model.state_dict())
    packed = pack(model)
    assert model.training
    assert not packed.training
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
    assert packed.target_embedding.weight is model.target_embedding.weight


def test_what_cannot_be_packed_is_refused() -> None:
    double = make("2017").double()
    assert not can_pack(double)
    with pytest.raises(ValueError, match="in float32, or in bfloat16 on a CPU"):
        pack(double)


def test_a_broken_model_is_not_packed_and_stays_broken() -> None:
    model = make("2017").float()
    with torch.no_grad():
        model.encoder.layers[0].feed_forward.up_proj.weight[0, 0] = torch.nan
    assert not can_pack(model)
    assert pack_where_possible(model) is model


def test_a_packed_model_is_not_packed_again() -> None:
    packed = pack(make("2017").float())
    assert pack_where_possible(packed) is packed
    with pytest.raises(ValueError, match="packed only once"):
        pack(packed)


@pytest.mark.parametrize("able", [True, False])
def test_bfloat16_is_packed_where_the_processor_multiplies_it(
    able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: able, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False, raising=False)
    half, mixed = nn.Linear(4, 4).bfloat16(), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4).bfloat16())
    assert can_pack(half) == able
    assert not can_pack(mixed)
