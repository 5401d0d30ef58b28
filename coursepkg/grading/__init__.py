"""The class kit around nbgrader, from the release of assignments to marks.

A submission is a stranger's program. It runs in a sandbox on inputs that are handed in
and gives plain data back; the verdict is made outside, by hidden tests that never enter
the sandbox. An author of an assignment writes those with the names of this package.
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "calls": "Request Returned call read",
        "hidden_tests": "Verdict close equal hidden_test is_tensor",
        "source": "Assignment",
    },
)
