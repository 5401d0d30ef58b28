"""A student's way through an assignment in JupyterLab, in a real browser: open, solve, check, save, hand in."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from coursepkg.grading.course import Course
from coursepkg.grading.grade import read_record
from coursepkg.grading.sandbox import sandbox_problem
from coursepkg.grading.source import read_cells
from tests.said import said

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(sandbox_problem()), reason=sandbox_problem() or "never"),
]

ROOT = Path(__file__).resolve().parents[2]
JUPYTER = ROOT / ".venv" / "bin" / "jupyter"
"""What readers start by `make lab`."""
SOURCE = ROOT / "notebooks" / "exercises" / "foundations" / "foundations.ipynb"
ENCODE = """def encode(x, lengths, w, u, b, c):
    \"\"\"Where a sentence has ended its state stays.\"\"\"
    state = torch.zeros(x.shape[0], u.shape[1], dtype=x.dtype)
    states = []
    for s, token in enumerate(x.unbind(dim=1)):
        inside = (lengths > s).unsqueeze(1)
        token = torch.where(inside, token, torch.zeros_like(token))
        state = torch.where(inside, torch.gru_cell(token, state, w, u, b, c), state)
        states.append(torch.where(inside, state, torch.zeros_like(state)))
    return torch.stack(states, dim=1), state"""
WAIT = 120_000
"""Milliseconds until a state must have come, on a machine that does much else."""


@contextlib.contextmanager
def jupyterlab(folder: Path, settings: Path) -> Iterator[str]:
    """The address of a JupyterLab over a folder, with settings of its own.

    It chooses a free port itself and says in a file which.
    """
    # All cells are in the page, also those that would have to be scrolled to.
    tracker = settings / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    tracker.mkdir(parents=True)
    (tracker / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(settings) for name in names} | {"PYTHONPATH": str(ROOT)}
    with (settings / "log").open("w+") as log:
        server = subprocess.Popen(
            [
                JUPYTER,
                "lab",
                "--no-browser",
                "--allow-root",
                "--ip=127.0.0.1",
                f"--ServerApp.root_dir={folder}",
            ],
            stdout=log,
            stderr=log,
            env=environment,
        )
        try:
            about = server_file(server, settings, log)
            yield f"{about['url']}lab/tree/foundations.ipynb?token={about['token']}"
        finally:
            server.terminate()
            server.wait(timeout=60)


def server_file(server: subprocess.Popen, settings: Path, log: Any) -> dict[str, Any]:
    """What the server writes about itself as soon as it listens."""
    path = settings / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(path.read_text())
        time.sleep(0.05)
    log.seek(0)
    raise AssertionError(f"JupyterLab did not start: {log.read()[-2000:]}")


def write_cell(page: Page, cell: Locator, code: str) -> None:
    """Put code in place of what stands in a cell, as with the keyboard."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)


def run_all(page: Page) -> None:
    """Run all cells, by the menu."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def test_a_student_solves_a_task_in_jupyterlab_and_hands_it_in(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("nbgrader")
    if not JUPYTER.exists():
        pytest.skip("no environment of readers in .venv: run `make book`")
    course = Course(tmp_path / "class")
    released = said("class", "release", SOURCE, "--course", course.root)
    assert released.code == 0, released.err
    home = tmp_path / "homes" / "an"
    home.mkdir(parents=True)
    notebook = Path(shutil.copy(course.release("foundations"), home))
    grade_ids = [cell.grade_id for cell in read_cells(notebook)]

    with (
        jupyterlab(home, tmp_path / "settings") as address,
        contextlib.closing(browser.new_page(viewport={"width": 1200, "height": 900})) as page,
    ):
        page.set_default_timeout(WAIT)
        page.goto(address)
        cells = page.locator(".jp-Notebook .jp-Cell")
        expect(cells).to_have_count(len(grade_ids), timeout=WAIT)
        kernel = page.locator(".jp-Notebook-ExecutionIndicator")
        expect(kernel).to_have_attribute("data-status", "idle", timeout=WAIT)
        student, encode, check = (cells.nth(grade_ids.index(n)) for n in ("student", "encode", "test_encode"))
        output = check.locator(".jp-OutputArea")

        write_cell(page, student, 'STUDENT = "an"')
        write_cell(page, encode, ENCODE.replace("torch.gru_cell(token, state, w, u, b, c)", "state + 1"))
        run_all(page)
        expect(output).to_contain_text("the order of the rows is r, z, n", timeout=WAIT)
        write_cell(page, encode, ENCODE)
        run_all(page)
        expect(output).to_contain_text("encode: the tests that you can see pass", timeout=WAIT)
        with page.expect_response(lambda one: one.request.method == "PUT" and "/api/contents/" in one.url):
            page.keyboard.press("Control+S")

    collected = said("class", "collect", home.parent, "--assignment", "foundations", "--course", course.root)
    assert collected.code == 0, collected.err
    assert said("class", "grade", "--course", course.root).code == 0
    record = read_record(course.record("an", "foundations"))
    assert record is not None
    assert {mark.grade_id: mark.points for mark in record.cells if mark.points} == {
        "test_encode": 10,
        "hidden_encode": 15,
    }
