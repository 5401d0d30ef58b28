"""The dictionary of receipts: words that name a total, a time, an address, a shop.

Readers lose diacritics first, so words are compared without them, without case and
without spaces, and a word of seven letters or more may be wrong in one letter, of
fourteen in two. The longest word that a line holds says what the line is about: `tiền
khách đưa` is no total although `tiền` is in it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from coursepkg.metrics.edit import edit_distance
from coursepkg.projects.ocr.fields.values import has_hours
from coursepkg.text.vietnamese import without_marks

TO_PAY, TOTAL, SUBTOTAL = "to pay", "total", "subtotal"
DISCOUNT, TAX, PAID, CHANGE, COUNT = "discount", "tax", "paid", "change", "count"
TITLE, COLUMN, CONTACT, NOTHING = "title", "column", "contact", "nothing"
WHEN, SELLER, ADDRESS = "when", "seller", "address"
MOTTO, DOCUMENT, NO_SALE, CHARGE = "motto", "document", "no sale", "charge"

SUMS = (TO_PAY, TOTAL, SUBTOTAL)
"""Kinds of lines that can say the total, the surest first."""

WORDS: Mapping[str, tuple[str, ...]] = {
    TO_PAY: (
        *("tong thanh toan", "tong tien thanh toan", "tong so tien thanh toan"),
        *("tong so thanh toan", "tong tien phai thanh toan", "tien thanh toan"),
        *("tong tien phai t toan", "so tien phai t toan", "phai thanh toan"),
        *("khach phai tra", "khach can tra", "phai tra", "can thanh toan"),
        *("phai tra la", "tien can thanh toan"),
        *("phai thu", "phai thu khach hang", "tong phai tra", "con phai tra"),
        *("tong tien phai tra", "grand total", "amount due"),
        *("total due", "tong cong thanh toan", "tong sau giam gia", "tong tien tt"),
        *("tong tien sau giam gia", "tong can thanh toan", "con lai phai thanh toan"),
        *("tong tien co thue", "tong tien da co thue", "tong tien sau thue"),
        *("tong cong co thue", "tong tien bao gom thue", "tong sau thue"),
        *("thuc thu", "tong thu", "net total", "balance due"),
        *("tong sau giam", "tong tien sau giam", "tong sau chiet khau", "tong sau ck"),
        *("sau giam", "sau giam gia", "sau chiet khau", "total after discount"),
    ),
    TOTAL: (
        *("tong cong", "tong tien", "tong hoa don", "tong so tien", "tong gia tri"),
        *("tong", "total", "tong cong da gom vat", "tong tien da gom vat", "t cong"),
        *("total amount", "tong don hang", "tong bill", "total vnd", "thanh toan"),
    ),
    SUBTOTAL: (
        *("cong tien hang", "tong tien hang", "tien hang", "thanh tien", "tam tinh"),
        *("subtotal", "sub total", "tong tien truoc giam gia", "cong", "tien mon"),
        *("tong tien truoc giam", "tong truoc giam", "tong truoc giam gia"),
        *("tong truoc chiet khau", "tong truoc ck", "truoc giam", "truoc giam gia"),
        "total before discount",
        *("tong chua giam", "tong tien chua giam", "tong thanh tien"),
        *("tong cong tien hang", "tong tien chua thue", "tong tien truoc thue"),
        *("tien hang chua thue", "tong chua thue", "cong chua thue"),
    ),
    DISCOUNT: (
        *("giam gia", "chiet khau", "tien giam", "khuyen mai", "discount", "voucher"),
        *("tong giam gia", "tong tien giam", "tong tien da giam", "tong chiet khau"),
        *("giam gia hoa don", "tong khuyen mai", "tien chiet khau", "uu dai"),
        *("tong tien duoc giam", "giam", "giam tru"),
    ),
    TAX: (
        "vat",
        "thue",
        "tien thue",
        "thue gtgt",
        "tax",
        "thue suat",
        "thue vat",
        "tong tien thue",
    ),
    PAID: (
        *("khach dua", "tien khach dua", "tien khach tra", "khach tra", "tien mat"),
        *(
            "khach thanh toan",
            "cash",
            "cash vnd",
            "tien nhan",
            "chuyen khoan",
            "the ngan hang",
        ),
        *("quet the", "thanh toan tien mat", "tien khach gui", "da thanh toan"),
        *("thanh toan the", "thanh toan bang the", "tong tien khach dua"),
        *("tong tien da tra", "tien da thanh toan", "the visa", "the mastercard"),
        "vi momo",
    ),
    CHANGE: (
        *("tien thua", "tra lai", "tra lai khach", "tien thoi lai", "tien tra lai"),
        *("tien thoi", "change", "tien thua tra khach", "thoi lai", "tien du"),
        "phai tra lai",
    ),
    COUNT: (
        *("tong so luong", "tong sl", "so luong mat hang", "tong so mon", "tong mon"),
        *(
            "tong so mat hang",
            "tong so luong hang",
            "tong so san pham",
            "diem tich luy",
        ),
        *("tong diem", "diem thuong", "lam tron", "total items", "tong tiet kiem"),
        *("tong tien tiet kiem", "tong tien no", "tien con lai"),
    ),
    TITLE: (
        *("hoa don ban hang", "hoa don ban le", "phieu thanh toan", "hoa don"),
        *("phieu tinh tien", "hoa don thanh toan", "bien lai", "phieu tam tinh"),
        *("hoa don tam tinh", "phieu thu", "phieu giao hang", "receipt", "invoice"),
        *("hoa don gia tri gia tang", "hoa don gtgt", "phieu xuat kho", "phieu bill"),
        *("hinh thuc thanh toan", "phuong thuc thanh toan", "thoi gian thanh toan"),
        *("khong co gia tri thanh toan", "tax invoice"),
    ),
    COLUMN: (
        *("mat hang", "ten hang", "ten mon", "hang hoa", "don gia", "d gia", "t tien"),
        *("s luong", "sl", "dvt", "so luong", "ten san pham", "ma hang", "stt"),
    ),
    CONTACT: (
        *("dt", "tel", "hotline", "sdt", "dien thoai", "mst", "ma so thue", "fax"),
        *("website", "www", "email", "wifi", "phone", "facebook", "vat code"),
        *("thu ngan", "nhan vien", "ban so", "khach hang", "so hd", "so hoa don"),
        *("nvbh", "so phieu", "ma kh", "so gd", "ma hd", "cashier", "ca ban"),
    ),
    NOTHING: (
        *("cam on", "hen gap lai", "thank you", "quy khach", "see you", "xin chao"),
        *("welcome to", "kinh chao", "password", "doi tra"),
    ),
    NO_SALE: (
        *("han su dung", "hsd", "het han", "ngay het han", "gio mo cua", "mo cua tu"),
        *("gio hoat dong", "thoi gian mo cua", "thoi gian hoat dong"),
        *("gio phuc vu", "thoi gian phuc vu", "sinh nhat", "ngay sinh"),
        *("ngay giao", "ngay giao hang", "thoi gian giao hang", "bao hanh den"),
        *("ap dung den", "hoa don theo tt", "hoa don theo thong tu"),
    ),
    WHEN: (
        *("ngay", "ngay ban", "ngay gio", "thoi gian", "gio", "gio vao", "gio ra"),
        *("ngay gio vao", "ngay gio ra", "date", "time", "ngay ct", "ngay hd"),
        *("ngay in", "gio in", "in luc", "print time", "ngay lap", "check in", "luc"),
        *("ngay thang", "date time", "check out", "ngay mua", "thu ngan luc"),
        *("ngay giao dich", "ngay kinh doanh"),
    ),
    SELLER: (
        *("sieu thi", "cua hang", "mart", "minimart", "coffee", "nha hang", "nha sach"),
        *("quan", "tap hoa", "nha thuoc", "ca phe", "cafe", "hieu sach", "tiem banh"),
        *("tra sua", "dai ly", "shop", "bach hoa", "store", "market", "restaurant"),
        *("bakery", "tea", "cong ty", "cty", "chi nhanh", "hop tac xa", "ten dai ly"),
        *("pharmacy", "food", "bep", "com", "pho", "lau", "karaoke", "spa", "hotel"),
        *("khach san", "tiem", "vinmart", "winmart", "vincommerce", "wincommerce"),
        *("co opmart", "big c", "lotte mart", "aeon", "circle k", "familymart"),
        *("ministop", "gs25", "highlands", "phuc long", "trung nguyen", "legend"),
        *("kfc", "lotteria", "jollibee", "pharmacity", "long chau", "fahasa"),
        *("guardian", "satra", "emart", "mega market", "pizza", "bbq", "tra chanh"),
        *("quay hang", "garage", "thoi trang", "my pham", "bistro"),
        *("hai san", "giat ui", "dien may", "salon", "xang dau", "petrolimex"),
    ),
    ADDRESS: (
        *("so", "duong", "pho", "phuong", "quan", "huyen", "tp", "tinh", "thon"),
        *("xa", "ap", "khu", "to", "ngo", "hem", "thanh pho", "thi xa", "thi tran"),
        *("tt", "tx", "kdt", "ql", "km", "lo", "tang", "toa", "toa nha", "chung cu"),
        *("dia chi", "d c", "dc", "add", "address", "p", "q", "h", "t", "d", "x"),
        *("kcn", "quoc lo", "dai lo", "nga tu", "cho", "street", "district", "ward"),
        *("viet nam", "ngach", "kiot", "xom", "tttm", "dia chi dai ly", "khu pho"),
    ),
    CHARGE: (
        *("phi dich vu", "phi phuc vu", "phi ship", "phi van chuyen", "phu thu"),
        *("service charge", "delivery fee", "shipping fee"),
    ),
    MOTTO: ("cong hoa xa hoi chu nghia", "doc lap tu do hanh phuc"),
    DOCUMENT: (
        *(
            "quyet dinh",
            "nghi dinh",
            "thong tu",
            "can cu luat",
            "noi nhan",
            "uy ban nhan dan",
        ),
        *("dieu 1", "chuong i", "kinh gui", "don de nghi", "to khai", "hop dong"),
    ),
}
"""Words by the kind of line they name, folded."""

ADDRESS_NAMES = frozenset({"dia chi", "d c", "dc", "add", "address", "dia chi dai ly"})
"""Words before an address that are no part of it."""

SELLER_NAMES = frozenset(
    {"ten dai ly", "ten cua hang", "cua hang", "don vi ban hang", "ten don vi"}
)
"""Words before a colon that are no part of a shop's name."""

