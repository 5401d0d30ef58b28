"""Enrolled words in streams: each is named shortly after the hands are down, rest is no word, and memory stays."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.cli import main
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.few_shot.evaluation import Clock, joined, score_streams
from coursepkg.projects.sign_language.few_shot.features import LEAST_REST, wrist_heights
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.few_shot.words import EnrolledClip, Words
from coursepkg.projects.sign_language.landmarks.extract import Landmarks
from coursepkg.projects.sign_language.streams.raised_hands import (
    BEFORE,
    MOST_SECONDS,
    RecentLandmarks,
    WordStream,
)
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

CONFIG = SignersConfig(size=224, least_frames=24)


@pytest.fixture(scope="module")
def words() -> Words:
    """Eight made-up words by two signers whose hands rest at one height and go up and down once."""
    rng = np.random.default_rng(3)
    clips = sign(rng, draw_words(rng, 400).repeated(2))
    found: list[EnrolledClip] = []
    for number in range(400):
        pair = [clips.clip(2 * number + i) for i in range(2)]
        if all(one.has_hands and rests_low(one) and len(list(segments(one))) == 1 for one in pair):
            word = f"word {len(found) // 2}"
            found += [enrolled(word, str(i), one) for i, one in enumerate(pair)]
    assert len(found) >= 16
    return Words(tuple(found[:16]))


def enrolled(word: str, signer: str, landmarks: Landmarks) -> EnrolledClip:
    name = f"{word} by {signer}"
    return EnrolledClip(word, name, f"{abs(hash(name)):064x}"[:64], signer, replace(landmarks, name=name))


def rests_low(landmarks: Landmarks) -> bool:
    heights, _ = wrist_heights(landmarks.body)
    return bool(heights.min() > -1.6 and heights.min(axis=0).max() < -1.1 and heights.max() > 0)


def segments(landmarks: Landmarks) -> Iterator[tuple[float, float]]:
    """The segments of a clip with rest around it."""
    recent = RecentLandmarks()
    rows, _ = joined([landmarks])
    for row in rows:
        recent.add(row)
        found = recent.take_finished()
        if found is not None:
            yield found.start, found.end


def of_signer(words: Words, signer: str) -> Words:
    return Words(tuple(one for one in words.clips if one.signer == signer))


def test_each_word_is_named_once_shortly_after_it(words: Words) -> None:
    stream = WordStream(WordRecognizer(of_signer(words, "0")))
    asked = of_signer(words, "1").clips
    rows, spans = joined([one.landmarks for one in asked])
    clock = Clock(rows)
    events = []
    for event in stream.events_of_landmarks(clock):
        assert 0 < clock.now - event.end <= 0.7
        events.append(event)
    assert len(asked) <= len(events) + stream.n_unknown <= len(asked) + 1
    for event in events:
        assert sum(event.start < end and event.end > begin for begin, end in spans) == 1
    by_clip = {one.word: span for one, span in zip(asked, spans, strict=True)}
    right = [one for one in events if by_clip[one.label][0] <= one.end and one.start <= by_clip[one.label][1]]
    assert len(right) >= 5


def test_rest_has_no_event(words: Words) -> None:
    rows, _ = joined([words.clips[0].landmarks])
    shown = next(row for row in rows if row.scores.any())
    rest = [rows[0]._replace(seconds=0.05 * i, scores=shown.scores) for i in range(200)]
    stream = WordStream(WordRecognizer(words))
    assert list(stream.events_of_landmarks(rest)) == []
    assert stream.n_unknown == 0
    assert stream.notes("film") == []


def test_nobody_and_no_hand_are_said(words: Words) -> None:
    rows, _ = joined([words.clips[0].landmarks])
    nobody = [row._replace(body=np.full_like(row.body, np.nan)) for row in rows]
    with pytest.raises(ValueError, match="no person is seen"):
        list(WordStream(WordRecognizer(words)).events_of_landmarks(nobody))
    handless = [row._replace(scores=0 * row.scores) for row in rows]
    with pytest.raises(ValueError, match="no hand is seen in any frame"):
        list(WordStream(WordRecognizer(words)).events_of_landmarks(handless))


def test_a_sign_without_hands_does_not_end_the_stream(words: Words) -> None:
    """Its hand is seen in a frame without a body alone, so nothing can be named; the others are."""
    clips = [one.landmarks for one in of_signer(words, "1").clips[:3]]
    rows, spans = joined(clips)
    whole = WordStream(WordRecognizer(of_signer(words, "0")))
    expected = [one for one in whole.events_of_landmarks(rows) if not spans[1][0] <= one.start <= spans[1][1]]
    changed = []
    for row in rows:
        is_second = spans[1][0] <= row.seconds <= spans[1][1]
        changed.append(row._replace(scores=0 * row.scores) if is_second else row)
    middle = next(i for i, row in enumerate(changed) if row.seconds > sum(spans[1]) / 2)
    nobody = np.full_like(changed[middle].body, np.nan)
    changed[middle] = changed[middle]._replace(body=nobody, scores=np.ones(2, np.float32))
    stream = WordStream(WordRecognizer(of_signer(words, "0")))
    found = list(stream.events_of_landmarks(changed))
    assert [one.label for one in found] == [one.label for one in expected]
    assert stream.n_unknown == whole.n_unknown + (len(expected) < 3)
    assert any("raised for none of the words" in line for line in stream.notes("film"))


def test_a_slow_film_and_hidden_hands_are_noted(words: Words) -> None:
    rows, _ = joined([words.clips[0].landmarks])
    stream = WordStream(WordRecognizer(words))
    list(stream.events_of_landmarks([row._replace(seconds=2.5 * row.seconds) for row in rows]))
    assert any("frames a second, too few" in line for line in stream.notes("film"))
    shown = [i for i, row in enumerate(rows) if row.scores.any()]
    top = min(shown, key=lambda i: rows[i].body[15:17, 1].min())
    hidden = [row._replace(scores=row.scores * (i == top)) for i, row in enumerate(rows)]
    list(stream.events_of_landmarks(hidden))
    assert any("1 time the hands were out of sight" in line for line in stream.notes("film"))


def test_a_hand_that_stays_up_is_named_all_the_same_and_memory_stays(words: Words) -> None:
    rows, _ = joined([words.clips[0].landmarks])
    top = max(range(len(rows)), key=lambda i: -rows[i].body[15:17, 1].min())
    held = [*rows[:top], *[rows[top]] * 900]
    recent, lengths, found = RecentLandmarks(), [], []
    for number, row in enumerate(held):
        recent.add(row._replace(seconds=0.05 * number))
        lengths.append(len(recent._rows))
        segment = recent.take_finished()
        if segment is not None:
            found.append(segment)
    assert max(lengths) <= (MOST_SECONDS + BEFORE) / 0.05 + 2
    assert found
    assert all(one.end - one.start <= MOST_SECONDS + 0.05 for one in found)


def test_a_stream_that_ends_in_a_sign_still_names_it(words: Words) -> None:
    clip = words.clips[0].landmarks
    rows, _ = joined([clip])
    ((begin, end),) = segments(clip)
    cut = [row for row in rows if row.seconds < max(end - LEAST_REST, (begin + end) / 2)]
    recent = RecentLandmarks()
    for row in cut:
        recent.add(row)
        assert recent.take_finished() is None
    assert recent.take_finished(is_end=True) is not None


def test_times_that_go_back_are_refused(words: Words) -> None:
    rows, _ = joined([words.clips[0].landmarks])
    with pytest.raises(ValueError, match="times of a stream must rise, got 0 s behind"):
        list(WordStream(WordRecognizer(words)).events_of_landmarks([rows[5], rows[0]._replace(seconds=0.0)]))


def test_streams_of_left_out_signers_are_scored(words: Words) -> None:
    scores = score_streams(words)
    assert scores.n_clips == 16
    assert scores.found >= 10
    assert scores.false_alarms <= 2
    assert scores.found + scores.false_alarms <= len(scores.delays)
    assert 0 < max(scores.delays) <= 0.7
    assert scores.as_json()["false_alarms_per_hour"] == pytest.approx(
        3600 * scores.false_alarms / scores.seconds, abs=0.1
    )
    with pytest.raises(ValueError, match="no word is signed by two signers"):
        score_streams(of_signer(words, "0"))


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two drawn words by two signers each, and one film of both words with rest between."""
    folder = tmp_path_factory.mktemp("films")
    for word in ("Tôi", "Xin chào"):
        for signer in (1, 3):
            path = folder / "clips" / word / f"{signer}.mp4"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_video(path, draw_clip(word, signer, 0, 40 + signer, CONFIG).frames, CONFIG.fps)
    parts = [draw_clip(word, 1, 0, 77, CONFIG).frames for word in ("Tôi", "Xin chào")]
    held = [np.repeat(frames[:1], 12, axis=0) for frames in parts]
    film = np.concatenate([held[0], parts[0], held[1], parts[1], held[1]])
    write_video(folder / "film.mp4", film, CONFIG.fps)
    (folder / "broken.mp4").write_bytes(b"no film")
    assert main(["sign-language", "enroll", str(folder / "clips"), "--out", str(folder / "words")]) == 0
    return folder


