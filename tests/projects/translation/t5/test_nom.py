"""Nom and quoc ngu: bad lines, the split, characters and syllables, looking up, and the generated lesson."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.t5.nom import (
    COLUMNS,
    DOES,
    FILES,
    HOW_MANY,
    WHAT,
    WHEN,
    WHO,
    NomLine,
    ReadingTable,
    characters,
    load_nom,
    nom_sample,
    plain,
    read_nom,
    syllables,
    table_pairs,
    uneven_lines,
)

HEADER = "\t".join(COLUMNS)
GOOD = "1\t碎讀冊\tTôi đọc sách.\tTôi, đọc, sách."


def write(path: Path, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_file_is_read_with_its_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", GOOD, "9\t𠊛𫾚\tNgười mua.\t")
    assert read_nom(path) == [
        NomLine("碎讀冊", "Tôi đọc sách.", "Tôi, đọc, sách.", "a.tsv", 2),
        NomLine("𠊛𫾚", "Người mua.", "", "a.tsv", 3),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1\t碎讀冊\tTôi đọc sách.", "3 columns instead of 4"),
        (f"{GOOD}\tmore", "5 columns instead of 4"),
        ("", "1 columns instead of 4"),
        ("1\t \tTôi đọc sách.\t", "nom is empty"),
        ("1\t碎讀冊\t\t", "quoc_ngu is empty"),
        ("1\t碎讀冊\tTo\u0302i đọc sách.\t", "not in Unicode form NFC"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: str, said: str) -> None:
    path = write(tmp_path / "a.tsv", GOOD, row, GOOD)
    with pytest.raises(ValueError, match=rf"a\.tsv, line 3: .*{said}") as error:
        read_nom(path)
    assert "\n" not in str(error.value)


def test_broken_utf8_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", GOOD)
    path.write_bytes(path.read_bytes() + b"2\t\xff\xfe\tx\t\n")
    with pytest.raises(ValueError, match=r"a\.tsv, line 3: not UTF-8"):
        read_nom(path)


@pytest.mark.parametrize("content", ["", "nom\tquoc_ngu\n", HEADER.replace("\t", ",") + "\n"])
def test_another_header_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: the header must be line, nom, quoc_ngu"):
        read_nom(tmp_path / "a.tsv")
    with pytest.raises(ValueError, match="no line behind the header"):
        read_nom(write(tmp_path / "b.tsv"))


def test_nom_characters_outside_the_first_plane_count_as_one() -> None:
    assert characters("𠊛 碎，\U000f0339。") == ["𠊛", "碎", "\U000f0339"]
    assert characters("葛\U000e0100城") == ["葛", "城"]
    assert syllables("Năm 1945, anh-em về (chợ).") == ["năm", "1945", "anh", "em", "về", "chợ"]


def test_lines_that_are_not_one_to_one_are_reported(tmp_path: Path) -> None:
    even = NomLine("碎讀冊", "Tôi đọc sách.", "", "a.tsv", 2)
    odd = NomLine("次𠄩", "thứ hai này", "", "a.tsv", 3)
    (found,) = uneven_lines([even, odd])
    assert str(found) == "a.tsv, line 3: 2 characters, 3 syllables"
    write(tmp_path / "nom_vi" / FILES[0], GOOD, "2\t次𠄩\tThứ hai này.\t")
    write(tmp_path / "nom_vi" / FILES[1], "3\t昆𤙭\tCon bò.\t")
    notes = load_nom("nom", "vi", folder=tmp_path).notes
    assert notes == (
        "2 of 3 lines have one character a syllable",
        f"not so: {FILES[0]}, line 3: 2 characters, 3 syllables",
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    lesson = nom_sample(200)
    rows = [f"{i}\t{nom}\t{vi}\t" for i, (nom, vi) in enumerate(lesson)]
    # One sentence twice, and its reading once more with other capitals and another character.
    again = [f"900\t{lesson[0][0]}\t{lesson[0][1]}\t", f"901\t碎\t{lesson[0][1].upper()}\t"]
    write(tmp_path / "nom_vi" / FILES[0], *rows)
    write(tmp_path / "nom_vi" / FILES[1], *again)
    return tmp_path


def test_no_sentence_is_on_two_sides_of_the_split(corpus: Path) -> None:
    parts = load_nom("nom", "vi", folder=corpus)
    sides = [parts.train, parts.dev, parts.test]
    assert parts.corpus == "nom-vi"
    assert sum(map(len, sides)) == 202
    assert all(sides)
    for key in (lambda p: p.source, lambda p: plain(p.target)):
        seen = [{key(p) for p in side} for side in sides]
        assert sum(map(len, seen)) == len(set.union(*seen))
    (home,) = [side for side in sides if any(p.file == FILES[1] for p in side)]
    assert len([p for p in home if plain(p.target) == plain(nom_sample(1)[0][1])]) == 3


def test_both_directions_share_one_split(corpus: Path) -> None:
    there, back = load_nom("nom", "vi", folder=corpus), load_nom("vi", "nom", folder=corpus)
    assert (back.source, back.target) == ("vi", "nom")
    assert [p.swapped() for p in back.test] == list(there.test)


def test_missing_data_are_stood_in_for_and_said_to_be_generated(tmp_path: Path) -> None:
    parts = load_nom("nom", "vi", folder=tmp_path)
    assert parts.corpus == "nom-lesson"
    assert "generated lesson stands in" in parts.notes[0]
    assert parts.notes[1] == "600 of 600 lines have one character a syllable"


def test_the_lesson_can_be_asked_for_where_the_data_are(corpus: Path, tmp_path: Path) -> None:
    asked = load_nom("nom", "vi", folder=corpus, generated=True)
    assert asked.train == load_nom("nom", "vi", folder=tmp_path / "none").train
    assert "missing" not in asked.notes[0]


@pytest.mark.parametrize(("source", "target"), [("nom", "zh"), ("zh", "vi"), ("vi", "vi")])
def test_other_directions_are_refused(source: str, target: str) -> None:
    with pytest.raises(ValueError, match="--from and --to must be nom and vi"):
        load_nom(source, target)


def test_looking_up_takes_the_most_frequent_reading() -> None:
    trees = [("行𣘃", "hàng cây"), ("行𣘃", "Hàng cây.")]
    table = ReadingTable([*trees, ("步行", "bộ hành"), ("碎碎", "một chữ lẻ")])
    assert table.read("步行，𣘃龍") == "bộ hàng cây 龍"
    assert table.write("Hàng cây, rồng") == "行𣘃rồng"
    assert table.ambiguous() == [("行", ["hàng", "hành"])]
    with pytest.raises(ValueError, match="at least one with as many"):
        ReadingTable([("碎", "hai chữ")])


def test_a_tie_is_broken_by_the_alphabet() -> None:
    pairs = [("行", "hành"), ("行", "hàng")]
    assert ReadingTable(pairs).read("行") == ReadingTable(pairs[::-1]).read("行") == "hàng"


def test_pairs_of_either_direction_feed_the_same_table(corpus: Path) -> None:
    there, back = load_nom("nom", "vi", folder=corpus), load_nom("vi", "nom", folder=corpus)
    assert table_pairs(there.train, "nom") == table_pairs(back.train, "vi")


def test_words_of_the_lesson_have_one_character_a_syllable() -> None:
    for words in (WHO, DOES, HOW_MANY, WHAT, WHEN):
        for quoc_ngu, nom in words.items():
            assert len(characters(nom)) == len(nom) == len(quoc_ngu.split()), quoc_ngu


@given(st.integers(1, 600), st.integers(0, 3))
def test_the_lesson_is_distinct_and_the_same_for_the_same_seed(n: int, seed: int) -> None:
    lesson = nom_sample(n, seed=seed)
    assert len(set(lesson)) == len({vi for _, vi in lesson}) == n
    assert lesson == nom_sample(n, seed=seed)


def test_reading_the_lesson_takes_more_than_looking_up() -> None:
    lesson = nom_sample()
    table = ReadingTable(lesson)
    ((sign, readings),) = table.ambiguous()
    assert (sign, sorted(readings)) == ("行", ["hàng", "hành"])
    assert set(table.writings["năm"]) == {"𢆥", "𠄼"}
    wrong = [vi for nom, vi in lesson if table.read(nom) != plain(vi)]
    assert 0 < len(wrong) < len(lesson) / 4


@pytest.mark.parametrize("n", [0, 10**9])
def test_a_lesson_of_another_size_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match=r"n must be an integer in 1\.\."):
        nom_sample(n)
