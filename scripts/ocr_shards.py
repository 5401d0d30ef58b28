"""Generated lines written ahead of training, as shards of packed lines.

    FOLDER/shard-00000/     see `data.packed`
    FOLDER/shards.json      plan, SHA-256 of every shard, counts; written last

A shard is there whole or not at all, so a run that was killed goes on with the shards
that are missing.
"""

import hashlib
import json
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, overload

import numpy as np
from PIL import Image

from coursepkg.files import write_json
from coursepkg.projects.ocr.data.geometry import crop_corners
from coursepkg.projects.ocr.data.packed import PackedLines, pack_lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.synthetic.fonts import Face, complete_faces
from coursepkg.projects.ocr.synthetic.receipt_config import RECEIPTS, ReceiptConfig
from coursepkg.projects.ocr.synthetic.receipts import (
    make_receipt,
    receipt_texts,
)
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines
from coursepkg.validation import check_count, check_share, counted


class Shards(Sequence[TextLine]):
    """The lines of several packed folders one after another, or some of them.

    Args:
        parts: folders of packed lines, at least one.
        chosen: numbers of the lines that count, in their order; None takes all.

    Raises:
        ValueError: there is no part.
    """

    def __init__(
        self, parts: Sequence[PackedLines], chosen: Sequence[int] | None = None
    ) -> None:
        if not parts:
            raise ValueError(
                "parts must hold at least one folder of packed lines, got none"
            )
        self.parts = tuple(parts)
        self._ends = list(accumulate(len(part) for part in parts))
        self.chosen = (
            np.arange(self._ends[-1])
            if chosen is None
            else np.asarray(chosen, dtype=np.int64)
        )

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, index: int) -> TextLine: ...

    @overload
    def __getitem__(self, index: slice) -> list[TextLine]: ...

    def __getitem__(self, index: int | slice) -> TextLine | list[TextLine]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        part, place = self._find(int(self.chosen[index]))
        return part[place]

    def __iter__(self) -> Iterator[TextLine]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the parts and of which of their lines count."""
        digest = hashlib.sha256(
            " ".join(part.fingerprint for part in self.parts).encode()
        )
        digest.update(self.chosen.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def texts(self) -> list[str]:
        """What the lines say."""
        every = [text for part in self.parts for text in part.texts]
        return [every[i] for i in self.chosen]

    @cached_property
    def sizes(self) -> list[tuple[int, int]]:
        """Their heights and widths."""
        every = [size for part in self.parts for size in part.sizes]
        return [every[i] for i in self.chosen]

    def fitting(self, *, most_width: int, most_characters: int) -> "Shards":
        """The lines of at most so many pixels in width and so many characters."""
        check_count("most_width", most_width)
        check_count("most_characters", most_characters)
        fits = [
            width <= most_width and len(text) <= most_characters
            for (_, width), text in zip(self.sizes, self.texts, strict=True)
        ]
        return Shards(self.parts, self.chosen[np.array(fits, dtype=bool)].tolist())

    def _find(self, number: int) -> tuple[PackedLines, int]:
        at = bisect_right(self._ends, number)
        return self.parts[at], number - (self._ends[at - 1] if at else 0)


CARD = "shards.json"


@dataclass(frozen=True)
class ShardPlan:
    """What is generated."""

    seed: int = 1000
    """Shard n draws with seed + n; not the seeds of `corpora_generated`, which models
    are measured on.
    """
    n_lines: int = 240_000
    """Lines of all shards together, at least 1."""
    a_shard: int = 4000
    """Lines of a shard, at least 1; the last one may have fewer."""
    receipts: float = 0.1
    """Share of lines that are cut out of generated photographs of whole receipts, in
    [0, 1].
    """
    varied: float = 0.0
    """Share of these receipts that are `varied-receipts`, in [0, 1]."""
    printers: float = 0.0
    """Share of the other lines that a receipt printer strikes, in [0, 1]."""
    unmarked: float = 0.0
    """Share of the other lines that are written without diacritics, in [0, 1]."""
    height: int = 40
    """Of the stored pictures, in pixels: that of the model."""
    config: LineConfig = field(default_factory=LineConfig)
    """What the other lines say and how they look."""

    def __post_init__(self) -> None:
        check_count("seed", self.seed, least=3)
        for name in ("n_lines", "a_shard"):
            check_count(name, getattr(self, name))
        check_count("height", self.height, least=8)
        for name in ("receipts", "varied", "printers", "unmarked"):
            check_share(name, getattr(self, name))

    def receipt(self, number: int) -> ReceiptConfig:
        """What receipt `number` of a shard looks like; none is without text."""
        due = int((number + 1) * self.varied) > int(number * self.varied)
        kind = RECEIPTS["varied-receipts" if due else "receipts"]
        return replace(kind, empty=0.0)

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return -(-self.n_lines // self.a_shard)

    def lines_of(self, shard: int) -> int:
        """Lines of one shard."""
        return min(self.a_shard, self.n_lines - shard * self.a_shard)


def draw_shard(
    plan: ShardPlan,
    shard: int,
    faces: Sequence[Face],
    avoid: Collection[str] = frozenset(),
) -> Iterator[TextLine]:
    """The lines of a shard; texts to be avoided are replaced by the next lines."""
    n_lines = plan.lines_of(shard)
    n_cut = round(n_lines * plan.receipts)
    drawn = _drawn_lines(plan, shard, faces)
    number, found = 0, 0
    while found < n_lines - n_cut:
        if drawn.text(number) not in avoid:
            yield drawn[number]
            found += 1
        number += 1
    for line in _cut_lines(plan, shard, faces, avoid):
        if found == n_lines:
            return
        yield line
        found += 1


def _drawn_lines(plan: ShardPlan, shard: int, faces: Sequence[Face]) -> SyntheticLines:
    """The lines of a shard that are not cut out of receipts, without end."""
    return SyntheticLines(
        plan.seed + shard,
        faces=faces,
        config=plan.config,
        printers=plan.printers,
        unmarked=plan.unmarked,
    )


def shard_texts(
    plan: ShardPlan,
    shard: int,
    faces: Sequence[Face],
    avoid: Collection[str] = frozenset(),
) -> set[str]:
    """What the lines of `draw_shard` and a few further receipts say, not drawn."""
    n_cut = round(plan.lines_of(shard) * plan.receipts)
    drawn = map(_drawn_lines(plan, shard, faces).text, count())
    texts = islice(
        (text for text in drawn if text not in avoid), plan.lines_of(shard) - n_cut
    )
    # Some lines of a receipt are too small to be cut out: twice as many are enough.
    whole = complete_faces(faces)
    receipts = (
        receipt_texts(
            plan.seed + shard, number, faces=whole, config=plan.receipt(number)
        )
        for number in count()
    )
    return {*texts, *islice(chain.from_iterable(receipts), 2 * n_cut)}


def _cut_lines(
    plan: ShardPlan, shard: int, faces: Sequence[Face], avoid: Collection[str]
) -> Iterator[TextLine]:
    """Lines cut out of photographs of receipts without end, loosely or tightly."""
    whole = complete_faces(faces)
    seed = plan.seed + shard
    for number in count():
        photo = make_receipt(seed, number, faces=whole, config=plan.receipt(number))
        page = np.asarray(Image.fromarray(photo.image).convert("L"))
        rng = np.random.Generator(np.random.PCG64([seed, number]))
        for i, (line, corners) in enumerate(
            zip(photo.lines, photo.outlines, strict=True)
        ):
            name = f"synthetic receipt {seed}-{number} line {i}"
            text = " ".join(line.text.split())
            if not text or text in avoid:
                continue
            try:
                crop = crop_corners(page, loosened(corners, rng), name=name)
            except ValueError:
                continue  # too small to hold text
            yield TextLine(crop, text, f"synthetic-receipt:{seed}:{number}", name)


def loosened(corners: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Corners (4, 2) moved by up to a quarter of their box's height outwards."""
    right, down = corners[1] - corners[0], corners[3] - corners[0]
    high = float(np.linalg.norm(down)) or 1.0
    along, across = right / (float(np.linalg.norm(right)) or 1.0) * high, down
    left, top, end, bottom = rng.uniform(
        (-0.05, -0.04, -0.05, -0.04), (0.25, 0.2, 0.25, 0.2)
    )
    moves = np.stack(
        [
            -left * along - top * across,
            end * along - top * across,
            end * along + bottom * across,
            -left * along + bottom * across,
        ]
    )
    return np.asarray(corners + moves)


