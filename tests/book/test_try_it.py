"""The models that run in the page answer as the package does, and load nothing before they are asked to."""

import io
from itertools import islice

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from coursepkg.projects.ocr import Recognizer
from coursepkg.projects.ocr.synthetic.render import SyntheticLines
from coursepkg.projects.translation import Translator
from coursepkg.projects.translation.predict import PUT_IN, Translation
from tests.book.browser import opened, served
from tests.book.demos import MINUTE, PAGE, demo, load, without_network
from tests.book.sources import HTML

pytestmark = pytest.mark.browser

HEAVY = ("_static/models/", "_static/onnxruntime/", "_demo.js")
VIETNAMESE = (
    "Khách sạn ở đâu?",
    "Cái áo này giá bao nhiêu?",
    "Tôi muốn mua hai vé.",
    "Anh ấy không sống ở đây nữa.",
    "Cuộc họp bắt đầu lúc 8:30.",
    "Trời hôm nay đẹp quá!",
    "Bạn có thể giúp tôi không?",
    "Tôi bị mất hộ chiếu.",
    "Chị ấy có hai con và một con chó.",
    "Giá 45.000 đồng một bát phở.",
    "Xin chào, bạn tên là gì?",
    "Em trai tôi cao hơn tôi.",
    "Chúng tôi đã đợi ba tiếng.",
    "Tôi không biết phải nói gì...",
    "Nhà thuốc gần nhất ở đâu?",
    "Mở cửa sổ ra đi.",
    "Hôm qua tôi đi chợ với mẹ.",
    "Con mèo đang ngủ trên ghế.",
    "Cảm ơn anh rất nhiều.",
    "Tàu chạy lúc mấy giờ?",
    "Quyển sách này viết năm 1987.",
    "Bạn nói chậm lại được không?",
    "Bảo tàng đóng cửa vào thứ hai.",
    "Rẽ trái ở đèn giao thông thứ hai.",
)
"""Translated both into English and into Chinese."""
SENTENCES = {
    ("en", "vi"): [
        "Where is the hotel?",
        "How much is this shirt?",
        "I would like two tickets, please.",
        "He doesn't live here any more.",
        "The meeting starts at 8:30 on 12/03/2024.",
        '"Come in," she said.',
        "Can you help me?",
        "The file MAX_SIZE was not found in OneDrive.",
        "Please send it to a.b@example.org.",
        "It costs 1,024 dollars.",
        "My brother is taller than I am.",
        "What time does the train leave?",
        "We have been waiting for three hours.",
        "Open the settings & restart.",
        "I don't know what to say...",
        "They bought a new house near the river last year.",
        "Press ② and then 5.",
        "Turn left here. Mr. Lee is waiting; where are you?",
        "Is there a pharmacy nearby?",
        "The shop opens at 10:30am.",
        "She has two children and a dog.",
        "This book was written in 1987 by a doctor.",
        "Could you speak more slowly?",
        "The museum is closed on the 21st of May.",
        "I lost my passport yesterday.",
    ],
    ("vi", "en"): [*VIETNAMESE, "Họ mua một căn nhà mới (gần sông)."],
    ("zh", "vi"): [
        "酒店在哪里？",
        "这件衬衫多少钱？",
        "我想买两张票。",
        "他已经不住在这里了。",
        "会议8:30开始。",
        "今天天气很好！",
        "你能帮我吗？",
        "我的护照丢了。",
        "她有两个孩子和一只狗。",
        "我哥哥比我高。",
        "火车几点出发？",
        "我们等了三个小时。",
        "我不知道该说什么……",
        "最近的药店在哪里？",
        "请把窗户打开。",
        "昨天我和妈妈去了市场。",
        "猫在椅子上睡觉。",
        "非常感谢你。",
        "这本书是1987年写的。",
        "你能说慢一点吗？",
        "博物馆星期一不开门。",
        "再见！明天我们在2号门见。你来吗？",
        "他们买了一座新房子。",
        "我喜欢喝咖啡，不喜欢喝茶。",
        "我想改变 JAL 4002 航班。",
    ],
    ("vi", "zh"): [*VIETNAMESE, "Họ mua một căn nhà mới."],
}


def translated(page: Page, text: str, way: tuple[str, str]) -> str:
    """What the form answers."""
    box = demo(page, "translation")
    box.get_by_label("Languages").select_option("-".join(way))
    box.get_by_label("Sentence").fill(text)
    button = box.get_by_role("button", name="Translate", exact=True)
    button.click()
    expect(button).to_be_enabled(timeout=MINUTE)
    return box.locator(".try-it-answer").inner_text()