_PLACES = (
    "ha noi,hn,ho chi minh,hcm,tphcm,sai gon,da nang,hai phong,can tho,hue,an giang,"
    "ba ria,vung tau,bac giang,bac kan,bac lieu,bac ninh,ben tre,binh dinh,binh duong,"
    "binh phuoc,binh thuan,ca mau,cao bang,dak lak,dak nong,dien bien,dong nai,"
    "dong thap,gia lai,ha giang,ha nam,ha tinh,hai duong,hau giang,hoa binh,hung yen,"
    "khanh hoa,kien giang,kon tum,lai chau,lam dong,lang son,lao cai,long an,nam dinh,"
    "nghe an,ninh binh,ninh thuan,phu tho,phu yen,quang binh,quang nam,quang ngai,"
    "quang ninh,qn,qnh,quang tri,soc trang,son la,tay ninh,thai binh,thai nguyen,"
    "thanh hoa,thua thien,tien giang,tra vinh,tuyen quang,vinh long,vinh phuc,yen bai,"
    "nha trang,da lat,ha long,cam pha,bien hoa,vinh,thu duc,gia lam,dong da,ba dinh,"
    "cau giay,thanh xuan,hoang mai,long bien,go vap,tan binh,binh thanh,phu nhuan"
)
FIRST_ONLY = frozenset({"quan", "pho", "com", "lau", "bep", "tiem", "food", "tea"})
"""Words of shops that count at the beginning of a line alone."""
PLACES = tuple(_PLACES.split(","))
"""Provinces, cities and large districts of Viet Nam, folded."""


