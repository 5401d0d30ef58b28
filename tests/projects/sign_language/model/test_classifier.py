"""The whole network: padding and batching change nothing, every part learns, freezing, bad input."""

import pytest
import torch

from coursepkg.projects.sign_language.model.classifier import with_motion
from tests.projects.sign_language.networks import clips, network

HEADS = [
    {"temporal": temporal, "n_convolutions": n, "pooling": pooling}
    for temporal in ("transformer", "lstm", "none")
    for n in (0, 1)
    for pooling in ("attention", "mean", "last")
]


@pytest.mark.parametrize("head", HEADS, ids=lambda h: "-".join(map(str, h.values())))
def test_padding_and_batching_change_nothing(head: dict[str, object]) -> None:
    model = network(**head)
    frames, mask = clips([6, 4, 1])
    together = model(frames, mask)
    for i, n in enumerate([6, 4, 1]):
        alone = model(frames[i : i + 1, :n])
        torch.testing.assert_close(together.logits[i], alone.logits[0])
        torch.testing.assert_close(together.weights[i, :n], alone.weights[0])
        assert not together.weights[i, n:].any()
    torch.testing.assert_close(together.weights.sum(dim=1), torch.ones(3, dtype=torch.float64))
    assert together.logits.shape == (3, 5)


def test_padding_stays_out_of_batch_statistics() -> None:
    model, (frames, mask) = network(), clips([6, 2])
    model.train()
    model(frames, mask)
    seen = {name: buffer.clone() for name, buffer in model.named_buffers()}
    other = network()
    other.train()
    other(torch.where(mask[:, :, None, None, None], frames, 100.0), mask)
    for name, buffer in other.named_buffers():
        torch.testing.assert_close(buffer, seen[name])


def test_the_head_of_the_baseline_is_an_lstm_and_its_last_state() -> None:
    model = network(temporal="lstm", n_convolutions=0, pooling="last", motion="none")
    frames, _ = clips([6, 6])
    vectors = torch.stack([model.backbone(clip) for clip in frames])  # (B, T, F)
    lstm = torch.nn.LSTM(8, 8, batch_first=True).double()
    lstm.load_state_dict(model.temporal.lstm.state_dict())
    _, (hidden, _) = lstm(vectors)
    torch.testing.assert_close(model(frames).logits, model.output(hidden[-1]))


def test_order_in_time_matters_where_something_sees_it() -> None:
    frames, _ = clips([6])
    turned = frames.flip(1)
    for changes in (
        {"temporal": "transformer", "n_convolutions": 0},
        {"temporal": "none"},
        {"temporal": "lstm"},
    ):
        model = network(motion="none", **changes)
        assert not torch.allclose(model(frames).logits, model(turned).logits)
    blind = network(motion="none", temporal="none", n_convolutions=0)
    torch.testing.assert_close(blind(frames).logits, blind(turned).logits)


def test_motion_is_what_changed_and_what_is_not_always_there() -> None:
    frames, mask = clips([6, 4])
    assert with_motion(frames, None, "none") is frames
    beside, alone = (with_motion(frames, mask, how) for how in ("beside", "alone"))
    assert beside.shape == alone.shape == (2, 6, 6, 16, 16)
    assert beside[:, :, :3].equal(frames)
    for seen in (beside, alone):
        assert not seen[:, 0, 3:].any()
        torch.testing.assert_close(seen[:, 1:, 3:], frames[:, 1:] - frames[:, :-1])
    for clip, length in ((0, 6), (1, 4)):
        own = frames[clip, :length]
        torch.testing.assert_close(alone[clip, :length, :3], own - own.mean(0))


def test_who_sees_motion_alone_does_not_see_the_room() -> None:
    frames, _ = clips([6])
    wall = torch.randn(frames.shape[2:], dtype=frames.dtype, generator=torch.Generator().manual_seed(1))
    for motion, blind in (("alone", True), ("beside", False), ("none", False)):
        model = network(motion=motion)
        same = torch.allclose(model(frames).logits, model(frames + wall).logits, atol=1e-9)
        assert same == blind


def test_folding_keeps_places_apart_and_the_mean_does_not() -> None:
    dot = torch.zeros(1, 1, 3, 32, 32, dtype=torch.float64)
    dot[..., 8:10, 8:10] = 1.0
    moved = dot.roll(16, dims=-1)
    sizes = {"size": 32, "motion": "none", "n_blocks": (0, 0)}
    for places, is_same in (("mean", True), ("fold", False)):
        backbone = network(places=places, **sizes).backbone
        assert torch.allclose(backbone(dot[0]), backbone(moved[0])) is is_same


@pytest.mark.parametrize("temporal", ["transformer", "lstm", "none"])
def test_every_parameter_learns(temporal: str) -> None:
    model, (frames, mask) = network(temporal=temporal), clips([6, 3])
    model.train()
    model(frames, mask).logits.square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        # A score's bias shifts all frames alike, which softmax does not see.
        assert parameter.grad.any() or name == "pooling.score.bias", name


