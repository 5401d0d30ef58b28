"""The command line says what it said when it was recorded: every option of every help, and a session of commands.

Where a change is meant, `python -m tests.record_command_line` records anew; look at the difference that git shows.
"""

from pathlib import Path

import pytest

from tests.record_command_line import (
    changes,
    commands,
    help_of,
    is_alike,
    numbered,
    recorded_help,
    recorded_transcript,
    session,
)

HELP = recorded_help()


def test_the_commands_are_those_recorded() -> None:
    assert commands() == list(HELP)


@pytest.mark.parametrize("command", list(HELP))
def test_every_option_is_as_recorded(command: str) -> None:
    assert changes(HELP[command], help_of(command)) == []


def test_a_change_of_an_option_is_named() -> None:
    recorded = HELP["ocr predict"]
    now = dict(recorded)
    now["--lines"] = recorded["--lines"]._replace(default="default: True")
    del now["--text"]
    assert [line[:30] for line in changes(recorded, now)] == [
        "gone: --text | FILE | default:",
        "--lines: its default was 'defa",
    ]
    assert changes(recorded, dict(reversed(recorded.items()))) == ["the options have another order"]


def test_the_session_goes_as_recorded(tmp_path: Path) -> None:
    for package in ("av", "rapidocr", "transformers"):
        pytest.importorskip(package)
    recorded = recorded_transcript()
    now: dict[str, list[str]] = {}
    for command, rows in session(tmp_path.resolve()):
        now[numbered(f"coursepkg {command}", now)] = rows
    found = []
    for command in dict.fromkeys([*recorded, *now]):
        before, after = recorded.get(command, []), now.get(command, [])
        if len(before) != len(after) or not all(map(is_alike, before, after)):
            gone = [f"  - {row}" for row in before if not any(is_alike(row, other) for other in after)]
            new = [f"  + {row}" for row in after if not any(is_alike(other, row) for other in before)]
            found.append("\n".join([f"$ {command}", *gone, *new]))
    assert not found, "\n".join(["other than recorded:", *found])


def test_only_small_differences_of_numbers_pass() -> None:
    assert is_alike("Tôi 0.9731 exit 0", "Tôi 0.9729 exit 0")
    assert not is_alike("Tôi 0.9731", "Tôi 0.9131")
    assert not is_alike("exit 0", "exit 1")
    assert not is_alike("Tôi 0.97", "Tô 0.97")
