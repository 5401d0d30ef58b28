"""Things and places with their measure words, classifiers and English numbers.

Forms, the same names in the three languages (``{x.one}`` in a template): ``cl`` the measure word, classifier or
English unit, ``m`` that and the noun, ``one``, ``this``, ``that``, ``these``, ``the``, ``head`` the noun after an
adjective, ``thatone`` and ``which`` without the noun; no form: the noun in general (English plural).
"""

from functools import cache

from coursepkg.projects.translation.phrasebook import english
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.tables import Row, having, marked, plain, table


@cache
def nouns(*tags: str) -> tuple[Phrase, ...]:
    """Things that have one of the tags, in the order of the lexicon."""
    return having(_things(), tags)


@cache
def places(*tags: str) -> tuple[Phrase, ...]:
    """Places that have one of the tags."""
    return having(_places(), tags)


def typical_price(noun: Phrase) -> float:
    """What the thing usually costs, in yuan; infinite when it is not for sale."""
    return _prices().get(noun.concept, float("inf"))


@cache
def _prices() -> dict[str, float]:
    return {row["en"]: float(row["yuan"]) for row in table("nouns") if row["yuan"]}


@cache
def _things() -> tuple[Phrase, ...]:
    return tuple(_noun(row) for row in table("nouns"))


@cache
def _places() -> tuple[Phrase, ...]:
    return tuple(_noun({**row, "unit": ""}) for row in table("places"))


def _noun(row: Row) -> Phrase:
    """A noun is counted as it is, or by a unit (cup, pair); units of a plural make it plural: these shoes."""
    name, unit = plain(row["en"]), row["unit"]
    countable, paired = not unit, bool(unit) and name.endswith("s")
    many = english.plural(name) if countable else name
    zh, vi = marked(row["zh"], "n"), marked(row["vi"], "n")
    en_one, en_many = marked(name, "n"), marked(many, "n")
    zh_cl, vi_cl = marked(row["measure"], "m"), marked(row["classifier"], "m")
    units = f"{marked(english.plural(unit), 'm')} of {en_many}" if unit else en_many
    this, that = ("these/d", "those/d") if paired else ("this/d", "that/d")
    sides = {
        "zh": zh,
        "zh.cl": zh_cl,
        "zh.m": f"{zh_cl} {zh}",
        "zh.one": f"一/d {zh_cl} {zh}",
        "zh.this": f"这/d {zh_cl} {zh}",
        "zh.that": f"那/d {zh_cl} {zh}",
        "zh.thisone": f"这/d {zh_cl}",
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
    kinds = set(row["tags"].split()) | ({"countable"} if countable else set())
    return phrase(name, sides, {}, person="p" if paired else "3s", tags=frozenset(kinds))
