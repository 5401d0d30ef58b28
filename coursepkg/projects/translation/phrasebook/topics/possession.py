"""Whose things are, where they are, having, losing and finding."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.tables import simple

SMALL = {
    "phone",
    "wallet",
    "passport",
    "key",
    "book",
    "pen",
    "watch",
    "camera",
    "ticket",
    "notebook",
    "glasses",
    "photo",
}
WORN = {"shirt", "sweater", "coat", "hat", "scarf", "skirt", "gloves", "trousers"}
LARGE = {"suitcase", "backpack", "umbrella"}
PERSONAL = {"passport", "wallet", "key", "ticket", "glasses", "photo", "present"}


def _fits_there(x: Phrase, spot: Phrase, **_: Phrase) -> bool:
    if spot.concept.endswith(x.concept):
        return False
    kinds = {"tiny": SMALL, "wear": WORN, "big": LARGE}
    return any(x.concept in kinds[tag] for tag in spot.tags)


def _is_for(x: Phrase, who: Phrase, **_: Phrase) -> bool:
    return x.concept != "skirt" or "she" in who.tags


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, adults = people("told"), grown_ups()
    single = [who for who in adults if not who.tags & {"group", "circle"}]
    movable = [x for x in nouns("own", "clothes") if x.concept in SMALL | WORN | LARGE]
    owned = nouns("own")
    one_owned = [x for x in owned if "countable" in x.tags]
    locations = simple("locations")

    yield Pattern(
        "is-where",
        "{who.poss} {x} 在 {spot} 。",
        "{who.poss} {x.head} {be@x} {spot} .",
        "{x} {who.poss} {spot} .",
        {"x": movable, "spot": locations, "who": [who for who in told if "group" not in who.tags]},
        lambda x, spot, who: _fits_there(x, spot) and _is_for(x, who),
        limit=320,
    )
    yield Pattern(
        "where-is-mine",
        "{who.poss} {x} 在 哪里/1 ？",
        "Where/1 {be@x} {who.poss} {x.head} ?",
        "{x} {who.poss} ở đâu/1 ?",
        {"x": movable, "who": [w for w in people("self", "asked") if "group" not in w.tags]},
        _is_for,
        limit=160,
    )
    yield Pattern(
        "is-it-there",
        "{who.poss} {x} 在 {spot} 吗/1 ？",
        "{be@x}/1 {who.poss} {x.head} {spot} ?",
        "{x} {who.poss} có/1 {spot} không/1 ?",
        {
            "x": movable,
            "spot": locations,
            "who": [w for w in people("self", "asked") if "group" not in w.tags],
        },
        lambda x, spot, who: _fits_there(x, spot) and _is_for(x, who),
        limit=200,
    )
    yield Pattern(
        "this-is",
        "这/1 是/2 {who.poss} {x} 。",
        "This/1 is/2 {who.poss} {x.head} .",
        "Đây/1 là/2 {x} {who.poss} .",
        {"x": one_owned, "who": told},
        limit=160,
    )
    yield Pattern(
        "this-is-not",
        "这/1 不/2 是/3 {who.poss} {x} 。",
        "This/1 isn't/2,3 {who.poss} {x.head} .",
        "Đây/1 không/2 phải là/3 {x} {who.poss} .",
        {"x": one_owned, "who": told},
        limit=130,
    )
    yield Pattern(
        "is-this-yours",
        "这/1 是/2 {who.poss} {x} 吗/3 ？",
        "Is/2,3 this/1 {who.poss} {x.head} ?",
        "Đây/1 có/3 phải là/2 {x} {who.poss} không/3 ?",
        {"x": one_owned, "who": people("asked")},
        limit=130,
    )
    yield Pattern(
        "has",
        "{who} 有/1 {x.one} 。",
        "{who} {have@who}/1 {x.one} .",
        "{who} có/1 {x.one} .",
        {"x": [x for x in nouns("own", "pet") if x.concept not in PERSONAL], "who": adults},
        limit=130,
    )
    yield Pattern(
        "has-several",
        "{who} 有/1 {n} {x.m} 。",
        "{who} {have@who}/1 {n} {x.m} .",
        "{who} có/1 {n} {x.m} .",
        {
            "x": nouns("pet", "home", "vehicle", "bag", "read"),
            "n": [number(n) for n in (2, 3, 4)],
            "who": adults,
        },
        lambda x, n, who: n.concept == "two" or not x.tags & {"home", "vehicle"},
        limit=160,
    )
    yield Pattern(
        "has-not",
        "{who} 没有/1 {x} 。",
        "{who} {don't@who}/1 have/1 a {x.cl} {x.head} .",
        "{who} không/1 có/1 {x} .",
        {"x": nouns("gadget", "vehicle", "home", "pet", "bag", "document"), "who": adults},
        limit=130,
    )
    yield Pattern(
        "has-it",
        "{who} 有/1 {x} 吗/2 ？",
        "{do@who}/2 {who} have/1 a {x.cl} {x.head} ?",
        "{who} có/1 {x} không/2 ?",
        {
            "x": nouns("gadget", "vehicle", "home", "pet", "bag", "document"),
            "who": [w for w in people("asked") if not w.tags & {"child", "young"}],
        },
        limit=130,
    )
    yield Pattern(
        "is-lost",
        "{who.poss} {x} 丢/1 了/2 。",
        "{who} {have@who}/2 lost/1 {who.own} {x.head} .",
        "{who} bị mất/1 {x} rồi/2 .",
        {"x": nouns("lost"), "who": single},
        limit=130,
    )
    yield Pattern(
        "found",
        "{who} 找到/1 了/2 {who.own} {x} 。",
        "{who} found/1,2 {who.own} {x.head} .",
        "{who} đã/2 tìm/1 thấy/1 {x} {who.own} .",
        {"x": nouns("lost"), "who": single},
        limit=130,
    )
    yield Pattern(
        "forgot",
        "{who} 忘/1 了 带/2 {x} 。",
        "{who} forgot/1 to bring/2 {who.own} {x.head} .",
        "{who} quên/1 mang/2 {x} .",
        {
            "x": [x for x in nouns("lost") if x.concept != "photo"],
            "who": single,
        },
        limit=130,
    )
