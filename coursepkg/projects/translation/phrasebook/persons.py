"""Pronouns, relatives, friends, and the countries and languages of people."""

from functools import cache

from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.tables import Row, having, marked, plain, sides_of, table


@cache
def people(*tags: str) -> tuple[Phrase, ...]:
    """Persons that have one of the tags.

    Forms: ``obj`` (me), ``poss`` (my, 我 的, của tôi), ``own`` (my, 自己 的, của mình). One tells about those
    tagged ``told`` and asks about those tagged ``asked``; the family of the one spoken to is ``yours``.
    """
    return having(_everybody(), tags)


def grown_ups() -> tuple[Phrase, ...]:
    """Those one tells about who are no children."""
    return tuple(who for who in people("told") if not who.tags & {"child", "young"})


def ages(who: Phrase) -> tuple[int, ...]:
    """Ages that the lexicon gives a person."""
    row = next(row for row in table("people") if plain(row["en"]) == who.concept)
    return tuple(int(age) for age in row["ages"].split())


@cache
def nationalities() -> tuple[Phrase, ...]:
    """Countries; form ``person`` (中国人, Chinese, người Trung_Quốc)."""
    return tuple(
        phrase(
            row["en"],
            {
                **{key: marked(row[key], "0") for key in ("zh", "en", "vi")},
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


@cache
def _everybody() -> tuple[Phrase, ...]:
    rows = table("people")
    yours = tuple(_yours(row) for row in rows if "family" in row["tags"])
    return tuple(_person(row) for row in (*rows, *yours))


def _person(row: Row) -> Phrase:
    sides = {
        **sides_of(row),
        "zh.poss": f"{row['zh']} 的/p",
        "vi.poss": f"của/p {row['vi']}",
        "en.poss": (row["poss"] or _possessive(row["en"])) + ",p",
    }
    if row["obj"]:
        sides["en.obj"] = row["obj"]
    if row["own"]:
        sides |= {"zh.own": "自己/1 的/p", "en.own": f"{row['own']}/1,p", "vi.own": "của/p mình/1"}
    kinds = frozenset(row["tags"].split())
    return phrase(plain(row["en"]), sides, {}, person=row["person"], tags=kinds)


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
