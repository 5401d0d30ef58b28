"""What `evaluate` prints and writes, what it compares with, and what it refuses."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.sign_language import evaluate_verb
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.ladder import RESULTS
from coursepkg.projects.sign_language.options import Common, Evaluate
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from tests.projects.sign_language.folders import sign_language
from tests.projects.sign_language.signed import COUNTS, RECIPE, WORDS, taught, write_film, write_model
from tests.said import Said


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Six signers of three words, and two models."""
    folder = tmp_path_factory.mktemp("evaluated")
    rows = [("path", "label", "signer")]
    for i, signer in enumerate(("An", "Bình", "Chi", "Dũng", "Em", "Giang")):
        for j, word in enumerate(WORDS):
            rows.append((f"{signer}-{j}.mp4", word, signer))
            write_film(folder / "signs" / rows[-1][0], word, number=500 + 3 * i + j)
    with (folder / "signs" / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    first, second = (write_model(folder / name, seed) for seed, name in enumerate(("first", "second")))
    return {"signs": folder / "signs", "first": first, "second": second, "cache": folder / "cache"}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, places: dict[str, Path]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(places["cache"]))
    monkeypatch.delenv("COURSEPKG_DATA", raising=False)


def evaluate(places: dict[str, Path], *arguments: object, model: str = "first") -> Said:
    return sign_language("evaluate", "--model", places[model], "--data", places["signs"], *arguments)


