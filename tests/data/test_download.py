"""Files and sets from a server on this machine that breaks off, lies and stalls: whole and right, or one error."""

import json
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from coursepkg import cli, command_table
from coursepkg.data import download as module
from coursepkg.data import registry
from coursepkg.data.download import LOCK, Piece, check_address, download, fetch
from coursepkg.data.registry import SETS, DataFile, DataSet
from tests.data.server import Site, serving, sha256_of

CONTENT = random.Random(0).randbytes(300_000)
SHA = sha256_of(CONTENT)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def get(site: Site, path: Path, **options) -> module.Downloaded:
    return download(site.url, path, **({"pause": 0, "timeout": 5, "show_progress": False} | options))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("sha256", [SHA, None])
def test_a_file_arrives_whole_and_alone(sha256, tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"older")
    with serving(Site(CONTENT)) as site:
        found = get(site, path, sha256=sha256)
    assert path.read_bytes() == CONTENT
    assert (found.sha256, found.n_bytes) == (SHA, len(CONTENT))
    assert names(tmp_path) == ["a.txt"]
    assert site.seen[0]["User-Agent"].startswith("coursepkg/")


def test_an_empty_file_is_a_file(tmp_path) -> None:
    with serving(Site(b"")) as site:
        assert get(site, tmp_path / "a").n_bytes == 0
    assert (tmp_path / "a").read_bytes() == b""


def test_what_breaks_off_goes_on_where_it_stopped(tmp_path) -> None:
    with serving(Site(CONTENT, cut_after=[100_000, 1, 100_000])) as site:
        get(site, tmp_path / "a", sha256=SHA)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert [one.get("Range") for one in site.seen] == [
        None,
        "bytes=100000-",
        "bytes=100001-",
        "bytes=200001-",
    ]
    assert {one.get("If-Range") for one in site.seen[1:]} == {'"v1"'}


def test_a_later_call_goes_on_where_an_earlier_one_stopped(tmp_path) -> None:
    with serving(Site(CONTENT, cut_after=[70_000, 0])) as site:
        with pytest.raises(OSError, match=r"ended at 70000 of 300000 bytes \(1 try\); run the same command"):
            get(site, tmp_path / "a", retries=0)
        assert names(tmp_path) == ["a.part", "a.part.json"]
        site.cut_after.clear()
        get(site, tmp_path / "a")
    assert site.seen[1]["Range"] == "bytes=70000-"
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert names(tmp_path) == ["a"]


def test_a_server_without_ranges_starts_again(tmp_path) -> None:
    with serving(Site(CONTENT, ranges=False, cut_after=[100_000, 50_000])) as site:
        get(site, tmp_path / "a", sha256=SHA)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert len(site.seen) == 3


def test_tries_are_counted_in_a_row_without_getting_further(tmp_path) -> None:
    with serving(Site(CONTENT, cut_after=[10_000] * 20)) as site:
        get(site, tmp_path / "a", retries=1)
    assert len(site.seen) == 21
    with (
        serving(Site(CONTENT, ranges=False, cut_after=[10_000] * 20)) as site,
        pytest.raises(OSError, match=r"10000 of 300000 bytes \(3 tries in a row\)"),
    ):
        get(site, tmp_path / "b", retries=2)
    assert len(site.seen) == 3


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("honest", [True, False])
def test_a_file_that_changed_in_between_is_never_mixed(checked: bool, honest: bool, tmp_path) -> None:
    changed = CONTENT[::-1]
    with serving(Site(CONTENT, if_range=honest, cut_after=[70_000])) as site:
        with pytest.raises(OSError, match="70000 of 300000"):
            get(site, tmp_path / "a", retries=0)
        site.content, site.etag = changed, '"v2"'
        get(site, tmp_path / "a", sha256=sha256_of(changed) if checked else None)
    assert (tmp_path / "a").read_bytes() == changed


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_version_and_checksum_nothing_is_continued(etag, tmp_path) -> None:
    with serving(Site(CONTENT, etag=etag, cut_after=[70_000])) as site:
        get(site, tmp_path / "a")
        assert [one.get("Range") for one in site.seen] == [None, None]
        site.seen.clear()
        site.cut_after.append(70_000)
        get(site, tmp_path / "b", sha256=SHA)
    assert [one.get("Range") for one in site.seen] == [None, "bytes=70000-"]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == CONTENT


def test_a_part_of_another_address_is_not_continued(tmp_path) -> None:
    piece = Piece(tmp_path / "a.part")
    piece.path.write_bytes(b"other")
    piece.begin("http://127.0.0.1/other", '"v1"')
    with serving(Site(CONTENT)) as site:
        get(site, tmp_path / "a", sha256=SHA)
    assert "Range" not in site.seen[0]


