"""What a command leaves behind: JSON documents, text files, lines for the user."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file

Log = Callable[[str], None]
"""Receives one line at a time."""


def log_to_stderr(line: str) -> None:
    """Print a line beside the results of a command."""
    print(line, file=sys.stderr)


def silent(line: str) -> None:
    """Drop a line."""


def print_json(document: Mapping[str, Any] | list[Any]) -> None:
    """Print the last line of a command that was asked for `--json`."""
    print(json.dumps(document, ensure_ascii=False))


def check_out_file(out: Path | None, example: str) -> None:
    """Look at `--out` before the work begins, where a verb writes one file.

    Args:
        out: where to; None writes nothing.
        example: a file's name for the message.

    Raises:
        ValueError: it is a folder, or lies in something that is none.
    """
    if out is not None and out.is_dir():
        raise ValueError(
            f"--out {out} is a folder; name a file in it, such as {out / example}"
        )
    _check_parents(out)


def check_out_folder(out: Path | None) -> None:
    """Look at `--out` before the work begins, where a verb writes a folder.

    Args:
        out: where to; None writes nothing.

    Raises:
        ValueError: it is a file, or lies in something that is no folder.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; name a folder")
    _check_parents(out)


def required_out(out: Path | None, what: str = "the folder to write") -> Path:
    """The folder that `--out` names, looked at before the work begins.

    Raises:
        ValueError: it is not given, is a file, or lies in something that is no folder.
    """
    if out is None:
        raise ValueError(f"--out FOLDER must be given, {what}")
    check_out_folder(out)
    return out


def write_json_output(
    document: Mapping[str, Any], *, out: Path | None, as_json: bool
) -> None:
    """Write a document where `--out` says, and print it where `--json` asks for it.

    Args:
        document: as JSON can hold it.
        out: the file; it appears whole or not at all, in place of an older one. None
            writes none.
        as_json: whether it is the last line.

    Raises:
        OSError: the file cannot be written.
    """
    if out is not None:
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        write_texts(out.parent, {out.name: text})
        print(f"written to {out}")
    if as_json:
        print_json(document)


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write UTF-8 files into a folder, each one whole or not at all.

    Bytes of file names that are no UTF-8 are written as they are.

    Args:
        folder: it is made where it is missing.
        texts: by the name of the file.

    Raises:
        OSError: a file cannot be written.
    """
    for name, text in texts.items():
        with whole_file(folder / name) as file:
            file.write(text.encode("utf-8", "surrogateescape"))


def _check_parents(out: Path | None) -> None:
    if out is None:
        return
    nearest = next((one for one in out.absolute().parents if one.exists()), None)
    if nearest is not None and not nearest.is_dir():
        raise ValueError(
            f"--out {out}: {nearest} is a file, nothing can lie in it; name another "
            "place"
        )
