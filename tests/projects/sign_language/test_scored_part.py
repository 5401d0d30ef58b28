"""A part as it was answered: every clip counts, and films, weights and answers belong together."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.corpus import SignCorpus, store_corpus
from coursepkg.projects.sign_language.data.clip import ClipFile, sample_frames
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.projects.sign_language.evaluate_verb import learnt_notes, score_part
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from tests.projects.sign_language.signed import COUNTS, RECIPE, WORDS, recognizer, taught, write_film

SIGNERS = ("An", "Bình", "Chi")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> SignCorpus:
    """Three signers sign three words each; one of the clips is short, and a tenth file is no video."""
    folder = tmp_path_factory.mktemp("signs")
    files = []
    for i, signer in enumerate(SIGNERS):
        for j, word in enumerate(WORDS):
            path = folder / f"{signer}-{j}.mp4"
            write_film(path, word, number=200 + 3 * i + j, n_frames=4 if (i, j) == (1, 2) else 12)
            files.append(ClipFile(path, word, signer))
    broken = folder / "broken.mp4"
    broken.write_bytes(b"no video at all" * 40)
    files.append(ClipFile(broken, WORDS[0], "An"))
    parts = {"train": files[:3], "test": files}
    config = CacheConfig(size=RECIPE.size, frames=32)
    return store_corpus(folder / "kept", parts, WORDS, config, name="films", protocol="signer")


def test_what_cannot_be_read_counts_and_comes_last(corpus: SignCorpus) -> None:
    found = score_part(recognizer(), corpus, "test", n_resamples=50)
    answers = found.scores.answers
    assert [one.name for one in answers] == [clip.name for clip in corpus.part("test").clips] + ["broken.mp4"]
    said = predict_clips(taught(), corpus.part("test"), RECIPE).words(WORDS)
    assert [one.said for one in answers] == [*said, None]
    right = sum(one.is_right for one in answers)
    assert right >= 7, "a block that rises, falls or lies still"
    assert found.scores.accuracy.value == right / 10
    assert "n:10/10" in found.scores.macro_f1.signature
    assert found.scores.n_unreadable == 1
    assert "protocol:films test, split signer|" in found.scores.macro_f1.signature
    assert found.scores.counts == COUNTS


def test_films_show_what_the_network_saw(corpus: SignCorpus) -> None:
    found = score_part(recognizer(), corpus, "test", n_resamples=0)
    clips = corpus.part("test")
    for place in range(len(clips)):
        film = found.film(place)
        assert film is not None
        sampled = sample_frames(clips.times(place), RECIPE.n_frames)
        assert len(film.frames) == sampled.mask.sum()
        assert np.array_equal(film.frames, clips.frames(place, sampled.numbers)[sampled.mask])
        assert film.weights is not None
        assert film.weights.sum() == pytest.approx(1.0, abs=1e-5)
        assert film.times is not None
        assert np.array_equal(film.times, clips.times(place)[sampled.numbers[sampled.mask]])
    assert {len(found.film(place).frames) for place in range(9)} == {4, 6}, "padding is not shown"
    assert found.film(9) is None


@pytest.mark.parametrize("limit", [1, 4, 9, 10, 99])
def test_a_limit_takes_the_first_clips_and_is_said(corpus: SignCorpus, limit: int) -> None:
    whole = score_part(recognizer(), corpus, "test", n_resamples=0)
    some = score_part(recognizer(), corpus, "test", limit=limit, batch_size=2, n_resamples=0)
    expected = whole.scores.answers[:limit]
    assert [(one.name, one.said, one.rank) for one in some.scores.answers] == [
        (one.name, one.said, one.rank) for one in expected
    ]
    assert [one.given for one in some.scores.answers] == pytest.approx(
        [one.given for one in expected], abs=1e-5
    )
    assert (f"first {limit}" in some.protocol) == (limit < 10)


def test_an_ensemble_and_its_way_of_looking_are_named(corpus: SignCorpus) -> None:
    together = SignRecognizer(taught(0), WORDS, RECIPE, counts=COUNTS, others=[taught(1)])
    found = score_part(together.with_settings(views=2, adjust=0.5), corpus, "test", n_resamples=0)
    assert found.protocol == "films test, split signer, 2 models, 2 views, adjusted by 0.5"
    alone = score_part(recognizer(), corpus, "test", n_resamples=0)
    assert found.scores.answers[0].given != alone.scores.answers[0].given


def test_words_that_the_model_does_not_know_are_refused(corpus: SignCorpus) -> None:
    other = SignRecognizer(taught(), ("lên", "nằm", "ăn"), RECIPE, counts=COUNTS)
    with pytest.raises(ValueError, match="has 1 words that the model does not know, such as 'xuống'"):
        score_part(other, corpus, "test")
    with pytest.raises(ValueError, match="no clip in its dev part"):
        score_part(recognizer(), corpus, "dev")


def test_without_a_card_bands_go_by_the_corpus(corpus: SignCorpus) -> None:
    unknown = SignRecognizer(taught(), WORDS, RECIPE)
    assert score_part(unknown, corpus, "test", n_resamples=0).scores.counts == (1, 1, 1)


def test_the_reader_is_told_what_the_model_may_have_seen(corpus: SignCorpus) -> None:
    told = {"data": corpus.described()}
    assert learnt_notes(told, corpus, "test") == []
    assert "learnt from these very clips" in learnt_notes(told, corpus, "train")[0]
    assert "chosen by these clips" in learnt_notes(told, corpus, "dev")[0]
    assert "does not say what it learnt from" in learnt_notes({}, corpus, "test")[0]
    assert "began with another one (old)" in learnt_notes(told | {"start": "old"}, corpus, "test")[0]
    other = {"data": {"name": "signers", "protocol": "clip", "fingerprint": "0"}}
    assert (
        "learnt from signers parted by clip, not from this corpus" in learnt_notes(other, corpus, "test")[0]
    )


def test_answers_and_the_worst_are_written(corpus: SignCorpus, tmp_path: Path) -> None:
    found = score_part(recognizer(), corpus, "test", n_resamples=0)
    found.write_answers(tmp_path / "answers.tsv")
    rows = [line.split("\t") for line in (tmp_path / "answers.tsv").read_text("utf-8").splitlines()]
    assert [row[0] for row in rows[1:]] == [one.name for one in found.scores.answers]
    assert rows[-1][1:4] == ["An", WORDS[0], ""]
    n_wrong = sum(not one.is_right for one in found.scores.answers)
    assert found.write_worst(tmp_path / "worst.html", most=5) == min(5, n_wrong)
    assert "films test, split signer" in (tmp_path / "worst.html").read_text("utf-8")
