"""Draws the three moving pictures of the landing page: what the three shipped systems answer.

    python scripts/draw_landing_pictures.py [FOLDER]

It also draws the lines of print that the page "Try it" reads as its example, beside FOLDER.

A sentence and its translation with what each word looks at; a drawn receipt and its lines as they are read; a drawn
signer and the words that are nearest. Nothing in them is real data. Each is an SVG that moves for five seconds and then
rests, and does not move for a reader who asked the system for less motion.
"""

import argparse
import base64
import io
from html import escape
from pathlib import Path

import numpy as np
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont

from coursepkg.projects import ocr, sign_language
from coursepkg.projects.translation import Translator

FOLDER = Path(__file__).resolve().parents[1] / "book" / "_static" / "landing"
WIDTH, HEIGHT = 360, 300
SECONDS = 5.0
"""Of all motion; what moves longer must have a button that stops it (WCAG 2.2.2)."""
INK, BLUE, PALE = "#1b2126", "#0072b2", "#56b4e9"
READ_LINES = 7
EXAMPLE = "try_it_lines.png"
EXAMPLE_LINES = (
    "Nhà sách Hoa Phượng",
    "Số 12, đường Nguyễn Trãi, Hà Nội",
    "Từ điển Việt - Anh: 85.000 đồng",
    "Cảm ơn quý khách, hẹn gặp lại!",
)
SENTENCE = "He has a black dog."
STYLE = """
text { fill: #1b2126; font: 15px system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
.small { font-size: 12px; }
.late { animation: come .5s ease-out both; }
@keyframes come { from { opacity: 0; } to { opacity: var(--shown, 1); } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
"""


def svg(body: str, style: str = "") -> str:
    """A white card with what is drawn on it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}"><style>{STYLE}{style}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff"/>{body}</svg>\n'
    )


def late(step: int, steps: int, shown: float = 1.0) -> str:
    """The attributes of what appears at a step of the motion."""
    delay = SECONDS * 0.85 * step / steps
    return f'class="late" style="--shown:{shown:.2f};opacity:{shown:.2f};animation-delay:{delay:.2f}s"'


def jpeg(picture: np.ndarray | Image.Image, quality: int = 70) -> str:
    """A picture as the address of an `<image>`."""
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    inside = io.BytesIO()
    image.convert("RGB").save(inside, format="JPEG", quality=quality, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(inside.getvalue()).decode()}"


def share_text(share: float) -> str:
    """A probability in percent."""
    return f"{share:.0%}" if share >= 0.005 else "&lt; 1%"


def words_of(tokens: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Words with the places of their subwords; a subword that begins a word starts with the mark of SentencePiece."""
    words: list[tuple[str, list[int]]] = []
    for place, token in enumerate(tokens):
        begins = token.startswith("▁") or not words
        if begins:
            words.append((token.removeprefix("▁"), [place]))
        else:
            words[-1] = (words[-1][0] + token, [*words[-1][1], place])
    return [(text, places) for text, places in words if text]


def centres(words: list[tuple[str, list[int]]]) -> list[float]:
    """Where the words of a line stand: each has room by its letters, and the line fills the card."""
    rooms = [len(text) + 2 for text, _ in words]
    ends = np.cumsum(rooms)
    return [float(x) for x in (ends - np.array(rooms) / 2) * WIDTH / ends[-1]]


def translation() -> str:
    """The sentence above, its translation below, and lines as dark as the attention between two words."""
    (answer,) = Translator.load_default().translate(
        [SENTENCE], source="en", target="vi", alignments=True
    )
    weights = answer.alignment
    assert weights is not None
    # The first subword names the direction.
    sources = [
        one for one in words_of(answer.source_tokens) if not one[0].startswith("<")
    ]
    targets = words_of(answer.n_best[0].tokens)
    above, below = centres(sources), centres(targets)
    parts = [
        f'<text x="{x:.0f}" y="70" text-anchor="middle">{escape(text)}</text>'
        for x, (text, _) in zip(above, sources, strict=True)
    ]
    for step, (x, (text, places)) in enumerate(zip(below, targets, strict=True)):
        parts.append(
            f'<text x="{x:.0f}" y="240" text-anchor="middle" {late(step, len(targets))}>'
            f"{escape(text.replace('_', ' '))}</text>"
        )
        shares = [float(weights[places][:, own].sum(1).mean()) for _, own in sources]
        parts += [
            f'<path d="M{from_x:.0f} 80 C{from_x:.0f} 150 {x:.0f} 150 {x:.0f} 222" fill="none"'
            f' stroke="{BLUE}" stroke-width="{1 + 4 * share:.1f}" {late(step, len(targets), share)}/>'
            for from_x, share in zip(above, shares, strict=True)
            if share > 0.08
        ]
    return svg("".join(parts))


