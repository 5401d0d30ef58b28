"""Translation by rule: look every Chinese word up, join neighbours into phrases, put each phrase in Vietnamese order.

    这 本 书          det cl noun        classifier of the noun, noun, det      quyển sách này
    新 的 手机        adj 的 noun        noun adj                               điện_thoại mới
    昨天 晚上         day part           part day                               tối hôm_qua

No rule knows a whole sentence: each sees a few neighbours and makes one piece of them, which later rules may join
again. This is shallow transfer, as in Apertium (Forcada et al., Machine Translation 25(2), 2011). Nothing is
learnt from sentences: the dictionary is `rule_lexicon`, and the rules are written by hand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coursepkg.projects.translation.classical.rule_lexicon import Piece, look_up

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
"""Neighbours by kind or Chinese word -> kind of the piece they make: its order; `3c` is the classifier of the third."""


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
            ValueError: the line has no arrow or no colon, or names a neighbour that is not there.
        """
        pattern, arrow, result = line.partition(" -> ")
        kind, colon, order = result.partition(": ")
        if not (arrow and colon):
            raise ValueError(f"rule {line!r} must read 'neighbours -> kind: order'")
        neighbours = tuple(frozenset(names.split("|")) for names in pattern.split())
        numbers = [int(item.rstrip("c")) for item in order.split() if item[0].isdigit()]
        if not numbers or not all(1 <= number <= len(neighbours) for number in numbers):
            raise ValueError(
                f"rule {line!r} has {len(neighbours)} neighbours; its order must name some of them"
            )
        return cls(neighbours, tuple(order.split()), kind.strip())

    def apply(self, pieces: Sequence[Piece]) -> list[Piece]:
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

    def _join(self, found: Sequence[Piece]) -> Piece:
        target: list[str] = []
        for item in self.order:
            if not item[0].isdigit():
                target.append(item)
            elif item.endswith("c"):
                target += found[int(item[:-1]) - 1].classifier
            else:
                target += found[int(item) - 1].target
        head = next(found[int(item.rstrip("c")) - 1] for item in self.order if item[0].isdigit())
        return Piece(" ".join(piece.source for piece in found), self.kind, tuple(target), head.classifier)


class RuleTranslator:
    """Chinese words into Vietnamese words, by a dictionary and by rules that act one after another.

    Example:
        >>> RuleTranslator().translate("我 买 了 三 本 新 书 。".split())
        ['Tôi', 'đã', 'mua', 'ba', 'quyển', 'sách', 'mới', '.']
    """

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        """With the rules of this module, or with others; none at all is translation word for word."""
        self.rules = tuple(map(Rule.parse, RULES.strip().splitlines()) if rules is None else rules)

    def translate(self, tokens: Sequence[str]) -> list[str]:
        """The translation as words; a word that the dictionary lacks stays Chinese."""
        words = [word for piece in self.steps(tokens)[-1] for word in piece.target]
        return [words[0][0].upper() + words[0][1:], *words[1:]] if words else []

    def steps(self, tokens: Sequence[str]) -> list[list[Piece]]:
        """The pieces after look-up, and after each rule that joined some."""
        steps = [[look_up(token) for token in tokens]]
        for rule in self.rules:
            pieces = rule.apply(steps[-1])
            if pieces != steps[-1]:
                steps.append(pieces)
        return steps
