"""Arguments of a wrong type, refused in one line where nothing else checks types."""

import subprocess
import sys
from collections.abc import Mapping


def assert_refused(preparation: str, messages: Mapping[str, str]) -> None:
    """Each call raises a ValueError with its message, after the same preparation.

    In a process of its own, as a user's: here the suite's run-time type checks would speak first.
    """
    program = f"""
{preparation}
for call in {list(messages)!r}:
    try:
        print("accepted", eval(call))
    except ValueError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert dict(zip(messages, done.stdout.splitlines(), strict=True)) == messages