def write_shards(
    plan: ShardPlan,
    folder: str | Path,
    faces: Sequence[Face],
    *,
    avoid: Collection[str] = frozenset(),
    workers: int = 1,
    max_seconds: int | float = float("inf"),
    log: Callable[[str], None] = print,
) -> Shards | None:
    """Write the shards that are not there yet, in worker processes.

    Args:
        plan: what to generate.
        folder: where to.
        faces: fonts for training.
        avoid: texts that no line may have, those of test sets.
        workers: processes; 1 works in this one.
        max_seconds: no further shard is begun after so long.
        log: receives a line now and then.

    Returns:
        all lines, or None where time ran out before.

    Raises:
        OSError: the folder cannot be written.
    """
    check_count("workers", workers)
    folder = Path(folder)
    source = {"generator": plan_sha256(asdict(plan), faces, avoid)}
    names = [folder / f"shard-{n:05}" for n in range(plan.n_shards)]
    missing = [
        n
        for n, name in enumerate(names)
        if not _is_there(name, source | {"shard": str(n)})
    ]
    log(f"{plan.n_shards - len(missing)} of {plan.n_shards} shards are there")
    deadline = time.monotonic() + max_seconds
    jobs = (
        (
            n,
            (
                plan,
                n,
                names[n],
                tuple(faces),
                frozenset(avoid),
                source | {"shard": str(n)},
            ),
        )
        for n in missing
    )
    if workers == 1:
        for _, job in jobs:
            if time.monotonic() >= deadline:
                return None
            _write_shard(*job)
    elif not _in_processes(jobs, workers, deadline, log):
        return None
    parts = [
        PackedLines(name, source=source | {"shard": str(n)}, verify=False)
        for n, name in enumerate(names)
    ]
    lines = Shards(parts)
    write_json(folder / CARD, described(plan, lines))
    return lines


