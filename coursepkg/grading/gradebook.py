"""nbgrader's gradebook: assignments, points of cells, submissions and marks."""

import datetime
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coursepkg.grading.course import Course, Student
from coursepkg.requirements import pip_install, requirements
from coursepkg.validation import one_line


def require_nbgrader() -> None:
    """Raises an ImportError that says what to install where nbgrader is missing."""
    try:
        import nbgrader  # noqa: F401
    except ImportError as reason:
        wanted = requirements("class") or {"nbgrader": "0.9.5"}
        raise ImportError(
            f"the class kit needs nbgrader; run {pip_install(wanted)}"
        ) from reason


@contextmanager
def open_gradebook(course: Course) -> Iterator[Any]:
    """The gradebook of a course, made where there is none.

    Raises:
        ImportError: nbgrader is not installed.
        ValueError: the file is no gradebook or one of another version.
    """
    require_nbgrader()
    from nbgrader.api import Gradebook

    course.root.mkdir(parents=True, exist_ok=True)
    _check_version(course.database)
    with warnings.catch_warnings():
        # nbgrader's own use of its database library
        warnings.filterwarnings("ignore", "Object of type <", module="nbgrader")
        with Gradebook(f"sqlite:///{course.database.resolve()}") as gradebook:
            yield gradebook


def _check_version(path: Path) -> None:
    """Make an empty gradebook, or look at the version of the one that is there."""
    import nbgrader
    from alembic.script import ScriptDirectory
    from nbgrader.api import Base
    from sqlalchemy import create_engine

    home = Path(nbgrader.__file__).parent / "alembic"
    current = ScriptDirectory(str(home)).get_current_head()
    if path.exists() and path.stat().st_size:
        found = _version(path)
        if found != current:
            raise ValueError(
                f"{path} is a gradebook of another version of nbgrader ({found}); copy"
                " it, then run nbgrader db upgrade in its folder"
            )
        return
    engine = create_engine(f"sqlite:///{path.resolve()}")
    Base.metadata.create_all(bind=engine)
    engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
        )
        connection.execute("INSERT INTO alembic_version VALUES (?)", (current,))
    connection.close()


def _version(path: Path) -> str:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if "alembic_version" not in names:
            return "none" if "assignment" in names else "no gradebook"
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else "none"
    except sqlite3.DatabaseError as reason:
        raise ValueError(
            f"{path} is no gradebook ({one_line(reason)}); move it away"
        ) from reason
    finally:
        connection.close()


def require_entered(gradebook: Any, names: Sequence[str]) -> None:
    """Raises a ValueError where the gradebook lacks an assignment that was released."""
    entered = {assignment.name for assignment in gradebook.assignments}
    for name in names:
        if name not in entered:
            raise ValueError(
                f"gradebook.db has no assignment {name!r} (was it moved away?); bring"
                " it back, or run coursepkg class release again"
            )


def set_due(gradebook: Any, name: str, due: datetime.datetime | None) -> None:
    """Store until when an assignment may be handed in, in UTC without a zone."""
    if due is not None:
        gradebook.update_or_create_assignment(name, duedate=due)


def store_marks(
    gradebook: Any,
    name: str,
    student: Student,
    points: Mapping[str, float],
    timestamp: datetime.datetime | None,
) -> None:
    """Write the automatic points of one submission; manual ones stay as they are.

    Args:
        points: by grade id of the cells with hidden tests.
    """
    first, _, last = student.name.rpartition(" ")
    gradebook.update_or_create_student(
        student.id,
        first_name=first or None,
        last_name=last or None,
        email=student.email or None,
    )
    submission = gradebook.update_or_create_submission(
        name, student.id, timestamp=timestamp
    )
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            if grade.name in points:
                grade.auto_score = points[grade.name]
                grade.needs_manual_grade = False
            else:
                grade.needs_manual_grade = grade.manual_score is None
    gradebook.db.commit()


def manual_marks(
    gradebook: Any, name: str, student: str
) -> dict[str, tuple[float | None, str]]:
    """Points and comments that a person gave, by grade id."""
    from nbgrader.api import MissingEntry

    try:
        submission = gradebook.find_submission(name, student)
    except MissingEntry:
        return {}
    found: dict[str, tuple[float | None, str]] = {}
    for notebook in submission.notebooks:
        comments = {one.name: one.comment or "" for one in notebook.comments}
        for grade in notebook.grades:
            if grade.manual_score is not None or comments.get(grade.name):
                found[grade.name] = (grade.manual_score, comments.get(grade.name, ""))
    return found
