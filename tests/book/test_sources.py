"""The sources of the book: configuration, contents, and the pages that make claims about the repository."""

import re
import tomllib
from collections import Counter
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
from pybtex.database import parse_file

from tests.book.sources import ROOT, config, documents, prose, source, table_rows, toc

PARTS = {
    "foundations": ["tensors", "seq2seq_gru", "alignment_attention"],
    "attention": [
        "self_attention",
        "mqa",
        "gqa",
        "flash_attention",
        "linear_attention",
        "sparse_attention",
        "rope",
    ],
    "transformer": [
        "transformer_by_hand",
        "positions",
        "word_vectors",
        "transformer",
        "modern_transformer",
        "subwords",
        "training_craft",
        "decoding",
        "metrics",
    ],
    "translation": [
        "approaches",
        "en_vi",
        "zh_vi_baseline",
        "modern_model",
        "contrastive",
        "improvements",
        "t5",
    ],
    "ocr": ["receipt_data", "recogniser", "receipt_pages", "ocr_errors", "receipt_fields"],
    "sign_language": [
        "sign_data",
        "sign_augmentation",
        "sign_baseline",
        "sign_model",
        "sign_long_tail",
        "sign_extensions",
        "sign_landmarks",
    ],
}
CHAPTERS = [f"notebooks/{part}/{name}" for part, names in PARTS.items() for name in names]
BIBLIOGRAPHY = parse_file(str(ROOT / "book" / "references.bib")).entries
PROSE = sorted(path.stem for path in (ROOT / "book").glob("*.md"))


def test_every_document_of_the_contents_exists() -> None:
    assert [document for document in documents() if not source(document).is_file()] == []


def test_every_page_and_chapter_is_in_the_contents() -> None:
    # The sources of assignments hold their solutions: none is a page.
    found = {f"book/{name}" for name in PROSE}
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        if not {".ipynb_checkpoints", "exercises"} & set(path.parts) and not path.name.endswith(
            ".rejected.ipynb"
        ):
            found.add(path.relative_to(ROOT).with_suffix("").as_posix())
    assert found - set(documents()) == set()
    assert not [document for document in documents() if document.startswith("notebooks/exercises/")]


def test_chapters_come_in_the_order_of_the_course() -> None:
    assert [document for document in documents() if document.startswith("notebooks/")] == CHAPTERS


def test_nothing_is_executed_when_the_book_is_built() -> None:
    assert config()["execute"]["execute_notebooks"] == "off"


def test_files_of_the_configuration_exist() -> None:
    settings = config()
    sphinx = settings["sphinx"]["config"]
    named = [settings["logo"], settings["html"]["favicon"], *settings["bibtex_bibfiles"]]
    named += sphinx["html_static_path"] + list(settings["sphinx"]["local_extensions"].values())
    assert [name for name in named if not (ROOT / name).exists()] == []
    served = sphinx["html_css_files"]
    folders = [ROOT / folder for folder in sphinx["html_static_path"]]
    assert [name for name in served if not any((folder / name).is_file() for folder in folders)] == []


def test_static_folder_is_not_scanned_by_jupyter_book() -> None:
    # Jupyter Book loads every script of a folder named _static at the root on every page.
    assert not (ROOT / "_static").exists()


def test_configuration_names_other_hosts_only_for_the_address_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"]["Repository"]
    buttons = config()["launch_buttons"]
    links = [config()["repository"]["url"], buttons["binderhub_url"], buttons["colab_url"]]
    links.append(config()["sphinx"]["config"]["html_baseurl"])
    assert all(links) if address else not any(links)
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"]+", text)) == set(filter(None, links))


def test_vendored_files_have_their_licenses() -> None:
    readme = (ROOT / "book" / "vendor" / "README.md").read_text(encoding="utf-8")
    for license_file in re.findall(r"licenses/[\w-]+\.txt", readme):
        assert (ROOT / "book" / "vendor" / license_file).stat().st_size > 500
    folders = {f"{path.name}/" for path in (ROOT / "book" / "vendor").iterdir() if path.is_dir()}
    assert {name for name in folders - {"licenses/"} if name not in readme} == set()
    assert (ROOT / "tests" / "book" / "axe" / "LICENSE").stat().st_size > 500


