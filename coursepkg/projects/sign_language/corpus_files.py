"""A corpus in a folder: its clips decoded once, and what was decided about them.

    FOLDER/corpus.json              words, protocol, what was removed and why
    FOLDER/train/  dev/  test/      the clips of each part, see `data.cache`; a part without a clip has no folder

The card is written last: where it is missing, the folder is not finished. Until then it grows beside its place, in
FOLDER.part.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coursepkg.files import part_of
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.corpus import PARTS, Removed, SignCorpus
from coursepkg.projects.sign_language.data.cache import CacheConfig, CachedClips
from coursepkg.projects.sign_language.data.caching import cache_clips
from coursepkg.projects.sign_language.quality.plan import CleaningPlan
from coursepkg.training.files import read_json, write_json

CARD = "corpus.json"
KIND = "signed words"
_NEEDS: dict[str, type] = {
    "kind": str,
    "name": str,
    "protocol": str,
    "labels": list,
    "parts": list,
    "removed": list,
    "notes": list,
    "is_generated": bool,
    "source": str,
}


@contextmanager
def growing_folder(folder: Path) -> Iterator[Path]:
    """A folder to store a corpus into, beside the place that it gets when the block ends well.

    A run that is stopped leaves FOLDER.part, and the next one goes on in it. What stands in the place is of an older
    state of the files; the new corpus is grown from it, so that clips which are still the same are not decoded again.
    Where the clips are at fault, by a ValueError, nothing stays.

    Raises:
        OSError: it cannot be moved.
    """
    part = part_of(folder)
    if folder.is_dir() and not part.exists():
        os.rename(folder, part)
    try:
        yield part
    except ValueError:
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)


def store_corpus(
    folder: str | Path,
    files: Mapping[str, Sequence[ClipFile]],
    labels: Sequence[str],
    config: CacheConfig | None = None,
    *,
    name: str,
    protocol: str,
    plan: CleaningPlan | None = None,
    notes: Sequence[str] = (),
    is_generated: bool = False,
    source: str = "",
    say: Callable[[str], None] = lambda line: None,
) -> SignCorpus:
    """Decode the clips of each part into a folder, which `open_corpus` then reads.

    Stopped and called again in the same way it goes on; what was decoded before is not decoded again.

    Args:
        folder: made where it is not there.
        files: the clips of each part, by its name.
        labels: all words, in the order of their class numbers.
        config: how clips are kept.
        name: of the corpus.
        protocol: how it was parted.
        plan: what cleaning does to the training part; None uses all of it.
        notes: what a reader of scores must know.
        is_generated: whether the clips were drawn.
        source: what tells one state of the files from another.
        say: receives a line now and then.

    Raises:
        ValueError: a part has clips of which none can be decoded.
        OSError: the folder cannot be written.
        ImportError: av is not installed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CARD).unlink(missing_ok=True)
    chosen = {part: list(files.get(part, ())) for part in PARTS}
    options: dict[str, Any] = {}
    if plan is not None:
        chosen["train"] = [kept.file for kept in plan.kept]
        options = {
            "usable": [kept.frames_of for kept in plan.kept],
            "strong": [kept.strong for kept in plan.kept],
            "plan": plan.fingerprint,
        }
    for part in PARTS:
        if not chosen[part]:
            shutil.rmtree(folder / part, ignore_errors=True)
            continue
        say(f"{part}: decoding {len(chosen[part]):,} clips (those of an earlier run are kept)")
        cache_clips(chosen[part], folder / part, config, say=say, **(options if part == "train" else {}))
    removed = [
        Removed(one.file.path.name, one.file.label, one.reason, one.detail)
        for one in (plan.removed if plan is not None else ())
    ]
    content = {
        "kind": KIND,
        "name": name,
        "protocol": protocol,
        "labels": list(labels),
        "parts": [part for part in PARTS if chosen[part]],
        "removed": removed,
        "notes": list(notes),
        "is_generated": is_generated,
        "source": source,
    }
    write_json(folder / CARD, content)
    return open_corpus(folder, verify=False)


def open_corpus(folder: str | Path, *, verify: bool = True) -> SignCorpus:
    """What `store_corpus` wrote.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged.
    """
    folder = Path(folder)
    told = read_json(folder / CARD, needs=_NEEDS)
    if told["kind"] != KIND:
        raise ValueError(f"{folder / CARD} is {told['kind']!r}, not {KIND!r}; prepare the clips again")
    parts = {part: CachedClips(folder / part, verify=verify) for part in PARTS if part in told["parts"]}
    return SignCorpus(
        name=told["name"],
        protocol=told["protocol"],
        labels=tuple(told["labels"]),
        train=parts.get("train"),
        dev=parts.get("dev"),
        test=parts.get("test"),
        removed=tuple(Removed(*row) for row in told["removed"]),
        notes=tuple(told["notes"]),
        is_generated=told["is_generated"],
        source=told["source"],
    )
