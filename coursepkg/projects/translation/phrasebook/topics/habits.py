"""What people do: now, every day, often or never, and what they like."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.fitness import both, suits, timely
from coursepkg.projects.translation.phrasebook.interlinear import phrase
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.predicates import activities

ADVERBS = (
    ("常常", "often", "thường"),
    ("有时候", "sometimes", "thỉnh_thoảng"),
    ("很少", "rarely", "ít_khi"),
    ("从来/0 不/0", "never", "không/0 bao_giờ/0"),
)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    speakers = people("told")
    asked = people("asked")
    regular, liked, ongoing = activities("often"), activities("like"), activities("prog")
    often = [phrase(en, {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in ADVERBS]
    habit = times("habit")

    yield Pattern(
        "now",
        "{who} 正在/1 {act} 。",
        "{who} {be@who}/1 {act.ing} .",
        "{who} đang/1 {act} .",
        {"who": speakers, "act": ongoing},
        suits,
        limit=250,
    )
    yield Pattern(
        "is-now",
        "{who} 在/1 {act} 吗/2 ？",
        "{be@who}/1,2 {who} {act.ing} ?",
        "{who} có/2 đang/1 {act} không/2 ?",
        {"who": asked, "act": ongoing},
        suits,
        limit=160,
    )
    yield Pattern(
        "every",
        "{who} {when} 都/1 {act} 。",
        "{who} {act@who} {when} .",
        "{when} {who} đều/1 {act} .",
        {"act": [*regular, *activities("any", "duty")], "when": habit, "who": speakers},
        both(suits, timely),
        limit=380,
    )
    yield Pattern(
        "how-often",
        "{who} {often} {act} 。",
        "{who} {often} {act@who} .",
        "{who} {often} {act} .",
        {"act": regular, "often": often, "who": speakers},
        suits,
        limit=380,
    )
    yield Pattern(
        "likes",
        "{who} 喜欢/1 {act} 。",
        "{who} {like@who}/1 to {act} .",
        "{who} thích/1 {act} .",
        {"who": speakers, "act": liked},
        suits,
        limit=210,
    )
    yield Pattern(
        "does-not-like",
        "{who} 不/1 喜欢/2 {act} 。",
        "{who} {don't@who}/1 like/2 to {act} .",
        "{who} không/1 thích/2 {act} .",
        {"who": speakers, "act": liked},
        suits,
        limit=210,
    )
    yield Pattern(
        "does-like",
        "{who} 喜欢/1 {act} 吗/2 ？",
        "{do@who}/2 {who} like/1 to {act} ?",
        "{who} có/2 thích/1 {act} không/2 ?",
        {"who": asked, "act": liked},
        suits,
        limit=210,
    )
    yield Pattern(
        "likes-most",
        "{who} 最/1 喜欢/2 {act} 。",
        "{who} {like@who}/2 {act.gerund} most/1 .",
        "{who} thích/2 {act} nhất/1 .",
        {"who": speakers, "act": [act for act in liked if act.concept != "take a walk"]},
        suits,
        limit=160,
    )
    yield Pattern(
        "cannot",
        "{who} 不/1 会/2 {act} 。",
        "{who} can't/1,2 {act} .",
        "{who} không/1 biết/2 {act} .",
        {"act": activities("skill"), "who": speakers},
        suits,
    )
    yield Pattern(
        "can",
        "{who} 会/1 {act} 。",
        "{who} can/1 {act} .",
        "{who} biết/1 {act} .",
        {"act": activities("skill"), "who": speakers},
        suits,
    )
    yield Pattern(
        "can-you",
        "{who} 会/1 {act} 吗/2 ？",
        "Can/1,2 {who} {act} ?",
        "{who} có/2 biết/1 {act} không/2 ?",
        {"act": activities("skill"), "who": asked},
        suits,
    )