def test_the_words_of_a_film_are_printed_and_written(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "sign-language",
        "predict",
        str(films / "film.mp4"),
        "--words",
        str(films / "words"),
        "--stream",
    ]
    assert main([*command, "--json"]) == 0
    told = capsys.readouterr()
    events = json.loads(told.out.splitlines()[-1])["events"]
    assert [one["label"] for one in events] == ["Tôi", "Xin chào"]
    assert events[0]["end"] < events[1]["start"]
    out = tmp_path / "events.jsonl"
    both = [*command[:2], str(films / "film.mp4"), str(films / "broken.mp4"), *command[3:]]
    assert main([*both, "--out", str(out)]) == 1
    assert "broken.mp4" in capsys.readouterr().err
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["label"] for one in written] == ["Tôi", "Xin chào"]
    assert [one.name for one in tmp_path.iterdir()] == ["events.jsonl"]


def test_a_film_without_a_word_and_one_without_anybody_say_so(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = draw_clip("Uống", 1, 0, 77, CONFIG).frames
    rest = np.repeat(other[:1], 12, axis=0)
    write_video(tmp_path / "other.mp4", np.concatenate([rest, other, rest]), CONFIG.fps)
    write_video(tmp_path / "room.mp4", np.full((24, 128, 128, 3), 90, np.uint8), CONFIG.fps)
    command = ["sign-language", "predict", str(tmp_path), "--words", str(films / "words"), "--stream"]
    assert main(command) == 1
    told = capsys.readouterr()
    assert "other.mp4: no enrolled word was signed" in told.out
    assert "other.mp4: 1 time a hand was raised for none of the words" in told.err
    assert "room.mp4: no person is seen" in told.err


def test_a_stopped_run_goes_on(films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second film is not looked at again by the command that goes on."""
    from coursepkg.projects.sign_language.streams import predict as predict_stream

    out = tmp_path / "events.jsonl"
    inputs = [str(films / "film.mp4"), str(films / "clips" / "Tôi" / "1.mp4")]
    command = [
        "sign-language",
        "predict",
        *inputs,
        "--words",
        str(films / "words"),
        "--stream",
        "--out",
        str(out),
    ]
    looked: list[str] = []
    inner = predict_stream.VideoFrames

    class Counted(inner):  # type: ignore[misc,valid-type]
        def __iter__(self) -> Iterator[TimedFrame]:
            looked.append(self.path.name)
            if looked == ["film.mp4", "1.mp4"]:
                raise OSError("the disk is gone")
            return super().__iter__()

    monkeypatch.setattr(predict_stream, "VideoFrames", Counted)
    assert main(command) == 2
    assert not out.exists()
    assert main(command) == 0
    assert looked == ["film.mp4", "1.mp4", "1.mp4"]
    labels = [json.loads(line)["label"] for line in out.read_text().splitlines()]
    assert labels == ["Tôi", "Xin chào", "Tôi"]
