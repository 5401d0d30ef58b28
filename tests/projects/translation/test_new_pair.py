"""A language pair is one entry in the tables of `text/languages.py` and a data folder, as book/modules.md says."""

import json
import subprocess
import sys

import pytest

from coursepkg.projects.translation.predict import PHRASEBOOK
from tests.projects.translation.tiny import environment, sentences, write_lines

ENTRY = """
import sys
from coursepkg.text import languages

languages.LANGUAGES["fr"] = languages.Language("French", "abcdefghijklmnopqrstuvwxyzéèêàçTIY")
languages.PAIRS = (*languages.PAIRS, "fr-vi")
"""
"""What the two lines in `languages.py` do, before anything else of the package is imported."""
VERBS = """
import contextlib, io, json
from coursepkg.cli import main

for line in json.load(sys.stdin):
    told, faults = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(faults):
        code = main(["translation", *line])
    print(json.dumps([code, told.getvalue(), faults.getvalue()]))
"""
DIRECTION = ["--from", "fr", "--to", "vi"]
SIZES = ("d-model", 16), ("d-ff", 32), ("n-heads", 2), ("n-kv-heads", 1), ("n-encoder-layers", 1)
SMALL = [word for name, size in SIZES for word in (f"--{name}", str(size))]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """What the verbs say in one process whose tables have French."""
    folder = tmp_path_factory.mktemp("fr")
    rows = [row for row in sentences() if row[2].startswith(("I", "You"))]
    write_lines(folder / "data" / "fr_vi" / "train.fr", [row[2] for row in rows] + [rows[0][2]])
    write_lines(folder / "data" / "fr_vi" / "train.vi", [row[1] for row in rows] + [rows[0][1]])
    run, back, hard = (str(folder / name) for name in ("run", "back", "evaluation"))
    write_lines(folder / "mono.vi", ["Tôi thích năm quả táo ."])
    lines = {
        "audit": ["audit", *DIRECTION, "--json"],
        "random": ["audit", *DIRECTION, "--random-split"],
        "describe": ["describe", *DIRECTION, "--json"],
        "train": [
            *("train", *DIRECTION, "--preset", "tiny", "--vocab-size", "150", "--reverse", "1.0"),
            *("--max-epochs", "1", *SMALL, "--out", run),
        ],
        "evaluate": [
            *("evaluate", *DIRECTION, "--model", run, "--limit", "4", "--repair", "--out", hard, "--json"),
        ],
        "predict": ["predict", *DIRECTION, "--model", run, "--text", rows[0][2], "--json"],
        "back": [
            *("back-translate", *DIRECTION, "--model", run, "--mono", str(folder / "mono.vi"), "--out", back),
        ],
        "shipped": ["predict", "--model", str(PHRASEBOOK), "--text", "酒店在哪里？"],
        "other": ["predict", *DIRECTION, "--text", "a"],
        "nothing": ["audit", "--from", "fr", "--to", "zh"],
    }
    ran = subprocess.run(
        [sys.executable, "-c", ENTRY + VERBS],
        input=json.dumps(list(lines.values())),
        capture_output=True,
        text=True,
        check=True,
        env=environment(folder / "data"),
    )
    return dict(zip(lines, map(json.loads, ran.stdout.splitlines()), strict=True))


def test_its_data_are_audited_line_by_line_and_split(said) -> None:
    code, out, _ = said["audit"]
    found = json.loads(out.splitlines()[-1])
    assert (code, found["corpus"], found["leaks"]) == (0, "fr-vi", False)
    assert found["raw_pairs"] == 145
    assert found["duplicates"]["n_exact"] == 144
    assert said["random"][1].splitlines()[-1]
    assert "raw lines split at random" in said["random"][1]


def test_its_words_are_counted_and_its_statistics_printed(said) -> None:
    code, out, _ = said["describe"]
    found = json.loads(out.splitlines()[-1])
    assert (code, found["corpus"], found["from"], found["to"]) == (0, "fr-vi", "fr", "vi")
    assert found["words"]["fr"]["mean"] > 3


def test_it_trains_by_the_preset_tiny_without_a_word_about_data(said) -> None:
    code, out, err = said["train"]
    assert code == 0, err
    assert "fr-vi, fr to vi: " in out
    assert "phrasebook" not in out


def test_it_is_scored_and_its_errors_are_told_without_number_words(said) -> None:
    code, out, err = said["evaluate"]
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert (found["corpus"], found["from"], found["n"]) == ("fr-vi", "fr", 4)
    assert found["errors"]["source_language"] == "fr"
    assert "omission" in found["errors"]["groups"]


def test_it_translates_and_makes_pairs(said) -> None:
    code, out, err = said["predict"]
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])[0]["source_tokens"][0] == "<2vi>"
    # It has learnt nothing, so that its only sentence is left out; nothing else stands in the way.
    assert "1 of 1 sentences" in said["back"][2]


def test_a_shipped_model_stays_as_it_is_and_knows_no_french(said) -> None:
    assert said["shipped"][:2] == [0, "Khách sạn ở đâu?\n"]
    assert said["other"][0] == 2
    assert "does not translate French into Vietnamese" in said["other"][2]


def test_languages_without_a_corpus_are_refused_in_one_line(said) -> None:
    code, _, err = said["nothing"]
    assert (code, len(err.splitlines())) == (2, 1)
