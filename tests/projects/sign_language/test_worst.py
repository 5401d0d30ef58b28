"""The page of worst clips: order, escaping, frames and weights that belong together."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.sign_language.evaluate_verb import (
    GAP,
    HEIGHT,
    Film,
    clip_html,
    worst_first,
    write_worst_page,
)
from tests.projects.sign_language.answered import answer

FRAMES = np.stack([np.full((20, 20, 3), 40 * i, dtype=np.uint8) for i in range(5)])
WEIGHTS = np.array([0.1, 0.1, 0.5, 0.2, 0.1])
FILM = Film(FRAMES, WEIGHTS, np.arange(5) / 2)
ANSWERS = [
    answer("ăn", "ăn", name="right"),
    answer("ăn", "uống", name="sure")._replace(given=0.01, confidence=0.99),
    answer("mẹ", "bố", name="surer")._replace(given=0.01, confidence=0.999),
    answer("mẹ", "bố", name="unsure")._replace(given=0.4, confidence=0.5),
    answer("ngủ", None, name="lost"),
]


def test_the_least_probable_right_word_comes_first() -> None:
    assert [ANSWERS[i].name for i in worst_first(ANSWERS)] == ["lost", "surer", "sure", "unsure"]


def test_the_page_shows_the_worst_and_asks_for_no_more_films(tmp_path: Path) -> None:
    asked: list[int] = []

    def film_of(place: int) -> Film | None:
        asked.append(place)
        return None if ANSWERS[place].said is None else FILM

    path = tmp_path / "worst.html"
    assert write_worst_page(path, ANSWERS, film_of, title="A & B", most=3) == 3
    assert asked == [4, 2, 1]
    page = path.read_text("utf-8")
    assert "4 of 5 clips are wrong; 3 are shown" in page
    assert page.count("could not be read") == 1
    assert page.count("<img ") == page.count("<svg ") == 2
    assert "<title>A &amp; B</title>" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)
    assert "http:" not in page.replace("http-equiv", "")


def test_frames_and_weights_are_those_of_the_clip() -> None:
    html = clip_html(ANSWERS[1], FILM)
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="[\d.]+" height="([\d.]+)"', html)
    assert [kind for kind, _, _ in bars] == ["bar", "bar", "most", "bar", "bar"]
    heights = np.array([float(tall) for _, _, tall in bars])
    assert heights / heights.sum() == pytest.approx(WEIGHTS, abs=0.01)
    step = HEIGHT + GAP
    assert [int(float(x) // step) for _, x, _ in bars] == [0, 1, 2, 3, 4], "a bar a frame, over it"
    data = re.search(r'base64,([^"]+)"', html)
    assert data is not None
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(data[1]))))
    assert picture.shape == (HEIGHT, 5 * step, 3)
    shades = [int(picture[HEIGHT // 2, i * step + HEIGHT // 2, 0]) for i in range(5)]
    assert shades == pytest.approx([0, 40, 80, 120, 160], abs=6)
    assert "5 frames of a clip of ăn, from 0.00 to 2.00 seconds" in html
    assert "frame 3 of 5 weighs most, 0.50" in html
    assert "99%; ăn 1%" in html


def test_without_attention_there_are_no_bars() -> None:
    html = clip_html(ANSWERS[1], Film(FRAMES))
    assert "<svg" not in html
    assert "<img" in html


def test_labels_and_names_are_escaped() -> None:
    evil = answer('<b>"&', "<script>x</script>", '<i>"An', "<img src=x>.mp4")
    html = clip_html(evil, FILM)
    assert "<script" not in html
    assert "<i>" not in html
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert "&lt;b&gt;&quot;&amp;" in html
    assert "&lt;img src=x&gt;.mp4, signer &lt;i&gt;&quot;An" in html
    tags = ["li", "p", "b", "ins", "div", "svg", *["rect"] * 5, "line", "text", "img", "p", "small"]
    assert re.findall(r"<(\w+)", html) == tags


@pytest.mark.parametrize("weights", [WEIGHTS[:4], WEIGHTS * 2])
def test_weights_that_do_not_fit_are_refused_and_leave_no_page(weights: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="weights must be"):
        write_worst_page(tmp_path / "worst.html", ANSWERS, lambda place: Film(FRAMES, weights), most=3)
    assert list(tmp_path.iterdir()) == []


def test_there_must_be_an_answer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one answer"):
        write_worst_page(tmp_path / "worst.html", [], lambda place: None)