def answer(ours: Translation) -> str:
    """What the form should answer: the text of the package, and its note on what was put in."""
    put_in = [note for note in ours.note.split("; ") if note.startswith(PUT_IN)]
    return "\n".join([ours.text, *(f"{note[0].upper()}{note[1:]}." for note in put_in)])


def test_nothing_is_loaded_before_the_click(browser: Browser, live: str) -> None:
    asked: list[str] = []
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        page.on("request", lambda request: asked.append(request.url))
        page.reload(wait_until="networkidle")
        assert any("try_it/start.js" in url for url in asked)
        assert [url for url in asked if any(part in url for part in HEAVY)] == []
        load(page, "translation")
        assert all(any(part in url for url in asked) for part in HEAVY)
        models = [url for url in asked if "_static/models/" in url]
        assert len(models) == len(set(models))
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


CHAPTERS = {
    "notebooks/translation/modern_model": "translation",
    "notebooks/ocr/recogniser": "ocr",
    "notebooks/sign_language/sign_landmarks": "sign_language",
}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_chapter_on_a_model_runs_it_too(browser: Browser, live: str, chapter: str) -> None:
    name = CHAPTERS[chapter]
    with opened(browser, live, chapter, 1280, "light") as (page, visit):
        assert page.locator(".try-it").count() == 1
        if name == "sign_language":
            # Its networks are tried on the page of all demos.
            expect(demo(page, name).locator(".try-it-load")).to_be_visible()
            return
        load(page, name)
        if name == "translation":
            assert "Khách sạn" in translated(page, "Where is the hotel?", ("en", "vi"))
        else:
            assert len(lines_read(page, "Read this example")) == 4
        assert (visit.errors, visit.failed, visit.foreign) == ([], [], [])


def test_translations_are_those_of_the_package_and_need_no_network(browser: Browser, live: str) -> None:
    translator = Translator.load_default()
    with opened(browser, live, PAGE, 1280, "light") as (page, _):
        load(page, "translation")
        with without_network(page) as tried:
            for way, texts in SENTENCES.items():
                ours = translator.translate(texts, source=way[0], target=way[1])
                found = [translated(page, text, way) for text in texts]
                assert found == [answer(one) for one in ours], way
        assert tried == []
    assert sum(map(len, SENTENCES.values())) == 100


@pytest.mark.parametrize(
    "text",
    ["Where is the hotel?", "The meeting starts at 8:30 on 12/03/2024.", "1. Come in, please. How are you?"],
)
def test_the_alignment_is_that_of_the_package(browser: Browser, live: str, text: str) -> None:
    way = ("en", "vi")
    (ours,) = Translator.load_default().translate([text], source="en", target="vi", alignments=True)
    assert ours.alignment is not None
    with opened(browser, live, PAGE, 1280, "light") as (page, _):
        load(page, "translation")
        translated(page, text, way)
        rows = (
            demo(page, "translation")
            .locator("tbody tr")
            .evaluate_all(
                "rows => rows.map(row => [...row.querySelectorAll('td')]"
                ".map(cell => Number(cell.style.getPropertyValue('--weight'))))"
            )
        )
    np.testing.assert_allclose(np.array(rows), ours.alignment.numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  ", "Write a sentence"),
        ("<2vi> hello", "language tag"),
        ("a▁b", "U+2581"),
        ("word " * 190, "in parts"),
        ("10 11 12 13 14 15 16 17 18 and 19 apples", "more than 9 numbers"),
    ],
)
def test_what_cannot_be_translated_is_named(browser: Browser, live: str, text: str, said: str) -> None:
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        load(page, "translation")
        assert said in translated(page, text, ("en", "vi"))
        assert visit.errors == []


def test_a_page_below_a_sub_path_works(browser: Browser, live: str) -> None:
    with served(HTML.parent) as address, opened(browser, address, f"html/{PAGE}", 390, "dark") as (page, _):
        load(page, "translation")
        assert translated(page, "Where is the hotel?", ("en", "vi")).startswith("Khách sạn")


