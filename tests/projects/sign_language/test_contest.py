"""The contest's file: one row a clip, in the form that spreadsheets open, whole or not at all."""

import csv
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.predict import ContestForm, contest_clips, write_answers

WORDS = ("ăn", "cảm ơn, bạn", "xin lỗi")
ANSWERS = [("1.mp4", "xin lỗi"), ("2.mp4", "cảm ơn, bạn"), ("phần 2/3.mp4", ""), ("10.mp4", "ăn")]


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_the_usual_form(tmp_path: Path) -> None:
    out = tmp_path / "public_test.csv"
    assert write_answers(out, iter(ANSWERS), WORDS) == 4
    assert out.read_bytes().startswith(b"\xef\xbb\xbfvideo_name,label\n1.mp4,")
    assert rows(out)[1:] == [list(one) for one in ANSWERS]
    assert [path.name for path in tmp_path.iterdir()] == ["public_test.csv"]


def test_other_columns_numbers_and_names_without_endings(tmp_path: Path) -> None:
    form = ContestForm(("id", "class"), answer="number", endings=False)
    write_answers(tmp_path / "out.csv", ANSWERS, WORDS, form)
    assert rows(tmp_path / "out.csv") == [
        ["id", "class"],
        ["1", "2"],
        ["2", "1"],
        ["phần 2/3", ""],
        ["10", "0"],
    ]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([("1.mp4", "ăn"), ("1.mp4", "ăn")], r"1\.mp4 stands twice among the clips"),
        ([("1.mp4", "ngủ")], "'ngủ' is none of the 3 words"),
    ],
)
def test_wrong_answers_leave_no_file(tmp_path: Path, answers: list, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write_answers(tmp_path / "out.csv", answers, WORDS)
    assert not list(tmp_path.iterdir())


def test_a_form_without_names_is_refused() -> None:
    with pytest.raises(ValueError, match="columns must be two names"):
        ContestForm(("", "label"))


def test_a_part_is_every_video_of_its_folder_even_an_empty_one(tmp_path: Path) -> None:
    part = tmp_path / "public_test"
    part.mkdir()
    for name in ("2.mp4", "10.mp4"):
        (part / name).write_bytes(b"")
    assert [one.name for one in contest_clips([part]).files] == ["2.mp4", "10.mp4"]
    for inputs in ([part / "2.mp4"], [part, part], []):
        with pytest.raises(ValueError, match="answers one folder of clips, public_test or private_test"):
            contest_clips(inputs)
    with pytest.raises(ValueError, match=r"holds several parts; name one of them, such as .*public_test"):
        contest_clips([tmp_path])
