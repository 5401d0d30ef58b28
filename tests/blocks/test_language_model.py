"""The decoder-only model: the past and the future, padding, its size, bad input."""

import re

import pytest
import torch

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.text.vocabulary import BOS, pad_batch
from tests.blocks.models import V, config, make, target

KINDS = ["2017", "learned", "t5", "modern", "half, one kv head"]


@pytest.mark.parametrize("kind", KINDS)
def test_future_tokens_never_change_the_past(kind: str) -> None:
    model, ids = make(kind, LanguageModel), target()
    logits, changed = model(ids), ids.clone()
    changed[:, 5:] = 4
    found = model(changed)
    torch.testing.assert_close(found[:, :5], logits[:, :5], rtol=0, atol=0)
    assert (found[:, 5:] != logits[:, 5:]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_batching_change_no_result(kind: str) -> None:
    model, texts = make(kind, LanguageModel), [[BOS, 5, 6, 7], [BOS], [BOS, 9, 9]]
    ids, lengths = pad_batch(texts)
    together = model(ids)
    for row, text in enumerate(texts):
        torch.testing.assert_close(together[row, : lengths[row]], model(torch.tensor([text]))[0])


def test_it_is_the_decoder_without_its_bridge() -> None:
    layers = {name.split(".")[3] for name, _ in make("2017", LanguageModel).decoder.named_parameters("d")}
    assert layers == {"self_attention", "self_residual", "feed_forward", "feed_forward_residual"}
    with torch.device("meta"):
        size = sum(p.numel() for p in LanguageModel(config("modern", bias=False)).parameters())
    attention = 2 * 16 * 16 + 2 * 16 * 8
    assert size == V * 16 + 2 * (attention + 3 * 16 * 24 + 2 * 16) + 16


def test_output_layers_follow_the_config() -> None:
    split = make("learned", LanguageModel, output_bias=True)
    assert split.output.weight.shape == (V, 16)
    with torch.no_grad():
        split.output_bias[7] += 100
    assert (split(target()).argmax(-1) == 7).all()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.full((1, 2), V), "ids must hold ids in 0..22, got 23..23"),
        (torch.full((1, 25), 5), "ids must have at most max_len = 24 tokens a row, got 25"),
        (torch.full((4,), 5), "ids must be integer ids (B, length), got torch.int64 (4,)"),
    ],
)
def test_bad_input_is_named_in_one_line(ids: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make("2017", LanguageModel).check_inputs(ids)
