"""Matching by examples: what must hold for any embedding, and what the shipped one does to made-up words."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.projects.sign_language.few_shot import matching
from coursepkg.projects.sign_language.few_shot.embedding import (
    CHECKPOINT,
    EmbeddingConfig,
    SignEmbedding,
    default_embedding,
    embed,
    step_features,
)
from coursepkg.projects.sign_language.few_shot.features import signs_of
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.few_shot.matching import (
    METHODS,
    Example,
    Matcher,
    Weights,
    default_weights,
    prototypes,
)
from coursepkg.training.saved_model import CARD

WEIGHTS = Weights(dtw=1.0, embedding=2.0, none=1.5)


@pytest.fixture(scope="module")
def embedding() -> SignEmbedding:
    torch.manual_seed(0)
    return SignEmbedding(EmbeddingConfig(d_model=16, n_layers=1, n_heads=2, d_ff=16)).eval()


@pytest.fixture(scope="module")
def drawn() -> list[list[Example]]:
    """Six made-up words, three clips each, in all of which a hand is seen."""
    rng = np.random.default_rng(0)
    clips = sign(rng, draw_words(rng, 40).repeated(4))
    words = []
    for word in range(40):
        own = [clips.clip(4 * word + i) for i in range(4)]
        shown = [one for one in own if one.has_hands]
        if len(shown) >= 3:
            name = f"word {len(words)}"
            words.append([Example(name, str(i), f"{name}-{i}", one) for i, one in enumerate(shown[:3])])
    return words[:6]


def matcher(examples: list[Example], method: str, embedding: SignEmbedding) -> Matcher:
    return Matcher(examples, method=method, embedding=embedding, weights=WEIGHTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_are_of_all_words_and_of_none(
    method: str, embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    found = matcher([word[0] for word in drawn], method, embedding)
    p = found.probabilities(drawn[0][1].landmarks)
    assert found.words == tuple(f"word {i}" for i in range(6))
    assert p.shape == (7,)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_an_enrolled_clip_is_its_own_word(
    method: str, embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    found = matcher([word[0] for word in drawn], method, embedding)
    for number, word in enumerate(drawn):
        assert found.word_distances(word[0].landmarks).argmin() == number


def test_the_order_of_examples_does_not_matter(embedding: SignEmbedding, drawn: list[list[Example]]) -> None:
    examples = [one for word in drawn for one in word[:2]]
    there = matcher(examples, "auto", embedding)
    back = matcher(examples[::-1], "auto", embedding)
    asked = drawn[2][2].landmarks
    first, second = there.word_distances(asked), back.word_distances(asked)
    for word, distance in zip(there.words, first, strict=True):
        assert second[back.words.index(word)] == pytest.approx(distance, abs=1e-5)


def test_more_distant_none_makes_none_less_likely(
    embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    examples = [word[0] for word in drawn]
    told = []
    for none in (0.5, 1.5, 3.0):
        weights = Weights(dtw=1.0, embedding=2.0, none=none)
        p = Matcher(examples, embedding=embedding, weights=weights).probabilities(drawn[0][1].landmarks)
        told.append(p[-1])
    assert told[0] > told[1] > told[2]


def test_the_mean_of_the_nearest_is_never_below_the_nearest(
    embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    examples = [one for word in drawn for one in word[:2]]
    nearest = matcher(examples, "dtw", embedding).warping_by_word(signs_of(drawn[0][2].landmarks))
    mean = matcher(examples, "dtw-mean", embedding).warping_by_word(signs_of(drawn[0][2].landmarks))
    assert (mean >= nearest).all()
    assert (mean > nearest).any()


def test_a_prototype_is_the_mean_made_of_length_one() -> None:
    vectors = np.array([[1.0, 0], [0, 1], [0.6, 0.8]], np.float32)
    found, words = prototypes(vectors, np.array([0, 1, 2]), np.array([0, 0, 1]))
    assert words.tolist() == [0, 1]
    np.testing.assert_allclose(found, [[0.5**0.5, 0.5**0.5], [0.6, 0.8]], rtol=1e-6)


def test_of_several_parts_the_one_that_other_examples_resemble_counts() -> None:
    vectors = np.array([[1.0, 0], [0, 1], [0, 1]], np.float32)
    found, words = prototypes(vectors, np.array([0, 0, 1]), np.array([0, 0]))
    assert words.tolist() == [0]
    np.testing.assert_allclose(found, [[0, 1]], atol=1e-6)
    alone, words = prototypes(vectors[:2], np.array([0, 0]), np.array([0]))
    assert words.tolist() == [0, 0]
    np.testing.assert_allclose(alone, vectors[:2])


def test_vectors_have_length_one_and_do_not_depend_on_the_batch(
    embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    signs = [signs_of(word[0].landmarks)[0][0] for word in drawn]
    together = embed(embedding, signs)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(together[2], embed(embedding, [signs[2]])[0], atol=1e-5)
    assert step_features(signs[0]).shape == (24, EmbeddingConfig().n_features)


def test_the_order_of_steps_matters_to_the_embedding(embedding: SignEmbedding) -> None:
    steps = torch.randn(1, 24, EmbeddingConfig().n_features, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert not torch.allclose(embedding(steps), embedding(steps.flip(1)), atol=1e-3)


def test_every_weight_of_the_embedding_learns(embedding: SignEmbedding) -> None:
    model = SignEmbedding(EmbeddingConfig(d_model=16, n_layers=1, n_heads=2, d_ff=16, dropout_p=0.0))
    steps = torch.randn(3, 24, EmbeddingConfig().n_features, generator=torch.Generator().manual_seed(0))
    model(steps)[:, 0].sum().backward()
    assert all(
        one.grad is not None and one.grad.abs().sum() > 0 for one in model.parameters() if one.dim() > 1
    )


def test_no_examples_and_unknown_methods_are_refused(
    embedding: SignEmbedding, drawn: list[list[Example]]
) -> None:
    with pytest.raises(ValueError, match="examples must hold at least one clip"):
        matcher([], "dtw", embedding)


def test_the_shipped_embedding_knows_new_words_again() -> None:
    rng = np.random.default_rng(123)
    clips = sign(rng, draw_words(rng, 30).repeated(4))
    shown = [[one for one in (clips.clip(4 * w + i) for i in range(4)) if one.has_hands] for w in range(30)]
    words = [own for own in shown if len(own) == 4][:20]
    assert len(words) >= 15
    examples = [Example(str(w), "", "", one) for w, own in enumerate(words) for one in own[:3]]
    right = 0
    found = Matcher(examples)
    for number, own in enumerate(words):
        p = found.probabilities(own[3])
        right += int(p[:-1].argmax()) == number
    assert right / len(words) >= 0.7


def test_the_checkpoint_says_what_it_is_and_is_small() -> None:
    assert set(default_weights()) == {name for name in METHODS if name != "auto"}
    assert all(one.none > 0 for one in default_weights().values())
    assert sum(p.numel() for p in default_embedding().parameters()) < 600_000
    assert sum(file.stat().st_size for file in CHECKPOINT.iterdir()) < 1_500_000


def test_a_card_without_the_weights_of_a_method_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = json.loads((CHECKPOINT / CARD).read_text())
    del card["meta"]["weights_of_distances"]["dtw-mean"]
    (tmp_path / CARD).write_text(json.dumps(card))
    monkeypatch.setattr(matching, "CHECKPOINT", tmp_path)
    with pytest.raises(ValueError, match="is damaged: it lacks the weights of a method"):
        default_weights.__wrapped__()
