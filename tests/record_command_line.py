"""What the command line says: its help option by option, and a transcript of short commands.

`python -m tests.record_command_line` records both anew in `tests/recorded/`; look at what changed before you keep it.
`python -m tests.record_command_line help` or `transcript` records one of them.
"""

import contextlib
import io
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from coursepkg import __version__
from coursepkg.cli import COMMANDS, Group, main
from coursepkg.projects.translation.predict import PHRASEBOOK

RECORDED = Path(__file__).parent / "recorded"
HELP = RECORDED / "help.txt"
TRANSCRIPT = RECORDED / "transcript.txt"
INPUTS = RECORDED / "inputs"
ROOT = Path(__file__).resolve().parents[1]

COLUMNS = "129"
"""Width of the terminal: the widest at which tyro still writes all options below one another."""


class Ran(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


def run(arguments: list[str], encoding: str | None = "utf-8") -> Ran:
    """`coursepkg ...` in this process, in a terminal of fixed width that writes this encoding."""
    # Where the output has no encoding, tyro draws its boxes in ASCII, which is easier to read back.
    out = io.StringIO() if encoding is None else io.TextIOWrapper(io.BytesIO(), encoding, newline="")
    err = io.StringIO()
    with (
        patch.dict(os.environ, {"COLUMNS": COLUMNS}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(arguments)
    out.seek(0)
    err.seek(0)
    return Ran(code, out.read(), err.read())


# Help.


class Line(NamedTuple):
    """An option of a command with all that its help says of it, or another line of the help, which is a name alone."""

    name: str
    """`--beam-size`, in all of its spellings, or that of a positional argument."""
    metavar: str = ""
    default: str = ""
    text: str = ""

    def __str__(self) -> str:
        return " | ".join(self) if any(self[1:]) else self.name

    @classmethod
    def read(cls, line: str) -> "Line":
        """The inverse of `str`."""
        return cls(*line.split(" | ", 3))


Help = dict[str, Line]
"""The lines of a help text by name, in their order; then what each preset changes in them."""


def commands() -> list[str]:
    """Every command that has a help: "", "ocr", "ocr predict" and so on."""
    names = [""]
    for name, command in COMMANDS.items():
        names.append(name)
        if isinstance(command, Group):
            names += [f"{name} {verb}" for verb in command.verbs]
    return names


def help_of(command: str) -> Help:
    """What `coursepkg COMMAND --help` says, and which defaults each preset changes."""
    plain = read_help(run([*command.split(), "--help"], None))
    found = dict(plain)
    choices = plain["--preset"].metavar if "--preset" in plain else ""
    for preset in re.findall(r"[\w-]+", choices.replace("None", "")):
        other = read_help(run([*command.split(), "--preset", preset, "--help"], None))
        for name in dict.fromkeys([*plain, *other]):
            before, after = plain.get(name), other.get(name)
            if before != after:
                key = f"--preset {preset}: {name}"
                found[key] = Line(key, "", after.default or after.text if after else "gone")
    return found


def read_help(said: Ran) -> Help:
    """The lines of a help text, each option put together again."""
    assert (said.code, said.err) == (0, ""), said
    rows: list[Line] = []
    title = ""
    for line in said.out.splitlines():
        text = line.strip()
        if not text or re.fullmatch("-+", text):
            continue
        if re.match(r" \w", line):
            title = text
            rows.append(Line(f"[{title}]"))
        elif title and begins_option(line, title):
            rows.append(read_option(text))
        elif title and rows[-1].text:
            # The rest of a text that was wrapped.
            rows[-1] = read_option(f"{call_of(rows[-1])}  {whole_text(rows[-1])} {text}")
        elif title and line.startswith("    ") and not rows[-1].name.startswith("["):
            # An option whose name leaves no room for its text in the same line.
            rows[-1] = read_option(f"{call_of(rows[-1])}  {text}")
        elif title and rows[-1].metavar:
            # The rest of a long list of choices.
            rows[-1] = rows[-1]._replace(metavar=f"{rows[-1].metavar} {text}")
        elif title and not rows[-1].name.startswith("["):
            rows[-1] = Line(f"{rows[-1].name} {text}")
        else:
            rows.append(Line(text))
    if title:
        # What a command is for, however its lines are broken.
        first = next(i for i, row in enumerate(rows) if row.name.startswith("["))
        rows[1:first] = [Line(" ".join(row.name for row in rows[1:first]))]
    return {row.name: row for row in rows}


def begins_option(line: str, title: str) -> bool:
    """Whether an option begins in this line of a box; a positional argument is written in capitals."""
    return bool(re.match(r"  [A-Z][A-Z|.]+( |$)" if title == "positional arguments" else r"  -", line))


def read_option(row: str) -> Line:
    """An option from `--name, -n METAVAR  Text. (default: 1)`."""
    call, _, text = row.partition("  ")
    names = re.match(r"-[\w-]+(, -[\w-]+)*|\S+", call)
    assert names, row
    text = " ".join(text.split())
    default = re.search(r" ?\((default: .*|required)\)$", text)
    kept = text[: default.start()] if default else text
    return Line(names[0], call[names.end() :].strip(), default[1] if default else "", kept)


def call_of(option: Line) -> str:
    return f"{option.name} {option.metavar}".strip()


def whole_text(option: Line) -> str:
    return f"{option.text} ({option.default})" if option.default else option.text


def write_help() -> None:
    """Record the help of every command."""
    rows = []
    for command in commands():
        rows.append(f"# coursepkg {command}".rstrip())
        rows += map(str, help_of(command).values())
    HELP.write_text("\n".join(rows) + "\n", "utf-8")


def recorded_help() -> dict[str, Help]:
    """The recorded help of each command."""
    found: dict[str, Help] = {}
    for row in HELP.read_text("utf-8").splitlines():
        if row.startswith("# coursepkg"):
            current = found[row.removeprefix("# coursepkg").strip()] = {}
        else:
            line = Line.read(row)
            current[line.name] = line
    return found


def changes(recorded: Help, now: Help) -> list[str]:
    """What differs, one line for each option and field."""
    lines = [f"gone: {recorded[name]}" for name in recorded if name not in now]
    lines += [f"new: {now[name]}" for name in now if name not in recorded]
    common = [name for name in recorded if name in now]
    for name in common:
        for field, before, after in zip(Line._fields, recorded[name], now[name], strict=True):
            if before != after:
                lines.append(f"{name}: its {field} was {before!r} and is {after!r}")
    if common != [name for name in now if name in recorded]:
        lines.append("the options have another order")
    return lines


# The transcript.

QUICK = "--max-epochs 1 --threads 1 --d-model 16 --n-heads 2"
QUICK_TRANSLATION = (
    f"{QUICK} --d-ff 32 --n-kv-heads 1 --n-encoder-layers 1 --n-decoder-layers 1 --vocab-size 120"
    " --underscores keep"
)
QUICK_OCR = f"{QUICK} --channels 4 6 8 8 --n-blocks 0 1 0 1 --d-ff 24 --batch-columns 1024 --warmup 2"
QUICK_SIGNS = (
    f"{QUICK} --size 16 --n-frames 6 --channels 4 6 --n-blocks 0 1 --d-ff 12 --n-layers 1 --n-convolutions 0"
    " --batch-clips 4 --warmup 2 --warp 0 --crop 1 --colour 0 --rotation 0"
)
"""Sizes that train in a second and learn nothing."""

SESSION = [
    "--version",
    "attenton",
    "ocr red",
    "bench speed",
    "bench attention --threads 0",
    "bench attention --out nowhere/at/all.json",
    "data list",
    "data list --json",
    "data fetch wikipedia",
    # Translation.
    "translation describe --data zh-vi",
    "translation describe --data zh-vi --preset report --json",
    "translation audit --data zh-vi",
    "translation audit --data zh-vi --random-split",
    "translation describe --data wmt",
    "translation describe --from vi --to vi",
    "translation predict --model phrasebook --text 酒店在哪里？ 这本书多少钱？",
    "translation predict --model phrasebook --text 酒店在哪里？ --n-best 3 --alignments --json",
    "translation predict --model phrasebook --from en --to vi --text 'Where is the hotel?' --beam-size 1",
    "translation predict --model phrasebook --from vi --to zh --text 'Khách sạn ở đâu?'",
    "translation predict --model phrasebook --file sentences.zh --out sentences.vi",
    "translation predict --model phrasebook --file sentences.zh --out sentences.vi --json",
    "translation predict --model phrasebook --file gap.zh --out gap.vi",
    "translation predict --file latin.zh --out latin.vi",
    "translation predict --file nowhere.zh --out nowhere.vi",
    "translation predict --file sentences.zh",
    "translation predict",
    "translation predict --text 我 --from fr",
    "translation predict --text 我 --beam-size 0",
    "translation predict --text 我 --beam-siz 2",
    "translation predict --text 我 --model empty",
    "translation predict --text 我 --model nowhere",
    "translation predict --text 我 --model damaged",
    "translation predict --text '' ' '",
    f"translation train --data zh-vi --out zh-vi-run {QUICK_TRANSLATION}",
    f"translation train --data zh-vi --out zh-vi-run {QUICK_TRANSLATION}",
    f"translation train --data zh-vi --out zh-vi-run --resume {QUICK_TRANSLATION}",
    "translation train --data zh-vi --out other --d-model 10 --n-heads 3",
    "translation evaluate --data zh-vi --model zh-vi-run --limit 2 --hypotheses given.vi",
    "translation export --model zh-vi-run",
    "translation ladder --rows nothing",
    "translation ladder --list",
    "translation t5-predict --model empty --text a",
    "translation t5-predict --model empty",
    "translation t5-train --out other --from vi --to vi",
    "translation predict --from en --to zh --text Hello",
    "translation predict --text 你好 --model zh-vi-run --neighbours",
    "translation predict --text 你好 --ensemble empty",
    "translation dictionary --data zh-vi --out dictionary.tsv",
    "translation back-translate --data zh-vi --out nowhere/made",
    "translation back-translate --data zh-vi --out made --limit -1",
    "translation round-trip --data zh-vi --model zh-vi-run --out nowhere/made",
    "translation lm-train --data zh-vi --model empty --out lm",
    "translation rerank --data zh-vi --model empty",
    "translation neighbours --data zh-vi --model zh-vi-run --limit -1",
    "translation decode-study --data zh-vi --model empty",
    "translation search --data zh-vi --trials 0 --out tried",
    # Receipts.
    "ocr describe --data labelled",
    "ocr audit --data labelled",
    "ocr audit --data labelled --split line",
    "ocr describe --data nowhere",
    "ocr predict lines --lines",
    "ocr predict lines/0.png --lines --reader ctc --json",
    "ocr predict lines/0.png lines/1.png --lines --out read.json",
    "ocr predict receipt.jpg",
    "ocr predict broken.png --lines",
    "ocr predict nowhere.png",
    "ocr predict sentences.zh",
    "ocr predict",
    "ocr predict lines/0.png --lines --model empty",
    "ocr predict lines/0.png --lines --model damaged",
    "ocr predict lines/0.png --lines --reader eyes",
    f"ocr train --data labelled --out ocr-run {QUICK_OCR}",
    "ocr predict lines/0.png --lines --model zh-vi-run",
    "ocr evaluate --data labelled --limit 3",
    "ocr export --model ocr-run",
    "ocr pack --data labelled",
    "ocr train --data labelled --out other --dropout 2",
    # Signs.
    "sign-language describe --data signing",
    "sign-language audit --data signing",
    "sign-language survey --data signing",
    "sign-language describe --data nowhere",
    "sign-language predict clips",
    "sign-language predict clips/0.mp4 --json",
    "sign-language predict clips/0.mp4 broken.mp4 --out signs.json",
    "sign-language predict clips/0.mp4 --stream",
    "sign-language predict nowhere.mp4",
    "sign-language predict",
    "sign-language predict clips/0.mp4 --model empty",
    "sign-language predict clips/0.mp4 --model damaged",
    "sign-language predict clips/0.mp4 --model ocr-run",
    f"sign-language train --data signing --out signs-run {QUICK_SIGNS}",
    "sign-language evaluate --data signing --model signs-run",
    "sign-language export --model signs-run",
    "sign-language prepare --data signing --out prepared",
    "sign-language train --data signing --out other --n-frames 0",
    "sign-language ladder --rows nothing",
    "sign-language ladder --list",
]
"""The commands, in their order; they share one folder, so that later ones find what earlier ones wrote."""


WORDS = (
    ("我/Tôi", "你们/Các_bạn", "老师/Giáo_viên"),
    ("买了/đã mua", "看见/nhìn thấy", "喜欢/thích"),
    ("两/hai", "三/ba", "五/năm", "九/chín"),
    ("本 书/quyển sách", "只 猫/con mèo", "张 桌子/cái bàn", "个 苹果/quả táo"),
)
LABELS = ("phở bò tái", "45.000", "Tổng cộng")


def prepare(folder: Path) -> None:
    """Write the files that the commands of the session read."""
    rows = list(product(*WORDS))
    for column, language in enumerate(("zh", "vi")):
        text = [" ".join(word.split("/")[column] for word in row) for row in rows]
        write(
            folder / "data" / "zh_vi" / f"train.{language}",
            "".join(f"{line} {'。.'[column]}\n" for line in text),
        )
    # Of the two models that ship the one that stays as it is.
    shutil.copytree(PHRASEBOOK, folder / "phrasebook")
    write(folder / "sentences.zh", "酒店在哪里？\n我想要两杯咖啡。\n")
    write(folder / "gap.zh", "酒店在哪里？\n\n我想要两杯咖啡。\n")
    write(folder / "given.vi", "Tôi thích hai con mèo .\nTôi đã mua quyển sách .\n")
    (folder / "latin.zh").write_bytes("Café\n".encode("latin-1"))
    (folder / "broken.png").write_bytes(b"no picture")
    (folder / "broken.mp4").write_bytes(b"no video")
    (folder / "empty").mkdir()
    write(folder / "damaged" / "recipe.json", "{")
    write(folder / "damaged" / "model" / "model.safetensors", "no weights")
    shutil.copytree(INPUTS / "lines", folder / "lines")
    shutil.copytree(INPUTS / "clips", folder / "clips")
    shutil.copy(INPUTS / "receipt.jpg", folder)
    lines, clips = (sorted((INPUTS / name).iterdir()) for name in ("lines", "clips"))
    labels = ""
    for number in range(24):
        name = f"document{number % 8}/{number:02}.png"
        (folder / "labelled" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(lines[number % len(lines)], folder / "labelled" / name)
        labels += f"{name}\t{LABELS[number % len(lines)]}\n"
    write(folder / "labelled" / "labels.tsv", labels)
    table = "path,label,signer\n"
    for number, clip in enumerate(clips):
        name = f"train/{('ăn', 'uống')[number % 2]}/{number}.mp4"
        (folder / "signing" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clip, folder / "signing" / name)
        table += f"{name},{('ăn', 'uống')[number % 2]},{'ABC'[number // 2 % 3]}\n"
    write(folder / "signing" / "manifest.csv", table)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def session(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command of the session with what came of it, run one after another in this folder."""
    prepare(folder)
    environment = {"COURSEPKG_DATA": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
    with contextlib.chdir(folder), patch.dict(os.environ, environment):
        for command in SESSION:
            before = files(folder)
            ran = run(shlex.split(command))
            has_learnt = " train " in command or "signs-run" in command
            rows = [f"exit {ran.code}"]
            for sign, text in ((">", ran.out), ("!", ran.err)):
                rows += [f"{sign} {row}" for row in normalised(text, folder, has_learnt=has_learnt)]
            for name in sorted(files(folder) - before):
                rows.append("+ " + re.sub(r"-[0-9a-f]{16}(?=\.)", "-HASH", name))
                if "/" not in name:
                    rows += [f"| {row}" for row in normalised((folder / name).read_text("utf-8"), folder)]
            yield command, rows


def files(folder: Path) -> set[str]:
    """What lies in the folder, without its cache."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if not name.startswith("cache/")}


PROGRESS = re.compile(r"\d+(step|it|%|/\d+)? ?\[\d\d:\d\d|step/s|it/s")
CHOICES = re.compile(r"(?<=Expected one of \()[^)]*")
SCORE = re.compile(r"^(  with these|right word|tail:|signers, |taken for|mean of|macro CER|errors:)|(?<= = )")
NUMBER = re.compile(r"-?\d+\.\d+")
STILL_FRAMES = re.compile(r"broken frames|: \d+ left out$|, \d+ frozen$")
"""Rows on frames that hardly differ from the one before: a processor's last digits decide on some."""
COLUMN_GAP = re.compile(r"(?<=\S) {3,}")


def normalised(text: str, folder: Path, *, has_learnt: bool = False) -> list[str]:
    """The lines of a text without progress bars, and without what differs from machine to machine.

    Of a model that has just learnt, and next to nothing, the scores go: their last digits decide what it says.
    """
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT").replace(__version__, "VERSION")
    # The choices stand in the order of a set, which differs from process to process.
    text = CHOICES.sub(lambda found: ", ".join(sorted(found[0].split(", "))), text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not PROGRESS.search(line) and not STILL_FRAMES.search(line)]
    for i, line in enumerate(lines if has_learnt else []):
        score = SCORE.search(line)
        if score:
            lines[i] = line[: score.end()] + " ..."
    return lines


def recorded_transcript() -> dict[str, list[str]]:
    """What came of each command when it was recorded; a command that is given again has a number."""
    found: dict[str, list[str]] = {}
    for part in TRANSCRIPT.read_text("utf-8").removeprefix("$ ").split("\n\n$ "):
        command, *rows = part.rstrip("\n").split("\n")
        found[numbered(command, found)] = rows
    return found


def numbered(command: str, found: dict[str, list[str]]) -> str:
    again = sum(name.partition(" #")[0] == command for name in found)
    return f"{command} #{again + 1}" if again else command


def is_alike(recorded: str, now: str) -> bool:
    """Whether two lines say the same; numbers with a point may differ a little, since processors do.

    How wide a column is depends on its rows, those of still frames among them.
    """
    recorded, now = COLUMN_GAP.sub("  ", recorded), COLUMN_GAP.sub("  ", now)
    if NUMBER.sub("#", recorded) != NUMBER.sub("#", now):
        return False
    pairs = zip(NUMBER.findall(recorded), NUMBER.findall(now), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=0.01, abs_tol=0.005) for a, b in pairs)


def write_transcript() -> None:
    """Record what comes of every command of the session."""
    with tempfile.TemporaryDirectory() as folder:
        parts = [
            "\n".join([f"$ coursepkg {command}", *rows]) for command, rows in session(Path(folder).resolve())
        ]
    TRANSCRIPT.write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["help", "transcript"]
    if "help" in chosen:
        write_help()
    if "transcript" in chosen:
        write_transcript()
