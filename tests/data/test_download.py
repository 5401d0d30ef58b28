"""Downloads from a server that breaks off, lies and stalls: the file is whole and right, or there is one error."""

import random
from pathlib import Path

import pytest

from coursepkg.data import download as module
from coursepkg.data.download import download
from coursepkg.data.transfer import Piece
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
