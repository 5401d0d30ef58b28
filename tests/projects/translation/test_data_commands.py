"""`coursepkg translation audit`: raw lines with all that is wrong with them, then the split."""

import json
import random
import string
from pathlib import Path

from coursepkg.projects.translation.handlers.data import raw_rows
from tests.projects.translation.test_corpora import write_en_vi
from tests.projects.translation.tiny import SmallBook, sentences, translation, write_lines


def spoil(path: Path, number: int, text: bytes) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[number - 1] = text
    path.write_bytes(b"\n".join(lines))


def test_duplicates_are_those_of_the_file(zh_vi: Path) -> None:
    said = translation("audit", "--data", "zh-vi", "--json")
    assert said.code == 0
    # 240 sentences, and ten of them again: the split has left them out, the file has not.
    found = said.document["duplicates"]
    assert (found["n_pairs"], found["n_exact"], said.document["raw_pairs"]) == (250, 240, 250)
    assert "duplicates: 10 exact (240 different pairs)" in said.out
    assert sum(said.document["pairs"].values()) == 240
    assert said.document["leaks"] is False
    assert "leaks: none, no sentence stands in two parts" in said.out
    assert "not looked for" not in said.out


def test_every_bad_row_is_named_before_the_first_one_stops_the_split(zh_vi: Path) -> None:
    spoil(zh_vi / "zh_vi" / "train.zh", 4, b"")
    spoil(zh_vi / "zh_vi" / "train.vi", 9, b" ")
    spoil(zh_vi / "zh_vi" / "train.vi", 12, b"caf\xe9")
    said = translation("audit", "--data", "zh-vi", "--json")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert said.err.startswith("error: ")
    assert said.document["bad_row_counts"]["empty side"] == 2
    assert said.document["bad_row_counts"]["invalid UTF-8"] == 1
    places = {(row["file"], row["line"], row["side"]) for row in said.document["bad_rows"]}
    assert places >= {("train.zh", 4, "zh"), ("train.zh", 9, "vi"), ("train.zh", 12, "vi")}
    assert "train.zh, line 4 (zh)" in said.out
    assert "train.zh, line 9 (vi)" in said.out
    assert said.document["leaks"] is None


def test_bad_rows_of_a_published_set_are_named_and_its_split_is_looked_at(
    tmp_path: Path, small_book: SmallBook, monkeypatch
) -> None:
    write_en_vi(tmp_path)
    for number in (3, 5):
        spoil(tmp_path / "en_vi" / "tst2010.en", number, b"")
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    said = translation("audit", "--from", "en", "--json")
    assert said.code == 0
    assert said.document["bad_row_counts"]["empty side"] == 2
    assert said.document["corpus"] == "en-vi"
    assert "note: 2 pairs of tst2010.en and tst2010.vi left out" in said.out


def test_own_rows_in_a_third_language_are_counted_and_shown(tmp_path: Path) -> None:
    rows = [(zh, vi, en) for zh, vi, en in sentences()[:100]]
    rows[:60] = [(zh, vi, zh) for zh, vi, _ in rows[:60]]
    rows[70] = (*rows[70][:2], "Der Lehrer hat die Bücher nicht gekauft.")
    path = write_lines(tmp_path / "mine.tsv", [f"{en}\t{vi}" for _, vi, en in rows])
    said = translation("audit", "--data", path, "--from", "en", "--to", "vi", "--json")
    assert said.code == 0
    assert said.document["bad_row_counts"] == {"language mismatch": 61}
    assert [row["line"] for row in said.document["bad_rows"]] == [*range(1, 61), 71]
    assert {row["side"] for row in said.document["bad_rows"]} == {"en"}
    assert "  language mismatch: 61\n    mine.tsv, line 1 (en): " in said.out
    assert "does not look like English: 0% of its letters are" in said.out
    assert (
        "note: 61 of 100 English sides do not look like English, the first in line 1 of mine.tsv" in said.out
    )


def test_an_empty_table_of_ones_own_is_one_mistake(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    for content in ("", "\n\n"):
        path.write_text(content, "utf-8")
        for verb in ("audit", "describe", "train"):
            out = ("--out", tmp_path / "run") if verb == "train" else ()
            said = translation(verb, "--data", path, "--from", "en", "--to", "vi", *out)
            assert said.mistake == (
                f"error: {path}: holds no sentence pair; write one a line, a tab between its two sides\n"
            )
    assert not (tmp_path / "run").exists()


def test_files_of_different_length_are_one_mistake(zh_vi: Path) -> None:
    with (zh_vi / "zh_vi" / "train.vi").open("ab") as file:
        file.write(b"more\n")
    assert (
        "line i of one must translate line i of the other" in translation("audit", "--data", "zh-vi").mistake
    )


def test_the_turned_corpus_is_read_turned_and_a_missing_one_has_no_rows(
    zh_vi: Path, small_book: SmallBook
) -> None:
    there, back = raw_rows("zh-vi", "zh", "vi"), raw_rows("zh-vi", "vi", "zh")
    assert there is not None
    assert back is not None
    assert [(row.source, row.target) for row in there] == [(row.target, row.source) for row in back]
    assert raw_rows("en-vi", "en", "vi") is None
    assert raw_rows("phrasebook", "zh", "vi") is None
    said = translation("audit", "--data", "phrasebook")
    assert said.code == 0
    assert "leaks: none" in said.out


def test_what_json_prints_goes_into_a_file_as_well(zh_vi: Path, tmp_path: Path) -> None:
    said = translation("audit", "--data", "zh-vi", "--json", "--out", tmp_path / "found" / "audit.json")
    assert json.loads((tmp_path / "found" / "audit.json").read_text("utf-8")) == said.document
    assert f"written to {tmp_path / 'found' / 'audit.json'}" in said.out


def test_what_is_found_before_a_split_fails_is_kept(zh_vi: Path, tmp_path: Path) -> None:
    spoil(zh_vi / "zh_vi" / "train.zh", 4, b"")
    assert translation("audit", "--data", "zh-vi", "--out", tmp_path / "audit.json").code == 2
    found = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert found["bad_row_counts"]["empty side"] == 1
    assert "line 4" in found["error"]


def test_a_folder_is_no_file(zh_vi: Path, tmp_path: Path) -> None:
    for verb in ("audit", "describe"):
        said = translation(verb, "--data", "zh-vi", "--out", tmp_path)
        assert said.code == 2
        assert said.err == (
            f"error: --out {tmp_path} is a folder; name a file in it, such as {tmp_path / verb}.json\n"
        )


def test_a_corpus_of_which_no_pair_fits_is_described(tmp_path: Path) -> None:
    for language in ("en", "vi"):
        draw = random.Random(language)
        words = ["".join(draw.choices(string.ascii_lowercase, k=5)) for _ in range(2000)]
        write_lines(tmp_path / f"train.{language}", [" ".join(draw.choices(words, k=120)) for _ in range(60)])
    way = ("--from", "en", "--to", "vi", "--data", tmp_path)
    document = translation("describe", *way, "--json").document
    assert document["too long"] == document["pairs"]["train"] > 0
    assert document["subwords"]["after"] == {}
