"""Where places are, how far, how to get there, and who is where."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import durations, ordinal
from coursepkg.projects.translation.phrasebook.fitness import distinct
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.nouns import places
from coursepkg.projects.translation.phrasebook.numerals import chinese, english, number, vietnamese
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.tables import simple

TURNS = (("左", "left", "trái"), ("右", "right", "phải"))
VIETNAMESE_ORDINALS = {1: "nhất", 4: "tư"}


def _apart(p: Phrase, q: Phrase, **_: Phrase) -> bool:
    return p.concept != q.concept


def _crossing(n: int) -> Phrase:
    nth = VIETNAMESE_ORDINALS.get(n, vietnamese(n))
    sides = {
        "zh": f"第{chinese(n)}/n 个 路口/c",
        "en": f"the {ordinal(n)}/n intersection/c",
        "vi": f"ngã_tư/c thứ/n {nth}/n",
    }
    return phrase(f"intersection {n}", sides)


def _meters(n: int) -> Phrase:
    return phrase(
        f"{n} meters", {"zh": "{n} 米/u", "en": "{n} meters/u", "vi": "{n} mét/u"}, {"n": number(n)}
    )


def _kilometers(n: int) -> Phrase:
    sides = {"zh": "{n} 公里/u", "en": "{n} kilometers/u", "vi": "{n} ki_lô_mét/u"}
    return phrase(f"{english(n)} kilometers", sides, {"n": number(n)})


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    town, visited, told, asked = places("town"), places("visit"), people("told"), people("asked")
    relations = simple("relations")
    turns = [phrase(en, {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in TURNS]
    distances = [*(_meters(n) for n in range(100, 1000, 100)), *(_kilometers(n) for n in range(2, 9))]
    met = people("circle", "name")

    yield Pattern("where-is", "{p} 在 哪里/1 ？", "Where/1 is {p.the} ?", "{p} ở đâu/1 ?", {"p": town})
    yield Pattern(
        "where-is-nearest",
        "最/1 近/1 的 {p} 在 哪里/2 ？",
        "Where/2 is the nearest/1 {p.head} ?",
        "{p} gần/1 nhất/1 ở đâu/2 ?",
        {"p": town},
    )
    yield Pattern(
        "is-there-near",
        "这/1 附近/2 有/3 {p} 吗/4 ？",
        "Is/4 there/3 {p.one} near/2 here/1 ?",
        "Gần/2 đây/1 có/3 {p} không/4 ?",
        {"p": town},
    )
    yield Pattern(
        "way-to",
        "去/1 {p} 怎么/2 走/3 ？",
        "How/2 do I get/3 to/1 {p.the} ?",
        "Đi/3 đến/1 {p} thế_nào/2 ?",
        {"p": places()},
    )
    yield Pattern(
        "way-from-to",
        "从/1 {p} 到/2 {q} 怎么/3 走/4 ？",
        "How/3 do I get/4 from/1 {p.the} to/2 {q.the} ?",
        "Đi/4 từ/1 {p} đến/2 {q} thế_nào/3 ?",
        {"p": town, "q": visited},
        _apart,
        limit=130,
    )
    yield Pattern(
        "is-beside",
        "{p} 在/1 {q} {relation} 。",
        "{p.the} is/1 {relation} {q.the} .",
        "{p} ở/1 {relation} {q} .",
        {"p": town, "relation": relations, "q": town},
        _apart,
        limit=350,
    )
    yield Pattern(
        "is-it-beside",
        "{p} 在/1 {q} {relation} 吗/2 ？",
        "Is/1,2 {p.the} {relation} {q.the} ?",
        "{p} có/2 ở/1 {relation} {q} không/2 ?",
        {"p": town, "relation": relations, "q": town},
        _apart,
        limit=200,
    )
    yield Pattern(
        "far-from-here",
        "{p} 离/1 这里/2 远/3 吗/4 ？",
        "Is/4 {p.the} far/3 from/1 here/2 ?",
        "{p} có/4 xa/3 đây/2 không/4 ?",
        {"p": places()},
    )
    yield Pattern(
        "very-far",
        "{p} 离/1 {q} 很/2 远/3 。",
        "{p.the} is very/2 far/3 from/1 {q.the} .",
        "{p} cách/1 {q} rất/2 xa/3 .",
        {"p": town, "q": visited},
        _apart,
        limit=100,
    )
    yield Pattern(
        "not-far",
        "{p} 离/1 {q} 不/2 远/3 。",
        "{p.the} is not/2 far/3 from/1 {q.the} .",
        "{p} cách/1 {q} không/2 xa/3 .",
        {"p": town, "q": visited},
        _apart,
        limit=100,
    )
    yield Pattern(
        "distance",
        "{p} 离/1 {q} {distance} 。",
        "{p.the} is {distance} from/1 {q.the} .",
        "{p} cách/1 {q} {distance} .",
        {"p": town, "distance": distances, "q": visited},
        lambda p, distance, q: _apart(p, q) and ("outskirts" not in q.tags or "kilo" in distance.concept),
        limit=200,
    )
    yield Pattern(
        "takes-minutes",
        "从/1 {p} {ride} 到/2 {q} 要/3 {minutes} 。",
        "It takes/3 {minutes} {ride} from/1 {p.the} to/2 {q.the} .",
        "{ride} từ/1 {p} đến/2 {q} mất/3 {minutes} .",
        {
            "p": town,
            "ride": simple("rides"),
            "q": visited,
            "minutes": durations("minute", 5, 10, 15, 20, 25, 30, 35, 40),
        },
        _apart,
        limit=270,
    )
    yield Pattern(
        "turn-at",
        "到/1 {p} 往/2 {turn} 拐/3 。",
        "Turn/3 {turn} at/1 {p.the} .",
        "Đến/1 {p} thì rẽ/3 {turn} .",
        {"p": town, "turn": turns},
    )
    yield Pattern(
        "straight-then-turn",
        "一直/1 走/2 ， 到/3 {p} 往/4 {turn} 拐/5 。",
        "Go/2 straight/1 and turn/5 {turn} at/3 {p.the} .",
        "Đi/2 thẳng/1 , đến/3 {p} thì rẽ/5 {turn} .",
        {"p": town, "turn": turns},
    )
    yield Pattern(
        "turn-then",
        "在/1 {crossing} 往 {turn} 拐/2 ， {p} 就/3 在 {side} 边/4 。",
        "Turn/2 {turn} at/1 {crossing} , and/3 {p.the} is on the {side} .",
        "Rẽ/2 {turn} ở/1 {crossing} , {p} ở bên/4 {side} .",
        {"crossing": [_crossing(n) for n in range(1, 5)], "p": town, "turn": turns, "side": turns},
        limit=100,
    )
    yield Pattern(
        "take-me",
        "请/1 带/2 {who} 去/3 {p} 。",
        "Please/1 take/2 {who.obj} to/3 {p.the} .",
        "Làm_ơn/1 đưa/2 {who} đến/3 {p} .",
        {"p": visited, "who": [who for who in told if who.tags & {"self", "group", "offspring"}]},
        limit=60,
    )
    yield Pattern(
        "is-at",
        "{who} 在/1 {p} 。",
        "{who} {be@who} at/1 {p.the} .",
        "{who} đang ở/1 {p} .",
        {"who": told, "p": visited},
        limit=130,
    )
    yield Pattern(
        "is-not-at",
        "{who} 不/1 在/2 {p} 。",
        "{who} {isn't@who}/1 at/2 {p.the} .",
        "{who} không/1 ở/2 {p} .",
        {"who": told, "p": visited},
    )
    yield Pattern(
        "is-he-at",
        "{who} 在/1 {p} 吗/2 ？",
        "{be@who}/2 {who} at/1 {p.the} ?",
        "{who} có/2 ở/1 {p} không/2 ?",
        {"who": asked, "p": visited},
    )
    yield Pattern(
        "waits-for",
        "{who} 在/1 {p} 等/2 {whom} 。",
        "{who} {be@who} waiting/2 for {whom.obj} at/1 {p.the} .",
        "{who} đang đợi/2 {whom} ở/1 {p} .",
        {"who": told, "p": visited, "whom": [*met, *people("self", "group", "yours")]},
        distinct,
        limit=230,
    )
