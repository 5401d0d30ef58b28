"""Arguments of another type than the annotated one, where nothing else checks types."""

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
    assert dict(zip(messages, _printed(program), strict=True)) == messages


def assert_equal(preparation: str, pairs: Mapping[str, str]) -> None:
    """Each expression gives what the other one gives, where nothing else checks types."""
    program = f"""
import numpy as np, torch
i64, f32 = np.int64, np.float32
def equal(a, b):
    return torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
{preparation}
for ours, same in {list(pairs.items())!r}:
    print(equal(eval(ours), eval(same)))
"""
    assert dict.fromkeys(pairs, "True") == dict(zip(pairs, _printed(program), strict=True))


def _printed(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()