def fold(text: str) -> str:
    """Plain lower-case words: no marks, no punctuation, one space between two.

    Example:
        >>> fold("Đ/C: Số 5, TP.HCM")
        'd c so 5 tp hcm'
    """
    plain = without_marks(text).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain))


class FoundWord(NamedTuple):
    """A word of the dictionary in a line."""

    kind: str
    """A key of `WORDS`."""
    word: str
    """As the dictionary has it."""
    start: int
    """How many of the line's words lie before it."""
    end: int
    """How many of the line's words lie before its end."""


def tolerance(word: str) -> int:
    """How many letters of a word may be wrong, see the head of this module."""
    n_letters = len(word.replace(" ", ""))
    return 0 if n_letters < 7 else 1 if n_letters < 14 else 2


def position(words: Sequence[str], key: str) -> tuple[int, int]:
    """Where a key begins and ends in the words of a folded line; (0, 0) if nowhere.

    The spaces between words do not count: readers join words and cut them apart.

    Example:
        >>> position(["tonq", "cong", "3"], "tong cong")
        (0, 2)
    """
    letters, n_words, errors, pieces = _prepared(key)
    line = "".join(words)
    # With so few errors one piece of the key is whole.
    if not any(piece in line for piece in pieces):
        return 0, 0
    sizes = {n_words, max(1, n_words - 1), n_words + 1} if errors else {n_words}
    for end in range(1, len(words) + 1):
        for size in sizes:
            window = "".join(words[end - size : end]) if size <= end else ""
            if window == letters:
                return end - size, end
            is_near = abs(len(window) - len(letters)) <= errors
            if is_near and errors and edit_distance(window, letters) <= errors:
                return end - size, end
    return 0, 0


