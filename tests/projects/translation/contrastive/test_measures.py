"""What is measured on sentence vectors, against plain double loops and known arrangements."""

import math

import pytest
import torch
from torch.nn import functional as F

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.batches import ContrastiveBatches
from coursepkg.projects.translation.contrastive.measures import (
    alignment,
    mean_bilingual_loss,
    retrieval_accuracy,
    sentence_vectors,
    similarity_matrix,
    uniformity,
)
from coursepkg.projects.translation.contrastive.task import ProjectionHead, WithProjection, bilingual_loss
from coursepkg.text.vocabulary import EOS

TAGS = {"zh": 4, "vi": 5}
SENTENCES = [[5, 7, 8, 9], [5, 10], [4, 11, 12, 13, 14, 15], [4, 7], [5, 9, 9]]


def network(dropout_p: float = 0.2) -> WithProjection:
    torch.manual_seed(0)
    config = TransformerConfig(
        40,
        d_model=16,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        d_ff=32,
        dropout_p=dropout_p,
    )
    return WithProjection(Transformer(config), ProjectionHead(16, 8), TAGS.values()).double()


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
    model = network()
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


def test_mean_bilingual_loss_weighs_by_pairs_and_skips_what_has_no_negatives() -> None:
    model = network()
    pairs = [([10 + i], [20 + i, 30]) for i in range(6)]
    made = ContrastiveBatches(pairs, 1000, languages=("zh", "vi"), tags=TAGS)
    batches = [made.make(numbers, 0) for numbers in ([0, 1], [2], [3, 4, 5])]
    found = mean_bilingual_loss(model, batches, 0.5)
    assert model.training
    model.eval()
    each = [bilingual_loss(model, batch, 0.5).item() for batch in (batches[0], batches[2])]
    assert found == pytest.approx((2 * each[0] + 3 * each[1]) / 5)
    with pytest.raises(
        ValueError, match=r"^batches must hold a batch of at least two distinct pairs, got none$"
    ):
        mean_bilingual_loss(model, batches[1:2], 0.5)


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
        sentence_vectors(network(), [], tags=[4, 5])
    with pytest.raises(ValueError, match=r"^batch_size must be an integer of at least 1, got 0$"):
        sentence_vectors(network(), SENTENCES, tags=[4, 5], batch_size=0)
