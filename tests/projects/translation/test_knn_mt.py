"""The datastore of a run: built from the training part, kept with its model, tuned on dev, used by the verbs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursepkg.files import read_json
from coursepkg.projects.translation import knn_mt
from coursepkg.projects.translation.confidence import FEATURES, Calibration
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.ensemble import system_note
from coursepkg.projects.translation.knn_mt import (
    Datastore,
    build_datastore,
    neighbours_settings,
    with_neighbours,
    with_stored_neighbours,
)
from coursepkg.projects.translation.ladder.decoding import with_knn_mt
from coursepkg.projects.translation.models import Subwords
from coursepkg.projects.translation.placeholders import mask_pair
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.neighbours_study import NeighbourStudy, neighbour_study
from coursepkg.text.vocabulary import EOS
from tests.projects.translation.tiny import SmallBook, fast, pairs, quietly, subwords, toy_parts, translation


@pytest.fixture(scope="module")
def weak_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that has learnt next to nothing."""
    out = tmp_path_factory.mktemp("weak") / "run"
    quietly(fast(max_epochs=1), out)
    return out


@pytest.fixture(scope="module")
def weak(weak_run: Path) -> Translator:
    return Translator.load(weak_run)


@pytest.fixture(scope="module")
def parts() -> Parts:
    """Dev sentences of which half are in the training part, where a datastore finds them."""
    return replace(toy_parts(), train=pairs("zh", "vi", 0, 40), dev=pairs("zh", "vi", 20, 60))


@pytest.fixture(scope="module")
def store(weak: Translator, parts: Parts) -> Datastore:
    return build_datastore(weak, parts)


@pytest.fixture(scope="module")
def study(weak: Translator, store: Datastore, parts: Parts) -> NeighbourStudy:
    grid = {"weights": (0.5, 0.95), "temperatures": (0.01, 1e6)}
    return neighbour_study(weak, store, parts, k=4, n_resamples=50, **grid)


@pytest.fixture
def run(weak_run: Path, tmp_path: Path) -> Path:
    shutil.copytree(weak_run, tmp_path / "run")
    return tmp_path / "run"


def ids_of(words: Subwords, own: Parts) -> list[int]:
    return sorted(
        token for line in words.encode_targets([p.target for p in own.train], "vi") for token in (*line, EOS)
    )


def test_the_datastore_holds_every_target_token_of_the_training_part(store: Datastore, parts: Parts) -> None:
    assert sorted(store.values.tolist()) == ids_of(subwords(), parts)
    assert (store.keys.dtype, store.values.dtype) == (torch.float16, torch.int32)
    assert (store.corpus, store.source, store.target) == ("toy", "zh", "vi")


def test_a_beam_finds_training_sentences_that_the_model_alone_misses(
    weak: Translator, store: Datastore, parts: Parts
) -> None:
    helped = with_neighbours(weak, store, 0.95, 0.01, 4)
    texts = [p.source for p in parts.train]
    alone, found = ([one.line for one in t.translate(texts, beam_size=4)] for t in (weak, helped))
    right = [said == p.target for said, p in zip(found, parts.train, strict=True)]
    assert sum(right) >= 36
    assert not any(said == p.target for said, p in zip(alone, parts.train, strict=True))
    assert system_note(helped) == ", neighbours 0.95"
    assert system_note(weak) == ""
    assert neighbours_settings(weak) is None


def test_without_weight_every_translation_is_the_models(
    weak: Translator, store: Datastore, parts: Parts
) -> None:
    same = with_neighbours(weak, store, 0.0, 10.0, 4)
    texts = [p.source for p in parts.dev]
    alone, found = ([one.n_best[0].tokens for one in t.translate(texts)] for t in (weak, same))
    assert alone == found
    assert same.fingerprint != weak.fingerprint
    assert weak.directions != same.directions == [("zh", "vi")]


