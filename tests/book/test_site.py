"""The extension that finishes pages: formulas, figures, languages, styles, search index, addresses."""

import base64
import json
import sys
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from docutils import nodes
from docutils.utils import new_document
from lxml import html
from PIL import Image
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from tests.book.sources import ROOT, documents

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import accessible
import assertions
import flipbooks
import formulas
import live_models
import page_assets
import pictures
import search_index
import site_pages
import stylesheet
import yaml


def parse(body: str) -> html.HtmlElement:
    return html.document_fromstring(
        f"<html><head></head><body><main><article>{body}</article></main></body></html>"
    )


def written(page: html.HtmlElement) -> str:
    return html.tostring(page.find(".//article"), encoding="unicode")


class TestFormulas:
    """TeX becomes HTML and MathML at build time."""

    def test_a_formula_is_there_for_the_eye_and_for_a_screen_reader(self) -> None:
        found = formulas.typeset(r"\frac{q k^\top}{\sqrt D}", display=True)
        assert "katex-display" in found
        assert "<mfrac>" in found

    def test_a_formula_that_cannot_be_read_is_refused(self) -> None:
        with pytest.raises(ValueError, match="KaTeX parse error"):
            formulas.typeset(r"\nosuchcommand", display=False)

    def test_a_long_formula_breaks_after_the_commas_of_no_group(self) -> None:
        found = formulas.breakable(r"f(a,\,b), \left(c, d\right), x_{i,j}")
        assert found == r"f(a,\allowbreak \,b),\allowbreak  \left(c, d\right),\allowbreak  x_{i,j}"
        assert "katex" in formulas.typeset(found, display=False)

    def test_blank_lines_part_equations(self) -> None:
        assert formulas.as_display("a = 1\n\nb = 2") == r"\begin{aligned}a = 1\\b = 2\end{aligned}"
        assert formulas.as_display("a = 1") == "a = 1"


def widget_box(kind: str = "StackModel") -> dict[str, Any]:
    """One slider with two positions over two pictures."""

    def model(name: str, **state: Any) -> dict[str, Any]:
        return {"model_name": name, "state": state}

    return {
        "name": model("HTMLModel", value="<strong>heads &amp; groups</strong>"),
        "slider": model("SelectionSliderModel", _options_labels=["1", "it's 2"], index=1),
        "control": model("HBoxModel", children=["IPY_MODEL_name", "IPY_MODEL_slider"]),
        "first": model("HTMLModel", value='<img alt="one">'),
        "second": model("HTMLModel", value='<img alt="two">'),
        "row": model("StackModel", children=["IPY_MODEL_first", "IPY_MODEL_second"]),
        "book": model(kind, children=["IPY_MODEL_row"]),
        "box": model("VBoxModel", children=["IPY_MODEL_control", "IPY_MODEL_book"]),
    }


class TestFlipbooks:
    """Stored widgets become a native slider."""

    def test_the_slider_has_a_name_a_value_and_one_visible_picture(self) -> None:
        figure = flipbooks.read_flipbook(widget_box(), "box")
        page = html.fragment_fromstring(flipbooks.flipbook_html(figure, "figure-1"))
        (slider,) = page.iter("input")
        (label,) = page.iter("label")
        assert label.get("for") == slider.get("id")
        assert label.text == "heads & groups"
        assert slider.get("aria-valuetext") == "it's 2"
        assert json.loads(slider.get("data-labels")) == ["1", "it's 2"]
        shown = page.xpath("//div[@class='flipbook-page'][not(@hidden)]//img/@alt")
        assert shown == ["two"]

    @pytest.mark.parametrize("change", [{"kind": "TabModel"}, {}])
    def test_other_widgets_are_refused(self, change: dict[str, str]) -> None:
        states = widget_box(**change)
        if not change:
            del states["slider"]["state"]["_options_labels"]
        with pytest.raises(ValueError, match=r"TabModel|_options_labels"):
            flipbooks.read_flipbook(states, "box")


def png(width: int, height: int) -> bytes:
    target = BytesIO()
    Image.effect_noise((width, height), 90).save(target, "PNG")
    return target.getvalue()


