"""File prediction: stopped anywhere and started again it gives the same bytes; bad lines are named before a byte is."""

import csv
import json
import os
import unicodedata
from pathlib import Path

import pytest

from coursepkg.projects.translation.handlers import predict as predict_command
from coursepkg.projects.translation.handlers.predict import CONTEST_HEADER, translate_file
from coursepkg.projects.translation.predict import Alternative, Translation, Translator
from tests.projects.translation.tiny import sentences, translation, write_lines

N_LINES = 11
CHUNK = 4
ZH_VI = {"source": "zh", "target": "vi"}


class Stopped(Exception):
    """What stands for a kill between two chunks."""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict_command, "CHUNK", CHUNK)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "in.zh", [row[0] for row in sentences()[:N_LINES]])


def run(translator: Translator, path: Path, out: Path, stop_at: int | None = None, **options: object) -> int:
    def report(n_lines: int) -> None:
        if n_lines == stop_at:
            raise Stopped

    return translate_file(translator, path, out, report=report, **(ZH_VI | {"beam_size": 2} | options))


def stop(translator: Translator, source: Path, out: Path, at: int = CHUNK, **options: object) -> Path:
    with pytest.raises(Stopped):
        run(translator, source, out, at, **options)
    assert not out.exists()
    return out.with_name(f"{out.name}.part")


def only_file(out: Path) -> bool:
    return [path.name for path in out.parent.glob(f"{out.name}*")] == [out.name]


@pytest.mark.parametrize("form", ["reader", "corpus"])
def test_a_line_for_each_line(translator: Translator, source: Path, tmp_path: Path, form: str) -> None:
    assert run(translator, source, tmp_path / "out", form=form) == 0
    texts = source.read_text("utf-8").splitlines()
    found = translator.translate(texts, **ZH_VI, beam_size=2)
    wanted = [one.text if form == "reader" else one.n_best[0].line for one in found]
    assert (tmp_path / "out").read_text("utf-8").splitlines() == wanted
    assert only_file(tmp_path / "out")


def test_the_contest_file_is_csv_that_a_spreadsheet_opens(translator: Translator, tmp_path: Path) -> None:
    lines = ["我 看见 三 只 猫 。", '我 , " 猫 "']
    source = write_lines(tmp_path / "in.zh", lines)
    run(translator, source, tmp_path / "out.csv", form="contest")
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbftieng_trung,tieng_viet\n")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == CONTEST_HEADER
    assert [row[0] for row in rows] == lines
    assert rows[0][1] == "Tôi nhìn thấy ba con mèo ."


@pytest.mark.parametrize("form", ["reader", "contest"])
@pytest.mark.parametrize("at", [CHUNK, 2 * CHUNK, N_LINES])
def test_stopped_and_resumed_equals_never_stopped(
    translator: Translator, source: Path, tmp_path: Path, form: str, at: int
) -> None:
    run(translator, source, tmp_path / "whole", form=form)
    part = stop(translator, source, tmp_path / "out", at, form=form)
    assert part.is_file()
    assert run(translator, source, tmp_path / "out", form=form) == at
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert only_file(tmp_path / "out")


