"""The commands back-translate, round-trip, lm-train, rerank and decode-study from their options to their files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coursepkg.projects.translation.back_translation import files, generate
from coursepkg.projects.translation.back_translation.generate import Synthetic
from coursepkg.projects.translation.commands import Common
from coursepkg.projects.translation.competition_rules import _check_own
from coursepkg.projects.translation.corpus import read_parallel
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Decoder
from coursepkg.projects.translation.studies.measured_run import report_study
from tests.projects.translation.memorised import PAIRS, memorised, translator
from tests.projects.translation.tiny import run_command


def call(verb: str, *arguments: str) -> int:
    return run_command(verb, "--model", str(memorised()[0]), *arguments)


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "none"))


@pytest.fixture(scope="module")
def mono(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mono") / "ours.vi"
    path.write_text("".join(f"{pair.target}\n" for pair in PAIRS) + "\n", "utf-8")
    return path


def test_back_translate_writes_pairs_and_card(
    mono: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path / "bt"
    held = replace(memorised()[1], dev=PAIRS[:2], test=PAIRS[2:3])
    monkeypatch.setattr(files, "load_parts", lambda *arguments, **options: held)
    assert call("back-translate", "--mono", str(mono), "--out", str(prefix), "--json") == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert document == json.loads(Path(f"{prefix}.json").read_text("utf-8"))
    pairs = read_parallel(f"{prefix}.zh", f"{prefix}.vi")
    assert [pair[:2] for pair in pairs] == [pair[:2] for pair in PAIRS[3:]]
    assert document["corpora"] == ["file ours.vi", "phrasebook"]
    assert document["counts"] == {"empty": 1, "in dev or test": 3}
    assert (document["n_pairs"], document["n_lines"]) == (7, 11)
    with pytest.raises(ValueError, match=r"but --extra was made from file ours\.vi, phrasebook"):
        _check_own(Path(f"{prefix}.json"), "--extra")
    with pytest.raises(ValueError, match=r"bt\.zh already exists"):
        call("back-translate", "--mono", str(mono), "--out", str(prefix))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "-1"], "--limit must be an integer of at least 0"),
        (["--skip", "-1"], "--skip must be an integer of at least 0"),
        (["--skip", "11"], r"--skip 11: file ours\.vi has 11 sentences; none is left"),
        (["--data", "zh-vi"], "say with --mono"),
        (["--sample", "--beam-size", "4"], "a draw has no beams"),
        (["--sample", "--length-penalty", "0.6"], "--sample takes no --length-penalty"),
        (["--top-k", "5"], "top_k needs sampling"),
        (["--sample", "--top-k", "-5"], "top_k must be an integer of at least 1"),
        (["--sample", "--temperature", "0"], "temperature must be above 0"),
        (["--batch-size", "0"], "--batch-size must be an integer of at least 1"),
        (["--from", "en"], "does not translate Vietnamese into English"),
    ],
)
def test_back_translate_refuses(mono: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call("back-translate", "--mono", str(mono), "--out", str(tmp_path / "bt"), *arguments)
    assert list(tmp_path.iterdir()) == []


def test_back_translate_goes_on_behind_the_sentences_of_a_call_before(
    mono: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "bt"
    call("back-translate", "--mono", str(mono), "--skip", "8", "--limit", "2", "--out", str(prefix))
    pairs = read_parallel(f"{prefix}.zh", f"{prefix}.vi")
    lines = mono.read_text("utf-8").splitlines()
    assert [pair.target for pair in pairs] == lines[8:10]


@pytest.fixture
def _small_book(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten pairs in place of the phrasebook: the commands are the same, the work is less."""
    parts = memorised()[1]
    monkeypatch.setattr(
        "coursepkg.projects.translation.corpora.load_parts", lambda *arguments, **options: parts
    )


@pytest.mark.usefixtures("_small_book")
def test_round_trip_writes_one_pair_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = tmp_path / "rt"
    assert call("round-trip", "--data", "phrasebook", "--out", str(prefix), "--json") == 0
    found = read_parallel(f"{prefix}.zh", f"{prefix}.vi")
    assert [pair[:2] for pair in found] == [pair[:2] for pair in PAIRS]
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (document["corpora"], document["pairs"], document["n_pairs"]) == (["phrasebook"], "phrasebook", 10)


