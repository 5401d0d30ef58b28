"""Fetching sets from a server on this machine: checks, the record of first downloads, archives, the command line."""

import io
import json
import sys
import zipfile
from functools import partial

import pytest

from coursepkg import cli, command_table
from coursepkg.data import registry
from coursepkg.data.download import download
from coursepkg.data.fetch import LOCK, fetch
from coursepkg.data.registry import SETS, DataFile, DataSet
from tests.data.server import Site, serving, sha256_of

CONTENT = b"one\ntwo\nthree\n"
quick = partial(download, pause=0, timeout=5, retries=0, show_progress=False)


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "data"))
    monkeypatch.setitem(
        cli.COMMANDS, "data", command_table.Command("coursepkg.data.commands:Data", "data sets")
    )


def some_set(*files: DataFile) -> DataSet:
    return DataSet("some_set", "a set for tests", "free", "ask the tester", files)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_known_checksum_is_required(tmp_path) -> None:
    with serving(Site(CONTENT)) as site:
        good = some_set(DataFile("a.txt", site.url, sha256_of(CONTENT), lines=3), DataFile("b.txt"))
        arrivals = fetch(good, tmp_path / "set", load=quick)
        assert [(one.path, one.how, one.first_seen) for one in arrivals] == [
            ("a.txt", "downloaded", False),
            ("b.txt", "on request", False),
        ]
        assert [one.how for one in fetch(good, tmp_path / "set", load=quick)] == ["present", "on request"]
        assert len(site.seen) == 1
        bad = some_set(DataFile("c.txt", site.url, "0" * 64))
        with pytest.raises(ValueError, match=f"is {sha256_of(CONTENT)} instead of 0000"):
            fetch(bad, tmp_path / "set", load=quick)
    assert (tmp_path / "set" / "a.txt").read_bytes() == CONTENT
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["a.txt", LOCK]


def test_the_first_download_is_trusted_and_later_ones_must_equal_it(tmp_path) -> None:
    folder = tmp_path / "set"
    with serving(Site(CONTENT)) as site:
        wanted = some_set(DataFile("a.txt", site.url))
        (first,) = fetch(wanted, folder, load=quick)
        assert (first.sha256, first.first_seen) == (sha256_of(CONTENT), True)
        record = json.loads((folder / LOCK).read_text())
        assert record["files"] == {"a.txt": {"url": site.url, "sha256": sha256_of(CONTENT)}}
        (folder / "a.txt").unlink()
        site.content, site.etag = b"other\n", '"v2"'
        with pytest.raises(ValueError, match=f"recorded at the first download in .*{LOCK}: remove it there"):
            fetch(wanted, folder, load=quick)
        assert not (folder / "a.txt").exists()
        site.content = CONTENT
        (again,) = fetch(wanted, folder, load=quick)
        assert (again.how, again.first_seen) == ("downloaded", False)
        (folder / "a.txt").write_bytes(b"edited")
        with pytest.raises(ValueError, match=r"a\.txt is not the file that .* gives .*; move it away"):
            fetch(wanted, folder, load=quick)
    assert (folder / "a.txt").read_bytes() == b"edited"


def test_a_record_of_another_address_says_nothing(tmp_path) -> None:
    with serving(Site(CONTENT)) as site, serving(Site(b"new\n")) as other:
        fetch(some_set(DataFile("a.txt", site.url)), tmp_path, load=quick)
        (tmp_path / "a.txt").unlink()
        (moved,) = fetch(some_set(DataFile("a.txt", other.url)), tmp_path, load=quick)
    assert moved.first_seen
    assert (tmp_path / "a.txt").read_bytes() == b"new\n"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1, "files": {"a": 3}}', '{"format": 99, "files": {}}']
)
def test_a_damaged_record_is_named(text: str, tmp_path) -> None:
    (tmp_path / LOCK).write_text(text)
    with pytest.raises(ValueError, match=rf"{LOCK} (is damaged; remove it|has format 99, newer than 1)"):
        fetch(some_set(DataFile("a", "http://127.0.0.1:9/a")), tmp_path, load=quick)


