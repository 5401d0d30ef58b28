"""Copies in disguise are listed; independent right solutions are not."""

import inspect
import itertools
import json
import re
import textwrap
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

from coursepkg.grading.course import Course
from coursepkg.grading.options import Similar
from coursepkg.grading.similar import LEAST_TREES, similarity, trees
from coursepkg.grading.source import Assignment
from tests.grading import sample
from tests.notebooks.assignments.sources import EXERCISES
from tests.said import said

THRESHOLD = Similar().threshold
NAMES = sorted(path.stem for path in EXERCISES.glob("*/*.ipynb"))

ORIGINAL = '''def softmax(x):
    """Softmax over the last dimension, without overflow."""
    largest = x.max(dim=-1, keepdim=True).values
    shifted = x - largest
    is_far = (shifted < -80) | (shifted != shifted)
    powers = shifted.exp().masked_fill(is_far, 0.0)
    total = powers.sum(dim=-1, keepdim=True) + 0.0
    return powers / total'''
COPY = """def softmax(scores: "Tensor") -> "Tensor":
    # my own work
    m: object = scores.max(keepdim=True, dim=-1).values
    d = scores - m
    far = (d != d) | (-60 > d)
    e = (
        d.exp().masked_fill(far, 0.0)
    )
    s = 0.5 + e.sum(dim=-1, keepdim=True)
    "the last step"
    return e / s"""
OTHER = """def softmax(x):
    rows = x.reshape(-1, x.shape[-1])
    out = torch.stack([(r - torch.logsumexp(r, 0)).exp() for r in rows])
    if out.isnan().any():
        raise ValueError("overflow")
    return out.reshape_as(x).clamp(min=0.0, max=1.0)"""


def test_a_disguised_copy_has_the_same_trees() -> None:
    assert trees(COPY) == trees(ORIGINAL)
    assert similarity(trees(ORIGINAL), trees(OTHER)) < 0.3


@pytest.mark.parametrize(
    "changed",
    [
        ORIGINAL.replace("x.max(dim=-1, keepdim=True).values", "x.amax(-1, keepdim=True)"),
        ORIGINAL.replace("    total =", "    print(powers.shape)\n    total ="),
        ORIGINAL.replace("return powers / total", "result = powers / total\n    return result"),
    ],
)
def test_a_copy_with_one_change_is_still_alike(changed: str) -> None:
    assert changed != ORIGINAL
    assert THRESHOLD <= similarity(trees(ORIGINAL), trees(changed)) < 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a = b + 2 * c", "x = c * 3 + b", True),
        ("for i in y:\n    z = i + 2 * i", "for k in y:\n    w = k * 5 + k", True),
        ("x = torch.f(y, 1)", "x = torch.g(y, 1)", False),
        ("x = y @ torch.z", "x = torch.z @ y", False),
        ("x = 1\nx += f(x)", "z: int = 2\nz = z + f(z)", True),
        ("%time f(g(x))\nf(g(x))", "f(g(x))", True),
        ("try:\n    f(1)\nexcept V as e:\n    g(e, 1)", "try:\n    f(2)\nexcept V as b:\n    g(b, 2)", True),
    ],
)
def test_what_counts_as_the_same(one: str, other: str, same: bool) -> None:
    assert (trees(one) == trees(other)) is same


def solutions(name: str) -> dict[str, dict[str, str]]:
    """Right solutions of each task of an assignment; a text that stands twice only once."""
    module = import_module(f"tests.notebooks.assignments.test_{name}")
    found: dict[str, dict[str, str]] = {}
    for cell in Assignment.read(EXERCISES / name / f"{name}.ipynb").cells:
        if cell.solution and cell.kind == "code":
            found[cell.grade_id] = {"the author's": cell.source}
    for case, solution in module.RIGHT.items():
        code = textwrap.dedent(inspect.getsource(solution)) if isinstance(solution, FunctionType) else ""
        by_case = found[case.split()[0]]
        if code.startswith("def ") and trees(code) not in [trees(one) for one in by_case.values()]:
            by_case[case] = code
    return found


@pytest.mark.parametrize("name", NAMES)
def test_independent_right_solutions_are_not_listed(name: str) -> None:
    n_pairs = 0
    for task, by_case in solutions(name).items():
        for (a, one), (b, other) in itertools.combinations(by_case.items(), 2):
            alike = similarity(trees(one), trees(other))
            assert alike < THRESHOLD, (task, a, b)
            n_pairs += 1
    assert n_pairs >= 3