@cache
def _prepared(key: str) -> tuple[str, int, int, tuple[str, ...]]:
    """Letters, number of words, tolerated errors, and one piece more than errors."""
    letters, errors = key.replace(" ", ""), tolerance(key)
    bounds = [round(len(letters) * i / (errors + 1)) for i in range(errors + 2)]
    pieces = tuple(letters[a:b] for a, b in pairwise(bounds))
    return letters, key.count(" ") + 1, errors, pieces


@lru_cache(10_000)
def find_words(text: str, kinds: tuple[str, ...]) -> list[FoundWord]:
    """The words of some kinds that a line holds, the longest first.

    A word counts as two letters shorter for each letter in which it differs: `tiền
    thừa`, the change, is no `tiền thuế`.
    """
    words = fold(text).split()
    found = [
        FoundWord(kind, key, start, end)
        for kind in kinds
        for key in WORDS[kind]
        for start, end in [position(words, key)]
        if end
    ]
    return sorted(found, key=lambda one: -len(one.word) + 2 * _differs(one, words))


def _differs(found: FoundWord, words: Sequence[str]) -> int:
    """In how many letters a line has a word of the dictionary otherwise."""
    there = "".join(words[found.start : found.end])
    return edit_distance(there, found.word.replace(" ", ""))


MONEY = (*SUMS, DISCOUNT, TAX, PAID, CHANGE, COUNT)
"""Kinds of lines below the goods."""
LINE_KINDS = (*MONEY, TITLE, COLUMN, CONTACT, NOTHING, NO_SALE, WHEN)
"""Kinds that exclude one another: a line is of the kind of its longest word."""


def line_kind(text: str) -> FoundWord | None:
    """What a line is about, by the longest word in it; None where no word says so.

    What is paid, and when, is named at the beginning of a line; before a word of seven
    letters or more, one that was read out of nothing may stand. A total that names the
    tax which it includes is a total.

    Example:
        >>> line_kind("TIỀN KHÁCH ĐƯA: 100.000").kind
        'paid'
    """
    # Not in LINE_KINDS: the stored line tagger has one feature for each of those.
    found = find_words(text, (*LINE_KINDS, CHARGE))
    words = fold(text).split()
    found = [one for one in found if _is_named_there(one, words)]
    # `Tổng (2 món)` is a total.
    found = [one for one in found if not (one.kind == COUNT and _spans(one, words))]
    if not found:
        return None
    longest = found[0]
    if longest.kind in SUMS:
        return _before_or_after(longest, " ".join(words))
    if longest.kind in (TAX, WHEN):
        named = [one for one in found if one.kind in SUMS]
        named = [one for one in named if one.word not in longest.word]
        named = [one for one in named if one[2:] != longest[2:]]
        return named[0] if named else longest
    return longest


_LESS = r"(?:giam|chiet khau|khuyen mai|ck)"
BEFORE_LESS = re.compile(rf"\b(?:truoc|chua) {_LESS}\b")
_AFTER_LESS = re.compile(rf"\bsau (?:khi )?{_LESS}\b")


def _before_or_after(found: FoundWord, folded: str) -> FoundWord:
    """A sum before a discount is a subtotal, one after it is to pay."""
    if BEFORE_LESS.search(folded):
        return found._replace(kind=SUBTOTAL)
    return found._replace(kind=TO_PAY) if _AFTER_LESS.search(folded) else found


def _spans(found: FoundWord, words: Sequence[str]) -> bool:
    """Whether a number stands within a word that was found."""
    return any(map(str.isdigit, words[found.start : found.end]))