def described(plan: ShardPlan, lines: Shards) -> dict[str, object]:
    """What the lines are, as JSON can hold it."""
    return {
        "plan": asdict(plan),
        "n_lines": len(lines),
        "n_left_out": sum(len(part.left_out) for part in lines.parts),
        "sha256": lines.fingerprint,
        "shards": [part.fingerprint for part in lines.parts],
    }


def plan_sha256(
    plan: dict[str, Any], faces: Sequence[Face], avoid: Collection[str]
) -> str:
    """SHA-256 of what decides the lines: plan as stored, faces and avoided texts."""
    drawn_with = [[face.family, face.style, sorted(face.characters)] for face in faces]
    content = json.dumps([plan, drawn_with, sorted(avoid)], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


def _is_there(folder: Path, source: dict[str, str]) -> bool:
    try:
        PackedLines(folder, source=source, verify=False)
    except (ValueError, FileNotFoundError):
        return False  # not written, not whole, or of another plan: it is written anew
    return True


def _write_shard(
    plan: ShardPlan,
    shard: int,
    folder: Path,
    faces: Sequence[Face],
    avoid: Collection[str],
    source: dict[str, str],
) -> int:
    return len(
        pack_lines(
            draw_shard(plan, shard, faces, avoid),
            folder,
            heights=(plan.height,),
            source=source,
        )
    )


def _in_processes(
    jobs: Iterator[tuple[int, tuple]],
    workers: int,
    deadline: float,
    log: Callable[[str], None],
) -> bool:
    """Whether all were done before time ran out."""
    running: dict[Future[int], int] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for number, job in jobs:
            if len(running) == workers:
                for one in wait(running, return_when=FIRST_COMPLETED).done:
                    log(f"shard {running.pop(one)}: {counted(one.result(), 'line')}")
            if time.monotonic() >= deadline:
                return False
            running[pool.submit(_write_shard, *job)] = number
        for one, number in running.items():
            log(f"shard {number}: {counted(one.result(), 'line')}")
    return True
