"""The folder of enrolled words: written whole, read back, refused where it lies; scores that leave a signer out."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.few_shot.embedding import SignEmbedding, default_embedding
from coursepkg.projects.sign_language.few_shot.evaluation import score_words
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.few_shot.recognizer import (
    WordRecognizer,
    clip_flaws,
    enrolment_notes,
)
from coursepkg.projects.sign_language.few_shot.words import CARD, EnrolledClip, Words, checked_word


@pytest.fixture(scope="module")
def words() -> Words:
    """Five made-up words by three signers each, and one word of a single clip."""
    rng = np.random.default_rng(8)
    drawn = sign(rng, draw_words(rng, 60).repeated(3))
    clips = []
    for word in range(60):
        own = [drawn.clip(3 * word + i) for i in range(3)]
        if not all(one.seen.any(axis=1).mean() > 0.4 for one in own):
            continue
        n = len({one.word for one in clips})
        for i, landmarks in enumerate(own[: 3 if n < 5 else 1]):
            name = f"{n}-{i}.mp4"
            clips.append(
                EnrolledClip(f"từ {n}", name, f"{word:063x}{i}", f"s{i}", replace(landmarks, name=name))
            )
        if n == 5:
            break
    return Words().added(clips)


def test_what_is_saved_is_read_back(words: Words, tmp_path: Path) -> None:
    words.save(tmp_path / "words")
    read = Words.load(tmp_path / "words")
    assert read.labels == words.labels == tuple(f"từ {i}" for i in range(6))
    for first, second in zip(words.clips, read.clips, strict=True):
        assert (first.word, first.name, first.sha256, first.signer) == (
            second.word, second.name, second.sha256, second.signer,
        )  # fmt: skip
        np.testing.assert_array_equal(first.landmarks.hands, second.landmarks.hands)
        np.testing.assert_array_equal(first.landmarks.body, second.landmarks.body)
    kept = {file.suffix for file in (tmp_path / "words").rglob("*") if file.is_file()}
    assert kept == {".json", ".npz"}, "numbers only, no picture"


def test_adding_twice_changes_nothing_and_replacing_drops_earlier_clips(words: Words) -> None:
    assert words.added(words.clips).clips == words.clips
    (known,) = Words((replace(words.clips[0], signer=""),)).added([words.clips[0]]).clips
    assert known.signer == "s0", "a signer that is known now is taken"
    newer = replace(words.clips[0], sha256="f" * 64, name="new.mp4")
    assert len(words.added([newer]).clips_of("từ 0")) == 4
    replaced = words.added([newer], replace=True)
    assert [one.name for one in replaced.clips_of("từ 0")] == ["new.mp4"]
    assert len(replaced.clips_of("từ 1")) == 3


def test_removing_words(words: Words) -> None:
    nothing = words.without(words.labels)
    assert nothing.added(words.clips).clips == words.clips
    assert words.without(["từ 3"]).labels == ("từ 0", "từ 1", "từ 2", "từ 4", "từ 5")
    with pytest.raises(ValueError, match=r"'từ 9' is not enrolled; there are từ 0, từ 1"):
        words.without(["từ 9"])


def test_one_film_with_two_words_is_an_error(words: Words) -> None:
    with pytest.raises(ValueError, match=r"0-0\.mp4 is one film with two words, 'từ 0' and 'khác'"):
        words.added([replace(words.clips[0], word="khác")])


def test_words_are_composed_and_checked() -> None:
    assert checked_word(" ca\u0309m o\u031bn ") == "cảm ơn"
    for bad in ("", "  ", "a/b", "a\\b", "a\nb"):
        with pytest.raises(ValueError, match="is no word"):
            checked_word(bad)


def _break(folder: Path, how: str) -> str:
    card = json.loads((folder / CARD).read_text())
    first = folder / "landmarks" / f"{card['clips'][0]['sha256']}.npz"
    if how == "missing landmarks":
        first.unlink()
        return "missing, damaged or of another version"
    if how == "cut landmarks":
        first.write_bytes(first.read_bytes()[:200])
        return "missing, damaged or of another version"
    if how == "other version":
        card["version"] = 99
    elif how == "no clips":
        card["clips"] = []
    elif how == "path as hash":
        card["clips"][0]["sha256"] = "../../etc/passwd"
    elif how == "not a row":
        card["clips"][0] = 7
    elif how == "no card":
        (folder / CARD).unlink()
        return "holds no enrolled words"
    (folder / CARD).write_text(json.dumps(card))
    return {
        "other version": "is of version 99",
        "no clips": "there is no enrolled word",
        "path as hash": "is no clip",
        "not a row": "is no clip",
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "missing landmarks",
        "cut landmarks",
        "other version",
        "no clips",
        "path as hash",
        "not a row",
        "no card",
    ],
)
def test_a_folder_that_lies_is_refused_in_one_line(how: str, words: Words, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    words.save(folder)
    said = _break(folder, how)
    with pytest.raises((ValueError, FileNotFoundError), match=said) as caught:
        WordRecognizer.load(folder, method="dtw")
    assert "\n" not in str(caught.value)


def test_words_are_taken_out_or_replaced_although_their_landmarks_are_damaged(
    words: Words, tmp_path: Path
) -> None:
    folder = tmp_path / "words"
    words.save(folder)
    lost, cut = words.clips[0], words.clips[4]
    (folder / "landmarks" / f"{lost.sha256}.npz").unlink()
    (folder / "landmarks" / f"{cut.sha256}.npz").write_bytes(b"PK")
    said = r"those of 'từ 0' \(0-0\.mp4\), 'từ 1' \(1-1\.mp4\); enrol .* with --replace, or .* --remove"
    with pytest.raises(ValueError, match=said):
        Words.load(folder)
    with pytest.raises(ValueError, match=r"those of 'từ 1' \(1-1\.mp4\); enrol"):
        Words.load(folder, remove=["từ 0"])
    rest = Words.load(folder, remove=["từ 0"], replace=["từ 1"])
    assert [one.name for one in rest.clips[:2]] == ["1-0.mp4", "1-2.mp4"], "whole clips stay"
    assert rest.labels == words.labels[1:]
    with pytest.raises(ValueError, match=r"'từ 9' is not enrolled; there are từ 0, từ 1"):
        Words.load(folder, remove=["từ 9"])
    rest.save(folder)
    assert Words.load(folder).labels == words.labels[1:]


def test_the_landmarks_of_many_damaged_words_are_one_short_line(words: Words, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    words.save(folder)
    for place in (folder / "landmarks").iterdir():
        place.unlink()
    with pytest.raises(ValueError, match=r"'từ 1' \(1-1\.mp4\) and 11 more; enrol"):
        Words.load(folder)


def test_another_folder_is_not_overwritten(words: Words, tmp_path: Path) -> None:
    words.save(tmp_path / "words")
    (tmp_path / "words" / "mine.txt").write_text("notes")
    words.without(["từ 0"]).save(tmp_path / "words")
    assert (tmp_path / "words" / "mine.txt").read_text() == "notes"
    assert len([*(tmp_path / "words" / "landmarks").iterdir()]) == len(words.clips) - 3
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileNotFoundError, match="holds no enrolled words"):
        words.save(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    with pytest.raises(FileNotFoundError, match="there are no words; enrol some"):
        Words.load(tmp_path / "nowhere")


def test_a_recogniser_names_its_own_clips_and_says_none_beyond(words: Words) -> None:
    recognizer = WordRecognizer(words, method="dtw")
    found = recognizer.name_sign(words.clips[0].landmarks, n_best=3)
    assert found.candidates[0][0] == "từ 0"
    assert len(found.candidates) == 3
    assert found.none + sum(
        p for _, p in recognizer.name_sign(words.clips[0].landmarks, n_best=99).candidates
    ) == (pytest.approx(1))
    unsure = replace(found, none=0.99)
    assert unsure.is_none
    assert (unsure.label, unsure.confidence) == ("", 0.99)


def test_the_fingerprint_tells_all_that_changes_an_answer(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Words(words.clips[:4])
    moved = replace(few.clips[0].landmarks, body=few.clips[0].landmarks.body + 1)
    other = SignEmbedding(replace(default_embedding().config, n_layers=1)).eval()
    told = [
        WordRecognizer(few).fingerprint,
        WordRecognizer(few, method="dtw").fingerprint,
        WordRecognizer(few, method="embedding").fingerprint,
        WordRecognizer(Words(words.clips[:3])).fingerprint,
        WordRecognizer(Words((replace(few.clips[0], word="khác"), *few.clips[1:]))).fingerprint,
        WordRecognizer(Words((replace(few.clips[0], landmarks=moved), *few.clips[1:]))).fingerprint,
    ]
    assert WordRecognizer(few).fingerprint == told[0]
    weighted = WordRecognizer(few)
    weighted.matcher.weights = replace(weighted.matcher.weights, none=99.0)
    told.append(weighted.fingerprint)
    with monkeypatch.context() as patch:
        patch.setattr("coursepkg.projects.sign_language.few_shot.recognizer.VERSION", 99)
        told.append(WordRecognizer(few).fingerprint)
    monkeypatch.setattr(
        "coursepkg.projects.sign_language.few_shot.recognizer.default_embedding", lambda: other
    )
    told.append(WordRecognizer(few).fingerprint)
    assert len(set(told)) == len(told)
    assert WordRecognizer(few, method="dtw").fingerprint == told[1], "warping has no network"


def test_leaving_a_signer_out_asks_each_clip_once(words: Words) -> None:
    found = score_words(words, method="dtw", n_resamples=20)
    assert len(found.scores.answers) == 15
    assert found.left_out == ("5-0.mp4",)
    assert found.n_unknown == 15
    assert "left out: 1 clips whose word nobody else signs (5-0.mp4)" in str(found)
    document = found.as_json()
    assert document["left_out"] == ["5-0.mp4"]
    assert document["n_predicted_none"] == found.n_predicted_none <= 15
    assert document["n_unknown_rejected"] == found.n_unknown_rejected <= 15


def test_leaving_a_clip_out_needs_no_signers(words: Words) -> None:
    nameless = Words(tuple(replace(one, signer="") for one in words.clips))
    found = score_words(nameless, split="clip", method="dtw", n_resamples=20)
    assert len(found.scores.answers) == 15
    assert "left out: 1 clips whose word no other clip shows (5-0.mp4)" in str(found)
    with pytest.raises(ValueError, match=r"0-0\.mp4 has no signer"):
        score_words(nameless, method="dtw")


def test_words_of_one_signer_cannot_be_scored_by_signer(words: Words) -> None:
    alone = Words(tuple(one for one in words.clips if one.signer == "s0"))
    with pytest.raises(ValueError, match="no word is signed by two signers"):
        score_words(alone, method="dtw")


def test_flaws_of_a_clip_are_told(words: Words) -> None:
    clip = words.clips[0].landmarks
    assert "2 people are seen" in clip_flaws(replace(clip, n_people=2))[0]
    slow = replace(clip, times=np.arange(len(clip.times)) / 8)
    assert any("8 frames a second" in one for one in clip_flaws(slow))
    scores = clip.scores.copy()
    scores[1:] = 0
    assert any("hands are out of sight" in one for one in clip_flaws(replace(clip, scores=scores)))
    assert any("cut short" in one for one in clip_flaws(replace(clip, flaw="x.mp4: cut short")))


def test_notes_name_words_of_one_clip_and_words_that_are_one(words: Words) -> None:
    assert enrolment_notes(words) == ["từ 5: one clip; two or three, by two people, are surer"]
    twin = replace(words.clips[0], word="twin", sha256="e" * 64, name="twin.mp4")
    more = words.added([twin])
    alike = (
        "twin and từ 0: twin.mp4 and 0-0.mp4 show nearly the same movement; if it is one word, enrol it once"
    )
    assert alike in enrolment_notes(more)
    assert not any(note.startswith("twin: one clip") for note in enrolment_notes(more)), "contradicts"
    assert alike in enrolment_notes(more, {twin.sha256})
    assert alike in enrolment_notes(more, {words.clips[0].sha256})
    assert enrolment_notes(more, {words.clips_of("từ 5")[0].sha256}) == enrolment_notes(words)
    assert enrolment_notes(more, ()) == []


def test_a_film_that_has_another_name_now_takes_it_and_keeps_its_signer(words: Words) -> None:
    first = words.clips[0]
    renamed = replace(first, name="other.mp4", signer="")
    (found,) = (one for one in words.added([renamed]).clips if one.sha256 == first.sha256)
    assert (found.name, found.signer) == ("other.mp4", first.signer)
