"""Files and folders that appear whole or not at all."""

import os
import sys
from pathlib import Path

import pytest

from coursepkg.files import name_kernel_folder, whole_file, whole_folder


def write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")

    def fill_disk() -> None:
        with whole_file(path) as file:
            file.write(b"half of")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '.*/file'$"):
        fill_disk()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without space")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    (tmp_path / "file.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/file'$"):
        write(tmp_path / "file", b"content")
    assert not (tmp_path / "file").exists()


def test_what_stops_the_block_passes_through(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "file"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_missing_folders_are_made_and_a_failure_leaves_none_of_them(tmp_path: Path) -> None:
    place, there = tmp_path / "new" / "inner", tmp_path / "there"
    there.mkdir()
    for writer in (whole_file, whole_folder):
        for folder in (place, there):
            with pytest.raises(KeyboardInterrupt), writer(folder / "out"):
                raise KeyboardInterrupt
        assert list(tmp_path.iterdir()) == [there]
    write(place / "file", b"content")
    with whole_folder(place / "folder" / "deep") as part:
        (part / "a").touch()
    with pytest.raises(KeyboardInterrupt), whole_file(place / "other" / "file"):
        raise KeyboardInterrupt
    assert sorted(path.name for path in place.iterdir()) == ["file", "folder"]


def test_what_else_came_into_a_new_folder_stays_there_after_a_failure(tmp_path: Path) -> None:
    def stopped() -> None:
        with whole_file(tmp_path / "new" / "file"):
            write(tmp_path / "new" / "other", b"content")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["other"]


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path / "taken", b"")
    for path in (tmp_path / "taken" / "file", tmp_path / "taken" / "inner" / "file"):
        with pytest.raises(NotADirectoryError, match="taken"):
            write(path, b"")
    assert (tmp_path / "taken").is_file()


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with whole_folder(folder) as part:
        (part / "old").write_text("old")
        assert not folder.exists()

    def stopped() -> None:
        with whole_folder(folder) as part:
            (part / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [path.name for path in folder.iterdir()] == ["old"]
    with whole_folder(folder) as part:
        (part / "new").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_an_older_folder_stays_where_the_new_one_gets_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    folder, rename = tmp_path / "folder", os.rename
    folder.mkdir()
    (folder / "old").write_text("old")

    def refuse(source: Path, target: Path) -> None:
        if Path(source) == tmp_path / "folder.part":
            raise kind(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(kind, match="Input/output error"), whole_folder(folder) as part:
        (part / "new").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [folder]


def test_a_cache_in_a_closed_folder_names_no_place_for_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = os.stat

    def refuse(path: str | Path, *rest: object, **named: object) -> os.stat_result:
        if "closed" in Path(str(path)).parts[:-1]:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *rest, **named)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "closed" / "cache"))
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    name_kernel_folder()
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ
