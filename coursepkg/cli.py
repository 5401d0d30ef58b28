"""The `coursepkg` command: one table of subcommands, one way of saying what went wrong.

`coursepkg --help` reads only the table below. The module of a subcommand is imported when that subcommand is
called, so asking for help never waits for torch.
"""

import contextlib
import io
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast, runtime_checkable

from coursepkg import __version__


class Command(NamedTuple):
    """Where the options of a subcommand live (`module:name`, anything tyro can parse) and what it does."""

    options: str
    summary: str


COMMANDS = {
    "bench": Command("coursepkg.commands:Bench", "time a suite of attention variants against each other"),
    "doctor": Command(
        "coursepkg.commands:Doctor", "check this machine: Python, torch, memory, fonts, packages"
    ),
}


@runtime_checkable
class Runnable(Protocol):
    """What parsing yields: options that know how to run themselves."""

    def run(self) -> int:
        """Do the work and return the exit code."""


class UsageError(ValueError):
    """A command line that cannot be understood; the message is one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` and return its exit code: 0 done, 1 a check failed, 2 a user's mistake."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except (ValueError, OSError, ImportError) as mistake:
        print(f"error: {one_line(str(mistake))}", file=sys.stderr)
        return 2
    except RuntimeError as problem:
        if not is_out_of_memory(problem):
            raise
        reason = str(problem).partition("\n")[0].partition(". ")[0].rstrip(".")
        print(
            f"error: out of memory ({one_line(reason)}); use a smaller task, or --device cpu", file=sys.stderr
        )
        return 2
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a device ran out of memory; by the name of the error, because torch may not be imported here."""
    return any(kind.__name__ == "OutOfMemoryError" for kind in type(problem).__mro__)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    name, *rest = arguments
    if name == "--version":
        print(f"coursepkg {__version__}")
        return 0
    if name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise UsageError(f"unknown subcommand {name!r}; use one of {known} (coursepkg --help explains each)")
    options = parse(name, rest)
    return 0 if options is None else options.run()


def usage() -> str:
    """Return the text of `coursepkg --help`."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: coursepkg [--help] [--version] COMMAND ...",
            "",
            "From attention to applications: the tools of the course.",
            "",
            "commands:",
            *rows,
            "",
            "coursepkg COMMAND --help lists the options of a command.",
        ]
    )


def parse(name: str, arguments: Sequence[str]) -> Runnable | None:
    """Parse the arguments of subcommand `name`; None where only its help was asked for.

    Raises:
        UsageError: the arguments do not fit the options.
    """
    import tyro

    program = f"coursepkg {name}"
    module, _, attribute = COMMANDS[name].options.partition(":")
    options = getattr(import_module(module), attribute)
    complaint = io.StringIO()
    try:
        # tyro draws its errors as a box on standard error; a mistake gets one line here.
        with contextlib.redirect_stderr(complaint):
            return cast(Runnable, tyro.cli(options, args=list(arguments), prog=program))
    except SystemExit as stop:
        if stop.code:
            raise UsageError(f"{unboxed(complaint.getvalue())} (see {program} --help)") from None
        return None


def unboxed(box: str) -> str:
    """Return the message inside an error box of tyro as one line, without its pointers to the help text."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", box)
    inner = [line.strip("│ ") for line in text.splitlines() if line.startswith("│")]
    sections = re.split(r"─{3,}", "\n".join(inner))
    kept = [
        one_line(s) for s in sections if not s.strip().startswith(("For full helptext", "Argument helptext"))
    ]
    # tyro prefixes an error of __post_init__ with the name of the class, which means nothing to the user.
    return re.sub(r"^Error parsing (?!-)\S+: |^Error parsing ", "", "; ".join(kept) or one_line(text))


def one_line(text: str) -> str:
    """Return `text` with every run of white space turned into one space."""
    return " ".join(text.split())
