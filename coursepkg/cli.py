"""The `coursepkg` command: one table of subcommands, one way of saying what went wrong.

`coursepkg --help` reads only the table of `command_table`. The module of a subcommand
is imported when that subcommand is called, so asking for help never waits for torch.
"""

import contextlib
import dataclasses
import io
import os
import re
import select
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from coursepkg import __version__
from coursepkg.command_table import COMMANDS, Group
from coursepkg.processor import with_useful_threads
from coursepkg.validation import check_options, flag_of, one_line

T = TypeVar("T")

CLOSED_PIPE = 141
"""Exit code where whoever reads the output has read enough, as `head` has: that of a
program that the signal of a closed pipe ends."""


class UsageError(ValueError):
    """A command line that cannot be understood; the message is one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return 0 done, 1 a check failed, 2 a user's mistake."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may have bytes of no UTF-8
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            # Pillow's advice about damaged pictures, which Python shows with its source
            warnings.filterwarnings("ignore", module=r"PIL\.")
            code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError as broken:
        if _hush_closed_pipes():
            return CLOSED_PIPE
        print(f"error: {one_line(str(broken))}", file=sys.stderr)
        return 2
    except (ValueError, OSError, ImportError) as mistake:
        print(f"error: {one_line(str(mistake))}", file=sys.stderr)
        return 2
    except RuntimeError as problem:
        if not is_out_of_memory(problem):
            raise
        reason = str(problem).partition("\n")[0].partition(". ")[0].rstrip(".")
        print(
            f"error: out of memory ({one_line(reason)}); use a smaller task, or"
            " --device cpu",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a device ran out of memory, told by the error's name, without torch."""
    return any(kind.__name__ == "OutOfMemoryError" for kind in type(problem).__mro__)


def _hush_closed_pipes() -> bool:
    """Send an output that nobody reads any more nowhere; whether there was one.

    What its buffer still holds would else be written, and fail, when Python ends.
    """
    closed = False
    for stream in (sys.stdout, sys.stderr):
        try:
            number = stream.fileno()
        except (OSError, ValueError):
            continue  # it is no file, as in a notebook
        waiting = select.poll()
        waiting.register(number, select.POLLOUT)
        if any(
            event & (select.POLLERR | select.POLLHUP) for _, event in waiting.poll(0)
        ):
            closed = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)
    return closed


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    name, *rest = arguments
    if name == "--version":
        print(f"coursepkg {__version__}")
        return 0
    command = _known(name, COMMANDS, "coursepkg")
    threads: AbstractContextManager[None] = contextlib.nullcontext()
    if isinstance(command, Group):
        if not rest or rest[0] in ("-h", "--help"):
            print(usage(name))
            return 0
        command = _known(rest[0], command.verbs, f"coursepkg {name}")
        # Training is resumed bit by bit: its number of threads must not be measured.
        threads = with_useful_threads(measured=rest[0] in ("predict", "evaluate"))
        name, rest = f"{name} {rest[0]}", rest[1:]
    options = parse(name, rest)
    if options is None:
        return 0
    with threads:
        return int(
            _found(command.handler)(options) if command.handler else options.run()
        )


