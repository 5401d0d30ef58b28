"""From a film to its landmarks: the drawn signer is where the generator put him, sides are his own, and files are
processed once.
"""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from coursepkg.files import cache_folder, file_sha256
from coursepkg.projects.sign_language.data.video import TimedFrame, array_frames
from coursepkg.projects.sign_language.data.video_file import VideoError
from coursepkg.projects.sign_language.landmarks import extract, pose
from coursepkg.projects.sign_language.landmarks.extract import (
    LEFT,
    RIGHT,
    Landmarks,
    LandmarkTracker,
    assign_sides,
    distance_to_wrist,
    extract_landmarks,
    read_landmarks,
    region_at_wrist,
    shoulder_width,
    track_frames,
    write_landmarks,
)
from coursepkg.projects.sign_language.landmarks.hands import Hand
from coursepkg.projects.sign_language.landmarks.pose import Pose
from coursepkg.projects.sign_language.landmarks.regions import Region
from coursepkg.projects.sign_language.synthetic.clips import _chance, clip_pose, draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.figure import bend_arm
from coursepkg.projects.sign_language.synthetic.room import draw_camera
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig, make_signer

SIZE, FPS = 320, 12
CONFIG = SignersConfig(size=SIZE, least_frames=16, most_frames=16, fps=FPS)
WORD, SIGNER, NUMBER = "Tôi", 1, 10
ARRAYS = ("times", "body", "visibility", "hands", "scores")


def drawn(signer: int = SIGNER, word: str = WORD, number: int = NUMBER) -> np.ndarray:
    return draw_clip(word, signer, 0, number, CONFIG).frames


def timed(frames: np.ndarray, fps: int = FPS) -> Iterator[TimedFrame]:
    return array_frames(frames, fps=fps)


@pytest.fixture(scope="module")
def tracker() -> Iterator[LandmarkTracker]:
    with LandmarkTracker() as one:
        yield one


@pytest.fixture(scope="module")
def found(tracker: LandmarkTracker) -> Landmarks:
    # Nothing may warn; the suite makes an error of each warning.
    return track_frames(tracker, timed(drawn()), name="drawn")


def assert_equal(one: Landmarks, other: Landmarks) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert (one.size, one.n_people) == (other.size, other.n_people)


def true_joints() -> dict[str, np.ndarray]:
    """Shoulders and wrists as the generator places them, in pixels (T, 2), by the signer's own sides."""
    signer = make_signer(0, SIGNER, CONFIG)
    course = clip_pose(WORD, SIGNER, 0, NUMBER, CONFIG)
    camera = draw_camera(signer, len(course.head), _chance(5, 0, NUMBER))
    strong, weak = bend_arm(course.strong, signer), bend_arm(course.weak, signer)
    found = {}
    for name, arm, side in (("right", strong, -1), ("left", weak, 1)):
        for joint in ("shoulder", "wrist"):
            points = getattr(arm, joint) * np.array([side, -1])
            found[f"{name} {joint}"] = camera.place(points[:, None], SIZE)[:, 0]
    return found


# The drawn signer


def test_shapes_and_kinds(found: Landmarks) -> None:
    n = 16
    assert found.times == pytest.approx(np.arange(n) / FPS)
    assert found.times.dtype == np.float64
    assert found.body.shape == (n, 33, 3)
    assert found.visibility.shape == (n, 33)
    assert found.hands.shape == (n, 2, 21, 3)
    assert found.scores.shape == found.seen.shape == (n, 2)
    for name in ARRAYS[1:]:
        assert getattr(found, name).dtype == np.float32
    assert (found.size, found.n_people, found.name, found.flaw) == ((SIZE, SIZE), 1, "drawn", "")
    assert np.array_equal(np.isfinite(found.hands).all(axis=(2, 3)), found.seen)


def test_the_drawn_person_is_found_in_every_frame(found: Landmarks) -> None:
    assert np.isfinite(found.body).all()
    assert found.has_person
    assert found.has_hands


