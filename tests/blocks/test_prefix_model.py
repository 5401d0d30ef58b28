"""The decoder-only translator: the same as its language model, whatever the padding; decoding; bad input."""

import pytest
import torch

from coursepkg.blocks.language_model import PrefixTransformer
from coursepkg.decoding import beam_search, greedy
from coursepkg.text.vocabulary import BOS, EOS, pad_batch
from tests.blocks.models import V, config, source, target


def model() -> PrefixTransformer:
    torch.manual_seed(0)
    return PrefixTransformer(config("modern")).double().eval()


def test_it_is_the_language_model_over_source_and_target() -> None:
    net, src, tgt = model(), [5, 6, 7, EOS], [BOS, 8, 9]
    alone = net.language_model(torch.tensor([src + tgt]))[:, len(src) :]
    torch.testing.assert_close(net(torch.tensor([src]), torch.tensor([tgt])), alone)


def test_padding_and_batching_change_no_result() -> None:
    net, sources, targets = model(), [[5, 6, 7, EOS], [9, EOS]], [[BOS, 8, 9, 10], [BOS, 11]]
    together = net(pad_batch(sources)[0], pad_batch(targets)[0])
    for row, (src, tgt) in enumerate(zip(sources, targets, strict=True)):
        alone = net(torch.tensor([src]), torch.tensor([tgt]))[0]
        torch.testing.assert_close(together[row, : len(tgt)], alone)


def test_future_tokens_never_change_the_past() -> None:
    net, tgt = model(), target()
    before, changed = net(source(), tgt), tgt.clone()
    changed[:, 4:] = 4
    torch.testing.assert_close(net(source(), changed)[:, :4], before[:, :4], rtol=0, atol=0)


def test_every_source_token_matters() -> None:
    net, src = model(), source()
    before = net(src, target())
    for place in range(2):
        changed = src.clone()
        changed[0, place] = 13
        assert (net(changed, target())[0] != before[0]).any(dim=-1).all()
        assert torch.equal(net(changed, target())[1:], before[1:])


def test_beam_one_is_greedy_and_a_batch_is_its_rows() -> None:
    net, src = model(), source()
    together = [one.ids for one in greedy(net.start(src, max_len=9), max_len=8)]
    beams = beam_search(net.start(src, max_len=9), beam_size=1, max_len=8, length_penalty=0)
    assert together == [best.ids for best, *_ in beams]
    for row in range(len(src)):
        real = src[row][src[row] != 0]
        assert greedy(net.start(real[None], max_len=9), max_len=8)[0].ids == together[row]


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="source_vocab_size must be None"):
        PrefixTransformer(config("two vocabularies"))
    net = model()
    with pytest.raises(ValueError, match="tgt_in"):
        net.check_inputs(source(), torch.full((3, 2), V))
    with pytest.raises(ValueError, match="max_len must be in"):
        net.start(source(), max_len=99)
