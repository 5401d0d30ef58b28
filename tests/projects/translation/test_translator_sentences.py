"""The sentences that a machine made for the translator's last stages: their form, and that none of them is scored."""

import re
import shutil
from pathlib import Path

import measure_translator
import pytest
import torch
import train_translator as script

from coursepkg.projects.translation.confidence import FEATURES, Calibration
from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.readers import open_corpus
from coursepkg.projects.translation.readers.open_corpus import EMBEDDED, read_embedded
from coursepkg.text.vietnamese import unicode_form
from coursepkg.training.saved_model import save_model
from tests.projects.translation.memorised import memorised

FOLDER = Path(__file__).parents[3] / "scripts" / "translator_sentences"
HAN = re.compile(r"[\u4e00-\u9fff]")


def rows(name: str, columns: int) -> list[list[str]]:
    found = [line.split("\t") for line in (FOLDER / name).read_text("utf-8").splitlines()]
    assert {len(row) for row in found} == {columns}
    assert all(cell == cell.strip() != "" for row in found for cell in row)
    return found


def test_chinese_stands_beside_training_sentences_alone() -> None:
    chinese = rows("tatoeba_chinese.tsv", 3)
    lines = [int(line) for line, _, _ in chinese]
    assert lines == sorted(set(lines))
    tatoeba = (Path(open_corpus.__file__).with_name(EMBEDDED)).read_text("utf-8").splitlines()
    for line, number, text in chinese:
        *_, part, attribution = tatoeba[int(line) - 1].split("\t")
        assert part == "train"
        assert f"& #{number} (" in attribution
        assert HAN.search(text), line


def figures(text: str) -> list[str]:
    """Numbers above 12: smaller ones may be words, and months have numbers in two of the languages."""
    numbers = re.findall(r"\d+", re.sub(r"(?<=\d)[.,](?=\d{3})", "", text))
    return sorted(one for one in numbers if int(one) > 12)


def test_general_sentences_have_three_languages_and_the_same_numbers() -> None:
    names = {name for stage in script.STAGES.values() for name in stage.copies} - {script.CHINESE}
    assert names == {path.name for path in FOLDER.glob("*.tsv")} - {script.CHINESE, "general_dev.tsv"}
    names.add("general_dev.tsv")
    general = [row for name in sorted(names - {"short.tsv"}) for row in rows(name, 3)]
    short = rows("short.tsv", 3)
    assert len({tuple(row) for row in short}) == len(short)
    for en, vi, zh in general + short:
        assert HAN.search(zh), en
        assert not HAN.search(en + vi), en
        assert unicode_form(vi) in ("NFC", "either"), vi
    # The later files write numbers as each language does.
    natural = [
        tuple(row) for name in ("general_3.tsv", "general_4.tsv", "general_dev.tsv") for row in rows(name, 3)
    ]
    for en, vi, zh in natural:
        # A trillion is 1.000 tỷ, 2万 is 20,000, and 20世纪80年代 are the 1980s.
        assert figures(en) == figures(vi) or "trillion" in en, en
        assert figures(en) == figures(zh) or re.search(r"\d[多余]?[百千万]|亿|一万|世纪", zh), en
    for row in {*map(tuple, general + short)} - {*natural}:
        digits = [sorted(re.findall(r"\d+", text)) for text in row]
        assert digits[0] == digits[1] == digits[2], row
    for column, language in enumerate(("en", "vi", "zh")):
        keys = [sentence_key(row[column], language) for row in general]
        assert len(set(keys)) == len(keys), language


def test_the_average_lies_halfway(tmp_path: Path) -> None:
    whole, nothing, mean = memorised()[0], tmp_path / "nothing", tmp_path / "mean"
    shutil.copytree(whole, nothing, ignore=shutil.ignore_patterns("model", "run"))
    zero, weights = Translator.load(whole), Translator.load(whole).model.state_dict()
    for parameter in zero.model.parameters():
        parameter.data.zero_()
    save_model(nothing / "model", zero.model, **zero.card)
    script.average([nothing, whole], mean)
    found = Translator.load(mean)
    assert found.card["averaged"] == 2
    assert all(torch.equal(one, weights[name] / 2) for name, one in found.model.state_dict().items())


def test_the_older_model_stays_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "checkpoint"
    shipped.mkdir()
    (shipped / "older").touch()
    monkeypatch.setattr(script, "DEFAULT", shipped)
    calibration = Calibration({"zh-vi": [0.0] * len(FEATURES)}, "toy dev")
    calibration.save(memorised()[0])
    with monkeypatch.context() as patch:
        patch.setattr(script, "save_model", _no_space)
        with pytest.raises(OSError, match="no space"):
            script.ship(memorised()[0])
    assert sorted(path.name for path in tmp_path.glob("**/*")) == ["checkpoint", "older"]
    script.ship(memorised()[0])
    assert not (shipped / "older").exists()
    assert "large language model" in (shipped / "ATTRIBUTION.txt").read_text("utf-8")
    assert Translator.load(shipped).calibration == calibration
    (memorised()[0] / "confidence.json").unlink()


def test_measuring_wants_a_place_for_its_result_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["measure", "--model", "m", "--out", str(tmp_path / "no" / "x.json")])
    with pytest.raises(SystemExit):
        measure_translator.main()
    assert "the folder does not exist; make it first" in capsys.readouterr().err


def _no_space(*arguments: object, **options: object) -> None:
    raise OSError("no space")


def test_a_scored_sentence_is_left_out_of_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "no-data"))
    monkeypatch.setattr(script, "SENTENCES", tmp_path)
    parts = read_embedded()
    scored, known = parts["dev"][0], parts["train"][0]
    general = [(scored.source, "Một câu mới.", "新句子。"), ("A new sentence.", scored.target, "另一个。")]
    kept = ("Another new sentence.", "Một câu khác hẳn.", "完全不同的句子。")
    lines = ["\t".join(row) for row in (*general, kept)]
    (tmp_path / "general.tsv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (tmp_path / "tatoeba_chinese.tsv").write_text(f"{known.line}\t1\t译文。\n", "utf-8")
    found = script.read_written({"general.tsv": 1, script.CHINESE: 2})
    assert [(p.source, p.target) for p in found["en"]] == [kept[:2]]
    assert [p.target for p in found["zh"] if p.source == "译文。"] == [known.target] * 2
    assert scored.target not in [p.target for own in found.values() for p in own]
