"""Parts of a network with learning rates of their own: the step, resuming, what is refused."""

from pathlib import Path

import pytest
import torch

from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from tests.training.jobs import RandomBatches, SquareTask, make_net, same

FACTORS = {"inner.": 0.1, "layers.0.": 0.5}


def train(net, out: Path | None = None, *, resume: bool = False, **changes):
    usual = {"max_steps": 6, "learning_rate": 1e-2, "learning_rate_factors": FACTORS, "progress": False}
    settings = TrainConfig(**(usual | changes))
    return fit(net, SquareTask(), RandomBatches(), config=settings, out=out, resume=resume)


def test_a_step_moves_every_part_at_its_own_rate() -> None:
    net, own = make_net(), make_net()
    history = train(net, weight_decay=0.1, clip_norm=None)
    groups = [
        {"params": [p], "lr": 1e-2 * rate, "weight_decay": 0.1 if p.dim() > 1 else 0.0}
        for name, p in own.named_parameters()
        for rate in [next((f for start, f in FACTORS.items() if name.startswith(start)), 1.0)]
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-9)
    task, epoch = SquareTask(), [*RandomBatches().epoch(0), *RandomBatches().epoch(1)]
    for row, batch in zip(history.steps, epoch, strict=False):
        optimizer.zero_grad()
        (task.loss(own, batch) / task.count(batch)).backward()
        optimizer.step()
        assert row["learning_rate"] == 1e-2
    assert same(net, own, 1e-7)
    plain = make_net()
    train(plain, learning_rate_factors={}, weight_decay=0.1, clip_norm=None)
    assert not same(net, plain, 1e-4)


def test_a_run_goes_on_with_its_rates_and_refuses_others(tmp_path: Path) -> None:
    whole, parts = make_net(), make_net()
    train(whole)
    train(parts, tmp_path / "run", max_steps=3)
    with pytest.raises(ValueError, match="learning_rate_factors"):
        train(make_net(), tmp_path / "run", resume=True, learning_rate_factors={"inner.": 0.2})
    resumed = make_net()
    train(resumed, tmp_path / "run", resume=True)
    assert same(whole, resumed)


@pytest.mark.parametrize(
    ("factor", "message"), [(0.0, "must be above 0"), (float("inf"), "must be a finite number")]
)
def test_a_bad_factor_is_named(factor: float, message: str) -> None:
    with pytest.raises(ValueError, match=rf"learning_rate_factors\['inner\.'\] {message}"):
        TrainConfig(max_steps=1, learning_rate_factors={"inner.": factor})
