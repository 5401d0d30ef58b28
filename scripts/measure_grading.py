"""Grade generated submissions: average seconds each, and memory.

python scripts/measure_grading.py COURSE NAME N, where COURSE holds the released assignment NAME. One submission in
twenty is hostile, the others are the solution, a wrong one, or empty. Prints one JSON document.
"""

import json
import resource
import sys
import time
from pathlib import Path

from coursepkg.grading.course import Course
from coursepkg.grading.grade import Grader
from coursepkg.grading.sandbox import Limits
from coursepkg.grading.source import Assignment

HOSTILE = (
    "import os\nos._exit(0)",
    "import time\ntime.sleep(9_999)",
    "held = []\nwhile True: held.append('x' * 10**8)",
)


def write_submission(course: Course, name: str, number: int) -> str:
    """One generated submission; returns its student."""
    solutions = {
        c.grade_id: c.source
        for c in Assignment.read(course.source(name)).cells
        if c.solution
    }
    book = json.loads(course.release(name).read_text(encoding="utf-8"))
    hostile = number % 20 == 19
    kind = number % 3
    for cell in book["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in solutions and cell["cell_type"] == "code":
            if hostile:
                cell["source"] = HOSTILE[number // 20 % len(HOSTILE)]
            elif kind == 0:
                cell["source"] = solutions[grade_id]
            elif kind == 1:
                cell["source"] = solutions[grade_id].replace("-", "+")
    student = f"generated-{number:04d}"
    path = course.submission(student, name) / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(book), encoding="utf-8")
    return student


def main() -> None:
    course, name, n = Course(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
    students = [write_submission(course, name, number) for number in range(n)]
    grader = Grader(course, name, limits=Limits())
    started = time.monotonic()
    summary = grader.grade(
        students, force=True, done=lambda student: print(student, file=sys.stderr)
    )
    seconds = time.monotonic() - started
    result = {
        "submissions": n,
        "graded": len(summary.graded),
        "seconds_each": round(seconds / n, 2),
        "grader_peak_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ),
        "sandbox_peak_mb": max(record.peak_mb for record in summary.graded),
        "marks": sorted({record.points for record in summary.graded}),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
