"""The leaderboard: scores of the projects' own metrics, a page without names, a line for each wrong file."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from coursepkg.grading.course import Course
from coursepkg.metrics import CER, score
from coursepkg.projects.translation import SentencePair
from coursepkg.projects.translation.evaluate import evaluate
from tests.said import said

REFERENCES = [
    "Khách sạn ở đâu?",
    "Tôi muốn hai cốc cà phê.",
    "Quyển sách này bao nhiêu tiền?",
    "Cảm ơn bạn nhiều.",
]
GOOD = ["Khách sạn ở đâu?", "Tôi muốn hai cốc cà phê.", "Quyển sách này giá bao nhiêu tiền?", "Cảm ơn bạn."]
POOR = ["Ở đâu?", "Tôi muốn hai cốc trà.", "Quyển sách bao nhiêu?", "Cảm ơn bạn."]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A class with a roster and the references of a contest; nothing was released."""
    root = tmp_path / "class"
    root.mkdir()
    roster = "student,name\nan,Lê An\nbinh,Trần Bình\nchi,Đỗ Chi\ndung,Hồ Dũng\n"
    (root / "roster.csv").write_text(roster, "utf-8")
    write(tmp_path / "test.vi", REFERENCES)
    return Course(root)


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def board(
    course: Course,
    *options: object,
    project: str = "translation",
    references: str = "test.vi",
    out: str = "board.html",
):
    folder = course.root.parent
    return said(
        *("class", "leaderboard", folder / "in", *options, "--project", project),
        *("--references", folder / references, "--course", course.root),
        *("--out", folder / out, "--json"),
    )


def test_the_best_of_each_student_by_the_project_s_own_metric(course: Course, tmp_path: Path) -> None:
    write(tmp_path / "in" / "an" / "first.vi", POOR)
    write(tmp_path / "in" / "an" / "second.vi", GOOD)
    write(tmp_path / "in" / "chi.vi", POOR)
    rows = ["tieng_trung,tieng_viet", *(f"x,{line}" for line in GOOD)]
    write(tmp_path / "in" / "Trần Bình_31_assignsubmission_file_" / "submission.csv", rows)
    done = board(course)
    assert done.code == 0, done.err
    ranks = done.document["ranks"]
    assert [(one["rank"], one["student"]) for one in ranks] == [(1, "an"), (1, "binh"), (3, "chi")]
    assert ranks[0]["path"] == "an/second.vi"
    pairs = [SentencePair("", line) for line in REFERENCES]
    wanted = evaluate(GOOD, pairs, "zh", "vi", protocol="class leaderboard").scores["BLEU"]
    assert ranks[0]["value"] == wanted.value
    assert ranks[0]["signature"] == f"BLEU|{wanted.signature}"
    assert ranks[0]["interval"] == [wanted.interval.lower, wanted.interval.upper]
    page = (tmp_path / "board.html").read_text("utf-8")
    assert page.count("<tr><td>") == 3
    assert f"<td>{wanted.value:.2f}</td>" in page
    assert wanted.signature in page
    assert [one["pseudonym"] for one in ranks] == re.findall(r"<td>([0-9A-F]{8})</td>", page)


def test_the_page_tells_no_name_and_asks_no_network(course: Course, tmp_path: Path) -> None:
    for student in ("an", "binh", "chi", "dung"):
        write(tmp_path / "in" / f"{student}.vi", [f"{student} {line}" for line in GOOD])
    first = {one["student"]: one["pseudonym"] for one in board(course).document["ranks"]}
    page = (tmp_path / "board.html").read_text("utf-8")
    for secret in ("an", "binh", "chi", "dung", "Lê", "Trần", "Khách", "second", str(tmp_path)):
        assert not re.search(rf"\b{re.escape(secret)}\b", page.replace("than", "")), secret
    assert not re.search(r"https?:|<script|<img|<link|<a |url\(|@import", page)
    assert "default-src 'none'" in page
    again = {one["student"]: one["pseudonym"] for one in board(course).document["ranks"]}
    assert again == first
    assert len(set(first.values())) == 4
    (course.root / "seed.key").write_text("another secret")
    assert {one["pseudonym"] for one in board(course).document["ranks"]}.isdisjoint(first.values())


def test_a_class_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    place = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError, match="nowhere: there is no such folder; name that of a class"):
        Course(place).seed("leaderboard", "an")
    assert not place.exists()


