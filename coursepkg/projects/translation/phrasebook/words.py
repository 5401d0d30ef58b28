"""Reads the lexicon and gives each entry its grammatical forms as a :class:`Phrase`.

Forms of a noun, the same names in the three languages (``{x.one}`` in a template):
``cl`` the measure word, classifier or English unit, ``m`` that and the noun, ``one``, ``this``, ``that``,
``these``, ``the``, ``head`` the noun after an adjective; without a form, the noun in general (English plural).
"""

import csv
from functools import cache
from importlib.resources import files

from coursepkg.projects.translation.phrasebook import english
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase

Row = dict[str, str]


@cache
def table(name: str) -> tuple[Row, ...]:
    """The rows of ``lexicon/<name>.tsv``."""
    path = files("coursepkg.projects.translation.phrasebook") / "lexicon" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def simple(name: str) -> tuple[Phrase, ...]:
    """A table whose entries have one form only (times, cities)."""
    return tuple(_entry(row) for row in table(name))


@cache
def nouns(*tags: str) -> tuple[Phrase, ...]:
    """Things that have one of the tags, in the order of the lexicon; all of them without a tag."""
    return _tagged(_all_nouns(), tags)


@cache
def places(*tags: str) -> tuple[Phrase, ...]:
    """Places that have one of the tags."""
    return _tagged(tuple(_noun({**row, "unit": ""}) for row in table("places")), tags)


@cache
def people(*tags: str) -> tuple[Phrase, ...]:
    """Persons that have one of the tags.

    Forms: ``obj`` (me), ``poss`` (my, 我 的, của tôi), ``own`` (my, 自己 的, của mình). One tells about those
    tagged ``told`` and asks about those tagged ``asked``; the family of the one spoken to is ``yours``.
    """
    rows = table("people")
    yours = tuple(_yours(row) for row in rows if "family" in row["tags"])
    return _tagged(tuple(_person(row) for row in (*rows, *yours)), tags)


def grown_ups() -> tuple[Phrase, ...]:
    """Those one tells about who are no children."""
    return tuple(who for who in people("told") if not who.tags & {"child", "young"})


@cache
def activities(*tags: str) -> tuple[Phrase, ...]:
    """Verb phrases that have one of the tags; English forms ``third``, ``past``, ``ing``, ``pp``."""
    return _tagged(_verbs("activities"), tags)


@cache
def adjectives() -> tuple[Phrase, ...]:
    """Qualities; their tags are those of the nouns they fit. Forms ``attr``, ``more``, ``most``."""
    return tuple(_adjective(row) for row in table("adjectives"))


@cache
def times(*tags: str) -> tuple[Phrase, ...]:
    """Times that have one of the tags."""
    return _tagged(simple("times"), tags)


def verb_phrase(zh: str, en: str, vi: str, tags: str = "") -> Phrase:
    """A verb phrase; its first English word is the verb and carries the inflection."""
    verb, _, rest = en.partition(" ")
    verb, slash, mark = verb.partition("/")
    sides = {"zh": zh, "en": en, "vi": vi}
    inflections = {
        "third": english.third_person,
        "past": english.past,
        "ing": english.progressive,
        "pp": english.participle,
    }
    for view, inflect in inflections.items():
        sides[f"en.{view}"] = f"{inflect(verb)}{slash}{mark} {rest}".strip()
    return phrase(_name(en), sides, tags=frozenset(tags.split()))


def _entry(row: Row) -> Phrase:
    return phrase(_name(row["en"]), _sides(row), tags=frozenset((row.get("tags") or "").split()))


def _sides(row: Row) -> dict[str, str]:
    return {key: side for key, side in row.items() if key.partition(".")[0] in ("zh", "en", "vi")}


def _name(side: str) -> str:
    return " ".join(word.partition("/")[0] for word in side.split())


def _tagged(entries: tuple[Phrase, ...], tags: tuple[str, ...]) -> tuple[Phrase, ...]:
    return tuple(e for e in entries if not tags or e.tags & set(tags))


@cache
def _all_nouns() -> tuple[Phrase, ...]:
    return tuple(_noun(row) for row in table("nouns"))


def _noun(row: Row) -> Phrase:
    name, unit = _name(row["en"]), row["unit"]
    countable, paired = not unit, bool(unit) and name.endswith("s")
    many = english.plural(name) if countable else name
    marked = {lang: _mark(row[lang], "n") for lang in ("zh", "vi")}
    en_one, en_many = _mark(name, "n"), _mark(many, "n")
    zh_cl, vi_cl = _mark(row["measure"], "m"), _mark(row["classifier"], "m")
    units = f"{_mark(english.plural(unit), 'm')} of {en_many}" if unit else en_many
    this, that = ("these/d", "those/d") if paired else ("this/d", "that/d")
    sides = {
        "zh": marked["zh"],
        "zh.cl": zh_cl,
        "zh.m": f"{zh_cl} {marked['zh']}",
        "zh.one": f"一/d {zh_cl} {marked['zh']}",
        "zh.this": f"这/d {zh_cl} {marked['zh']}",
        "zh.that": f"那/d {zh_cl} {marked['zh']}",
        "zh.thisone": f"这/d {zh_cl}",
        "zh.thatone": f"那/d {zh_cl}",
        "zh.these": f"这些/d {marked['zh']}",
        "en": en_many,
        "en.cl": f"{_mark(unit, 'm')} of" if unit else "",
        "en.head": en_one,
        "en.m": units,
        "en.one": f"a/d {unit}/m of {en_many}" if unit else f"a/d {en_one}",
        "en.the": f"the {en_one}",
        "en.this": f"{this} {en_one}",
        "en.that": f"{that} {en_one}",
        "en.thatone": "those/d" if paired else "that/d one/m",
        "en.these": f"these/d {en_many}",
        "vi": marked["vi"],
        "vi.cl": vi_cl,
        "vi.m": f"{vi_cl} {marked['vi']}",
        "vi.one": f"một/d {vi_cl} {marked['vi']}",
        "vi.this": f"{vi_cl} {marked['vi']} này/d",
        "vi.that": f"{vi_cl} {marked['vi']} kia/d",
        "vi.which": f"{vi_cl or marked['vi']} nào",
        "vi.thatone": f"{vi_cl or marked['vi']} kia/d",
        "vi.these": f"những {vi_cl} {marked['vi']} này/d",
    }
    kinds = set(row["tags"].split()) | ({"countable"} if countable else set())
    return phrase(name, sides, {}, person="p" if paired else "3s", tags=frozenset(kinds))


