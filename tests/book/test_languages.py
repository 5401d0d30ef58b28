"""The Vietnamese book: its catalogues against the English text and the glossary, its pages, the switch."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.book.browser import opened
from tests.book.sources import HTML, documents, parsed, prose, source, table_rows
from tests.book.test_course_pages import load

catalogues = load("scripts/catalogues.py")

LANGUAGE = "vi"
PAGES = catalogues.pages(LANGUAGE)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.DOTALL)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)]+)\)")
TITLE = re.compile(r"\*[^*]+\*|\"[^\"]+\"")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

AGREED = {
    "attention": "chú ý",
    "attention head": "đầu chú ý",
    "attention score": "điểm chú ý",
    "attention weight": "trọng số chú ý",
    "additive attention": "chú ý cộng",
    "backpropagation": "lan truyền ngược",
    "batch": "lô",
    "context vector": "vectơ ngữ cảnh",
    "convolution": "tích chập",
    "cross-attention": "chú ý chéo",
    "cross-entropy": "entropy chéo",
    "decoder": "bộ giải mã",
    "dot product": "tích vô hướng",
    "encoder": "bộ mã hóa",
    "feature map": "ánh xạ đặc trưng",
    "forget gate": "cổng quên",
    "gradient": "gradient",
    "greedy decoding": "giải mã tham lam",
    "grouped-query attention": "chú ý truy vấn theo nhóm",
    "hidden state": "trạng thái ẩn",
    "key": "khóa",
    "KV cache": "bộ nhớ đệm KV",
    "learning rate": "tốc độ học",
    "linear attention": "chú ý tuyến tính",
    "mask": "mặt nạ",
    "memory bandwidth": "băng thông bộ nhớ",
    "multi-head attention": "chú ý đa đầu",
    "multi-query attention": "chú ý đa truy vấn",
    "padding": "đệm",
    "query": "truy vấn",
    "residual connection": "kết nối phần dư",
    "self-attention": "tự chú ý",
    "sliding window": "cửa sổ trượt",
    "softmax": "softmax",
    "sparse attention": "chú ý thưa",
    "teacher forcing": "teacher forcing",
    "tensor": "tensor",
    "throughput": "thông lượng",
    "tile": "khối con",
    "token": "token",
    "uptraining": "huấn luyện bổ sung",
    "value": "giá trị",
    "vocabulary": "bộ từ vựng",
    "warm-up": "khởi động",
}
"""Terms of parts 1 and 2 that a translation must use wherever the English text has them."""
ORDINARY = re.compile(r"\bkey (?:concept|idea|point)s?\b|\bNative Sparse Attention\b")
"""Phrases in which a word of the field has its everyday meaning, and names of works."""
WAIVED = {
    # The feature map of a convolutional network is another thing than that of a kernel.
    ("notebooks/foundations/seq2seq_gru", "feature map"): "bản đồ đặc trưng",
    ("book/glossary", "feature map"): "bản đồ đặc trưng",
}


def translated(page: str) -> Iterator[tuple[str, str]]:
    """The messages of a page that have a translation other than themselves."""
    for message, translation in catalogues.translations(LANGUAGE, page).items():
        if translation and translation != message:
            yield message, translation


def words(text: str) -> str:
    """A message without formulas, code, addresses of links, titles of works, and everyday phrases."""
    for pattern in (FORMULA, CODE, LINK, TITLE, ORDINARY):
        text = pattern.sub(" ", text)
    return " ".join(text.split()).lower()


@cache
def glossary() -> dict[str, list[str]]:
    """Every English term of the glossary with its Vietnamese, Chinese and meaning."""
    rows = [row for row in table_rows(prose("glossary")) if len(row) == 4]
    named = {row[0]: row[1:] for row in rows}
    return {name.split(" (")[0]: row for name, row in named.items()} | named


def test_every_term_of_the_glossary_has_one_row_with_all_three_languages() -> None:
    rows = [row for row in table_rows(prose("glossary")) if len(row) == 4]
    twice = [term for term, count in Counter(row[0] for row in rows).items() if count > 1]
    assert twice == []
    assert [row for row in rows if not all(row)] == []
    assert [row[0] for row in rows if not re.search(r"[一-鿿]|[A-Za-z]", row[2])] == []


@pytest.mark.parametrize(("english", "vietnamese"), AGREED.items())
def test_agreed_terms_are_those_of_the_glossary(english: str, vietnamese: str) -> None:
    assert english in glossary()
    assert vietnamese in glossary()[english][0], "the glossary has another Vietnamese term"
    assert glossary()[english][1], "the glossary has no Chinese term"


@pytest.mark.parametrize("page", PAGES)
def test_every_catalogue_belongs_to_a_page(page: str) -> None:
    assert page in documents()
    assert source(page).is_file()


@pytest.mark.parametrize("page", PAGES)
def test_formulas_code_links_and_numbers_are_those_of_the_english_text(page: str) -> None:
    changed = []
    for message, translation in translated(page):
        for pattern in (FORMULA, CODE, LINK):
            if Counter(pattern.findall(message)) != Counter(pattern.findall(translation)):
                changed.append((pattern.pattern, message, translation))
        plain = [NUMBER.findall(LINK.sub("", CODE.sub("", text))) for text in (message, translation)]
        if Counter(plain[0]) != Counter(plain[1]):
            changed.append(("number", message, translation))
        for mark in ("**", "[", "]("):
            if message.count(mark) != translation.count(mark):
                changed.append((mark, message, translation))
    assert changed == []


@pytest.mark.parametrize("page", PAGES)
def test_translations_use_the_agreed_terms(page: str) -> None:
    strayed = []
    for message, translation in translated(page):
        for english, vietnamese in AGREED.items():
            agreed = WAIVED.get((page, english), vietnamese)
            stem = english.lower().removesuffix("y")
            ending = "(?:y|ies)" if english.endswith("y") else "s?"
            if re.search(rf"(?<![\w-]){stem}{ending}(?![\w-])", words(message)) and (
                agreed.lower() not in translation.lower()
            ):
                strayed.append((english, agreed, message, translation))
    assert strayed == []


def test_most_of_parts_1_and_2_the_landing_page_and_the_glossary_are_translated() -> None:
    """The English text may run ahead of its translation, but not far."""
    parts = [
        page for page in documents() if page.startswith(("notebooks/foundations", "notebooks/attention"))
    ]
    behind = []
    for page in [*parts, "book/intro", "book/glossary"]:
        assert page in PAGES
        found = catalogues.translations(LANGUAGE, page)
        if sum(map(bool, found.values())) < 0.8 * len(found):
            behind.append(page)
    assert behind == []


def test_a_catalogue_survives_being_written_and_read(tmp_path: Path) -> None:
    messages = {'One "quoted" line\nand a $\\frac12$': "Một dòng", "two": ""}
    path = tmp_path / "page.po"
    path.write_text(catalogues.written(LANGUAGE, messages), encoding="utf-8")
    assert {
        str(message.id): str(message.string) for message in catalogues.load(path) if message.id
    } == messages


@pytest.fixture(scope="module", params=documents())
def pair(site: str, request: pytest.FixtureRequest) -> tuple[str, Path, Path]:
    """A page in English and in Vietnamese."""
    english, vietnamese = HTML / f"{request.param}.html", HTML / LANGUAGE / f"{request.param}.html"
    assert vietnamese.is_file(), "the book was built in one language only: run `make book`"
    return request.param, english, vietnamese


def test_a_page_names_its_language_and_leads_to_the_other(pair: tuple[str, Path, Path]) -> None:
    _, *paths = pair
    for path, other, code, target in zip(paths, paths[::-1], ("en", "vi"), ("vi", "en"), strict=True):
        soup = parsed(path)
        assert soup.html is not None
        assert soup.html["lang"] == code
        [switch] = soup.select("a.language-switch")
        assert (switch["hreflang"], switch["lang"]) == (target, target)
        assert (path.parent / str(switch["href"])).resolve() == other.resolve()
        [alternate] = soup.select("head link[rel=alternate][hreflang]")
        assert alternate["href"] == switch["href"]


def test_a_page_without_translation_says_so_and_stays_english(pair: tuple[str, Path, Path]) -> None:
    page, english, vietnamese = pair
    note = parsed(vietnamese).select_one("div.not-translated")
    assert parsed(english).select_one("div.not-translated") is None
    if page in PAGES:
        assert note is None
        return
    assert note is not None
    assert "chưa được dịch" in note.get_text()
    body = parsed(vietnamese).select_one("article div[lang=en] h1")
    original = parsed(english).select_one("article h1")
    assert body is not None
    assert original is not None
    assert body.get_text() == original.get_text()


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("notebooks/")])
def test_a_translated_chapter_keeps_code_outputs_and_formulas(site: str, page: str) -> None:
    english, vietnamese = (parsed(HTML / folder / f"{page}.html") for folder in ("", LANGUAGE))
    for kept in ("div.cell_input pre", "div.cell_output pre", ".math", "article img", "section[id]"):
        count = len(english.select(kept))
        assert len(vietnamese.select(kept)) == count, kept
    for kept in ("div.cell_input pre", "div.cell_output pre"):
        assert [box.get_text() for box in vietnamese.select(kept)] == [
            box.get_text() for box in english.select(kept)
        ]
    folded = {summary.get_text() for summary in vietnamese.select("article details > summary")}
    assert not folded & {"Answer", "Hint", "Solution"}


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_switch_leads_to_the_same_page_and_back(
    browser: Browser, site: str, width: int, scheme: str
) -> None:
    with opened(browser, site, "notebooks/foundations/tensors", width, scheme) as (page, visit):
        page.locator("a.language-switch").click()
        page.wait_for_url("**/vi/notebooks/foundations/tensors.html")
        # A request that leaving the page cuts off would count as failed.
        page.wait_for_load_state("networkidle")
        assert page.locator("article h1").inner_text().split("#")[0].strip().endswith("Tensor và ký hiệu")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.locator("a.language-switch").click()
        page.wait_for_url(f"{site}notebooks/foundations/tensors.html")
        page.wait_for_load_state("networkidle")
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


@pytest.mark.browser
def test_the_switch_works_from_a_folder_without_javascript(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto((HTML / "book" / "intro.html").as_uri())
        page.locator("a.language-switch").click()
        assert page.url == (HTML / "vi" / "book" / "intro.html").as_uri()
        assert "Từ chú ý đến ứng dụng" in page.title()
    finally:
        context.close()
