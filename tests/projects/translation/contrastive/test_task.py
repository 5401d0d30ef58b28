"""The contrastive loss on a Transformer: pooling, projection, weighting, and where the gradient goes.

What is measured on sentence vectors, against plain double loops and known arrangements.
"""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.data.batching import make_batch
from coursepkg.projects.translation.contrastive.batches import (
    ContrastiveBatch,
    ContrastiveBatches,
    dropout_versions,
)
from coursepkg.projects.translation.contrastive.task import (
    ContrastiveTask,
    ProjectionHead,
    WithProjection,
    alignment,
    bilingual_loss,
    mean_pool,
    monolingual_loss,
    retrieval_accuracy,
    sentence_vectors,
    similarity_matrix,
    uniformity,
)
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.text.vocabulary import BOS, EOS, PAD
from tests.projects.translation.contrastive.network import small_network

TAGS = {"zh": 4, "vi": 5, "en": 6}
PAIRS = [([7, 8, 9], [20, 21]), ([10], [22, 23, 24, 25]), ([11, 12], [26]), ([13, 13, 14, 15, 16], [27, 28])]


def network(dropout_p: float = 0.0, **changes: object) -> WithProjection:
    return small_network(TAGS, 40, d_model=16, dropout_p=dropout_p, n_encoder_layers=2, **changes).double()


def batch_of(pairs=PAIRS, versions=None) -> ContrastiveBatch:
    batches = ContrastiveBatches(pairs, 1000, languages=("zh", "vi"), tags=TAGS, versions=versions)
    return batches.make(range(len(pairs)), epoch=0)


def pool_by_hand(outputs: Tensor, ids: Tensor) -> Tensor:
    rows = []
    for row, tokens in zip(outputs, ids.tolist(), strict=True):
        content = [x for x, token in zip(row, tokens, strict=True) if token not in (PAD, BOS, EOS, 4, 5, 6)]
        rows.append(sum(content) / len(content))
    return torch.stack(rows)


