"""Ordering, tastes, what somebody does not eat, booking a table, paying."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.tables import simple


def _sober(who: Phrase, x: Phrase, **_: Phrase) -> bool:
    return "alcohol" not in x.tags or not who.tags & {"child", "young"}


def _choice(x: Phrase, y: Phrase, **_: Phrase) -> bool:
    """Whether two drinks are an alternative: not two juices, nor milk or beer."""
    same = x.concept == y.concept or "juice" in x.tags & y.tags
    return not same and ("alcohol" in x.tags) == ("alcohol" in y.tags)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    drinks, dishes = nouns("drink"), nouns("dish")
    chosen = [x for x in drinks if "plain" not in x.tags]
    uncountable = [x for x in dishes + drinks if "countable" not in x.tags and "plain" not in x.tags]
    several = [number(n) for n in range(2, 7)]
    told, adults = people("told"), grown_ups()
    foods, seasonings, tastes = simple("ingredients"), simple("seasonings"), simple("tastes")
    tables = [when for when in times("future") if when.tags & {"evening", "day"}]

    yield Pattern(
        "order-several",
        "我/1 要/2 {n} {x.m} 。",
        "I/1 would like/2 {n} {x.m} .",
        "Cho/2 tôi/1 {n} {x.m} .",
        {"x": dishes + drinks, "n": several},
    )
    yield Pattern(
        "order-two",
        "我们/1 要/2 {x.one} 和/3 {y.one} 。",
        "We/1 would like/2 {x.one} and/3 {y.one} .",
        "Cho/2 chúng_tôi/1 {x.one} và/3 {y.one} .",
        {"x": dishes, "y": drinks},
    )
    yield Pattern(
        "order-three",
        "请/1 来/2 {n} {x.m} 和/3 {y.one} 。",
        "{n} {x.m} and/3 {y.one} , please/1 .",
        "Làm_ơn/1 cho/2 tôi {n} {x.m} và/3 {y.one} .",
        {"x": dishes, "y": drinks, "n": several[:3]},
    )
    yield Pattern(
        "tea-or-coffee",
        "{who} 想/1 喝/2 {x} 还是/3 {y} ？",
        "{do@who} {who} want/1 to drink/2 {x} or/3 {y} ?",
        "{who} muốn/1 uống/2 {x} hay/3 {y} ?",
        {"x": chosen, "y": chosen, "who": people("asked")[:4]},
        _choice,
    )
    yield Pattern(
        "do-you-have",
        "这里/1 有/2 {x} 吗/3 ？",
        "Do/3 you have/2 {x} here/1 ?",
        "Ở đây/1 có/3 {x} không/3 ?",
        {"x": dishes + drinks},
    )
    for level, zh, en, vi in (
        ("very", "很/1 {taste}", "very/1 {taste}", "rất/1 {taste}"),
        ("too", "太/1 {taste} 了/1", "too/1 {taste}", "{taste} quá/1"),
        ("a-little", "有点/1 {taste}", "a/1 little/1 {taste}", "hơi/1 {taste}"),
        ("not", "不/1 {taste}", "not/1 {taste}", "không/1 {taste}"),
    ):
        yield Pattern(
            f"tastes-{level}",
            f"{{x.this}} {zh} 。",
            f"{{x.this}} {{be@x}} {en} .",
            f"{{x.this}} {vi} .",
            {
                "x": dishes + drinks,
                "taste": [t for t in tastes if "bad" in t.tags or level in ("very", "not")],
            },
            lambda x, taste: bool(x.tags & taste.tags),
        )
    yield Pattern(
        "is-it-spicy",
        "{x.this} {taste} 吗/1 ？",
        "{be@x}/1 {x.this} {taste} ?",
        "{x.this} có/1 {taste} không/1 ?",
        {"x": dishes + drinks, "taste": tastes},
        lambda x, taste: bool(x.tags & taste.tags),
    )
    yield Pattern(
        "without",
        "请/1 不要/2 在 {who.poss} {x} 里/3 放/4 {z} 。",
        "Please/1 don't/2 put/4 {z} in/3 {who.poss} {x} .",
        "Làm_ơn/1 đừng/2 cho/4 {z} vào/3 {x} {who.poss} .",
        {
            "x": uncountable,
            "z": seasonings,
            "who": [who for who in told if who.tags & {"self", "offspring", "friendly"}],
        },
        lambda x, z, who: bool(x.tags & z.tags) and not ("child" in who.tags and "strong" in x.tags),
    )
    yield Pattern(
        "a-little-more",
        "请/1 再/2 给/3 我/4 一点/5 {z} 。",
        "Please/1 give/3 me/4 a/5 little/5 more/2 {z} .",
        "Làm_ơn/1 cho/3 tôi/4 thêm/2 một/5 chút/5 {z} .",
        {"z": seasonings},
    )
    yield Pattern(
        "does-not-eat",
        "{who} 不/1 吃/2 {food} 。",
        "{who} {don't@who}/1 eat/2 {food} .",
        "{who} không/1 ăn/2 {food} .",
        {"food": foods, "who": told},
        limit=100,
    )
    yield Pattern(
        "does-eat",
        "{who} 吃/1 {food} 吗/2 ？",
        "{do@who}/2 {who} eat/1 {food} ?",
        "{who} có/2 ăn/1 {food} không/2 ?",
        {"food": foods, "who": people("asked")},
        limit=70,
    )
    yield Pattern(
        "allergic",
        "{who} 对/1 {food} 过敏/2 。",
        "{who} {be@who} allergic/2 to/1 {food} .",
        "{who} bị dị_ứng/2 với/1 {food} .",
        {
            "food": [f for f in foods if "allergen" in f.tags],
            "who": [w for w in told if "group" not in w.tags],
        },
    )
    yield Pattern(
        "wants-to-drink",
        "{who} 想/1 喝/2 {x.one} 。",
        "{who} {want@who}/1 to drink/2 {x.one} .",
        "{who} muốn/1 uống/2 {x.one} .",
        {"x": drinks, "who": told},
        _sober,
        limit=110,
    )
    yield Pattern(
        "wants-to-eat",
        "{who} 想/1 吃/2 {x.one} 。",
        "{who} {want@who}/1 to eat/2 {x.one} .",
        "{who} muốn/1 ăn/2 {x.one} .",
        {"x": [*dishes, *nouns("fruit")], "who": told},
        limit=130,
    )
    yield Pattern(
        "tea-not-coffee",
        "{who} 喜欢/1 喝/2 {x} ， 但是/3 不/4 喜欢/5 喝/6 {y} 。",
        "{who} {like@who}/1 to drink/2 {x} , but/3 not/4 {y} .",
        "{who} thích/1 uống/2 {x} nhưng/3 không/4 thích/5 uống/6 {y} .",
        {"x": chosen, "y": chosen, "who": adults},
        _choice,
        limit=140,
    )
    yield Pattern(
        "famous-for",
        "这/1 家 餐厅/2 的 {x} 很/3 有名/4 。",
        "The {x} at this/1 restaurant/2 {be@x} very/3 famous/4 .",
        "{x} ở nhà_hàng/2 này/1 rất/3 nổi_tiếng/4 .",
        {"x": [x for x in uncountable if "dish" in x.tags]},
    )
    yield Pattern(
        "book-a-table",
        "我/1 想/2 订/3 一/4 张 {when} 的 桌子/5 ， {n} 个 人/6 。",
        "I/1 would like/2 to book/3 a/4 table/5 for {n} people/6 {when} .",
        "Tôi/1 muốn/2 đặt/3 một/4 bàn/5 cho {n} người/6 vào {when} .",
        {"n": [number(n) for n in range(2, 13)], "when": tables},
    )
    yield Pattern(
        "seat",
        "{who} 想/1 要/2 一/3 张/5 {spot} 的 桌子/4 。",
        "{who} would like/1,2 a/3 table/4 {spot} .",
        "{who} muốn/1,2 một/3 cái/5 bàn/4 {spot} .",
        {"spot": simple("spots"), "who": people("self", "group")[:2]},
    )
