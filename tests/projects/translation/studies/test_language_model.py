"""The language model: what its perplexities mean, how it is trained, stored and loaded."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.data.split import grouped_split
from coursepkg.projects.translation.corpora import SHARES, SPLIT_SEED, Parts
from coursepkg.projects.translation.corpus import SentencePair, pair_keys
from coursepkg.projects.translation.evaluate import dev_halves
from coursepkg.projects.translation.models import Subwords
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.language_model import (
    LanguageRecipe,
    load_language_model,
    perplexity,
    train_language_model,
)
from coursepkg.text.vocabulary import BOS, EOS
from tests.projects.translation.memorised import PAIRS, memorised, translator

SIZES = {"d_model": 32, "n_heads": 2, "n_layers": 1, "d_ff": 64, "dropout": 0.0, "batch_tokens": 400}
RECIPE = LanguageRecipe(**SIZES, learning_rate=1e-2, warmup=5, max_epochs=3)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return replace(memorised()[1], train=PAIRS * 20)


@pytest.fixture(scope="module")
def model() -> Translator:
    return translator()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, model: Translator, parts: Parts) -> Path:
    out = tmp_path_factory.mktemp("lm") / "lm"
    train_language_model(model, parts, out, recipe=RECIPE, progress=False)
    return out


def test_it_learns_and_is_stored(folder: Path, model: Translator, parts: Parts) -> None:
    found = load_language_model(folder, model, "vi")
    vocabulary = len(model.subwords.target)
    for half in dev_halves(parts):
        assert 1.0 < perplexity(found, model, half, "vi").per_token < vocabulary / 10
    assert not found.training


def test_perplexity_is_that_of_the_cross_entropy(folder: Path, model: Translator) -> None:
    found = load_language_model(folder, model, "vi")
    total, n_tokens = 0.0, 0
    for pair in PAIRS:
        ids = [*model.subwords.encode_targets([pair.target], "vi")[0], EOS]
        logits = found(torch.tensor([[BOS, *ids[:-1]]]))[0]
        total += F.cross_entropy(logits, torch.tensor(ids), reduction="sum").item()
        n_tokens += len(ids)
    told = perplexity(found, model, PAIRS, "vi")
    n_words = sum(len(pair.target.split()) + 1 for pair in PAIRS)
    assert (told.n_tokens, told.n_words) == (n_tokens, n_words)
    assert told.log_prob == pytest.approx(-total, rel=1e-4)
    assert told.per_token == pytest.approx(math.exp(total / n_tokens), rel=1e-4)
    assert told.per_word == pytest.approx(math.exp(total / n_words), rel=1e-4)


def test_chinese_words_are_characters(folder: Path, model: Translator) -> None:
    found = load_language_model(folder, model, "vi")
    swapped = [pair.swapped() for pair in PAIRS[:2]]
    # 我们去学校。 and 他是医生。 have 6 and 5 characters, and each an end.
    assert perplexity(found, model, swapped, "zh").n_words == 6 + 5 + 2


def test_an_unsure_model_has_the_perplexity_of_its_vocabulary(model: Translator) -> None:
    blank = LanguageModel(replace(model.model.config, source_vocab_size=None))
    with torch.no_grad():
        blank.embedding.weight.zero_()
    assert perplexity(blank.eval(), model, PAIRS, "vi").per_token == pytest.approx(len(model.subwords.target))


def test_the_card_says_both_halves(folder: Path, model: Translator, parts: Parts) -> None:
    meta = json.loads((folder / "model" / "model.json").read_text("utf-8"))["meta"]
    found = load_language_model(folder, model, "vi")
    for name, half in zip(
        ("half of dev to choose with", "half of dev to score on"), dev_halves(parts), strict=True
    ):
        assert meta["perplexity"][name]["per_token"] == pytest.approx(
            perplexity(found, model, half, "vi").per_token, rel=1e-5
        )
    assert (meta["n_sentences"], meta["left_out_as_too_long"]) == (len(parts.train), 0)
    assert meta["corpora"] == ["phrasebook"]


def test_halves_share_no_sentence(parts: Parts) -> None:
    twins = replace(parts, dev=(*PAIRS, *(pair._replace(source="另一句。") for pair in PAIRS[:3])))
    choose, score = dev_halves(twins)
    assert len(choose) + len(score) == 13
    assert {p.target for p in choose}.isdisjoint(p.target for p in score)
    # Three pairs have one source now, so that they and their twins of the same target stay together.
    together = {p.target for p in PAIRS[:3]}
    assert together <= {p.target for p in choose} or together <= {p.target for p in score}


def test_a_dev_part_that_a_hash_chose_has_two_halves(parts: Parts) -> None:
    pairs = [SentencePair(f"第{i}句。", f"câu thứ {i} .", "made-up", i) for i in range(2000)]
    keys = [pair_keys(pair, "zh", "vi") for pair in pairs]
    dev = tuple(pairs[i] for i in grouped_split(keys, SHARES, seed=SPLIT_SEED)["dev"])
    choose, score = dev_halves(replace(parts, dev=dev))
    assert min(len(choose), len(score)) > len(dev) / 4


def test_too_small_a_dev_part_is_refused(parts: Parts) -> None:
    for dev in ((), PAIRS[:1]):
        with pytest.raises(ValueError, match="too few for two halves"):
            dev_halves(replace(parts, dev=dev))


def test_other_vocabularies_and_languages_are_refused(folder: Path, model: Translator) -> None:
    with pytest.raises(ValueError, match="language"):
        load_language_model(folder, model, "zh")
    swapped = [(("vi", "zh"), [pair.swapped() for pair in PAIRS[::-1]])]
    other = Subwords.train(swapped, replace(model.recipe, vocab_size=129))
    with pytest.raises(ValueError, match="vocabulary"):
        load_language_model(folder, Translator(model.model, other, model.recipe, [("zh", "vi")]), "vi")


def test_a_finished_folder_is_left_alone(folder: Path, model: Translator, parts: Parts) -> None:
    before = (folder / "model" / "model.safetensors").read_bytes()
    with pytest.raises(ValueError, match="holds a finished language model already"):
        train_language_model(model, parts, folder, recipe=RECIPE, progress=False)
    assert (folder / "model" / "model.safetensors").read_bytes() == before


def test_a_run_that_was_stopped_goes_on(
    folder: Path, model: Translator, parts: Parts, tmp_path: Path
) -> None:
    stopped = tmp_path / "lm"
    shutil.copytree(folder / "run", stopped / "run")
    with pytest.raises(ValueError, match="holds a run"):
        train_language_model(model, parts, stopped, recipe=RECIPE, progress=False)
    train_language_model(model, parts, stopped, recipe=RECIPE, resume=True, progress=False)
    weights = [(one / "model" / "model.safetensors").read_bytes() for one in (folder, stopped)]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropout": 1.0}, r"--dropout must be in \[0, 1\)"),
        ({"n_layers": 0}, "--n-layers must be an integer of at least 1"),
        ({"n_heads": 3}, "--n-heads must make heads of even width"),
        ({"max_seconds": 0.0}, "--max-seconds must be above 0"),
        ({"weight_decay": -1.0}, "--weight-decay must be at least 0"),
    ],
)
def test_settings_are_checked(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LanguageRecipe(**change)  # type: ignore[arg-type]
