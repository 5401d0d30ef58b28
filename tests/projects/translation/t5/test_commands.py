"""The commands t5-train and t5-predict from the command line to the files, on a run of seconds."""

import json
from pathlib import Path

import pytest
import tyro

from coursepkg.projects.translation.handlers import predict as predict_command
from coursepkg.projects.translation.t5 import commands
from coursepkg.projects.translation.t5.commands import T5Predict, T5Train
from coursepkg.projects.translation.t5.model import load_t5, save_t5, tiny_t5
from coursepkg.projects.translation.t5.nom import nom_sample
from coursepkg.projects.translation.t5.predict import LONGEST_SOURCE, T5Translator

NOM, QUOC_NGU = nom_sample(1)[0]


def train(*arguments: str) -> int:
    return tyro.cli(T5Train, args=list(arguments)).run()


def predict(*arguments: str) -> int:
    return tyro.cli(T5Predict, args=list(arguments)).run()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSEPKG_DATA", str(folder / "none"))
        options = ["--n-train", "64", "--epochs", "1", "--beam-size", "1"]
        assert train("--out", str(folder / "out"), *options) == 0
    return folder / "out"


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "none"))


def test_training_leaves_a_model_and_its_result(run: Path) -> None:
    result = json.loads((run / "result.json").read_text("utf-8"))
    assert (result["corpus"], result["steps"], result["stopped"]) == ("nom-lesson", 2, "max_epochs")
    assert result["settings"]["weight_decay"] == 0.01
    assert set(result["scores"]["nom-vi"]) == {"T5", "look-up", "mean_confidence"}
    assert result["coverage"]["nom train"] == 0.0
    assert load_t5(run / "model").card["prefixes"] == {"nom-vi": "translate Nom to Vietnamese: "}
    assert "generated lesson stands in" in result["notes"][0]


def test_coverage_is_said_first_and_json_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--n-train", "40", "--epochs", "1", "--beam-size", "1", "--both-ways", "--json"]
    assert train("--out", str(tmp_path / "out"), *arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    covered = [i for i, line in enumerate(lines) if line.startswith("coverage of ")]
    scored = [i for i, line in enumerate(lines) if line.startswith("T5, ")]
    assert len(covered) == 4
    assert max(covered) < min(scored)
    result = json.loads(lines[-1])
    assert set(result["scores"]) == {"nom-vi", "vi-nom"}


def test_a_second_run_needs_resume_and_changes_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = load_t5(run / "model").network.shared.weight
    settings = ["--out", str(run), "--n-train", "64", "--epochs", "1", "--beam-size", "1"]
    with pytest.raises(ValueError, match="already holds a run; add --resume"):
        train(*settings)
    with pytest.raises(ValueError, match="was begun with --vocab-size 4000, got 300; give that of the run"):
        train(*settings, "--resume", "--vocab-size", "300")
    assert train(*settings, "--resume") == 0
    assert load_t5(run / "model").network.shared.weight.equal(before)


def test_a_pretrained_folder_goes_on_being_trained(run: Path, tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "out"), "--n-train", "32", "--beam-size", "1"]
    assert train("--preset", "report", "--model", str(run / "model"), *options) == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert (result["settings"]["learning_rate"], result["steps"]) == (2e-5, 3)
    assert not (tmp_path / "out" / "start").exists()


def test_a_vocabulary_that_lacks_the_language_is_warned_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english = tiny_t5(["the cat sat on the mat"], vocab_size=60, d_model=16, num_layers=1)
    save_t5(english, tmp_path / "english")
    arguments = ["--n-train", "16", "--epochs", "1", "--beam-size", "1", "--batch-size", "16"]
    assert train("--model", str(tmp_path / "english"), "--out", str(tmp_path / "out"), *arguments) == 0
    assert "WARNING: 100.0% of the characters become <unk>" in capsys.readouterr().out