_WITHOUT_TOTAL = frozenset(
    {"truoc giam", "truoc giam gia", "sau giam", "sau giam gia", "sau chiet khau"}
)
"""They name a sum at the beginning alone: `Giá sau giảm` is that of one product."""
_CURRENCIES = frozenset(
    {"vnd", "vn", "d", "usd", "eur", "thb", "baht", "kip", "riel", "rm", "myr", "chf"}
)


def _is_named_there(found: FoundWord, words: Sequence[str]) -> bool:
    """Whether a word names a sum or a time where it stands in a line.

    Short names of sums are common syllables, such as `vat` in `vật liệu`: a number, a
    currency or nothing follows them. `Tổng công ty` is a shop. `Sinh nhật` counts at
    the beginning alone: `Bánh sinh nhật` is sold. Other words name what they name
    wherever they stand.
    """
    if found.kind not in (*MONEY, CHARGE, WHEN):
        return found.word != "sinh nhat" or found.start == 0
    if found.kind in SUMS and words[found.end : found.end + 1] == ["ty"]:
        return False
    if tolerance(found.word):
        return found.start <= (found.word not in _WITHOUT_TOTAL)
    behind = words[found.end : found.end + 1]
    is_alone = not behind or behind[0][0].isdigit() or behind[0] in _CURRENCIES
    return found.start == 0 and (is_alone or found.kind == WHEN)


def seller_words(text: str) -> int:
    """How many words of a line name a kind of shop or a known chain.

    Words that mean something else behind others, such as `quán`, a tavern, which
    without its marks is `quận`, a district, count at the beginning alone, and there
    only without the marks of the other word.
    """
    found = find_words(text, (SELLER,))
    is_place = text.casefold().startswith(("quận ", "phố "))
    return sum(
        (one.start == 0 and not is_place) or one.word not in FIRST_ONLY for one in found
    )


# `0912345678 - 0987654321 Zalo` and `8 - 22 giờ` begin otherwise.
_HOUSE = re.compile(
    r"\W*\d+[a-z]*(?:[/-]\d+[a-z]*|\s?[/-]\s?\d{1,4}(?!\d)[a-z]*)*[\s,]+"
    r"(?!gi[oờ]\b)[^\W\d_]",
    re.I,
)


def _begins_with_house(text: str) -> bool:
    """Whether a line begins with the number of a house; opening hours do not."""
    return _HOUSE.match(text) is not None and not has_hours(text)


# `CS 1` is a branch, `CS 19001234` a telephone.
_ROAD = re.compile(r"(?:(?:ql|km|q|p|lo|to|khu|kp) ?[a-z]?\d+|(?:cs|co so) ?\d{1,2})\b")


def begins_address(text: str) -> bool:
    """Whether a line begins with a house number, a word or a name of addresses."""
    words = find_words(text, (ADDRESS,))
    is_numbered = _begins_with_house(text) or _ROAD.match(fold(text))
    return bool(is_numbered) or any(one.start == 0 for one in words)


def names_address(text: str) -> bool:
    """Whether a line says that it is an address, as `Địa chỉ` does."""
    return any(one.word in ADDRESS_NAMES for one in find_words(text, (ADDRESS,)))


NAMED, STRONG, HOUSE, WEAK = 3.0, 2.0, 1.5, 1.0
"""Strengths of an address (`address_strength`): of a line that may announce
what stands to its right, of one that is an address by itself, of a house number with a
street, and of a line that continues another."""


def address_strength(text: str) -> float:
    """How strongly a line looks like a part of an address; 2 and more is one.

    A name such as `Địa chỉ` counts 3, a province 1.5, a word of addresses 1 and at the
    beginning 2, a house number at the beginning 1.5, each comma or hyphen between words
    0.5.
    """
    words = fold(text).split()
    there = find_words(text, (ADDRESS,))
    found = {one.word for one in there}
    begins = any(one.start == 0 for one in there) or bool(_ROAD.match(" ".join(words)))
    named = bool(found & ADDRESS_NAMES)
    places = any(position(words, place)[1] for place in PLACES)
    house = _begins_with_house(text)
    joints = len(re.findall(r"[^\W_]\s*[,-]\s*[^\W_]", text))
    n_words = min(3, len(found - ADDRESS_NAMES))
    points = 3 * named + 1.5 * places + n_words + begins + 1.5 * house
    return points + 0.5 * min(joints, 3)
