"""The equivalences of decoding, token for token, on real models: tiny, random, float64."""

import pytest
import torch

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.decoding import RecomputedState, beam_search, greedy, sample, source_limits
from tests.decoding.models import ENCODER_DECODERS, V, make, sources, uncached

SEEDS = range(1)
LIMIT = 8
DECODERS = {
    "greedy": lambda state, limit, first=0: [[h] for h in greedy(state, max_len=limit)],
    "beam": lambda state, limit, first=0: beam_search(state, beam_size=4, max_len=limit, n_best=4),
    "beam, no end": lambda state, limit, first=0: beam_search(
        state, beam_size=3, max_len=limit, n_best=3, eos=None
    ),
    "sampling": lambda state, limit, first=0: sample(
        state,
        max_len=limit,
        seed=5,
        n_samples=3,
        temperature=1.2,
        top_k=9,
        top_p=0.9,
        repetition_penalty=1.1,
        sentence_numbers=range(first, first + state.n_rows),
    ),
}
decoders = pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
kinds = pytest.mark.parametrize("kind", ENCODER_DECODERS)


def close(found: list, wanted: list) -> None:
    """The same tokens for every sentence, in the same order; numbers to rounding."""
    assert [[(h.ids, h.finished) for h in hs] for hs in found] == [
        [(h.ids, h.finished) for h in hs] for hs in wanted
    ]
    pairs = [zip(a, b, strict=True) for a, b in zip(found, wanted, strict=True)]
    for a, b in (pair for sentence in pairs for pair in sentence):
        assert a.token_log_probs == pytest.approx(b.token_log_probs, abs=1e-9)
        assert (a.log_prob, a.score) == pytest.approx((b.log_prob, b.score), abs=1e-9)


@decoders
@kinds
def test_cached_equals_uncached(kind, decode) -> None:
    for seed in SEEDS:
        model, src = make(kind, seed), sources(seed)
        close(decode(model.start(src, max_len=LIMIT), LIMIT), decode(uncached(model, src), LIMIT))


@decoders
@pytest.mark.parametrize("kind", ["2017", "modern", "relative", "gru-additive"])
def test_batched_equals_single(kind, decode) -> None:
    for seed in SEEDS:
        model, src = make(kind, seed), sources(seed)
        limits = source_limits(src, 4)
        together = decode(model.start(src, max_len=12), limits)
        alone = []
        for number, row in enumerate(src):
            only = row[row != 0][None]
            alone += decode(model.start(only, max_len=12), source_limits(only, 4), number)
        close(together, alone)


@kinds
def test_a_beam_of_one_is_greedy(kind) -> None:
    for seed in SEEDS:
        model, src = make(kind, seed), sources(seed)
        found = beam_search(model.start(src, max_len=LIMIT), beam_size=1, max_len=LIMIT, length_penalty=0.0)
        close(found, [[h] for h in greedy(model.start(src, max_len=LIMIT), max_len=LIMIT)])


@pytest.mark.parametrize("alpha", [-0.5, 0.6, 2.0])
@pytest.mark.parametrize("kind", ["2017", "gru-additive"])
def test_early_stop_changes_no_result(kind, alpha) -> None:
    model, src = make(kind, 7), sources(7)
    results = [
        beam_search(
            model.start(src, max_len=12),
            beam_size=4,
            max_len=12,
            length_penalty=alpha,
            n_best=2,
            early_stop=early_stop,
        )
        for early_stop in (True, False)
    ]
    close(*results)


@pytest.mark.parametrize("kind", ["learned", "modern", "gru-dot"])
def test_a_forced_prefix_of_any_length(kind) -> None:
    model, src = make(kind, 1), sources(1)
    prefixes = [[4], [], [5, 6, 7]]
    for decode in (greedy, lambda state, **options: beam_search(state, beam_size=3, **options)):
        found = decode(model.start(src, max_len=10), max_len=6, prefix=prefixes)
        wanted = decode(uncached(model, src), max_len=6, prefix=prefixes)
        alone = [
            decode(model.start(src[i : i + 1], max_len=10), max_len=6, prefix=[prefix])[0]
            for i, prefix in enumerate(prefixes)
        ]
        wrap = (lambda hs: hs) if isinstance(found[0], list) else (lambda hs: [[h] for h in hs])
        close(wrap(found), wrap(wanted))
        close(wrap(found), wrap(alone))


@decoders
@pytest.mark.parametrize("kind", ["lm-2017", "lm-modern"])
def test_language_models(kind, decode) -> None:
    model = make(kind, 3)
    assert isinstance(model, LanguageModel)
    cached = decode(model.start(4, max_len=LIMIT), LIMIT)
    close(cached, decode(RecomputedState(lambda tokens, sentence: model(tokens)[:, -1], 4), LIMIT))
    if decode is not DECODERS["sampling"]:
        close(cached, [cached[0]] * len(cached))


def test_the_gru_decodes_greedily_as_its_own_method_does() -> None:
    model, src = make("gru-additive", 0), sources(0)
    ids, _ = model.greedy(src, (src != 0).sum(dim=1), bos=1, eos=2, max_len=LIMIT)
    for row, h in zip(ids.tolist(), greedy(model.start(src, max_len=LIMIT), max_len=LIMIT), strict=True):
        assert row[: len(h.token_log_probs)] == [*h.ids, 2][: len(h.token_log_probs)]


def test_a_limit_beyond_the_room_of_the_state_is_an_error() -> None:
    model, src = make("2017", 0), sources(0)
    with pytest.raises(ValueError, match="no room for another token; start it with a larger max_len"):
        greedy(model.start(src, max_len=3), max_len=9, eos=None)
    # The last token is never fed: a state of 3 decodes 3 tokens after BOS.
    assert len(greedy(model.start(src, max_len=3), max_len=3, eos=None)[0].ids) == 3


def test_ids_outside_the_vocabulary() -> None:
    model, src = make("2017", 0), sources(0)
    with pytest.raises(ValueError, match=f"eos must be below the vocabulary size {V}, got 99"):
        greedy(model.start(src, max_len=5), max_len=5, eos=99)
    with pytest.raises(ValueError, match=r"0\.\.11"):
        greedy(model.start(src, max_len=5), max_len=4, prefix=[[99]] * 3)


def test_single_precision_results_are_close_to_double() -> None:
    model, src = make("modern", 2), sources(2)
    wanted = greedy(model.start(src, max_len=8), max_len=8, eos=None)
    found = greedy(model.float().start(src, max_len=8), max_len=8, eos=None)
    for a, b in zip(found, wanted, strict=True):
        assert a.ids == b.ids
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-4)
    assert torch.get_default_dtype() == torch.float32
