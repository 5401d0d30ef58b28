"""A run that is prolonged or resumed: what may change, what may not, and what changes nothing."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from coursepkg.data.batching import TokenBatches
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.training.config import TrainConfig, describe_schedule
from coursepkg.training.log import CsvLog
from coursepkg.training.loop import fit
from coursepkg.training.schedules import Plateau, inverse_sqrt
from tests.training.jobs import RandomBatches, SquareTask, make_net, mean_error


def prolonged(out: Path, stops: list[int], **changes):
    """Train to each of some steps in turn, the last one being the end."""
    net = make_net()
    for stop in stops:
        config = TrainConfig(max_steps=stop, validate_every=4, progress=False, **changes)
        history = fit(
            net, SquareTask(), RandomBatches(), config=config, out=out, validate=mean_error, resume=True
        )
    return net, history


@pytest.mark.parametrize(
    "changes",
    [{"learning_rate": Plateau(1e-2, factor=0.5, patience=0, threshold=0.9)}, {"patience": 2}],
    ids=["plateau", "patience"],
)
def test_a_run_prolonged_between_two_validations_ends_like_a_longer_one(tmp_path, changes) -> None:
    whole, told = prolonged(tmp_path / "whole", [16], **changes)
    parts, history = prolonged(tmp_path / "parts", [6, 9, 16], **changes)
    assert history.step == told.step
    assert history.steps == told.steps
    for name, weight in whole.named_parameters():
        assert torch.equal(weight, parts.get_parameter(name)), name


def test_a_run_goes_on_with_its_own_task_and_data_only(tmp_path) -> None:
    from coursepkg.blocks.config import TransformerConfig
    from coursepkg.blocks.transformer import Transformer

    sizes = {
        "d_model": 8,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "d_ff": 8,
        "max_len": 8,
    }
    config = TransformerConfig(12, **sizes)
    pairs = [([4, 5], [6]), ([7], [8, 9]), ([5, 5], [4])]

    def run(steps, task=None, data=None):
        batches = TokenBatches(pairs if data is None else data, 16)
        settings = TrainConfig(max_steps=steps, progress=False)
        task = TranslationTask() if task is None else task
        return fit(Transformer(config), task, batches, config=settings, out=tmp_path / "run", resume=True)

    run(1)
    with pytest.raises(ValueError, match=r"task\.label_smoothing was 0\.1, is 0\.5"):
        run(2, task=TranslationTask(label_smoothing=0.5))
    with pytest.raises(ValueError, match=r"batches\.fingerprint was \w{64}, is \w{64}"):
        run(2, data=[([4, 5], [6]), ([7], [8, 9]), ([5, 5], [5])])
    assert run(2).step == 2


def test_schedules_differ_by_what_was_fixed_in_them() -> None:
    def rate(step: int, lr: float) -> float:
        return lr

    assert describe_schedule(partial(rate, lr=1e-3)) != describe_schedule(partial(rate, lr=1e-1))
    assert describe_schedule(inverse_sqrt(1e-3, 5)) != describe_schedule(inverse_sqrt(1e-3, 6))


def test_a_full_disk_under_the_log_is_named() -> None:
    script = f"""
import resource, signal, sys, tempfile
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from coursepkg.training.log import CsvLog
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))
log = CsvLog(Path(tempfile.mkdtemp()) / "log.csv")
try:
    for step in range(1, 50):
        log.add({{"step": step, "loss": 1.0}})
except OSError as reason:
    print(reason)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "log.csv could not be written" in done.stdout
    assert done.stdout.rstrip().endswith("free some space and resume")
    assert len(done.stdout.splitlines()) == 1


def test_a_log_that_is_no_text_is_named(tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"step,loss\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"log\.csv must be a log written by fit"):
        CsvLog(path).cut_back(1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_steps", "3"),
        ("max_steps", 2.5),
        ("max_steps", True),
        ("accumulate", 1.5),
        ("learning_rate", "x"),
        ("betas", 0.9),
        ("betas", (0.9,)),
        ("clip_norm", "1"),
        ("seed", -1),
    ],
)
def test_settings_of_a_wrong_kind_are_named(field, value) -> None:
    # In a process of its own: here the type hints would speak first.
    script = f"""
from coursepkg.training.config import TrainConfig
try:
    TrainConfig(**({{"max_steps": 3}} | {{{field!r}: {value!r}}}))
except ValueError as reason:
    print(reason)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(field), done.stdout
    assert len(done.stdout.splitlines()) == 1