@pytest.mark.parametrize("form", ["reader", "contest"])
@pytest.mark.parametrize("n_bytes", [1, 7, 40, 10_000])
def test_a_half_written_line_is_cut_off(
    translator: Translator, source: Path, tmp_path: Path, form: str, n_bytes: int
) -> None:
    run(translator, source, tmp_path / "whole", form=form)
    part = stop(translator, source, tmp_path / "out", form=form)
    written = part.read_bytes()
    part.write_bytes(written[: max(0, len(written) - n_bytes)])
    done = run(translator, source, tmp_path / "out", form=form)
    assert done == (0 if n_bytes == 10_000 else CHUNK - 2 if n_bytes == 40 and form == "reader" else done)
    assert done < CHUNK
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_part_of_another_command_is_refused_and_kept(
    translator: Translator, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    part = stop(translator, source, out)
    before = part.read_bytes()
    others = {
        "beam_size": {"beam_size": 3},
        "form": {"form": "corpus"},
        "model": {"identity": {"model": "x"}},
    }
    for name, options in others.items():
        with pytest.raises(
            ValueError, match=rf"out\.part belongs to another command \(it differs in {name}\)"
        ):
            run(translator, source, out, **options)
    changed = write_lines(tmp_path / "other.zh", source.read_text("utf-8").splitlines()[::-1])
    with pytest.raises(ValueError, match=r"differs in input\); remove it or choose another --out"):
        run(translator, changed, out)
    assert part.read_bytes() == before
    part.with_name("out.part.json").unlink()
    with pytest.raises(ValueError, match="belongs to another command"):
        run(translator, source, out)
    assert not out.exists()


def test_what_is_there_already_is_not_overwritten(
    translator: Translator, source: Path, tmp_path: Path
) -> None:
    out = write_lines(tmp_path / "out", ["mine"])
    with pytest.raises(ValueError, match="out already exists; remove it or choose another --out"):
        run(translator, source, out)
    assert out.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("猫 " * 60_000, r"in\.zh, line 10: 120,000 characters, at most 100,000 .* split it into sentences"),
        ("\udcff", r"in\.zh, line 10: not UTF-8"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_written(
    translator: Translator, source: Path, tmp_path: Path, line: str, message: str
) -> None:
    lines = source.read_text("utf-8").splitlines()
    lines[9] = line
    source.write_bytes("".join(text + "\n" for text in lines).encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message) as caught:
        run(translator, source, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in.zh"]


def test_a_long_line_is_translated_in_parts_and_noted(
    translator: Translator, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = source.read_text("utf-8").splitlines()
    lines[9] = "三五" * 40
    write_lines(source, lines)
    run(translator, source, tmp_path / "out")
    assert len((tmp_path / "out").read_text("utf-8").splitlines()) == len(lines)
    (note,) = capsys.readouterr().err.splitlines()
    assert note.startswith(f"note: {source}, line 10: longer than the 23 tokens")


def test_a_kind_of_note_names_each_line_once_whatever_its_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = predict_command._FileNotes(tmp_path / "in")
    parts = "longer than the 9 tokens that the model takes, so translated in {} parts"
    for number, note in enumerate(
        (
            f"{parts.format(2)}; not copied: 1; not copied: 7",
            f"{parts.format(30)}; does not look like Vietnamese: 43% of its letters are",
            "does not look like Vietnamese: no letter has a mark; tags that lost their text: <b>",
            "tags that lost their text: <i>",
        ),
        start=1,
    ):
        chosen = (Alternative("a", "a", (), 1.0, 0.0),)
        notes.add(number, Translation("a", (), chosen, None, note))
    notes.tell(4)
    head = f"note: {tmp_path / 'in'}"
    assert capsys.readouterr().err.splitlines() == [
        f"{head}: 2 of 4 lines (1, 2): {parts.format(0).replace('0 parts', 'parts')}",
        f"{head}: 2 of 4 lines (2, 3): does not look like Vietnamese",
        f"{head}: 2 of 4 lines (3, 4): tags that lost their text",
        f"{head}, line 1: not copied: some number or code",
    ]


def test_an_empty_line_stays_empty_and_is_noted(
    translator: Translator, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = source.read_text("utf-8").splitlines()
    run(translator, source, tmp_path / "whole")
    whole = (tmp_path / "whole").read_text("utf-8").splitlines()
    write_lines(source, [*lines[:9], "  ", *lines[9:]])
    run(translator, source, tmp_path / "out")
    assert (tmp_path / "out").read_text("utf-8").splitlines() == [*whole[:9], "", *whole[9:]]
    assert capsys.readouterr().err == f"note: {source}, line 10: empty, and stay so\n"


def test_why_there_is_no_alignment_is_told(tiny_run: Path) -> None:
    said = translation("predict", "--model", tiny_run, "--text", "!!!", "--alignments")
    assert said.out.splitlines()[-1] == "(nothing was translated, so nothing has an alignment)"


def test_a_text_in_parts_has_an_alignment(tiny_run: Path) -> None:
    said = translation("predict", "--model", tiny_run, "--text", "我。" * 40, "--alignments")
    looked_at = [line.split(" <- ")[1].split()[0] for line in said.out.splitlines() if " <- " in line]
    assert len(looked_at) >= 40


def test_pipes_devices_and_folders_are_no_files_to_translate(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        told = translation("predict", "--file", path, "--out", tmp_path / "out")
        assert "name a file" in told.mistake
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


def test_empty_and_missing_files_and_wrong_directions_are_named(
    translator: Translator, source: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"empty\.zh: empty; a file to translate has at least one line"):
        run(translator, write_lines(tmp_path / "empty.zh", []), tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        run(translator, tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(ValueError, match="does not translate English"):
        run(translator, source, tmp_path / "out", source="en")
    assert not list(tmp_path.glob("out*"))


def test_text_that_is_not_composed_is_translated_as_if_it_were(
    translator: Translator, tmp_path: Path
) -> None:
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, "Các bạn nhìn thấy ba con mèo.")
        run(
            translator,
            write_lines(tmp_path / form, [text]),
            tmp_path / f"{form}.out",
            source="vi",
            target="zh",
        )
    assert (tmp_path / "NFC.out").read_bytes() == (tmp_path / "NFD.out").read_bytes()


def test_no_more_than_a_chunk_is_read_ahead(
    translator: Translator, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, ahead = 0, []
    plain = predict_command.numbered_lines

    def counted(path):
        nonlocal read
        read = 0
        for numbered in plain(path):
            read += 1
            yield numbered

    def report(n_lines: int) -> None:
        ahead.append(read - n_lines)

    monkeypatch.setattr(predict_command, "numbered_lines", counted)
    translate_file(translator, source, tmp_path / "out", report=report, beam_size=1, **ZH_VI)
    assert read == N_LINES
    assert ahead == [0, 0, 0]


def test_the_card_says_what_the_part_is_of(translator: Translator, source: Path, tmp_path: Path) -> None:
    stop(translator, source, tmp_path / "out", identity={"model": "abc"})
    card = json.loads((tmp_path / "out.part.json").read_text("utf-8"))
    assert (card["from"], card["to"], card["form"], card["model"]) == ("zh", "vi", "reader", "abc")
    assert len(card["input"]) == 64
