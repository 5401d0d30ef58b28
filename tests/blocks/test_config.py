"""The configuration: what it refuses, what its presets are, and that it survives JSON."""

import dataclasses
import json
import re

import pytest

from coursepkg.blocks.config import TransformerConfig
from tests.refusals import assert_equal, assert_refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 0}, "vocab_size must be a positive integer, got 0"),
        ({"source_vocab_size": -3}, "source_vocab_size must be a positive integer, got -3"),
        ({"d_model": -512}, "d_model must be a positive integer, got -512"),
        ({"n_encoder_layers": 0}, "n_encoder_layers must be a positive integer, got 0"),
        ({"max_len": 0}, "max_len must be a positive integer, got 0"),
        ({"n_heads": 7}, "n_heads must divide d_model = 512 unless head_dim is given, got 7"),
        ({"n_kv_heads": 3}, "n_kv_heads must divide n_heads = 8, got 3"),
        ({"dropout_p": 1.0}, "dropout_p must be at least 0 and below 1, got 1.0"),
        ({"attention_dropout_p": -0.1}, "attention_dropout_p must be at least 0 and below 1, got -0.1"),
        ({"activation_dropout_p": 2.0}, "activation_dropout_p must be at least 0 and below 1, got 2.0"),
        ({"norm": "batch"}, "norm must be one of layer, rms, got 'batch'"),
        ({"norm_eps": 0.0}, "norm_eps must be positive, got 0.0"),
        ({"activation": "swish"}, "activation must be one of relu, gelu, swiglu, geglu, got 'swish'"),
        (
            {"position": "rope"},
            "position must be one of sinusoidal, learned, rotary, relative, none, got 'rope'",
        ),
        ({"rope_layout": "neox"}, "rope_layout must be one of interleaved, half, got 'neox'"),
        ({"rope_base": -1.0}, "rope_base must be positive, got -1.0"),
        (
            {"rope_cross": True},
            "rope_cross must be False unless position is 'rotary', got position 'sinusoidal'",
        ),
        ({"attention_scale": 0.0}, "attention_scale must be positive, got 0.0"),
        ({"attention_scale": float("inf")}, "attention_scale must be positive, got inf"),
        ({"impl": "flash"}, "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got 'flash'"),
        ({"position": "rotary", "head_dim": 15}, "head_dim must be even for rotary positions, got 15"),
        ({"d_model": 9, "n_heads": 3}, "d_model must be even for sinusoidal positions, got 9"),
    ],
)
def test_a_bad_field_is_named_in_one_line(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TransformerConfig(**({"vocab_size": 100} | changes))


def test_a_field_of_the_wrong_type_is_named_in_one_line() -> None:
    preparation = "from coursepkg.blocks.config import TransformerConfig"
    assert_refused(
        preparation,
        {
            f"TransformerConfig(vocab_size=100, {name}={value!r})": f"{name} must be {wanted}, got {value!r}"
            for name, value, wanted in [
                ("d_model", 512.0, "a positive integer"),
                ("n_heads", True, "a positive integer"),
                ("max_len", "32", "a positive integer"),
                ("dropout_p", "0.1", "a number"),
                ("bias", 1, "True or False"),
                ("norm", None, "a string"),
                ("n_kv_heads", 2.0, "a positive integer"),
            ]
        },
    )


def test_the_defaults_are_the_base_model_of_2017() -> None:
    base = TransformerConfig.vaswani2017(37000)
    assert base == TransformerConfig(37000)
    assert (base.d_model, base.n_heads, base.d_ff, base.dropout_p) == (512, 8, 2048, 0.1)
    assert (base.n_encoder_layers, base.n_decoder_layers) == (6, 6)
    assert (base.norm, base.norm_first, base.final_norm) == ("layer", False, False)
    assert (base.kv_heads, base.d_head) == (8, 64)


def test_changes_reach_the_presets() -> None:
    small = TransformerConfig.modern(100, d_model=64, n_heads=4, n_kv_heads=1, d_ff=96)
    assert (small.d_model, small.kv_heads, small.d_head, small.norm) == (64, 1, 16, "rms")
    assert TransformerConfig.vaswani2017(100, norm_first=True).norm_first
    with pytest.raises(TypeError, match="n_layers"):
        TransformerConfig.vaswani2017(100, n_layers=3)


@pytest.mark.parametrize(
    "config", [TransformerConfig(50), TransformerConfig.modern(50), TransformerConfig.zh_vi_report()]
)
def test_a_config_survives_json(config: TransformerConfig) -> None:
    stored = json.dumps(dataclasses.asdict(config))
    assert TransformerConfig(**json.loads(stored)) == config


def test_numbers_of_numpy_become_those_of_python() -> None:
    preparation = """
import json
from dataclasses import asdict
from coursepkg.blocks import *
def stored(config):
    return json.dumps(asdict(config))
"""
    assert_equal(
        preparation,
        {
            "stored(TransformerConfig(i64(100), d_model=np.int32(64), dropout_p=f32(0.5)))": (
                "stored(TransformerConfig(100, d_model=64, dropout_p=0.5))"
            ),
            "stored(Seq2SeqConfig(i64(9), i64(8), dropout_p=f32(0.5)))": (
                "stored(Seq2SeqConfig(9, 8, dropout_p=0.5))"
            ),
        },
    )
