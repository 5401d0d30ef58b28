"""`coursepkg translation evaluate`: what was seen, repairs, comparisons, hard examples, and that nothing is lost."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.translation.corpora import load_parts, random_split
from coursepkg.projects.translation.corpus import SentencePair, sentence_key
from coursepkg.projects.translation.evaluate import seen_by
from coursepkg.projects.translation.predict import Translator
from tests.projects.translation.test_train import PARTS
from tests.projects.translation.tiny import SmallBook, fast, pairs, quietly, translation, write_lines

UNCLEAR = "seen and unseen sources are not told apart: "


def card(run: Path) -> dict:
    return json.loads((run / "model" / "model.json").read_text("utf-8"))["meta"]


def sources(part: tuple[SentencePair, ...], language: str) -> set[str]:
    return {sentence_key(pair.source, language) for pair in part}


@pytest.fixture
def own_run(zh_vi: Path, tmp_path: Path) -> Path:
    """A run on the `zh-vi` of the tests."""
    quietly(fast(max_epochs=1), tmp_path / "run", load_parts("zh-vi", "zh", "vi"))
    return tmp_path / "run"


def test_seen_is_what_the_model_learnt_and_not_the_corpus_at_hand(
    small_book: SmallBook, tmp_path: Path
) -> None:
    learnt, test = (load_parts(name, "zh", "vi") for name in ("phrasebook", "phrasebook-compositional"))
    quietly(fast(max_epochs=1), tmp_path / "run", learnt)
    wanted = len([p for p in test.dev if sources((p,), "zh") & sources(learnt.train, "zh")])
    evaluate = ["evaluate", "--model", tmp_path / "run", "--data", "phrasebook-compositional", "--json"]
    said = translation(*evaluate)
    assert said.document["n_seen"] == wanted
    assert 0 < wanted < len(test.dev)
    assert translation(*evaluate, "--data", "phrasebook").document["n_seen"] == 0


def test_a_random_split_is_rebuilt_as_it_was(zh_vi: Path) -> None:
    parts = random_split(load_parts("zh-vi", "zh", "vi"))
    told = {"corpora": ["zh-vi-random"], "directions": [["zh", "vi"]], "n_train": len(parts.train)}
    seen, notes = seen_by([told], "zh")
    assert seen is not None
    assert notes == []
    assert sources(tuple(seen), "zh") == sources(parts.train, "zh")
    turned, _ = seen_by([told], "vi")
    assert turned == [pair.swapped() for pair in parts.train]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"corpora": None}, "the model's card names no training data"),
        ({"start": "before"}, r"the model began with another one \(before\)"),
        ({"n_extra": 7}, "the model learnt 7 further pairs"),
        ({"corpora": ["toy"]}, "the model learnt from toy, which is none of the corpora"),
        (
            {"corpora": ["en-vi"], "directions": [["en", "vi"]]},
            "the model learnt from en-vi, which is not here",
        ),
        ({"neighbours_of": "en-vi"}, "its neighbours come from en-vi, which the model did not learn from"),
        ({"n_train": 9}, r"the training parts of zh-vi have \d+ pairs here and had 9"),
    ],
)
def test_what_cannot_be_rebuilt_is_unknown_and_said(
    zh_vi: Path, small_book: SmallBook, changes: dict[str, object], reason: str
) -> None:
    n_train = len(load_parts("zh-vi", "zh", "vi").train)
    told = {"corpora": ["zh-vi"], "directions": [["zh", "vi"]], "n_train": n_train}
    assert seen_by([told], "zh")[0] is not None
    seen, notes = seen_by([told, told | changes], "zh")
    assert seen is None
    with pytest.raises(AssertionError, match=f"^{UNCLEAR}{reason}"):
        raise AssertionError(*notes)


def test_of_a_file_nothing_is_known_to_be_seen(own_run: Path, tmp_path: Path) -> None:
    evaluate = ["evaluate", "--model", own_run, "--data", "zh-vi", "--json"]
    assert translation(*evaluate).document["n_seen"] == 0
    dev = load_parts("zh-vi", "zh", "vi").dev
    file = write_lines(tmp_path / "lines", [pair.target for pair in dev])
    document = translation(*evaluate, "--hypotheses", file).document
    assert document["n_seen"] is None
    assert any(note.startswith(UNCLEAR) for note in document["notes"])


def test_a_limit_beyond_the_part_is_none_in_the_signature(own_run: Path, tmp_path: Path) -> None:
    dev = load_parts("zh-vi", "zh", "vi").dev
    file = write_lines(tmp_path / "lines", [pair.target for pair in dev])
    evaluate = ["evaluate", "--data", "zh-vi", "--hypotheses", file, "--json"]
    whole, limited = (translation(*evaluate, "--limit", n).document["scores"] for n in (0, len(dev)))
    assert whole["chrF"]["signature"] == limited["chrF"]["signature"]


def test_every_note_is_stored(own_run: Path, zh_vi: Path, tmp_path: Path) -> None:
    for column, language in (("三 五 " * 40, "zh"), ("ba năm", "vi")):
        path = zh_vi / "zh_vi" / f"train.{language}"
        write_lines(path, [column, *path.read_text("utf-8").splitlines()])
    part = next(
        name
        for name in ("train", "dev", "test")
        if any(p.line == 1 for p in getattr(load_parts("zh-vi", "zh", "vi"), name))
    )
    said = translation(
        *("evaluate", "--model", own_run, "--data", "zh-vi", "--part", part, "--limit", "4"),
        *("--repair", "--beam-size", "1", "--out", tmp_path / "eval", "--json"),
    )
    stored = json.loads((tmp_path / "eval" / "evaluation.json").read_text("utf-8"))["notes"]
    page = (tmp_path / "eval" / "report.html").read_text("utf-8")
    wanted = ("10 of 251 pairs left out as duplicates", "tokens and were cut: train.zh:1", " repairs in ")
    for text in (*wanted, UNCLEAR):  # the corpus is not the one that was trained on any more
        assert len([note for note in stored if text in note]) == 1
        assert text in page
        assert said.out.count(text) == 2  # once as a note, once in the JSON


def test_a_comparison_is_stored_in_numbers_and_in_the_report(own_run: Path, tmp_path: Path) -> None:
    dev = load_parts("zh-vi", "zh", "vi").dev
    right = write_lines(tmp_path / "right", [pair.target for pair in dev])
    said = translation(
        *("evaluate", "--model", own_run, "--data", "zh-vi", "--against", right),
        *("--out", tmp_path / "eval", "--json"),
    )
    found = said.document["against"]
    assert found["other"] == str(right)
    assert found["baseline"] == pytest.approx(100)
    assert found["system"] == said.document["scores"]["BLEU"]["value"]
    assert found["difference"] == pytest.approx(found["system"] - 100)
    low, high = found["interval"]
    assert low <= high < 0
    assert found["p_value"] < 0.05
    assert "data:" in found["signature"]
    assert found["comparison"].split("|")[0] == "BLEU"
    stored = json.loads((tmp_path / "eval" / "evaluation.json").read_text("utf-8"))
    assert stored["against"] == found
    assert f"against {right}: BLEU" in (tmp_path / "eval" / "report.html").read_text("utf-8")


def test_what_cannot_be_compared_or_written_is_told_before_anything_is_translated(
    own_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def translate(*arguments: object, **options: object) -> None:
        raise AssertionError("translated")

    monkeypatch.setattr(Translator, "translate", translate)
    file = write_lines(tmp_path / "lines", ["một dòng"])
    for options, told in (
        (("--against", tmp_path / "none"), "none: no such file"),
        (("--against", file), "lines: 1 lines, but the part has"),
        (("--out", file), f"--out {file} is a file; name a folder"),
    ):
        said = translation("evaluate", "--model", own_run, "--data", "zh-vi", *options)
        assert told in said.mistake
    assert f"--out {file} is a file; name a folder" in translation("train", "--out", file).mistake


def test_lines_of_files_are_repaired_too(own_run: Path, zh_vi: Path, tmp_path: Path) -> None:
    dev = load_parts("zh-vi", "zh", "vi").dev
    wrong = [p.target + " " + " ".join(["xin chào"] * 3) for p in dev]
    file, right = (
        write_lines(tmp_path / name, lines)
        for name, lines in (("wrong", wrong), ("right", [p.target for p in dev]))
    )
    evaluate = ["evaluate", "--model", own_run, "--data", "zh-vi", "--json", "--hypotheses", file]
    plain, repaired = translation(*evaluate), translation(*evaluate, "--repair")
    assert repaired.document["scores"]["BLEU"]["value"] > plain.document["scores"]["BLEU"]["value"]
    assert "repaired" in repaired.document["scores"]["BLEU"]["signature"]
    assert f"{len(dev)} repairs in {len(dev)} sentences" in repaired.document["notes"]
    # Both systems of a comparison are repaired, or none.
    same = translation(*evaluate, "--repair", "--against", file).document["against"]
    assert (same["difference"], same["p_value"]) == (0.0, 1.0)
    assert translation(*evaluate, "--against", right).document["against"]["difference"] < 0


def test_a_dictionary_names_wrong_terms_and_repairs_them(own_run: Path, zh_vi: Path, tmp_path: Path) -> None:
    terms = write_lines(tmp_path / "terms.tsv", ["书\tsách\t0.9", "自行车\txe_đạp\t0.9"])
    dev = load_parts("zh-vi", "zh", "vi").dev
    lines = [p.target.replace("sách", "xe_đạp") for p in dev]
    n_wrong = sum(line != p.target for line, p in zip(lines, dev, strict=True))
    assert n_wrong
    file = write_lines(tmp_path / "lines", lines)
    evaluate = ["evaluate", "--model", own_run, "--data", "zh-vi", "--json", "--hypotheses", file]
    plain, known = (translation(*evaluate, *more).document for more in ([], ["--dictionary", terms]))
    assert plain["errors"]["groups"]["terms"]["count"] == 0
    assert known["errors"]["groups"]["terms"]["count"] == n_wrong
    repaired = translation(*evaluate, "--dictionary", terms, "--repair").document
    assert repaired["errors"]["groups"]["terms"]["count"] < n_wrong
    assert repaired["scores"]["BLEU"]["value"] > known["scores"]["BLEU"]["value"]


def test_hard_examples_come_from_the_training_part_alone(own_run: Path, tmp_path: Path) -> None:
    evaluate = ["evaluate", "--model", own_run, "--data", "zh-vi", "--out", tmp_path / "eval", "--hard", "3"]
    for part in ([], ["--part", "dev"], ["--part", "test"]):
        assert "must never be trained on; add --part train" in translation(*evaluate, *part).mistake
    assert not (tmp_path / "eval").exists()
    assert translation(*evaluate, "--part", "train", "--limit", "8", "--beam-size", "1").code == 0
    train = load_parts("zh-vi", "zh", "vi").train[:8]
    lines = (tmp_path / "eval" / "hard.zh").read_text("utf-8").splitlines()
    assert len(lines) == 3
    assert set(lines) <= {p.source for p in train}
    told = json.loads((tmp_path / "eval" / "hard.json").read_text("utf-8"))
    assert told == {"from": "zh", "to": "vi", "corpora": ["zh-vi"], "part": "train", "n": 3}


def test_further_pairs_of_dev_and_test_are_left_out_of_training(tmp_path: Path) -> None:
    said: list[str] = []
    parts = replace(PARTS, test=pairs("zh", "vi", 70, 74))
    # One side is enough, however it is spelt; the pair of other sentences stays.
    half = SentencePair("别 的", parts.test[0].target.replace("_", " ") + " !")
    extra = [*parts.dev, half, *pairs("zh", "vi", 80, 83)]
    trained = quietly(fast(max_epochs=1), tmp_path / "run", parts, extra=extra, log=said.append)
    assert f"note: {len(parts.dev) + 1} further pairs left out, whose sentences are in dev or test" in said
    assert trained.card["n_extra"] == 3
    assert card(tmp_path / "run")["n_extra"] == 3
