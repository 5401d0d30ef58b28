"""The two ONNX graphs give the numbers of the model, and greedy decoding by them gives its translations."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from coursepkg.app.export import CARD, read_onnx
from coursepkg.app.model_folder import ATTRIBUTION, attribution_in, write_attribution
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.packed import pack
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.blocks.transformer import Transformer, attention_maps
from coursepkg.projects.translation.export.convert import check_transformer
from coursepkg.projects.translation.export.graphs import ENCODER, STEP, with_tables
from coursepkg.projects.translation.predict import PHRASEBOOK, Translator
from coursepkg.text.vocabulary import BOS, EOS, PAD
from tests.said import said

VOCABULARY, LONGEST = 60, 24
KINDS: dict[str, dict[str, Any]] = {
    "modern": {"n_decoder_layers": 2},
    "half layout, rotated cross-attention": {"rope_layout": "half", "rope_cross": True, "n_kv_heads": 1},
    "relative": {"position": "relative", "n_kv_heads": 4, "attention_scale": 0.5, "tie_output": False},
    "2017, learned positions, two vocabularies": {
        "position": "learned",
        "norm": "layer",
        "norm_first": False,
        "activation": "relu",
        "bias": True,
        "output_bias": True,
        "source_vocab_size": 30,
    },
}
"""Architectures, all in one call: an export costs seconds."""
TRACE = """
import sys, torch
from pathlib import Path
from coursepkg.app.export import write_onnx
from coursepkg.cli import main
from coursepkg.projects.translation.export.graphs import graphs_of
from tests.projects.translation.export.test_graphs import KINDS, build
root = Path(sys.argv[1])
for number, kind in enumerate(KINDS):
    write_onnx(root / str(number), graphs_of(build(kind)), {})
