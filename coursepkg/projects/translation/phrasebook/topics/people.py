"""Family, friends, jobs, countries, names, character and mood."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import times
from coursepkg.projects.translation.phrasebook.fitness import distinct
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.nouns import nouns, places
from coursepkg.projects.translation.phrasebook.numerals import number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, nationalities, people
from coursepkg.projects.translation.phrasebook.predicates import qualities
from coursepkg.projects.translation.phrasebook.tables import simple

NAMES = (
    ("阿明", "Minh", "he"),
    ("阿兰", "Lan", "she"),
    ("阿花", "Hoa", "she"),
    ("阿雄", "Hung", "he"),
    ("阿梅", "Mai", "she"),
    ("阿龙", "Long", "he"),
)
SPOUSES = {"my husband", "my wife"}
MILD = {"shy", "nervous", "busy", "tired", "hungry", "thirsty", "sleepy", "sad", "thin", "short"}


def _employed(who: Phrase, **_: Phrase) -> bool:
    return not who.tags & {"group", "old", "child", "young"}


def _like_kind(who: Phrase, quality: Phrase, **_: Phrase) -> bool:
    age = who.tags & {"old", "child", "young"}
    return bool(quality.tags & (age or {"adult"}))


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, asked, jobs = people("told"), people("asked"), simple("jobs")
    workers = [who for who in told if _employed(who)]
    candidates = [who for who in asked if _employed(who)]
    strangers = [who for who in people("told") if not who.tags & {"family", "self", "name"}]
    housemates = [
        who
        for who in people("family", "friendly")
        if not who.tags & {"offspring"} and who.concept not in SPOUSES
    ]
    kin, countries, moods = nouns("kin"), nationalities(), qualities()
    names = [
        phrase(en, {"zh": zh, "en": en, "vi": _vi_name(en)}, tags=frozenset({sex})) for zh, en, sex in NAMES
    ]
    parents = [who for who in grown_ups() if "old" not in who.tags and "group" not in who.tags]

    yield Pattern(
        "this-is",
        "这/1 是/2 {who} 。",
        "This/1 is/2 {who} .",
        "Đây/1 là/2 {who} .",
        {"who": people("family", "circle", "name")},
    )
    yield Pattern(
        "is-that-your",
        "那/1 是/2 {who} 吗/3 ？",
        "Is/2,3 that/1 {who} ?",
        "Đó/1 có/3 phải là/2 {who} không/3 ?",
        {"who": people("yours", "name")},
    )
    yield Pattern(
        "job",
        "{who} 是/1 {job} 。",
        "{who} {be@who}/1 a {job} .",
        "{who} là/1 {job} .",
        {"who": workers, "job": jobs},
        limit=140,
    )
    yield Pattern(
        "not-job",
        "{who} 不/1 是/2 {job} 。",
        "{who} {isn't@who}/1,2 a {job} .",
        "{who} không/1 phải là/2 {job} .",
        {"who": workers, "job": jobs},
        limit=100,
    )
    yield Pattern(
        "is-job",
        "{who} 是/1 {job} 吗/2 ？",
        "{be@who}/1,2 {who} a {job} ?",
        "{who} có/2 phải là/1 {job} không/2 ?",
        {"who": candidates, "job": jobs},
        limit=100,
    )
    yield Pattern(
        "wants-to-be",
        "{who} 想/1 当/2 {job} 。",
        "{who} {want@who}/1 to be/2 a {job} .",
        "{who} muốn/1 làm/2 {job} .",
        {"who": [w for w in told if w.tags & {"child", "young", "name", "self"}], "job": jobs},
    )
    yield Pattern(
        "used-to-be",
        "{who} 以前/1 是/2 {job} 。",
        "{who} used/1 to be/2 a {job} .",
        "Trước_đây/1 {who} là/2 {job} .",
        {"who": [w for w in told if w.tags & {"old", "adult", "self"}], "job": jobs},
        limit=100,
    )
    yield Pattern(
        "works-at",
        "{who} 在/1 {p.one} 工作/2 。",
        "{who} {work@who}/2 at/1 {p.one} .",
        "{who} làm_việc/2 ở/1 {p.one} .",
        {"who": workers, "p": [p for p in places("stay", "shop", "meal", "work") if p.concept != "market"]},
        limit=100,
    )
    yield Pattern(
        "nationality",
        "{who} 是/1 {country.person} 。",
        "{who} {be@who}/1 {country.person} .",
        "{who} là/1 {country.person} .",
        {"who": [*people("self"), *strangers], "country": countries},
    )
    yield Pattern(
        "not-nationality",
        "{who} 不/1 是/2 {country.person} 。",
        "{who} {isn't@who}/1,2 {country.person} .",
        "{who} không/1 phải là/2 {country.person} .",
        {"who": [*people("self"), *strangers], "country": countries},
    )
    yield Pattern(
        "is-nationality",
        "{who} 是/1 {country.person} 吗/2 ？",
        "{be@who}/1,2 {who} {country.person} ?",
        "{who} có/2 phải là/1 {country.person} không/2 ?",
        {"who": [w for w in asked if not w.tags & {"yours", "name"}], "country": countries},
    )
    yield Pattern(
        "comes-from",
        "{who} 从/1 {city} 来/2 。",
        "{who} {come@who}/2 from/1 {city} .",
        "{who} đến/2 từ/1 {city} .",
        {"who": [*people("self"), *strangers], "city": [*simple("cities"), *countries]},
    )
    yield Pattern(
        "has-kin",
        "{who} 有/1 {n} {x.m} 。",
        "{who} {have@who}/1 {n} {x.m} .",
        "{who} có/1 {n} {x.m} .",
        {"who": parents, "x": kin, "n": [number(n) for n in (2, 3, 4)]},
        lambda who, x, n: _kin_of(who, x),
        limit=80,
    )
    yield Pattern(
        "has-one-kin",
        "{who} 有/1 {x.one} 。",
        "{who} {have@who}/1 {x.one} .",
        "{who} có/1 {x.one} .",
        {"who": parents, "x": kin},
        _kin_of,
    )
    yield Pattern(
        "has-no-kin",
        "{who} 没有/1 {x} 。",
        "{who} {don't@who}/1 have/1 any {x} .",
        "{who} không/1 có/1 {x} .",
        {"who": parents, "x": kin},
        _kin_of,
    )
    yield Pattern(
        "how-many-kin",
        "{who} 有/1 几/2 {x.m} ？",
        "How/2 many/2 {x} {do@who} {who} have/1 ?",
        "{who} có/1 mấy/2 {x} ?",
        {"who": [w for w in asked if not w.tags & {"old", "child", "young", "yours", "group"}], "x": kin},
    )
    yield Pattern(
        "name",
        "{who} 叫/1 {name} 。",
        "{who.poss} name/1 is {name} .",
        "{who} tên/1 là {name} .",
        {"who": [w for w in people("family") if w.tags & {"child", "young", "sibling"}], "name": names},
        lambda who, name: bool(who.tags & name.tags),
    )
    for level, limit, zh, en, vi in (
        ("very", 150, "很/1 {quality}", "{be@who} very/1 {quality}", "rất/1 {quality}"),
        ("not", 140, "不/1 {quality}", "{isn't@who}/1 {quality}", "không/1 {quality}"),
        ("a-little", 90, "有点/1 {quality}", "{be@who} a/1 little/1 {quality}", "hơi/1 {quality}"),
    ):
        yield Pattern(
            f"is-{level}",
            f"{{who}} {zh} 。",
            f"{{who}} {en} .",
            f"{{who}} {vi} .",
            {"who": told, "quality": [m for m in moods if level != "a-little" or m.concept in MILD]},
            _like_kind,
            limit=limit,
        )
    yield Pattern(
        "is-it-so",
        "{who} {quality} 吗/1 ？",
        "{be@who}/1 {who} {quality} ?",
        "{who} có/1 {quality} không/1 ?",
        {"who": asked, "quality": moods},
        _like_kind,
        limit=120,
    )
    yield Pattern(
        "was-then",
        "{when} {who} 很/1 {quality} 。",
        "{who} {was@who} very/1 {quality} {when} .",
        "{when} {who} rất/1 {quality} .",
        {"who": told, "quality": [m for m in moods if "state" in m.tags], "when": [*times("past")[:4]]},
        _like_kind,
        limit=160,
    )
    yield Pattern(
        "lives-with",
        "{who} 和/1 {whom} 住/2 在 一起/3 。",
        "{who} {live@who}/2 with/1,3 {whom.obj} .",
        "{who} sống/2 cùng/1,3 {whom} .",
        {"who": people("self", "sibling"), "whom": housemates},
        distinct,
        limit=60,
    )


def _kin_of(who: Phrase, x: Phrase, **_: Phrase) -> bool:
    """Parents of the speaker have brothers, and so have others, but no family word is said twice."""
    return not (who.tags & {"sibling"} and "offspring" not in x.tags) and (
        "family" not in who.tags or "offspring" not in x.tags or "sibling" in who.tags
    )


def _vi_name(en: str) -> str:
    return {"Hung": "Hùng"}.get(en, en)
