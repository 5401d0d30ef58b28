"""The contrastive stage inside `fit`: it brings translations together, resumes bit by bit, and gives the model back."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.batches import (
    ContrastiveBatches,
    MaskedVersions,
    Versions,
    dropout_versions,
)
from coursepkg.projects.translation.contrastive.task import (
    ContrastiveTask,
    WithProjection,
    bilingual_loss,
    monolingual_loss,
    retrieval_accuracy,
    sentence_vectors,
)
from coursepkg.projects.translation.task import TranslationTask, mean_loss
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.saved_model import restore
from coursepkg.training.schedules import constant
from coursepkg.training.task import eval_mode
from tests.projects.translation.contrastive.network import small_network

TAGS = {"zh": 4, "vi": 5}
TOY = torch.Generator().manual_seed(0)
WORDS = torch.randint(10, 30, (60, 4), generator=TOY).unique(dim=0).tolist()
PAIRS = [(ids, [token + 25 for token in reversed(ids)]) for ids in WORDS]


def network() -> WithProjection:
    return small_network(TAGS, 60, d_model=32, dropout_p=0.1)


def batches(versions: Versions | None = None) -> ContrastiveBatches:
    return ContrastiveBatches(PAIRS, 250, languages=("zh", "vi"), tags=TAGS, versions=versions)


def losses(model: WithProjection) -> tuple[float, float]:
    """The mean bilingual loss of the batches, and that of translation a token; both without dropout."""
    epoch = batches().epoch(0)
    with eval_mode(model), torch.no_grad():
        bilingual = sum(bilingual_loss(model, batch, 0.1).item() for batch in epoch) / len(epoch)
    return bilingual, mean_loss(model, [batch.text for batch in epoch])


def accuracy(model: WithProjection | Transformer) -> float:
    zh, vi = (sentence_vectors(model, [[5, *pair[side]] for pair in PAIRS], tags=[4, 5]) for side in (0, 1))
    return min(retrieval_accuracy(zh, vi))


def train(
    model: WithProjection, task: ContrastiveTask, steps: int, *, out: Path | None = None, **options
) -> None:
    versions = options.pop("versions", None)
    config = TrainConfig(max_steps=steps, learning_rate=constant(0.003), progress=False, checkpoint_every=2)
    fit(model, task, batches(versions), config=config, out=out, **options)


def test_a_few_steps_bring_translations_together_and_translation_goes_on_learning() -> None:
    model = network()
    before = accuracy(model), *losses(model)
    train(model, ContrastiveTask(weight=1.0), 60)
    after = accuracy(model), *losses(model)
    assert before[0] < 0.3
    assert after[0] > 0.8
    assert after[1] < 0.5 * before[1]
    assert after[2] < 0.9 * before[2]


def test_it_is_the_contrastive_loss_that_does_it() -> None:
    model = network()
    train(model, ContrastiveTask(weight=0.0), 60)
    assert accuracy(model.transformer) < 0.5


def test_weight_0_trains_the_transformer_as_translation_alone_does() -> None:
    def after(task: ContrastiveTask | TranslationTask, model: torch.nn.Module, data) -> list[Tensor]:
        config = TrainConfig(max_steps=5, learning_rate=constant(0.01), progress=False, clip_norm=1.0)
        fit(model, task, data, config=config)
        return [parameter.detach() for parameter in getattr(model, "transformer", model).parameters()]

    class Texts:
        def epoch(self, number: int):
            return [batch.text for batch in batches().epoch(number)]

    stage = after(ContrastiveTask(weight=0), network(), batches())
    plain = after(TranslationTask(), network().transformer, Texts())
    assert all(torch.equal(a, b) for a, b in zip(stage, plain, strict=True))


@pytest.mark.parametrize("versions", [MaskedVersions(), dropout_versions], ids=["masked", "dropout"])
def test_monolingual_pairs_pull_versions_together(versions: Versions) -> None:
    model = network()
    held = batches(versions).make(range(len(PAIRS)), 7)

    def found() -> float:
        torch.manual_seed(1)
        with torch.no_grad():
            return float(monolingual_loss(model, held, 0.1))

    before = found()
    train(model, ContrastiveTask(weight=0.0, self_weight=1.0), 60, versions=versions)
    assert found() < 0.7 * before


def test_a_run_that_was_stopped_goes_on_bit_by_bit_and_gives_the_translator_back(tmp_path: Path) -> None:
    task = ContrastiveTask(TranslationTask(r_drop_alpha=1.0), self_weight=0.1)
    whole, parts, resumed = network(), network(), network()
    train(whole, task, 4, out=tmp_path / "whole", versions=MaskedVersions())
    train(parts, task, 2, out=tmp_path / "parts", versions=MaskedVersions())
    train(resumed, task, 4, out=tmp_path / "parts", versions=MaskedVersions(), resume=True)
    weights = [dict(model.named_parameters()) for model in (whole, resumed)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(weights[0]["projection.outer.weight"], network().projection.outer.weight)

    again = network()
    assert restore(again, tmp_path / "whole", "last") == 4
    taken = again.transformer
    text = batches().epoch(0)[0].text
    whole.eval(), taken.eval()
    assert torch.equal(taken(text.src, text.tgt_in), whole.transformer(text.src, text.tgt_in))


def test_another_weight_or_other_versions_are_another_run(tmp_path: Path) -> None:
    train(network(), ContrastiveTask(), 2, out=tmp_path / "run")
    with pytest.raises(ValueError, match="weight"):
        train(network(), ContrastiveTask(weight=0.2), 4, out=tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="fingerprint"):
        train(network(), ContrastiveTask(), 4, out=tmp_path / "run", resume=True, versions=MaskedVersions())