class DrawnBoxes:
    """Boxes where the lines were drawn: no detector has to be installed."""

    fingerprint = "drawn"

    def __init__(self, outlines: np.ndarray) -> None:
        self.outlines = outlines

    def detect(self, image: np.ndarray, name: str = "picture") -> list[ocr.TextBox]:
        """The boxes of the one picture."""
        return [ocr.TextBox(corners, 1.0) for corners in self.outlines]

    def close(self) -> None:
        """Nothing is open."""


def receipt() -> str:
    """The top of a drawn photograph whose lines are framed one after another, and below it what was read."""
    drawn = ocr.make_receipt(0, 0)
    page = ocr.read_page(
        drawn.image, DrawnBoxes(drawn.outlines), ocr.Recognizer.load_default()
    )
    lines = page.lines[:READ_LINES]
    corners = [np.asarray(line.box.corners) for line in lines]
    bottom = int(max(four[:, 1].max() for four in corners)) + 12
    picture = Image.fromarray(drawn.image[:bottom])
    scale = min((WIDTH - 16) / picture.width, 150 / picture.height)
    size = round(picture.width * scale), round(picture.height * scale)
    left = (WIDTH - size[0]) / 2
    sharp = picture.resize((2 * size[0], 2 * size[1]), Image.Resampling.LANCZOS)
    parts = [
        f'<image href="{jpeg(sharp)}" x="{left}" y="8" width="{size[0]}" height="{size[1]}"/>'
    ]
    step_y = (HEIGHT - size[1] - 28) / len(lines)
    for step, (line, four) in enumerate(zip(lines, corners, strict=True)):
        points = " ".join(
            f"{left + x * scale:.1f},{8 + y * scale:.1f}" for x, y in four
        )
        y = size[1] + 26 + step * step_y
        parts.append(
            f"<g {late(step, len(lines))}>"
            f'<polygon points="{points}" fill="{PALE}" fill-opacity=".25" stroke="{BLUE}"/>'
            f'<text class="small" x="{WIDTH / 2}" y="{y:.0f}" text-anchor="middle">{escape(line.text)}</text></g>'
        )
    return svg("".join(parts))


def signer() -> str:
    """A drawn signer, and how sure the recogniser is of the nearest words."""
    clip = sign_language.draw_clip("Xin chào", 3, seed=11, number=2)
    (answer,) = sign_language.SignRecognizer.load_default().recognize_clips(
        [clip], n_best=3
    )
    side, count = 180, 16
    frames = clip.frames[sign_language.uniform_frames(clip.times, count)]
    strip = np.concatenate(
        [
            np.asarray(
                Image.fromarray(one).resize((side, side), Image.Resampling.LANCZOS)
            )
            for one in frames
        ],
        axis=1,
    )
    parts = [
        f'<svg x="90" y="10" width="{side}" height="{side}"><image class="film" href="{jpeg(strip)}"'
        f' width="{side * count}" height="{side}"/></svg>'
    ]
    for step, (word, share) in enumerate(answer.candidates):
        y = 210 + 30 * step
        parts.append(
            f'<g {late(2 + step, 5)}><rect x="150" y="{y}" width="{170 * share:.1f}" height="18"'
            f' fill="{PALE}"/><text x="140" y="{y + 14}" text-anchor="end">{escape(word)}</text>'
            f'<text class="small" x="156" y="{y + 14}">{share_text(share)}</text></g>'
        )
    film = (
        f".film {{ animation: film {SECONDS / 3:.2f}s steps({count}) 3; }}"
        f"@keyframes film {{ to {{ transform: translateX(-{side * count}px); }} }}"
    )
    return svg("".join(parts), film)


def example_lines() -> Image.Image:
    """Lines of print on white paper."""
    page = Image.new("L", (640, 56 * len(EXAMPLE_LINES) + 24), 255)
    draw, font = ImageDraw.Draw(page), ImageFont.truetype(findfont("DejaVu Serif"), 30)
    for i, line in enumerate(EXAMPLE_LINES):
        draw.text((24, 18 + 56 * i), line, fill=20, font=font)
    return page


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (translation, receipt, signer):
        file = folder / f"{draw.__name__}.svg"
        file.write_text(draw(), encoding="utf-8")
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
    example_lines().save(folder.parent / EXAMPLE, optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    main(parser.parse_args().folder)