def test_a_wrong_file_has_a_line_and_no_score(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder / "an" / "good.vi", GOOD)
    write(folder / "an" / "long.vi", [*GOOD, "more"])
    write(folder / "binh" / "short.vi", GOOD[:1])
    write(folder / "stranger.vi", GOOD)
    (folder / "chi.vi").write_bytes("Cà phê\n".encode("cp1258", "replace") * 4)
    (folder / "dung.vi").write_bytes(b"")
    (folder / "link.vi").symlink_to("/etc/passwd")
    with zipfile.ZipFile(tmp_path / "more.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../an.vi", "x")
        archive.writestr("binh/huge.vi", b"0" * (51 * 2**20))
        archive.writestr("binh/rows.csv", "tieng_trung,tieng_viet\na,b,c\n")
        archive.writestr("binh/open.csv", 'tieng_trung,tieng_viet\na,"' + "b" * 200_000)
    done = board(course, tmp_path / "more.zip")
    assert done.code == 1
    assert [one["student"] for one in done.document["ranks"]] == ["an"]
    assert done.err.splitlines() == [
        "not scored: an/long.vi: it has what the references lack: 1 answer (line 5); the references have 4",
        "not scored: binh/short.vi: it lacks 3 answers (line 2, line 3, line 4); the references have 4",
        "not scored: chi.vi: line 1 is not UTF-8; save it as UTF-8",
        "not scored: dung.vi: it lacks 4 answers (line 1, line 2, line 3, ...); the references have 4",
        "not scored: link.vi: it is a link or no plain file",
        "not scored: stranger.vi: it belongs to no student, or to several",
        "not scored: ../an.vi: its path climbs out of the zip file",
        "not scored: binh/huge.vi: it has 51 MB, more than 50; clear its outputs and hand it in again",
        "not scored: binh/rows.csv: a row of the contest's CSV has not two columns",
        "not scored: binh/open.csv: the contest's CSV cannot be read: field larger than field limit (131072)",
    ]


def test_the_folder_of_the_page_is_made(course: Course, tmp_path: Path) -> None:
    write(tmp_path / "in" / "an.vi", GOOD)
    assert board(course, out="new/board.html").code == 0
    assert (tmp_path / "new" / "board.html").is_file()


def test_what_a_person_should_look_at(course: Course, tmp_path: Path) -> None:
    write(tmp_path / "in" / "an.vi", REFERENCES)
    write(tmp_path / "in" / "binh.vi", GOOD)
    write(tmp_path / "in" / "chi.vi", GOOD)
    done = board(course)
    assert done.err.splitlines() == [
        "note: an.vi is the references word for word",
        "note: binh and chi gave the same file",
    ]


def test_lines_of_pictures_by_character_error_rate(course: Course, tmp_path: Path) -> None:
    right = {"1.png": "phở bò tái", "2.png": "45.000"}
    write(tmp_path / "right.csv", ["file,text", *(f"{name},{text}" for name, text in right.items())])
    rows = [{"file": f"lines/{name}", "text": text.replace("tái", "tai")} for name, text in right.items()]
    write(tmp_path / "in" / "an.json", [json.dumps(row) for row in reversed(rows)])
    write(tmp_path / "in" / "binh.csv", ["file,text", "2.png,", "1.png,pho bo tai"])
    write(tmp_path / "in" / "chi.csv", ["file,text", "2.png,45.000", "1.png,x", "a/1.png,y"])
    write(tmp_path / "in" / "dung.csv", ["name,text", "2.png,45.000"])
    done = board(course, project="ocr", references="right.csv")
    ranks = done.document["ranks"]
    assert [(one["rank"], one["student"]) for one in ranks] == [(1, "an"), (2, "binh")]
    assert ranks[0]["value"] == score(CER(), ["phở bò tai", "45.000"], [*right.values()]).value == 1 / 16
    assert "lower is better" in (tmp_path / "board.html").read_text("utf-8")
    assert dict(done.document["problems"]) == {
        "chi.csv": "1.png is answered twice",
        "dung.csv": "it is no CSV with the columns file,text and no file of predict --out",
    }


def test_signs_by_macro_f1(course: Course, tmp_path: Path) -> None:
    right = ["1.mp4,ăn", "2.mp4,ăn", "3.mp4,uống"]
    write(tmp_path / "right.csv", ["video_name,label", *right])
    write(tmp_path / "in" / "an.csv", ["video_name,label", *right[:2], "3.mp4,ăn"])
    said = [("test/1.mp4", "ăn"), ("test/2.mp4", "ăn"), ("test/3.mp4", "ngủ")]
    lines = [json.dumps({"clip": clip, "label": word, "error": ""}) for clip, word in said]
    write(tmp_path / "in" / "binh.jsonl", lines)
    ranks = board(course, project="sign-language", references="right.csv").document["ranks"]
    # F1 of the first word is 4/5 where the third clip was taken for it, and 1 where it was taken for another.
    assert [(one["student"], round(one["value"], 4)) for one in ranks] == [("binh", 0.5), ("an", 0.4)]
    assert ranks[0]["signature"].startswith("macro-F1|")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "name a folder or zip file with predictions"),
        (("in",), "--references: name the file with the right answers"),
        (("in", "--references", "nowhere.vi"), "nowhere.vi does not exist"),
        (("nowhere", "--references", "test.vi"), "nowhere does not exist"),
        (("in", "--references", "empty.vi"), "empty.vi holds no answer"),
        (("in", "--references", "empty.txt"), "name the file by its language, such as test.vi (known: zh, "),
    ],
)
def test_a_mistake_is_one_line(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("empty.vi", "empty.txt"):
        (tmp_path / name).write_bytes(b"")
    assert reason in said("class", "leaderboard", *arguments, "--course", course.root).mistake
    assert not (tmp_path / "leaderboard.html").exists()
