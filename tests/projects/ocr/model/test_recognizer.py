"""The network: padding and batching change nothing, cached decoding equals uncached, sizes are as described."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.blocks.cache import Memory
from coursepkg.projects.ocr.model.backbone import ModelConfig, SmallCNN
from coursepkg.projects.ocr.model.recognizer import build_model, config_of, fast_copy, rebuild
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.training.weights import in_half, parameter_counts
from tests.projects.ocr.drawn import SMALL, network, noise

KINDS = [{}, {"sequence": "grid"}, {"norm_first": False}]
MODEL = network()
RESNET = {"backbone": "resnet", "channels": (8, 8, 12, 16), "n_blocks": (1, 2, 1, 1)}


@pytest.mark.parametrize("kind", [*KINDS, RESNET])
def test_padding_and_batching_change_nothing(kind: dict) -> None:
    model = network(**kind)
    for widths in ([37, 64, 5, 1], [100, 99, 98]):
        images, sizes = noise(widths, 128)
        tgt_in = torch.randint(4, 30, (len(widths), 7))
        together = model(images, sizes, tgt_in)
        for i, width in enumerate(widths):
            alone = model(images[i : i + 1, :, :, :width], sizes[i : i + 1], tgt_in[i : i + 1])
            n = int(alone.n_columns[0])
            assert together.n_columns[i] == n == alone.ctc.shape[1]
            torch.testing.assert_close(alone.attention[0], together.attention[i], rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(alone.ctc[0], together.ctc[i, :n], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [*KINDS, RESNET])
def test_without_a_gradient_the_numbers_are_the_same_and_pictures_stay(kind: dict) -> None:
    model = network(**kind)
    images, sizes = noise([37, 64, 5, 1], 64)
    before, wanted = images.clone(), model.encode(images, sizes).outputs
    with torch.inference_mode():
        found = model.encode(images, sizes).outputs
    torch.testing.assert_close(found, wanted.detach(), rtol=1e-9, atol=1e-9)
    assert torch.equal(images, before)


@settings(max_examples=20)
@given(width=st.integers(1, 90), extra=st.integers(0, 60), seed=st.integers(0, 99))
def test_any_width_gives_the_same_with_any_padding(width: int, extra: int, seed: int) -> None:
    model = MODEL
    images, sizes = noise([width], width + extra, seed=seed)
    padded = model.encode(images, sizes).outputs
    alone = model.encode(images[..., :width], sizes)
    assert alone.is_real.all()
    assert alone.outputs.shape[1] == -(-width // 4)
    torch.testing.assert_close(padded[:, : alone.outputs.shape[1]], alone.outputs, rtol=1e-9, atol=1e-9)


def test_white_padding_is_as_good_as_none_for_a_convolution() -> None:
    # Paper is zero inside the CNN, so white at the right edge of a line is what a convolution sees beyond it.
    backbone = network().backbone
    images, _ = noise([40], 40)
    wider = torch.cat([images, torch.ones_like(images)], dim=3)
    narrow, _ = backbone(images, torch.tensor([40]))
    wide, _ = backbone(wider, torch.tensor([40]))
    torch.testing.assert_close(wide[..., :10], narrow)


def test_training_mode_depends_on_the_batch_and_reading_does_not() -> None:
    model = network().train()
    images, sizes = noise([64, 64], 64)
    assert not torch.allclose(
        model.encode(images, sizes).outputs[0], model.encode(images[:1], sizes[:1]).outputs[0]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_cached_steps_equal_one_pass(kind: dict) -> None:
    model = network(**kind)
    images, sizes = noise([80, 33, 9], 80)
    memory = model.encode(images, sizes)
    tgt_in = torch.randint(4, 30, (3, 9))
    whole = model.decode(tgt_in, memory)
    state = model.start(memory, max_len=9)
    steps = [state.step(tgt_in[:, t : t + 1]) for t in range(9)]
    torch.testing.assert_close(torch.stack(steps, dim=1), whole, rtol=1e-9, atol=1e-9)


def test_the_future_never_changes_the_past() -> None:
    model = network()
    images, sizes = noise([80], 80)
    memory = model.encode(images, sizes)
    one, other = torch.randint(4, 30, (2, 1, 9))
    other[:, :5] = one[:, :5]
    torch.testing.assert_close(model.decode(one, memory)[:, :5], model.decode(other, memory)[:, :5])


def test_every_parameter_learns() -> None:
    for kind in (*KINDS, RESNET):
        model = network(**kind).train()
        images, sizes = noise([80, 60], 80)
        found = model(images, sizes, torch.randint(4, 30, (2, 5)))
        (found.attention.square().sum() + found.ctc.square().sum()).backward()
        idle = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
        assert idle == []


def test_the_copy_for_reading_gives_the_same_numbers() -> None:
    for kind in KINDS:
        model = network(**kind).float()
        fast = fast_copy(model)
        images, sizes = noise([80, 33], 80)
        tgt_in = torch.randint(4, 30, (2, 5))
        for mine, theirs in zip(
            model(images.float(), sizes, tgt_in), fast(images.float(), sizes, tgt_in), strict=True
        ):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)
        assert any(isinstance(m, torch.nn.BatchNorm2d) for m in model.modules())
        assert not any(isinstance(m, torch.nn.BatchNorm2d) for m in fast.modules())


def test_half_precision_on_disk_changes_little_and_leaves_the_model() -> None:
    model = network().float()
    halved = in_half(model)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert all((p.dtype == torch.float16) == (p.dim() > 1) for p in halved.parameters())
    rounded = rebuild(dataclasses.asdict(model.config)).eval()
    rounded.load_state_dict(halved.state_dict())
    images, sizes = noise([80], 80)
    one, other = (m.encode(images.float(), sizes).outputs for m in (model, rounded))
    assert 0 < (one - other).abs().max() < 0.02
    model.output.weight.data[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"output\.weight has a weight beyond"):
        in_half(model)


def test_parameters_by_preset() -> None:
    counts = {
        name: parameter_counts(build_model(PRESETS[name], 233, pretrained=False))
        for name in ("tiny", "small")
    }
    assert counts["tiny"]["total"] == 518_658
    assert counts["small"]["total"] == 4_831_538
    assert 2 * counts["small"]["total"] < 14_000_000  # bytes in half precision
    for found in counts.values():
        assert found["total"] == sum(n for name, n in found.items() if name != "total")


def test_the_report_has_the_network_of_the_notes() -> None:
    config = config_of(PRESETS["report"], 233)
    assert (config.channels, config.n_blocks) == ((256, 512, 1024, 2048), (3, 4, 6, 3))
    assert (config.n_encoder_layers, config.n_decoder_layers, config.d_model) == (3, 3, 512)
    assert (config.n_heads, config.d_ff, config.norm_first) == (8, 1024, False)


@pytest.mark.parametrize("height", [32, 40, 48])
def test_heights(height: int) -> None:
    config = ModelConfig(30, **(SMALL | {"height": height}))
    backbone = SmallCNN(config).eval()
    features, columns = backbone(torch.zeros(1, 1, height, 50), torch.tensor([50]))
    assert features.shape == (1, 8, backbone.out_height, 13)
    assert int(columns) == 13


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"height": 30}, "height must be a multiple of 8, got 30"),
        ({"backbone": "vgg"}, "backbone must be one of small, resnet"),
        ({"sequence": "tree"}, "sequence must be one of fold, grid"),
        ({"channels": (1, 2, 3)}, "channels must be 4 numbers"),
        ({"n_blocks": (0, 0, 0, -1)}, "n_blocks must be an integer of at least 0"),
        ({"backbone": "resnet"}, "channels must be multiples of 4|n_blocks must be"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"sequence": "grid", "d_model": 18}, "d_model must be a multiple of 4"),
    ],
)
def test_a_bad_configuration_is_named(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModelConfig(30, **(SMALL | changes))


@pytest.mark.parametrize(
    ("shape", "widths", "message"),
    [
        ((1, 1, 24, 40), [40], r"images must be floating point \(B, 1, 32, W\)"),
        ((1, 1, 32, 40), [41], r"widths must lie in 1\.\.40"),
        ((1, 1, 32, 40), [0], r"widths must lie in 1\.\.40"),
        ((2, 1, 32, 40), [40], "widths must be one integer a picture"),
        ((0, 1, 32, 40), [], "at least one picture"),
        ((1, 1, 32, 513), [513], "at most max_width = 512 pixels wide, got 513"),
    ],
)
def test_bad_pictures_are_named(shape: tuple[int, ...], widths: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network().encode(torch.zeros(shape).double(), torch.tensor(widths, dtype=torch.int64))


def test_a_batch_of_another_size_is_refused() -> None:
    model = network()
    memory = model.encode(*noise([40, 40], 40))
    with pytest.raises(ValueError, match="one row a line, 2, got 1"):
        model.decode(torch.ones(1, 3, dtype=torch.int64), memory)
    assert isinstance(memory, Memory)
