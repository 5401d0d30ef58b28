"""The exported model gives the tokens and the scores of the PyTorch model."""

import copy

import pytest
import torch

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.rerank import token_log_probs
from coursepkg.projects.translation.export.convert import (
    QUANTIZATIONS,
    ExportedTranslator,
    export_ctranslate2,
)
from coursepkg.text.vocabulary import EOS, PAD
from tests.projects.translation.tiny import adds_bytes_whole

ctranslate2 = pytest.importorskip(
    "ctranslate2", reason="ctranslate2 is not installed; see the extra `export`"
)

VOCABULARY, LONGEST, LIMIT = 60, 24, 20
# Pieces that a careless file format would break: a space mark, a line end, a quote, nothing, another's special name.
PIECES = [f"p{i}" for i in range(VOCABULARY - 6)] + ["▁", "\n", '"', "", "中", "</s>"]
MODERN = {
    "grouped": {},
    "one kv head": {"n_kv_heads": 1},
    "all kv heads, untied": {"n_kv_heads": 4, "tie_output": False},
    "half layout": {"rope_layout": "half", "rope_base": 500.0, "n_decoder_layers": 3},
    "wide heads, biases": {"head_dim": 16, "bias": True, "norm_eps": 1e-2},
    "unscaled embeddings": {"scale_embeddings": False, "activation": "geglu"},
    "no positions": {"position": "none", "attention_scale": 0.5},
    "learned positions, GELU": {"position": "learned", "activation": "gelu", "norm": "layer"},
    "relative positions": {"position": "relative", "n_encoder_layers": 1},
    "post-norm": {"norm_first": False, "position": "sinusoidal", "n_kv_heads": 1},
}
OLD = {"2017": {"gain": 1.5}, "2017, pre-norm": {"gain": 3.0, "norm_first": True, "final_norm": True}}


