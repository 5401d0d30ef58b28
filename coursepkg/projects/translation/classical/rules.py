"""Translation by rule: look up every Chinese word, join neighbours, reorder them.

    这 本 书          det cl noun        classifier, noun, det     quyển sách này
    新 的 手机        adj 的 noun        noun adj                  điện_thoại mới
    昨天 晚上         day part           part day                  tối hôm_qua

No rule knows a whole sentence: each sees a few neighbours and makes one chunk of them,
which later rules may join again. This is shallow transfer, as in Apertium (Forcada et
al., Machine Translation 25(2), 2011). Nothing is learnt from sentences: the rules are
written by hand, and the dictionary is the phrasebook's lexicon, with the function words
that it lacks listed here. Every word has one translation, whatever the sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from coursepkg.projects.translation.errors.numerals import find_numbers, spell
from coursepkg.projects.translation.phrasebook.lexicon import table

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
unit    年 năm, 天 ngày, 分钟 phút, 小时 tiếng, 岁 tuổi, 公里 ki_lô_mét
unit    公斤 cân, 块 tệ, 越南盾 đồng, 楼 tầng, 路 số
side    上 trên, 里 trong
adj     远 xa, 好 giỏi, 难 khó
degree  很 rất, 有点 hơi, 太 quá, 最 nhất
verb    去 đi, 到 đến, 来 đến, 有 có, 找 tìm, 给 cho
verb    住 ở, 遇到 gặp, 找到 tìm thấy, 送 mang, 租 thuê, 等 đợi
verb    教 dạy, 借 mượn, 帮 giúp, 告诉 nói với, 学习 học, 学 học
verb    带 mang, 疼 đau, 下雨 mưa, 叫 tên là, 当 làm
verb    打 chơi, 画 vẽ, 放 để, 开门 mở_cửa, 关门 đóng_cửa
verb    见面 gặp nhau, 试试 thử, 看看 xem, 下车 xuống xe
verb    忘 quên, 丢 mất, 订 đặt, 打折 giảm_giá, 付款 trả
modal   要 sẽ, 想 muốn, 可以 có_thể, 会 biết, 能 có_thể
modal   得 phải, 应该 nên, 打算 định, 喜欢 thích, 正在 đang
modal   需要 cần, 不用 không cần, 开始 bắt_đầu
mark    不 không, 没 không, 没有 không có, 还 vẫn, 都 đều, 已经 đã
mark    请 làm_ơn, 吗 không, 吧 nhé, 就 thì, 如果 nếu
mark    常常 thường, 很少 ít_khi, 再 thêm, 更 hơn, 以前 trước_đây, 从来 bao_giờ, 多 nhiều, 少 ít
word    是 là, 和 và, 从 từ, 离 cách, 比 hơn, 什么 gì
word    哪里 đâu, 多少 bao_nhiêu, 钱 tiền, 但是 nhưng, 还是 hay
word    怎么 thế_nào, 谁 ai, 一样 bằng, 自己 mình, 一起 cùng, 在 ở
word    房间 phòng, 约 hẹn, 往 về, 天气 trời, 用 bằng
word    生日 sinh_nhật, 帮助 giúp_đỡ, 火车票 vé tàu_hỏa, 一点 hơn, 这里 đây
word    点 giờ, 号 ngày, 。 ., ？ ?
skip    的, 了, 过, 把
"""
"""Kind, then Chinese words with their Vietnamese; what is skipped has none."""

_TABLES = """
people:person nouns:noun places:place inside:place cities:name countries:name
body:noun jobs:noun ingredients:noun relations:side adjectives:adj qualities:adj
tastes:adj colors:adj weather:adj locations:noun activities:verb errands:verb
favors:verb advice:verb daily:verb complaints:verb trips:verb rides:verb
"""
TABLES = dict(pair.split(":") for pair in _TABLES.split())
"""Tables of the lexicon, by importance, and the kind of their (first) words."""


