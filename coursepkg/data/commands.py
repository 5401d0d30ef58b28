"""Options of `coursepkg data`: `list` the sets, `fetch` those with a public address."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from coursepkg.app.output import print_json
from coursepkg.data.registry import (
    SETS,
    DataSet,
    attribution_of,
    data_folder,
    find_set,
    folder_of,
    missing_files,
)


@dataclass(frozen=True)
class List:
    """List every data set: whether it is here, where, its licence, how to get it."""

    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print one JSON document as the last line."""

    def run(self) -> int:
        """Print the sets; return 0 whether they are here or not."""
        rows = [describe_set(one) for one in SETS.values()]
        print(f"data folder: {data_folder()} (set COURSEPKG_DATA to use another)")
        for row in rows:
            print(f"\n{row['name']}: {row['summary']}")
            print(f"  here     {_state(row)}")
            print(f"  licence  {row['licence']}")
            for line in _ways(row):
                print(f"  get it   {line}")
            if row["attribution"]:
                print(
                    "  credit   what you ship and made from it needs the text that"
                    f" coursepkg.data.attribution_of({row['name']!r}) gives"
                )
        if self.json:
            print_json({"folder": str(data_folder()), "sets": rows})
        return 0


@dataclass(frozen=True)
class Fetch:
    """Download data sets and check them against their SHA-256.

    Files that are here already are checked, too.
    """

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="NAME", help=f"Of {', '.join(SETS)}."),
    ]
    """Sets to fetch."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder that gets a folder for each set; by default the data folder."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print one JSON document as the last line."""

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError(f"NAME is missing; name one or more of {', '.join(SETS)}")
        for name in self.names:
            find_set(name)
        if self.out is not None and self.out.exists() and not self.out.is_dir():
            raise ValueError(f"--out {self.out} is a file; name a folder")

    def run(self) -> int:
        """Fetch the sets in turn; return 0 when all that have an address are here."""
        from coursepkg.data.download import fetch

        results = []
        for wanted in dict.fromkeys(find_set(name) for name in self.names):
            folder = folder_of(wanted.name, self.out)
            arrivals = fetch(wanted, folder)
            for one in arrivals:
                print(
                    f"{folder / one.path}:"
                    f" {one.how}{_trust(one.sha256, one.first_seen)}"
                )
            absent = [one.path for one in arrivals if one.how == "on request"]
            if absent:
                print(
                    f"{wanted.name}: not downloaded: {', '.join(absent)}; {wanted.ask};"
                    f" put them into {folder}"
                )
            print(f"{wanted.name}: licence: {wanted.licence}")
            if attribution := attribution_of(wanted.name):
                print(f"{wanted.name}: beside what you ship:\n{attribution.rstrip()}")
            files = [
                {
                    "path": one.path,
                    "how": one.how,
                    "sha256": one.sha256,
                    "first_seen": one.first_seen,
                }
                for one in arrivals
            ]
            results.append({"name": wanted.name, "folder": str(folder), "files": files})
        if self.json:
            print_json({"sets": results})
        return 0


Data = List | Fetch
"""What `coursepkg data` takes."""


def describe_set(one: DataSet) -> dict[str, Any]:
    """What `data list --json` says about a set."""
    missing = missing_files(one.name)
    return {
        "name": one.name,
        "summary": one.summary,
        "licence": one.licence,
        "folder": str(folder_of(one.name)),
        "present": not missing,
        "files": [file.path for file in one.files],
        "missing": missing,
        "downloadable": [file.path for file in one.downloadable],
        "ask": one.ask,
        "attribution": attribution_of(one.name),
    }


def _state(row: dict[str, Any]) -> str:
    if row["present"]:
        return f"yes, in {row['folder']}"
    if len(row["missing"]) == len(row["files"]):
        return f"no; it belongs into {row['folder']}"
    return f"in part, in {row['folder']}; missing: {', '.join(row['missing'])}"


def _ways(row: dict[str, Any]) -> list[str]:
    lines = []
    if row["downloadable"]:
        lines.append(
            f"coursepkg data fetch {row['name']} ({', '.join(row['downloadable'])})"
        )
    if len(row["downloadable"]) < len(row["files"]):
        lines.append(row["ask"])
    return lines


def _trust(sha256: str | None, first_seen: bool) -> str:
    if sha256 is None:
        return ""
    return f", SHA-256 {sha256}" + (
        " (none was known; later downloads must equal it)" if first_seen else ""
    )
