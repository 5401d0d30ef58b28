"""Public tests of the graded assignments, one module an assignment.

Each graded task of an assignment is a `Task` named as the function that a student
writes: `foundations.encode.check(encode)` raises an AssertionError that says what is
wrong. Hidden tests are the same tasks with other cases.
"""

from coursepkg.checks.assignments.task import Task

__all__ = ["Task"]