def test_a_wrong_number_of_lines_leaves_nothing(tmp_path) -> None:
    with serving(Site(CONTENT)) as site:
        with pytest.raises(ValueError, match="3 lines instead of 4; the file was changed"):
            fetch(some_set(DataFile("a.txt", site.url, lines=4)), tmp_path, load=quick)
        assert list(tmp_path.iterdir()) == []


def test_an_archive_is_unpacked_once_and_removed(tmp_path) -> None:
    with serving(Site(zipped({"x/1.txt": b"1", "2.txt": b"2"}))) as site:
        wanted = some_set(DataFile("images", f"{site.url}.zip", unpacked_limit=2))
        fetch(wanted, tmp_path, load=quick)
        assert (tmp_path / "images" / "x" / "1.txt").read_bytes() == b"1"
        assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK, "images"]
        assert [one.how for one in fetch(wanted, tmp_path, load=quick)] == ["present"]
        with pytest.raises(ValueError, match="unpacks to more than 1 bytes"):
            fetch(some_set(DataFile("other", f"{site.url}.zip", unpacked_limit=1)), tmp_path, load=quick)
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK, "images"]


def test_a_set_without_addresses_says_how_to_ask(tmp_path) -> None:
    with pytest.raises(
        ValueError, match=r"some_set cannot be downloaded: ask the tester; put the files into .*set$"
    ):
        fetch(some_set(DataFile("a")), tmp_path / "set", load=quick)
    assert not (tmp_path / "set").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(OSError, match=r"taken.set cannot be made: .*; choose another folder with --out"):
        fetch(some_set(DataFile("a", "http://127.0.0.1:9/a")), tmp_path / "taken" / "set", load=quick)


@pytest.mark.parametrize("name", [name for name, one in SETS.items() if not one.downloadable])
def test_fetch_of_a_set_on_request_is_one_line(name: str, tmp_path, capsys) -> None:
    assert cli.main(["data", "fetch", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {name} cannot be downloaded: ")
    assert err.endswith(f"put the files into {tmp_path / 'data' / name}\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["fetch"], ["NAME is missing", "zh_vi, en_vi"]),
        (["fetch", "en-vy"], ["unknown data set 'en-vy'", "did you mean en_vi?", "signs"]),
        (["fetch", "en-vi", "--out", sys.executable], ["--out", "is a file"]),
        (["get", "en-vi"], ["list", "fetch"]),
        ([], ["list", "fetch"]),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(arguments: list[str], parts: list[str], capsys) -> None:
    assert cli.main(["data", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert all(part in err for part in ["error: ", *parts])


def test_list_says_what_is_here(tmp_path, capsys) -> None:
    folder = tmp_path / "data" / "zh_vi"
    folder.mkdir(parents=True)
    (folder / "train.zh").touch()
    assert cli.main(["data", "list", "--json"]) == 0
    text, _, last = capsys.readouterr().out.rstrip("\n").rpartition("\n")
    document = json.loads(last)
    rows = {row["name"]: row for row in document["sets"]}
    assert list(rows) == list(SETS)
    assert document["folder"] == str(tmp_path / "data")
    assert rows["zh_vi"]["missing"] == ["train.vi"]
    assert not rows["zh_vi"]["present"]
    for one in SETS.values():
        assert one.licence in text
        assert one.ask in text
    assert f"in part, in {folder}; missing: train.vi" in text
    assert "coursepkg data fetch en_vi (train.en" in text


def test_fetch_prints_what_came_and_what_to_ask_for(tmp_path, monkeypatch, capsys) -> None:
    with serving(Site(CONTENT)) as site:
        wanted = some_set(DataFile("a.txt", site.url), DataFile("b.txt"))
        monkeypatch.setitem(registry.SETS, "some_set", wanted)
        assert cli.main(["data", "fetch", "some-set", "--out", str(tmp_path / "here"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    folder = tmp_path / "here" / "some_set"
    assert f"{folder / 'a.txt'}: downloaded, SHA-256 {sha256_of(CONTENT)} (none was known" in out
    assert f"not downloaded: b.txt; ask the tester; put them into {folder}" in out
    (one,) = json.loads(out.splitlines()[-1])["sets"]
    assert [file["how"] for file in one["files"]] == ["downloaded", "on request"]