def test_shoulders_and_wrists_are_where_they_were_drawn(found: Landmarks) -> None:
    true = true_joints()
    width = np.linalg.norm(true["left shoulder"] - true["right shoulder"], axis=1).mean()
    for name, number in (("left shoulder", 11), ("right shoulder", 12)):
        far = np.linalg.norm(found.body[:, number, :2] - true[name], axis=1)
        assert far.max() < 0.2 * width, name
    # The right hand signs; it moves fast in a film of 12 frames a second.
    far = np.linalg.norm(found.body[:, 16, :2] - true["right wrist"], axis=1)
    visible = found.visibility[:, 16] > 0.5
    assert visible.any()
    assert np.median(far[visible]) < 0.35 * width


def test_the_hand_that_signs_is_the_right_one(found: Landmarks) -> None:
    seen = found.seen.sum(axis=0)
    assert seen[RIGHT] > seen[LEFT]
    wrist = true_joints()["right wrist"]
    frames = found.seen[:, RIGHT]
    far = np.linalg.norm(found.hands[frames, RIGHT, 0, :2] - wrist[frames], axis=1)
    assert np.median(far) < 0.15 * SIZE


def test_a_mirrored_film_gives_mirrored_landmarks(tracker: LandmarkTracker, found: Landmarks) -> None:
    mirrored = track_frames(tracker, timed(drawn()[:, :, ::-1]))
    # The same sides are named from the person, who is now the other way round.
    middle = [SIZE - 1 - found.body[:, 12, 0], found.body[:, 12, 1]]
    far = np.linalg.norm(mirrored.body[:, 11, :2] - np.stack(middle, axis=1), axis=1)
    assert np.median(far) < 0.03 * SIZE
    assert mirrored.seen[:, LEFT].sum() > mirrored.seen[:, RIGHT].sum()


def test_two_runs_are_equal(tracker: LandmarkTracker, found: Landmarks) -> None:
    track_frames(tracker, timed(drawn(signer=3, word="Nhà", number=3)))
    assert_equal(track_frames(tracker, timed(drawn())), found)
    with LandmarkTracker() as other:
        assert_equal(track_frames(other, timed(drawn())), found)


def test_one_thread_finds_the_same(found: Landmarks) -> None:
    with LandmarkTracker(n_threads=1) as alone:
        assert_equal(track_frames(alone, timed(drawn())), found)


@pytest.mark.parametrize("n_threads", [0, 3])
def test_other_numbers_of_threads_are_refused(n_threads: int) -> None:
    with pytest.raises(ValueError, match=f"^n_threads must be an integer in 1..2, got {n_threads}$"):
        LandmarkTracker(n_threads)


def test_a_portrait_film_of_the_same_person(tracker: LandmarkTracker, found: Landmarks) -> None:
    frames = drawn()
    tall = np.full((len(frames), SIZE + 200, SIZE, 3), 120, np.uint8)
    tall[:, 200:] = frames
    portrait = track_frames(tracker, timed(tall))
    assert portrait.size == (SIZE, SIZE + 200)
    assert np.isfinite(portrait.body).all()
    difference = portrait.body[:, 11:13, :2] - found.body[:, 11:13, :2] - np.array([0, 200])
    assert np.abs(np.median(difference, axis=0)).max() < 0.05 * SIZE


def test_two_people_are_counted_and_one_is_followed(tracker: LandmarkTracker) -> None:
    frames = np.concatenate([drawn(), drawn(signer=3)], axis=2)
    beside = track_frames(tracker, timed(frames))
    assert beside.size == (2 * SIZE, SIZE)
    assert beside.n_people == 2
    nose = beside.body[:, 0, 0]
    assert (nose < SIZE).all() or (nose > SIZE).all()
    assert track_frames(tracker, timed(drawn())).n_people == 1


def test_people_are_counted_again_every_second(tracker: LandmarkTracker) -> None:
    alone, other = drawn(), drawn(signer=3)
    frames = np.concatenate([alone, np.full_like(other, 120)], axis=2)
    frames[13:, :, SIZE:] = other[13:]
    assert track_frames(tracker, timed(frames[:12])).n_people == 1
    assert (
        track_frames(tracker, timed(frames)).n_people == 1
    )  # counted at 0 and 1 s, the second comes at 1.08 s
    frames[12:, :, SIZE:] = other[12:]
    assert track_frames(tracker, timed(frames)).n_people == 2


