import math
from typing import Any

import pytest
import torch

from coursepkg.text import skipgram
from coursepkg.text.skipgram import SkipGram, SkipGramConfig, train_skipgram
from coursepkg.text.vocabulary import SPECIALS, Vocabulary

DRINKS, COLOURS = ["trà", "sữa", "nước"], ["đỏ", "xanh", "vàng"]
SENTENCES = [["tôi", "uống", drink, "nóng", "."] for drink in DRINKS]
SENTENCES += [["chiếc", "áo", "màu", colour, "đẹp"] for colour in COLOURS]
VOCABULARY = Vocabulary.build(SENTENCES)
SMALL = SkipGramConfig(dim=8, epochs=40, batch_size=16, subsample=0.0, learning_rate=0.05)


def expit(x: torch.Tensor) -> float:
    return 1 / (1 + math.exp(-x.item()))


def filled_model() -> SkipGram:
    torch.manual_seed(0)
    model = SkipGram(6, 4).double()
    torch.nn.init.normal_(model.contexts.weight)
    torch.nn.init.normal_(model.centers.weight)
    return model


def test_loss_and_gradient_are_those_of_the_paper() -> None:
    model = filled_model()
    center, context, negatives = torch.tensor([1]), torch.tensor([2]), torch.tensor([[3, 4]])
    loss = model(center, context, negatives)
    loss.backward()
    v, u = model.centers.weight.detach()[1], model.contexts.weight.detach()
    expected = -math.log(expit(v @ u[2])) - math.log(expit(-v @ u[3])) - math.log(expit(-v @ u[4]))
    assert loss.item() == pytest.approx(expected)
    errors = {2: expit(v @ u[2]) - 1, 3: expit(v @ u[3]), 4: expit(v @ u[4])}
    assert model.centers.weight.grad is not None
    assert model.contexts.weight.grad is not None
    torch.testing.assert_close(model.centers.weight.grad[1], sum(error * u[i] for i, error in errors.items()))
    for i, error in errors.items():
        torch.testing.assert_close(model.contexts.weight.grad[i], error * v)
    assert not model.centers.weight.grad[[0, 2, 3, 4, 5]].any()
    assert not model.contexts.weight.grad[[0, 1, 5]].any()


def test_gradcheck_with_a_word_drawn_twice() -> None:
    model = filled_model()
    ids = torch.tensor([1, 1, 2]), torch.tensor([2, 2, 0]), torch.tensor([[3, 3], [2, 1], [5, 0]])

    def loss(centers: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
        weights = {"centers.weight": centers, "contexts.weight": contexts}
        return torch.func.functional_call(model, weights, ids)

    inputs = [table.weight.detach().clone().requires_grad_() for table in (model.centers, model.contexts)]
    assert torch.autograd.gradcheck(loss, inputs)


def test_the_first_loss_is_that_of_a_coin() -> None:
    losses = train_skipgram(SENTENCES, VOCABULARY, SMALL).losses
    assert losses[0] == pytest.approx((1 + SMALL.n_negatives) * math.log(2), rel=1e-5)
    assert sum(losses[-5:]) / 5 < 0.75 * losses[0]


def test_words_of_the_same_contexts_become_neighbours() -> None:
    vectors = train_skipgram(SENTENCES, VOCABULARY, SMALL).vectors
    assert vectors.words == VOCABULARY.tokens[len(SPECIALS) :]
    across = max(vectors.similarity(drink, colour) for drink in DRINKS for colour in COLOURS)
    for group in (DRINKS, COLOURS):
        assert min(vectors.similarity(group[0], word) for word in group[1:]) > across + 0.5


def test_training_depends_on_the_seed_alone() -> None:
    config = SkipGramConfig(dim=4, epochs=2, batch_size=8, seed=3)
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = train_skipgram(SENTENCES, VOCABULARY, config)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(2)
    second = train_skipgram(SENTENCES, VOCABULARY, config)
    assert torch.equal(first.vectors.vectors, second.vectors.vectors)
    assert first.losses == second.losses


def test_pairs_stay_inside_sentence_and_window() -> None:
    # in a window of 1, a never meets c, and no word meets one of another sentence
    sentences = [["a", "b", "c"]] * 50 + [["d", "e"]] * 50
    vocabulary = Vocabulary.build(sentences)
    config = SkipGramConfig(dim=8, window=1, epochs=30, batch_size=32, subsample=0.0)
    vectors = train_skipgram(sentences, vocabulary, config).vectors
    assert vectors.nearest("a", 1)[0][0] == "c"  # their only context is b
    assert vectors.similarity("a", "d") < 0.5


def test_time_stops_training_after_one_step() -> None:
    config = SkipGramConfig(dim=4, epochs=5, batch_size=4, max_seconds=1e-9)
    assert len(train_skipgram(SENTENCES, VOCABULARY, config).losses) == 1


def test_no_pairs_are_drawn_when_the_time_is_over(monkeypatch) -> None:
    drawn, draw = [], skipgram._draw_pairs
    monkeypatch.setattr(skipgram, "_draw_pairs", lambda *given: drawn.append(0) or draw(*given))
    config = SkipGramConfig(dim=4, epochs=5, batch_size=4, subsample=0.0, max_seconds=1e-9)
    train_skipgram(SENTENCES, VOCABULARY, config)
    assert len(drawn) == 1


@pytest.mark.parametrize("sentences", [[["tôi"], ["trà"]], [["tôi", "?"]]])
def test_text_without_pairs_is_refused(sentences: list[list[str]]) -> None:
    with pytest.raises(
        ValueError, match="sentences must hold words of the vocabulary side by side, got none"
    ):
        train_skipgram(sentences, VOCABULARY, SMALL)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 0}, "dim must be at least 1, got 0"),
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"n_negatives": 0}, "n_negatives must be at least 1, got 0"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"batch_size": -1}, "batch_size must be at least 1, got -1"),
        ({"learning_rate": 0.0}, "learning_rate must be positive, got 0.0"),
        ({"max_seconds": math.nan}, "max_seconds must be positive, got nan"),
        ({"noise_power": 1.5}, r"noise_power must lie in 0\.\.1, got 1\.5"),
        ({"subsample": -1.0}, "subsample must be at least 0 and finite, got -1.0"),
    ],
)
def test_bad_settings(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SkipGramConfig(**change)