def test_scores_answers_and_worst_clips_are_written(places: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "scores"
    done = evaluate(places, "--part", "train", "--out", out, "--worst", "2", "--json")
    assert done.code == 0, done.err
    assert "macro-F1|nrefs:1|bs:1000|" in done.out
    assert "accuracy|nrefs:1|bs:1000|" in done.out
    document = json.loads(done.out.splitlines()[-1])
    stored = RESULTS.document("evaluation", out)
    assert stored is not None
    assert stored["schema"] == "evaluation"
    assert stored["macro_f1"] == document["macro_f1"]
    assert stored["machine"]["name"]
    assert {"versions", "commit"} <= stored.keys()
    assert (document["part"], document["model"], document["counts"]) == ("train", ["first"], list(COUNTS))
    low, high = document["macro_f1"]["interval"]
    assert low <= document["macro_f1"]["value"] <= high
    assert f"protocol:{places['signs']} train, split signer|" in document["macro_f1"]["signature"]
    rows = (out / "answers.tsv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + document["n"] == 1 + len(document["answers"])
    assert "<!doctype html>" in (out / "worst.html").read_text("utf-8")
    assert any("does not say what it learnt from" in note for note in document["notes"])
    assert "note: the model's card does not say" in done.out
    assert [path for path in out.iterdir() if path.suffix == ".part"] == []


def test_pairs_that_differ_in_order_are_scored_by_themselves(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "order_pairs" not in evaluate(places, "--part", "train", "--json").document
    pairs = ((WORDS[0], WORDS[1]),)
    monkeypatch.setattr("coursepkg.projects.sign_language.evaluate_verb.order_pairs", lambda name: pairs)
    done = evaluate(places, "--part", "train", "--json")
    assert done.code == 0, done.err
    assert "within pairs of words, accuracy|" in done.out
    told = done.document["order_pairs"]
    words = done.document["words"]
    assert told["n"] == sum(words[word]["n_clips"] for word in pairs[0])
    assert set(told["pairs"]) == {"/".join(pairs[0])}
    assert 0 <= told["accuracy"]["value"] <= 1


def test_two_systems_are_compared_on_the_same_clips(places: dict[str, Path], tmp_path: Path) -> None:
    for name in ("first", "second"):
        assert evaluate(places, "--part", "train", "--out", tmp_path / name, model=name).code == 0
    same = evaluate(places, "--part", "train", "--against", tmp_path / "first" / "evaluation.json", "--json")
    told = json.loads(same.out.splitlines()[-1])["against"]
    for metric in ("macro-F1", "accuracy"):
        assert told[metric]["theirs"] == told[metric]["ours"]
        assert (told[metric]["difference"], told[metric]["p_value"]) == ([0.0, 0.0], 1.0)
    other = evaluate(places, "--part", "train", "--against", tmp_path / "second", "--json")
    assert f"against {tmp_path / 'second'}: macro-F1|" in other.out
    ours = json.loads((tmp_path / "first" / "evaluation.json").read_text("utf-8"))["macro_f1"]["value"]
    theirs = json.loads((tmp_path / "second" / "evaluation.json").read_text("utf-8"))["macro_f1"]["value"]
    told = json.loads(other.out.splitlines()[-1])["against"]["macro-F1"]
    assert (told["ours"], told["theirs"]) == (ours, theirs)
    assert "bsgroups:" in told["signature"]
    wrong = evaluate(places, "--part", "test", "--against", tmp_path / "first")
    assert wrong.code == 2
    assert "scored on different clips" in wrong.err


def test_an_ensemble_and_a_limit_are_said(places: dict[str, Path]) -> None:
    done = evaluate(places, "--model", places["second"], "--part", "train", "--limit", "4", "--json")
    document = json.loads(done.out.splitlines()[-1])
    assert document["model"] == ["first", "second"]
    assert "first 4, split signer, 2 models|" in document["macro_f1"]["signature"]
    assert document["n"] == 4


@pytest.mark.parametrize(
    ("common", "expected"),
    [
        (Common(), ("own", "clip")),
        (Common(data="own"), ("own", "clip")),
        (Common(data="own", split="signer"), ("own", "signer")),
        (Common(data="other"), ("other", "signer")),
    ],
)
def test_the_data_that_a_model_learnt_from_are_parted_as_then(
    common: Common, expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str, recipe: Recipe, *, split: str) -> SignCorpus:
        return SignCorpus(name, split, WORDS, None, None, None)

    monkeypatch.setattr(evaluate_verb, "load_corpus", load)
    learnt = {"data": {"name": "own", "protocol": "clip"}}
    model = SignRecognizer(taught(), WORDS, RECIPE, card=learnt)
    found = evaluate_verb.corpus_of(Evaluate(common), model)
    assert (found.name, found.protocol) == expected


def test_one_signer_is_left_out_at_a_time(
    places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(RECIPE, max_epochs=1, warmup=1, warp=0.0, crop=1.0, colour=0.0, rotation=0.0)
    monkeypatch.setitem(PRESETS, "tiny", quick)
    folder, out = tmp_path / "pairs", tmp_path / "out"
    folder.mkdir()
    rows = [(f"{signer}-{j}.mp4", WORDS[j], signer) for signer in ("An", "Chi") for j in (0, 2)]
    for name, _, _ in rows:
        shutil.copy(places["signs"] / name, folder / name)
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("path", "label", "signer"), *rows])
    done = sign_language("evaluate", "--leave-one-signer-out", "--data", folder, "--out", out, "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out.splitlines()[-1])
    assert [(fold["signer"], fold["n"], fold["n_train"]) for fold in document["folds"]] == [
        ("An", 2, 2),
        ("Chi", 2, 2),
    ]
    assert (document["chance"], document["n"]) == (0.5, 4)
    assert (out / "runs" / "without-An" / "model").is_dir()
    stored = RESULTS.document("evaluation", out)
    assert stored is not None
    assert stored["folds"] == document["folds"]
    assert "chance: accuracy 0.5000" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--limit", "-1"), "--limit must be an integer of at least 0"),
        (("--worst", "-1"), "--worst must be an integer of at least 0"),
        (("--batch-size", "0"), "--batch-size must be an integer of at least 1"),
        (("--leave-one-signer-out",), "--model cannot be given with --leave-one-signer-out"),
    ],
)
def test_a_mistake_gets_one_line(
    places: dict[str, Path], tmp_path: Path, arguments: tuple, message: str
) -> None:
    done = evaluate(places, *arguments, "--part", "train", "--out", tmp_path / "out")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seed", "3"), "--seed goes with --leave-one-signer-out"),
        *(
            (("--leave-one-signer-out", flag, value), f"{flag} cannot be given with --leave-one-signer-out")
            for flag, value in (("--part", "test"), ("--worst", "3"), ("--split", "clip"))
        ),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    places: dict[str, Path], arguments: tuple, message: str
) -> None:
    done = sign_language("evaluate", "--data", places["signs"], *arguments)
    assert message in done.mistake


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "evaluation.json is missing"),
        ("macro-F1 0.5", "evaluation.json is damaged: it is no JSON file of this package"),
        ('{"format": 1, "labels": [], "counts": []}', "evaluation.json is damaged: it has no answers"),
        ('{"format": 1, "labels": [], "counts": [], "answers": []}', "holds no answers"),
    ],
)
def test_what_is_compared_with_is_looked_at_before_any_model(
    content: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "evaluation.json"
    if content is not None:
        path.write_text(content, "utf-8")
    # There is no such model either: whatever came after the look at the file would say so.
    done = sign_language("evaluate", "--model", tmp_path / "no model", "--against", path)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
