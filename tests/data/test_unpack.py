"""Archives: what is in them comes out, and what should not be in them gets nothing out at all."""

import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from coursepkg.data.unpack import unpack

FILES = {"a.txt": b"one\n", "deep/b.bin": bytes(range(256)) * 300, "deep/er/c": b"", "Tiếng Việt.txt": b"x"}
KINDS = ("zip", "tar", "tar.gz", "tgz", "tar.xz")


def pack(path: Path, members: dict[str, bytes]) -> Path:
    """An archive of the kind that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path
    mode = {".tar": "w", ".gz": "w:gz", ".tgz": "w:gz", ".xz": "w:xz"}[path.suffix]
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.uid = len(content), 0o7777, 0
            if name.endswith("/"):
                member.type = tarfile.DIRTYPE
            archive.addfile(member, io.BytesIO(content))
    return path


def refused(archive: Path, folder: Path, message: str, **limits: int) -> None:
    """The archive is refused in one line, and no trace of it is left anywhere."""
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises(ValueError, match=message) as caught:
        unpack(archive, folder, **limits)
    assert "\n" not in str(caught.value)
    assert archive.name in str(caught.value)
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_packed_comes_out(kind: str, tmp_path) -> None:
    archive = pack(tmp_path / f"a.{kind}", {"./": b"", **FILES} if kind != "zip" else FILES)
    files = unpack(archive, tmp_path / "out" / "set")
    assert files == sorted(map(Path, FILES))
    for name, content in FILES.items():
        file = tmp_path / "out" / "set" / name
        assert file.read_bytes() == content
        assert not file.stat().st_mode & 0o7111
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["set"]


def test_a_single_file_under_gzip(tmp_path) -> None:
    (tmp_path / "train.vi.gz").write_bytes(gzip.compress(b"one\n"))
    assert unpack(tmp_path / "train.vi.gz", tmp_path / "set") == [Path("train.vi")]
    assert (tmp_path / "set" / "train.vi").read_bytes() == b"one\n"


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
@pytest.mark.parametrize(
    "name",
    ["../a", "a/../../b", "/a", "..", "deep/..", "C:/a", "c:a", "..\\a", "\\a", "//server/a", "a/.."],
)
def test_nothing_outside_the_folder(kind: str, name: str, tmp_path) -> None:
    archive = pack(tmp_path / f"a.{kind}", {"fine": b"1", name: b"2"})
    refused(archive, tmp_path / "out" / "set", "outside the folder", **{})


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_no_link_and_no_device_in_a_tar(kind: bytes, tmp_path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("fine"))
        member = tarfile.TarInfo("odd")
        member.type, member.linkname = kind, "fine"
        archive.addfile(member)
    refused(tmp_path / "a.tar", tmp_path / "set", "'odd' is a link or device")


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o010666])
def test_no_link_and_no_device_in_a_zip(mode: int, tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("fine", b"1")
        member = zipfile.ZipInfo("odd")
        member.create_system, member.external_attr = 3, mode << 16
        archive.writestr(member, "/etc/hostname")
    refused(tmp_path / "a.zip", tmp_path / "set", "'odd' is a link or device")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_refused(kind: str, tmp_path) -> None:
    archive = pack(tmp_path / f"a.{kind}", {"one": bytes(600_000), "two": bytes(600_000)})
    refused(archive, tmp_path / "set", "unpacks to more than 1199999 bytes", size_limit=1_199_999)
    assert len(unpack(archive, tmp_path / "set", size_limit=1_200_000)) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_files_are_refused(kind: str, tmp_path) -> None:
    archive = pack(tmp_path / f"a.{kind}", {f"{i}": b"" for i in range(11)})
    refused(archive, tmp_path / "set", "holds more than 10 files", member_limit=10)
    assert len(unpack(archive, tmp_path / "set", member_limit=11)) == 11


def test_a_single_file_that_is_a_bomb(tmp_path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(1_000_000)))
    refused(tmp_path / "a.gz", tmp_path / "set", "more than 999999 bytes", size_limit=999_999)


def test_a_zip_that_lies_about_its_sizes(tmp_path) -> None:
    path = pack(tmp_path / "a.zip", {"one": bytes(1_000_000)})
    content = path.read_bytes().replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    refused(path, tmp_path / "set", "damaged")


def test_a_bomb_in_a_header_is_refused(tmp_path) -> None:
    """A header may be as long as it likes, and is read into memory before anything can be asked about it."""
    member = tarfile.TarInfo("fine")
    member.pax_headers = {"comment": "x" * 3_000_000}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    refused(tmp_path / "a.tar.gz", tmp_path / "set", "more than 1000 bytes", size_limit=1000, member_limit=5)


@pytest.mark.parametrize("kind", [*KINDS, "gz"])
def test_a_damaged_archive_is_named(kind: str, tmp_path) -> None:
    whole = tmp_path / f"a.{kind}"
    if kind == "gz":
        whole.write_bytes(gzip.compress(FILES["deep/b.bin"]))
    else:
        pack(whole, FILES)
    content = whole.read_bytes()
    for broken in (content[: len(content) * 2 // 3], b"<html>not found</html>" * 30, b""):
        (tmp_path / f"broken.{kind}").write_bytes(broken)
        refused(tmp_path / f"broken.{kind}", tmp_path / "set", r"is damaged .*; download it again")


def test_xz_that_is_no_tar(tmp_path) -> None:
    (tmp_path / "a.tar.xz").write_bytes(lzma.compress(b"plain text" * 200))
    refused(tmp_path / "a.tar.xz", tmp_path / "set", "is damaged")


@pytest.mark.parametrize("members", [["a", "a"], ["a", "a/b"], ["a/b", "a"], ["a", "a/"]])
@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_clash_are_refused(members: list[str], kind: str, tmp_path) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in members:
                archive.writestr(name, b"")
    else:
        with tarfile.open(path, "w") as archive:
            for name in members:
                member = tarfile.TarInfo(name)
                member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
                archive.addfile(member)
    refused(path, tmp_path / "set", r"twice|as file and folder")


def test_another_kind_and_a_folder_in_use(tmp_path) -> None:
    (tmp_path / "a.rar").write_bytes(b"Rar!")
    refused(tmp_path / "a.rar", tmp_path / "set", r"needs \.zip")
    archive = pack(tmp_path / "a.zip", FILES)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").write_text("mine")
    with pytest.raises(FileExistsError, match="exists and is not empty; move it away"):
        unpack(archive, tmp_path / "set")
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["mine"]
    (tmp_path / "set" / "mine").unlink()
    assert len(unpack(archive, tmp_path / "set")) == len(FILES)


def test_an_encrypted_zip_says_so(tmp_path) -> None:
    path = pack(tmp_path / "a.zip", {"one": b"1"})
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    path.write_bytes(content)
    refused(path, tmp_path / "set", "'one' is encrypted")
