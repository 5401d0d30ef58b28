"""What the export and the reader of its folder refuse: one line each, and nothing half-written stays."""

import json
import sys

import pytest
import torch
from torch import nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.packed import pack
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.export.convert import ExportedTranslator, export_ctranslate2

pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed; see the extra `export`")

PIECES = [f"p{i}" for i in range(20)]


def build(**changes):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 24}
    return Transformer(TransformerConfig.modern(20, **(sizes | {"max_len": 12} | changes))).eval()


@pytest.fixture
def folder(tmp_path):
    export_ctranslate2(build(), PIECES, tmp_path / "out")
    return tmp_path / "out"


def one_line(error, *words):
    message = str(error.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("model", "pieces", "options", "words"),
    [
        (lambda: build(rope_cross=True), PIECES, {}, ["rope_cross"]),
        (lambda: pack(build()), PIECES, {}, ["packed"]),
        (lambda: nn.Linear(2, 2), PIECES, {}, ["Transformer", "Linear"]),
        (build, PIECES[1:], {}, ["pieces", "vocab_size", "19"]),
        (build, [*PIECES[1:], "p5"], {}, ["distinct", "'p5'", "4 and 19"]),
        (build, PIECES, {"quantization": "int3"}, ["quantization", "int8", "'int3'"]),
        (build, PIECES, {"source_pieces": PIECES}, ["source_pieces", "source_vocab_size"]),
        (lambda: build(source_vocab_size=9), PIECES, {}, ["source_pieces", "source_vocab_size"]),
        (lambda: build(source_vocab_size=9), PIECES, {"source_pieces": PIECES}, ["source_vocab_size", "20"]),
    ],
)
def test_what_cannot_be_exported_is_named(tmp_path, model, pieces, options, words):
    with pytest.raises(ValueError, match=words[0]) as error:
        export_ctranslate2(model(), pieces, tmp_path / "out", **options)
    one_line(error, *words)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_stays_as_it_is(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match="already exists") as error:
        export_ctranslate2(build(tie_output=False), PIECES, folder)
    one_line(error, "another folder")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_folder_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "out.part").mkdir()
    (tmp_path / "out.part" / "model.bin").write_bytes(b"of a run that was killed")

    def full(*paths):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.rename", full)
        with pytest.raises(OSError, match="No space left"):
            export_ctranslate2(build(), PIECES, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="No space left"):
        export_ctranslate2(build(), PIECES, tmp_path / "out", also=full)
    assert list(tmp_path.iterdir()) == []
    out = tmp_path / "new" / "out"
    export_ctranslate2(build(), PIECES, out, also=lambda folder: (folder / "subwords").write_text("x"))
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]
    assert (out / "subwords").read_text(encoding="utf-8") == "x"
    assert ExportedTranslator(out).translate([[5, 2]], max_len=3)


@pytest.mark.parametrize("name", ["model.bin", "config.json", "shared_vocabulary.json"])
def test_a_damaged_folder_is_named(folder, name):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="export the model again") as error:
        ExportedTranslator(folder)
    one_line(error, str(folder))
    (folder / name).unlink()
    with pytest.raises((FileNotFoundError, ValueError), match="export the model again") as error:
        ExportedTranslator(folder)
    one_line(error, str(folder))


def test_weights_without_a_matrix_are_refused(folder):
    whole = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(
        whole.replace(b"decoder/projection/weight", b"decoder/projection/wrong_")
    )
    with pytest.raises(ValueError, match="decoder/projection/weight not found; export the model again"):
        ExportedTranslator(folder)


def test_a_folder_of_another_converter_is_refused(folder):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["max_len"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match="max_len") as error:
        ExportedTranslator(folder)
    one_line(error, "config.json")


@pytest.mark.parametrize(
    ("src", "options", "words"),
    [
        ([[5, 2], []], {}, [r"src[1]", "1..12", "got 0"]),
        ([[5] * 13], {}, [r"src[0]", "1..12", "got 13"]),
        ([[5, 0, 2]], {}, [r"src[0]", "got 0"]),
        ([[20, 2]], {}, [r"src[0]", "1..19", "got 20"]),
        ([[5, 2]], {"max_len": 13}, ["max_len", "1..12"]),
        ([[5, 2]], {"beam_size": 0}, ["beam_size"]),
        ([[5, 2]], {"beam_size": 2, "n_best": 3}, ["n_best", "1..2"]),
        ([[5, 2]], {"length_penalty": float("nan")}, ["length_penalty"]),
        ([[5, 2]], {"max_batch_size": -1}, ["max_batch_size"]),
    ],
)
def test_what_cannot_be_translated_is_named(folder, src, options, words):
    with pytest.raises(ValueError, match="must") as error:
        ExportedTranslator(folder).translate(src, **({"max_len": 5} | options))
    one_line(error, *words)


@pytest.mark.parametrize(
    ("tgt", "words"),
    [
        ([], ["tgt", "(1)", "got 0"]),
        ([[5] * 12], ["tgt[0]", "1..12", "got 13"]),
        ([[20]], ["tgt[0]", "got 20"]),
    ],
)
def test_what_cannot_be_scored_is_named(folder, tgt, words):
    with pytest.raises(ValueError, match="must") as error:
        ExportedTranslator(folder).score([[5, 2]], tgt)
    one_line(error, *words)


def test_without_ctranslate2_the_extra_is_named(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    for call in (
        lambda: export_ctranslate2(build(), PIECES, tmp_path / "new"),
        lambda: ExportedTranslator(folder),
    ):
        with pytest.raises(ImportError, match=r"coursepkg\[export\]") as error:
            call()
        one_line(error)
    assert not (tmp_path / "new").exists()
