"""A recogniser that reads landmarks: it learns, answers alike in batches, and refuses what needs pictures.

Films are small and empty; their landmarks, made up by the generator, lie in the cache as if they had been extracted.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.files import cache_folder, file_sha256
from coursepkg.projects.sign_language import corpora
from coursepkg.projects.sign_language.corpus import SignCorpus, store_corpus
from coursepkg.projects.sign_language.data.clip import Clip, ClipFile
from coursepkg.projects.sign_language.data.video import cache_config
from coursepkg.projects.sign_language.evaluate_verb import score_part
from coursepkg.projects.sign_language.export import export_program
from coursepkg.projects.sign_language.few_shot.features import NO_PERSON
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.landmarks.extract import write_landmarks
from coursepkg.projects.sign_language.recognizer import SignRecognizer, check_ensemble, read_model
from coursepkg.projects.sign_language.streams.sliding_window import SignStream
from coursepkg.projects.sign_language.training import make_batches, train
from tests.projects.sign_language.blocks import FAST
from tests.projects.sign_language.folders import sign_language
from tests.projects.sign_language.signed import WORDS as BLOCKS
from tests.projects.sign_language.signed import write_film

WORDS = ("Chào", "Mẹ", "Nước", "Trường")
RECIPE = replace(
    FAST, backbone="landmarks", n_convolutions=0, n_frames=12, d_model=32, rotation=3.0, batch_clips=8,
    learning_rate=3e-3, max_epochs=20, patience=20,
)  # fmt: skip
EACH = {"train": 12, "dev": 5, "test": 1}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def films(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[ClipFile]]:
    folder, files = tmp_path_factory.mktemp("films"), {}
    words = draw_words(np.random.default_rng(1), len(WORDS))
    for place, (part, count) in enumerate(EACH.items()):
        drawn = sign(np.random.default_rng(place), words.repeated(count))
        files[part] = []
        for i in range(len(drawn)):
            word, number = WORDS[i // count], 1000 * place + i
            path = write_film(folder / part / word / f"{i}.mp4", BLOCKS[0], number=number)
            kept = cache_folder() / "sign-language" / "landmarks" / f"{file_sha256(path)}.npz"
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_landmarks(kept, drawn.clip(i))
            files[part].append(ClipFile(path, word, f"{part} {i % count}"))
    return files


@pytest.fixture(scope="module")
def corpus(films: dict[str, list[ClipFile]], tmp_path_factory: pytest.TempPathFactory) -> SignCorpus:
    folder = tmp_path_factory.mktemp("corpus")
    told = {"name": "made-up", "protocol": "signer"}
    return store_corpus(folder / "clips", films, WORDS, cache_config(RECIPE), **told)


@pytest.fixture(scope="module")
def trained(corpus: SignCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "landmarks"
    train(RECIPE, corpus, folder, progress=False, log=lambda line: None)
    return folder


def test_it_learns_words_of_people_whom_it_has_not_seen(corpus: SignCorpus, trained: Path) -> None:
    model = read_model(trained)
    found = predict_clips(model.model, corpus.part("dev"), RECIPE)
    right = np.mean([a == b for a, b in zip(found.words(WORDS), corpus.part("dev").labels, strict=True)])
    assert right >= 0.7, "chance is a quarter"
    scored = score_part(SignRecognizer.load(trained), corpus, "dev", n_resamples=0)
    assert scored.scores.accuracy.value == pytest.approx(right)


def test_batches_change_no_answer_and_films_have_those_of_the_cache(
    corpus: SignCorpus, films: dict[str, list[ClipFile]], trained: Path
) -> None:
    recognizer = SignRecognizer.load(trained)
    paths = [file.path for file in films["dev"]]
    together = recognizer.recognize(paths, batch_size=32)
    alone = recognizer.recognize(paths, batch_size=1)
    kept = predict_clips(recognizer.model, corpus.part("dev"), RECIPE)
    for one, other, p in zip(together, alone, kept.probabilities, strict=True):
        assert one.label == other.label == WORDS[p.argmax()]
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)
        assert one.confidence == pytest.approx(p.max(), abs=1e-5)
        assert one.flaw == ""


def test_views_move_in_time_alone(corpus: SignCorpus, trained: Path) -> None:
    model = read_model(trained).model
    several = predict_clips(model, corpus.part("dev"), replace(RECIPE, views=3))
    assert not np.allclose(
        several.probabilities, predict_clips(model, corpus.part("dev"), RECIPE).probabilities
    )


def test_batches_hold_the_landmarks_of_the_cache(corpus: SignCorpus) -> None:
    plain = replace(RECIPE, rotation=0.0, warp=0.0, n_frames=corpus.part("train").config.frames)
    batches = make_batches(plain, corpus, seed=0)
    batch, first = batches.build(0, 0, 8), batches.order(0)[0]
    assert batch.frames.shape == (8, plain.n_frames, 137)
    np.testing.assert_array_equal(batch.frames[0].numpy(), corpus.part("train").frames(first))
    changed = make_batches(replace(plain, rotation=3.0), corpus, seed=0).build(0, 0, 8)
    assert not changed.frames.equal(batch.frames)
    mixed = make_batches(replace(plain, mix="mixup"), corpus, seed=0).build(0, 0, 8)
    assert mixed.frames.shape == batch.frames.shape
    assert torch.allclose(mixed.targets.sum(1), torch.ones(8))


def test_clips_without_anybody_are_counted_and_named(
    films: dict[str, list[ClipFile]], tmp_path: Path
) -> None:
    empty = write_film(tmp_path / "films" / "Mẹ" / "empty.mp4", BLOCKS[1])
    parts = {"train": [*films["train"], ClipFile(empty, "Mẹ")]}
    told = {"name": "made-up", "protocol": "signer"}
    found = store_corpus(tmp_path / "clips", parts, WORDS, cache_config(RECIPE), **told)
    assert len(found.part("train")) == len(parts["train"])
    (line,) = (line for line in found.report() if "nobody" in line)
    assert line.startswith("    nobody is found in 1 clip, whose landmarks are all 0: ")
    assert line.endswith("empty.mp4")
    assert found.described()["nobody_found"] == {"train": 1}


def test_a_film_without_anybody_is_named_and_not_guessed(trained: Path, tmp_path: Path) -> None:
    path = write_film(tmp_path / "empty.mp4", BLOCKS[1])
    recognizer = SignRecognizer.load(trained)
    (found,) = recognizer.recognize([path], keep_going=True)
    assert found.error == f"{path}: {NO_PERSON}"
    assert not found.candidates
    with pytest.raises(ValueError, match="no person is seen"):
        recognizer.recognize([path])


def test_what_needs_pictures_is_refused_in_one_line(
    blocks: SignCorpus, trained: Path, tmp_path: Path
) -> None:
    recognizer = SignRecognizer.load(trained)
    with pytest.raises(ValueError, match=r"a model of landmarks cannot be exported: .*; export a model of"):
        export_program(recognizer, tmp_path / "program")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"take a model of pictures for --stream"):
        SignStream(recognizer)
    with pytest.raises(ValueError, match=r"the clips are pictures and the model reads landmarks"):
        predict_clips(recognizer.model, blocks.part("dev"), RECIPE)
    with pytest.raises(ValueError, match=r"holds pictures, and --backbone landmarks reads films"):
        corpora.load_corpus(str(blocks.part("dev").folder.parent), RECIPE)
    one = read_model(trained)
    other = replace(one, recipe=replace(RECIPE, backbone="small"))
    with pytest.raises(ValueError, match=r"of a and b one reads pictures and the other landmarks"):
        check_ensemble(["a", "b"], [one, other])


def test_a_clip_in_memory_without_anybody_is_named(trained: Path) -> None:
    recognizer = SignRecognizer.load(trained)
    gray = Clip(np.full((6, 48, 64, 3), 90, np.uint8), np.arange(6) / 12, "", "", "gray")
    for look in (recognizer.probabilities, lambda clip: recognizer.recognize_clips([clip])):
        with pytest.raises(ValueError, match="gray: no person is seen"):
            look(gray)


def test_the_verbs_name_score_and_refuse(
    corpus: SignCorpus, films: dict[str, list[ClipFile]], trained: Path, tmp_path: Path
) -> None:
    film, model = films["dev"][0].path, ("--model", trained)
    said = sign_language("predict", film, *model, "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out.splitlines()[-1])["answers"][0]["label"] in WORDS
    clips = corpus.part("dev").folder.parent
    scored = sign_language("evaluate", *model, "--data", clips, "--out", tmp_path / "scores")
    assert scored.code == 0, scored.err
    assert "no page of the worst clips" in scored.out
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == ["answers.tsv", "evaluation.json"]
    for refused in (
        sign_language("export", *model, "--out", tmp_path / "program"),
        sign_language("predict", film, *model, "--stream"),
    ):
        assert refused.code == 2
        (line,) = (line for line in refused.err.splitlines() if line.startswith("error: "))
        assert "landmarks" in line
    assert not (tmp_path / "program").exists()
