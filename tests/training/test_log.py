"""The CSV log: whole rows, cut back to a step, read as it was written."""

from pathlib import Path

import pytest

from coursepkg.training.log import CsvLog, read_log


def rows(n: int) -> list[dict[str, int | float]]:
    return [{"step": i, "epoch": 0, "loss": 1 / (i + 2), "grad_norm": 1e-9 * i} for i in range(1, n + 1)]


@pytest.fixture
def log(tmp_path: Path) -> CsvLog:
    log = CsvLog(tmp_path / "log.csv")
    for row in rows(4):
        log.add(row)
    return log


def test_rows_are_read_back_bit_by_bit(log: CsvLog) -> None:
    assert read_log(log.path) == rows(4) == log.rows
    assert type(read_log(log.path)[0]["step"]) is int


@pytest.mark.parametrize("step", range(5))
def test_cut_back_forgets_what_came_later_and_what_was_cut_short(log: CsvLog, step: int) -> None:
    with log.path.open("a") as file:
        file.write("5,0,0.1")
    again = CsvLog(log.path)
    again.cut_back(step)
    assert again.rows == rows(step)
    for row in rows(4)[step:]:
        again.add(row)
    assert read_log(log.path) == rows(4)
    assert [path.name for path in log.path.parent.iterdir()] == ["log.csv"]


def test_without_a_path_rows_are_kept_in_memory() -> None:
    log = CsvLog(None)
    log.add(rows(1)[0])
    log.sync()
    assert log.rows == rows(1)


def test_a_row_with_other_columns_is_refused(log: CsvLog) -> None:
    with pytest.raises(
        ValueError, match="must have the columns step, epoch, loss, grad_norm, got step, bleu"
    ):
        log.add({"step": 5, "bleu": 1.0})


@pytest.mark.parametrize(
    "text", ["step,loss\n1,2,3\n", "step,loss\n1,x\n", "loss,rate\n1\n", "loss,rate\n1,2\n"]
)
def test_what_is_no_log_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"other.csv must be a log written by fit"):
        read_log(path)
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none.csv")
