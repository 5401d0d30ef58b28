"""Public checks of the exercises: `check(name, student)` prints one line.

Each chapter's checks live in a module of the chapter's name, which is imported when one
of them is asked for.
"""

from coursepkg.checks.runner import (
    NotAttempted,
    Outcome,
    chapters,
    check,
    names,
    run_check,
)

__all__ = ["NotAttempted", "Outcome", "chapters", "check", "names", "run_check"]