def info_nce_by_hand(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    """The source's own way: two cross-entropies against the diagonal, averaged."""
    similarity, labels = a @ b.T / temperature, torch.arange(len(a))
    return (F.cross_entropy(similarity, labels) + F.cross_entropy(similarity.T, labels)) / 2


def view(model: WithProjection, tag: int, side: int) -> Tensor:
    """Vectors of one side of all pairs under one tag, each sentence read alone, the head written out."""
    outer, inner = model.projection.outer, model.projection.inner
    rows = []
    for pair in PAIRS:
        ids = torch.tensor([[tag, *pair[side], EOS]])
        pooled = pool_by_hand(model.transformer.encode(ids).outputs, ids)
        x = (pooled @ inner.weight.T + inner.bias).clamp_min(0) @ outer.weight.T + outer.bias
        rows.append(x / x.square().sum(dim=-1, keepdim=True).sqrt())
    return torch.cat(rows)


def test_the_bilingual_loss_is_two_info_nce_over_views_that_are_read_one_by_one() -> None:
    model = network()
    expected = (
        info_nce_by_hand(view(model, 5, 0), view(model, 5, 1), 0.2)
        + info_nce_by_hand(view(model, 4, 1), view(model, 4, 0), 0.2)
    ) / 2
    torch.testing.assert_close(bilingual_loss(model, batch_of(), 0.2), expected)


def test_the_monolingual_loss_compares_versions_within_each_language() -> None:
    model = network()
    zh, vi = view(model, 5, 0), view(model, 4, 1)
    expected = (info_nce_by_hand(zh, zh, 0.2) + info_nce_by_hand(vi, vi, 0.2)) / 2
    torch.testing.assert_close(monolingual_loss(model, batch_of(versions=dropout_versions), 0.2), expected)


def test_dropout_tells_two_versions_apart() -> None:
    noisy, batch = network(0.3), batch_of(versions=dropout_versions)
    assert batch.versions is not None
    first, second = noisy(batch.versions.flatten(0, 2)).unflatten(0, (2, 2, 4))[0]
    assert (first - second).abs().max() > 1e-3
    noisy.eval()
    first, second = noisy(batch.versions.flatten(0, 2)).unflatten(0, (2, 2, 4))[0]
    torch.testing.assert_close(first, second)


def test_pooling_is_the_mean_over_content_tokens() -> None:
    ids = torch.tensor([[5, 7, 8, EOS, PAD], [4, 9, EOS, PAD, PAD], [6, BOS, 10, 11, EOS]])
    outputs = torch.randn(3, 5, 4, dtype=torch.double)
    torch.testing.assert_close(mean_pool(outputs, ids, TAGS.values()), pool_by_hand(outputs, ids))
    outputs[(ids == PAD) | (ids == EOS) | (ids == 5)] = float("nan")
    assert mean_pool(outputs, ids, TAGS.values())[0].isfinite().all()
    nothing = mean_pool(torch.ones(1, 3, 4), torch.tensor([[5, EOS, PAD]]), TAGS.values())
    assert torch.equal(nothing, torch.zeros(1, 4))


def test_padding_and_batching_change_no_vector() -> None:
    model = network().eval()
    rows = [[5, 7, 8, EOS], [4, 9, EOS], [5, 10, 11, 12, 13, EOS]]
    together = torch.tensor([[*row, *[PAD] * (9 - len(row))] for row in rows])
    alone = torch.cat([model(torch.tensor([row])) for row in rows])
    torch.testing.assert_close(model(together), alone)
    torch.testing.assert_close(alone.norm(dim=-1), torch.ones(3, dtype=torch.double))


def test_with_targets_the_network_is_the_transformer() -> None:
    model, text = network().eval(), make_batch(PAIRS)
    assert torch.equal(model(text.src, text.tgt_in), model.transformer(text.src, text.tgt_in))
    logits = model.start(text.src, max_len=3).step(text.tgt_in[:, :1])
    torch.testing.assert_close(logits, model.transformer(text.src, text.tgt_in[:, :1])[:, -1])


def test_the_contrastive_gradient_reaches_encoder_and_head_but_not_the_decoder() -> None:
    model = network(tie_output=False, source_vocab_size=40)
    bilingual_loss(model, batch_of(), 0.1).backward()
    reached = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    decoder = ("transformer.decoder", "transformer.target_embedding", "transformer.output")
    assert reached == {name for name, _ in model.named_parameters() if not name.startswith(decoder)}
    for name, parameter in model.named_parameters():
        if name in reached:
            assert parameter.grad is not None
            assert parameter.grad.abs().max() > 0, name


def test_each_weight_is_a_weight_of_means_per_target_token() -> None:
    model, batch = network(), batch_of(versions=dropout_versions)
    task = ContrastiveTask(weight=0.3, temperature=0.5, self_weight=0.2)
    n_tokens = sum(len(a) + len(b) + 2 for a, b in PAIRS)
    assert task.count(batch) == n_tokens
    expected = (
        TranslationTask().loss(model, batch.text) / n_tokens
        + 0.3 * bilingual_loss(model, batch, 0.5)
        + 0.2 * monolingual_loss(model, batch, 0.5)
    )
    torch.testing.assert_close(task.loss(model, batch) / n_tokens, expected)


def test_equal_vectors_score_chance_and_temperature_has_its_limits() -> None:
    model, batch = network(), batch_of()
    at_chance = bilingual_loss(model, batch, 1e6)
    assert at_chance.item() == pytest.approx(math.log(4), abs=1e-4)
    chosen = torch.eye(4, dtype=torch.double)
    found = bilingual_loss(lambda ids: chosen.repeat(4, 1), batch, 0.01)
    assert found.item() == pytest.approx(0.0, abs=1e-9)
    moved = torch.cat([chosen, chosen.roll(1, 0)]).repeat(2, 1)
    assert bilingual_loss(lambda ids: moved, batch, 0.01).item() == pytest.approx(100.0)
    collapsed = torch.ones(16, 3, dtype=torch.double)
    assert bilingual_loss(lambda ids: collapsed, batch, 0.1).item() == pytest.approx(math.log(4))


def test_fewer_than_two_distinct_pairs_add_nothing() -> None:
    model = network()
    for pairs in (PAIRS[:1], [PAIRS[0], PAIRS[0]], [PAIRS[0], ([30], PAIRS[0][1])]):
        batch = batch_of(pairs, dropout_versions)
        task = ContrastiveTask(weight=5.0, self_weight=5.0)
        loss = task.loss(model, batch)
        assert torch.equal(loss, TranslationTask().loss(model, batch.text))
        # DDP waits for every parameter of every process, so the head must be reached, if with zeros.
        found = torch.autograd.grad(loss, tuple(model.projection.parameters()))
        assert all(torch.equal(grad, torch.zeros_like(grad)) for grad in found)


def test_without_weights_it_is_the_translation_task_draw_by_draw() -> None:
    model, batch = network(0.3), batch_of(versions=dropout_versions)
    losses = []
    for run in (
        lambda: TranslationTask(r_drop_alpha=1.0).loss(model, batch.text),
        lambda: ContrastiveTask(TranslationTask(r_drop_alpha=1.0), weight=0.0).loss(model, batch),
    ):
        torch.manual_seed(3)
        losses += [run(), torch.rand(1, dtype=torch.double)[0]]
    assert torch.equal(losses[0], losses[2])
    assert torch.equal(losses[1], losses[3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": -0.1}, "weight must be at least 0, got -0.1"),
        ({"self_weight": -1}, "self_weight must be at least 0, got -1"),
        ({"weight": float("nan")}, "weight must be a finite number, got nan"),
        ({"temperature": 0.0}, "temperature must be above 0, got 0.0"),
        ({"temperature": -1}, "temperature must be above 0, got -1"),
    ],
)
def test_bad_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ContrastiveTask(**options)


def test_parts_that_do_not_fit_are_refused() -> None:
    transformer = network().transformer
    with pytest.raises(
        ValueError, match=r"^self_weight must be 0 unless the batches are made with versions$"
    ):
        ContrastiveTask(self_weight=0.1).loss(network(), batch_of())
    with pytest.raises(ValueError, match=r"^tags must be an integer in 4..39, got 40$"):
        WithProjection(transformer, ProjectionHead(16, 8), [4, 40])
    with pytest.raises(ValueError, match=r"^tags must hold at least one id, got none$"):
        WithProjection(transformer, ProjectionHead(16, 8), [])
    with pytest.raises(ValueError, match=r"^projection must be made for d_model = 16, got 12$"):
        WithProjection(transformer, ProjectionHead(12, 8), [4])
    with pytest.raises(ValueError, match=r"^d_projection must be an integer of at least 1, got 0$"):
        ProjectionHead(16, 0)


SENTENCES = [[5, 7, 8, 9], [5, 10], [4, 11, 12, 13, 14, 15], [4, 7], [5, 9, 9]]


@pytest.fixture
def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    a = torch.randn(7, 5, generator=generator, dtype=torch.double)
    return a, a + 0.8 * torch.randn(7, 5, generator=generator, dtype=torch.double)


def cosine(x: torch.Tensor, y: torch.Tensor) -> float:
    return float((x @ y) / math.sqrt(float(x @ x) * float(y @ y)))


def test_measures_equal_their_formulas_written_as_loops(vectors) -> None:
    a, b = vectors
    matrix = [[cosine(x, y) for y in b] for x in a]
    torch.testing.assert_close(similarity_matrix(a, b), torch.tensor(matrix, dtype=torch.double))
    found = [max(range(7), key=row.__getitem__) == i for i, row in enumerate(matrix)]
    back = [max(range(7), key=lambda i, j=j: matrix[i][j]) == j for j in range(7)]
    assert retrieval_accuracy(a, b) == (pytest.approx(sum(found) / 7), pytest.approx(sum(back) / 7))
    assert 0 < sum(found) < 7
    # On the unit sphere |x - y|^2 = 2 - 2 cos.
    gaps = [2 - 2 * matrix[i][i] for i in range(7)]
    assert alignment(a, b) == pytest.approx(sum(gaps) / 7)
    assert alignment(a, b, power=1) == pytest.approx(sum(math.sqrt(gap) for gap in gaps) / 7)
    terms = [math.exp(-2 * (2 - 2 * cosine(a[i], a[j]))) for i in range(7) for j in range(i)]
    assert uniformity(a) == pytest.approx(math.log(sum(terms) / len(terms)))


def test_measures_ignore_length_and_rotation(vectors) -> None:
    a, b = vectors
    turn = torch.linalg.qr(torch.randn(5, 5, dtype=torch.double))[0]
    moved = 3 * a @ turn, 0.5 * b @ turn
    assert alignment(*moved) == pytest.approx(alignment(a, b))
    assert uniformity(moved[0]) == pytest.approx(uniformity(a))
    assert retrieval_accuracy(*moved) == pytest.approx(retrieval_accuracy(a, b))


def test_known_arrangements() -> None:
    axes = torch.eye(4)
    assert retrieval_accuracy(axes, 5 * axes) == (1.0, 1.0)
    assert retrieval_accuracy(axes, axes.roll(1, 0)) == (0.0, 0.0)
    assert alignment(axes, axes) == 0.0
    assert alignment(axes, -axes) == pytest.approx(4.0)
    assert uniformity(axes) == pytest.approx(-4.0)
    collapsed = torch.ones(4, 3)
    assert retrieval_accuracy(collapsed, collapsed) == (0.25, 0.25)
    assert uniformity(collapsed) == pytest.approx(0.0, abs=1e-6)
    # One direction at many lengths: the cosines differ by rounding only, which decides nothing.
    rounded = torch.linspace(0.1, 9.0, 50)[:, None] * torch.tensor([0.3, -1.7, 0.9])
    assert retrieval_accuracy(rounded, rounded) == (pytest.approx(0.02), pytest.approx(0.02))
    many_to_one = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert retrieval_accuracy(torch.tensor([[1.0, 0.1], [0.1, 1.0], [0.0, 1.0]]), many_to_one) == (
        pytest.approx(0.5),
        pytest.approx(2 / 3),
    )


@pytest.mark.parametrize("with_head", [True, False])
def test_sentence_vectors_come_in_order_whatever_the_batch(with_head: bool) -> None:
    model = network(0.2)
    encoder = model if with_head else model.transformer
    found = sentence_vectors(encoder, SENTENCES, tags=TAGS.values(), batch_size=2)
    assert model.training
    assert model.transformer.encoder.training
    model.eval()
    for row, ids in zip(found, SENTENCES, strict=True):
        src = torch.tensor([[*ids, EOS]])
        if with_head:
            expected = model(src)[0]
        else:
            expected = F.normalize(model.transformer.encode(src).outputs[0, 1:-1].mean(dim=0), dim=0)
        torch.testing.assert_close(row, expected)
    assert not found.requires_grad


def test_bad_input_is_named() -> None:
    x = torch.randn(3, 4)
    shapes = r"^vectors must be rows of one width.* got \(3, 4\) and \({}\)$"
    for other, shape in ((x[:2], "2, 4"), (x[:, :3], "3, 3"), (x[0], "4,"), (x[:0], "0, 4")):
        for measure in (alignment, retrieval_accuracy):
            with pytest.raises(ValueError, match=shapes.format(shape)):
                measure(x, other)
    with pytest.raises(ValueError, match=r"^x must have at least 2 rows, got 1$"):
        uniformity(x[:1])
    with pytest.raises(ValueError, match=r"^t must be above 0, got 0$"):
        uniformity(x, t=0)
    with pytest.raises(ValueError, match=r"^power must be above 0, got -1$"):
        alignment(x, x, power=-1)
    with pytest.raises(ValueError, match=r"^sentences must hold at least one sentence, got none$"):
        sentence_vectors(network(0.2), [], tags=[4, 5])
    with pytest.raises(ValueError, match=r"^batch_size must be an integer of at least 1, got 0$"):
        sentence_vectors(network(0.2), SENTENCES, tags=[4, 5], batch_size=0)
