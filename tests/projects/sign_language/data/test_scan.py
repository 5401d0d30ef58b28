"""Folders and tables of clips: every clip is found, every oddity named, nothing left out silently."""

import pickle
import unicodedata
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.data.scan import KINDS, Scan, report_problems, scan_clips, unreadable
from tests.projects.sign_language.data.films import cut, write_film

NFD = unicodedata.normalize("NFD", "Cảm ơn")


def fill(folder: Path, *names: str, content: bytes = b"film") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def kinds(found: Scan) -> dict[str, list[str]]:
    """The places of the problems, by their kind, in words of their last part."""
    places: dict[str, list[str]] = {}
    for problem in found.problems:
        assert problem.kind in KINDS
        assert "\n" not in str(problem)
        places.setdefault(problem.kind, []).append(problem.place.split("/")[-1])
    return places


def test_the_layout_of_the_contest_is_read(tmp_path: Path) -> None:
    fill(tmp_path, "train/Ăn/1.mp4", "train/Ăn/2.mp4", "train/An ủi/1.mp4", "train/An ủi/2.MP4")
    fill(tmp_path, "public_test/9.mp4", "README.md")
    (tmp_path / "label_mapping.pkl").write_bytes(pickle.dumps({"Ăn": 1, "An ủi": 0}))
    found = scan_clips(tmp_path)
    assert [(file.label, file.path.name) for file in found.files] == [
        ("An ủi", "1.mp4"),
        ("An ủi", "2.MP4"),
        ("Ăn", "1.mp4"),
        ("Ăn", "2.mp4"),
    ]
    assert found.words.words == ("An ủi", "Ăn")
    assert found.problems == ()
    assert "4 clips, 2 words" in found.report()
    assert "problems: none" in found.report()
    assert [file.path for file in scan_clips(tmp_path / "train").files] == [file.path for file in found.files]
    assert [file.label for file in scan_clips(tmp_path / "public_test").files] == [""]


def test_every_oddity_of_a_folder_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "Ăn/1.mp4", "Ăn/2.mp4", "Ăn/notes.txt", "Ăn/.DS_Store", "Ăn/._1.mp4", "Ăn/Thumbs.db")
    fill(tmp_path, "Ăn/more/3.mp4", "Uống/1.mp4", ".git/config", "stray.pdf")
    fill(tmp_path, "Ăn/empty.mp4", content=b"")
    (tmp_path / "Nghỉ").mkdir()
    found = scan_clips(tmp_path)
    assert sorted((file.label, file.path.name) for file in found.files) == [
        ("Uống", "1.mp4"),
        ("Ăn", "1.mp4"),
        ("Ăn", "2.mp4"),
        ("Ăn", "empty.mp4"),
    ]
    assert kinds(found) == {
        "hidden file": [".git", ".DS_Store", "._1.mp4", "Thumbs.db"],
        "empty class": ["Nghỉ"],
        "no video": ["stray.pdf", "notes.txt"],
        "empty file": ["empty.mp4"],
        "folder in a class": ["more"],
        "one clip": ["Uống"],
    }
    assert "Uống: a single clip" in found.report()


def test_a_folder_of_videos_beside_train_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "train/ăn/1.mp4", "train/ăn/2.mp4", "more/ăn/3.mp4", "private_test/4.mp4", "notes/a.txt")
    found = scan_clips(tmp_path)
    assert kinds(found) == {"beside train": ["more"]}
    assert "1 videos that are not read" in found.report()


def test_labels_in_nfd_are_composed_and_told(tmp_path: Path) -> None:
    fill(tmp_path, f"{NFD}/1.mp4", f"{NFD}/2.mp4")
    found = scan_clips(tmp_path)
    assert {file.label for file in found.files} == {"Cảm ơn"}
    assert list(kinds(found)) == ["label composed"]
    fill(tmp_path, "Cảm ơn/3.mp4")
    both = scan_clips(tmp_path)
    assert len(both.files) == 3
    assert {file.label for file in both.files} == {"Cảm ơn"}
    assert "one word, several folders" in kinds(both)


def test_words_outside_of_the_mapping_are_left_out_by_name(tmp_path: Path) -> None:
    fill(tmp_path, "train/Ăn/1.mp4", "train/Ăn/2.mp4", "train/Lạ/1.mp4", "train/Lạ/2.mp4")
    (tmp_path / "label_mapping.pkl").write_bytes(pickle.dumps({"Ăn": 0, "Uống": 1}))
    found = scan_clips(tmp_path)
    assert {file.label for file in found.files} == {"Ăn"}
    assert kinds(found) == {"not in the mapping": ["Lạ"], "not in the data": ["Uống"]}
    assert "2 clips left out" in found.report()


