"""What the suite on translation races is right: each gate is run, nothing is timed."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase
from coursepkg.bench.suites.baselines import marian
from coursepkg.blocks.packed import pack_where_possible
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.recipe import PRESETS
from coursepkg.projects.translation.studies import search_bench as translation
from tests.projects.translation.tiny import adds_bytes_whole

pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed; see the extra `export`")

CPU = Device("cpu", 1)


@pytest.fixture
def small(monkeypatch):
    """The cases as they are, with models that are built in no time."""
    fewer = translation.sizes() | translation.SMALLER | {"vocab_size": 600}
    monkeypatch.setattr(translation, "sizes", lambda: fewer)
    for name, size in (("BATCH", 3), ("TARGET", 8)):
        monkeypatch.setattr(translation, name, size)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_every_candidate_passes_its_gate_and_every_variant_runs(small):
    for case in translation.cases(CPU):
        assert {gate.candidate for gate in case.gates} == {c.candidate for c in case.comparisons}
        for gate in case.gates:
            if gate.candidate == "CTranslate2, int8" and not adds_bytes_whole():
                continue  # sums of int8 products saturate on this processor
            assert gate.failure() is None
        for name in {n for c in case.comparisons for n in (c.candidate, c.baseline)}:
            case.variants[name]()


def test_gates_catch_the_export_of_another_model(small):
    model = translation._model("modern", CPU, never_ends=True)
    other = translation._model("modern", CPU, never_ends=True)
    with torch.no_grad():
        other.decoder.layers[0].cross.attention.v_proj.weight.mul_(1.2)
    exports = {name: translation.exported(other, name) for name in ("none", "int8")}
    for gate in translation._export_gates(model, pack_where_possible(model), exports):
        assert "more than twice" in gate.failure()


def test_our_model_is_that_of_the_preset():
    recipe = PRESETS["small"]
    with torch.device("meta"):
        preset = build_model(recipe, recipe.vocab_size, recipe.vocab_size)
    ours = translation._model("modern", CPU)
    assert {name: w.shape for name, w in ours.named_parameters()} == {
        name: w.shape for name, w in preset.named_parameters()
    }
    case = translation._against_hugging_face(CPU).name
    layers = f"{recipe.n_encoder_layers}+{recipe.n_decoder_layers} layers"
    assert f"{layers}, d {recipe.d_model}, d_ff {recipe.d_ff}" in case


def test_the_opponents_have_one_size():
    ours = translation._model("modern", CPU)
    theirs = translation._model("vaswani2017", CPU)
    counts = [sum(weight.numel() for weight in model.parameters()) for model in (ours, theirs)]
    assert counts[0] == pytest.approx(counts[1], rel=1e-3)
    learnt = sum(weight.numel() for weight in marian(theirs).parameters() if weight.requires_grad)
    assert learnt == counts[1]


def test_no_sentence_ends_before_the_limit(small):
    model = translation._model("modern", CPU, never_ends=True)
    src = translation._sources(3)
    for found in (
        translation._greedy(model, src),
        translation._translate(translation.exported(model, "int8"), src, 4),
    ):
        assert [len(best.ids) for best, *_ in found] == [translation.TARGET] * 3


def test_flops_are_those_that_torch_counts(small):
    model, src = translation._model("modern", CPU, never_ends=True), translation._sources(2)
    for beams in (1, 3):
        with FlopCounterMode(display=False) as counter:
            translation._beam(model, src, translation.TARGET, beams)
        counted = counter.get_flop_counts()["Global"]
        linear = sum(n for op, n in counted.items() if op in (torch.ops.aten.mm, torch.ops.aten.addmm))
        assert translation.flops(model, beams, 2) == linear


def test_eight_bits_are_255_steps_a_row():
    x = 2 * torch.rand(5, 4000, generator=torch.Generator().manual_seed(0)) - 1
    rounded = translation._rounded(x)
    largest = x.abs().amax(dim=1, keepdim=True)
    assert all(250 < len(row.unique()) <= 255 for row in rounded)
    assert bool(((rounded - x).abs() <= 0.501 * largest / 127).all())
    torch.testing.assert_close(rounded.abs().amax(dim=1, keepdim=True), largest)
    assert not translation._rounded(torch.zeros(2, 3)).any()


def test_on_a_gpu_only_the_search_is_raced(monkeypatch):
    search = BenchmarkCase("search", {}, [])
    monkeypatch.setattr(translation, "_against_hugging_face", lambda device: search)
    assert translation.cases(Device("cuda", 1)) == [search]