def test_a_model_that_masks_reads_masked_pairs(weak: Translator, parts: Parts) -> None:
    recipe = replace(weak.recipe, placeholders="mask")
    masking = Translator(weak.model, weak.subwords, recipe, weak.directions)
    pair = SentencePair("我 喜欢 <b ba năm>", "Tôi thích <b ba năm>")
    found, wanted = (
        build_datastore(system, replace(parts, train=(one,)))
        for system, one in ((masking, pair), (weak, mask_pair(pair)))
    )
    assert found.values.tolist() == wanted.values.tolist()
    assert torch.equal(found.keys, wanted.keys)


def test_a_confidence_that_was_fitted_on_the_model_alone_is_not_kept(
    weak: Translator, store: Datastore
) -> None:
    judged = Translator(weak.model, weak.subwords, weak.recipe, weak.directions)
    judged.fingerprint = weak.fingerprint
    judged.calibration = Calibration({"zh-vi": [0.5] * len(FEATURES)}, "toy dev")
    (one,) = with_neighbours(judged, store, 0.5, 10.0, 4).translate(["我 喜欢"])
    assert one.usable is None
    assert judged.calibration is not None


def test_a_datastore_that_cannot_be_written_leaves_the_older_one(
    weak: Translator, store: Datastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(tmp_path / "neighbours")

    def full(path: Path, content: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(knn_mt, "write_json", full)
    with pytest.raises(OSError, match="no space left"):
        replace(store, keys=store.keys[:3], values=store.values[:3]).save(tmp_path / "neighbours")
    assert len(Datastore.load(tmp_path / "neighbours", weak)) == len(store)
    assert [path.name for path in tmp_path.iterdir()] == ["neighbours"]


def test_a_stored_datastore_comes_back(weak: Translator, store: Datastore, tmp_path: Path) -> None:
    settings = {"weight": 0.3, "temperature": 10.0, "k": 4}
    replace(store, settings=settings).save(tmp_path / "neighbours", study={"n": 1})
    again = Datastore.load(tmp_path / "neighbours", weak)
    assert torch.equal(again.keys, store.keys)
    assert torch.equal(again.values, store.values)
    assert (again.fingerprint, again.corpus, again.settings) == (weak.fingerprint, "toy", settings)
    assert neighbours_settings(with_stored_neighbours(weak, tmp_path)) == settings | {"n_keys": len(store)}
    store.save(tmp_path / "neighbours")
    assert {path.name for path in (tmp_path / "neighbours").iterdir()} == {
        "neighbours.json",
        "states.safetensors",
    }
    with pytest.raises(ValueError, match="has no settings"):
        with_stored_neighbours(weak, tmp_path)


def test_a_datastore_of_another_model_or_a_damaged_one_is_refused(
    weak: Translator, translator: Translator, store: Datastore, tmp_path: Path
) -> None:
    folder = tmp_path / "neighbours"
    with pytest.raises(FileNotFoundError, match="no datastore of neighbours in it; make one first"):
        Datastore.load(folder, weak)
    with pytest.raises(ValueError, match="store belongs to another model"):
        with_neighbours(translator, store, 0.3, 10.0, 4)
    store.save(folder)
    with pytest.raises(
        ValueError, match=r"neighbours\.json belongs to another model; make the datastore again"
    ):
        Datastore.load(folder, translator)
    content = (folder / "states.safetensors").read_bytes()
    (folder / "states.safetensors").write_bytes(content[:-1])
    with pytest.raises(ValueError, match="is cut short"):
        Datastore.load(folder, weak)


def test_half_of_dev_chooses_and_the_other_half_is_scored(study: NeighbourStudy, store: Datastore) -> None:
    assert {(row.weight, row.temperature) for row in study.grid.rows} == {
        (0.0, 0.01),
        *((weight, temperature) for weight in (0.5, 0.95) for temperature in (0.01, 1e6)),
    }
    assert study.grid.chosen.bleu == max(row.bleu for row in study.grid.rows) > study.grid.baseline_choose
    assert study.grid.chosen.temperature == 0.01
    assert study.grid.n_choose + study.grid.n_score == 40
    assert study.grid.comparison.system > study.grid.comparison.baseline
    assert study.settings == {"weight": study.grid.chosen.weight, "temperature": 0.01, "k": 4}
    assert "temperature" in study.grid.on_grid_boundary
    assert "the temperature lies at the edge of the grid" in str(study)
    assert json.loads(json.dumps(study.as_json()))["n_keys"] == len(store)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"weights": (2.0,)}, r"weight must be in \[0, 1\], got 2.0"),
        ({"temperatures": (0.0,)}, "temperature must be above 0"),
        ({"k": 0}, r"k must be an integer in 1\.\."),
        ({"k": 10**6}, r"k must be an integer in 1\.\."),
    ],
)
def test_bad_settings_are_named_before_anything_is_translated(
    weak: Translator, store: Datastore, parts: Parts, settings: dict, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        neighbour_study(weak, store, parts, **({"k": 4} | settings))


def test_the_verb_tunes_and_stores_and_the_others_use_it(run: Path, small_book: SmallBook) -> None:
    chosen = ["--model", run, "--data", "phrasebook"]
    assert "no datastore of neighbours" in translation("evaluate", *chosen, "--neighbours").mistake
    grid = ["--weights", 0.3, "--temperatures", 0.1, 10, "-k", 4]
    said = translation("neighbours", *chosen, *grid, "--limit", 2, "--json")
    assert (said.code, said.err) == (0, "")
    card = read_json(run / "neighbours" / "neighbours.json")
    assert card["settings"] == said.document["chosen"] == card["study"]["chosen"]
    assert card["n"] == said.document["n_keys"]
    # What two sentences chose is luck; these settings must be seen to be used.
    settings = {"weight": 0.95, "temperature": 0.01, "k": 1}
    store = Datastore.load(run / "neighbours", Translator.load(run))
    replace(store, settings=settings).save(run / "neighbours")
    scored = translation("evaluate", *chosen, "--neighbours", "--against", run, "--json").document
    assert "neighbours 0.95" in scored["scores"]["BLEU"]["signature"]
    assert scored["search"]["neighbours"] == settings | {"n_keys": card["n"]}
    assert "neighbours" not in translation("evaluate", *chosen).out
    assert scored["against"]["system"] != scored["against"]["baseline"]
    text = ["predict", "--model", run, "--text", "我 买了 两 本 书 。"]
    assert translation(*text).out != translation(*text, "--neighbours").out
    lists = ["rerank", *chosen, "--n-best", 2, "--reverse-model", run, "--limit", 1, "--json"]
    assert translation(*lists, "--neighbours").document["neighbours"]["weight"] == 0.95
    assert translation(*lists).document["neighbours"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--model FOLDER must be given"),
        (["--model", "nowhere", "--out", "there"], "--out does not go with neighbours"),
        (["--model", "nowhere", "--weights", "1.2"], "weight must be in [0, 1], got 1.2"),
        (["--model", "nowhere", "--temperatures", "0"], "temperature must be above 0"),
        (["--model", "nowhere", "-k", "0"], "k must be an integer of at least 1, got 0"),
        (["--model", "nowhere"], "no finished model in it"),
    ],
)
def test_a_mistake_gets_one_line(arguments: list[str], told: str) -> None:
    assert told in translation("neighbours", *arguments).mistake


def test_a_row_of_the_ladder_scores_the_whole_dev_part(weak: Translator, parts: Parts) -> None:
    result, notes = with_knn_mt(weak, parts)
    assert len(result.hypotheses) == len(parts.dev)
    assert "neighbours" in result.scores["BLEU"].signature
    assert "each chosen on the other half of dev" in notes[-1]