class TestPictures:
    """Pictures leave the text and say how large they are."""

    @pytest.mark.parametrize(("side", "suffix"), [(20, ".png"), (200, ".webp")])
    def test_an_embedded_picture_becomes_a_file_with_a_size(
        self, tmp_path: Path, side: int, suffix: str
    ) -> None:
        data = png(2 * side, side)
        page = parse(f'<img width="{side}" src="data:image/png;base64,{base64.b64encode(data).decode()}">')
        pictures.move_pictures(page, "../", tmp_path, tmp_path / "book" / "page.html", {})
        (image,) = page.iter("img")
        file = tmp_path / image.get("src").removeprefix("../")
        assert file.suffix == suffix
        assert (image.get("width"), image.get("height")) == (str(side), str(side // 2))
        stored, before = Image.open(file).convert("L"), Image.open(BytesIO(data))
        assert stored.tobytes() == before.tobytes(), "the pixels have changed"

    def test_a_file_that_comes_later_gives_its_size_already(self, tmp_path: Path) -> None:
        (tmp_path / "map.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 10"/>')
        page = parse('<img src="../_images/map.svg">')
        later = {"map.svg": tmp_path / "map.svg"}
        pictures.move_pictures(
            page, "../", tmp_path / "site", tmp_path / "site" / "book" / "page.html", later
        )
        (image,) = page.iter("img")
        assert (image.get("width"), image.get("height")) == ("30", "10")

    def test_an_svg_without_size_takes_that_of_its_view_box(self, tmp_path: Path) -> None:
        (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 10"/>')
        assert pictures.size_of(tmp_path / "a.svg") == (30, 10)


class TestAccessible:
    """Names, roles and languages."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("the word nhà hàng and 餐厅 mean a restaurant", [("nhà hàng", "vi"), ("餐厅", "zh")]),
            ("“Anh ấy đi học” is a sentence", [("ấy đi học", "vi")]),
            ("请问，洗手间在哪里？", [("请问，洗手间在哪里", "zh")]),
            ("by José and Müller, a naïve café", []),
            ("phở and bún chả", [("phở", "vi"), ("bún chả", "vi")]),
        ],
    )
    def test_phrases_of_other_languages_are_found(self, text: str, found: list[tuple[str, str]]) -> None:
        assert [(text[a:b], language) for a, b, language in accessible.phrases(text)] == found

    def test_the_text_is_the_same_with_languages_marked(self) -> None:
        page = parse("<p>Say <em>cảm ơn</em> or 谢谢, not phở. <code>x = 'đi'</code></p>")
        before = page.text_content()
        accessible.mend(page)
        assert page.text_content() == before
        assert page.xpath("//span[@lang='vi']/text()") == ["cảm ơn", "phở", "đi"]

    def test_an_empty_header_becomes_a_cell(self) -> None:
        page = parse("<table><tr><th></th><th>loss</th><th><p></p></th></tr></table>")
        accessible.mend(page)
        assert "<td></td><th>loss</th><td><p></p></td>" in written(page)

    @pytest.mark.parametrize(
        ("columns", "letters", "is_wordy"), [(4, 40, True), (4, 5, False), (5, 40, False)]
    )
    def test_cells_of_a_wordy_table_name_their_columns(
        self, columns: int, letters: int, is_wordy: bool
    ) -> None:
        head = "".join(f"<th>c{number}</th>" for number in range(columns))
        row = f"<td>{letters * 'a'}</td>" * columns
        page = parse(
            f"<table class='table'><thead><tr>{head}</tr></thead><tbody><tr>{row}</tr></tbody></table>"
        )
        accessible.mend(page)
        assert [cell.get("data-column") for cell in page.iter("td")] == (
            [None, "c1", "c2", "c3"] if is_wordy else [None] * columns
        )
        assert page.find(".//table").get("role") == ("table" if is_wordy else None)

    def test_a_button_is_called_by_what_it_shows(self) -> None:
        page = parse(
            '<button aria-label="Search" title="Search"><i class="fa-solid"></i><span>Find</span></button>'
            '<button title="Toggle"><i class="fa-solid"></i></button>'
        )
        accessible.mend(page)
        first, second = page.iter("button")
        assert (first.get("aria-label"), second.get("aria-label")) == (None, "Toggle")


def test_code_keeps_its_colours_and_loses_plain_spans() -> None:
    text = (
        '<span class="k">def</span><span class="w"> </span><span class="n">f</span><span class="p">(</span>'
    )
    assert page_assets.without_plain_spans(text) == '<span class="k">def</span> f('


@pytest.mark.parametrize(
    "script",
    [
        '<script src="https://unpkg.com/thebe@0.8.2/lib/index.js"></script>',
        '<script src="_static/sphinx-thebe.js"></script>',
        '<script type="text/x-thebe-config">{}</script>',
        "<script>const THEBE_JS_URL = 1;</script>",
    ],
)
def test_nothing_loads_live_code_from_another_host(script: str) -> None:
    page = parse(f'{script}<script src="_static/site.js"></script>')
    page_assets.lighten(page, "", [])
    assert [one.get("src") for one in page.iter("script")] == ["_static/site.js"]


class TestStylesheet:
    """The rules that apply to nothing are left out."""

    USED = stylesheet.Used.by(['<p class="a b" id="top"><b>'], ["menu.classList.toggle('show')"])

    @pytest.mark.parametrize(
        ("css", "kept"),
        [
            (".a{color:red}.c{color:red}", ".a{color:red}"),
            ("p.a > b:hover, i.a{color:red}", "p.a > b:hover{color:red}"),
            (".show{top:0}#top{top:0}#other{top:0}", ".show{top:0}\n#top{top:0}"),
            ("@media print{.c{top:0}.b{top:0}}", "@media print{.b{top:0}}"),
            (".a:not(.c){top:0}", ".a:not(.c){top:0}"),
            (
                ":root{--x:1;--y:var(--x);--z:2}.a{top:var(--y)}",
                ":root{--x:1;--y:var(--x)}\n.a{top:var(--y)}",
            ),
            ('.a{background:url("data:image/svg;utf8,x:1;--y:2")}',) * 2,
        ],
    )
    def test_rules_are_kept_as_far_as_they_apply(self, css: str, kept: str) -> None:
        assert stylesheet.used_rules(css, self.USED) == kept

    def test_addresses_follow_the_rules_to_the_new_file(self, tmp_path: Path) -> None:
        (tmp_path / "styles").mkdir()
        (tmp_path / "styles" / "a.css").write_text('@import "../b.css";.a{src:url(../font.woff)}')
        (tmp_path / "b.css").write_text(".b{src:url(c/d.png)}")
        found = stylesheet.read_styles(tmp_path, ["styles/a.css"])
        assert found == '.b{src:url("c/d.png")}.a{src:url("font.woff")}'

    def test_what_an_earlier_build_left_counts_for_nothing(self, tmp_path: Path) -> None:
        pages = {"book/page.html": "own", "slides/deck.html": "slide", "vi/book/page.html": "other"}
        for name, used in pages.items():
            (tmp_path / name).parent.mkdir(parents=True)
            (tmp_path / name).write_text(f'<p class="{used}">')
        for folder in ("_static", "_static/scripts", "vi/_static"):
            (tmp_path / folder).mkdir()
        (tmp_path / "_static" / "search_index.js").write_text("word")
        classes = ("own", "slide", "other", "word")
        (tmp_path / "_static" / "a.css").write_text("".join(f".{one}{{color:red}}" for one in classes))
        stylesheet.write_stylesheet(tmp_path, ["a.css"])
        assert (tmp_path / "_static" / "site.css").read_text() == ".own{color:red}"


class TestSearchIndex:
    """What a search can find."""

    PAGE = (
        '<section id="one"><h1>4. Attention<a class="headerlink">#</a></h1><p>The <b>key</b>s of <i>q</i>.</p>'
        '<section id="two"><h2>4.1. Code</h2><pre>def scaled_dot(x): pass</pre><p>Done.</p></section></section>'
    )

    def test_sections_are_apart_and_without_markup(self) -> None:
        entry = search_index.page_entry("a/b", f"<article>{self.PAGE}</article>", ["SDPA"])
        assert entry == [
            "a/b.html",
            "Attention",
            ["SDPA"],
            [
                ("one", "4. Attention", "The keys of q.", ""),
                ("two", "4.1. Code", "Done.", "def pass scaled_dot"),
            ],
        ]

    def test_aliases_belong_to_pages_and_to_one_page_each(self) -> None:
        aliases = yaml.safe_load((ROOT / "book/_data/search_aliases.yml").read_text(encoding="utf-8"))
        assert set(aliases) <= set(documents())
        names = [name for names in aliases.values() for name in names]
        assert len({name.lower() for name in names}) == len(names)


class TestAddress:
    """What a page says of itself to other sites; nothing names an address while there is none."""

    @pytest.mark.parametrize("base", ["", "https://someone.github.io/course/"])
    def test_a_link_preview_has_title_and_text(self, base: str) -> None:
        page = html.document_fromstring(
            "<html><head><title>Masks — Course</title></head>"
            "<body><article><p>Who sees <span><span class='katex-mathml'>i</span>i</span>.</p></article></body></html>"
        )
        site_pages.describe(page, "book/masks", base)
        found = {meta.get("property"): meta.get("content") for meta in page.iter("meta")}
        assert (found["og:title"], found["og:description"]) == ("Masks", "Who sees i.")
        assert found.get("og:url") == (f"{base}book/masks.html" if base else None)

    def test_the_map_of_the_site_names_every_page(self) -> None:
        found = site_pages.sitemap("https://a.b/", ["x", "y/z"])
        assert html.fromstring(found.encode()).xpath("//loc/text()") == [
            "https://a.b/x.html",
            "https://a.b/y/z.html",
        ]


class TestDemos:
    """A chapter shows the demo of its model with the form of the page of all demos."""

    def test_the_form_is_that_of_the_page(self) -> None:
        markdown = (ROOT / live_models.FORMS).read_text(encoding="utf-8")
        for name in live_models.MODELS:
            form = live_models.form_of(name, markdown)
            assert form.startswith("<form")
            assert form in markdown
            assert "```" not in form

    def test_a_model_without_a_form_is_named(self) -> None:
        with pytest.raises(ExtensionError, match=r"book/try_it\.md has no form for the model speech"):
            live_models.form_of("speech", "```{try-it} ocr\n<form>\n```\n")


class TestAssertions:
    """What a cell asserts stands in the notebook; the page shows what it prints."""

    @pytest.mark.parametrize(
        ("code", "shown"),
        [
            ("x = f()\nprint(x)\nassert x == 1", "x = f()\nprint(x)"),
            ("x = 1\n# Any machine.\nassert (\n    x == 1\n)\n\n\nprint(x)", "x = 1\n\n\nprint(x)"),
            ("for x in y:\n    assert x", "for x in y:\n    assert x"),
            ("assert x", "assert x"),
            ("%env A=1\nassert x", "%env A=1\nassert x"),
        ],
    )
    def test_statements_of_the_cell_itself_are_left_out(self, code: str, shown: str) -> None:
        assert assertions.without_assertions(code) == shown

    @pytest.mark.parametrize(
        ("classes", "parts", "is_shown"),
        [
            ([], ["cell_input", "cell_output"], False),
            ([], ["cell_input"], True),
            (["tag_hide-input"], ["cell_input", "cell_output"], True),
        ],
    )
    def test_a_cell_without_output_and_a_folded_one_keep_them(
        self, classes: list[str], parts: list[str], is_shown: bool
    ) -> None:
        block = nodes.literal_block("", "print(x)\nassert x")
        cell = nodes.container(classes=["cell", *classes])
        for part in parts:
            cell += nodes.container(classes=[part])
        cell.children[0] += block
        document = new_document("a page")
        document += cell
        assertions.shorten_cells(MagicMock(spec=Sphinx), document)
        assert ("assert x" in block.astext()) == is_shown
