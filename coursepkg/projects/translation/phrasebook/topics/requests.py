"""Asking somebody to do, give, show, lend or put something, and asking not to."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.fitness import distinct
from coursepkg.projects.translation.phrasebook.nouns import nouns, places
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.predicates import favors
from coursepkg.projects.translation.phrasebook.tables import simple

PLACEABLE = {
    "book",
    "cup",
    "plate",
    "bowl",
    "phone",
    "magazine",
    "newspaper",
    "lamp",
    "camera",
    "dictionary",
    "hat",
}
LENT = {
    "pen",
    "pencil",
    "umbrella",
    "dictionary",
    "map",
    "book",
    "camera",
    "bicycle",
    "motorbike",
    "phone",
    "knife",
}


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    wanted = favors("no", "help", "please")
    goods = nouns("goods")
    surfaces = [spot for spot in simple("locations") if "tiny" in spot.tags]
    placeable = [x for x in goods if x.concept in PLACEABLE]
    lent = [x for x in goods if x.concept in LENT]
    others = [who for who in people("told") if who.concept not in ("I", "we")]
    soon = [when for when in times("future") if "long" not in when.tags]

    yield Pattern("please", "请/1 {act} 。", "Please/1 {act} .", "Làm_ơn/1 {act} .", {"act": wanted})
    yield Pattern(
        "can-you",
        "你/1 可以/2 {act} 吗/3 ？",
        "Can/2,3 you/1 {act} ?",
        "Bạn/1 có_thể/2 {act} không/3 ?",
        {"act": wanted},
    )
    yield Pattern(
        "help-me",
        "{who} 可以/1 帮/2 {whom} {act} 吗/3 ？",
        "Can/1,3 {who} help/2 {whom.obj} {act} ?",
        "{who} có_thể/1 giúp/2 {whom} {act} không/3 ?",
        {
            "act": favors("help"),
            "who": [w for w in people("asked") if not w.tags & {"child", "young", "old"}],
            "whom": people("self", "group")[:2],
        },
        limit=210,
    )
    yield Pattern(
        "please-do-not",
        "请/1 不要/2 {act} 。",
        "Please/1 don't/2 {act} .",
        "Làm_ơn/1 đừng/2 {act} .",
        {"act": favors("no", "ban")},
    )
    yield Pattern(
        "may-i",
        "我/1 可以/2 {act} 吗/3 ？",
        "May/2,3 I/1 {act} ?",
        "Tôi/1 có_thể/2 {act} không/3 ?",
        {"act": favors("may")},
    )
    for view in ("this", "that"):
        yield Pattern(
            f"show-me-{view}",
            f"请/1 给/2 {{who}} 看看/3 {{x.{view}}} 。",
            f"Please/1 show/2,3 {{who.obj}} {{x.{view}}} .",
            f"Làm_ơn/1 cho/2 {{who}} xem/3 {{x.{view}}} .",
            {"x": goods, "who": people("self", "group")[:2]},
            limit=80,
        )
        yield Pattern(
            f"give-me-{view}",
            f"请/1 把/2 {{x.{view}}} 给/3 {{who}} 。",
            f"Please/1 give/3 {{who.obj}} {{x.{view}}} .",
            f"Làm_ơn/1 đưa/3 {{x.{view}}} cho/3 {{who}} .",
            {
                "x": [x for x in goods if not x.tags & {"furniture", "vehicle"}],
                "who": [*people("self", "group")[:2], *people("he", "she")[:2]],
            },
            limit=130,
        )
    yield Pattern(
        "put-there",
        "请/1 把/2 {x.this} 放/2 在/3 {spot} 。",
        "Please/1 put/2 {x.this} {spot} .",
        "Làm_ơn/1 để/2 {x.this} {spot.onto} .",
        {"x": placeable, "spot": surfaces},
        lambda x, spot: "tableware" not in x.tags or spot.concept == "on the table",
    )
    yield Pattern(
        "lend-me",
        "{who} 可以/1 借/2 {whom} {x.one} 吗/3 ？",
        "Can/1,3 {who} lend/2 {whom.obj} {x.one} ?",
        "{who} có_thể/1 cho/2 {whom} mượn/2 {x.one} không/3 ?",
        {
            "x": lent,
            "who": [w for w in people("asked") if not w.tags & {"child", "young"}],
            "whom": people("self", "group")[:2],
        },
        limit=170,
    )
    yield Pattern(
        "give-back",
        "{when} 我/1 把 {x} 还/2 给/3 {who} 。",
        "I/1 will give/2 the {x.head} back/2 to/3 {who.obj} {when} .",
        "{when} tôi/1 sẽ trả/2 lại/2 {x} cho/3 {who} .",
        {"x": lent, "when": soon, "who": [*people("you"), *others]},
        limit=210,
    )
    yield Pattern(
        "call-please",
        "请/1 {when} 给/2 {who} 打/3 电话/3 。",
        "Please/1 call/3 {who.obj} {when} .",
        "Làm_ơn/1 gọi/3 điện/3 cho/2 {who} vào {when} .",
        {"who": people("told"), "when": soon},
        limit=170,
    )
    yield Pattern(
        "tell-where",
        "请/1 告诉/2 {who} ， {whom} 在/3 {p} 。",
        "Please/1 tell/2 {who.obj} that {whom} {be@whom} at/3 {p.the} .",
        "Làm_ơn/1 nói/2 với {who} là {whom} đang ở/3 {p} .",
        {
            "p": places("visit"),
            "who": people("he", "she", "family", "circle", "name"),
            "whom": people("self", "group")[:2],
        },
        distinct,
        limit=260,
    )
