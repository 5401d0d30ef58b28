"""The demo before the camera gives the landmarks and the answers of the package, and does nothing without a click."""

import base64
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.few_shot.matching import Example, Matcher
from coursepkg.projects.sign_language.landmarks.extract import Landmarks, LandmarkTracker, track_frames
from coursepkg.projects.sign_language.synthetic.clips import draw_clip
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from tests.book.browser import faults, launch, opened
from tests.book.demos import MINUTE, PAGE, demo, load, without_network

pytestmark = pytest.mark.browser

NAME = "sign_language"
CAMERA = "--use-fake-device-for-media-stream"
SIGNERS = SignersConfig(size=480, least_frames=24, most_frames=24)
FILM = draw_clip("Uống", 1, 0, 10, SIGNERS)
N_WORDS, N_ASKED = 12, 100

LOAD = """async (root) => {
  const { Signer } = await import(`${root}try_it/signer.js`);
  window.signs = await import(`${root}try_it/signs.js`);
  window.signer = await Signer.load(new URL(root), () => {});
}"""
LANDMARKS = """async (film) => {
  const found = [];
  for (const [seconds, address] of film) {
    const image = await createImageBitmap(await (await fetch(address)).blob());
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    const picture = pen.getImageData(0, 0, image.width, image.height);
    found.push(await signer.track(picture, seconds, !found.length));
  }
  return found;
}"""
ANSWERS = """async (clips) => {
  const { enrolled, asked } = JSON.parse(clips);
  for (const [word, clip] of enrolled) await signer.matcher.enrol(word, clip);
  const answers = [];
  for (const clip of asked) {
    const refused = signs.refusal(clip);
    answers.push(refused ? { refused } : await signer.matcher.name(clip));
  }
  return answers;
}"""
CAMERA_ASKED = "the camera is asked for"
SPY = f"""
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = (wanted) => {{
  console.log("{CAMERA_ASKED}");
  return ask(wanted);
}};
"""


@pytest.fixture(scope="module")
def loaded(browser: Browser, live: str) -> Iterator[Page]:
    """A page that has the modules of the demo without its form."""
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        page.evaluate(LOAD, f"{live}_static/")
        yield page
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


def as_page(landmarks: Landmarks) -> dict[str, Any]:
    """A clip as the page holds it."""
    return {
        "times": landmarks.times.tolist(),
        "bodies": [None if np.isnan(one).any() else one.tolist() for one in landmarks.body],
        "hands": [
            [hand.tolist() if is_seen else None for hand, is_seen in zip(*frame, strict=True)]
            for frame in zip(landmarks.hands, landmarks.seen, strict=True)
        ],
        "nPeople": landmarks.n_people,
    }


def cut(landmarks: Landmarks, frames: np.ndarray) -> Landmarks:
    """Some frames of a clip."""
    arrays = ("times", "body", "visibility", "hands", "scores")
    return replace(landmarks, **{name: getattr(landmarks, name)[frames] for name in arrays})


def joined(first: Landmarks, second: Landmarks) -> Landmarks:
    """Two clips as one film, with a rest between them."""
    times = np.concatenate([first.times, first.times[-1] + 0.4 + second.times])
    names = ("body", "visibility", "hands", "scores")
    arrays = {name: np.concatenate([getattr(one, name) for one in (first, second)]) for name in names}
    return replace(first, times=times, **arrays)


def spoilt(landmarks: Landmarks, other: Landmarks, kind: int, rng: np.random.Generator) -> Landmarks:
    """A clip as films go wrong: untouched, nobody in some frames, one hand lost, twice signed, few frames,
    at rest, a person who leaves."""
    body, hands, scores = landmarks.body.copy(), landmarks.hands.copy(), landmarks.scores.copy()
    if kind == 1:
        gone = rng.random(len(body)) < 0.3
        body[gone], hands[gone], scores[gone] = np.nan, np.nan, 0
    elif kind == 2:
        side = int(rng.integers(2))
        hands[:, side], scores[:, side] = np.nan, 0
    elif kind == 3:
        return joined(landmarks, other)
    elif kind == 4:
        return cut(landmarks, np.sort(rng.choice(len(body), 9, replace=False)))
    elif kind == 5:
        body[:] = body[:1]
        body[:, (15, 16), 1] = body[:, (11, 12), 1].max() + 200
    elif kind == 6:
        body[rng.integers(4) :] = np.nan
    return replace(landmarks, body=body, hands=hands, scores=scores)