@pytest.mark.usefixtures("_small_book")
def test_what_comes_to_nothing_leaves_nothing(
    mono: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "back_translate", lambda *arguments, **options: Synthetic([], {"empty": 1}))
    monkeypatch.setattr(files, "held_out_keys", lambda *languages: set())
    with pytest.raises(ValueError, match="no pair is left to write"):
        call("back-translate", "--mono", str(mono), "--out", str(tmp_path / "bt"))
    model = translator()
    one_way = Translator(model.model, model.subwords, model.recipe, [("zh", "vi")], model.card)
    monkeypatch.setattr(files, "load_system", lambda *options: (one_way, memorised()[0]))
    with pytest.raises(ValueError, match="does not translate Vietnamese into Chinese"):
        call("round-trip", "--data", "phrasebook", "--out", str(tmp_path / "rt"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_small_book")
@pytest.mark.parametrize(
    ("command", "stop_at"), [("back-translate", 6), ("round-trip", 14), ("round-trip", 38)]
)
def test_a_command_that_was_stopped_goes_on(
    command: Any,
    stop_at: int,
    mono: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(generate, "CHUNK", 4)
    held = replace(memorised()[1], dev=(), test=())
    monkeypatch.setattr(files, "load_parts", lambda *arguments, **options: held)
    given = ["--mono", str(mono)] if command == "back-translate" else ["--data", "phrasebook"]
    draw = ["--sample", "--temperature", "1.5"]
    assert call(command, *given, *draw, "--out", str(tmp_path / "whole")) == 0
    count, plain = 0, Decoder.decode

    def stopping(self: Decoder, sources: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += len(sources)
        if count > stop_at:
            raise KeyboardInterrupt
        return plain(self, sources, *arguments, **options)

    monkeypatch.setattr(Decoder, "decode", stopping)
    with pytest.raises(KeyboardInterrupt):
        call(command, *given, *draw, "--out", str(tmp_path / "out"))
    part = tmp_path / "out.part"
    part.write_bytes(part.read_bytes() + b'["half a li')
    done = part.read_bytes().count(b"\n")
    count, stop_at = -1000, 0
    with pytest.raises(ValueError, match=r"out\.part belongs to another command \(it differs in method\)"):
        call(command, *given, "--out", str(tmp_path / "out"))
    capsys.readouterr()
    assert call(command, *given, *draw, "--out", str(tmp_path / "out")) == 0
    assert f"going on behind {done} times 4 sentences" in capsys.readouterr().err
    translated = count + 1000
    assert 0 < translated < 40
    for ending in ("zh", "vi", "json"):
        assert (tmp_path / f"out.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.usefixtures("_small_book")
def test_a_language_model_is_trained_and_reranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--d-model", "16", "--n-heads", "2", "--n-layers", "1", "--d-ff", "16", "--max-epochs", "1"]
    with pytest.raises(ValueError, match="--out FOLDER must be given"):
        call("lm-train", *sizes)
    assert call("lm-train", *sizes, "--out", str(tmp_path / "lm"), "--json") == 0
    lines = capsys.readouterr().out.splitlines()
    card = json.loads(lines[-1])["card"]
    told = card["perplexity"]["half of dev to score on"]
    assert f"perplexity {told['per_token']:.2f} a token, {told['per_word']:.2f} a word" in "\n".join(lines)
    with pytest.raises(ValueError, match="--lm or --reverse-model FOLDER must be given"):
        call("rerank")
    with pytest.raises(ValueError, match="--n-best must be an integer of at least 2"):
        call("rerank", "--lm", str(tmp_path / "lm"), "--n-best", "1")
    out = tmp_path / "rerank.json"
    assert call("rerank", "--lm", str(tmp_path / "lm"), "--n-best", "2", "--out", str(out), "--json") == 0
    printed = capsys.readouterr().out.splitlines()
    document = json.loads(out.read_text("utf-8"))
    assert json.loads(printed[-1]) == document
    assert document["score"]["n"] + document["choose"]["n"] == len(PAIRS)
    assert out.with_suffix(".txt").read_text("utf-8").splitlines() == printed[:-1]


@pytest.mark.usefixtures("_small_book")
def test_decode_study_writes_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "decoding.json"
    assert call("decode-study", "--seeds", "1", "--limit", "2", "--out", str(out)) == 0
    document = json.loads(out.read_text("utf-8"))
    assert {"n": 2, "corpus": "phrasebook", "from": "zh", "to": "vi"}.items() <= document.items()
    assert document["rows"][0]["method"] == "greedy"
    assert out.with_suffix(".txt").read_text("utf-8") in capsys.readouterr().out
    with pytest.raises(ValueError, match="the folder does not exist"):
        call("decode-study", "--out", str(tmp_path / "gone" / "x.json"))
    with pytest.raises(ValueError, match=r"is a folder; name a file in it, such as .*study\.json"):
        call("decode-study", "--out", str(tmp_path))


def test_a_study_is_written_as_json_and_as_text_whichever_is_named(tmp_path: Path) -> None:
    for name in ("a.json", "b.txt", "c"):
        report_study(Common(out=tmp_path / name), memorised()[1], "a table", {"n": 3})
    assert {path.name for path in tmp_path.iterdir()} == {
        *("a.json", "a.txt"),
        *("b.json", "b.txt"),
        *("c", "c.txt"),
    }
    for name in ("a.json", "b.json", "c"):
        assert json.loads((tmp_path / name).read_text("utf-8"))["n"] == 3
        assert (tmp_path / name).with_suffix(".txt").read_text("utf-8") == "a table\n"
