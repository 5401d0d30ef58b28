"""More, most, as much as: things, persons, cities."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.fitness import describes, distinct, suits
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.predicates import activities, adjectives, qualities
from coursepkg.projects.translation.phrasebook.tables import simple

ONE_SIDED = {"old", "tasty"}
PEERS = {"I", "he", "she", "my friend", "my colleague", "Lan", "Minh", "Xiao Wang"}
CITY_QUALITIES = (
    ("安静", "quieter", "yên_tĩnh"),
    ("热闹", "livelier", "nhộn_nhịp"),
    ("美", "more beautiful", "đẹp"),
    ("干净", "cleaner", "sạch"),
)
# name, limit, and what follows "this one" in Chinese, English and Vietnamese
DEGREES = (
    (
        "more",
        200,
        "比/1 {x.thatone} {adj}",
        "{be@x} {adj.more} than/1 {x.thatone}",
        "{adj} hơn/1 {x.thatone}",
    ),
    (
        *("much-more", 160, "比/1 {x.thatone} {adj} 得 多/2"),
        *("{be@x} much/2 {adj.more} than/1 {x.thatone}", "{adj} hơn/1 {x.thatone} nhiều/2"),
    ),
    (
        *("as-much", 130, "和/1 {x.thatone} 一样/1 {adj}"),
        *("{be@x} as/1 {adj} as/1 {x.thatone}", "{adj} bằng/1 {x.thatone}"),
    ),
    (
        *("less", 160, "没有/1 {x.thatone} {adj}"),
        *("{isn't@x}/1 as {adj} as {x.thatone}", "không/1 {adj} bằng {x.thatone}"),
    ),
)


def _same_kind(x: Phrase, y: Phrase, **_: Phrase) -> bool:
    """Two fruits or two drinks, but not two juices, nor beer or water."""
    kinds = x.tags | y.tags
    return (
        x.concept != y.concept
        and bool(x.tags & y.tags & {"fruit", "drink"})
        and not (kinds & {"alcohol", "plain"} or "juice" in x.tags & y.tags)
    )


def _comparable(who: Phrase, whom: Phrase, quality: Phrase, **_: Phrase) -> bool:
    kinds = [person.tags & {"old", "child", "young"} or {"adult"} for person in (who, whom)]
    return distinct(who, whom) and all(quality.tags & kind for kind in kinds) and kinds[0] == kinds[1]


def _older(who: Phrase, whom: Phrase, **_: Phrase) -> bool:
    return distinct(who, whom) and not (who.concept == "I" and "sibling" in whom.tags)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    things, ways = nouns("goods", "fruit", "dish", "room", "home", "pet"), adjectives()
    told = [who for who in people("told") if "group" not in who.tags]
    steady = [
        quality
        for quality in qualities()
        if "state" not in quality.tags or quality.concept in {"busy", "tired"}
    ]
    peers = [who for who in people("told") if who.concept in PEERS]
    cities = simple("cities")
    lively = [phrase(en, {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in CITY_QUALITIES]

    for name, limit, zh, en, vi in DEGREES:
        yield Pattern(
            name,
            f"{{x.this}} {zh} 。",
            f"{{x.this}} {en} .",
            f"{{x.this}} {vi} .",
            {"x": things, "adj": ways},
            describes,
            limit=limit,
        )
    yield Pattern(
        "which-is-more",
        "{x.this} 和/1 {x.thatone} ， 哪/2 {x.cl} 更/3 {adj} ？",
        "Which/2 {be@x} {adj.more}/3 , {x.this} or/1 {x.thatone} ?",
        "{x.this} và/1 {x.thatone} , {x.which}/2 {adj} hơn/3 ?",
        {"x": things, "adj": ways},
        describes,
        limit=160,
    )
    yield Pattern(
        "most-here",
        "这/1 是/2 这里/3 最/4 {adj} 的 {x} 。",
        "This/1 is/2 the {adj.most}/4 {x.head} here/3 .",
        "Đây/1 là/2 {x.cl} {x} {adj} nhất/4 ở đây/3 .",
        {"x": [x for x in things if "countable" in x.tags], "adj": ways},
        describes,
        limit=160,
    )
    yield Pattern(
        "person-more",
        "{who} 比/1 {whom} {quality} 。",
        "{who} {be@who} {quality.more} than/1 {whom.obj} .",
        "{who} {quality} hơn/1 {whom} .",
        {"who": told, "whom": told, "quality": steady},
        _comparable,
        limit=320,
    )
    yield Pattern(
        "person-as",
        "{who} 和/1 {whom} 一样/1 {quality} 。",
        "{who} {be@who} as/1 {quality} as/1 {whom.obj} .",
        "{who} {quality} bằng/1 {whom} .",
        {
            "who": told,
            "whom": told,
            "quality": [quality for quality in steady if "state" not in quality.tags],
        },
        _comparable,
        limit=200,
    )
    yield Pattern(
        "person-less",
        "{who} 没有/1 {whom} {quality} 。",
        "{who} {isn't@who}/1 as {quality} as {whom.obj} .",
        "{who} không/1 {quality} bằng {whom} .",
        {"who": told, "whom": told, "quality": steady},
        _comparable,
        limit=200,
    )
    yield Pattern(
        "years-older",
        "{who} 比/1 {whom} 大/2 {n} 岁/3 。",
        "{who} {be@who} {n} years/3 older/2 than/1 {whom.obj} .",
        "{who} hơn/1,2 {whom} {n} tuổi/3 .",
        {"who": peers, "whom": peers, "n": [number(n) for n in range(2, 10)]},
        _older,
        limit=160,
    )
    yield Pattern(
        "city-more",
        "{city} 比/1 {other} {quality} 。",
        "{city} is {quality} than/1 {other} .",
        "{city} {quality} hơn/1 {other} .",
        {"city": cities, "other": cities, "quality": lively},
        lambda city, other, quality: city.concept != other.concept,
        limit=200,
    )
    yield Pattern(
        "prefers",
        "{who} 更/1 喜欢/2 {act} 。",
        "{who} {prefer@who}/1,2 to {act} .",
        "{who} thích/2 {act} hơn/1 .",
        {"act": activities("like"), "who": told},
        suits,
        limit=160,
    )
    yield Pattern(
        "likes-more",
        "比起/1 {x} ， {who} 更/2 喜欢/3 {y} 。",
        "{who} {like@who}/3 {y} more/2 than/1 {x} .",
        "So/1 với/1 {x} , {who} thích/3 {y} hơn/2 .",
        {"x": nouns("fruit", "drink"), "y": nouns("fruit", "drink"), "who": told},
        lambda x, y, who: (
            x.concept != y.concept
            and bool(x.tags & y.tags)
            and not (x.tags | y.tags) & {"alcohol", "plain"}
            and "juice" not in x.tags & y.tags
        ),
        limit=200,
    )
