"""What a command hands over: its findings as one JSON document, in a file or as its last line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file


def print_json(document: Mapping[str, Any] | list[Any]) -> None:
    """The last line of a command that was asked for `--json`."""
    print(json.dumps(document, ensure_ascii=False))


def check_out_file(out: Path | None, example: str) -> None:
    """Look at `--out` before the work begins, where a verb writes one file.

    Args:
        out: where to; None writes nothing.
        example: a file's name for the message.

    Raises:
        ValueError: it is a folder, or lies in something that is none.
    """
    if out is None:
        return
    if out.is_dir():
        raise ValueError(f"--out {out} is a folder; name a file in it, such as {out / example}")
    _check_parents(out)


def check_out_folder(out: Path | None) -> None:
    """Look at `--out` before the work begins, where a verb writes a folder.

    Args:
        out: where to; None writes nothing.

    Raises:
        ValueError: it is a file, or lies in something that is no folder.
    """
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; name a folder")
    _check_parents(out)


def hand_over(document: Mapping[str, Any], *, out: Path | None, as_json: bool) -> None:
    """Write a document where `--out` says, and print it where `--json` asks for it.

    Args:
        document: as JSON can hold it.
        out: the file; it appears whole or not at all, in place of an older one. None writes none.
        as_json: whether it is the last line.

    Raises:
        OSError: the file cannot be written.
    """
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out) as file:
            file.write((json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())
        print(f"written to {out}")
    if as_json:
        print_json(document)


def _check_parents(out: Path) -> None:
    nearest = next((folder for folder in out.absolute().parents if folder.exists()), None)
    if nearest is not None and not nearest.is_dir():
        raise ValueError(f"--out {out}: {nearest} is a file, nothing can lie in it; name another place")
