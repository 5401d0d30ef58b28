"""The commands and the program of a page of the book, run as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"


def run_page(page: str, folder: Path, installed: Path, **environment: str) -> dict[str, str]:
    """What each command of a page said in a folder, by its line; `python` is the program.

    Args:
        page: its file in the book.
        folder: where the commands run, with the files that they name.
        installed: where the package lies that is to run them.
        **environment: further variables of theirs.
    """
    text = (BOOK / page).read_text("utf-8")
    own = os.environ | {"PYTHONPATH": str(installed)} | environment

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("-c", "import coursepkg; print(coursepkg.__file__)").startswith(str(installed))
    lines = [
        line for block in re.findall(r"```bash\n(.*?)```", text, re.S) for line in block.strip().splitlines()
    ]
    said = {line: run("-m", "coursepkg", *shlex.split(line)[1:]) for line in lines}
    (program,) = re.findall(r"```python\n(.*?)```", text, re.S)
    return said | {"python": run("-c", program)}
