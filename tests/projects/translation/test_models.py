"""Networks from recipes: exact sizes, and the same network again from its file's fields."""

import dataclasses

import pytest
import torch
from torch import nn

from coursepkg.blocks.prefix_model import PrefixTransformer
from coursepkg.blocks.seq2seq import GRUSeq2Seq
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.models import build_model, config_of, count_parameters, rebuilder
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from tests.projects.translation.tiny import fast

ARCHITECTURES = ("gru", "gru-attention", "vaswani2017", "modern", "decoder-only")
SOURCES = [[5, 9, 11], [5, 30], [5, 8, 8, 8, 12, 40]]


def on_meta(recipe: Recipe) -> nn.Module:
    with torch.device("meta"):
        return build_model(recipe, recipe.vocab_size, recipe.vocab_size)


@pytest.mark.parametrize(("preset", "parameters"), [("gru-baseline", 919_992), ("report", 157_179_200)])
def test_published_sizes_are_exact(preset: str, parameters: int) -> None:
    assert count_parameters(on_meta(PRESETS[preset])) == parameters


def test_the_baseline_counted_by_hand() -> None:
    vocab, d, h = 3000, 64, 128
    gru = 3 * h * (d + h + 2)
    assert count_parameters(on_meta(PRESETS["gru-baseline"])) == 2 * vocab * d + 2 * gru + vocab * (h + 1)


def test_tied_embeddings_count_once() -> None:
    model = on_meta(PRESETS["small"])
    larger = on_meta(dataclasses.replace(PRESETS["small"], vocab_size=4001))
    assert count_parameters(larger) - count_parameters(model) == PRESETS["small"].d_model


def test_presets_grow() -> None:
    sizes = [count_parameters(on_meta(PRESETS[name])) for name in ("tiny", "small", "report")]
    assert sizes == sorted(sizes)
    assert sizes[1] < sizes[2] / 10


@pytest.mark.parametrize(
    ("architecture", "joint"),
    [(name, joint) for name in ARCHITECTURES for joint in (True, False) if joint or name != "decoder-only"],
)
def test_a_network_is_rebuilt_from_its_fields(architecture: str, joint: bool) -> None:
    recipe = fast(architecture=architecture, joint=joint, reverse=0.0)
    sizes = (60, 60) if joint else (50, 70)
    model = build_model(recipe, *sizes)
    kinds = {"gru": GRUSeq2Seq, "gru-attention": GRUSeq2Seq, "decoder-only": PrefixTransformer}
    assert type(model) is kinds.get(architecture, Transformer)
    again = rebuilder(recipe)(dataclasses.asdict(config_of(recipe, *sizes)))
    again.load_state_dict(model.state_dict())
    assert search(again, SOURCES, max_len=8, beam_size=2) == search(model, SOURCES, max_len=8, beam_size=2)


def test_a_source_vocabulary_of_its_own_has_its_own_size() -> None:
    recipe = fast(architecture="modern", joint=False, reverse=0.0)
    model = build_model(recipe, 50, 70)
    assert model(torch.tensor([[49, 2]]), torch.tensor([[1, 69]])).shape == (1, 2, 70)
    with pytest.raises(ValueError, match="src"):
        model(torch.tensor([[50, 2]]), torch.tensor([[1, 69]]))


def test_the_report_rotates_cross_attention_and_others_do_not() -> None:
    assert config_of(PRESETS["report"], 100, 100).rope_cross
    assert not config_of(PRESETS["small"], 100, 100).rope_cross


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_search_keeps_order_limits_and_mode(architecture: str, beam_size: int) -> None:
    torch.manual_seed(0)
    model = build_model(fast(architecture=architecture, max_len=8), 60, 60).double().train()
    found = search(model, SOURCES, max_len=8, beam_size=beam_size, batch_size=2)
    alone = [search(model, [ids], max_len=8, beam_size=beam_size)[0] for ids in SOURCES]
    assert [[one.ids for one in row] for row in found] == [[one.ids for one in row] for row in alone]
    assert all(len(one.ids) < 8 for row in found for one in row)
    assert model.training


def test_search_goes_back_to_training_mode_after_a_failure() -> None:
    model = build_model(fast(), 60, 60).train()
    with pytest.raises(ValueError, match="max_len"):
        search(model, [[5] * 40], max_len=24)
    assert model.training
