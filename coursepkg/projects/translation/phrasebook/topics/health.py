"""Aches, illness and advice."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import durations, times
from coursepkg.projects.translation.phrasebook.fitness import suits
from coursepkg.projects.translation.phrasebook.interlinear import phrase
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.predicates import advice, complaints
from coursepkg.projects.translation.phrasebook.tables import simple

HELP = (
    ("一/1 个 医生/2", "a/1 doctor/2", "một/1 bác_sĩ/2"),
    ("一/1 个 护士/2", "a/1 nurse/2", "một/1 y_tá/2"),
    ("一/1 个 翻译/2", "an/1 interpreter/2", "một/1 phiên_dịch/2"),
    ("一/1 辆 救护车/2", "an/1 ambulance/2", "một/1 xe cứu_thương/2"),
    ("帮助", "help", "giúp_đỡ"),
)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    persons = [who for who in people("told") if "group" not in who.tags]
    asked = [who for who in people("asked") if "group" not in who.tags]
    parts, ills = simple("body"), complaints()
    days = [*durations("day", 2, 3, 4, 5, 6), *durations("week", 1, 2)]
    help_ = [
        phrase(en.replace("/1", "").replace("/2", ""), {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in HELP
    ]
    good, bad = advice("good"), advice("bad")

    yield Pattern(
        "hurts",
        "{who} {part} 疼/1 。",
        "{who.poss} {part} hurts/1 .",
        "{who} bị đau/1 {part} .",
        {"part": parts, "who": persons},
        limit=160,
    )
    yield Pattern(
        "still-hurts",
        "{who} {part} 还/1 疼/2 。",
        "{who.poss} {part} still/1 hurts/2 .",
        "{who} vẫn/1 còn/1 đau/2 {part} .",
        {"part": parts, "who": persons},
        limit=160,
    )
    yield Pattern(
        "does-it-hurt",
        "{who} {part} 疼/1 吗/2 ？",
        "Does/2 {who.poss} {part} hurt/1 ?",
        "{who} có/2 bị đau/1 {part} không/2 ?",
        {"part": parts, "who": asked},
        limit=130,
    )
    yield Pattern(
        "is-ill",
        "{who} {ill} 了 。",
        "{who} {ill@who} .",
        "{who} {ill} rồi .",
        {"ill": ills, "who": persons},
    )
    yield Pattern(
        "is-it-ill",
        "{who} {ill} 了 吗/1 ？",
        "{do@who}/1 {who} {ill} ?",
        "{who} có/1 {ill} không/1 ?",
        {"ill": ills, "who": asked},
    )
    yield Pattern(
        "ill-for-days",
        "{who} {ill} {days} 了/1 。",
        "{who} {have@who}/1 {ill.pp} for {days} .",
        "{who} {ill} {days} rồi/1 .",
        {"ill": ills, "days": days, "who": persons},
        limit=200,
    )
    yield Pattern(
        "was-ill",
        "{when} {who} 生病/1 了/2 。",
        "{who} was/2 sick/1 {when} .",
        "{when} {who} bị/2 ốm/1 .",
        {"who": persons, "when": [t for t in times("past") if t.concept != "last year"]},
        limit=160,
    )
    yield Pattern(
        "should",
        "{who} 应该/1 {act} 。",
        "{who} should/1 {act} .",
        "{who} nên/1 {act} .",
        {"act": good, "who": [*people("you", "yours"), *persons]},
        suits,
        limit=240,
    )
    yield Pattern(
        "should-not",
        "{who} 不/1 应该/2 {act} 。",
        "{who} shouldn't/1,2 {act} .",
        "{who} không/1 nên/2 {act} .",
        {"act": bad, "who": [*people("you", "yours"), *persons]},
        suits,
        limit=120,
    )
    yield Pattern(
        "need-help",
        "{who} 需要/1 {thing} 。",
        "{who} {need@who}/1 {thing} .",
        "{who} cần/1 {thing} .",
        {"thing": help_, "who": people("told")},
    )
