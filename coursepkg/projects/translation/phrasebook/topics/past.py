"""What happened, what did not, what one has or has not done yet, where one has been."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import durations, times
from coursepkg.projects.translation.phrasebook.fitness import both, distinct, suits, timely, wears
from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns, places
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, nationalities, people
from coursepkg.projects.translation.phrasebook.predicates import activities, errands
from coursepkg.projects.translation.phrasebook.tables import simple


def _other_country(place: Phrase, **_: Phrase) -> bool:
    return place.concept not in {"China", "Vietnam"}


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, asked, adults = people("told"), people("asked"), grown_ups()
    past, acts = times("past"), [act for act in activities() if "night" not in act.tags]
    recent = [when for when in past if "long" not in when.tags]
    lately = [when for when in past if "near" in when.tags]
    done = [*activities("done"), *errands("done")]
    abroad = [*simple("cities"), *(c for c in nationalities() if _other_country(c))]
    several = [number(n) for n in range(2, 6)]
    met = people("circle", "name")

    yield Pattern(
        "did",
        "{when} {who} {act} 了/1 。",
        "{who} {act.past} {when} .",
        "{when} {who} đã/1 {act} .",
        {"act": acts, "when": past, "who": told},
        both(suits, timely),
        limit=480,
    )
    yield Pattern(
        "did-not",
        "{when} {who} 没/1 {act} 。",
        "{who} didn't/1 {act.once} {when} .",
        "{when} {who} không/1 {act} .",
        {"act": acts, "when": past, "who": told},
        both(suits, timely),
        limit=360,
    )
    yield Pattern(
        "did-you",
        "{when} {who} {act} 了 吗/1 ？",
        "Did/1 {who} {act.once} {when} ?",
        "{when} {who} có/1 {act} không/1 ?",
        {"act": acts, "when": past, "who": asked},
        both(suits, timely),
        limit=300,
    )
    yield Pattern(
        "bought",
        "{when} {who} 买/1 了/2 {n} {x.m} 。",
        "{who} bought/1,2 {n} {x.m} {when} .",
        "{when} {who} đã/2 mua/1 {n} {x.m} .",
        {
            "x": [x for x in nouns("goods") if not x.tags & {"furniture", "gadget"}],
            "n": several,
            "who": adults,
            "when": past,
        },
        fits=wears,
        limit=300,
    )
    yield Pattern(
        "drank",
        "{when} {who} 喝/1 了/2 {n} {x.m} 。",
        "{who} drank/1,2 {n} {x.m} {when} .",
        "{when} {who} đã/2 uống/1 {n} {x.m} .",
        {
            "x": [x for x in nouns("drink") if not x.tags & {"plain"} and x.concept != "red wine"],
            "n": several[:2],
            "who": adults,
            "when": lately,
        },
        lambda x, when, **_: "alcohol" not in x.tags or "morning" not in when.tags,
        limit=150,
    )
    yield Pattern(
        "ate",
        "{when} {who} 吃/1 了/2 {n} {x.m} 。",
        "{who} ate/1,2 {n} {x.m} {when} .",
        "{when} {who} đã/2 ăn/1 {n} {x.m} .",
        {"x": nouns("dish", "baked"), "n": several[:2], "who": told, "when": lately},
        limit=180,
    )
    yield Pattern(
        "has-been",
        "{who} 去/1 过/2 {place} 。",
        "{who} {have@who}/2 been/1 to {place} .",
        "{who} đã/2 từng/2 đến/1 {place} .",
        {"who": told, "place": abroad},
        limit=150,
    )
    yield Pattern(
        "has-never-been",
        "{who} 没/1 去/2 过/1 {place} 。",
        "{who} {have@who} never/1 been/2 to {place} .",
        "{who} chưa/1 bao_giờ/1 đến/2 {place} .",
        {"who": told, "place": abroad},
        limit=150,
    )
    yield Pattern(
        "has-ever-been",
        "{who} 去/1 过/2 {place} 吗/3 ？",
        "{have@who}/3 {who} ever/2 been/1 to {place} ?",
        "{who} đã/2 bao_giờ/2 đến/1 {place} chưa/3 ?",
        {"who": asked, "place": abroad},
        limit=150,
    )
    yield Pattern(
        "already",
        "{who} 已经/1 {act} 了/1 。",
        "{who} {have@who} already/1 {act.pp} .",
        "{who} đã/1 {act} rồi/1 .",
        {"who": told, "act": done},
        suits,
        limit=180,
    )
    yield Pattern(
        "not-yet",
        "{who} 还/1 没/2 {act} 。",
        "{who} {haven't@who}/2 {act.pp} yet/1 .",
        "{who} vẫn/1 chưa/2 {act} .",
        {"who": told, "act": done},
        suits,
        limit=180,
    )
    yield Pattern(
        "done-yet",
        "{who} {act} 了/1 吗/2 ？",
        "{have@who}/2 {who} {act.pp} yet/1 ?",
        "{who} đã/1 {act} chưa/2 ?",
        {"who": asked, "act": done},
        suits,
        limit=150,
    )
    yield Pattern(
        "stayed",
        "{who} 在/1 {city} 住/2 了/3 {days} 。",
        "{who} stayed/2,3 in/1 {city} for {days} .",
        "{who} đã/3 ở/1,2 {city} {days} .",
        {
            "city": simple("cities"),
            "days": [*durations("day", *range(2, 8)), *durations("week", 1, 2, 3)],
            "who": adults,
        },
        limit=210,
    )
    yield Pattern(
        "went-to",
        "{when} {who} 去/1 了/2 {p} 。",
        "{who} went/1,2 to {p.the} {when} .",
        "{when} {who} đã/2 đến/1 {p} .",
        {"p": places("visit"), "when": recent, "who": told},
        limit=240,
    )
    yield Pattern(
        "went-with",
        "{when} {who} 和/1 {whom} 一起/2 去/3 了/4 {p} 。",
        "{who} went/3,4 to {p.the} with/1,2 {whom.obj} {when} .",
        "{when} {who} đã/4 cùng/1,2 {whom} đến/3 {p} .",
        {
            "p": places("sight", "shop", "meal"),
            "whom": people("family", "circle", "name"),
            "who": told,
            "when": recent,
        },
        distinct,
        limit=240,
    )
    yield Pattern(
        "met-at",
        "{when} {who} 在/1 {p} 遇到/2 了/3 {whom} 。",
        "{who} met/2,3 {whom.obj} at/1 {p.the} {when} .",
        "{when} {who} đã/3 gặp/2 {whom} ở/1 {p} .",
        {"p": places("visit"), "whom": met, "who": adults, "when": recent},
        distinct,
        limit=240,
    )
    yield Pattern(
        "called",
        "{when} {who} 给/1 {whom} 打/2 电话/2 了/3 。",
        "{who} called/2,3 {whom.obj} {when} .",
        "{when} {who} đã/3 gọi/2 điện/2 cho/1 {whom} .",
        {"whom": people("self", "told"), "when": recent, "who": adults},
        distinct,
        limit=210,
    )