def test_answers_are_those_of_the_package(loaded: Page) -> None:
    rng = np.random.default_rng(2026)
    words = draw_words(rng, N_WORDS)
    clips = [sign(rng, words, left_handed=0.2) for _ in range(3 + N_ASKED // N_WORDS + 1)]
    # The first words have three clips, the next ones two, the last ones one.
    enrolled = [
        (f"word {w}", spoilt(clips[k].clip(w), clips[3].clip(w), int(rng.choice([0, 1, 3])), rng))
        for w in range(N_WORDS - 2)
        for k in range(3 - w % 3)
    ]
    asked = [
        spoilt(clips[3 + i // N_WORDS].clip(i % N_WORDS), clips[3].clip(i % 7), i % 8, rng)
        for i in range(N_ASKED)
    ]
    matcher = Matcher([Example(word, "", str(i), one) for i, (word, one) in enumerate(enrolled)])
    ours: list[np.ndarray | str] = []
    for one in asked:
        try:
            ours.append(matcher.probabilities(one))
        except ValueError as reason:
            ours.append(str(reason))
    told = {
        "enrolled": [[word, as_page(one)] for word, one in enrolled],
        "asked": [as_page(one) for one in asked],
    }
    found = loaded.evaluate(ANSWERS, json.dumps(told))
    for own, theirs in zip(ours, found, strict=True):
        if isinstance(own, str):
            assert theirs["refused"].rstrip(".").lower() in own
            continue
        assert [one["word"] for one in theirs["words"]] == list(matcher.words)
        p = [one["probability"] for one in theirs["words"]]
        np.testing.assert_allclose([*p, theirs["none"]], own, atol=1e-4)
    distances = [one["distance"] for one in found[0]["words"]]
    np.testing.assert_allclose(distances, matcher.word_distances(asked[0]), atol=1e-3)
    named = [int(one.argmax()) for one in ours if not isinstance(one, str)]
    assert len(named) > 80
    assert len(set(named)) > 8


def png(pixels: np.ndarray) -> str:
    """A picture as an address that holds it."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def test_landmarks_are_those_of_the_package(loaded: Page) -> None:
    frames = [TimedFrame(float(s), f) for s, f in zip(FILM.times[:9], FILM.frames[:9], strict=True)]
    with LandmarkTracker() as tracker:
        ours = track_frames(tracker, frames)
    film = [[one.seconds, png(one.pixels)] for one in frames]
    found = loaded.evaluate(LANDMARKS, film)
    bodies = np.array([one["body"] for one in found])
    hands = ours.hands[ours.seen]
    theirs = np.array([hand for one in found for hand in one["hands"] if hand])
    assert [[hand is not None for hand in one["hands"]] for one in found] == ours.seen.tolist()
    assert len(hands) >= 6
    # In pixels of a picture of 480 by 480; what one picture differs by, the square of the next passes on.
    assert np.abs(bodies - ours.body)[..., :2].mean() < 0.5
    assert np.abs(theirs - hands)[..., :2].mean() < 0.5


@contextmanager
def filming(browser: Browser, *flags: str, allowed: bool = True) -> Iterator[Browser]:
    """Chromium with a camera of its own."""
    own = launch(browser.browser_type, CAMERA, *flags)
    assert own is not None
    try:
        yield own
    finally:
        own.close()


def press(box: Locator, button: str, answer: str) -> None:
    """Press a button and wait for an answer that holds a text."""
    box.get_by_role("button", name=button, exact=True).click()
    expect(box.locator(".try-it-answer")).to_contain_text(answer, timeout=MINUTE)


def shorten(box: Locator) -> None:
    """Let a recording take half a second."""
    box.locator("form").evaluate("form => { form.dataset.seconds = 0.5; }")


def start(box: Locator, seen: str) -> None:
    """Start the camera, and wait until something is seen."""
    press(box, "Start the camera", "The camera is on.")
    expect(box.locator(".try-it-seen")).to_have_text(seen, timeout=MINUTE)


def test_a_refused_camera_and_a_picture_without_a_person_are_told_and_need_no_network(
    browser: Browser, live: str
) -> None:
    with filming(browser) as own, opened(own, live, PAGE, 390, "dark") as (page, visit):
        load(page, NAME)
        box = demo(page, NAME)
        expect(box.get_by_role("button", name="Start the camera")).to_be_focused()
        press(box, "Start the camera", "this page has no permission")
        expect(box.get_by_role("button", name="Enrol the word")).to_be_disabled()
        assert faults(page, colours=True) == []
        page.context.grant_permissions(["camera"])
        shorten(box)
        with without_network(page) as tried:
            start(box, "No person and no hand in the picture.")
            press(box, "Enrol the word", "Write the word first")
            expect(box.get_by_label("Word", exact=True)).to_be_focused()
            box.get_by_label("Word", exact=True).fill("nước")
            press(box, "Enrol the word", "No person is seen")
            expect(box.locator(".try-it-words li")).to_have_count(0)
            press(box, "Stop the camera", "The camera is off.")
            expect(box.locator("canvas")).to_be_hidden()
        assert [url for url in tried if not url.startswith("blob:")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


def test_a_sign_is_enrolled_and_named(browser: Browser, live: str, tmp_path: Path) -> None:
    # One picture of a drawn signer who shows both hands: the same pose whenever a recording begins.
    picture = draw_clip("Nhà", 1, 0, 10, SIGNERS).frames[9]
    film = tmp_path / "signer.mjpeg"
    Image.fromarray(picture).save(film, "JPEG", quality=95)
    camera = f"--use-file-for-fake-video-capture={film}"
    with filming(browser, camera) as own, opened(own, live, PAGE, 1280, "light") as (page, visit):
        page.context.grant_permissions(["camera"])
        load(page, NAME)
        box = demo(page, NAME)
        shorten(box)
        start(box, "A person and two hands in the picture.")
        box.get_by_label("Word", exact=True).fill("nhà")
        with without_network(page) as tried:
            press(box, "Enrol the word", "nhà is enrolled.")
            press(box, "Name a sign", "nhà (")
        assert tried == []
        expect(box.locator(".try-it-words li")).to_contain_text(["nhà (1 clip)"])
        rows = box.locator(".try-it-nearest tbody tr").all_inner_texts()
        assert [row.split("\t")[0] for row in rows] == ["nhà", "none of these"]
        # The pose of one picture twice: less than half as far as what is none of the words, 6.4.
        assert float(rows[0].split("\t")[1]) < 3.2
        press(box, "Stop the camera", "The camera is off.")
        assert faults(page, colours=True) == []
        box.get_by_role("button", name="Remove nhà").click()
        expect(box.locator(".try-it-words li")).to_have_count(0)
        expect(box.get_by_role("button", name="Name a sign")).to_be_disabled()
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


def test_nothing_is_asked_before_a_click_and_a_machine_without_a_camera_is_told_so(
    browser: Browser, live: str
) -> None:
    asked: list[str] = []
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        page.context.grant_permissions(["camera"])
        page.add_init_script(SPY)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda line: asked.append(line.text))
        page.reload(wait_until="networkidle")
        assert [one for one in asked if "sign" in one or one == CAMERA_ASKED] == []
        load(page, NAME)
        assert any("models/sign_language/" in one for one in asked)
        assert CAMERA_ASKED not in asked
        press(demo(page, NAME), "Start the camera", "No camera was found")
        assert CAMERA_ASKED in asked
        assert visit.errors == []


def test_a_browser_without_cameras_gets_a_sentence(browser: Browser, live: str) -> None:
    page = browser.new_context().new_page()
    page.add_init_script("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    page.goto(f"{live}{PAGE}.html")
    expect(demo(page, NAME).locator(".try-it-note")).to_contain_text("needs a camera")
    expect(demo(page, NAME).locator(".try-it-load")).to_be_hidden()
    expect(demo(page, "translation").locator(".try-it-load")).to_be_visible()
    page.context.close()