assert main(["translation", "export", "--format", "onnx", "--model", sys.argv[2], "--out", str(root / "book")]) == 0
"""


def build(kind: str) -> Transformer:
    """A random model whose weights are not small."""
    torch.manual_seed(0)
    sizes = {"d_model": 32, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 48}
    model = Transformer(TransformerConfig.modern(VOCABULARY, **(sizes | {"max_len": LONGEST} | KINDS[kind])))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1 or "relative_bias" in name:
                weight.add_(0.1 * torch.randn_like(weight))
            elif "_proj" in name:
                weight.mul_(2.0)
    return model.eval()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graphs, made in another process: shape checks of tests cannot follow traced sizes."""
    root = tmp_path_factory.mktemp("graphs")
    attributed = shutil.copytree(PHRASEBOOK, root / "attributed")
    write_attribution(attributed, "Sentences of others.\n")
    command = [sys.executable, "-c", TRACE, str(root), str(attributed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"exported to {root / 'book'}\n"
    assert done.stderr == ""
    return root


def test_whose_texts_the_model_learnt_stands_beside_the_graphs(root: Path) -> None:
    assert attribution_in(root / "book") == "Sentences of others.\n"


def padded(rows: list[list[int]]) -> np.ndarray:
    width = max(map(len, rows))
    return np.array([row + [PAD] * (width - len(row)) for row in rows])


def nothing_yet(cross_keys: np.ndarray, rows: int) -> np.ndarray:
    """The cache before the first token, (layers, B, R, G, 0, D)."""
    layers, batch, heads, _, width = cross_keys.shape
    return np.zeros((layers, batch, rows, heads, 0, width), np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_of_every_row_is_the_model_s(root: Path, kind: str) -> None:
    """Within 1e-4: sums of float32 in another order; log-probabilities are some nats large."""
    model, generator = build(kind), torch.Generator().manual_seed(1)
    sessions, _ = read_onnx(root / str(list(KINDS).index(kind)), {})
    highest = model.config.source_vocab_size or VOCABULARY

    def drawn(*shape: int, most: int = VOCABULARY) -> torch.Tensor:
        return torch.randint(4, most, shape, generator=generator)

    for lengths, rows, n_steps in (((1,), 1, LONGEST), ((LONGEST, 3, 9, 1), 2, 4), ((5, 2), 5, 9)):
        src = padded([[*drawn(n - 1, most=highest).tolist(), EOS] for n in lengths])
        tokens = drawn(len(lengths), rows, n_steps)
        tokens[..., 0] = BOS
        with torch.no_grad():
            each = torch.from_numpy(src).repeat_interleave(rows, dim=0)
            expected = model(each, tokens.flatten(0, 1)).log_softmax(dim=-1)
            cross = attention_maps(model, each, tokens.flatten(0, 1)).cross
        looked = cross[max(0, len(cross) - 2)].mean(dim=1).unflatten(0, (len(lengths), rows)).numpy()
        keys, values, is_real = sessions[ENCODER].run(None, {"ids": src})
        assert (is_real == (src != PAD)).all()
        across = {"cross_keys": keys, "cross_values": values, "is_real": is_real}
        past = [nothing_yet(keys, rows)] * 2
        for t in range(n_steps):
            known = {"tokens": tokens[..., t].numpy(), "past_keys": past[0], "past_values": past[1]}
            log_probs, *past, alignment = sessions[STEP].run(None, known | across)
            np.testing.assert_allclose(alignment, looked[:, :, t], atol=1e-5)
            wanted = expected[:, t].unflatten(0, (len(lengths), rows)).numpy()
            np.testing.assert_allclose(log_probs, wanted, atol=1e-4)
            assert past[0].shape[4] == t + 1


def greedy(folder: Path, sources: list[list[int]]) -> list[list[int]]:
    """Greedy decoding with nothing but onnxruntime and the card; sources end in EOS."""
    import onnxruntime

    encoder, step = (onnxruntime.InferenceSession(folder / name) for name in (ENCODER, STEP))
    card = json.loads((folder / CARD).read_text("utf-8"))
    bos, eos = card["special ids"]["bos"], card["special ids"]["eos"]
    keys, values, is_real = encoder.run(None, {"ids": padded(sources)})
    across = {"cross_keys": keys, "cross_values": values, "is_real": is_real}
    past = [nothing_yet(keys, 1)] * 2
    tokens, found = np.full((len(sources), 1), bos), []
    limits = np.minimum([len(ids) + card["extra_length"] for ids in sources], card["max_len"] - 1)
    for _ in range(limits.max()):
        known = {"tokens": tokens, "past_keys": past[0], "past_values": past[1]}
        log_probs, *past, _ = step.run(None, known | across)
        tokens = log_probs.argmax(axis=-1)
        found.append(tokens[:, 0])
    rows = [row[:limit].tolist() for row, limit in zip(np.stack(found, axis=1), limits, strict=True)]
    return [row[: row.index(eos)] if eos in row else row for row in rows]


SENTENCES = {
    ("zh", "vi"): ["酒店在哪里？", "我想买两本书。", "这个多少钱？", "他明天不来。"],
    ("en", "vi"): ["Where is the station?", "I would like three tickets, please.", "How much is this?"],
    ("vi", "zh"): ["Khách sạn ở đâu?", "Tôi muốn mua hai quyển sách."],
}


@pytest.mark.parametrize("way", SENTENCES)
def test_greedy_decoding_translates_as_the_translator_does(root: Path, way: tuple[str, str]) -> None:
    translator, texts = Translator.load_phrasebook(), SENTENCES[way]
    sources = [[*ids, EOS] for ids in translator.encode(texts, *way)]
    ours = translator.translate(texts, source=way[0], target=way[1], beam_size=1)
    pieces = json.loads((root / "book" / CARD).read_text("utf-8"))["vocabulary"]
    found = [tuple(pieces[i] for i in ids) for ids in greedy(root / "book", sources)]
    assert found == [one.n_best[0].tokens for one in ours]
    assert all(len(tokens) > 3 for tokens in found)


def test_the_card_and_the_files_say_what_was_exported(root: Path) -> None:
    translator = Translator.load_phrasebook()
    card = json.loads((root / "book" / CARD).read_text("utf-8"))
    assert card["fingerprint"] == translator.fingerprint
    assert card["vocabulary"] == list(translator.subwords.target.pieces)
    assert [tuple(way) for way in card["directions"]] == translator.directions
    assert card["tags"]["vi"] in card["vocabulary"]
    assert "source vocabulary" not in card
    assert card["files"][STEP]["inputs"]["past_keys"]["shape"] == [2, "B", "R", 2, "T", 32]
    names = {ENCODER, STEP, CARD, "target.model", ATTRIBUTION}
    assert {path.name for path in (root / "book").iterdir()} == names


def test_the_model_stays_as_it_is() -> None:
    model = build("relative")
    with_tables(model)
    assert model.encoder.relative_bias is not None
    assert hasattr(model.encoder.relative_bias.table, "weight")
    assert model.encoder.layers[0].self_attention.impl == "auto"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: pack(build("modern")), "packed or looks up neighbours"),
        (
            lambda: GRUSeq2Seq(Seq2SeqConfig(source_vocab=9, target_vocab=9)),
            "only a Transformer .* a GRUSeq2Seq$",
        ),
    ],
)
def test_what_cannot_be_exported_is_named(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_transformer(model())


def test_mistakes_are_one_line_and_leave_nothing(tmp_path: Path) -> None:
    out = ["--format", "onnx", "--model", PHRASEBOOK, "--out"]
    both = [*out, tmp_path / "out", "--quantization", "int8"]
    assert "--quantization is CTranslate2's" in said("translation", "export", *both).mistake
    assert "already exists; choose another --out" in said("translation", "export", *out, tmp_path).mistake
    assert not list(tmp_path.iterdir())