@pytest.mark.parametrize("kind", ["noise", "wall", "tiny", "black"])
def test_nobody_is_there(kind: str, tracker: LandmarkTracker) -> None:
    frames = {
        "noise": np.random.default_rng(0).integers(0, 256, (4, 120, 160, 3), dtype=np.uint8),
        "wall": np.full((4, 120, 160, 3), 190, np.uint8),
        "tiny": np.full((4, 1, 2, 3), 190, np.uint8),
        "black": np.zeros((4, 160, 120, 3), np.uint8),
    }[kind]
    empty = track_frames(tracker, timed(frames))
    assert (empty.has_person, empty.has_hands, empty.n_people) == (False, False, 0)
    assert np.isnan(empty.body).all()
    assert np.isnan(empty.hands).all()
    assert not empty.scores.any()
    assert not empty.visibility.any()


def test_a_person_who_leaves_leaves_nothing_behind(tracker: LandmarkTracker) -> None:
    frames = drawn()
    frames[8:] = 120
    left = track_frames(tracker, timed(frames))
    assert np.isfinite(left.body[:8]).all()
    assert np.isnan(left.body[8:]).all()
    assert not left.seen[8:].any()


def test_a_gray_film_in_three_channels_is_read(tracker: LandmarkTracker) -> None:
    gray = drawn().mean(axis=3, keepdims=True).astype(np.uint8).repeat(3, axis=3)
    assert np.isfinite(track_frames(tracker, timed(gray)).body).all()


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((5, 5), np.uint8), "frames must be RGB pictures"),
        (np.zeros((5, 5, 3), np.float32), "frames must be RGB pictures"),
        (np.zeros((0, 5, 3), np.uint8), "frames must be RGB pictures"),
        (np.zeros((2, 40_000, 3), np.uint8), "40000 x 2 pixels, at most 32766 are possible"),
    ],
    ids=["gray", "float", "empty", "too wide"],
)
def test_what_is_no_picture_is_refused(pixels: np.ndarray, message: str, tracker: LandmarkTracker) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tracker.track(TimedFrame(0.0, pixels))
    assert "\n" not in str(caught.value)


def test_a_film_without_a_frame_is_refused(tracker: LandmarkTracker) -> None:
    with pytest.raises(ValueError, match=r"^empty\.mp4: the film has no frame$"):
        track_frames(tracker, iter(()), name="empty.mp4")


@pytest.mark.parametrize("seconds", [[0.0, 0.0], [0.0, 1e-9], [5.0, 1000.0]], ids=str)
def test_odd_times_are_no_fault(seconds: list[float], tracker: LandmarkTracker) -> None:
    frames = [TimedFrame(second, frame) for second, frame in zip(seconds, drawn()[:2], strict=True)]
    assert np.isfinite(track_frames(tracker, frames).body).all()


# Which hand is which


def person_at(left: tuple[float, float] = (150.0, 100.0), right: tuple[float, float] = (50.0, 100.0)) -> Pose:
    """Shoulders 100 pixels apart, wrists as given; the person faces the camera, so the left is on the right."""
    points = np.zeros((33, 3), np.float32)
    points[11, :2], points[12, :2] = (150, 50), (50, 50)
    points[15, :2], points[16, :2] = left, right
    points[[17, 19], :2] = np.add(left, [[5, -20], [-5, -20]])
    points[[18, 20], :2] = np.add(right, [[-5, -20], [5, -20]])
    return Pose(points, np.ones(33, np.float32), 0.9)


def hand_at(x: float, y: float = 100.0, *, right: float = 0.5, score: float = 0.9) -> Hand:
    points = np.zeros((21, 3), np.float32)
    points[:, :2] = x, y
    return Hand(points, np.zeros((21, 3), np.float32), score, right, Region(float(x), float(y), 40.0))


def test_hands_belong_to_the_nearer_wrist() -> None:
    left, right = hand_at(145), hand_at(60)
    assert assign_sides([left, right], person_at()) == [left, right]
    assert assign_sides([right, left], person_at()) == [left, right]


def test_crossed_arms() -> None:
    """The wrists decide, wherever in the picture the hands are."""
    crossed = person_at(left=(60.0, 100.0), right=(140.0, 100.0))
    left, right = hand_at(62), hand_at(138)
    assert assign_sides([left, right], crossed) == [left, right]


def test_two_hands_at_one_place_are_told_apart_by_their_form() -> None:
    together = person_at(left=(101.0, 100.0), right=(99.0, 100.0))
    left, right = hand_at(100, right=0.1), hand_at(100, right=0.9)
    assert assign_sides([right, left], together) == [left, right]


