"""Beam search, greedy decoding and sampling settings against Hugging Face's `generate` on the same weights.

Where the two mean the same: no length penalty (theirs is another formula), every limit beyond the last end or no end
token at all (theirs ranks what the limit cut off among the finished), and their `early_stopping=True`, which like
ours stops at K finished hypotheses.
"""

import pytest
import torch

from coursepkg.bench.suites.baselines import marian
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding import RepetitionPenalty, beam_search, greedy
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch

SIZES = {"d_model": 16, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 32, "max_len": 48}
V, LIMIT = 14, 40


def pair(seed: int) -> tuple[Transformer, object, torch.Tensor]:
    """Our model, the same as a Marian model, and sources of different lengths."""
    torch.manual_seed(seed)
    ours = Transformer(TransformerConfig.vaswani2017(V, **SIZES)).double().eval()
    sources = [torch.randint(4, V, (n,)).tolist() for n in (7, 2, 5, 3)]
    return ours, marian(ours), pad_batch(sources)[0]


def generate(theirs, src: torch.Tensor, bias: float, eos: int | None, limit: int, **options):
    theirs.final_logits_bias[0, EOS] = bias
    theirs.generation_config.eos_token_id = eos
    theirs.generation_config.pad_token_id = PAD
    return theirs.generate(
        input_ids=src,
        attention_mask=(src != PAD).long(),
        max_new_tokens=limit,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )


def tokens(sequence: torch.Tensor, eos: int | None) -> tuple[int, ...]:
    ids = sequence.tolist()
    assert ids[0] == BOS
    return tuple(ids[1 : ids.index(eos)] if eos in ids else ids[1:])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("size", "bias"), [(2, 5.0), (4, 4.0), (5, 6.0)])
def test_beams_that_all_finish(seed, size, bias) -> None:
    ours, theirs, src = pair(seed)

    def favour_the_end(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        return logits + torch.nn.functional.one_hot(torch.tensor(EOS), V) * bias

    wanted = generate(
        theirs,
        src,
        bias,
        EOS,
        LIMIT,
        num_beams=size,
        num_return_sequences=size,
        length_penalty=0.0,
        early_stopping=True,
    )
    found = beam_search(
        ours.start(src, max_len=LIMIT),
        beam_size=size,
        max_len=LIMIT,
        length_penalty=0.0,
        n_best=size,
        early_stop=False,
        filters=[favour_the_end],
    )
    flat = [h for hypotheses in found for h in hypotheses]
    assert all(h.finished for h in flat)
    assert [h.ids for h in flat] == [tokens(row, EOS) for row in wanted.sequences]
    assert [h.log_prob for h in flat] == pytest.approx(wanted.sequences_scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_beams_without_an_end(seed) -> None:
    ours, theirs, src = pair(seed)
    wanted = generate(theirs, src, 0.0, None, 9, num_beams=4, num_return_sequences=4, length_penalty=0.0)
    found = beam_search(
        ours.start(src, max_len=9), beam_size=4, max_len=9, length_penalty=0.0, n_best=4, eos=None
    )
    flat = [h for hypotheses in found for h in hypotheses]
    assert [h.ids for h in flat] == [tokens(row, None) for row in wanted.sequences]
    assert [h.log_prob for h in flat] == pytest.approx(wanted.sequences_scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("penalty", [1.0, 1.4])
@pytest.mark.parametrize("seed", range(3))
def test_greedy_with_a_repetition_penalty(seed, penalty) -> None:
    """Their history begins with BOS, which ours leaves out; forbid it on both sides, so that it cannot matter."""
    ours, theirs, src = pair(seed)
    wanted = generate(theirs, src, 0.0, EOS, 12, repetition_penalty=penalty, suppress_tokens=[BOS])

    def no_bos(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        return logits.index_fill(1, torch.tensor([BOS]), -torch.inf)

    found = greedy(ours.start(src, max_len=12), max_len=12, filters=[RepetitionPenalty(penalty), no_bos])
    assert [h.ids for h in found] == [tokens(row, EOS) for row in wanted.sequences]
