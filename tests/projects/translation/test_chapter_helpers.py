"""The classroom: ids lead back to sentences, training learns, translation changes nothing about the model."""

import pytest
import torch

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.projects.translation.chapter_helpers import LONGEST, LanguageTask, Lesson
from coursepkg.text.vocabulary import BOS, EOS


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return Lesson.prepare("zh", "vi", n_train=400)


def test_ids_lead_back_to_the_sentences(lesson):
    triples = lesson.parts.test[:50]
    for triple, (source, target) in zip(triples, lesson.pairs(triples), strict=True):
        assert lesson.source_words.decode(source) == triple.tokens("zh")
        assert lesson.target_words.decode(target) == triple.tokens("vi")


def test_no_word_of_the_tests_is_unknown_and_no_sentence_is_too_long(lesson):
    for triple in (*lesson.parts.valid, *lesson.parts.test):
        assert all(token in lesson.source_words for token in triple.tokens("zh"))
        assert all(token in lesson.target_words for token in triple.tokens("vi"))
        assert max(len(triple.tokens(language)) for language in ("zh", "vi")) + 2 <= LONGEST


def test_lessons_of_any_size_share_their_ids_and_their_test(lesson):
    other = Lesson.prepare("zh", "vi", n_train=10)
    assert other.source_words == lesson.source_words
    assert other.parts.test == lesson.parts.test
    assert other.parts.train == lesson.parts.train[:10]


def test_training_learns_and_repeats(lesson):
    losses = []
    for _ in range(2):
        model = lesson.transformer(lesson.config(d_model=32, d_ff=64), seed=3)
        history = lesson.train(model, max_steps=12, warmup=3, seed=3)
        losses.append([row["loss"] for row in history.steps])
    assert losses[0] == losses[1]
    assert losses[0][-1] < 0.9 * losses[0][0]


def test_translations_do_not_depend_on_their_company(lesson):
    model = lesson.transformer(lesson.config(d_model=32, d_ff=64)).double()
    triples = lesson.parts.test[:6]
    together = lesson.translate(model, triples)
    assert together == [lesson.translate(model, [triple])[0] for triple in triples]
    assert model.training, "left in the mode it came in"
    assert not {"<bos>", "<eos>", "<pad>"} & {token for tokens in together for token in tokens}


def test_a_perfect_decoder_is_exact(lesson):
    triples = lesson.parts.test[:5]
    truth = iter(lesson.references(triples))

    def oracle(model, src):
        return [type("Hypothesis", (), {"ids": lesson.target_words.encode(next(truth))}) for _ in src]

    assert lesson.exact(lesson.transformer(), triples, oracle) == 1.0


def test_a_language_model_learns_the_target_side(lesson):
    model = lesson.language_model(d_model=32, d_ff=64)
    assert isinstance(model, LanguageModel)
    history = lesson.train(model, task=LanguageTask(), max_steps=12, warmup=3)
    assert history.steps[-1]["loss"] < history.steps[0]["loss"]
    batch = lesson.batch(lesson.parts.valid[:3])
    assert LanguageTask().count(batch) == int((batch.tgt_out != 0).sum())
    assert torch.equal(batch.tgt_in[:, 0], torch.full((3,), BOS))
    assert ((batch.tgt_out == EOS).sum(dim=1) == 1).all()


def test_wrong_sizes_and_languages_are_named():
    with pytest.raises(ValueError, match=r"n_train must be in 1\.\.31815, got 0"):
        Lesson.prepare(n_train=0)
    with pytest.raises(ValueError, match="'fr'"):
        Lesson.prepare("fr")