@pytest.mark.parametrize(("left", "requests"), [(len(CONTENT), 1), (len(CONTENT) + 5, 2)])
def test_a_part_that_is_complete_or_too_long(left: int, requests: int, tmp_path) -> None:
    with serving(Site(CONTENT)) as site:
        piece = Piece(tmp_path / "a.part")
        piece.path.write_bytes((CONTENT + b"xxxxx")[:left])
        piece.begin(site.url, '"v1"')
        get(site, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert len(site.seen) == requests


def test_a_range_that_begins_elsewhere_is_not_believed(tmp_path) -> None:
    with serving(Site(CONTENT, cut_after=[70_000, 300_000, 70_000], shift=-1)) as site:
        get(site, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert "Range" in site.seen[1]
    assert "Range" not in site.seen[2]


def test_a_busy_server_is_asked_again(tmp_path) -> None:
    with serving(Site(CONTENT, statuses=[500, 503, 429])) as site:
        get(site, tmp_path / "a", sha256=SHA)
    assert len(site.seen) == 4
    with (
        serving(Site(CONTENT, statuses=[502] * 9)) as site,
        pytest.raises(OSError, match=r"answers 502 .*\(3 tries in a row\)"),
    ):
        get(site, tmp_path / "b", retries=2)


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_final(status: int, tmp_path) -> None:
    with (
        serving(Site(CONTENT, statuses=[status])) as site,
        pytest.raises(ValueError, match=f"answers {status} "),
    ):
        get(site, tmp_path / "a")
    assert len(site.seen) == 1
    assert names(tmp_path) == []


def test_a_wait_between_tries_doubles_up_to_a_minute(tmp_path, monkeypatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(module.time, "sleep", waits.append)
    with serving(Site(CONTENT, statuses=[500] * 8)) as site:
        get(site, tmp_path / "a", retries=8, pause=1)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_stall_is_noticed_and_the_rest_asked_for(tmp_path) -> None:
    with serving(Site(CONTENT, stall_after=[50_000])) as site:
        get(site, tmp_path / "a", timeout=0.2, sha256=SHA)
    assert site.seen[1]["Range"] == "bytes=50000-"
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_a_trickle_is_a_stall(tmp_path) -> None:
    with (
        serving(Site(CONTENT[:40], trickle=True)) as site,
        pytest.raises(OSError, match=r"stalled at \d+ bytes \(1 try\)"),
    ):
        get(site, tmp_path / "a", timeout=0.2, retries=0)


def test_a_wrong_checksum_leaves_nothing(tmp_path) -> None:
    with (
        serving(Site(CONTENT[::-1])) as site,
        pytest.raises(ValueError, match=f"instead of {SHA}; .*nothing of it was kept") as caught,
    ):
        get(site, tmp_path / "a", sha256=SHA)
    assert sha256_of(CONTENT[::-1]) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


def test_an_announced_length_that_never_comes(tmp_path) -> None:
    with (
        serving(Site(CONTENT, length_error=9, ranges=False)) as site,
        pytest.raises(OSError, match="300000 of 300009 bytes"),
    ):
        get(site, tmp_path / "a", retries=1)
    with (
        serving(Site(CONTENT, length_error=-9)) as site,
        pytest.raises(ValueError, match=f"299991 bytes that came .* instead of {SHA}"),
    ):
        get(site, tmp_path / "b", sha256=SHA)


def test_no_length_needs_a_checksum(tmp_path) -> None:
    with serving(Site(CONTENT, announce=False)) as site:
        with pytest.raises(ValueError, match="neither length nor checksum"):
            get(site, tmp_path / "a")
        get(site, tmp_path / "a", sha256=SHA)
    assert (tmp_path / "a").read_bytes() == CONTENT


@pytest.mark.parametrize("announce", [True, False])
def test_too_large_is_refused(announce: bool, tmp_path) -> None:
    with serving(Site(CONTENT, announce=announce)) as site:
        with pytest.raises(ValueError, match=r"too large: .*at most 299999"):
            get(site, tmp_path / "a", sha256=SHA, size_limit=299_999)
        assert names(tmp_path) == []
        get(site, tmp_path / "a", sha256=SHA, size_limit=300_000)


def test_what_has_no_end_is_cut_at_the_limit(tmp_path) -> None:
    with (
        serving(Site(CONTENT, announce=False, stall_after=[300_000])) as site,
        pytest.raises(ValueError, match=r"is too large: at most 10000"),
    ):
        get(site, tmp_path / "a", sha256=SHA, size_limit=10_000, timeout=10)
    assert names(tmp_path) == []


TWO_LINES = b"one\ntwo\n"


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://example.org/a", "data:,a", "a.txt", "http:///a", ""]
)
def test_only_http_addresses(url: str, tmp_path) -> None:
    with pytest.raises(ValueError, match="no address that begins with https"):
        download(url, tmp_path / "a")


@pytest.mark.parametrize("to", ["file:///etc/hostname", "ftp://127.0.0.1/a", "data:,a"])
def test_a_redirect_to_elsewhere_is_refused(to: str, tmp_path) -> None:
    with (
        serving(Site(TWO_LINES, redirect=to)) as site,
        pytest.raises((ValueError, OSError), match=r"no address|not allowed|unknown url|Redirection"),
    ):
        download(site.url, tmp_path / "a", pause=0, retries=0)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_is_followed(tmp_path) -> None:
    with serving(Site(TWO_LINES)) as site:
        site.redirect = site.url.replace("/file", "/elsewhere")
        download(site.url, tmp_path / "a", sha256=sha256_of(TWO_LINES))
    assert len(site.seen) == 2


def test_a_redirect_that_gives_up_encryption_is_refused() -> None:
    check_address("https://example.org/b", came_from="http://example.org/a")
    with pytest.raises(ValueError, match="not encrypted"):
        check_address("http://example.org/b", came_from="https://example.org/a")


def test_nobody_listens(tmp_path) -> None:
    with serving(Site(TWO_LINES)) as site:
        pass
    with pytest.raises(OSError, match=r"refused.*\(2 tries in a row\)"):
        download(site.url, tmp_path / "a", retries=1, pause=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size_limit": 0}, "size_limit must be at least 1, got 0"),
        ({"retries": -1}, "retries must be at least 0, got -1"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"pause": -1}, "pause at least 0"),
    ],
)
def test_a_bad_argument_is_named(options, message: str, tmp_path) -> None:
    with pytest.raises(ValueError, match=message):
        download("http://127.0.0.1/a", tmp_path / "a", **options)


