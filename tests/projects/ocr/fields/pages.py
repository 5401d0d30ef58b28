"""Invented receipts as lines with places, as a reader would give them."""

from collections.abc import Sequence

from coursepkg.projects.ocr.data.geometry import rectangle
from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.page.read import PageLine

HEAD = (
    ("SIÊU THỊ LÚA VÀNG",),
    ("Số 12 đường Hoa Mai, P. An Bình, Cần Thơ",),
    ("HÓA ĐƠN BÁN HÀNG",),
    ("Ngày: 16/01/2021 08:58",),
    ("Tên hàng", "SL", "Đ.Giá", "T.Tiền"),
)
GOODS = (
    ("Bánh tráng mè", "2", "15.000", "30.000"),
    ("Nước sâm", "1", "12.000", "12.000"),
)
SUMS = (
    ("Tổng tiền", "42.000"),
    ("Tiền khách đưa", "50.000"),
    ("Tiền thừa", "8.000"),
)
RECEIPT = (*HEAD, *GOODS, *SUMS)


def page(rows: Sequence[Sequence[str]], confidence: float | Sequence[float] = 1.0) -> list[PageLine]:
    """Rows of texts: the first one on the left, the last one on the right, as far as there are several."""
    texts = [text for row in rows for text in row]
    sure = [confidence] * len(texts) if isinstance(confidence, float) else list(confidence)
    lines: list[PageLine] = []
    for number, row in enumerate(rows):
        for place, text in enumerate(row):
            left = 20 + 560 * place / max(1, len(row))
            box = TextBox(rectangle(left, 30 * number, left + 8 * len(text), 30 * number + 20), 1.0)
            lines.append(PageLine(box, number, text, sure[len(lines)]))
    return lines
