"""Whatever stands in two parts is found, and nothing else."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.splits import (
    PROTOCOLS,
    clips_concerned,
    find_leaks,
    leaks_as_json,
    leaks_as_text,
    split_clips,
)
from tests.projects.sign_language.data.sets import named_clips

FILES = [
    ClipFile(Path("0.mp4"), "ăn", "An", "tape 1"),
    ClipFile(Path("1.mp4"), "ăn", "Bình", "tape 2"),
    ClipFile(Path("2.mp4"), "ăn", "Bình", "tape 3"),
    ClipFile(Path("3.mp4"), "ăn", "", "tape 3"),
    ClipFile(Path("4.mp4"), "ăn"),
    ClipFile(Path("5.mp4"), "ăn"),
]
PARTS = {"train": (0, 1, 4), "dev": (2,), "test": (3, 5)}
COPIES = [["a"], [], ["b"], ["a", "b"], [], []]


def test_signers_recordings_and_copies_are_found() -> None:
    leaks = find_leaks(FILES, PARTS, COPIES)
    assert [(leak.kind, leak.name, leak.clips) for leak in leaks] == [
        ("signer", "Bình", {"train": ("1.mp4",), "dev": ("2.mp4",)}),
        ("recording", "tape 3", {"dev": ("2.mp4",), "test": ("3.mp4",)}),
        ("copies", "0.mp4", {"train": ("0.mp4",), "test": ("3.mp4",)}),
        ("copies", "2.mp4", {"dev": ("2.mp4",), "test": ("3.mp4",)}),
    ]
    assert clips_concerned(leaks) == {"train": 2, "dev": 1, "test": 1}


def test_the_text_counts_and_names_them() -> None:
    leaks = find_leaks(FILES, PARTS, COPIES)
    lines = leaks_as_text(leaks, PARTS).splitlines()
    assert lines[0] == (
        "LEAKS: 1 signer stands in several parts; clips concerned: 1 of 3 in train, 1 of 1 in dev, 0 of 2 in test"
    )
    assert lines[1] == "  Bình: 1 in train, 1 in dev"
    assert sum(line.startswith("LEAKS") for line in lines) == 3
    assert lines[2].startswith("LEAKS: 1 recording was cut into clips of several parts; ")
    assert lines[4].startswith("LEAKS: 2 groups of copies stand in several parts; ")
    assert leaks_as_json(leaks)[0]["clips"] == {"train": ["1.mp4"], "dev": ["2.mp4"]}
    many = [ClipFile(Path(f"{i}.mp4"), "ăn", f"signer {i // 2}") for i in range(14)]
    shared = find_leaks(many, {"train": range(0, 14, 2), "test": range(1, 14, 2)})
    assert leaks_as_text(shared, {"train": range(7), "test": range(7)}).endswith("  ... and 2 more")


def test_unknown_signers_and_clips_in_no_part_leak_nothing() -> None:
    parts = {"train": (0, 4), "dev": (), "test": (5,)}
    assert find_leaks(FILES, parts, COPIES) == ()
    assert leaks_as_text((), parts) == "leaks: none, no signer, recording or copy stands in two parts"
    told = leaks_as_text((), parts, signers_known=False)
    assert told == "leaks: none, no recording or copy stands in two parts; signers could not be looked at"
    some = leaks_as_text(find_leaks(FILES, PARTS, COPIES), PARTS, signers_known=False)
    assert some.startswith("signers could not be looked at for leaks\nLEAKS: ")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_split_leaks_what_its_protocol_cuts_apart(protocol: str) -> None:
    words, signers = ("ăn", "uống", "ngủ"), "ABCDEF"
    files = named_clips({(word, signer): 6 for word in words for signer in signers}, tape=3)
    split = split_clips(files, protocol)
    kinds = {leak.kind for leak in find_leaks(files, split.parts)}
    assert kinds == {"clip": {"signer", "recording"}, "group": {"signer"}, "signer": set()}[protocol]