def test_the_keyboard_is_enough(browser: Browser, live: str) -> None:
    with opened(browser, live, PAGE, 1280, "light") as (page, _):
        demo(page, "translation").locator(".try-it-load").press("Enter")
        form = demo(page, "translation").locator("form")
        form.wait_for(timeout=MINUTE)
        expect(form.get_by_label("Sentence")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        answer = demo(page, "translation").locator(".try-it-answer")
        expect(answer).to_contain_text("Khách sạn", timeout=MINUTE)
        assert answer.get_attribute("aria-live") == "polite"


def picture(image: np.ndarray) -> FilePayload:
    """A picture as the form takes it."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return {"name": "line.png", "mimeType": "image/png", "buffer": file.getvalue()}


def lines_read(page: Page, button: str) -> list[str]:
    """What the form reads after a click."""
    box = demo(page, "ocr")
    clicked = box.get_by_role("button", name=button, exact=True)
    clicked.click()
    expect(clicked).to_be_enabled(timeout=MINUTE)
    return box.locator(".try-it-lines p").all_inner_texts()


def test_lines_are_read_as_the_package_reads_them_and_need_no_network(browser: Browser, live: str) -> None:
    drawn = islice(SyntheticLines(2026), 100)
    images = [line.image for line in drawn]
    ours = [
        one.text or "(nothing read)" for one in Recognizer.load_default().read_lines(images, reader="ctc")
    ]
    found = []
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        load(page, "ocr")
        page.get_by_label("It holds").select_option("line")
        with without_network(page) as tried:
            for image in images:
                page.get_by_label("Picture", exact=True).set_input_files(picture(image))
                found += lines_read(page, "Read the picture")
        assert tried == []
        assert visit.errors == []
    # The same words up to the number of spaces, which a page does not show.
    assert [" ".join(one.split()) for one in found] == [" ".join(one.split()) for one in ours]
    assert len(set(ours)) > 90


def test_the_lines_of_the_example_are_found_and_read(browser: Browser, live: str) -> None:
    with opened(browser, live, PAGE, 390, "dark") as (page, visit):
        load(page, "ocr")
        found = lines_read(page, "Read this example")
        assert demo(page, "ocr").locator(".try-it-answer").inner_text() == "4 lines read."
        assert visit.errors == []
    assert found == [
        "Nhà sách Hoa Phượng",
        "Số 12, đường Nguyễn Trãi, Hà Nội",
        "Từ điển Việt - Anh: 85.000 đồng",
        "Cảm ơn quý khách, hẹn gặp lại!",
    ]


def test_what_cannot_be_read_is_named(browser: Browser, live: str) -> None:
    no_picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": b"text"}
    blank = picture(np.full((90, 300), 250, np.uint8))
    with opened(browser, live, PAGE, 1280, "light") as (page, visit):
        load(page, "ocr")
        answer = demo(page, "ocr").locator(".try-it-answer")
        assert lines_read(page, "Read the picture") == []
        assert answer.inner_text().startswith("Choose a picture first")
        for file, said in ((no_picture, "a.png is no picture"), (blank, "No line of print was found")):
            page.get_by_label("Picture", exact=True).set_input_files(file)
            assert lines_read(page, "Read the picture") == []
            assert said in answer.inner_text()
        assert visit.errors == []


class TestWithoutIt:
    """A sentence stands where the demo cannot run."""

    def sentence(self, page: Page, address: str) -> str:
        page.goto(address)
        box = demo(page, "translation")
        expect(box.locator(".try-it-load")).to_be_hidden()
        expect(box.locator(".try-it-note")).to_be_visible()
        return box.locator(".try-it-note").inner_text()

    def test_scripts(self, browser: Browser, live: str) -> None:
        page = browser.new_context(java_script_enabled=False).new_page()
        assert "needs JavaScript" in self.sentence(page, f"{live}{PAGE}.html")
        page.context.close()

    def test_webassembly(self, browser: Browser, live: str) -> None:
        page = browser.new_context().new_page()
        page.add_init_script("delete window.WebAssembly")
        assert "needs a browser with WebAssembly" in self.sentence(page, f"{live}{PAGE}.html")
        page.context.close()

    def test_a_server(self, browser: Browser, live: str) -> None:
        page = browser.new_context().new_page()
        assert "opened as a file" in self.sentence(page, (HTML / f"{PAGE}.html").as_uri())
        page.context.close()

    def test_the_model(self, browser: Browser, live: str) -> None:
        page = browser.new_context().new_page()
        page.route("**/models/**", lambda route: route.fulfill(status=404))
        page.goto(f"{live}{PAGE}.html")
        box = demo(page, "translation")
        box.locator(".try-it-load").click()
        expect(box.get_by_role("status")).to_contain_text("HTTP status 404", timeout=MINUTE)
        expect(box.locator(".try-it-load")).to_be_enabled()
        page.context.close()