@pytest.mark.parametrize("name", NAMES)
def test_renamed_copies_of_real_solutions_are_found(name: str) -> None:
    for task, by_case in solutions(name).items():
        for case, code in by_case.items():
            own = re.findall(r"\b([a-z_]\w*)(?=(?:, \w+)* = )", code)
            copy = code
            for number, word in enumerate(dict.fromkeys(own)):
                copy = re.sub(rf"(?<![.\w]){word}\b(?!\s*=[^=\s])", f"v{number}", copy)
            assert trees(copy) == trees(code), (task, case)


def handed_in(course: Course, answers: dict[str, dict[str, str]]) -> None:
    for student, own in answers.items():
        path = course.submission(student, "sample") / "sample.ipynb"
        sample.hand_in(path, sample.solved(course.release("sample"), own))


def add_cell(course: Course, student: str, code: str) -> None:
    """Puts a cell of code before all others of a submission."""
    path = course.submission(student, "sample") / "sample.ipynb"
    book = json.loads(path.read_text("utf-8"))
    book["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": code})
    path.write_text(json.dumps(book), "utf-8")


ESSAY = (
    "Without the shift the exponential of a large score overflows to infinity, and infinity divided by infinity"
    " is no number. After the shift the largest exponent is zero, so every power lies between zero and one."
)


def test_the_report_names_task_pair_and_similarity(course: Course) -> None:
    handed_in(
        course,
        {
            "an": {"softmax": ORIGINAL, "why": ESSAY},
            "binh": {
                "softmax": COPY,
                "why": "I do not know why, it was shown to us in the lecture on Monday.",
            },
            "chi": {"softmax": OTHER, "why": ESSAY.upper().replace(",", " -")},
            "dung": {},
            "em": {"softmax": "def softmax(x:"},
        },
    )
    (course.root / "submitted" / "giang" / "sample").mkdir(parents=True)
    done = said("class", "similar", "--course", course.root, "--json")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        "alike  size  assignment  task     student  student",
        "1.00   21    sample      softmax  an       binh",
        "1.00   32    sample      why      an       chi",
        "A hint for a person, never a mark: read both before you ask anyone.",
    ]
    assert done.err.splitlines() == [
        "sample, em: not compared: softmax is no Python ('(' was never closed (<unknown>, line 1))",
        "sample, giang: not compared: no notebook in the submission; hand in sample.ipynb",
    ]
    (found,) = done.document["assignments"]
    assert found["compared"] == {"softmax": 3, "why": 3}
    assert {(one["task"], *one["students"]) for one in found["pairs"]} == {
        ("softmax", "an", "binh"),
        ("why", "an", "chi"),
    }


def test_what_was_handed_out_does_not_count(course: Course, tmp_path: Path) -> None:
    """Broken code that is to be mended is given; the mended lines alone are compared."""
    edition = json.loads(course.release("sample").read_text("utf-8"))
    edition["cells"][0]["source"] = ORIGINAL.replace("softmax", "broken")
    course.release("sample").write_text(json.dumps(edition), "utf-8")
    handed_in(course, {one: {"softmax": ORIGINAL.replace("-80", "-70")} for one in ("an", "binh")})
    done = said("class", "similar", "--course", course.root, "--json")
    assert done.out.splitlines()[0] == "no two solutions of a task are alike by 0.8 or more"
    assert done.document["assignments"][0]["compared"] == {}


def test_code_in_cells_that_were_added_is_compared(course: Course) -> None:
    handed_in(course, {one: {"softmax": "softmax = mine"} for one in ("an", "binh")})
    for student, code in (("an", ORIGINAL), ("binh", COPY)):
        add_cell(course, student, code)
    (pair,) = said("class", "similar", "--course", course.root, "--json").document["assignments"][0]["pairs"]
    assert pair["task"] == "other cells"
    assert pair["size"] >= LEAST_TREES


def test_who_has_the_numbers_of_another_student_is_named(course: Course) -> None:
    lines = {
        "an": 'STUDENT = "An\\x1b[31m"',
        "binh": "x = 1\nSTUDENT = ' an\\x1b[31m '",
        "chi": 'STUDENT = "chi"',
        "dung": 'STUDENT = ("an',
        "em": 'STUDENT = ""',
        "giang": "STUDENT = ' '",
    }
    handed_in(course, {one: {} for one in lines})
    for student, code in lines.items():
        add_cell(course, student, code)
    done = said("class", "similar", "--course", course.root, "--json")
    assert done.out.splitlines()[0].startswith(
        'sample: an, binh have the same numbers by hand, by STUDENT = "an'
    )
    assert "\x1b" not in done.out
    (shared,) = done.document["assignments"][0]["shared_ids"].values()
    assert shared == ["an", "binh"]


@pytest.mark.parametrize("value", [0, 1.1, "nan"])
def test_a_threshold_out_of_range_is_a_mistake(course: Course, value: object) -> None:
    mistake = said("class", "similar", "--threshold", value, "--course", course.root).mistake
    assert "--threshold must be" in mistake
