"""A command's document: in a file, as the last line, and places that are refused before the work begins."""

import json
from pathlib import Path

import pytest

from coursepkg.app.output import check_out_file, check_out_folder, write_json_output

DOCUMENT = {"words": ["phở", "cảm ơn"], "n": 2}


def test_a_document_goes_where_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "found.json"
    write_json_output(DOCUMENT, out=out, as_json=True)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"written to {out}"
    assert json.loads(said[-1]) == json.loads(out.read_text("utf-8")) == DOCUMENT
    assert "phở" in said[-1]
    write_json_output({"n": 3}, out=out, as_json=False)
    assert capsys.readouterr().out == f"written to {out}\n"
    assert json.loads(out.read_text("utf-8")) == {"n": 3}
    write_json_output(DOCUMENT, out=None, as_json=False)
    assert capsys.readouterr().out == ""
    assert [path.name for path in out.parent.iterdir()] == ["found.json"]


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    with pytest.raises(ValueError, match=r"is a folder; name a file in it, such as .*audit\.json$"):
        check_out_file(tmp_path, "audit.json")
    with pytest.raises(ValueError, match=r"--out .*file is a file; name a folder$"):
        check_out_folder(file)
    with pytest.raises(ValueError, match="file is a file, nothing can lie in it"):
        check_out_folder(file / "eval")
    with pytest.raises(ValueError, match="file is a file, nothing can lie in it"):
        check_out_file(file / "a" / "b.json", "audit.json")


@pytest.mark.parametrize("name", ["there", "new", "new/deep"])
def test_other_places_are_free(tmp_path: Path, name: str) -> None:
    (tmp_path / "there").mkdir()
    check_out_folder(tmp_path / name)
    check_out_file(tmp_path / name / "found.json", "audit.json")
    check_out_file(None, "audit.json")
    check_out_folder(None)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