def _mark(side: str, mark: str) -> str:
    return " ".join(f"{word.partition('/')[0]}/{mark}" for word in side.split())


def _person(row: Row) -> Phrase:
    sides = {
        **_sides(row),
        "zh.poss": f"{row['zh']} 的",
        "vi.poss": f"của {row['vi']}",
        "en.poss": row["poss"] or f"{_possessive(row['en'])}",
    }
    if row["obj"]:
        sides["en.obj"] = row["obj"]
    if row["own"]:
        sides |= {"zh.own": "自己/1 的", "en.own": f"{row['own']}/1", "vi.own": "của mình/1"}
    kinds = frozenset(row["tags"].split())
    return phrase(_name(row["en"]), sides, {}, person=row["person"], tags=kinds)


def _yours(row: Row) -> Row:
    sides = {
        "zh": row["zh"].replace("我", "你"),
        "en": row["en"].replace("my/", "your/"),
        "vi": row["vi"].replace("tôi/", "bạn/"),
    }
    return {**row, **sides, "tags": row["tags"].replace("family", "yours").replace("told", "asked")}


def _possessive(side: str) -> str:
    *rest, last = side.split()
    word, slash, mark = last.partition("/")
    return " ".join([*rest, f"{word}'s{slash}{mark}"])


def _adjective(row: Row) -> Phrase:
    sides = {
        **{key: _mark(row[key], "0") for key in ("zh", "en", "vi")},
        "zh.attr": f"{row['zh']}/0" + (" 的" if row["attr"].endswith("的") else ""),
        "en.more": _mark(row["more"], "0"),
        "en.most": _mark(row["most"], "0"),
    }
    return phrase(row["en"], sides, {}, tags=frozenset(row["fits"].split()))


@cache
def _prices() -> dict[str, float]:
    return {row["en"]: float(row["yuan"]) for row in table("nouns") if row["yuan"]}


def typical_price(noun: Phrase) -> float:
    """What the thing usually costs, in yuan; infinite when it is not for sale."""
    return _prices().get(noun.concept, float("inf"))


def daily() -> tuple[Phrase, ...]:
    """What one does at a fixed hour of the day."""
    return _verbs("daily")


def errands(*tags: str) -> tuple[Phrase, ...]:
    """What is done once and then is done."""
    return _tagged(_verbs("errands"), tags)


def complaints() -> tuple[Phrase, ...]:
    """Illnesses."""
    return _verbs("complaints")


def advice(*tags: str) -> tuple[Phrase, ...]:
    """What is good or bad for one."""
    return _tagged(_verbs("advice"), tags)


def favors(*tags: str) -> tuple[Phrase, ...]:
    """What one asks others to do or not to do."""
    return _tagged(_verbs("favors"), tags)


@cache
def _verbs(name: str) -> tuple[Phrase, ...]:
    return tuple(verb_phrase(**_sides(row), tags=row.get("tags") or "") for row in table(name))


@cache
def qualities() -> tuple[Phrase, ...]:
    """What persons are like and how they feel; form ``more``."""
    return tuple(
        phrase(
            row["en"],
            {**{key: _mark(row[key], "0") for key in ("zh", "en", "vi")}, "en.more": _mark(row["more"], "0")},
            {},
            tags=frozenset(row["tags"].split()),
        )
        for row in table("qualities")
    )


@cache
def nationalities() -> tuple[Phrase, ...]:
    """Countries; form ``person`` (中国人, Chinese, người Trung_Quốc)."""
    return tuple(
        phrase(
            row["en"],
            {
                **{key: _mark(row[key], "0") for key in ("zh", "en", "vi")},
                "zh.person": f"{row['zh']}人/0",
                "en.person": f"{row['people_en']}/0",
                "vi.person": f"người/0 {row['vi']}/0",
            },
            {},
        )
        for row in table("countries")
    )


@cache
def languages() -> tuple[Phrase, ...]:
    """Languages that people learn."""
    return tuple(
        phrase(
            row["language_en"],
            {
                "zh": f"{row['language_zh']}/0",
                "en": f"{row['language_en']}/0",
                "vi": f"tiếng/0 {row['language_vi']}/0",
            },
            {},
        )
        for row in table("countries")
        if row["language_zh"]
    )


def ages(who: Phrase) -> tuple[int, ...]:
    """Ages that the lexicon gives a person."""
    row = next(row for row in table("people") if _name(row["en"]) == who.concept)
    return tuple(int(age) for age in row["ages"].split())
