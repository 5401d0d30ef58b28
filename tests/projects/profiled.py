"""Which files of the package a piece of code passes through, and which of its modules it loads."""

import json
import subprocess
import sys
from pathlib import Path

PROFILED = """
import json, sys, threading
from pathlib import Path
import coursepkg
home, called, optimised = str(Path(coursepkg.__file__).parent), set(), 1

def note(frame, event, argument):
    code = frame.f_code
    # Bodies of classes and comprehensions of modules run when something is imported.
    if event == "call" and code.co_flags & optimised and not code.co_name.startswith("<"):
        if code.co_filename.startswith(home):
            called.add(code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
{}
sys.setprofile(None)
print(json.dumps([sorted(called), sorted(name for name in sys.modules if name.startswith("coursepkg"))]))
"""


def profiled(code: str, *arguments: str | Path) -> tuple[list[str], list[str]]:
    """Files of the package in which a function was called, and modules that were loaded."""
    command = [sys.executable, "-c", PROFILED.format(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    files, modules = json.loads(done.stdout.splitlines()[-1])
    return files, modules
