"""A page of the worst clips: each as a film strip with its attention above, what is signed and what was said.

The page is one file that needs nothing else: the frames are inside it, and it follows the reader's light or dark
setting. It shows people of the test set: keep it as private as their clips.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.files import whole_file
from coursepkg.projects.sign_language.answers import Answer
from coursepkg.viz.attention_film import checked_weights, strip_picture
from coursepkg.viz.page import page_head, picture_data

HEIGHT = 72
"""Of the strips, in pixels."""
GAP = 2
BARS = 44
"""Height of the bars above a strip, in pixels, and of the number on the highest one."""
STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1f; --soft: #5a5d66; --line: #d5d8de; --bar: #2f6fb2;
  --most: #c2500a; }
@media (prefers-color-scheme: dark) { :root { --back: #17181b; --text: #e9eaee; --soft: #a6abb6; --line: #3b3e46;
  --bar: #7db4ee; --most: #f0a060; } }
body { background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 84rem; padding: 1rem; overflow-wrap: anywhere; }
ol { list-style: none; padding: 0; }
li { border-top: 1px solid var(--line); padding: .6rem 0; }
p { margin: .2rem 0; }
small { color: var(--soft); }
.film { max-width: 100%; overflow-x: auto; }
.film svg, .film img { display: block; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
.bar { fill: var(--bar); } .most { fill: var(--most); } .even { stroke: var(--soft); stroke-dasharray: 2 3; }
ins { color: var(--most); font-weight: bold; text-decoration: none; }
"""


class Film(NamedTuple):
    """What the network saw of a clip."""

    frames: np.ndarray
    """The sampled frames without padding, RGB, uint8 (T, height, width, 3)."""
    weights: np.ndarray | None = None
    """What each of them weighed (T,); None where the network has no attention pooling."""
    times: np.ndarray | None = None
    """When each is shown, in seconds (T,)."""


def worst_first(answers: Sequence[Answer]) -> list[int]:
    """The places of the wrong answers, the smaller the probability of the right word, the earlier.

    What could not be read comes first; of equal ones the more confident.
    """
    wrong = [place for place, one in enumerate(answers) if not one.is_right]

    def badness(place: int) -> tuple[bool, float, float, str]:
        one = answers[place]
        return one.said is not None, one.given, -one.confidence, one.name

    return sorted(wrong, key=badness)


def write_worst_page(
    path: str | Path,
    answers: Sequence[Answer],
    film_of: Callable[[int], Film | None],
    *,
    title: str = "Worst clips",
    most: int = 24,
) -> int:
    """Write the page and return how many clips it shows.

    Args:
        path: of the HTML file.
        answers: to all clips of the part.
        film_of: from the place of an answer to what the network saw; None for a clip that could not be read. It is
            asked for the clips that are shown, one after another.
        title: heading of the page.
        most: clips to show.

    Raises:
        ValueError: there is no answer, or weights do not fit their frames.
        OSError: the file cannot be written.
    """
    check_count("most", most, least=0)
    if not answers:
        raise ValueError("answers must hold at least one answer, got none")
    ranked = worst_first(answers)
    shown = ranked[:most]
    with whole_file(path) as file:
        file.write(page_head(title, STYLE).encode())
        told = f"{len(ranked):,} of {len(answers):,} clips are wrong; {len(shown):,} are shown, worst first."
        file.write(
            f"<h1>{escape(title)}</h1>\n<p>{told} Bars above the frames are attention weights; the dotted line is "
            "what each would weigh if all weighed the same.</p>\n<ol>\n".encode()
        )
        for place in shown:
            file.write(clip_html(answers[place], film_of(place)).encode())
        file.write(b"</ol>\n</body>\n</html>\n")
    return len(shown)


def clip_html(one: Answer, film: Film | None) -> str:
    """One clip as an entry of the page.

    Raises:
        ValueError: the weights are not one number a frame, or no shares.
    """
    said = "nothing" if one.said is None else one.said
    sure = "" if one.said is None else f" ({one.confidence:.0%}; {escape(one.label)} {one.given:.0%})"
    picture = "<p>The clip could not be read.</p>" if film is None else _film(film, one)
    by = f", signer {escape(one.signer)}" if one.signer else ""
    return (
        f'<li>\n<p>signed <b lang="vi">{escape(one.label)}</b>, said <ins lang="vi">{escape(said)}</ins>{sure}</p>\n'
        f"{picture}\n<p><small>{escape(one.name)}{by}</small></p>\n</li>\n"
    )


def _film(film: Film, one: Answer) -> str:
    """Strip and bars, frame under bar; both scroll together on a narrow screen."""
    picture = strip_picture(film.frames, height=HEIGHT, gap=GAP)
    width = picture.shape[1]
    alt = f"{len(film.frames)} frames of a clip of {one.label}"
    if film.times is not None and len(film.times):
        alt += f", from {float(film.times[0]):.2f} to {float(film.times[-1]):.2f} seconds"
    data = picture_data(picture, "JPEG", quality=85)
    bars = "" if film.weights is None else _bars(film, width)
    return (
        f'<div class="film" tabindex="0">{bars}<img src="{data}" width="{width}" '
        f'height="{HEIGHT}" alt="{escape(alt, quote=True)}"></div>'
    )


def _bars(film: Film, width: int) -> str:
    assert film.weights is not None
    shares = checked_weights(film.weights, np.ones(len(film.frames), dtype=bool))
    step, highest, room = width / len(shares), int(shares.argmax()), BARS - 14
    scale = room / float(shares.max())
    drawn = []
    for i, share in enumerate(shares.tolist()):
        kind = "most" if i == highest else "bar"
        tall = share * scale
        drawn.append(
            f'<rect class="{kind}" x="{i * step + 0.15 * step:.1f}" y="{BARS - tall:.1f}" width="{0.66 * step:.1f}" '
            f'height="{tall:.1f}"/>'
        )
    even = BARS - scale / len(shares)
    drawn.append(f'<line class="even" x1="0" x2="{width}" y1="{even:.1f}" y2="{even:.1f}"/>')
    middle = (highest + 0.48) * step
    drawn.append(f'<text x="{middle:.1f}" y="10" text-anchor="middle">{shares[highest]:.2f}</text>')
    said = f"Attention weights; frame {highest + 1} of {len(shares)} weighs most, {shares[highest]:.2f}"
    return (
        f'<svg role="img" aria-label="{escape(said)}" width="{width}" height="{BARS}" '
        f'viewBox="0 0 {width} {BARS}">{"".join(drawn)}</svg>'
    )