def _found(place: str) -> Any:
    """What stands at `module:name`; the module is imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _known(name: str, commands: Mapping[str, T], program: str) -> T:
    if name not in commands:
        known = ", ".join(commands)
        raise UsageError(
            f"unknown subcommand {name!r}; use one of {known} ({program} --help"
            " explains each)"
        )
    return commands[name]


def usage(group: str = "") -> str:
    """Return the text of `coursepkg --help`, or that of a group."""
    chosen = COMMANDS.get(group)
    commands = chosen.verbs if isinstance(chosen, Group) else COMMANDS
    about = (
        chosen.summary
        if chosen
        else "From attention to applications: the tools of the course"
    )
    program = f"coursepkg {group}".strip()
    width = max(map(len, commands))
    rows = [
        f"  {name:<{width}}  {command.summary}" for name, command in commands.items()
    ]
    return "\n".join(
        [
            f"usage: {program} [--help]{'' if group else ' [--version]'} COMMAND ...",
            "",
            f"{about[0].upper()}{about[1:]}.",
            "",
            "commands:",
            *rows,
            "",
            f"{program} COMMAND --help lists the options of a command.",
        ]
    )


def parse(name: str, arguments: Sequence[str]) -> Any | None:
    """Parse the arguments of a subcommand such as `bench` or `translation train`.

    Returns None where only its help was asked for.

    Options may have a class method `defaults(arguments)`: the instance that gives every
    flag its default.

    Raises:
        UsageError: the arguments do not fit the options.
    """
    import tyro

    program = f"coursepkg {name}"
    first, _, verb = name.partition(" ")
    command = COMMANDS[first]
    command = command.verbs[verb] if isinstance(command, Group) else command
    options = _found(command.options)
    given = (
        {"default": options.defaults(arguments)} if hasattr(options, "defaults") else {}
    )
    # Verbs that are not told apart by the table are a union of dataclasses.
    fields = dataclasses.fields(options) if dataclasses.is_dataclass(options) else ()
    times = Counter(one.partition("=")[0] for one in arguments)
    repeated = {flag: n for flag, n in times.items() if n > 1 and flag[:2] == "--"}
    for flag in _several(options) if fields and repeated else ():
        if flag in repeated:
            raise UsageError(
                f"{flag} is given {repeated[flag]} times; give it once, with all values"
                f" behind it (see {program} --help)"
            )
    if any(field.name == "inputs" for field in fields):
        arguments = inputs_first(options, arguments)
    complaint = io.StringIO()
    try:
        # tyro draws its errors as a box on standard error; a mistake gets one line
        # here.
        with contextlib.redirect_stderr(complaint):
            found = tyro.cli(options, args=list(arguments), prog=program, **given)
    except SystemExit as stop:
        if stop.code:
            raise UsageError(
                f"{unboxed(complaint.getvalue())} (see {program} --help)"
            ) from None
        return None
    try:
        check_options(found)
    except ValueError as reason:
        raise UsageError(f"{reason} (see {program} --help)") from None
    return found


def inputs_first(options: Any, arguments: Sequence[str]) -> list[str]:
    """The arguments with those in front that belong to no flag.

    argparse, below tyro, takes inputs before or after all flags, and not behind a
    switch such as `--lines`.

    Args:
        options: class of the options; each flag but a switch takes one value.
        arguments: of its command.
    """
    switches = {"-h", "--help", *_switches(options)}
    inputs: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for one in waiting:
        if not one.startswith("-"):
            inputs.append(one)
            continue
        if one == "--":
            return [*rest, one, *inputs, *waiting]
        rest.append(one)
        if "=" not in one and one not in switches:
            rest += islice(waiting, 1)
    return [*inputs, *rest]


def _switches(options: Any) -> Iterator[str]:
    """Flags without a value, with their opposites."""
    for name, kind in get_type_hints(options).items():
        if dataclasses.is_dataclass(kind):
            yield from _switches(kind)
        elif kind is bool:
            yield from (flag_of(name), flag_of(f"no_{name}"))


def _several(options: Any) -> Iterator[str]:
    """Flags with several values, of which a second use would replace the first one."""
    from tyro.conf import UseAppendAction

    for name, kind in get_type_hints(options, include_extras=True).items():
        about = getattr(kind, "__metadata__", ())
        plain = get_args(kind)[0] if about else kind
        if dataclasses.is_dataclass(plain):
            yield from _several(plain)
        elif get_origin(plain) is tuple and UseAppendAction not in about:
            named = [getattr(one, "name", None) for one in about]
            yield flag_of(next(filter(None, named), name))


def unboxed(box: str) -> str:
    """The message inside an error box of tyro as one line, without its pointers."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", box)
    lines = text.splitlines()
    inner = [line.strip("│ ") for line in lines if line.startswith("│")]
    # Where standard output is not UTF-8, tyro draws dashes below a title instead.
    inner = inner or lines[2:]
    sections = re.split(r"─{3,}|-{20,}", "\n".join(inner))
    kept = [
        one_line(s)
        for s in sections
        if not s.strip().startswith(("For full helptext", "Argument helptext"))
    ]
    # tyro prefixes an error of __post_init__ with the name of the class, which means
    # nothing to the user.
    return re.sub(
        r"^Error parsing (?!-)\S+: |^Error parsing ",
        "",
        "; ".join(kept) or one_line(text),
    )
