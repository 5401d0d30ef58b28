"""Plans, wishes, duties and suggestions, and what hangs on the weather."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.fitness import both, distinct, suits, timely
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.nouns import places
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.predicates import activities, errands


def _suits_weather(act: Phrase, weather: Phrase, **_: Phrase) -> bool:
    return bool(act.tags & weather.tags)


def _would_like_to_go(who: Phrase, p: Phrase, **_: Phrase) -> bool:
    """Children like to go where there is something to see or to eat."""
    return "child" not in who.tags or bool(p.tags & {"sight", "meal"})


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, asked, adults = people("told"), people("asked"), grown_ups()
    future = times("future")
    soon = [when for when in future if "long" not in when.tags]
    acts = [act for act in activities() if "night" not in act.tags]
    wishes, duties = activities("like"), [*activities("must"), *errands("must")]
    grown = [who for who in adults if "old" not in who.tags]
    weathers = [
        phrase(
            "rain", {"zh": "下雨", "en": "it/0 rains/0", "vi": "trời/0 mưa/0"}, tags=frozenset({"indoor"})
        ),
        phrase(
            "no rain",
            {"zh": "不/1 下雨/0", "en": "it/0 doesn't/1 rain/0", "vi": "trời/0 không/1 mưa/0"},
            tags=frozenset({"outdoor"}),
        ),
        phrase(
            "fine",
            {"zh": "天气/0 好/1", "en": "the weather/0 is good/1", "vi": "trời/0 đẹp/1"},
            tags=frozenset({"outdoor"}),
        ),
        phrase(
            "cold",
            {"zh": "天气/0 冷/1", "en": "the weather/0 is cold/1", "vi": "trời/0 lạnh/1"},
            tags=frozenset({"indoor"}),
        ),
    ]

    yield Pattern(
        "will",
        "{when} {who} 要/1 {act} 。",
        "{who} {be@who}/1 going/1 to {act.once} {when} .",
        "{when} {who} sẽ/1 {act} .",
        {"act": acts, "when": future, "who": told},
        both(suits, timely),
        limit=420,
    )
    yield Pattern(
        "will-not",
        "{when} {who} 不/1 {act} 。",
        "{who} {isn't@who}/1 going/2 to {act.once} {when} .",
        "{when} {who} sẽ/2 không/1 {act} .",
        {"act": acts, "when": future, "who": told},
        both(suits, timely),
        limit=300,
    )
    yield Pattern(
        "will-you",
        "{when} {who} {act} 吗/1 ？",
        "{be@who}/1 {who} going to {act.once} {when} ?",
        "{when} {who} có/1 {act} không/1 ?",
        {"act": acts, "when": future, "who": asked},
        both(suits, timely),
        limit=270,
    )
    yield Pattern(
        "plans",
        "{when} {who} 打算/1 {act} 。",
        "{who} {plan@who}/1 to {act.once} {when} .",
        "{when} {who} định/1 {act} .",
        {"act": wishes, "when": future, "who": told},
        both(suits, timely),
        limit=270,
    )
    yield Pattern(
        "wants",
        "{who} 想/1 {act} 。",
        "{who} {want@who}/1 to {act.once} .",
        "{who} muốn/1 {act} .",
        {"act": wishes, "who": told},
        suits,
        limit=180,
    )
    yield Pattern(
        "does-not-want",
        "{when} {who} 不/1 想/2 {act} 。",
        "{who} {don't@who}/1 want/2 to {act.once} {when} .",
        "{when} {who} không/1 muốn/2 {act} .",
        {"act": acts, "who": told, "when": soon},
        both(suits, timely),
        limit=240,
    )
    yield Pattern(
        "do-you-want",
        "{when} {who} 想/1 {act} 吗/2 ？",
        "{do@who}/2 {who} want/1 to {act.once} {when} ?",
        "{when} {who} có/2 muốn/1 {act} không/2 ?",
        {"act": wishes, "who": asked, "when": soon},
        both(suits, timely),
        limit=240,
    )
    yield Pattern(
        "must",
        "{when} {who} 得/1 {act} 。",
        "{who} {have@who}/1 to {act.once} {when} .",
        "{when} {who} phải/1 {act} .",
        {"act": duties, "who": grown, "when": soon},
        both(suits, timely),
        limit=240,
    )
    yield Pattern(
        "need-not",
        "{when} {who} 不用/1 {act} 。",
        "{who} {don't@who}/1 have/1 to {act.once} {when} .",
        "{when} {who} không/1 cần/1 {act} .",
        {"act": duties, "who": grown, "when": soon},
        both(suits, timely),
        limit=210,
    )
    yield Pattern(
        "cannot",
        "{when} {who} 不/1 能/1 {act} 。",
        "{who} can't/1 {act.once} {when} .",
        "{when} {who} không_thể/1 {act} .",
        {"act": activities("together", "must", "duty", "outdoor"), "who": told, "when": soon},
        both(suits, timely),
        limit=210,
    )
    yield Pattern(
        "lets",
        "我们/1 {when} 一起/2 {act} 吧/3 。",
        "Let's/1,3 {act.once} together/2 {when} .",
        "{when} chúng_ta/1 cùng/2 {act} nhé/3 .",
        {"act": activities("together"), "when": soon},
        timely,
        limit=150,
    )
    yield Pattern(
        "if-weather",
        "如果/1 {when} {weather} ， {who} 就/2 {act} 。",
        "If/1 {weather} {when} , {who} will/3 {act.once} .",
        "Nếu/1 {when} {weather} thì/2 {who} sẽ/3 {act} .",
        {
            "act": activities("outdoor", "indoor"),
            "weather": weathers,
            "who": told,
            "when": [when for when in soon if "evening" not in when.tags],
        },
        both(suits, timely, _suits_weather),
        limit=360,
    )
    yield Pattern(
        "wants-to-go",
        "{when} {who} 想/1 去/2 {p} 。",
        "{who} {want@who}/1 to go/2 to {p.the} {when} .",
        "{when} {who} muốn/1 đến/2 {p} .",
        {"p": places("sight", "shop", "meal"), "when": soon, "who": told},
        fits=_would_like_to_go,
        limit=210,
    )
    yield Pattern(
        "will-go-with",
        "{when} {who} 要/1 和/2 {whom} 一起/3 去/4 {p} 。",
        "{who} {be@who}/1 going/4 to {p.the} with/2,3 {whom.obj} {when} .",
        "{when} {who} sẽ/1 cùng/2,3 {whom} đến/4 {p} .",
        {
            "p": places("sight", "shop", "meal"),
            "whom": people("family", "circle", "name"),
            "who": told,
            "when": soon,
        },
        distinct,
        limit=210,
    )
    yield Pattern(
        "together-with",
        "{who} 想/1 和/2 {whom} 一起/3 {act} 。",
        "{who} {want@who}/1 to {act.once} with/2,3 {whom.obj} .",
        "{who} muốn/1 cùng/2,3 {whom} {act} .",
        {"act": activities("together"), "whom": people("circle", "name", "self", "group"), "who": grown},
        both(suits, distinct),
        limit=210,
    )
