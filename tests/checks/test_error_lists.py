"""The lists of errors have fifty rows, known labels and a reason for each."""

import pytest

from coursepkg.checks import ocr_errors, sign_extensions
from coursepkg.checks.error_lists import read_errors, read_labels
from coursepkg.projects.translation.errors.labelled import ERROR_KINDS

LISTS = {
    "ocr_misread_lines": ({"truth", "read"}, ocr_errors.LABELS),
    "translation_errors": ({"source", "output", "reference", "attribution"}, tuple(ERROR_KINDS)),
    "wrong_signs": (
        {
            "clip",
            "signed",
            "answered",
            "film",
            "frames",
            "hand",
            "signed as",
            "answered as",
            "training clips",
        },
        sign_extensions.LABELS,
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_fifty_errors_with_a_label_and_a_reason_each(name: str) -> None:
    errors, (labels, reasons) = read_errors(name), read_labels(name)
    columns, known = LISTS[name]
    assert len(errors) == len(labels) == len(reasons) == 50
    assert all(set(error) == columns and all(error.values()) for error in errors)
    assert set(labels) <= set(known)
    assert all(reasons)
    assert len({tuple(error.items()) for error in errors}) == 50


def test_each_line_has_one_error() -> None:
    assert all(error["truth"] != error["read"] for error in read_errors("ocr_misread_lines"))
    assert all(error["signed"] != error["answered"] for error in read_errors("wrong_signs"))


def test_a_list_that_is_not_there() -> None:
    with pytest.raises(
        ValueError,
        match=r"'signs' is no list; need one of \['ocr_misread_lines', 'translation_errors', 'wrong_signs'\]",
    ):
        read_errors("signs")
