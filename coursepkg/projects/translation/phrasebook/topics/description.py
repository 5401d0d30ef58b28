"""What things are like, their color, and the weather."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.fitness import describes, wears
from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.predicates import adjectives
from coursepkg.projects.translation.phrasebook.tables import simple

COMPLAINTS = {"big", "small", "old", "expensive", "heavy", "long", "short"}


def _owner_fits(who: Phrase, x: Phrase, **_: Phrase) -> bool:
    return wears(who, x) and not ("vehicle" in x.tags and who.tags & {"child", "young"})


def _in_season(city: Phrase, weather: Phrase, **_: Phrase) -> bool:
    return "tropical" not in city.tags or "cold" not in weather.concept


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    things = nouns("goods", "fruit", "room", "home", "pet")
    described, colored = adjectives(), nouns("colored")
    owned = nouns("own", "clothes", "pet")
    owners = [who for who in people("told") if "group" not in who.tags]
    asked = [who for who in people("asked") if "group" not in who.tags]
    cities, weather = simple("cities"), simple("weather")

    for view, limit in (("this", 200), ("that", 160)):
        yield Pattern(
            f"{view}-is-very",
            f"{{x.{view}}} 很/1 {{adj}} 。",
            f"{{x.{view}}} {{be@x}} very/1 {{adj}} .",
            f"{{x.{view}}} rất/1 {{adj}} .",
            {"x": things, "adj": described},
            describes,
            limit=limit,
        )
        yield Pattern(
            f"{view}-is-not",
            f"{{x.{view}}} 不/1 {{adj}} 。",
            f"{{x.{view}}} {{isn't@x}}/1 {{adj}} .",
            f"{{x.{view}}} không/1 {{adj}} .",
            {"x": things, "adj": described},
            describes,
            limit=limit - 30,
        )
        yield Pattern(
            f"is-{view}",
            f"{{x.{view}}} {{adj}} 吗/1 ？",
            f"{{be@x}}/1 {{x.{view}}} {{adj}} ?",
            f"{{x.{view}}} có/1 {{adj}} không/1 ?",
            {"x": things, "adj": described},
            describes,
            limit=limit - 30,
        )
    yield Pattern(
        "a-little",
        "{x.this} 有点/1 {adj} 。",
        "{x.this} {be@x} a/1 little/1 {adj} .",
        "{x.this} hơi/1 {adj} .",
        {"x": things, "adj": [adj for adj in described if adj.concept in COMPLAINTS]},
        describes,
        limit=130,
    )
    yield Pattern(
        "these-are",
        "{x.these} 都/1 很/2 {adj} 。",
        "{x.these} are all/1 very/2 {adj} .",
        "{x.these} đều/1 rất/2 {adj} .",
        {"x": [x for x in things if "countable" in x.tags], "adj": described},
        describes,
        limit=130,
    )
    yield Pattern(
        "this-is-a",
        "这/1 是/2 一/3 {x.cl} {adj.attr} {x} 。",
        "This/1 is/2 a/3 {adj} {x.head} .",
        "Đây/1 là/2 một/3 {x.cl} {x} {adj} .",
        {"x": [x for x in things if "countable" in x.tags], "adj": described},
        describes,
        limit=160,
    )
    yield Pattern(
        "whose-is",
        "{who.poss} {x} 很/1 {adj} 。",
        "{who.poss} {x.head} {be@x} very/1 {adj} .",
        "{x} {who.poss} rất/1 {adj} .",
        {
            "x": owned,
            "adj": [adj for adj in described if adj.concept not in {"cheap", "clean"}],
            "who": owners,
        },
        lambda x, adj, who: describes(adj, x) and _owner_fits(who, x),
        limit=230,
    )
    yield Pattern(
        "bought-a",
        "{who} 买/1 了/2 一/3 {x.cl} {adj.attr} {x} 。",
        "{who} bought/1,2 a/3 {adj} {x.cl} {x.head} .",
        "{who} đã/2 mua/1 một/3 {x.cl} {x} {adj} .",
        {
            "x": nouns("goods"),
            "adj": [
                adj
                for adj in described
                if adj.concept in {"new", "big", "pretty", "cheap", "warm", "light", "useful"}
            ],
            "who": grown_ups(),
        },
        describes,
        limit=230,
    )
    yield Pattern(
        "is-colored",
        "{x.this} 是 {color} 的 。",
        "{x.this} {be@x} {color} .",
        "{x.this} {color} .",
        {"x": colored, "color": simple("colors")},
    )
    yield Pattern(
        "whose-color",
        "{who.poss} {x} 是 {color} 的 。",
        "{who.poss} {x.head} {be@x} {color} .",
        "{x} {who.poss} {color} .",
        {"x": colored, "color": simple("colors"), "who": owners},
        lambda x, color, who: _owner_fits(who, x) and "linen" not in x.tags,
        limit=230,
    )
    yield Pattern(
        "what-color",
        "{who.poss} {x} 是 什么/1 颜色/2 的 ？",
        "What/1 color/2 {be@x} {who.poss} {x.head} ?",
        "{x} {who.poss} màu/2 gì/1 ?",
        {"x": [x for x in colored if "linen" not in x.tags], "who": asked},
        lambda x, who: _owner_fits(who, x),
        limit=130,
    )
    yield Pattern(
        "weather-now",
        "今天/1 {city} {weather} 。",
        "It is {weather} in {city} today/1 .",
        "Hôm_nay/1 {city} {weather} .",
        {"city": cities, "weather": weather},
        _in_season,
    )
    yield Pattern(
        "weather-was",
        "{when} {city} {weather} 。",
        "It was {weather} in {city} {when} .",
        "{when} {city} {weather} .",
        {"city": cities, "weather": weather, "when": [t for t in times("past") if t.concept != "last year"]},
        _in_season,
        limit=130,
    )
    yield Pattern(
        "will-rain",
        "{when} {city} 会/1 下雨/2 。",
        "It will/1 rain/2 in {city} {when} .",
        "{when} {city} sẽ/1 mưa/2 .",
        {"city": cities, "when": [t for t in times("future") if "long" not in t.tags]},
    )
    yield Pattern(
        "will-it-rain",
        "{when} {city} 会/1 下雨/2 吗/3 ？",
        "Will/1,3 it rain/2 in {city} {when} ?",
        "{when} {city} có/3 mưa/2 không/3 ?",
        {"city": cities, "when": [t for t in times("future") if "long" not in t.tags]},
    )
    yield Pattern(
        "it-rained",
        "{when} {city} 下雨/1 了/2 。",
        "It rained/1,2 in {city} {when} .",
        "{when} {city} đã/2 mưa/1 .",
        {"city": cities, "when": [t for t in times("past") if "long" not in t.tags]},
    )
