"""The lexicon: tab-separated tables, and the forms of what their rows say.

Forms have the same names in the three languages (``{x.one}`` in a template). Of nouns:
``cl`` the measure word, classifier or English unit, ``m`` that and the noun, ``one``,
``this``, ``that``, ``these``, ``the``, ``head`` the noun after an adjective,
``thatone`` and ``which`` without the noun; no form is the noun in general. Of persons:
``obj`` (me), ``poss`` (my, 我 的, của tôi), ``own`` (my, 自己 的, của mình). Of
adjectives: ``attr``, ``more``, ``most``. Of countries: ``person``.
"""

import csv
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from coursepkg.projects.translation.phrasebook import interlinear
from coursepkg.projects.translation.phrasebook.interlinear import (
    LANGUAGES,
    Phrase,
    phrase,
)

Row = dict[str, str]

FOLDER = files("coursepkg.projects.translation.phrasebook")


@cache
def rows(path: str) -> tuple[Row, ...]:
    """The rows of a table beside this module.

    Raises:
        ValueError: there is no such table.
    """
    file = FOLDER / path
    if not file.is_file():
        raise ValueError(f"there is no table or set {path!r}")
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def table(name: str) -> tuple[Row, ...]:
    """The rows of ``lexicon/<name>.tsv``."""
    return rows(f"lexicon/{name}.tsv")


@cache
def entries(name: str) -> tuple[Phrase, ...]:
    """The phrases of a table, in its order, with the forms of their kind.

    ``people`` has the family of the one spoken to behind it (tag ``yours``);
    ``languages`` is made of ``countries``.
    """
    if name == "languages":
        return tuple(_language(row) for row in table("countries") if row["language_zh"])
    given = table(name)
    if name == "people":
        given += tuple(_yours(row) for row in given if "family" in row["tags"])
    make = _KINDS.get(name, _plain)
    return tuple(make(row) for row in given)


def having(found: Iterable[Phrase], tags: str) -> tuple[Phrase, ...]:
    """The phrases that have one of the tags (``a,b``); all of them without a tag."""
    wanted = set(tags.split(",")) if tags else set[str]()
    return tuple(one for one in found if not wanted or one.tags & wanted)


def typical_price(noun: Phrase) -> float:
    """What the thing usually costs, in yuan; infinite when it is not for sale."""
    return _prices().get(noun.concept, float("inf"))


def ages(who: Phrase) -> tuple[int, ...]:
    """Ages that the lexicon gives a person."""
    row = next(row for row in table("people") if plain(row["en"]) == who.concept)
    return tuple(int(age) for age in row["ages"].split())


def plain(side: str) -> str:
    """A wording without its marks."""
    return " ".join(word.partition("/")[0] for word in side.split())


def marked(side: str, mark: str = "0") -> str:
    """A wording with one mark on every word, whatever marks it had."""
    return interlinear.mark_words(plain(side), mark)


@cache
def _prices() -> dict[str, float]:
    return {row["en"]: float(row["yuan"]) for row in table("nouns") if row["yuan"]}


def _tags(row: Row, column: str = "tags") -> frozenset[str]:
    return frozenset((row.get(column) or "").split())


def _sides(row: Row) -> Row:
    """The columns of wordings: ``zh``, ``en``, ``vi`` and forms (``vi.onto``)."""
    return {
        key: side for key, side in row.items() if key.partition(".")[0] in LANGUAGES
    }


def _plain(row: Row) -> Phrase:
    """What is inflected in no language: times, cities."""
    concept = row.get("concept") or plain(row["en"])
    return phrase(concept, _sides(row), tags=_tags(row))


def _noun(row: Row) -> Phrase:
    """A noun is counted as it is or by a unit (cup, pair); "these shoes" is plural."""
    name, unit = plain(row["en"]), row.get("unit", "")
    countable, paired = not unit, bool(unit) and name.endswith("s")
    many = interlinear.plural(name) if countable else name
    zh, vi = marked(row["zh"], "n"), marked(row["vi"], "n")
    en_one, en_many = marked(name, "n"), marked(many, "n")
    zh_cl, vi_cl = marked(row["measure"], "m"), marked(row["classifier"], "m")
    units = f"{marked(interlinear.plural(unit), 'm')} of {en_many}" if unit else en_many
    this, that = ("these/d", "those/d") if paired else ("this/d", "that/d")
    sides = {
        "zh": zh,
        "zh.cl": zh_cl,
        "zh.m": f"{zh_cl} {zh}",
        "zh.one": f"一/d {zh_cl} {zh}",
        "zh.this": f"这/d {zh_cl} {zh}",
        "zh.that": f"那/d {zh_cl} {zh}",
        "zh.thatone": f"那/d {zh_cl}",
        "zh.these": f"这些/d {zh}",
        "en": en_many,
        "en.cl": f"{marked(unit, 'm')} of" if unit else "",
        "en.head": en_one,
        "en.m": units,
        "en.one": f"a/d {unit}/m of {en_many}" if unit else f"a/d {en_one}",
        "en.the": f"the {en_one}",
        "en.this": f"{this} {en_one}",
        "en.that": f"{that} {en_one}",
        "en.thatone": "those/d" if paired else "that/d one/m",
        "en.these": f"these/d {en_many}",
        "vi": vi,
        "vi.cl": vi_cl,
        "vi.m": f"{vi_cl} {vi}",
        "vi.one": f"một/d {vi_cl} {vi}",
        "vi.this": f"{vi_cl} {vi} này/d",
        "vi.that": f"{vi_cl} {vi} kia/d",
        "vi.which": f"{vi_cl or vi} nào",
        "vi.thatone": f"{vi_cl or vi} kia/d",
        "vi.these": f"những {vi_cl} {vi} này/d",
    }
    tags = _tags(row) | ({"countable"} if countable else set())
    return phrase(name, sides, {}, person="p" if paired else "3s", tags=tags)