def test_one_text(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--n-best", "2", "--max-tokens", "12", "--json"]
    assert predict("--model", str(run / "model"), "--text", NOM, *options) == 0
    *texts, document = capsys.readouterr().out.splitlines()
    found = json.loads(document)
    assert found["alternatives"][0] == found["text"] == texts[0]
    assert 1 <= len(found["alternatives"]) <= 2
    assert 0 < found["confidence"] <= 1


def test_a_file_gives_a_line_for_each_line(run: Path, tmp_path: Path) -> None:
    lines = [nom for nom, _ in nom_sample(5)]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ["--model", str(run / "model"), "--max-tokens", "8", "--beam-size", "1"]
    assert predict(*arguments, "--file", str(tmp_path / "in.txt"), "--out", str(tmp_path / "out.txt")) == 0
    written = (tmp_path / "out.txt").read_text("utf-8").split("\n")
    translator = T5Translator.load(run / "model")
    alone = [
        translator.translate([line], source="nom", target="vi", beam_size=1, max_tokens=8)[0].text
        for line in lines
    ]
    assert written == [*alone, ""]


def test_a_file_that_was_stopped_goes_on(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(predict_command, "CHUNK", 2)
    (tmp_path / "in.txt").write_text("".join(f"{nom}\n" for nom, _ in nom_sample(5)), encoding="utf-8")
    model = run / "model"
    given = ["--file", str(tmp_path / "in.txt"), "--max-tokens", "8", "--beam-size", "1"]
    assert predict("--model", str(model), *given, "--out", str(tmp_path / "whole")) == 0

    def stop(n_lines: int) -> None:
        if n_lines == 4:
            raise KeyboardInterrupt

    say = commands._log_progress
    monkeypatch.setattr(commands, "_log_progress", stop)
    with pytest.raises(KeyboardInterrupt):
        predict("--model", str(model), *given, "--out", str(tmp_path / "out"))
    monkeypatch.setattr(commands, "_log_progress", say)
    assert not (tmp_path / "out").exists()
    before = (tmp_path / "out.part").read_bytes()
    with pytest.raises(ValueError, match=r"out\.part belongs to another command \(it differs in model\)"):
        predict("--model", str(model), "--prefix", "read: ", *given, "--out", str(tmp_path / "out"))
    assert predict("--model", str(model), *given, "--out", str(tmp_path / "out"), "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out.splitlines()[-1])["resumed_after"] == 4
    assert "went on behind line 4" in said.err
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "out").read_bytes().startswith(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out", "whole"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\n", "line 1: not UTF-8"),
        (b"", "empty; a file to translate"),
        (("碎\n" + "碎" * 10_000).encode(), rf"line 2: 100\d\d tokens, at most {LONGEST_SOURCE}"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_left(
    run: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "in.txt").write_bytes(content)
    arguments = ["--model", str(run / "model"), "--file", str(tmp_path / "in.txt")]
    with pytest.raises(ValueError, match=said):
        predict(*arguments, "--out", str(tmp_path / "out.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_tiny_is_not_there_before_it_is_trained() -> None:
    with pytest.raises(ValueError, match="tiny is built when it is trained"):
        predict("--model", "tiny", "--text", NOM)


def test_a_direction_that_was_not_trained_is_refused(run: Path) -> None:
    with pytest.raises(ValueError, match="was trained for nom-vi, not for vi-nom"):
        predict("--model", str(run / "model"), "--from", "vi", "--to", "nom", "--text", QUOC_NGU)
    with pytest.raises(ValueError, match="there is no prefix for 'nom' to 'zh'"):
        predict("--model", str(run / "model"), "--to", "zh", "--text", NOM)


def test_the_prefix_of_training_serves_prediction_unless_told(run: Path, tmp_path: Path) -> None:
    t5 = load_t5(run / "model")
    save_t5(t5, tmp_path / "own", prefixes={"nom-vi": "read: "})
    assert T5Translator.load(tmp_path / "own").prefixes == {"nom-vi": "read: "}
    assert set(T5Translator.load(tmp_path / "own", prefix="").prefixes.values()) == {""}
    (tmp_path / "own" / "coursepkg.json").unlink()
    without = T5Translator.load(tmp_path / "own")
    assert without.prefixes["nom-vi"] == "translate Nom to Vietnamese: "
    assert without.prefixes["vi-zh"] == "translate Vietnamese to Chinese: "


@pytest.mark.parametrize(
    "arguments", [[], ["--text", "碎", "--file", "x"], ["--file", "x"], ["--text", "碎", "--out", "y"]]
)
def test_text_or_file(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        predict("--model", "tiny", *arguments)
    assert "--text TEXT or" in (said := capsys.readouterr().err) or "--out FILE" in said


def test_a_file_has_no_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        predict("--model", "tiny", "--file", "x", "--out", "y", "--n-best", "2")
    assert "--n-best goes with --text" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-3", "nan"])
def test_a_limit_that_is_none_leaves_nothing(tmp_path: Path, seconds: str) -> None:
    with pytest.raises(ValueError, match="--max-seconds must be"):
        train("--out", str(tmp_path / "out"), "--max-seconds", seconds)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file is a file; name a folder"):
        train("--out", str(tmp_path / "file"))
