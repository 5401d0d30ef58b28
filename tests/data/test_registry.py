"""The entries of the registry: complete, honest about what is not known, and found by name."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from coursepkg.data.registry import (
    SETS,
    DataFile,
    attribution_of,
    data_folder,
    find_set,
    folder_of,
    is_present,
    missing_files,
)
from tests.said import said

FOLDERS = ("open", "zh_vi", "en_vi", "nom_vi", "mc_ocr", "vi_lines", "vi_receipts", "signs")


def test_every_folder_of_the_data_folder_has_an_entry() -> None:
    assert tuple(SETS) == FOLDERS
    for name, one in SETS.items():
        assert one.name == name
        assert one.files
        assert one.licence
        assert "\n" not in one.summary + one.licence + one.ask
        assert len({file.path for file in one.files}) == len(one.files)
        assert set(one.downloadable) <= set(one.files)
        assert one.downloadable == one.files or one.ask


def test_every_address_names_its_file_and_has_a_checksum() -> None:
    files = [file for one in SETS.values() for file in one.downloadable]
    assert files
    for file in files:
        parts = urlsplit(file.url)
        assert (parts.scheme, parts.hostname) == ("https", "nlp.stanford.edu")
        assert parts.path.endswith(f"/{file.path}")
        assert file.sha256
    assert len({file.sha256 for file in files}) == len(files)


def test_the_full_iwslt_set_can_be_fetched() -> None:
    files = {file.path: file for file in SETS["en_vi"].downloadable}
    assert {files["train.en"].lines, files["train.vi"].lines} == {133_317}
    assert {"tst2012.en", "tst2012.vi", "tst2013.en", "tst2013.vi"} < files.keys()
    assert {file.path for file in SETS["en_vi"].files if not file.url} == {
        f"{part}.{side}" for part in ("dev2010", "tst2010", "tst2011") for side in ("en", "vi")
    }


def test_every_table_of_the_open_set_has_a_licence_and_a_checksum() -> None:
    files = {file.path: file for file in SETS["open"].files}
    assert all(file.sha256 and not file.url for file in files.values())
    names = {name.split(".")[0] for name in files}
    assert {f"{name}.LICENCE" for name in names} == {name for name in files if name.endswith(".LICENCE")}
    # The head and a line for each pair.
    assert sum(file.lines - 1 for file in files.values() if file.lines) == 101_931


def test_what_may_ship_names_its_sources() -> None:
    text = attribution_of("open")
    for word in (
        "Tatoeba",
        "CC BY 2.0 FR",
        "Microsoft Corporation",
        "CC BY 4.0",
        "React",
        "Apache-2.0",
        "MIT",
        "ISC",
    ):
        assert word in text
    for word in ("BSD-3-Clause", "Mozilla", "MPL-2.0", "Wikipedia", "CC BY-SA 3.0"):
        assert word in text
    assert {name for name in SETS if attribution_of(name)} == {"open"}


@pytest.mark.skipif(
    missing_files("open") != [], reason=f"no open corpus in {data_folder()}; set COURSEPKG_DATA"
)
def test_the_attribution_names_every_repository_of_the_open_set() -> None:
    text = attribution_of("open").replace("\n  ", " ")
    repositories = set()
    for path in ("l10n_perm.tsv", "l10n_mpl.tsv"):
        lines = (folder_of("open") / path).read_text("utf-8").split("\n")[1:-1]
        repositories |= {line.split("\t")[3] for line in lines}
    for name in repositories:
        short = name.removeprefix("LineageOS/").removeprefix("android_packages_apps_")
        assert short in text, name


@pytest.mark.parametrize("name", ["en_vi", "en-vi", " EN_vi "])
def test_a_hyphen_reads_as_an_underscore(name: str) -> None:
    assert find_set(name) is SETS["en_vi"]


@pytest.mark.parametrize(("name", "near"), [("zh_v", "zh_vi"), ("mcocr", "mc_ocr"), ("sign", "signs")])
def test_an_unknown_name_gets_the_nearest(name: str, near: str) -> None:
    with pytest.raises(
        ValueError, match=f"unknown data set '{name}'; did you mean {near}\\? the sets are open, zh_vi, en_vi"
    ):
        find_set(name)
    with pytest.raises(ValueError, match="unknown data set 'qqq'; the sets are"):
        find_set("qqq")


def test_presence_is_looked_up_file_by_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    assert folder_of("zh-vi") == tmp_path / "zh_vi"
    assert folder_of("zh_vi", Path("x")) == Path("x/zh_vi")
    assert missing_files("zh_vi") == ["train.zh", "train.vi"]
    (tmp_path / "zh_vi").mkdir()
    (tmp_path / "zh_vi" / "train.zh").touch()
    assert missing_files("zh_vi") == ["train.vi"]
    assert not is_present("zh_vi")
    assert is_present("zh_vi", "train.zh")
    assert not is_present("zh_vi", "train.zh", "train.vi")
    (tmp_path / "zh_vi" / "train.vi").touch()
    assert is_present("zh_vi")
    assert not is_present("zh_vi", within=tmp_path / "other")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": ""}, "path must lie in the folder"),
        ({"path": "/a"}, "path must lie in the folder"),
        ({"path": "../a"}, "path must lie in the folder"),
        ({"url": "ftp://a/b"}, "url must begin with https"),
        ({"sha256": "abc"}, "sha256 must be 64 hexadecimal digits, got 'abc'"),
        ({"sha256": "X" * 64}, "sha256 must be 64"),
        ({"size_limit": 0}, "size_limit must be at least 1"),
        ({"lines": 0}, "lines must be at least 1"),
    ],
)
def test_a_bad_entry_names_its_field(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataFile(**({"path": "a"} | options))


def test_a_home_folder_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", "~nobody-of-this-name/sets")
    assert "COURSEPKG_DATA is ~nobody-of-this-name/sets" in said("data", "list").mistake