class TestBibliography:
    """Real references, each once, each cited by a key that exists."""

    def test_entries_are_complete(self) -> None:
        for key, entry in BIBLIOGRAPHY.items():
            assert entry.persons.get("author"), key
            assert entry.fields.get("title"), key
            if entry.fields.get("keywords") != "report":
                assert {"eprint", "doi"} & set(entry.fields), f"{key}: neither arXiv nor DOI"

    def test_arxiv_ids_are_well_formed_unique_and_agree_with_the_year(self) -> None:
        ids = {key: entry.fields["eprint"] for key, entry in BIBLIOGRAPHY.items() if "eprint" in entry.fields}
        assert [number for number, count in Counter(ids.values()).items() if count > 1] == []
        for key, number in ids.items():
            assert re.fullmatch(r"\d{2}(0[1-9]|1[0-2])\.\d{4,5}", number), key
            assert 0 <= int(BIBLIOGRAPHY[key].fields["year"]) - 2000 - int(number[:2]) <= 2, key

    @pytest.mark.parametrize("page", PROSE)
    def test_citations_resolve(self, page: str) -> None:
        cited = [key for group in re.findall(r"\{cite\}`([^`]+)`", prose(page)) for key in group.split(",")]
        assert [key for key in cited if key not in BIBLIOGRAPHY] == []

    def test_every_report_is_presented(self) -> None:
        reports = {key for key, entry in BIBLIOGRAPHY.items() if entry.fields.get("keywords") == "report"}
        assert len(reports) == 5
        assert reports <= set(re.findall(r"\{cite\}`([^`]+)`", prose("bibliography")))

    @pytest.mark.parametrize("chapter", CHAPTERS)
    def test_papers_of_a_chapter_are_listed(self, chapter: str) -> None:
        text = source(chapter).read_text(encoding="utf-8")
        known = {entry.fields.get("eprint") for entry in BIBLIOGRAPHY.values()}
        cited = set(re.findall(r"arxiv(?:\.org/abs/|:\s?)(\d{4}\.\d{4,5})", text, re.IGNORECASE))
        assert cited - known == set()


class TestModules:
    """The table from chapters to modules."""

    ROWS = table_rows(prose("modules"))

    def test_every_module_exists(self) -> None:
        named = {
            name for row in self.ROWS for cell in row for name in re.findall(r"`(coursepkg[\w.]*)`", cell)
        }
        assert len(named) > 15
        assert [name for name in sorted(named) if find_spec(name) is None] == []

    def test_every_file_of_a_flow_exists(self) -> None:
        named = set(re.findall(r"`(coursepkg/[\w/]+\.py)`", prose("modules")))
        assert len(named) > 30
        assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []

    def test_every_chapter_is_there(self) -> None:
        linked = {
            link for row in self.ROWS for link in re.findall(r"\(\.\./(notebooks/[\w/]+)\.ipynb\)", row[0])
        }
        assert linked == set(CHAPTERS)


class TestGlossary:
    """Terms in three languages."""

    ROWS = table_rows(prose("glossary"))

    def test_is_large_and_complete(self) -> None:
        assert len(self.ROWS) >= 60
        assert [row for row in self.ROWS if len(row) != 4 or not all(row)] == []

    def test_terms_are_unique_and_sorted_within_a_section(self) -> None:
        terms = [row[0] for row in self.ROWS]
        assert [term for term, count in Counter(terms).items() if count > 1] == []
        for section in prose("glossary").split("\n## ")[1:]:
            names = [row[0].lower() for row in table_rows(section)]
            assert names == sorted(names)

    def test_languages_stand_in_their_columns(self) -> None:
        han = re.compile(r"[\u4e00-\u9fff]")
        assert [row[0] for row in self.ROWS if not han.search(row[2])] == []
        assert [row[0] for row in self.ROWS if any(han.search(row[column]) for column in (0, 1, 3))] == []


class TestCorrections:
    """What the reports got wrong."""

    ROWS = table_rows(prose("corrections"))

    def test_every_line_names_a_report_and_leads_to_a_chapter(self) -> None:
        known = {row[0] for row in table_rows(prose("bibliography"))}
        for report, says, so, chapter in self.ROWS:
            assert set(report.split(", ")) <= known, report
            assert says != so
            (link,) = re.findall(r"\(\.\./(notebooks/[\w/]+)\.ipynb\)", chapter)
            assert link in CHAPTERS

    def test_every_chapter_on_a_mechanism_is_covered(self) -> None:
        text = prose("corrections")
        assert [name for name in PARTS["attention"] if f"attention/{name}.ipynb" not in text] == []


def test_home_page_is_the_preface() -> None:
    assert toc()["root"] == "book/intro"


@pytest.mark.parametrize("name", ["translation", "receipt", "signer"])
def test_a_moving_picture_of_the_landing_page_comes_to_rest(name: str) -> None:
    """Motion of more than five seconds would need a button that stops it (WCAG 2.2.2)."""
    text = (ROOT / "book" / "_static" / "landing" / f"{name}.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert f"landing/{name}.svg" in prose("intro")
    delays = [float(delay) for delay in re.findall(r"animation-delay:([\d.]+)s", text)]
    assert delays
    assert max(delays) + 0.5 <= 5
    films = re.findall(r"film ([\d.]+)s steps\(\d+\) (\d+)", text)
    assert all(float(seconds) * int(times) <= 5.01 for seconds, times in films)
    assert "infinite" not in text
    assert "@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
