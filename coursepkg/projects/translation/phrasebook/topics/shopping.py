"""Buying things: wanting, asking for a price, colors, sizes, paying."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.fitness import describes, plausible, wears
from coursepkg.projects.translation.phrasebook.interlinear import phrase
from coursepkg.projects.translation.phrasebook.money import (
    SHOP_DOLLARS,
    SHOP_THOUSANDS_OF_DONG,
    SHOP_YUAN,
    amounts,
)
from coursepkg.projects.translation.phrasebook.nouns import nouns, typical_price
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.predicates import adjectives
from coursepkg.projects.translation.phrasebook.tables import simple

TOO = {"big", "small", "expensive", "heavy", "long", "short"}
FINER = {"big", "small", "cheap", "long", "short", "light", "warm", "beautiful"}
WAYS_TO_PAY = (
    ("现金", "in cash", "tiền_mặt"),
    ("信用卡", "by credit card", "thẻ_tín_dụng"),
    ("手机", "by phone", "điện_thoại"),
    ("美元", "in dollars", "đô_la"),
    ("越南盾", "in dong", "tiền Việt"),
    ("人民币", "in yuan", "nhân_dân_tệ"),
)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    goods, colored, clothes = nouns("goods"), nouns("colored"), nouns("clothes")
    buyers = grown_ups()
    edible = nouns("fruit", "raw")
    numbers = [number(n) for n in range(2, 11)]
    yuan = amounts(yuan=SHOP_YUAN)
    prices = amounts(yuan=SHOP_YUAN, thousands_of_dong=SHOP_THOUSANDS_OF_DONG, dollars=SHOP_DOLLARS)
    colors = simple("colors")
    too = [adj for adj in adjectives() if adj.concept in TOO]
    finer = [adj for adj in adjectives() if adj.concept in FINER]
    ways = [phrase(en, {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in WAYS_TO_PAY]

    yield Pattern(
        "want-to-buy",
        "{who} 想/1 买/2 {x.one} 。",
        "{who} {want@who}/1 to buy/2 {x.one} .",
        "{who} muốn/1 mua/2 {x.one} .",
        {"who": buyers, "x": goods},
        wears,
        limit=200,
    )
    yield Pattern(
        "how-much-is-this",
        "{x.this} 多少/1 钱/1 ？",
        "How/1 much/1 {be@x} {x.this} ?",
        "{x.this} bao_nhiêu/1 tiền/1 ?",
        {"x": [*goods, *nouns("fruit", "dish")]},
    )
    yield Pattern(
        "price",
        "{x.this} {price} 。",
        "{x.this} {cost@x}/1 {price} .",
        "{x.this} giá/1 {price} .",
        {"x": goods, "price": prices},
        plausible,
        limit=260,
    )
    yield Pattern(
        "price-of-that",
        "{x.that} 要/1 {price} 吗/2 ？",
        "{do@x}/2 {x.that} cost/1 {price} ?",
        "{x.that} giá/1 {price} à/2 ?",
        {"x": goods, "price": yuan},
        plausible,
    )
    yield Pattern(
        "sold-here",
        "这里/1 卖/2 {x} 吗/3 ？",
        "Do/3 you sell/2 {x} here/1 ?",
        "Ở đây/1 có/3 bán/2 {x} không/3 ?",
        {"x": [*goods, *edible]},
    )
    yield Pattern(
        "where-to-buy",
        "我/1 在 哪里/2 可以/3 买到/4 {x} ？",
        "Where/2 can/3 I/1 buy/4 {x} ?",
        "Tôi/1 có_thể/3 mua/4 {x} ở đâu/2 ?",
        {"x": [*goods, *edible]},
    )
    yield Pattern(
        "in-color",
        "{x.this} 有/1 {color} 的 吗/2 ？",
        "Do/2 you have/1 {x.this} in {color} ?",
        "{x.this} có/1 {color} không/2 ?",
        {"x": colored, "color": simple("colors")},
    )
    yield Pattern(
        "look-for-color",
        "{who} 在/1 找/2 一/3 {x.cl} {color} 的 {x} 。",
        "{who} {be@who}/1 looking/2 for/2 a/3 {x.cl} {color} {x.head} .",
        "{who} đang/1 tìm/2 một/3 {x.cl} {x} {color} .",
        {"x": colored, "color": colors, "who": buyers},
        wears,
        limit=200,
    )
    yield Pattern(
        "too-much",
        "{x.this} 太/1 {adj} 了/1 。",
        "{x.this} {be@x} too/1 {adj} .",
        "{x.this} {adj} quá/1 .",
        {"x": goods, "adj": too},
        describes,
    )
    yield Pattern(
        "something-more",
        "有/1 {adj} 一点/2 的 {x} 吗/3 ？",
        "Do/3 you have/1 a {adj.more}/2 {x.cl} {x.head} ?",
        "Có/1 {x.cl} {x} nào {adj} hơn/2 không/3 ?",
        {"x": goods, "adj": finer},
        describes,
    )
    yield Pattern(
        "try-on",
        "{who} 可以/1 试试/2 {x.this} 吗/3 ？",
        "Can/1,3 {who} try/2 on/2 {x.this} ?",
        "{who} có_thể/1 thử/2 {x.this} không/3 ?",
        {"x": clothes, "who": people("self", "sibling", "circle")},
        wears,
    )
    yield Pattern(
        "discount",
        "{x.this} 打折/1 吗/2 ？",
        "Is/2 there a discount/1 on {x.this} ?",
        "{x.this} có/2 giảm_giá/1 không/2 ?",
        {"x": [x for x in goods if typical_price(x) >= 20]},
    )
    yield Pattern(
        "take-this",
        "我/1 要/2 {x.this} 。",
        "I/1 will take/2 {x.this} .",
        "Tôi/1 lấy/2 {x.this} .",
        {"x": goods},
    )
    yield Pattern(
        "take-several",
        "请/1 给/2 我/3 {n} {x.m} 。",
        "Please/1 give/2 me/3 {n} {x.m} .",
        "Làm_ơn/1 cho/2 tôi/3 {n} {x.m} .",
        {"x": [*nouns("fruit", "baked", "cutlery", "tableware", "picture", "linen")], "n": numbers},
    )
    yield Pattern(
        "kilo",
        "一/1 公斤/2 {x} 多少/3 钱/3 ？",
        "How/3 much/3 is a/1 kilo/2 of {x} ?",
        "Một/1 cân/2 {x} bao_nhiêu/3 tiền/3 ?",
        {"x": edible},
    )
    yield Pattern(
        "kilos",
        "{who} 买/1 了/2 {n} 公斤/3 {x} 。",
        "{who} bought/1,2 {n} kilos/3 of {x} .",
        "{who} đã/2 mua/1 {n} cân/3 {x} .",
        {"x": edible, "n": numbers[:4], "who": buyers},
        limit=110,
    )
    yield Pattern(
        "buy-for",
        "我/1 想/2 给/3 {whom} 买/4 {x.one} 。",
        "I/1 want/2 to buy/4 {x.one} for/3 {whom.obj} .",
        "Tôi/1 muốn/2 mua/4 {x.one} cho/3 {whom} .",
        {
            "x": nouns("clothes", "bag", "gadget", "read"),
            "whom": [who for who in people("told") if not who.tags & {"self", "group"}],
        },
        lambda x, whom: wears(whom, x),
        limit=180,
    )
    yield Pattern(
        "how-to-pay",
        "{who} 可以/1 用/2 {way} 付款/3 吗/4 ？",
        "Can/1,4 {who} pay/3 {way} ?",
        "{who} có_thể/1 trả/3 bằng/2 {way} không/4 ?",
        {"way": ways, "who": people("self", "group")[:2]},
    )
    yield Pattern(
        "total",
        "一共/1 {price} 。",
        "It is {price} in total/1 .",
        "Tổng_cộng/1 là {price} .",
        {"price": prices},
    )
