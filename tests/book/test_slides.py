"""The decks of slides: what of a chapter is shown, what is said, and that every slide fits."""

import sys
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from playwright.sync_api import Browser, Page

from tests.book.browser import opened
from tests.book.sources import HTML, ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import slides

MATH = '<span class="katex-mathml"><math><mi>D</mi></math></span>'
FORMULA = f'<span class="math"><span class="katex">{MATH}D</span></span>'
SOURCE = "\n".join(f'<span class="k">line</span> {n}' for n in range(20))


def cell(code: str, output: str = "", tag: str = "") -> str:
    """A cell as a page has it."""
    box = '<div class="{} docutils container">{}</div>'.format
    source = (
        f'<div class="highlight-ipython3"><div class="highlight"><pre><span></span>{code}</pre></div></div>'
    )
    return box(f"cell {tag}", (box("cell_input", source) if code else "") + box("cell_output", output))


PICTURE = '<div class="output text_html"><img alt="A band." src="../../_images/a.svg" width="700" height="1000"></div>'
SHOWN = f'<div class="highlight-python"><div class="highlight"><pre>{SOURCE}</pre></div></div>'
PAGE = f"""<article class="bd-article"><section id="chapter">
<h1><span class="section-number">7. </span>Windows<a class="headerlink" href="#chapter">#</a></h1>
<p>Is a window enough?</p>
<p><strong>Objectives.</strong> After this chapter you can</p><ul><li>say so.</li></ul>
<p>Prerequisites: <a href="rope.html">RoPE</a>.</p>
{cell("", PICTURE, "tag_remove-input")}
<section id="cost"><h2>The cost</h2>
<p>The cost falls. It falls by half.</p><p>With {FORMULA} numbers a row:</p><div class="math">{FORMULA}</div>
{cell("show_source(window)", SHOWN)}
<p>Behind it.</p></section>
<section id="words-alone"><h2>Words alone</h2>
<p>One thing is true. And more.</p><p>Ainslie et al. (2023) agree. So?</p></section>
<section id="exercises"><h2>Exercises</h2>
<section id="exercise-1-band"><h3>Exercise 1: Band</h3><p>Write it.</p>
<details><summary>Hint</summary><p>Slice.</p></details>
{cell("def band(): ...", tag="tag_exercise")}
<details><summary>Solution</summary><p>Secret.</p></details></section></section>
<section id="further-reading"><h2>Further reading</h2><ul><li>A paper</li></ul></section>
</section></article>"""
DECKS = [page.rpartition("/")[2] for page in slides.chapters()]


@pytest.fixture
def deck() -> list[slides.Slide]:
    return slides.Deck(html.fromstring(PAGE)).slides


def titles(deck: list[slides.Slide]) -> list[str]:
    return [slide.title for slide in deck]


def written(slide: slides.Slide) -> html.HtmlElement:
    return html.fromstring(slides.slide_html(slide, "notebooks/attention/windows"))


class TestDeck:
    """What stands on the slides of a small chapter."""

    def test_question_picture_and_objectives_come_first(self, deck: list[slides.Slide]) -> None:
        assert titles(deck)[:3] == ["Windows", "The idea", "After this chapter you can"]
        assert written(deck[0]).findtext(".//p") == "Is a window enough?"
        assert written(deck[2]).findtext(".//li") == "say so."

    def test_what_leads_away_from_the_chapter_is_left_out(self, deck: list[slides.Slide]) -> None:
        assert titles(deck)[3:] == ["The cost", "Words alone", "Exercise 1: Band"]

    def test_a_picture_keeps_its_alt_text_and_fits(self, deck: list[slides.Slide]) -> None:
        (image,) = written(deck[1]).iter("img")
        assert image.get("alt") == "A band."
        assert image.get("src") == "../_images/a.svg"
        assert (image.get("width"), image.get("height")) == ("350", "500")
        assert written(deck[1]).xpath("string(.//aside)") == "Picture: A band."

    def test_links_lead_back_to_the_pages(self, deck: list[slides.Slide]) -> None:
        assert written(deck[0]).xpath(".//aside//a/@href") == ["../notebooks/attention/rope.html"]

    def test_paragraphs_are_said_and_not_shown(self, deck: list[slides.Slide]) -> None:
        slide = written(deck[3])
        notes = [note.text_content() for note in slide.iter("aside")]
        assert "The cost falls. It falls by half." in notes
        assert notes[-1] == "Behind it."
        for note in list(slide.iter("aside")):
            note.drop_tree()
        assert "It falls by half" not in slide.text_content()
        assert "numbers a row:" in slide.text_content(), "a line that announces a formula is shown"

    def test_formulas_of_the_notes_need_no_style(self, deck: list[slides.Slide]) -> None:
        slide = written(deck[3])
        assert slide.xpath(".//aside//math")
        assert not slide.xpath(".//aside//*[@class='katex']")
        assert slide.xpath(".//div[@class='math']//*[@class='katex']")

    def test_code_comes_in_pieces(self, deck: list[slides.Slide]) -> None:
        pieces = [pre.text_content().count("\n") + 1 for pre in written(deck[3]).iter("pre")]
        assert pieces == [15, 5], "the call of show_source is not shown"

    def test_a_section_of_words_gives_their_first_sentences(self, deck: list[slides.Slide]) -> None:
        points = [point.text_content() for point in written(deck[4]).iter("li")]
        assert points == ["One thing is true.", "Ainslie et al. (2023) agree."]

    def test_an_exercise_has_its_hint_in_the_notes_and_no_solution(self, deck: list[slides.Slide]) -> None:
        slide = written(deck[5])
        assert "Slice." in slide.xpath("string(.//aside)")
        assert "Secret" not in slide.text_content()
        assert "def band" not in slide.text_content()


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (
            'def f():<span class="sd">\n    """One.\n\n    Two."""</span>\n    return 1',
            ["def f():", "    return 1"],
        ),
        ("a\n\n\n\nb\n", ["a", "", "b"]),
    ],
)
def test_code_is_shown_without_docstrings_and_gaps(code: str, lines: list[str]) -> None:
    box = html.fromstring(f"<div><pre>{code}</pre></div>")
    (block,) = slides.code_blocks(box)
    assert block.element.text_content().split("\n") == lines


