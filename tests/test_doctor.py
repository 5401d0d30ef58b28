"""The doctor: what it looks at, what it says to do, and when it fails."""

import json
import sys
from pathlib import Path

import pytest
import torch

from coursepkg import doctor
from coursepkg.data.registry import data_folder
from coursepkg.doctor import CHINESE, VIETNAMESE, Row, examine, find_font, report
from coursepkg.requirements import older, requirements


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return {row.name: row for row in examine()}


def test_everything_the_course_needs_is_looked_at(rows: dict[str, Row]) -> None:
    named = {"coursepkg", "Python", "torch", "memory", "processors", "data folder"}
    fonts = {"font for Vietnamese", "font for Chinese"}
    extras = {f"extra {name}" for name in doctor.EXTRA_PURPOSE}
    packages = set(requirements()) - {"torch"}
    assert named | fonts | extras | packages <= rows.keys()
    assert any(name.startswith("GPU") for name in rows)


def test_a_row_that_is_not_ok_says_what_to_do(rows: dict[str, Row]) -> None:
    assert all(bool(row.action) == (row.status != "ok") for row in rows.values())
    assert all(row.found for row in rows.values())


def test_here_nothing_required_is_missing(rows: dict[str, Row]) -> None:
    assert [row for row in rows.values() if row.status == "fail"] == []


def test_every_extra_is_explained() -> None:
    import tomllib

    path = Path(__file__).parents[1] / "pyproject.toml"
    extras = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == set(doctor.EXTRA_PURPOSE)
    for extra in extras:
        assert requirements(extra), f"reinstall the package: its metadata do not know the extra {extra}"


def test_report_prints_json_last_and_fails_with_a_failed_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row("a", "ok", "1"), Row("b", "warn", "none", "install b"), Row("c", "fail", "0", "install c")]
    assert report(rows, as_json=True) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "ok    a  1",
        "warn  b  none  -> install b",
        "fail  c  0  -> install c",
        "3 checks: 1 failed, 1 to look at",
    ]
    document = json.loads(lines[-1])
    assert document["ok"] is False
    assert document["checks"][2] == {"name": "c", "status": "fail", "found": "0", "action": "install c"}


def test_a_warning_alone_does_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([Row("b", "warn", "none", "install b")]) == 0
    assert "{" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "floor", "expected"),
    [
        ("2.13.0+cpu", "2.6", False),
        ("2.6.0", "2.6", False),
        ("2.5.1", "2.6", True),
        ("1.0.4.post1", "1.0.4.post1", False),
        ("1.0.3", "1.0.4.post1", True),
        ("8.1.9", "7.7", False),
        ("2.10.0a0+git1", "2.6", False),
        ("3.0", "", False),
    ],
)
def test_older(version: str, floor: str, expected: bool) -> None:
    assert older(version, floor) is expected


def test_an_old_package_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "tyro" else "0.1")
    found = {row.name: row for row in doctor._requirements()}
    assert found["tyro"].status == found["matplotlib"].status == "fail"
    assert found["tyro"].action.startswith("pip install 'tyro>=")
    assert "0.1, needs" in found["matplotlib"].found


def test_a_package_that_is_too_new_is_named_and_the_command_installs_an_older_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "EXTRA_PURPOSE", {"book": "building the book"})
    monkeypatch.setattr(doctor, "installed", lambda name: "2.0.1" if name == "jupyter-book" else "999")
    (row,) = doctor._extras()
    assert (row.status, row.action) == (
        "warn",
        "for building the book: pip install 'jupyter-book>=1.0.4.post1,<2'",
    )
    monkeypatch.setattr(doctor, "installed", lambda name: "1.0.4" if name == "jupyter-book" else "999")
    assert [row.status for row in doctor._extras()] == ["ok"]


def test_what_another_system_needs_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    (row,) = [row for row in doctor._extras() if row.name == "extra triton"]
    assert (row.status, row.found) == ("ok", "nothing of it is for this system")


def test_a_copy_that_is_not_installed_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed", lambda name: None)
    (row,) = doctor._package()
    assert (row.status, bool(row.action)) == ("warn", True)
    assert "not installed" in row.found
    assert list(doctor._extras()) == []


def test_without_matplotlib_fonts_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    find_font.cache_clear()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    rows = list(doctor._fonts())
    assert [row.status for row in rows] == ["warn", "warn"]
    assert all("matplotlib cannot be imported" in row.found for row in rows)


def test_torch_that_cannot_be_imported_fails_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (row,) = doctor._torch()
    assert (row.status, row.action) == ("fail", "pip install torch")
    assert list(doctor._devices()) == []


def test_a_gpu_that_does_not_answer_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(index: int) -> None:
        raise RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later")

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", fail)
    (row,) = doctor._devices()
    assert (row.name, row.status) == ("GPU 0", "warn")
    assert row.found == "does not answer: CUDA error: out of memory"
    assert "CUDA_VISIBLE_DEVICES" in row.action


@pytest.mark.parametrize(
    ("version", "status"),
    [((3, 10, 9), "fail"), ((3, 11, 0), "ok"), ((3, 13, 7), "ok"), ((3, 14, 0), "warn")],
)
def test_python_outside_what_is_tested(
    version: tuple[int, ...], status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    (row,) = doctor._python()
    assert row.status == status
    assert ("not tested" in row.found) == (status == "warn")
    assert bool(row.action) == (status != "ok")


def test_little_memory_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_physical_memory", lambda: doctor.GIB)
    (row,) = doctor._memory()
    assert row.status == "warn"
    assert "1.0 GiB" in row.found


def test_matplotlib_brings_a_font_for_vietnamese() -> None:
    assert find_font(VIETNAMESE) == "DejaVu Sans"


def test_no_font_has_what_unicode_leaves_out() -> None:
    assert find_font("\ufdd0") is None


def test_a_font_for_chinese_covers_every_sign() -> None:
    name = find_font(CHINESE)
    if name is None:
        pytest.skip("no CJK font is installed on this machine")
    from matplotlib import font_manager, ft2font

    glyphs = ft2font.FT2Font(font_manager.findfont(name)).get_charmap()
    assert all(ord(sign) in glyphs for sign in CHINESE)


def test_the_data_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "sets"))
    assert data_folder() == tmp_path / "sets"
    (row,) = doctor._data()
    assert row.status == "ok"
    assert "not there yet" in row.found
    (tmp_path / "sets").mkdir()
    (row,) = doctor._data()
    assert "present" in row.found


def test_without_a_choice_it_is_a_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COURSEPKG_DATA", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "coursepkg"


def test_a_data_folder_below_a_file_warns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "file" / "sets"))
    (row,) = doctor._data()
    assert row.status == "warn"
    assert "COURSEPKG_DATA" in row.action


@pytest.mark.parametrize("place", ["~nobody-of-this-name/sets", "closed/sets"])
def test_a_data_folder_that_cannot_be_looked_at_warns(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("COURSEPKG_DATA", place)
    monkeypatch.setattr(Path, "exists", refuse)
    (row,) = doctor._data()
    assert row.status == "warn"
    assert place in row.found
