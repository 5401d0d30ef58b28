"""A toy language pair, corpora of it in the files' own form, and a model that learns it in seconds."""

import dataclasses
import os
import random
from functools import cache, cached_property
from importlib import import_module
from itertools import product
from pathlib import Path

import torch
import tyro

from coursepkg.command_table import COMMANDS
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.models import Subwords
from coursepkg.projects.translation.phrasebook.interlinear import Word
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.synthetic import Phrasebook, Triple
from coursepkg.projects.translation.train import Trained, train
from tests.said import Said, said

PEOPLE = (
    ("我", "Tôi", "I"),
    ("你们", "Các_bạn", "You"),
    ("他", "Anh_ấy", "He"),
    ("老师", "Giáo_viên", "The teacher"),
)
VERBS = (("买了", "đã mua", "bought"), ("看见", "nhìn thấy", "saw"), ("喜欢", "thích", "liked"))
NUMBERS = (("两", "hai", "two"), ("三", "ba", "three"), ("五", "năm", "five"), ("九", "chín", "nine"))
THINGS = (
    ("本 书", "quyển sách", "books"),
    ("只 猫", "con mèo", "cats"),
    ("张 桌子", "cái bàn", "tables"),
    ("部 电话", "chiếc điện_thoại", "telephones"),
    ("个 苹果", "quả táo", "apples"),
    ("辆 自行车", "chiếc xe_đạp", "bicycles"),
)
COLUMN = {"zh": 0, "vi": 1, "en": 2}

RECIPE = dataclasses.replace(
    PRESETS["tiny"],
    vocab_size=170,
    underscores="keep",
    max_len=24,
    d_model=32,
    d_ff=64,
    batch_tokens=1024,
    learning_rate=1e-2,
    warmup=20,
    reverse=0.5,
    ema=0.9,
    max_epochs=12,
    max_seconds=3000.0,  # a busy machine trains for as many steps as an idle one
    patience=12,
)
"""Learns the toy languages, both ways, in seconds on one thread."""

FAST: dict[str, int | float] = {
    "d_model": 16,
    "d_ff": 32,
    "n_heads": 2,
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "max_epochs": 2,
}
"""For tests of what surrounds the training: nothing is learnt."""


def recipe(**changes: object) -> Recipe:
    return dataclasses.replace(RECIPE, **changes)


def fast(**changes: object) -> Recipe:
    return dataclasses.replace(RECIPE, **(FAST | changes))


@cache
def sentences() -> tuple[tuple[str, str, str], ...]:
    """All sentences (zh, vi, en), each word and each whole sentence known in three languages, in a fixed order."""
    rows = []
    for parts in product(PEOPLE, VERBS, NUMBERS, THINGS):
        zh, vi, en = (" ".join(words) for words in zip(*parts, strict=True))
        rows.append((f"{zh} 。", f"{vi} .", f"{en}."))
    random.Random(0).shuffle(rows)
    return tuple(rows)


class SmallBook(Phrasebook):
    """The toy sentences as a phrasebook, which is split as the real one is."""

    @cached_property
    def triples(self) -> tuple[Triple, ...]:
        found = []
        for zh, vi, en in sentences():
            words = tuple(tuple(map(Word, line.split())) for line in (zh, en, vi))
            found.append(Triple("toy", "see", (vi.split()[0], vi.split()[-2]), words))
        return tuple(found)


def pairs(source: str, target: str, first: int = 0, last: int | None = None) -> tuple[SentencePair, ...]:
    rows = enumerate(sentences()[first:last], start=first + 1)
    return tuple(SentencePair(r[COLUMN[source]], r[COLUMN[target]], f"toy.{source}", i) for i, r in rows)


def toy_parts(source: str = "zh", target: str = "vi") -> Parts:
    """240 sentences to train on, 8 and 40 others to choose by and to test on."""
    cuts = ((0, 240), (240, 248), (248, 288))
    train_, dev, test = (pairs(source, target, *cut) for cut in cuts)
    return Parts("toy", source, target, train_, dev, test, ("made up for the tests",))


def write_lines(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def write_zh_vi(folder: Path, n: int = 240, repeated: int = 10) -> Path:
    """A data folder with `zh_vi` in the contest's form: the first sentences, and some of them again."""
    rows = [*sentences()[:n], *sentences()[:repeated]]
    for column, language in enumerate(("zh", "vi")):
        write_lines(folder / "zh_vi" / f"train.{language}", [row[column] for row in rows])
    return folder


def quietly(chosen: Recipe, out: Path, parts: Parts | None = None, **options: object) -> Trained:
    """`train` without a word."""
    settings = {"log": lambda line: None, "progress": False} | options
    return train(chosen, toy_parts() if parts is None else parts, out, **settings)


@cache
def subwords() -> Subwords:
    """A joint vocabulary of the toy languages."""
    return Subwords.train([(("zh", "vi"), toy_parts().train)], RECIPE)


def translation(*arguments: object) -> Said:
    """`coursepkg translation ...` in this process."""
    return said("translation", *arguments)


def weights(trained: Trained) -> dict[str, torch.Tensor]:
    return trained.model.state_dict()


def environment(data: Path) -> dict[str, str]:
    return os.environ | {"COURSEPKG_DATA": str(data), "OMP_NUM_THREADS": "1"}


def run_command(verb: str, *arguments: str) -> int:
    """Parse and run a command of translation, its errors raised."""
    command = COMMANDS["translation"].verbs[verb]  # type: ignore[union-attr]
    options, handler = (
        getattr(import_module(module), name)
        for module, name in (place.split(":") for place in (command.options, command.handler))
    )
    return int(handler(tyro.cli(options, args=list(arguments))))


def adds_bytes_whole() -> bool:
    """Whether products of int8 are added without saturation: on x86 by VNNI alone, by others always."""
    facts = Path("/proc/cpuinfo")
    text = facts.read_text(encoding="utf-8") if facts.is_file() else ""
    return "flags" not in text or "vnni" in text
