"""A recogniser names clips as the network in memory does, alone or in a batch, one network or several."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.sign_language.data.cache import cache_clips
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.video import VideoFrames, array_frames, read_clip
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.recipe import Recipe, StreamConfig
from coursepkg.projects.sign_language.recognizer import Recognition, SignRecognizer
from coursepkg.projects.sign_language.streams.sliding_window import SignStream
from coursepkg.projects.sign_language.synthetic.clips import write_video
from coursepkg.training.saved_model import save_model
from tests.projects.sign_language.data.films import cut, write_sound
from tests.projects.sign_language.data.films import write_film as write_numbers
from tests.projects.sign_language.signed import (
    FPS,
    RECIPE,
    WORDS,
    clip,
    moving,
    recognizer,
    taught,
    word_of,
    write_film,
    write_films,
    write_model,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("signed") / "run")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_films(tmp_path_factory.mktemp("films"))


def chances(found: Recognition) -> list[float]:
    """Of all words, in the order of their numbers."""
    return [dict(found.candidates)[word] for word in WORDS]


def test_it_names_films_that_it_has_not_seen(model: Path, films: list[Path]) -> None:
    found = SignRecognizer.load(model).recognize(films)
    assert [one.label for one in found] == [word_of(path) for path in films]
    assert [one.name for one in found] == [str(path) for path in films]
    for one in found:
        assert 0.6 < one.confidence == one.candidates[0][1] <= 1
        assert sum(chances(one)) == pytest.approx(1, abs=1e-5)
        assert [p for _, p in one.candidates] == sorted((p for _, p in one.candidates), reverse=True)
        assert one.weights is not None
        assert one.weights.sum() == pytest.approx(1, abs=1e-5)
        assert one.times.tolist() == pytest.approx([k / FPS for k in (0, 2, 4, 6, 8, 11)], abs=1e-3)
        assert (one.flaw, one.error) == ("", "")


def test_saved_and_loaded_it_says_the_same(model: Path, films: list[Path]) -> None:
    ours, theirs = recognizer(), SignRecognizer.load(model)
    assert theirs.fingerprint == ours.fingerprint
    assert (theirs.labels, theirs.recipe, theirs.counts) == (ours.labels, ours.recipe, ours.counts)
    for one, other in zip(ours.recognize(films), theirs.recognize(films), strict=True):
        assert one.candidates == other.candidates
        assert np.array_equal(one.times, other.times)


def test_alone_and_in_a_batch_a_clip_gets_the_same(tmp_path: Path) -> None:
    lengths = (12, 3, 40, 1, 7, 24)
    films = [write_film(tmp_path / f"{i}.mp4", WORDS[i % 3], n_frames=n) for i, n in enumerate(lengths)]
    network = recognizer()
    alone = [chances(network.recognize([film])[0]) for film in films]
    for size in (2, 4, 32):
        together = [chances(one) for one in network.recognize(films, batch_size=size)]
        np.testing.assert_allclose(together, alone, atol=1e-6)


def test_a_file_and_its_cached_clip_get_the_same(tmp_path: Path) -> None:
    films = [write_film(tmp_path / f"{n}.mp4", "lên", n_frames=n) for n in (9, 30, 50)]
    network = recognizer()
    cached = cache_clips([ClipFile(film, "lên") for film in films], tmp_path / "cache", network.cache_config)
    said = predict_clips(network.model, cached, network.recipe).probabilities
    found = [chances(one) for one in network.recognize(films)]
    np.testing.assert_allclose(found, said, atol=1e-6)


def test_a_clip_in_memory_of_any_size_is_named(films: list[Path]) -> None:
    network = recognizer()
    large = [read_clip(path) for path in films]
    assert large[0].frames.shape[1:3] != (RECIPE.size, RECIPE.size)
    found = network.recognize_clips(large)
    for one, other in zip(found, network.recognize(films), strict=True):
        # Scaled from RGB here and from the film's own colours there.
        np.testing.assert_allclose(chances(one), chances(other), atol=0.05)
    np.testing.assert_allclose(network.probabilities(large[0]), chances(found[0]), atol=1e-6)
    assert network.recognize_clips([]) == []


def test_only_one_batch_of_clips_is_read_ahead(films: list[Path]) -> None:
    asked: list[Path] = []

    def named() -> Iterator[Path]:
        for path in films:
            asked.append(path)
            yield path

    found = recognizer().recognize_each(named(), batch_size=3)
    assert next(found).name == str(films[0])
    assert asked == films[:3]
    assert [one.name for one in found] == [str(path) for path in films[1:]]


def test_an_ensemble_takes_the_mean(model: Path, films: list[Path], tmp_path: Path) -> None:
    second = write_model(tmp_path / "second", seed=1)
    both = SignRecognizer.load(model, second)
    parts = [SignRecognizer.load(one).recognize(films) for one in (model, second)]
    for found, one, other in zip(both.recognize(films), *parts, strict=True):
        np.testing.assert_allclose(chances(found), np.mean([chances(one), chances(other)], axis=0), atol=1e-6)
        assert chances(one) != chances(other)
    assert both.fingerprint not in (SignRecognizer.load(model).fingerprint, recognizer(1).fingerprint)


def test_models_that_do_not_go_together_are_refused(model: Path, tmp_path: Path) -> None:
    words = write_model(tmp_path / "words", labels=["lên", "nằm", "ngủ"])
    with pytest.raises(ValueError, match=r"words has other words than .*run; an ensemble must know the same"):
        SignRecognizer.load(model, words)
    frames = Recipe.of(RECIPE.described() | {"padding": "loop"}).described()
    other = write_model(tmp_path / "frames", recipe=frames)
    with pytest.raises(
        ValueError, match=r"reads padding loop, and .*run mask; the models of an ensemble must agree"
    ):
        SignRecognizer.load(model, other)
    with pytest.raises(ValueError, match="at least one model, got none"):
        SignRecognizer.load()


def test_settings_of_looking_change_the_answer_and_the_fingerprint(films: list[Path]) -> None:
    plain = recognizer()
    assert plain.with_settings().fingerprint == plain.fingerprint
    base = np.array(chances(plain.recognize(films[:1])[0]))
    adjusted = plain.with_settings(adjust=1.0)
    expected = base / np.array(plain.counts)
    np.testing.assert_allclose(
        chances(adjusted.recognize(films[:1])[0]), expected / expected.sum(), rtol=1e-4
    )
    viewed = plain.with_settings(views=3)
    assert chances(viewed.recognize(films[:1])[0]) != base.tolist()
    assert len({one.fingerprint for one in (plain, adjusted, viewed)}) == 3
    with pytest.raises(ValueError, match="--adjust 1 needs the training clips of each word"):
        SignRecognizer(taught(), WORDS, RECIPE).with_settings(adjust=1.0)


@pytest.mark.parametrize("read", ["film", "arrays"])
def test_two_clips_one_after_another_are_two_windows_with_their_own_answers(
    tmp_path: Path, read: str
) -> None:
    network = recognizer()
    config = StreamConfig(window=1.0, hop=1.0, smoothing=0.0, refractory=0.0)
    if read == "film":
        film = write_film(tmp_path / "both.mp4", "lên", "xuống")
        frames = VideoFrames(film, size=RECIPE.size)
    else:
        clips = [clip("lên", 100), clip("xuống", 101)]
        frames = array_frames(np.concatenate([one.frames for one in clips]), fps=FPS)
        alone = [network.probabilities(one) for one in clips]
    found = list(SignStream(network, config).readings(frames))
    assert [round(one.start, 3) for one in found] == [0, 1]
    assert [WORDS[one.own.argmax()] for one in found] == ["lên", "xuống"]
    if read == "arrays":
        np.testing.assert_allclose([one.own for one in found], alone, atol=1e-6)
        frames = array_frames(np.concatenate([one.frames for one in clips]), fps=FPS)
    events = list(SignStream(network, config).events(frames))
    assert [(round(one.start, 2), round(one.end, 2), one.label) for one in events] == [
        (0.0, 1.0, "lên"),
        (1.0, 2.0, "xuống"),
    ]


def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, films: list[Path]) -> None:
    Image.new("RGB", (64, 48)).save(tmp_path / "a.png")
    bad = {
        tmp_path / "none.mp4": "none.mp4: there is no such video",
        tmp_path / "a.png": "a.png: a PNG picture, not a video",
        write_sound(tmp_path / "sound.mp4"): "sound.mp4: audio only, no moving pictures",
        tmp_path: "is a folder; name a video in it",
    }
    network = recognizer()
    for path, said in bad.items():
        with pytest.raises((ValueError, OSError), match=said) as told:
            network.recognize([path])
        assert "\n" not in str(told.value)
    found = network.recognize([films[0], *bad, films[1]], keep_going=True, batch_size=4)
    assert [one.label for one in found] == [word_of(films[0]), "", "", "", "", word_of(films[1])]
    assert all(said in one.error for said, one in zip(bad.values(), found[1:-1], strict=True))
    assert [one.confidence for one in found[1:-1]] == [0.0] * 4
    with pytest.raises(ValueError, match="paths must be a list of videos, got one"):
        network.recognize(str(films[0]))
    with pytest.raises(ValueError, match="n_best must be an integer"):
        network.recognize(films, n_best=0)


def test_of_a_film_that_is_cut_short_the_flaw_is_told(tmp_path: Path) -> None:
    film = write_numbers(tmp_path / "film.mp4", container={"movflags": "faststart"})
    (found,) = recognizer().recognize([cut(film, 0.9)])
    assert found.label in WORDS
    assert "of 30 frames are missing or cannot be decoded" in found.flaw


def test_frames_in_one_colour_do_not_count(tmp_path: Path) -> None:
    frames = moving("lên", 103)
    white = np.full((2 * len(frames), *frames.shape[1:]), 255, dtype=np.uint8)
    for name, parts in {"plain": [frames], "broken": [frames[:5], white, frames[5:]]}.items():
        write_video(tmp_path / f"{name}.mp4", np.concatenate(parts), FPS)
    plain, broken = recognizer().recognize([tmp_path / "plain.mp4", tmp_path / "broken.mp4"])
    assert (plain.label, broken.label) == ("lên", "lên")
    assert abs(plain.confidence - broken.confidence) < 0.1
    assert plain.flaw == ""
    assert "broken.mp4: 21 of 32 frames that were looked at are in one colour and were left" in broken.flaw


def test_a_folder_without_a_model_of_signs_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no finished model in it; train one there first"):
        SignRecognizer.load(tmp_path / "nothing")
    (tmp_path / "begun" / "run").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="training was not finished: add --resume"):
        SignRecognizer.load(tmp_path / "begun")
    save_model(tmp_path / "other" / "model", taught(), vocabulary="of another project")
    with pytest.raises(
        ValueError, match="other: its model names no signed words; it is one of another project"
    ):
        SignRecognizer.load(tmp_path / "other")
    damaged = write_model(tmp_path / "damaged", labels=["lên", "nằm"])
    with pytest.raises(ValueError, match="has 2 words, and the weights have another number"):
        SignRecognizer.load(damaged)
    newer = write_model(tmp_path / "newer", recipe=RECIPE.described() | {"colour_of_hands": 1})
    with pytest.raises(ValueError, match=r"a recipe that this version does not know: .*colour_of_hands"):
        SignRecognizer.load(newer)


def test_words_and_network_must_fit() -> None:
    with pytest.raises(ValueError, match="labels must be the model's 3 words, got 2"):
        SignRecognizer(taught(), WORDS[:2], RECIPE)
