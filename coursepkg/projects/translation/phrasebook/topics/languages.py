"""Speaking, learning and teaching languages."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import durations, times
from coursepkg.projects.translation.phrasebook.fitness import distinct
from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, languages, people


def _learners(persons: tuple[Phrase, ...]) -> list[Phrase]:
    return [who for who in persons if not who.tags & {"child", "old"}]


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, asked, tongues = _learners(people("told")), _learners(people("asked")), languages()
    teachers = [who for who in grown_ups() if "old" not in who.tags]

    yield Pattern(
        "speaks",
        "{who} 会/1 说/2 {language} 。",
        "{who} can/1 speak/2 {language} .",
        "{who} biết/1 nói/2 {language} .",
        {"who": told, "language": tongues},
        limit=150,
    )
    yield Pattern(
        "does-not-speak",
        "{who} 不/1 会/2 说/3 {language} 。",
        "{who} can't/1,2 speak/3 {language} .",
        "{who} không/1 biết/2 nói/3 {language} .",
        {"who": told, "language": tongues},
        limit=150,
    )
    yield Pattern(
        "do-you-speak",
        "{who} 会/1 说/2 {language} 吗/3 ？",
        "Can/1,3 {who} speak/2 {language} ?",
        "{who} có/3 biết/1 nói/2 {language} không/3 ?",
        {"who": asked, "language": tongues},
        limit=140,
    )
    yield Pattern(
        "speaks-well",
        "{who} {language} 说/1 得 很/2 好/3 。",
        "{who} {speak@who}/1 {language} very/2 well/3 .",
        "{who} nói/1 {language} rất/2 giỏi/3 .",
        {"who": told, "language": tongues},
        limit=140,
    )
    yield Pattern(
        "has-studied",
        "{who} 学/1 {language} 学/1 了/2 {time} 。",
        "{who} studied/1,2 {language} for {time} .",
        "{who} đã/2 học/1 {language} {time} .",
        {
            "who": told,
            "language": tongues,
            "time": [*durations("month", 2, 3, 4, 5, 6, 8, 10), *durations("year", 1, 2, 3, 4, 5)],
        },
        limit=220,
    )
    yield Pattern(
        "starts",
        "{when} {who} 开始/1 学习/2 {language} 。",
        "{who} started/1 to study/2 {language} {when} .",
        "{when} {who} bắt_đầu/1 học/2 {language} .",
        {"who": told, "language": tongues, "when": [t for t in times("past") if "long" in t.tags]},
        limit=190,
    )
    yield Pattern(
        "teaches",
        "{who} 教/1 {whom} {language} 。",
        "{who} {teach@who}/1 {whom.obj} {language} .",
        "{who} dạy/1 {whom} {language} .",
        {
            "who": teachers,
            "whom": _learners(people("self", "group", "circle", "name", "sibling")),
            "language": tongues,
        },
        distinct,
        limit=220,
    )
    yield Pattern(
        "harder",
        "{language} 比/1 {other} 难/2 。",
        "{language} is harder/1,2 than/1 {other} .",
        "{language} khó/2 hơn/1 {other} .",
        {"language": tongues, "other": tongues},
        lambda language, other: language.concept != other.concept,
    )
    yield Pattern(
        "is-it-hard",
        "{language} 难/1 吗/2 ？",
        "Is/2 {language} hard/1 ?",
        "{language} có/2 khó/1 không/2 ?",
        {"language": tongues},
    )
    yield Pattern(
        "say-this-word",
        "这/1 个 词/2 用/5 {language} 怎么/3 说/4 ？",
        "How/3 do you say/4 this/1 word/2 in/5 {language} ?",
        "Từ/2 này/1 nói/4 bằng/5 {language} thế_nào/3 ?",
        {"language": tongues},
    )
    yield Pattern(
        "in-language",
        "{x.this} 是 {language} 的 。",
        "{x.this} is in {language} .",
        "{x.this} viết bằng {language} .",
        {"x": [*nouns("read"), *nouns("reference")], "language": tongues},
    )
    yield Pattern(
        "understands",
        "{who} 听/1 不/2 懂/1 {language} 。",
        "{who} {don't@who}/2 understand/1 {language} .",
        "{who} không/2 hiểu/1 {language} .",
        {"who": told, "language": tongues},
        limit=110,
    )
