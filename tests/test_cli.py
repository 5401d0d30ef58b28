"""The `coursepkg` command as a user meets it: in a process of its own."""

import json
import subprocess
import sys

import pytest
import torch

from coursepkg import __version__, commands
from coursepkg.cli import COMMANDS, UsageError, main, parse, unboxed


def coursepkg(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coursepkg", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_version() -> None:
    done = coursepkg("--version")
    assert (done.returncode, done.stdout) == (0, f"coursepkg {__version__}\n")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(arguments: tuple[str, ...]) -> None:
    done = coursepkg(*arguments)
    assert done.returncode == 0
    for name, command in COMMANDS.items():
        assert name in done.stdout
        assert command.summary in done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_its_own_help(name: str) -> None:
    done = coursepkg(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: coursepkg {name}")
    assert done.stderr == ""


def test_help_waits_for_no_heavy_import() -> None:
    probe = """
import sys
from coursepkg.cli import main
main(["--help"])
print([name for name in ("torch", "numpy", "tyro", "matplotlib") if name in sys.modules])
main(["bench", "--help"])
print([name for name in ("torch", "numpy", "matplotlib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.count("[]") == 2


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["attenton"], ["unknown subcommand 'attenton'", "bench", "doctor"]),
        (["bench"], ["SUITE", "coursepkg bench --help"]),
        (["bench", "speed"], ["'speed'", "attention", "gqa-decode"]),
        (["bench", "attention", "--threads", "0"], ["--threads", "at least 1", "got 0"]),
        (["bench", "attention", "--threads", "two"], ["--threads", "two"]),
        (["bench", "attention", "--device", "tpu"], ["--device", "tpu", "cuda"]),
        (["bench", "attention", "--out", "nowhere/at/all.json"], ["--out", "nowhere/at", "does not exist"]),
        (["bench", "attention", "--thread", "1"], ["--thread", "--threads"]),
        (["bench", "attention", "window"], ["window"]),
        (["doctor", "--jsn"], ["--jsn", "--json"]),
        (["translation", "predict", "--text", "A", "--text=B"], ["--text is given 2 times", "give it once"]),
        (["translation", "search", "--set", "seed=1", "--set", "seed=2"], ["--set is given 2 times"]),
    ],
)
def test_a_mistake_gets_one_line(arguments: list[str], parts: list[str]) -> None:
    done = coursepkg(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "│" not in done.stderr
    for part in parts:
        assert part in done.stderr


def test_bench_refuses_a_file_in_place_of_a_folder(tmp_path, capsys) -> None:
    file = tmp_path / "taken"
    file.write_text("")
    assert main(["bench", "attention", "--out", str(file / "result.json")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("derived", [False, True])
def test_out_of_memory_gets_one_line(derived: bool, monkeypatch, capsys) -> None:
    kind = type("AcceleratorError", (torch.OutOfMemoryError,), {}) if derived else torch.OutOfMemoryError

    def run(*_arguments: object, **_options: object) -> int:
        raise kind("CUDA out of memory. Tried to allocate 2.00 GiB.\nGPU 0 has a total capacity of 1 GiB")

    monkeypatch.setattr(commands, "run_suite", run)
    assert main(["bench", "attention"]) == 2
    message = capsys.readouterr().err
    assert message == "error: out of memory (CUDA out of memory); use a smaller task, or --device cpu\n"


def test_any_other_runtime_error_is_a_bug_and_shows_where(monkeypatch) -> None:
    def run(*_arguments: object, **_options: object) -> int:
        raise RuntimeError("broken")

    monkeypatch.setattr(commands, "run_suite", run)
    with pytest.raises(RuntimeError, match="broken"):
        main(["bench", "attention"])


def test_a_flag_that_collects_its_values_may_stand_again() -> None:
    options = parse("sign-language predict", ["a.mp4", "--model", "one", "--model", "two"])
    assert [*map(str, options.use.model)] == ["one", "two"]
    assert parse("translation predict", ["--text", "A", "B"]).text == ("A", "B")


def test_errors_of_an_option_class_lose_its_name() -> None:
    with pytest.raises(
        UsageError, match=r"^--threads must be at least 1, got -3 \(see coursepkg bench --help\)$"
    ):
        parse("bench", ["attention", "--threads", "-3"])


def test_unboxed_keeps_the_message_and_drops_the_pointers() -> None:
    box = "\n".join(
        [
            "╭─ Value error ───────────╮",
            "│ \x1b[91mError parsing --n\x1b[0m: not a │",
            "│ number                  │",
            "│ ─────────────────────── │",
            "│ Argument helptext:      │",
            "│     --n INT             │",
            "│ ─────────────────────── │",
            "│ For full helptext, run  │",
            "╰─────────────────────────╯",
        ]
    )
    assert unboxed(box) == "--n: not a number"


def test_a_message_outside_a_box_is_kept() -> None:
    assert unboxed("something\n  else\n") == "something else"


def test_doctor_ends_in_one_json_document() -> None:
    done = coursepkg("doctor", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    document = json.loads(done.stdout.splitlines()[-1])
    assert document["ok"] is True
    assert document["version"] == __version__


def test_installed_command_is_the_module(capsys) -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="coursepkg")
    assert script.load() is main


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("ocr", "train", "--help"),
        ("doctor", "--json"),
        ("data", "list", "--json"),
        (),
    ],
)
@pytest.mark.parametrize("reads", [0, 1])
def test_a_closed_pipe_is_no_error(arguments: tuple[str, ...], reads: int) -> None:
    command = [sys.executable, "-m", "coursepkg", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(reads):
        process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(120) in (0, 141)
    process.stderr.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ["translation", "predict", "--text", "a", "--beam-size", str(10**26)],
        ["translation", "predict", "--text", "a", "--beam-size", str(2**63)],
        ["translation", "predict", "--text", "a", "--batch-size", str(10**9)],
        ["translation", "predict", "--text", "a", "--n-best", str(10**9)],
        ["translation", "predict", "--text", "a", "--length-penalty", "1e300"],
        ["translation", "train", "--max-epochs", str(10**12)],
        ["translation", "train", "--vocab-size", str(10**12)],
        ["translation", "ladder", "--seeds", str(10**12)],
        ["ocr", "train", "--max-len", str(10**9)],
        ["ocr", "train", "--seed", str(2**32)],
        ["ocr", "train", "--generate", str(10**12)],
        ["ocr", "train", "--learning-rate", "1e300"],
        ["ocr", "evaluate", "--limit", str(10**30)],
        ["sign-language", "train", "--max-seconds", "1e300"],
        ["sign-language", "predict", "--views", str(10**6), "clip.mp4"],
        ["sign-language", "prepare", "--frames", str(10**9)],
        ["translation", "t5-train", "--out", "x", "--epochs", str(10**12)],
    ],
)
def test_every_number_has_an_upper_bound(arguments: list[str], capsys) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: --")
    assert "must be" in told.err
    assert told.err.count("\n") == 1