def test_a_check_sees_the_file_before_it_gets_its_name(tmp_path) -> None:
    seen = []

    def check(path: Path) -> None:
        seen.append((path.read_bytes(), (tmp_path / "a").exists()))
        if len(seen) == 2:
            raise ValueError("wrong content")

    with serving(Site(TWO_LINES)) as site:
        download(site.url, tmp_path / "a", check=check)
        (tmp_path / "a").write_bytes(b"mine")
        with pytest.raises(ValueError, match="wrong content"):
            download(site.url, tmp_path / "a", check=check)
    assert seen == [(TWO_LINES, False), (TWO_LINES, True)]
    assert (tmp_path / "a").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_named(tmp_path) -> None:
    with serving(Site(TWO_LINES)) as site, pytest.raises(FileNotFoundError, match="nowhere"):
        download(site.url, tmp_path / "nowhere" / "a", retries=0)


def test_an_encoded_file_is_refused(tmp_path) -> None:
    with (
        serving(Site(TWO_LINES, encoding="gzip")) as site,
        pytest.raises(ValueError, match="encoded as gzip, which was not asked for"),
    ):
        download(site.url, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_what_came_is_kept(tmp_path) -> None:
    content = bytes(range(256)) * 2000
    program = (
        "import resource, sys; from coursepkg.data.download import download; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); download(sys.argv[1], sys.argv[2])"
    )
    command = [sys.executable, "-c", program]
    with serving(Site(content)) as site:
        done = subprocess.run(
            [*command, site.url, tmp_path / "a"], capture_output=True, text=True, check=False
        )
        assert done.stderr.splitlines()[-1].startswith("OSError: [Errno 27]")
        assert done.stderr.rstrip().endswith(f"{str(tmp_path / 'a.part')!r}")
        kept = (tmp_path / "a.part").stat().st_size
        download(site.url, tmp_path / "a")
    assert kept == 200_000
    assert site.seen[1]["Range"] == "bytes=200000-"
    assert (tmp_path / "a").read_bytes() == content


def test_killed_half_way_it_goes_on(tmp_path) -> None:
    """A process that is killed, not stopped, leaves a part that the next one continues."""
    content = bytes(range(256)) * 2000
    program = "import sys; from coursepkg.data.download import download; download(sys.argv[1], sys.argv[2], timeout=60)"
    with serving(Site(content, stall_after=[200_000])) as site:
        process = subprocess.Popen([sys.executable, "-c", program, site.url, str(tmp_path / "a")])
        try:
            part = tmp_path / "a.part"
            for _ in range(3000):
                if part.is_file() and part.stat().st_size > 100_000:
                    break
                site.stop.wait(0.01)
        finally:
            process.kill()
            process.wait()
        kept = part.stat().st_size
        assert 100_000 < kept <= 200_000
        download(site.url, tmp_path / "a", pause=0)
    assert site.seen[-1]["Range"] == f"bytes={kept}-"
    assert (tmp_path / "a").read_bytes() == content


THREE_LINES = b"one\ntwo\nthree\n"
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


def test_a_known_checksum_is_required(tmp_path) -> None:
    with serving(Site(THREE_LINES)) as site:
        good = some_set(DataFile("a.txt", site.url, sha256_of(THREE_LINES), lines=3), DataFile("b.txt"))
        arrivals = fetch(good, tmp_path / "set", load=quick)
        assert [(one.path, one.how, one.first_seen) for one in arrivals] == [
            ("a.txt", "downloaded", False),
            ("b.txt", "on request", False),
        ]
        assert [one.how for one in fetch(good, tmp_path / "set", load=quick)] == ["present", "on request"]
        assert len(site.seen) == 1
        bad = some_set(DataFile("c.txt", site.url, "0" * 64))
        with pytest.raises(ValueError, match=f"is {sha256_of(THREE_LINES)} instead of 0000"):
            fetch(bad, tmp_path / "set", load=quick)
    assert (tmp_path / "set" / "a.txt").read_bytes() == THREE_LINES
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["a.txt", LOCK]


def test_the_first_download_is_trusted_and_later_ones_must_equal_it(tmp_path) -> None:
    folder = tmp_path / "set"
    with serving(Site(THREE_LINES)) as site:
        wanted = some_set(DataFile("a.txt", site.url))
        (first,) = fetch(wanted, folder, load=quick)
        assert (first.sha256, first.first_seen) == (sha256_of(THREE_LINES), True)
        record = json.loads((folder / LOCK).read_text())
        assert record["files"] == {"a.txt": {"url": site.url, "sha256": sha256_of(THREE_LINES)}}
        (folder / "a.txt").unlink()
        site.content, site.etag = b"other\n", '"v2"'
        with pytest.raises(ValueError, match=f"recorded at the first download in .*{LOCK}: remove it there"):
            fetch(wanted, folder, load=quick)
        assert not (folder / "a.txt").exists()
        site.content = THREE_LINES
        (again,) = fetch(wanted, folder, load=quick)
        assert (again.how, again.first_seen) == ("downloaded", False)
        (folder / "a.txt").write_bytes(b"edited")
        with pytest.raises(ValueError, match=r"a\.txt is not the file that .* gives .*; move it away"):
            fetch(wanted, folder, load=quick)
    assert (folder / "a.txt").read_bytes() == b"edited"


def test_a_record_of_another_address_says_nothing(tmp_path) -> None:
    with serving(Site(THREE_LINES)) as site, serving(Site(b"new\n")) as other:
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
    with serving(Site(THREE_LINES)) as site:
        with pytest.raises(ValueError, match="3 lines instead of 4; the file was changed"):
            fetch(some_set(DataFile("a.txt", site.url, lines=4)), tmp_path, load=quick)
        assert list(tmp_path.iterdir()) == []


def test_a_set_without_addresses_says_how_to_ask(tmp_path) -> None:
    with pytest.raises(
        ValueError, match=r"some_set cannot be downloaded: ask the tester; put the files into .*set$"
    ):
        fetch(some_set(DataFile("a")), tmp_path / "set", load=quick)
    assert not (tmp_path / "set").exists()


def test_a_file_without_an_address_is_compared_where_it_is_there(tmp_path) -> None:
    wanted = some_set(DataFile("a.txt", sha256=sha256_of(THREE_LINES)), DataFile("b.txt"))
    (tmp_path / "a.txt").write_bytes(THREE_LINES)
    first, second = fetch(wanted, tmp_path, load=quick)
    assert (first.how, first.sha256, second.how) == ("present", sha256_of(THREE_LINES), "on request")
    (tmp_path / "a.txt").write_bytes(b"other\n")
    with pytest.raises(
        ValueError, match=r"a\.txt is not the file on record \(its SHA-256 is not .*\); copy it again$"
    ):
        fetch(wanted, tmp_path, load=quick)


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
    with serving(Site(THREE_LINES)) as site:
        wanted = some_set(DataFile("a.txt", site.url), DataFile("b.txt"))
        monkeypatch.setitem(registry.SETS, "some_set", wanted)
        assert cli.main(["data", "fetch", "some-set", "--out", str(tmp_path / "here"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    folder = tmp_path / "here" / "some_set"
    assert f"{folder / 'a.txt'}: downloaded, SHA-256 {sha256_of(THREE_LINES)} (none was known" in out
    assert f"not downloaded: b.txt; ask the tester; put them into {folder}" in out
    (one,) = json.loads(out.splitlines()[-1])["sets"]
    assert [file["how"] for file in one["files"]] == ["downloaded", "on request"]