@dataclass(frozen=True)
class Chunk:
    """One or more Chinese words with their translation (shallow transfer)."""

    source: str
    kind: str
    target: tuple[str, ...]
    classifier: tuple[str, ...] = ()
    """Of a noun: what stands between a number and it."""


def look_up(token: str) -> Chunk:
    """A Chinese word with its kind and translation; the kind may be `unknown`."""
    known = dictionary().get(token)
    if known is not None:
        return known
    if token.isdecimal():
        return Chunk(token, "num", (token,))
    numbers = find_numbers(list(token), "zh")
    is_whole = [number[1:3] for number in numbers] == [(0, len(token))]
    spelt = spell(int(numbers[0].value), "vi") if is_whole else None
    if spelt is None:
        return Chunk(token, "unknown", (token,))
    return Chunk(token, "num", tuple(spelt.split()))


@cache
def dictionary() -> dict[str, Chunk]:
    """Every function word, and every word of the lexicon in its most frequent sense."""
    entries = _measure_words() | {piece.source: piece for piece in _function_words()}
    for name, kind in TABLES.items():
        senses: dict[str, Counter[Chunk]] = defaultdict(Counter)
        for row in table(name):
            classifier = row.get("classifier") or ""
            for i, (word, target) in enumerate(_words(row["zh"], row["vi"])):
                role = kind if i == 0 else "kin" if kind == "person" else "noun"
                senses[word][Chunk(word, role, target, tuple(classifier.split()))] += 1
        for word, pieces in senses.items():
            entries.setdefault(word, pieces.most_common(1)[0][0])
    for row in table("countries"):
        person, language = row["zh"] + "人", row["language_zh"]
        entries[person] = Chunk(person, "noun", ("người", row["vi"]))
        entries[language] = Chunk(language, "noun", ("tiếng", row["language_vi"]))
    return entries


def _measure_words() -> dict[str, Chunk]:
    """Chinese measure words with the most frequent Vietnamese classifier."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in table("nouns"):
        counts[row["measure"]][row["classifier"]] += 1
    return {
        measure: Chunk(measure, "cl", tuple(found.most_common(1)[0][0].split()))
        for measure, found in counts.items()
    }


def _function_words() -> Iterator[Chunk]:
    yield Chunk("，", "word", (",",))
    for line in FUNCTION_WORDS.strip().splitlines():
        kind, words = line.split(maxsplit=1)
        for pair in words.split(", "):
            word, *target = pair.split()
            yield Chunk(word, kind, tuple(target))


def _words(zh: str, vi: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The Chinese words of a row with the Vietnamese words of the same marks."""
    sides = [[word.partition("/")[::2] for word in side.split()] for side in (zh, vi)]
    for word, marks in sides[0]:
        shared = tuple(
            text
            for text, others in sides[1]
            if set(marks.split(",")) & set(others.split(","))
        )
        if marks and shared:
            yield word, shared
        elif not marks and len(sides[0]) == 1:
            yield word, tuple(text for text, _ in sides[1])


RULES = """
今天 part -> time: 2 nay
明天 part -> time: 2 mai
day part -> time: 2 1
每天 part -> time: mỗi 2
上 个 period -> time: 3 trước
下 个 period -> time: 3 sau
这 个 period -> time: 3 này
每 个 period|weekday -> time: 1 3
num 点 半 -> clock: 1 giờ rưỡi
num 点 num 分 -> clock: 1 giờ 3 phút
num 点 -> clock: 1 giờ
part clock -> clock: 2 1
weekday clock -> clock: 2 1
person kin -> person: 2 1
num 房间|楼|路 -> place: 2 1
最 adj -> adj: 2 nhất
太 adj 了 -> adj: 2 quá
adj 的 noun -> noun: 3 1
adj noun -> noun: 2 1
det cl noun -> np: 3c 3 1
quant noun -> np: những 2c 2 1
num cl noun|kin -> np: 1 3c 3
num cl unit|period -> np: 1 3
det cl -> np: 2 1
det 是 -> word: đây 2
person 的 noun|生日 -> np: 3 của 1
noun|place side|上|里 -> place: 2 1
比 np|person|name|noun adj -> adj: 3 hơn 2
和 np|person 一样 adj -> adj: 4 bằng 2
和 person 一起 -> with: cùng 2
在 place|name|noun -> at: ở 2
verb 了 -> verb: đã 1
verb 过 -> verb: đã từng 1
verb noun 了 -> vp: đã 1 2
at verb np|noun|person -> vp: 2 3 1
at verb -> vp: 2 1
clock verb np|noun -> vp: 2 3 lúc 1
clock verb|vp -> vp: 2 lúc 1
"""
"""Neighbours by kind or word -> kind of the result: its order; `3c` a classifier."""