def test_a_single_hand() -> None:
    assert assign_sides([hand_at(55)], person_at())[LEFT] is None
    assert assign_sides([hand_at(150)], person_at())[RIGHT] is None
    assert assign_sides([], person_at()) == [None, None]
    # The form alone moves a hand by half a width of the shoulders, no further.
    one = hand_at(60, right=0.0)
    assert assign_sides([one], person_at()) == [None, one]


def test_a_hand_far_from_both_wrists_is_somebody_elses() -> None:
    near, far = hand_at(55), hand_at(420, score=0.99)
    assert assign_sides([far, near], person_at()) == [None, near]
    assert assign_sides([far], person_at()) == [None, None]


def test_of_three_hands_the_two_surest_count() -> None:
    left, right, doubtful = hand_at(145, score=0.9), hand_at(60, score=0.8), hand_at(50, score=0.6)
    assert assign_sides([doubtful, left, right], person_at()) == [left, right]


def test_without_a_body_the_form_decides() -> None:
    left, right = hand_at(10, right=0.2), hand_at(20, right=0.9)
    assert assign_sides([right, left], None) == [left, right]
    assert assign_sides([left], None) == [left, None]
    assert assign_sides([right], None) == [None, right]


def test_the_square_at_the_end_of_an_arm_by_hand() -> None:
    region = region_at_wrist(person_at(), RIGHT)
    # From the wrist (50, 100) to two thirds of the index's side: (50 + 5/3, 80), upwards.
    middle = np.array([50 + 5 / 3, 80.0])
    length = 2 * np.linalg.norm(middle - [50, 100])
    assert region.side == pytest.approx(2.7 * length, rel=1e-4)
    way = (middle - [50, 100]) / np.linalg.norm(middle - [50, 100])
    assert (region.x, region.y) == pytest.approx(tuple(middle + 0.1 * length * way), abs=1e-3)
    # A hand that points at the camera still gets half a width of the shoulders.
    flat = person_at()
    flat.points[[18, 20]] = flat.points[16]
    assert region_at_wrist(flat, RIGHT).side == pytest.approx(50)


def test_distances_are_in_widths_of_the_shoulders() -> None:
    person = person_at()
    assert shoulder_width(person) == 100
    assert distance_to_wrist(hand_at(150, 175), person, LEFT) == pytest.approx(0.75)
    person.points[12] = person.points[11]
    assert shoulder_width(person) == 1


# Hands at the ends of the arms


