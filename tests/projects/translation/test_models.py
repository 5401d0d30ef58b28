"""Networks from recipes: exact sizes, and the same network again from its file's fields.

Vocabularies of a translation model: joint with tags, or one for each language, learnt from training alone.

The cards of a run: what they must hold, and one line about the file where they do not.
"""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from coursepkg.app.jobs import ResumableJsonl
from coursepkg.blocks.language_model import PrefixTransformer
from coursepkg.blocks.seq2seq import GRUSeq2Seq
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.commands import Train
from coursepkg.projects.translation.competition_rules import check_contest_rules
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.models import (
    FILES,
    Subwords,
    build_model,
    config_of,
    count_parameters,
    rebuilder,
    search,
    tag_of,
)
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.studies.language_model import LanguageRecipe
from coursepkg.text.vocabulary import UNK
from tests.projects.translation.tiny import (
    fast,
    pairs,
    quietly,
    recipe,
    subwords,
    toy_parts,
    translation,
    write_lines,
)

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
        model.check_inputs(torch.tensor([[50, 2]]), torch.tensor([[1, 69]]))


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


CORPORA = [(("zh", "vi"), toy_parts().train)]


def separate() -> Subwords:
    return Subwords.train(CORPORA, recipe(joint=False, reverse=0.0, vocab_size=90))


def test_a_joint_vocabulary_has_tags_behind_the_special_tokens() -> None:
    found = subwords()
    assert found.joint
    assert len(found.source) == 170
    assert found.source.pieces[4:7] == (tag_of("zh"), tag_of("vi"), tag_of("en"))


def test_every_source_begins_with_the_tag_of_its_target() -> None:
    texts = [p.source for p in toy_parts().test]
    ids = subwords().encode_sources(texts, "zh", "vi")
    assert {row[0] for row in ids} == {5}
    assert {row[0] for row in subwords().encode_sources(["Tôi ."], "vi", "zh")} == {4}
    # A tag that a user types is text, never a tag.
    assert 5 not in subwords().encode_sources(["<2vi> 我"], "zh", "vi")[0][1:]


def test_targets_come_back_as_they_were() -> None:
    for pair in toy_parts().test:
        (ids,) = subwords().encode_targets([pair.target], "vi")
        assert subwords().target.decode(ids) == pair.target
        assert min(ids) > UNK


def test_user_spelling_and_corpus_spelling_are_one_source() -> None:
    as_read, as_stored = "我看见三只猫。", "我 看见 三 只 猫 。"
    assert subwords().encode_sources([as_read], "zh", "vi") == subwords().encode_sources(
        [as_stored], "zh", "vi"
    )


def test_underscores_are_a_matter_of_targets() -> None:
    removing = Subwords(subwords().source, subwords().target, "remove")
    (kept,), (removed,) = (one.encode_targets(["Các_bạn thích"], "vi") for one in (subwords(), removing))
    assert subwords().target.decode(kept) == "Các_bạn thích"
    assert subwords().target.decode(removed) == "Các bạn thích"
    assert subwords().encode_sources(["Các_bạn"], "vi", "zh") == removing.encode_sources(
        ["Các bạn"], "vi", "zh"
    )


def test_one_vocabulary_for_each_has_no_tags() -> None:
    found = separate()
    assert not found.joint
    assert found.source.tags == found.target.tags == ()
    assert len(set(found.fingerprints)) == 2
    (ids,) = found.encode_sources(["我看见三只猫。"], "zh", "vi")
    assert found.source.decode(ids) == "我看见三只猫。"
    assert not {"▁Tôi", "▁mèo"} & set(found.source.pieces)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    for found, files in ((subwords(), FILES[1:]), (separate(), FILES)):
        folder = tmp_path / str(len(files))
        folder.mkdir()
        found.save(folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(files)
        again = Subwords.load(folder, found.underscores)
        assert (again.fingerprints, again.joint) == (found.fingerprints, found.joint)


def test_the_same_training_part_gives_the_same_vocabulary_and_another_another() -> None:
    again = Subwords.train(CORPORA, recipe())
    other = Subwords.train([(("zh", "vi"), pairs("zh", "vi", 0, 239))], recipe())
    assert again.fingerprints == subwords().fingerprints
    assert other.fingerprints != subwords().fingerprints


def test_a_size_that_the_text_does_not_fill_is_refused_by_one_line() -> None:
    with pytest.raises(ValueError, match="vocab_size") as caught:
        Subwords.train(CORPORA, recipe(vocab_size=5000))
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    subwords().save(tmp_path)
    path = tmp_path / FILES[1]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"target\.model is not a usable SentencePiece file"):
        Subwords.load(tmp_path, "keep")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cards") / "run"
    quietly(fast(max_epochs=1), out)
    return out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": LanguageRecipe().described()}, r"it does not know .*n_layers"),
        ({"recipe": None}, "its card has no recipe"),
        ({"directions": None}, "its card has no recipe and directions"),
        ({"recipe": {"tomorrow": 1}}, r"it does not know tomorrow\); .* or update coursepkg"),
        ({"recipe": {"n_heads": 0}}, "holds no translator .its recipe is damaged: --n-heads"),
    ],
)
def test_a_folder_without_a_translator_is_one_line(
    run: Path, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run, folder)
    path = folder / "model" / "model.json"
    card = json.loads(path.read_text("utf-8"))
    card["meta"] = {name: value for name, value in (card["meta"] | change).items() if value is not None}
    path.write_text(json.dumps(card), "utf-8")
    with pytest.raises(ValueError, match=reason):
        Translator.load(folder)
    assert translation("predict", "--model", folder, "--text", "我").mistake


@pytest.mark.parametrize("content", ["{", "[]", "7"])
def test_a_damaged_card_is_named(tmp_path: Path, content: str) -> None:
    own = Parts("zh-vi", "zh", "vi", toy_parts().train, (), (), ())
    write_lines(tmp_path / "start" / "recipe.json", [content])
    with pytest.raises(ValueError, match=r"start/recipe\.json is damaged"):
        check_contest_rules(Train(start=tmp_path / "start"), [own])
    write_lines(tmp_path / "out.part", ["one"])
    write_lines(tmp_path / "out.part.json", [content])
    with pytest.raises(ValueError, match=r"out\.part\.json is damaged"):
        ResumableJsonl(tmp_path / "out", {"input": "x"})
    with pytest.raises(ValueError, match=r"start/recipe\.json is damaged"):
        quietly(fast(), tmp_path / "start", resume=True)
