"""The dictionary of the rule-based translator: Chinese words with their kind, their Vietnamese, and their classifier.

Content words come from the lexicon of the Phrasebook, whose rows say by marks which words belong together. Function
words, which a lexicon of things and deeds lacks, are listed here. Every word has one translation: the dictionary cannot
see the sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from coursepkg.projects.translation.errors.numerals import find_numbers, spell
from coursepkg.projects.translation.phrasebook.tables import table

FUNCTION_WORDS = """
det     这 này, 那 kia
quant   这些 này
num     一 một, 几 mấy
day     今天 hôm_nay, 明天 ngày_mai, 昨天 hôm_qua, 后天 ngày_kia, 前天 hôm_kia
every   每天 mỗi ngày, 每 mỗi
part    早上 sáng, 上午 sáng, 下午 chiều, 晚上 tối
period  星期 tuần, 月 tháng, 周末 cuối_tuần
weekday 星期一 thứ_hai, 星期二 thứ_ba, 星期三 thứ_tư, 星期四 thứ_năm, 星期五 thứ_sáu, 星期六 thứ_bảy
weekday 星期天 chủ_nhật
unit    年 năm, 天 ngày, 分钟 phút, 小时 tiếng, 岁 tuổi, 公里 ki_lô_mét, 公斤 cân, 块 tệ, 越南盾 đồng, 楼 tầng, 路 số
side    上 trên, 里 trong
adj     远 xa, 好 giỏi, 难 khó
degree  很 rất, 有点 hơi, 太 quá, 最 nhất
verb    去 đi, 到 đến, 来 đến, 有 có, 找 tìm, 给 cho, 住 ở, 遇到 gặp, 找到 tìm thấy, 送 mang, 租 thuê, 等 đợi
verb    教 dạy, 借 mượn, 帮 giúp, 告诉 nói với, 学习 học, 学 học, 带 mang, 疼 đau, 下雨 mưa, 叫 tên là, 当 làm
verb    打 chơi, 画 vẽ, 放 để, 开门 mở_cửa, 关门 đóng_cửa, 见面 gặp nhau, 试试 thử, 看看 xem, 下车 xuống xe
verb    忘 quên, 丢 mất, 订 đặt, 打折 giảm_giá, 付款 trả
modal   要 sẽ, 想 muốn, 可以 có_thể, 会 biết, 能 có_thể, 得 phải, 应该 nên, 打算 định, 喜欢 thích, 正在 đang
modal   需要 cần, 不用 không cần, 开始 bắt_đầu
mark    不 không, 没 không, 没有 không có, 还 vẫn, 都 đều, 已经 đã, 请 làm_ơn, 吗 không, 吧 nhé, 就 thì, 如果 nếu
mark    常常 thường, 很少 ít_khi, 再 thêm, 更 hơn, 以前 trước_đây, 从来 bao_giờ, 多 nhiều, 少 ít
word    是 là, 和 và, 从 từ, 离 cách, 比 hơn, 什么 gì, 哪里 đâu, 多少 bao_nhiêu, 钱 tiền, 但是 nhưng, 还是 hay
word    怎么 thế_nào, 谁 ai, 一样 bằng, 自己 mình, 一起 cùng, 在 ở, 房间 phòng, 约 hẹn, 往 về, 天气 trời, 用 bằng
word    生日 sinh_nhật, 帮助 giúp_đỡ, 火车票 vé tàu_hỏa, 一点 hơn, 这里 đây, 点 giờ, 号 ngày, 。 ., ？ ?
skip    的, 了, 过, 把
"""
"""Kind, then Chinese words with their Vietnamese; what is skipped has none."""

TABLES = {
    **{"people": "person", "nouns": "noun", "places": "place", "inside": "place", "cities": "name"},
    **{"countries": "name", "body": "noun", "jobs": "noun", "ingredients": "noun", "relations": "side"},
    **{"adjectives": "adj", "qualities": "adj", "tastes": "adj", "colors": "adj", "weather": "adj"},
    **{"locations": "noun", "activities": "verb", "errands": "verb", "favors": "verb", "advice": "verb"},
    **{"daily": "verb", "complaints": "verb", "trips": "verb", "rides": "verb"},
}
"""Tables of the lexicon, by importance, and the kind of their words; in a row of several, that of the first."""


@dataclass(frozen=True)
class Piece:
    """One or more Chinese words with their translation."""

    source: str
    kind: str
    target: tuple[str, ...]
    classifier: tuple[str, ...] = ()
    """Of a noun: what stands between a number and it."""


def look_up(token: str) -> Piece:
    """A Chinese word with its kind and its translation; the kind of a word that nobody knows is `unknown`."""
    known = dictionary().get(token)
    if known is not None:
        return known
    numbers = find_numbers(list(token), "zh")
    spelt = (
        spell(int(numbers[0].value), "vi") if len(numbers) == 1 and numbers[0].stop == len(token) else None
    )
    if spelt is None or token.isdecimal():
        return Piece(token, "num" if token.isdecimal() else "unknown", (token,))
    return Piece(token, "num", tuple(spelt.split()))


@cache
def dictionary() -> dict[str, Piece]:
    """Every word of the lexicon, in the sense that most rows have, and every function word, which goes first."""
    entries = _measure_words() | {piece.source: piece for piece in _function_words()}
    for name, kind in TABLES.items():
        senses: dict[str, Counter[Piece]] = defaultdict(Counter)
        for row in table(name):
            classifier = row.get("classifier") or ""
            for i, (word, target) in enumerate(_words(row["zh"], row["vi"])):
                role = kind if i == 0 else "kin" if kind == "person" else "noun"
                senses[word][Piece(word, role, target, tuple(classifier.split()))] += 1
        for word, pieces in senses.items():
            entries.setdefault(word, pieces.most_common(1)[0][0])
    for row in table("countries"):
        person, language = row["zh"] + "人", row["language_zh"]
        entries[person] = Piece(person, "noun", ("người", row["vi"]))
        entries[language] = Piece(language, "noun", ("tiếng", row["language_vi"]))
    return entries


def _measure_words() -> dict[str, Piece]:
    """Chinese measure words with the classifier that most of their nouns have in Vietnamese."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in table("nouns"):
        counts[row["measure"]][row["classifier"]] += 1
    return {
        measure: Piece(measure, "cl", tuple(found.most_common(1)[0][0].split()))
        for measure, found in counts.items()
    }


def _function_words() -> Iterator[Piece]:
    yield Piece("，", "word", (",",))
    for line in FUNCTION_WORDS.strip().splitlines():
        kind, words = line.split(maxsplit=1)
        for pair in words.split(", "):
            word, *target = pair.split()
            yield Piece(word, kind, tuple(target))


def _words(zh: str, vi: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The Chinese words of a row with the Vietnamese words that carry a mark of theirs."""
    sides = [[word.partition("/")[::2] for word in side.split()] for side in (zh, vi)]
    for word, marks in sides[0]:
        shared = tuple(text for text, others in sides[1] if set(marks.split(",")) & set(others.split(",")))
        if marks and shared:
            yield word, shared
        elif not marks and len(sides[0]) == 1:
            yield word, tuple(text for text, _ in sides[1])