def test_a_table_says_who_signs(tmp_path: Path) -> None:
    fill(tmp_path, "a/1.mp4", "a/2.mp4", f"{NFD}/3.mp4", "a/extra.mp4")
    fill(tmp_path, "a/empty.mp4", content=b"")
    rows = (
        "path,label,signer,group,light",
        "a/1.mp4,ăn,An,tape 1,dark",
        "a/2.mp4,ăn,Bình,,bright",
        f"Cảm ơn/3.mp4,{NFD},An,,",
        "a/1.mp4,ăn,An,,",
        "a/gone.mp4,ăn,An,,",
        "a/empty.mp4,ăn,An,,",
        "../out.mp4,ăn,An,,",
        "/etc/passwd,ăn,An,,",
        ",ăn,An,,",
        "a/1.mp4,ăn,An,,,,more",
    )
    (tmp_path / "manifest.csv").write_text("\n".join(rows), encoding="utf-8-sig")
    found = scan_clips(tmp_path)
    assert [(file.label, file.signer, file.group) for file in found.files] == [
        ("ăn", "An", "tape 1"),
        ("ăn", "Bình", ""),
        ("Cảm ơn", "An", ""),
        ("ăn", "An", ""),
    ]
    assert [row["light"] for row in found.rows] == ["dark", "bright", "", ""]
    assert all(file.path.is_file() for file in found.files)
    told = kinds(found)
    assert told["label composed"] == ["manifest.csv, line 4"]
    assert told["repeated row"] == ["manifest.csv, line 5"]
    assert told["missing file"] == ["manifest.csv, line 6"]
    assert told["empty file"] == ["manifest.csv, line 7"]
    assert told["bad row"] == [f"manifest.csv, line {line}" for line in (8, 9, 10, 11)]
    assert told["not in the table"] == ["extra.mp4"]
    assert told["one clip"] == ["Cảm ơn"]
    assert scan_clips(tmp_path / "manifest.csv").files == found.files


def test_a_row_that_disagrees_with_the_folder_is_told(tmp_path: Path) -> None:
    fill(tmp_path, "train/ăn/1.mp4", "train/ăn/2.mp4")
    (tmp_path / "signers.csv").write_text("path,label\ntrain/ăn/1.mp4,ăn\ntrain/ăn/2.mp4,uống\n")
    found = scan_clips(tmp_path)
    assert [file.label for file in found.files] == ["ăn", "uống"]
    assert kinds(found)["label and folder"] == ["signers.csv, line 3"]


@pytest.mark.parametrize("name", [".", "./"])
def test_a_row_that_names_the_folder_itself_is_left_out(tmp_path: Path, name: str) -> None:
    fill(tmp_path, "1.mp4", "2.mp4")
    (tmp_path / "manifest.csv").write_text(f"path,label\n{name},x\n1.mp4,x\n2.mp4,x\n")
    found = scan_clips(tmp_path)
    assert [file.path.name for file in found.files] == ["1.mp4", "2.mp4"]
    assert kinds(found) == {"bad row": ["manifest.csv, line 2"]}


def test_a_colon_leads_out_of_the_folder_behind_a_drive_only(tmp_path: Path) -> None:
    fill(tmp_path, "12:30:05.mp4", "2.mp4")
    (tmp_path / "manifest.csv").write_text("path,label\n12:30:05.mp4,x\n2.mp4,x\nC:/3.mp4,x\n")
    found = scan_clips(tmp_path)
    assert [file.path.name for file in found.files] == ["12:30:05.mp4", "2.mp4"]
    assert kinds(found) == {"bad row": ["manifest.csv, line 4"]}


def test_spaces_round_a_name_make_no_other_signer(tmp_path: Path) -> None:
    fill(tmp_path, "1.mp4", "2.mp4")
    (tmp_path / "manifest.csv").write_text("path,label,signer,group\n1.mp4, x, An, a\n2.mp4,x,An,a\n")
    found = scan_clips(tmp_path)
    assert {(file.label, file.signer, file.group) for file in found.files} == {("x", "An", "a")}


def test_a_link_to_no_file_is_named_and_left_out(tmp_path: Path) -> None:
    fill(tmp_path, "ăn/1.mp4", "ăn/2.mp4")
    (tmp_path / "ăn" / "3.mp4").symlink_to(tmp_path / "nowhere.mp4")
    found = scan_clips(tmp_path)
    assert [file.path.name for file in found.files] == ["1.mp4", "2.mp4"]
    assert kinds(found) == {"missing file": ["3.mp4"]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"file,word\n1.mp4,x\n", "line 1: no column path, label"),
        (b"path,label\n1.mp4,\xff\n", "not UTF-8"),
        (b'path,label\n"1.mp4,x\n', "no CSV"),
        (b"", "no column path, label"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "manifest.csv").write_bytes(content)
    with pytest.raises(ValueError, match=said) as told:
        scan_clips(tmp_path)
    assert "manifest.csv" in str(told.value)
    assert "\n" not in str(told.value)


def test_an_empty_folder_is_refused_with_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no clip; it must have train/<word>/\*\.mp4"):
        scan_clips(tmp_path)
    (tmp_path / "train" / "ăn").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"the first problem: .*ăn: the folder of a word without a clip"):
        scan_clips(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such folder or table"):
        scan_clips(tmp_path / "nowhere")


def test_files_that_do_not_open_are_named_with_the_reason(tmp_path: Path) -> None:
    fill(tmp_path, "ăn/1.mp4", content=b"\xff\xd8\xff a photograph")
    write_film(tmp_path / "ăn" / "2.mp4", 20, container={"movflags": "faststart"})
    cut(tmp_path / "ăn" / "2.mp4", 0.9)
    fill(tmp_path, "ăn/3.mp4", content=b"")
    found = unreadable(scan_clips(tmp_path).files)
    assert [Path(problem.place).name for problem in found] == ["1.mp4", "3.mp4", "cut 2.mp4"]
    assert found[0].detail == "a JPEG picture, not a video; save it as mp4 or leave it out"
    assert found[1].detail == "the file is empty; copy it again or leave it out"
    assert "of 20 frames are there" in found[2].detail


def test_a_report_shows_the_first_of_each_kind(tmp_path: Path) -> None:
    fill(tmp_path, "ăn/1.mp4", "ăn/2.mp4", *(f"ăn/{number}.txt" for number in range(9)))
    lines = report_problems(scan_clips(tmp_path).problems)
    assert lines[0] == "problems: 9"
    assert lines[-1] == "    ... and 4 more"
    assert len(lines) == 8
