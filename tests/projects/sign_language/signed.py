"""Three words that a network learns in a second: a block that rises, one that falls, one that lies still."""

from functools import cache
from pathlib import Path

import numpy as np
import torch

from coursepkg.projects.sign_language.data.clip import Clip, normalise, sample_frames
from coursepkg.projects.sign_language.model.classifier import ClipClassifier, build_model
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.sign_language.synthetic.clips import write_video
from coursepkg.training.saved_model import save_model

WORDS = ("lên", "nằm", "xuống")
COUNTS = (20, 10, 5)
FPS = 12
SIDE = 32
RECIPE = Recipe(
    precision="32-true",
    size=16,
    n_frames=6,
    channels=(4, 8),
    n_blocks=(0, 0),
    n_convolutions=1,
    kernel_size=3,
    n_layers=1,
    d_model=16,
    n_heads=2,
    d_ff=24,
    dropout=0.0,
    label_smoothing=0.0,
)


def moving(word: str, number: int, n_frames: int = FPS, side: int = SIDE) -> np.ndarray:
    """Frames in which a word is signed, uint8 (n_frames, side, side, 3); `number` decides place and colours."""
    draw = np.random.default_rng([number, WORDS.index(word)])
    block, ground = draw.integers(170, 240, 3), draw.integers(20, 80, 3)
    high, left = side // 3, int(draw.integers(0, 2 * side // 3))
    path = np.linspace(side - high, 0, n_frames)
    path = {"lên": path, "xuống": path[::-1], "nằm": np.full(n_frames, (side - high) / 2)}[word]
    frames = np.empty((n_frames, side, side, 3), dtype=np.uint8)
    frames[:] = ground
    for frame, top in zip(frames, path.astype(int), strict=True):
        frame[top : top + high, left : left + high] = block
    return frames


def clip(word: str, number: int, n_frames: int = FPS, side: int = RECIPE.size) -> Clip:
    """The same as a clip in memory."""
    frames = moving(word, number, n_frames, side)
    return Clip(frames, np.arange(n_frames) / FPS, word, "", f"{word} {number}")


def write_film(path: Path, *words: str, number: int = 100, n_frames: int = FPS) -> Path:
    """A film of some words, one after another, a second each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = [moving(word, number + place, n_frames) for place, word in enumerate(words)]
    write_video(path, np.concatenate(frames), FPS)
    return path


def write_films(folder: Path, count: int = 7) -> list[Path]:
    """Films of one word each, in turn; `name_of` knows which."""
    return [write_film(folder / f"{i}.mp4", WORDS[i % 3], number=100 + i) for i in range(count)]


def word_of(path: Path) -> str:
    """What is signed in a film of `write_films`."""
    return WORDS[int(path.stem) % 3]


@cache
def taught(seed: int = 0) -> ClipClassifier:
    """A network that has learnt the words."""
    torch.manual_seed(seed)
    model = build_model(RECIPE, len(WORDS)).train()
    clips = [clip(word, number) for number in range(16) for word in WORDS]
    chosen = sample_frames(clips[0].times, RECIPE.n_frames).numbers
    frames = torch.stack([normalise(one.frames[chosen]) for one in clips])
    targets = torch.tensor([WORDS.index(one.label) for one in clips])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(frames).logits, targets).backward()
        optimizer.step()
    return model.eval()


def recognizer(seed: int = 0) -> SignRecognizer:
    """What names the words."""
    return SignRecognizer(taught(seed), WORDS, RECIPE, counts=COUNTS)


def write_model(folder: Path, seed: int = 0, **meta: object) -> Path:
    """The folder that training would write, as far as prediction reads it; returns it."""
    told = {"recipe": RECIPE.described(), "labels": list(WORDS), "counts": list(COUNTS), "seed": seed}
    save_model(folder / "model", taught(seed), **(told | meta))
    return folder