@dataclass(frozen=True)
class Rule:
    """Neighbours that make one piece."""

    pattern: tuple[frozenset[str], ...]
    """For each neighbour, the kinds or Chinese words that it may be."""
    order: tuple[str, ...]
    """Numbers of the neighbours, `3c` for a classifier, and words that are added."""
    kind: str

    @classmethod
    def parse(cls, line: str) -> "Rule":
        """Read a line of `RULES`.

        Raises:
            ValueError: the line has no arrow or no colon, or names a neighbour that is
                not there.
        """
        pattern, arrow, result = line.partition(" -> ")
        kind, colon, order = result.partition(": ")
        if not (arrow and colon):
            raise ValueError(f"rule {line!r} must read 'neighbours -> kind: order'")
        neighbours = tuple(frozenset(names.split("|")) for names in pattern.split())
        numbers = [int(item.rstrip("c")) for item in order.split() if item[0].isdigit()]
        if not numbers or not all(1 <= number <= len(neighbours) for number in numbers):
            raise ValueError(
                f"rule {line!r} has {len(neighbours)} neighbours; its order must name"
                " some of them"
            )
        return cls(neighbours, tuple(order.split()), kind.strip())

    def apply(self, pieces: Sequence[Chunk]) -> list[Chunk]:
        """Join wherever the pattern fits, from left to right."""
        joined, at, size = [], 0, len(self.pattern)
        while at < len(pieces):
            found = pieces[at : at + size]
            fits = len(found) == size and all(
                piece.kind in names or piece.source in names
                for piece, names in zip(found, self.pattern, strict=True)
            )
            joined.append(self._join(found) if fits else pieces[at])
            at += size if fits else 1
        return joined

    def _join(self, found: Sequence[Chunk]) -> Chunk:
        target: list[str] = []
        heads = []
        for item in self.order:
            if not item[0].isdigit():
                target.append(item)
                continue
            heads.append(found[int(item.rstrip("c")) - 1])
            target += heads[-1].classifier if item.endswith("c") else heads[-1].target
        source = " ".join(piece.source for piece in found)
        return Chunk(source, self.kind, tuple(target), heads[0].classifier)


class RuleTranslator:
    """Chinese words into Vietnamese words, by a dictionary and by ordered rules.

    Example:
        >>> RuleTranslator().translate("我 买 了 三 本 新 书 。".split())
        ['Tôi', 'đã', 'mua', 'ba', 'quyển', 'sách', 'mới', '.']
    """

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        """With the rules of this module or others; without any it is word for word."""
        self.rules = tuple(
            map(Rule.parse, RULES.strip().splitlines()) if rules is None else rules
        )

    def translate(self, tokens: Sequence[str]) -> list[str]:
        """The translation as words; a word that the dictionary lacks stays Chinese."""
        words = [word for piece in self.steps(tokens)[-1] for word in piece.target]
        return [words[0][0].upper() + words[0][1:], *words[1:]] if words else []

    def steps(self, tokens: Sequence[str]) -> list[list[Chunk]]:
        """The pieces after look-up, and after each rule that joined some."""
        steps = [[look_up(token) for token in tokens]]
        for rule in self.rules:
            pieces = rule.apply(steps[-1])
            if pieces != steps[-1]:
                steps.append(pieces)
        return steps
