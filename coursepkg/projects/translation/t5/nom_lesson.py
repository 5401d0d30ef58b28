"""A generated lesson of Nom, for where the real texts are missing: a few dozen common words in short sentences.

It is made up and says so: one spelling a word where old texts have several, and sentences of one pattern. It has what
makes reading Nom more than looking up: the syllable năm is 𢆥 as a year and 𠄼 as a number; the character 行 is read
hàng (a row) or hành (to go on foot). The words around decide.
"""

import random
from itertools import product

from coursepkg.arguments import check_count

WHO = {
    "tôi": "碎",
    "anh": "英",
    "chị": "姉",
    "em": "㛪",
    "ông": "翁",
    "bà": "婆",
    "con": "昆",
    "người ta": "𠊛些",
}
DOES = {"có": "固", "thấy": "𧡊", "mua": "𧷸", "nhớ": "𢖵", "bán": "𬥓", "tìm": "尋"}
HOW_MANY = {
    "một": "𠬠",
    "hai": "𠄩",
    "ba": "𠀧",
    "bốn": "𦊚",
    "năm": "𠄼",
    "sáu": "𦒹",
    "tám": "𠔭",
    "chín": "𠃩",
    "mười": "𨑮",
}
WHAT = {
    "con cá": "昆𩵜",
    "con bò": "昆𤙭",
    "con trâu": "昆𤛠",
    "bông hoa": "葻花",
    "cái nhà": "丐茹",
    "cái áo": "丐襖",
    "hàng cây": "行𣘃",
    "quyển sách": "卷冊",
}
WHEN = {
    "hôm nay": "𣋚𫢩",
    "hôm qua": "𣋚戈",
    "ngày mai": "𣈜𣈕",
    "năm nay": "𢆥𫢩",
    "năm ngoái": "𢆥外",
    "lúc bộ hành": "𣅶步行",
}
"""Words in quoc ngu and in Nom, as many characters as syllables."""


def nom_lesson(n: int = 600, *, seed: int = 0) -> list[tuple[str, str]]:
    """Distinct sentences as (nom, quoc ngu), the same for the same seed.

    Example:
        >>> nom_lesson(1)[0][1]
        'Lúc bộ hành anh thấy bốn cái áo.'

    Args:
        n: sentences, at least 1 and at most the product of the word lists.
        seed: of the draw.

    Raises:
        ValueError: n is out of range.
    """
    lists = (WHEN, WHO, DOES, HOW_MANY, WHAT)
    every = list(product(*(words.items() for words in lists)))
    check_count("n", n, most=len(every))
    lesson = []
    for words in random.Random(f"nom lesson {seed}").sample(every, n):
        quoc_ngu = " ".join(latin for latin, _ in words)
        lesson.append(("".join(nom for _, nom in words), f"{quoc_ngu[0].upper()}{quoc_ngu[1:]}."))
    return lesson
