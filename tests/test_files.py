"""Files and folders that appear whole or not at all."""

from pathlib import Path

import pytest

from coursepkg.files import whole_file, whole_folder


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


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write(tmp_path / "nowhere" / "file", b"")


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
