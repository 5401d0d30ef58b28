"""What the suites on decoding and training race is right: each gate is run, nothing is timed."""

import pytest
import torch

from coursepkg.bench.machine import Device
from coursepkg.bench.suites import decoding, resume, training
from coursepkg.bench.suites.baselines import TorchTransformer, marian
from coursepkg.bench.suites.resume import Crash
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.text.vocabulary import PAD

CPU = Device("cpu", 1)
SMALL = {"d_model": 32, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 64, "max_len": 40}


def ids(*shape):
    return torch.randint(4, 60, shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_baseline_of_torch_computes_the_same(norm_first):
    torch.manual_seed(0)
    config = TransformerConfig.vaswani2017(60, final_norm=True, norm_first=norm_first, **SMALL)
    ours = Transformer(config).double().eval()
    src = ids(3, 9)
    src[1, 5:] = PAD
    expected = TorchTransformer(ours).double().eval()(src, ids(3, 7))
    torch.testing.assert_close(ours(src, ids(3, 7)), expected)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_the_baseline_of_hugging_face_computes_the_same():
    torch.manual_seed(0)
    ours = Transformer(TransformerConfig.vaswani2017(60, **SMALL)).double().eval()
    src = ids(3, 9)
    src[1, 5:] = PAD
    mask = (src != PAD).long()
    theirs = marian(ours)(input_ids=src, attention_mask=mask, decoder_input_ids=ids(3, 7))
    torch.testing.assert_close(ours(src, ids(3, 7)), theirs.logits)


def small_models(monkeypatch, suite):
    """The cases as they are, with models that are built in no time."""
    torch.manual_seed(0)
    config = TransformerConfig.vaswani2017(8000, final_norm=suite is training, **(SMALL | {"max_len": 128}))
    monkeypatch.setattr(suite, "_model", lambda device, **changes: Transformer(config).eval())
    few = training.draw_pairs(96, 60)
    monkeypatch.setattr(training, "draw_pairs", lambda n, vocabulary: few[:n])


@pytest.mark.parametrize("suite", [decoding, training], ids=lambda s: s.__name__.rpartition(".")[2])
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_every_candidate_passes_its_gate_and_every_variant_runs(monkeypatch, suite):
    small_models(monkeypatch, suite)
    for case in suite.cases(CPU):
        assert {gate.candidate for gate in case.gates} == {c.candidate for c in case.comparisons}
        assert [gate.failure() for gate in case.gates] == [None] * len(case.gates)
        for name in {n for c in case.comparisons for n in (c.candidate, c.baseline)}:
            case.variants[name]()


def test_a_gate_catches_a_candidate_that_decodes_another_model(monkeypatch):
    small_models(monkeypatch, decoding)
    gate = decoding._cached_greedy(CPU).gates[0]
    broken = gate.__class__("cached", lambda: [x + 0.1 for x in gate.plain()], gate.plain, gate.exact)
    assert "more than twice" in broken.failure()


def test_lengths_are_those_of_talks():
    lengths = [len(source) for source, _ in training.draw_pairs(4000, 100)]
    assert 18 < sum(lengths) / len(lengths) < 22
    assert 0.08 < sum(length > 37 for length in lengths) / len(lengths) < 0.12


def test_resume_counts_only_exact_ends(monkeypatch):
    crashes = iter(
        [Crash((3,), 0, (), ())] * 18 + [Crash((4,), 1, ("last.json",), ()), Crash((5,), 0, (), ("log.csv",))]
    )
    monkeypatch.setattr(resume, "kill_and_resume", lambda folder, seed: next(crashes))
    (row,) = resume.cases(CPU)[0].run(CPU)
    assert row.ratio == 0.9
    assert row.met is False
    assert "last.json" in row.note
    with pytest.raises(ValueError, match="use --device cpu"):
        resume.cases(Device("cuda", 1))
