"""A translator whose search runs in CTranslate2 says what ours says."""

import json
import shutil
from pathlib import Path

import pytest

from coursepkg.app.model_folder import check_finished
from coursepkg.projects.translation.confidence import FEATURES, Calibration, rank
from coursepkg.projects.translation.ensemble import together
from coursepkg.projects.translation.export.runtime import ExportedNetwork
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Decoder, Method
from tests.projects.translation.tiny import pairs, translation
from tests.said import said

pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed; see the extra `export`")

TEXTS = [pair.source for pair in pairs("zh", "vi")[:12]]


@pytest.fixture(scope="module")
def exported(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    Calibration({"zh-vi": [0.3] * len(FEATURES)}, "toy dev").save(tiny_run)
    try:
        out = tmp_path_factory.mktemp("exported") / "folder"
        translation("export", "--model", tiny_run, "--out", out)
    finally:
        (tiny_run / "confidence.json").unlink()
    return out


def test_greedy_translations_scores_and_confidence_are_ours(translator: Translator, exported: Path) -> None:
    runtime = Translator.load(exported)
    assert isinstance(runtime.exported, ExportedNetwork)
    ours = translator.translate(TEXTS, beam_size=1)
    theirs = runtime.translate(TEXTS, beam_size=1)
    assert [one.text for one in theirs] == [one.text for one in ours]
    assert [one.n_best[0].confidence for one in theirs] == pytest.approx(
        [one.confidence for one in ours], rel=1e-3
    )
    sources = translator.encode(TEXTS, "zh", "vi")
    targets = translator.subwords.encode_targets([one.line for one in ours], "vi")
    assert runtime.log_probs(sources, targets) == pytest.approx(
        translator.log_probs(sources, targets), abs=1e-3
    )


def test_its_length_penalty_is_a_power_of_the_length(exported: Path) -> None:
    runtime = Translator.load(exported)
    parts = [runtime.masked(text) for text in TEXTS]
    ids = runtime.encode(TEXTS, "zh", "vi")
    found = runtime.search(ids, beam_size=3, length_penalty=0.7, n_best=3, batch_size=8)
    for part, searched, own in zip(
        parts, found, rank(runtime, parts, found, "zh", "vi", 0.4, 0.7), strict=True
    ):
        lines = [runtime.line_of(one, part) for one in searched]
        (wanted,) = runtime.subwords.encode_targets([part.text], "zh")
        read = runtime.subwords.encode_sources(lines, "vi", "zh")
        back = runtime.log_probs(read, [wanted] * len(read))
        n = len(wanted) + 1
        scores = [one.score + 0.4 * log_prob / n**0.7 for one, log_prob in zip(searched, back, strict=True)]
        assert [one.score for one in own] == pytest.approx(sorted(scores, reverse=True))


@pytest.mark.parametrize("weight", [0.4, 20.0])
def test_it_reads_back_as_ours_does(translator: Translator, exported: Path, weight: float) -> None:
    # Without a length penalty the two searches rank by the same scores.
    options = {"beam_size": 4, "n_best": 4, "length_penalty": 0.0, "reverse_weight": weight}
    ours = translator.translate(TEXTS, **options)
    theirs = Translator.load(exported).translate(TEXTS, **options)
    assert [one.text for one in theirs] == [one.text for one in ours]
    assert [one.n_best[0].reverse for one in theirs] == pytest.approx(
        [one.n_best[0].reverse for one in ours], abs=1e-3
    )


def test_it_judges_and_cuts_as_ours_does(exported: Path) -> None:
    runtime = Translator.load(exported)
    (long,) = runtime.translate(["三五" * 40])
    assert "translated in" in long.note
    assert long.usable is not None
    assert runtime.translate(TEXTS[:1], alignments=True)[0].alignment is None
    assert runtime.translate([]) == []
    best = runtime.translate(TEXTS[:1], n_best=3, beam_size=4)[0].n_best
    assert len(best) == 3
    assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)
    with pytest.raises(ValueError, match="does not translate English"):
        runtime.translate(["hi"], source="en", target="vi")


def test_the_command_line_takes_the_folder(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "in.zh").write_text("\n".join(TEXTS) + "\n", "utf-8")
    translation(
        "predict",
        "--model",
        exported,
        "--file",
        tmp_path / "in.zh",
        "--out",
        tmp_path / "out",
        "--form",
        "scored",
    )
    rows = [line.split("\t") for line in (tmp_path / "out").read_text("utf-8").splitlines()]
    assert len(rows) == len(TEXTS)
    assert all(0 <= float(confidence) <= 1 for confidence, _ in rows)


def test_a_decoder_searches_with_it_and_draws_nothing(exported: Path) -> None:
    runtime = Translator.load(exported)
    decoder, sources = Decoder(runtime), runtime.encode(TEXTS, "zh", "vi")
    found = decoder.decode(sources, Method(beam_size=1))
    expected = [one.n_best[0].tokens for one in runtime.translate(TEXTS, beam_size=1)]
    pieces = runtime.subwords.target.pieces
    assert [tuple(pieces[i] for i in one.ids) for one in found] == expected
    for method in (Method(sample=True), Method(repetition_penalty=1.2)):
        with pytest.raises(ValueError, match="an exported model cannot"):
            decoder.decode(sources, method)


def test_an_ensemble_refuses_it(translator: Translator, exported: Path) -> None:
    with pytest.raises(ValueError, match="an exported model takes no part in an ensemble"):
        together([translator, Translator.load(exported)])


def test_a_folder_without_its_card_is_named(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes((exported / "model.bin").read_bytes())
    with pytest.raises(FileNotFoundError, match=r"translator\.json"):
        Translator.load(tmp_path)


def test_another_system_says_that_it_is_an_export(exported: Path) -> None:
    with pytest.raises(FileNotFoundError, match="it holds an export: name the folder of the model itself"):
        check_finished(exported)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"directions": [["zh"]]}, "holds no translator"),
        ({"recipe": {"beam_size": 0}}, "its recipe is damaged"),
        ({"recipe": {"of_tomorrow": 1}}, "it does not know of_tomorrow"),
        ({"recipe": 1}, "damaged or of another project: it has no recipe; export the model again"),
    ],
)
def test_a_damaged_card_is_told_in_one_line(
    exported: Path, tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    folder = shutil.copytree(exported, tmp_path / "damaged")
    card = json.loads((folder / "translator.json").read_text("utf-8"))
    (folder / "translator.json").write_text(json.dumps(card | changes), "utf-8")
    with pytest.raises(ValueError, match=told):
        Translator.load(folder)


def test_a_back_translation_that_would_draw_leaves_nothing(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zh").write_text("\n".join(TEXTS) + "\n", "utf-8")
    ways = ("--from", "vi", "--to", "zh", "--mono", tmp_path / "text.zh", "--out", tmp_path / "out")
    result = said("translation", "back-translate", "--model", exported, "--sample", *ways)
    assert "an exported model cannot draw" in result.mistake
    assert [path.name for path in tmp_path.iterdir()] == ["text.zh"]