def test_code_is_cut_at_an_empty_line() -> None:
    lines = ["x" if n not in (3, 10) else "" for n in range(30)]
    assert [len(piece) for piece in slides.chunks(lines)] == [10, 15, 4]


def test_a_book_that_was_not_built_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["slides.py", "--html", str(tmp_path)])
    assert slides.main() == 2
    assert "run `make book` first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


MEASURE = """() => [...document.querySelectorAll(".slides > section")].map((slide) => {
    slide.style.setProperty("display", "block", "important");
    const zooms = [...slide.querySelectorAll("*")].map((one) => Number(one.style.zoom) || 1);
    const found = {
      title: slide.querySelector("h1, h2").textContent,
      height: slide.scrollHeight,
      width: slide.scrollWidth,
      smallest: Math.min(...zooms),
      code: [...slide.querySelectorAll("[data-lines]")].reduce((sum, one) => sum + Number(one.dataset.lines), 0),
      unnamed: [...slide.querySelectorAll("img")].filter((one) => !one.alt.trim()).length,
      isEmpty: !slide.querySelector(".block"),
    };
    slide.style.removeProperty("display");
    return found;
  })"""


def slides_of(page: Page) -> list[dict[str, Any]]:
    """What the browser measured on each slide of an open deck."""
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    return page.evaluate(MEASURE)


@pytest.mark.browser
@pytest.mark.parametrize("name", DECKS)
def test_every_slide_fits(browser: Browser, site: str, name: str) -> None:
    with opened(browser, site, f"slides/{name}", 1280, "light") as (page, visit):
        found = slides_of(page)
        assert page.locator(".slides img:visible").evaluate_all("all => all.every(one => one.naturalWidth)")
    assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])
    assert len(found) >= 15
    for slide in found:
        assert (slide["height"] <= 720, slide["width"] <= 1280) == (True, True), slide
        assert slide["smallest"] >= 0.6, slide
        assert slide["code"] <= slides.CODE_LINES, slide
        assert (slide["unnamed"], slide["isEmpty"]) == (0, False), slide
    text = [slide["title"] for slide in found]
    assert text[-1].startswith(("Exercise ", "Self-check"))


@pytest.mark.browser
def test_a_deck_opens_from_a_folder_with_its_notes(browser: Browser, site: str) -> None:
    with opened(browser, f"{HTML.as_uri()}/", "slides/gqa", 1280, "dark") as (page, visit):
        assert len(slides_of(page)) >= 15
        ink = page.locator(".reveal").evaluate("one => getComputedStyle(one).color")
        paper = page.locator(".reveal-viewport").evaluate("one => getComputedStyle(one).backgroundColor")
        assert (ink, paper) == ("rgb(232, 238, 240)", "rgb(18, 24, 28)")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("Reveal.getIndices().h === 1")
        with page.expect_popup() as opening:
            page.keyboard.press("s")
        speaker = opening.value
        speaker.wait_for_selector(".speaker-controls-notes .value >> text=Picture:")
    assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


@pytest.mark.browser
def test_a_slider_turns_its_figure_and_not_the_slide(browser: Browser, site: str) -> None:
    with opened(browser, site, "slides/gqa", 1280, "light") as (page, _):
        slides_of(page)
        at = page.evaluate(
            "[...document.querySelectorAll('.slides > section')].findIndex((one) => one.querySelector('.flipbook'))"
        )
        page.evaluate(f"Reveal.slide({at})")
        slider = page.locator("section.present .flipbook input").first
        shown = page.locator("section.present .flipbook-page:not([hidden]) img").get_attribute("src")
        slider.press("ArrowLeft")
        assert page.locator("section.present .flipbook-page:not([hidden]) img").get_attribute("src") != shown
        assert page.evaluate("Reveal.getIndices().h") == at
