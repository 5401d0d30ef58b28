"""Splits of clips: nobody on two sides, every word everywhere where that can be, and said where it cannot."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.splits import (
    SHARES,
    ClipSplit,
    leave_one_signer_out,
    split_clips,
)
from tests.projects.sign_language.data.sets import named_clips

WORDS = [f"word {number:02}" for number in range(12)]
SIGNERS = [f"signer {number:02}" for number in range(10)]


def long_tail() -> list[ClipFile]:
    """Twelve words by ten signers; a rare word has one clip each of five of them."""
    counts = {}
    for place, word in enumerate(WORDS):
        rare = place >= 8
        for number, signer in enumerate(SIGNERS):
            if not rare or number % 2 == place % 2:
                counts[word, signer] = 1 if rare else 4
    return named_clips(counts)


def signers_of(files: list[ClipFile], split: ClipSplit) -> list[set[str]]:
    return [{files[i].signer for i in numbers} for numbers in split.parts.values()]


def check_partition(files: list[ClipFile], split: ClipSplit) -> None:
    assert sorted(split.train + split.dev + split.test) == list(range(len(files)))
    for name, numbers in split.parts.items():
        here = {files[i].label for i in numbers}
        assert split.absent[name] == tuple(sorted({file.label for file in files} - here))


def test_signers_stay_together_and_every_part_has_every_word() -> None:
    files = long_tail()
    for seed in range(3):
        split = split_clips(files, "signer", seed=seed)
        check_partition(files, split)
        train, dev, test = signers_of(files, split)
        assert not train & dev
        assert not train & test
        assert not dev & test
        assert split.absent == {"train": (), "dev": (), "test": ()}
        for name, numbers in split.parts.items():
            assert abs(len(numbers) / len(files) - SHARES[name]) < 0.11


def test_a_random_split_has_the_same_signers_on_every_side() -> None:
    files = long_tail()
    split = split_clips(files, "clip")
    check_partition(files, split)
    train, _, test = signers_of(files, split)
    assert len(train & test) >= 8
    assert split.absent == {"train": (), "dev": (), "test": ()}


@settings(max_examples=30)
@given(st.data())
def test_no_key_is_ever_on_two_sides(data: st.DataObject) -> None:
    pairs = st.tuples(st.sampled_from(WORDS[:4]), st.sampled_from(SIGNERS[:6]))
    counts = data.draw(st.dictionaries(pairs, st.integers(1, 4), min_size=6))
    files = named_clips(counts, tape=2)
    copies = [[data.draw(st.integers(0, 3))] if data.draw(st.booleans()) else [] for _ in files]
    protocol = data.draw(st.sampled_from(["group", "signer"]))
    try:
        split = split_clips(files, protocol, copies=copies, tries=4)
    except ValueError as told:
        assert "files must hold at least 3" in str(told)  # noqa: PT017
        return
    check_partition(files, split)
    for left, right in (("train", "dev"), ("train", "test"), ("dev", "test")):
        for i in split.parts[left]:
            for j in split.parts[right]:
                assert files[i].group != files[j].group
                assert not set(copies[i]) & set(copies[j])
                assert protocol == "group" or files[i].signer != files[j].signer


def test_the_order_of_the_files_says_nothing() -> None:
    files = long_tail()
    order = sorted(range(len(files)), key=lambda i: str(files[i].path)[::-1])
    one, other = split_clips(files, "signer"), split_clips([files[i] for i in order], "signer")
    assert one.fingerprint == other.fingerprint
    assert {files[i].path for i in one.test} == {files[order[i]].path for i in other.test}
    assert split_clips(files, "signer", seed=1).fingerprint != one.fingerprint
    moved = [ClipFile(Path("/another/machine") / file.path, file.label, file.signer) for file in files]
    assert split_clips(moved, "signer").fingerprint == one.fingerprint


def test_a_word_with_one_clip_is_trained_on_and_said_to_be_untested() -> None:
    files = [*long_tail(), ClipFile(Path("alone/1.mp4"), "alone", "signer 03")]
    for protocol in ("clip", "group", "signer"):
        split = split_clips(files, protocol)
        check_partition(files, split)
        assert len(files) - 1 in split.train
        assert split.absent == {"train": (), "dev": ("alone",), "test": ("alone",)}
        assert "test:" in split.report(files)
        assert "lacks 1 word: alone" in split.report(files)


def test_a_word_of_two_signers_is_tested_rather_than_developed_on() -> None:
    files = [*long_tail(), *named_clips({("pair", "signer 01"): 2, ("pair", "signer 02"): 2})]
    split = split_clips(files, "signer", tries=256)
    assert "pair" not in split.absent["train"]
    assert split.absent["test"] == ()
    assert split.absent["dev"] == ("pair",)


def test_a_long_tail_of_many_groups_keeps_its_shape() -> None:
    sizes = {word: max(4, 60 // (place + 1)) for place, word in enumerate(WORDS)}
    files = named_clips({(word, ""): size for word, size in sizes.items()})
    split = split_clips(files, "clip", tries=8)
    assert split.absent == {"train": (), "dev": (), "test": ()}
    counts = Counter(files[i].label for i in split.train)
    for word, size in sizes.items():
        assert abs(counts[word] - 0.7 * size) <= 2


def test_leaving_one_signer_out_tests_only_what_others_sign() -> None:
    files = named_clips({("a", "An"): 2, ("a", "Bình"): 1, ("b", "An"): 1, ("c", "Chi"): 1, ("a", ""): 1})
    folds = dict(leave_one_signer_out(files))
    assert list(folds) == ["An", "Bình"]
    tested = [(files[i].label, files[i].signer) for i in folds["An"].test]
    assert tested == [("a", "An"), ("a", "An")]
    assert all(files[i].signer != "An" for i in folds["An"].train)
    assert {files[i].label for i in folds["An"].train} == {"a", "c"}
    assert folds["An"].dev == ()
    copy = [[] for _ in files]
    copy[0] = copy[5] = ["same"]
    linked = dict(leave_one_signer_out(files, copies=copy))
    assert 5 not in linked["An"].train


def test_bad_arguments_are_named() -> None:
    files = long_tail()
    with pytest.raises(ValueError, match="protocol must be one of clip, group, signer, got 'word'"):
        split_clips(files, "word")
    with pytest.raises(ValueError, match="files must hold at least one clip, got none"):
        split_clips([])
    with pytest.raises(ValueError, match="at least 3 signers for train, dev and test, got 1"):
        split_clips([file for file in files if file.signer == SIGNERS[0]])
    with pytest.raises(ValueError, match=r"x\.mp4: a clip without a word"):
        split_clips([*files, ClipFile(Path("x.mp4"), "")])
    with pytest.raises(ValueError, match="copies must have one entry a clip, 340, got 1"):
        split_clips(files, copies=[[]])
    with pytest.raises(ValueError, match=r"files must differ, got word 00/signer 00-0\.mp4 twice"):
        split_clips([*files, files[0]])
