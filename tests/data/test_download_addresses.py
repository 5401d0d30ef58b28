"""Where a download may go, what it checks before it starts and before it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from coursepkg.data.download import download
from coursepkg.data.transfer import check_address
from tests.data.server import Site, serving, sha256_of

CONTENT = b"one\ntwo\n"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://example.org/a", "data:,a", "a.txt", "http:///a", ""]
)
def test_only_http_addresses(url: str, tmp_path) -> None:
    with pytest.raises(ValueError, match="no address that begins with https"):
        download(url, tmp_path / "a")


@pytest.mark.parametrize("to", ["file:///etc/hostname", "ftp://127.0.0.1/a", "data:,a"])
def test_a_redirect_to_elsewhere_is_refused(to: str, tmp_path) -> None:
    with (
        serving(Site(CONTENT, redirect=to)) as site,
        pytest.raises((ValueError, OSError), match=r"no address|not allowed|unknown url|Redirection"),
    ):
        download(site.url, tmp_path / "a", pause=0, retries=0)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_is_followed(tmp_path) -> None:
    with serving(Site(CONTENT)) as site:
        site.redirect = site.url.replace("/file", "/elsewhere")
        download(site.url, tmp_path / "a", sha256=sha256_of(CONTENT))
    assert len(site.seen) == 2


def test_a_redirect_that_gives_up_encryption_is_refused() -> None:
    check_address("https://example.org/b", came_from="http://example.org/a")
    with pytest.raises(ValueError, match="not encrypted"):
        check_address("http://example.org/b", came_from="https://example.org/a")


def test_nobody_listens(tmp_path) -> None:
    with serving(Site(CONTENT)) as site:
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

    with serving(Site(CONTENT)) as site:
        download(site.url, tmp_path / "a", check=check)
        (tmp_path / "a").write_bytes(b"mine")
        with pytest.raises(ValueError, match="wrong content"):
            download(site.url, tmp_path / "a", check=check)
    assert seen == [(CONTENT, False), (CONTENT, True)]
    assert (tmp_path / "a").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_named(tmp_path) -> None:
    with serving(Site(CONTENT)) as site, pytest.raises(FileNotFoundError, match="nowhere"):
        download(site.url, tmp_path / "nowhere" / "a", retries=0)


def test_an_encoded_file_is_refused(tmp_path) -> None:
    with (
        serving(Site(CONTENT, encoding="gzip")) as site,
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
