"""Source notebooks, hidden tests, student editions, and notebooks that students hand in."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from coursepkg.grading import Returned, call, close, hidden_test
from coursepkg.grading.calls import perform
from coursepkg.grading.course import Course
from coursepkg.grading.hidden_tests import RunningTest
from coursepkg.grading.plain import decode, encode
from coursepkg.grading.release import leaks
from coursepkg.grading.source import Assignment, read_cells, student_code
from tests.grading import sample
from tests.said import said


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def test_a_hidden_test_runs_at_once_in_the_author_s_notebook() -> None:
    seen = []

    @hidden_test
    def passes(seed: int) -> Any:
        answer = yield call("double", torch.ones(2)).with_gradients(torch.ones(2)).observed()
        close(answer.value, torch.full((2,), 2.0))
        close(answer.gradients[0], torch.full((2,), 2.0))
        with pytest.raises(AssertionError, match="double calls mul; write it with simpler operations"):
            answer.assert_not_called("mul")
        with pytest.raises(AssertionError, match="a tensor of 2 elements; at most 1 are"):
            answer.assert_largest_tensor(1)
        seen.append(answer)

    assert len(seen) == 1
    with pytest.raises(AssertionError, match="nothing: is not defined in the notebook"):

        @hidden_test
        def fails(seed: int) -> Any:
            answer = yield call("nothing")
            _ = answer.value


def test_a_hidden_test_yields_requests_once() -> None:
    def twice(seed: int) -> Any:
        yield call("double", 1)
        yield call("double", 1)

    def other(seed: int) -> Any:
        yield 3

    running = RunningTest(twice, 0)
    with pytest.raises(ValueError, match="twice: it may yield only once"):
        running.finish([Returned("double")])
    with pytest.raises(ValueError, match="other: it yields something else"):
        RunningTest(other, 0)
    with pytest.raises(ValueError, match=r"double: it must yield call"):
        RunningTest(double, 0)


def test_a_result_of_another_shape_has_no_gradients() -> None:
    request = call("f", torch.ones(2)).with_gradients(torch.ones(3, 2))
    answer = perform(request, {"f": lambda x: x.exp()})
    assert answer.raised == "ValueError"
    assert answer.message.endswith("the result has the shape (2,), (3, 2) is expected")


def test_a_request_imports_neither_compiler_nor_algebra() -> None:
    # Each request has a process of its own, which would import them again: a second and more.
    code = (
        "import sys, torch\n"
        "from coursepkg.grading.calls import call, perform\n"
        "x = torch.ones(2)\n"
        "answer = perform(call('f', x).with_gradients(x).observed(), {'f': torch.exp})\n"
        "print(answer.value.shape, {'sympy', 'torch._dynamo'} & sys.modules.keys())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "torch.Size([2]) set()\n"


def test_plain_values_come_back_as_they_were() -> None:
    value = {
        "list": [1, 2.5, None, True, "chữ", (), 10**30],
        3: (torch.arange(3), torch.ones(2, dtype=torch.bfloat16), torch.zeros(0, 2)),
        "set": {1, 2},
        "dtype": torch.float16,
        "array": torch.ones(2, 3).numpy(),
    }
    found = decode(encode(value))
    assert found["list"] == value["list"]
    assert [type(one) for one in found["list"]] == [int, float, type(None), bool, str, tuple, int]
    for one, other in zip(found[3], value[3], strict=True):
        assert torch.equal(one, other)
        assert one.dtype == other.dtype
    assert found["set"] == {1, 2}
    assert found["dtype"] is torch.float16
    assert (found["array"] == value["array"]).all()
    assert str(decode(encode([float("nan"), float("-inf")]))) == "[nan, -inf]"


@pytest.mark.parametrize("value", [object(), [lambda: 0], {"a": torch.nn.Linear(1, 1)}, 1j, print])
def test_what_is_not_plain_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="no plain value"):
        encode(value)


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 50, b"\x02" + b"\0" * 7 + b"{}", encode(1)[:-2], b"\xff" * 8 + b"x"]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no plain value"):
        decode(data)


def test_a_subclass_becomes_the_plain_value() -> None:
    class Equal(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = float.__hash__

    assert type(decode(encode(Equal(2.0)))) is float
    assert decode(encode(Equal(2.0))) != 3.0


PASSES_ALL = sample.NUMBER_TEST.replace(
    'close(answer.value, 4.0, what="cache_mib", tolerance=0.01)', "answer"
)


def changed(change: Callable[[dict[str, Any]], object], tmp_path: Path) -> Path:
    book = sample.source_notebook()
    change(book)
    path = tmp_path / "sample.ipynb"
    path.write_text(json.dumps(book))
    return path


def settings(book: dict[str, Any], number: int) -> dict[str, Any]:
    return book["cells"][number]["metadata"]["nbgrader"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda b: settings(b, 2).update(grade_id="softmax"), "two cells have the grade id 'softmax'"),
        (lambda b: settings(b, 2).update(grade_id=""), "cell 3 is graded without a grade id"),
        (lambda b: b["cells"][4].update(source="assert True"), "'number-test' has no @hidden_test"),
        (lambda b: b.update(cells=b["cells"][:2]), "no cell is graded"),
        (lambda b: b.update(nbformat=3), "no Jupyter notebook of format 4"),
    ],
)
def test_an_unfit_source_is_refused(change: Any, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        Assignment.read(changed(change, tmp_path))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda b: b["cells"][3].update(source="cache_mib = 2.0"),
            "the solution fails number_of_the_cache of 'number-test'",
        ),
        (
            lambda b: b["cells"][0].update(source="import torhc"),
            "cell 1 .setup. of the source notebook fails",
        ),
        (
            lambda b: b["cells"][4].update(source=PASSES_ALL),
            "the notebook as it is handed out passes 'number-test'",
        ),
        (
            lambda b: b["cells"][2].update(source=sample.SOFTMAX_TEST.replace("### END HIDDEN TESTS", "")),
            "nbgrader refuses the notebook: RuntimeError: No end hidden tests statement found",
        ),
    ],
)
def test_an_unfit_release_changes_nothing(change: Any, reason: str, course: Course, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in course.root.rglob("*.ipynb")}
    path = changed(change, tmp_path)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(said("class", "release", path, "--course", course.root).mistake)
    assert {path: path.read_bytes() for path in course.root.rglob("*.ipynb")} == before


def test_a_release_leaves_other_files_beside_the_notebooks_alone(tmp_path: Path) -> None:
    path = sample.write_source(tmp_path / "class" / "source")
    course = Course(tmp_path / "class")
    beside = [path.parent / "data.csv", course.release("sample").parent / "picture.png"]
    for one in beside:
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("kept")
    before = path.read_text()
    done = said("class", "release", path, "--course", course.root)
    assert done.code == 0, done.err
    assert [one.read_text() for one in beside] == ["kept", "kept"]
    assert path.read_text() == before
    (course.release("sample").parent / "copy.ipynb").write_text("{}")
    assert course.assignments() == ["sample"]


def test_the_points_of_a_text_count_for_the_records(tmp_path: Path) -> None:
    before = Assignment.read(changed(lambda b: None, tmp_path)).digest
    assert Assignment.read(changed(lambda b: b["cells"][5].update(source="Why?"), tmp_path)).digest == before
    assert Assignment.read(changed(lambda b: settings(b, 5).update(points=7), tmp_path)).digest != before


def test_the_student_edition_holds_no_solution_and_no_hidden_test(course: Course) -> None:
    text = course.release("sample").read_text(encoding="utf-8")
    for secret in ("shifted", "manual_seed", "hidden_test", "cache_mib = 2 * 8", "SOLUTION", "HIDDEN"):
        assert secret not in text
    assert "softmax keeps the shape" in text
    assert "raise NotImplementedError" in text
    assignment = Assignment.read(course.source("sample"))
    assert leaks(assignment, text) == []
    source = course.source("sample").read_text(encoding="utf-8")
    assert "shifted = x - x.max(dim=-1, keepdim=True).values" in leaks(assignment, source)


def test_mutants_are_judged_without_a_sandbox(course: Course) -> None:
    assignment = Assignment.read(course.source("sample"))
    found = assignment.judge(sample.WRONG)
    messages = {v.test: v.message for verdicts in found.values() for v in verdicts}
    assert messages["large_scores"].startswith("softmax has NaN")
    assert messages["number_of_the_cache"].startswith("cache_mib is 2.0000")
    assert not any(v.message for verdicts in assignment.judge(sample.RIGHT).values() for v in verdicts)


def test_what_the_author_s_notebook_prints_is_not_shown(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    path = course.source("sample")
    book = sample.source_notebook()
    book["cells"][0]["source"] += "\nprint('ready')"
    path.write_text(json.dumps(book))
    verdicts = Assignment.read(path).judge({"softmax": "def softmax(x):\n    raise NotImplementedError"})
    assert {v.message for v in verdicts["softmax-test"]} == {"softmax: raised NotImplementedError"}
    assert capsys.readouterr().out == ""


def handed_in(course: Course, change: Callable[[dict[str, Any]], object]) -> list[str]:
    book = sample.solved(course.release("sample"), sample.RIGHT)
    change(book)
    path = course.root / "one.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8-sig")
    assignment = Assignment.read(course.source("sample"))
    return list(student_code(assignment, read_cells(path)))


WANTED = [sample.SETUP, sample.RIGHT["softmax"], sample.RIGHT["number"]]


def colab(book: dict[str, Any]) -> None:
    book["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    for one in book["cells"]:
        one["metadata"]["id"] = "x1"
        one["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}
        one["source"] = "".join(one["source"]).splitlines(keepends=True)
        one.pop("id", None)


def vs_code(book: dict[str, Any]) -> None:
    book["metadata"]["vscode"] = {"interpreter": {"hash": "0"}}
    for one in book["cells"]:
        one["metadata"]["vscode"] = {"languageId": "python"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda b: None, WANTED),
        (colab, WANTED),
        (vs_code, WANTED),
        (lambda b: b["cells"][0].update(source="import os; os._exit(0)"), WANTED),
        (lambda b: b["cells"].pop(0), WANTED),
        (
            lambda b: b["cells"].insert(1, {"cell_type": "code", "source": "a = 1"}),
            [WANTED[0], "a = 1", *WANTED[1:]],
        ),
        (lambda b: settings(b, 3).update(grade_id="other"), WANTED),
        (lambda b: b["cells"][3].update(metadata={}), WANTED),
    ],
)
def test_the_code_that_is_run(course: Course, change: Any, code: list[str]) -> None:
    assert handed_in(course, change) == code


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda b: b["cells"].append(b["cells"][1]), "two cells have the grade id 'softmax'"),
        (lambda b: b.update(cells=[]), "none of the cells to fill in is there"),
        (lambda b: [one.update(metadata={}) for one in b["cells"]], "none of the cells to fill in is there"),
        (lambda b: b.pop("cells"), "no Jupyter notebook of format 4"),
        (lambda b: b["cells"][0].update(source=3), "no Jupyter notebook of format 4"),
    ],
)
def test_an_unfit_submission_is_told(course: Course, change: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        handed_in(course, change)