@pytest.mark.parametrize("temporal", ["transformer", "lstm"])
def test_dropout_is_for_training_only_and_half_precision_is_near(temporal: str) -> None:
    model, (frames, mask) = network(temporal=temporal, dropout=0.3, inner_dropout=0.3).float(), clips([6, 4])
    frames = frames.float()
    still = model(frames, mask).logits
    assert model(frames, mask).logits.equal(still)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(frames, mask)
    torch.testing.assert_close(found.logits.float(), still, rtol=0.1, atol=0.1)
    torch.testing.assert_close(found.weights.float().sum(dim=1), torch.ones(2), rtol=0.02, atol=0.02)
    model.train()
    model.freeze(3)
    assert not torch.allclose(model(frames, mask).logits, model(frames, mask).logits)


def test_frozen_parts_keep_weights_and_statistics() -> None:
    model, (frames, mask) = network(), clips([6, 3])
    assert model.backbone.depths == ["stages.0", "stages.1", "fold"]
    model.freeze(2)
    model.train()
    before = {name: value.clone() for name, value in model.backbone.stages.state_dict().items()}
    model(frames, mask).logits.sum().backward()
    assert all(p.grad is None for p in model.backbone.stages.parameters())
    assert all(p.grad is not None for p in model.backbone.fold.parameters())
    for name, value in model.backbone.stages.state_dict().items():
        assert value.equal(before[name]), name
    model.freeze(0)
    assert all(p.requires_grad for p in model.parameters())
    assert all(part.training for part in model.modules())
    with pytest.raises(
        ValueError, match=r"--frozen must lie in 0\.\.3 for small \(its parts are stages\.0, "
    ):
        model.freeze(4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_classes": 0}, "n_classes must be an integer"),
        ({"backbone": "resnet"}, "backbone must be one of small, resnet-18"),
        ({"channels": (4, 6, 8), "n_blocks": (0, 1)}, r"n_blocks must be one number a stage, 3"),
        ({"backbone": "vit-base", "channels": (64, 64), "n_blocks": (1, 1)}, "one number a stage, 1"),
        ({"backbone": "vit-base", "channels": (60,), "n_blocks": (1,)}, "channels must be multiples of 64"),
        ({"backbone": "vit-base", "channels": (64,), "n_blocks": (1,), "size": 40}, "multiple of 16 pixels"),
        (
            {"backbone": "swin-tiny", "channels": (32, 32), "n_blocks": (1, 1)},
            "channels must double from stage to stage",
        ),
        ({"n_blocks": (0, -1)}, "n_blocks must be an integer of at least 0"),
        ({"kernel_size": 4}, "kernel_size must be odd, got 4"),
        ({"n_heads": 3}, "n_heads must divide d_model"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"pooling": "max"}, "pooling must be one of attention, mean, last"),
    ],
)
def test_a_bad_configuration_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network(**changes)


def test_bad_clips_are_named() -> None:
    model, (frames, mask) = network(), clips([6, 4])
    for bad, said in (
        (frames[:, :, :, :8], r"frames must be floating point \(B, T, 3, 16, 16\)"),
        (frames.to(torch.uint8), "got torch.uint8"),
        (torch.cat([frames, frames], dim=1), r"one clip of 1\.\.6 frames, got \(2, 12\)"),
        (frames[:0], "at least one clip"),
    ):
        with pytest.raises(ValueError, match=said):
            model(bad)
    hole = mask.clone()
    hole[1, 1] = False
    for wrong in (hole, mask & False):
        with pytest.raises(ValueError, match="and False behind them only; clip"):
            model(frames, wrong)
    with pytest.raises(ValueError, match=r"mask must be bool \(2, 6\)"):
        model(frames, mask.long())


@pytest.mark.parametrize("head", HEADS, ids=lambda h: "-".join(map(str, h.values())))
def test_padding_and_batching_change_nothing_of_landmarks(head: dict[str, object]) -> None:
    model = network(backbone="landmarks", **head)
    _, mask = clips([6, 4, 1])
    frames = torch.randn(3, 6, 137, generator=torch.Generator().manual_seed(1)).double()
    together = model(frames, mask)
    noisy = model(torch.where(mask[..., None], frames, 100.0), mask)
    torch.testing.assert_close(noisy.logits, together.logits)
    for i, n in enumerate([6, 4, 1]):
        alone = model(frames[i : i + 1, :n])
        torch.testing.assert_close(together.logits[i], alone.logits[0])
        assert not together.weights[i, n:].any()


def test_a_network_of_landmarks_takes_no_pictures_and_the_reverse() -> None:
    frames, _ = clips([6])
    with pytest.raises(ValueError, match=r"must be floating point \(B, T, 137\), got .* \(1, 6, 3, 16, 16\)"):
        network(backbone="landmarks")(frames)
    with pytest.raises(ValueError, match=r"must be floating point \(B, T, 3, 16, 16\), got .* \(1, 6, 137\)"):
        network()(torch.zeros(1, 6, 137).double())


def test_the_layer_of_landmarks_is_one_linear_map_that_can_be_frozen() -> None:
    model = network(backbone="landmarks")
    frames = torch.randn(2, 6, 137).double()
    layer = model.backbone.layer
    torch.testing.assert_close(model.frame_vectors(frames, None), frames @ layer.weight.T + layer.bias)
    model.freeze(1)
    assert not any(p.requires_grad for p in model.backbone.parameters())
    with pytest.raises(ValueError, match=r"--frozen must lie in 0..1 for landmarks"):
        model.freeze(2)