@pytest.fixture
def looked(tracker: LandmarkTracker, monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """Where the tracker looks in the next frame; the body is known, and each square shows a hand in its middle."""
    squares: list[Region] = []

    def look(picture: np.ndarray, region: Region) -> Hand:
        squares.append(region)
        return hand_at(region.x, region.y + 15, right=0.9)

    tracker.reset()
    monkeypatch.setattr(tracker._hands, "look", look)
    monkeypatch.setattr(tracker._hands, "track", lambda picture: [])
    monkeypatch.setattr(tracker._pose, "track", lambda picture, rate: person_at())
    return squares


ROOM = TimedFrame(0.0, np.zeros((200, 300, 3), np.uint8))


def test_lost_hands_are_looked_for_and_followed(tracker: LandmarkTracker, looked: list[Region]) -> None:
    person, sides = tracker.track(ROOM)
    assert [round(region.x) for region in looked] == [148, 52]
    assert [side.points[0, 0] for side in sides] == pytest.approx([region.x for region in looked])
    assert len(tracker._hands._regions) == 2
    assert person.points[15, 0] == 150


def test_a_hand_that_was_found_is_not_looked_for(
    tracker: LandmarkTracker, looked: list[Region], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker._hands, "track", lambda picture: [hand_at(150)])
    assert tracker.track(ROOM)[1][LEFT].region.x == 150
    assert [round(region.x) for region in looked] == [52]


def test_a_wrist_out_of_the_picture_is_not_looked_at(
    tracker: LandmarkTracker, looked: list[Region], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = person_at(right=(-3.0, 100.0))
    monkeypatch.setattr(tracker._pose, "track", lambda picture, rate: away)
    assert tracker.track(ROOM)[1][RIGHT] is None
    assert [round(region.x) for region in looked] == [148]


@pytest.mark.parametrize(
    "answer", [hand_at(52, score=0.4), hand_at(130, 180, score=0.9)], ids=["no hand", "far away"]
)
def test_what_is_no_hand_of_this_arm_is_dropped(
    answer: Hand, tracker: LandmarkTracker, looked: list[Region], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker._hands, "look", lambda picture, region: answer)
    assert tracker.track(ROOM)[1][RIGHT] is None


def test_a_hand_at_the_place_of_the_other_is_not_looked_for(
    tracker: LandmarkTracker, looked: list[Region], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = person_at(left=(101.0, 100.0), right=(99.0, 100.0))
    square = region_at_wrist(together, RIGHT)
    known = hand_at(square.x, square.y, right=0.1)
    monkeypatch.setattr(tracker._pose, "track", lambda picture, rate: together)
    monkeypatch.setattr(tracker._hands, "track", lambda picture: [known])
    monkeypatch.setattr(extract, "region_of_hand", lambda points: square)
    assert tracker.track(ROOM)[1] == [known, None]
    assert looked == []


def test_without_a_body_nothing_is_looked_for(
    tracker: LandmarkTracker, looked: list[Region], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker._pose, "track", lambda picture, rate: None)
    assert tracker.track(ROOM) == (None, [None, None])
    assert looked == []


# Files


@pytest.fixture
def film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "film.mp4"
    write_video(path, drawn()[:6], FPS)
    return path


def kept(path: Path) -> Path:
    return cache_folder() / "sign-language" / "landmarks" / f"{file_sha256(path)}.npz"


def refuse_decoding(*_: object) -> None:
    raise AssertionError("decoded again")


def test_the_second_call_reads_what_is_kept(
    film: Path, tracker: LandmarkTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = extract_landmarks(film, tracker=tracker)
    assert first.has_person
    assert first.name == str(film)
    assert first.size == (SIZE, SIZE)
    monkeypatch.setattr(extract, "VideoFrames", refuse_decoding)
    monkeypatch.setattr(extract, "LandmarkTracker", refuse_decoding)
    assert_equal(extract_landmarks(film), first)
    # Another name of the same bytes is the same film.
    copy = film.with_name("copy.mp4")
    copy.write_bytes(film.read_bytes())
    assert_equal(extract_landmarks(copy), first)
    assert extract_landmarks(copy).name == str(copy)
    # What is kept is what is read: change it, and it is seen.
    write_landmarks(kept(film), dataclasses.replace(first, n_people=7))
    assert extract_landmarks(film).n_people == 7
    assert [path.name for path in kept(film).parent.iterdir()] == [kept(film).name]


@pytest.mark.parametrize("damage", ["empty", "cut short", "text", "one array is missing", "bits"])
def test_what_is_kept_and_damaged_is_extracted_anew(
    damage: str, film: Path, tracker: LandmarkTracker
) -> None:
    first = extract_landmarks(film, tracker=tracker)
    place = kept(film)
    content = place.read_bytes()
    bits = bytearray(content)
    for i in range(200, len(bits) - 200, 50):
        bits[i] ^= 255
    if damage == "one array is missing":
        np.savez(place, told=np.array([extract.VERSION, SIZE, SIZE, 1]), flaw=np.array(""))
    else:
        place.write_bytes(
            {"empty": b"", "cut short": content[:500], "text": b"no landmarks", "bits": bytes(bits)}[damage]
        )
    assert_equal(extract_landmarks(film, tracker=tracker), first)
    assert_equal(read_landmarks(place, "film"), first)


def test_another_version_is_extracted_anew(
    film: Path, tracker: LandmarkTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = extract_landmarks(film, tracker=tracker)
    monkeypatch.setattr(extract, "VERSION", extract.VERSION + 1)
    assert read_landmarks(kept(film), "film") is None
    assert_equal(extract_landmarks(film, tracker=tracker), first)
    assert_equal(read_landmarks(kept(film), "film"), first)


def test_without_keeping_nothing_is_read_or_written(film: Path, tracker: LandmarkTracker) -> None:
    extract_landmarks(film, tracker=tracker, keep=False)
    assert not cache_folder().exists()


def test_without_a_tracker_one_is_made(film: Path, tracker: LandmarkTracker) -> None:
    assert_equal(extract_landmarks(film, keep=False), extract_landmarks(film, tracker=tracker, keep=False))


def test_a_damaged_film_says_so_under_each_of_its_names(film: Path, tracker: LandmarkTracker) -> None:
    content = bytearray(film.read_bytes())
    begin = content.index(b"mdat") + len(content) // 3
    content[begin : begin + 400] = bytes(400)
    film.write_bytes(content)
    found = extract_landmarks(film, tracker=tracker)
    n_lost = 6 - len(found.times)
    assert 0 < n_lost < 6
    said = f"{n_lost} of 6 frames are missing or cannot be decoded; copy the video again"
    assert found.flaw == f"{film}: {said}"
    assert extract_landmarks(film).flaw == found.flaw
    renamed = film.rename(film.with_name("renamed.mp4"))
    assert extract_landmarks(renamed).flaw == f"{renamed}: {said}"


def test_a_missing_film_and_no_film(tmp_path: Path, tracker: LandmarkTracker) -> None:
    missing = tmp_path / "none.mp4"
    with pytest.raises(FileNotFoundError, match=f"^{missing}: there is no such video$"):
        extract_landmarks(missing, tracker=tracker)
    text = tmp_path / "text.mp4"
    text.write_text("no film")
    with pytest.raises(VideoError, match=str(text)):
        extract_landmarks(text, tracker=tracker, keep=False)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("ai_edge_litert", "landmarks need ai-edge-litert: pip install 'coursepkg[landmarks]'"),
        ("cv2", "landmarks need OpenCV: pip install 'coursepkg[landmarks]'"),
        ("av", "reading videos needs av: pip install 'coursepkg[video]'"),
    ],
)
def test_a_missing_package_is_named_in_one_line(
    module: str, message: str, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        extract_landmarks(film)
    assert str(caught.value) == message
    assert not kept(film).exists()


def test_what_cannot_be_written_leaves_nothing(film: Path, found: Landmarks) -> None:
    place = film / "no folder" / "film.npz"
    with pytest.raises(OSError, match="no folder"):
        write_landmarks(place, found)
    assert not place.parent.exists()


def test_landmarks_come_back_as_they_were_written(found: Landmarks, tmp_path: Path) -> None:
    path = tmp_path / "film.npz"
    write_landmarks(path, dataclasses.replace(found, flaw="drawn: 3 of 8 frames"))
    back = read_landmarks(path, "other name")
    assert_equal(back, found)
    assert (back.flaw, back.name) == ("other name: 3 of 8 frames", "other name")
    assert read_landmarks(tmp_path / "none.npz", "none") is None


@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_whose_arrays_do_not_fit_together_is_damaged(
    name: str, found: Landmarks, tmp_path: Path
) -> None:
    path = tmp_path / "film.npz"
    write_landmarks(path, found)
    with np.load(path) as file:
        whole = dict(file)
    good = whole[name]
    others = [good[:-1], good[..., None], good[0], good.astype(np.float16), good.astype(str)]
    others += [good[..., :-1]] if good.ndim > 1 else []
    for other in others:
        np.savez(path, **{**whole, name: other})
        assert read_landmarks(path, "film") is None, (other.shape, other.dtype)
    np.savez(path, **{**whole, **{one: whole[one][:0] for one in ARRAYS}})
    assert read_landmarks(path, "film") is None, "no frame"
    np.savez(path, **{**whole, "told": whole["told"][:-1]})
    assert read_landmarks(path, "film") is None, "a number less"
    np.savez(path, **whole)
    assert_equal(read_landmarks(path, "film"), found)


def test_a_hash_that_is_known_is_not_computed_again(
    film: Path, tracker: LandmarkTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = extract.film_sha256(film)
    monkeypatch.setattr(extract, "file_sha256", refuse_decoding)
    first = extract_landmarks(film, tracker=tracker, sha256=sha256)
    monkeypatch.setattr(extract, "VideoFrames", refuse_decoding)
    assert_equal(extract_landmarks(film, tracker=tracker, sha256=sha256), first)


def test_the_body_has_the_numbers_of_its_names() -> None:
    assert (pose.NOSE, *extract.SHOULDERS, *extract.WRISTS) == (0, 11, 12, 15, 16)