def build(seed=0, kind="modern", gain=2.0, **changes):
    """A random model whose outputs differ from source to source in tokens and length; `gain` on the sublayers."""
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 48}
    fields = sizes | {"max_len": LONGEST, "output_bias": True} | changes
    model = Transformer(getattr(TransformerConfig, kind)(VOCABULARY, **fields)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1 or "relative_bias" in name:
                weight.add_(0.1 * torch.randn_like(weight))
            elif "_proj" in name:
                weight.mul_(gain)
        if model.output_bias is not None:
            model.output_bias[EOS] += 2.0
    return model


def sources(n=200, seed=1):
    """Ids of 1 to LONGEST - 1 tokens, and EOS."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LONGEST, (n,), generator=generator).tolist()
    return [[*torch.randint(4, VOCABULARY, (k,), generator=generator).tolist(), EOS] for k in lengths]


def padded(src):
    width = max(len(ids) for ids in src)
    return torch.tensor([ids + [PAD] * (width - len(ids)) for ids in src])


def exported(model, folder, **options):
    export_ctranslate2(model, PIECES, folder, **options)
    return ExportedTranslator(folder)


def decoded(model, src, limit=LIMIT):
    return greedy(model.start(padded(src), max_len=limit + 1), max_len=limit)


def ties(model, src, theirs, ours):
    """How many results differ; each must part at two tokens that float64 can hardly tell from each other."""
    precise, found = copy.deepcopy(model).double(), 0
    for ids, a, b in zip(src, theirs, ours, strict=True):
        a, b = ([*one.ids, *[EOS] * one.finished] for one in (a, b))
        if a == b:
            continue
        at = next(i for i, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1])
        both = padded([ids, ids])
        scores = token_log_probs(lambda y, both=both: precise(both, y), [a[: at + 1], b[: at + 1]], eos=None)
        assert float((scores[0, at] - scores[1, at]).abs()) < 1e-5, (ids, a, b)
        found += 1
    return found


@pytest.mark.parametrize("name", [*MODERN, *OLD])
def test_greedy_gives_the_same_tokens(tmp_path, name):
    model = build(**MODERN[name]) if name in MODERN else build(kind="vaswani2017", **OLD[name])
    src = sources()
    ours = decoded(model, src)
    # A model that says the same whatever it reads would prove nothing about the encoder.
    assert len({one.ids for one in ours}) > 40
    assert len({len(one.ids) for one in ours}) > 2
    theirs = [best for best, *_ in exported(model, tmp_path / "out").translate(src, max_len=LIMIT)]
    assert ties(model, src, theirs, ours) <= 2
    scores = [(a.score, b.log_prob) for a, b in zip(theirs, ours, strict=True) if a.ids == b.ids]
    torch.testing.assert_close(*map(torch.tensor, zip(*scores, strict=True)), atol=2e-3, rtol=1e-4)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_weights_give_the_same_tokens(tmp_path, seed):
    model, src = build(seed), sources(300, seed)
    theirs = [best for best, *_ in exported(model, tmp_path / "out").translate(src, max_len=LIMIT)]
    assert ties(model, src, theirs, decoded(model, src)) <= 2


def test_the_comparison_notices_another_model(tmp_path):
    model, other, src = build(0), build(0), sources(50)
    with torch.no_grad():
        other.encoder.layers[0].self_attention.k_proj.weight.mul_(1.1)
    theirs = [best for best, *_ in exported(other, tmp_path / "out").translate(src, max_len=LIMIT)]
    with pytest.raises(AssertionError):
        ties(model, src, theirs, decoded(model, src))


def test_batches_change_nothing(tmp_path):
    translator, src = exported(build(), tmp_path / "out"), sources(60)
    together = [one[0].ids for one in translator.translate(src, max_len=LIMIT)]
    assert [one[0].ids for one in translator.translate(src, max_len=LIMIT, max_batch_size=7)] == together
    assert [translator.translate([ids], max_len=LIMIT)[0][0].ids for ids in src] == together
    assert translator.translate([], max_len=LIMIT) == []


@pytest.mark.parametrize("limit", [1, 2, LONGEST - 1])
def test_the_limit_counts_the_end(tmp_path, limit):
    model, src = build(position="learned"), sources(100)
    ours = decoded(model, src, limit)
    theirs = [best for best, *_ in exported(model, tmp_path / "out").translate(src, max_len=limit)]
    assert [(one.ids, one.finished) for one in theirs] == [(one.ids, one.finished) for one in ours]


def test_beam_search_finds_the_same_with_the_same_scores(tmp_path):
    model, src = build(), sources()
    state = model.start(padded(src), max_len=LIMIT + 1)
    ours = beam_search(state, beam_size=4, n_best=4, max_len=LIMIT, length_penalty=0.0)
    theirs = exported(model, tmp_path / "out").translate(src, max_len=LIMIT, beam_size=4, n_best=4)
    # What the limit cuts off is ranked behind by us and in between by them.
    pairs = [
        pair
        for pair in zip(theirs, ours, strict=True)
        if all(one.finished for found in pair for one in found)
    ]
    assert len(pairs) > 100
    assert sum([a.ids for a in x] != [b.ids for b in y] for x, y in pairs) <= 2
    scores = [[one.score for one in x] for x, _ in pairs], [[one.score for one in y] for _, y in pairs]
    torch.testing.assert_close(*map(torch.tensor, scores), atol=2e-3, rtol=1e-4)


def test_a_length_penalty_divides_by_a_power_of_the_length(tmp_path):
    model, src = build(), sources(60)
    found = exported(model, tmp_path / "out").translate(src, max_len=LIMIT, beam_size=3, length_penalty=0.7)
    done = [(ids, best) for ids, (best,) in zip(src, found, strict=True) if best.finished]
    assert len({len(best.ids) for _, best in done}) > 5
    memory = padded([ids for ids, _ in done])
    total = token_log_probs(lambda y: model(memory, y), [best.ids for _, best in done]).sum(dim=1)
    lengths = torch.tensor([len(best.ids) + 1.0 for _, best in done])
    torch.testing.assert_close(torch.tensor([best.score for _, best in done]), total / lengths**0.7)


def test_scores_of_given_translations(tmp_path):
    model, src = build(), sources(40)
    tgt = [ids[:-1] for ids in sources(39, seed=2)] + [[]]
    memory, theirs = padded(src), exported(model, tmp_path / "out").score(src, tgt)
    assert [len(row) for row in theirs] == [len(ids) + 1 for ids in tgt]
    for row, ours in zip(theirs, token_log_probs(lambda y: model(memory, y), tgt), strict=True):
        torch.testing.assert_close(torch.tensor(row), ours[: len(row)], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_quantized_weights_say_nearly_the_same(tmp_path, quantization):
    if quantization == "int8" and not adds_bytes_whole():
        pytest.skip("this processor has no VNNI: sums of int8 products saturate")
    model, src = build(gain=1.5), sources()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    translator = exported(model, tmp_path / "out", quantization=quantization)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    theirs = [best for best, *_ in translator.translate(src, max_len=LIMIT)]
    agree = sum(a.ids == b.ids for a, b in zip(theirs, decoded(model, src), strict=True))
    assert agree >= (len(src) - 2 if quantization == "none" else 0.5 * len(src))
    print(quantization, agree)
    full = 4 * sum(weight.numel() for weight in model.parameters())
    most = {"none": 1.1, "int8": 0.35}.get(quantization, 0.6)
    assert (tmp_path / "out" / "model.bin").stat().st_size < most * full


def test_two_vocabularies_and_the_runtime_without_us(tmp_path):
    model = build(source_vocab_size=30)
    source = [f"s{i}" for i in range(30)]
    src = [[1 + i % 29 for i in ids[:-1]] + [EOS] for ids in sources(40)]
    theirs = exported(model, tmp_path / "out", source_pieces=source).translate(src, max_len=LIMIT)
    assert ties(model, src, [best for best, *_ in theirs], decoded(model, src)) <= 1
    bare = ctranslate2.Translator(str(tmp_path / "out"), intra_threads=1)
    found = bare.translate_batch(
        [[source[i] for i in ids] for ids in src],
        beam_size=1,
        max_decoding_length=LIMIT,
        min_decoding_length=0,
    )
    assert [tuple(one.hypotheses[0]) for one in found] == [
        tuple(PIECES[i] for i in best.ids) for best, *_ in theirs
    ]