def _person(row: Row) -> Phrase:
    sides = {
        **_sides(row),
        "zh.poss": f"{row['zh']} 的/p",
        "vi.poss": f"của/p {row['vi']}",
        "en.poss": (row["poss"] or _possessive(row["en"])) + ",p",
    }
    if row["obj"]:
        sides["en.obj"] = row["obj"]
    if row["own"]:
        sides["zh.own"] = "自己/1 的/p"
        sides["en.own"] = f"{row['own']}/1,p"
        sides["vi.own"] = "của/p mình/1"
    name, person = plain(row["en"]), row["person"]
    return phrase(name, sides, {}, person=person, tags=_tags(row))


def _possessive(side: str) -> str:
    *rest, last = side.split()
    word, slash, mark = last.partition("/")
    return " ".join([*rest, f"{word}'s{slash}{mark}"])


def _yours(row: Row) -> Row:
    """The same relative of the one spoken to, of whom one asks and does not tell."""
    return {
        **row,
        "zh": row["zh"].replace("我", "你"),
        "en": row["en"].replace("my/", "your/"),
        "vi": row["vi"].replace("tôi/", "bạn/"),
        "tags": row["tags"].replace("family", "yours").replace("told", "asked"),
    }


def _country(row: Row) -> Phrase:
    sides = {
        "zh.person": f"{row['zh']}人/0",
        "en.person": f"{row['people_en']}/0",
        "vi.person": f"người/0 {row['vi']}/0",
    }
    return phrase(row["en"], _whole(row) | sides, {})


def _language(row: Row) -> Phrase:
    names = {key: row[f"language_{key}"] for key in LANGUAGES}
    return phrase(names["en"], _whole(names | {"vi": f"tiếng {names['vi']}"}), {})


def _quality(row: Row) -> Phrase:
    sides = _whole(row) | {"en.more": marked(row["more"])}
    return phrase(row["en"], sides, {}, tags=_tags(row))


def _adjective(row: Row) -> Phrase:
    sides = _whole(row) | {
        "zh.attr": f"{row['zh']}/0" + (" 的" if row["attr"].endswith("的") else ""),
        "en.more": marked(row["more"]),
        "en.most": marked(row["most"]),
    }
    return phrase(row["en"], sides, {}, tags=_tags(row, "fits"))


def _whole(row: Row) -> Row:
    return {key: marked(row[key]) for key in LANGUAGES}


def _verb(row: Row) -> Phrase:
    """A verb phrase; its first English word is the verb and carries the inflection.

    ``once`` is the English of a single occasion where it is not that of a habit ("watch
    a movie", "watch movies"): the past, perfect and progressive use it.
    """
    habit = row["en"]
    occasion = row.get("once") or habit
    sides = _sides(row) | {"en.once": occasion}
    inflections = {
        "third": (habit, interlinear.third_person),
        "gerund": (habit, interlinear.progressive),
        "past": (occasion, interlinear.past),
        "ing": (occasion, interlinear.progressive),
        "pp": (occasion, interlinear.participle),
    }
    for view, (side, inflect) in inflections.items():
        verb, _, rest = side.partition(" ")
        verb, slash, mark = verb.partition("/")
        inflected = f"{inflect(verb)}{slash}{mark} {rest}".strip()
        # "likes to go hiking" but "likes hiking"
        going_to_do = view == "gerund" and verb == "go" and plain(rest).endswith("ing")
        sides[f"en.{view}"] = rest if going_to_do else inflected
    return phrase(plain(habit), sides, tags=_tags(row))


_VERBS = ("activities", "daily", "errands", "complaints", "advice", "favors")
_KINDS = {
    "nouns": _noun,
    "places": _noun,
    "people": _person,
    "countries": _country,
    "qualities": _quality,
    "adjectives": _adjective,
    **dict.fromkeys(_VERBS, _verb),
}
"""How the rows of a table are inflected; those of any other table are not."""
