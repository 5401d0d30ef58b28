"""Label mappings: pickles that are plain are read, those that would call anything are refused and nothing runs."""

import json
import os
import pickle
import unicodedata
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.data import label_mapping
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping, read_label_mapping

WORDS = {"Ăn": 0, "An ủi": 1, "Cảm ơn": 2, "Xin lỗi": 3}


class Evil:
    """Unpickled in the usual way, it makes a folder."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.target),)


def written(folder: Path, content: object, protocol: int = 4) -> Path:
    path = folder / "label_mapping.pkl"
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match=r".") as told:
        read_label_mapping(path)
    message = str(told.value)
    assert "\n" not in message
    assert str(path) in message
    return message


@pytest.mark.parametrize("protocol", range(6))
def test_a_plain_dictionary_of_any_protocol_is_read(tmp_path: Path, protocol: int) -> None:
    found = read_label_mapping(written(tmp_path, WORDS, protocol))
    assert found.words == tuple(WORDS)
    assert [found.number(word) for word in WORDS] == [0, 1, 2, 3]
    assert read_label_mapping(tmp_path).words == found.words


def test_order_in_the_file_says_nothing_numbers_do(tmp_path: Path) -> None:
    shuffled = dict(reversed(WORDS.items()))
    assert read_label_mapping(written(tmp_path, shuffled)).words == tuple(WORDS)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("where", ["alone", "as a number", "as a word", "deep inside"])
def test_a_pickle_that_wants_to_run_code_is_refused_and_runs_nothing(
    tmp_path: Path, protocol: int, where: str
) -> None:
    evil = Evil(tmp_path / "made by the pickle")
    content = {
        "alone": evil,
        "as a number": {"Ăn": evil},
        "as a word": {evil: 0},
        "deep inside": {"Ăn": [{"x": (1, evil)}]},
    }[where]
    path = written(tmp_path, content, protocol)
    message = refusal(path)
    assert "is refused: it wants to call" in message
    assert f"{os.mkdir.__module__}.mkdir" in message
    assert not evil.target.exists()
    # The same bytes do run where nothing holds them back, so the refusal is what stopped them.
    if where == "alone":
        pickle.loads(path.read_bytes())
        assert evil.target.exists()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"cbuiltins\neval\n(S'1'\ntR.", "builtins.eval"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"(S'1'\nibuiltins\nexec\n.", "builtins.exec"),
        (pickle.dumps({"Ăn": np.int64(0)}), "numpy"),
        (pickle.dumps(OrderedDict(a=0)), "collections.OrderedDict"),
        (pickle.dumps({"Ăn": Path("x")}), "pathlib"),
        (b"\x80\x02\x82\x01.", "no pickle"),
        (b"Pname\n.", "refers to objects outside"),
    ],
)
def test_whatever_would_be_looked_up_is_named(tmp_path: Path, content: bytes, named: str) -> None:
    message = refusal(written(tmp_path, content))
    assert "is refused" in message
    assert named in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([("Ăn", 0)], "a dictionary from words to numbers, got a list"),
        ({}, "got an empty one"),
        ({"Ăn": "0"}, "the number of 'Ăn' must be an integer in 0..0, got 0"),
        ({"Ăn": True, "Uống": 0}, "the number of 'Ăn' must be an integer in 0..1, got True"),
        ({"Ăn": 0, "Uống": 2}, "must be an integer in 0..1, got 2"),
        ({"Ăn": -1}, "got -1"),
        ({"Ăn": 0, "Uống": 0}, "'Ăn' and 'Uống' both have the number 0"),
        ({0: "Ăn"}, "a word must be a text, got int '0'"),
        ({" ": 0}, "a word must be a text"),
    ],
)
def test_a_mapping_that_is_none_is_told_why(tmp_path: Path, content: object, said: str) -> None:
    assert said in refusal(written(tmp_path, content))


def test_words_in_another_unicode_form_are_composed_and_told(tmp_path: Path) -> None:
    apart = {unicodedata.normalize("NFD", word): number for word, number in WORDS.items()}
    found = read_label_mapping(written(tmp_path, apart))
    assert found.words == tuple(WORDS)
    assert found.composed == tuple(apart)
    assert found.number(unicodedata.normalize("NFD", "Cảm ơn")) == 2
    both = {"Ăn": 0, unicodedata.normalize("NFD", "Ăn"): 1}
    assert "'Ăn' stands twice, in two Unicode forms, with the numbers 0 and 1" in refusal(
        written(tmp_path, both)
    )


def test_json_says_the_same(tmp_path: Path) -> None:
    mapping = read_label_mapping(written(tmp_path, WORDS))
    mapping.write(tmp_path / "label_mapping.json")
    again = read_label_mapping(tmp_path / "label_mapping.json")
    assert again == mapping
    assert again.fingerprint == mapping.fingerprint
    path = tmp_path / "twice.json"
    path.write_text('{"Ăn": 0, "Ăn": 1}')
    assert "the word 'Ăn' stands twice" in refusal(path)
    path.write_text("[" * 100_000)
    assert "is no JSON" in refusal(path)
    path.write_text(json.dumps([WORDS]))
    assert "got a list" in refusal(path)


def outcome(content: bytes) -> LabelMapping | str:
    """The mapping that these bytes are, or why they are refused. Any other exception is one."""
    path = Path("x.pkl")
    try:
        return label_mapping._checked(label_mapping._unpickle(content, path), path)
    except ValueError as told:
        return str(told)


@given(st.binary(max_size=80))
def test_no_bytes_do_anything_but_be_refused_or_read(content: bytes) -> None:
    found = outcome(content)
    assert isinstance(found, LabelMapping) or (found.startswith("x.pkl") and "\n" not in found)


@given(st.integers(0, 60), st.binary(min_size=1, max_size=3))
def test_a_damaged_pickle_is_refused_or_still_plain(at: int, noise: bytes) -> None:
    content = bytearray(pickle.dumps(WORDS, 4))
    content[at : at + len(noise)] = noise
    found = outcome(bytes(content))
    assert isinstance(found, LabelMapping) or found.startswith("x.pkl")


def test_a_file_that_is_missing_or_too_large_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no label_mapping.pkl or label_mapping.json"):
        read_label_mapping(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such label mapping"):
        read_label_mapping(tmp_path / "x.pkl")
    assert "are no list of words" in refusal(written(tmp_path, bytes(5 * 2**20)))


def test_words_of_a_data_set_are_numbered_in_order() -> None:
    mapping = LabelMapping.of_words(["b", "a", "b", "ă"])
    assert mapping.words == ("a", "b", "ă")
    assert len(mapping) == 3
    assert "ă" in mapping
    with pytest.raises(ValueError, match="'c' is none of the 3 words"):
        mapping.number("c")
    with pytest.raises(ValueError, match="'a' twice"):
        LabelMapping(("a", "b", "a"))
