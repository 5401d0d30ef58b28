"""What is said of somebody or something: verb phrases and adjectives with their inflection."""

from functools import cache

from coursepkg.projects.translation.phrasebook import english
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.tables import Row, having, marked, plain, sides_of, table


@cache
def activities(*tags: str) -> tuple[Phrase, ...]:
    """What people do, those that have one of the tags."""
    return having(_verbs("activities"), tags)


def daily() -> tuple[Phrase, ...]:
    """What one does at a fixed hour of the day."""
    return _verbs("daily")


def errands(*tags: str) -> tuple[Phrase, ...]:
    """What is done once and then is done."""
    return having(_verbs("errands"), tags)


def complaints() -> tuple[Phrase, ...]:
    """Illnesses."""
    return _verbs("complaints")


def advice(*tags: str) -> tuple[Phrase, ...]:
    """What is good or bad for one."""
    return having(_verbs("advice"), tags)


def favors(*tags: str) -> tuple[Phrase, ...]:
    """What one asks others to do or not to do."""
    return having(_verbs("favors"), tags)


@cache
def adjectives() -> tuple[Phrase, ...]:
    """Qualities; their tags are those of the nouns they fit. Forms ``attr``, ``more``, ``most``."""
    return tuple(_adjective(row) for row in table("adjectives"))


@cache
def qualities() -> tuple[Phrase, ...]:
    """What persons are like and how they feel; form ``more``."""
    return tuple(
        phrase(
            row["en"],
            {
                **{key: marked(row[key], "0") for key in ("zh", "en", "vi")},
                "en.more": marked(row["more"], "0"),
            },
            {},
            tags=frozenset(row["tags"].split()),
        )
        for row in table("qualities")
    )


def verb_phrase(zh: str, en: str, vi: str, tags: str = "", once: str = "") -> Phrase:
    """A verb phrase; its first English word is the verb and carries the inflection.

    ``once`` is the English of a single occasion where it is not that of a habit ("watch a movie", "watch
    movies"); form ``once`` and the past, perfect and progressive use it, ``third`` and ``gerund`` do not.
    """
    occasion = once or en
    sides = {"zh": zh, "en": en, "vi": vi, "en.once": occasion}
    inflections = {
        "third": (en, english.third_person),
        "gerund": (en, english.progressive),
        "past": (occasion, english.past),
        "ing": (occasion, english.progressive),
        "pp": (occasion, english.participle),
    }
    for view, (side, inflect) in inflections.items():
        verb, _, rest = side.partition(" ")
        verb, slash, mark = verb.partition("/")
        inflected = f"{inflect(verb)}{slash}{mark} {rest}".strip()
        # "likes to go hiking" but "likes hiking"
        going_to_do = view == "gerund" and verb == "go" and plain(rest).endswith("ing")
        sides[f"en.{view}"] = rest if going_to_do else inflected
    return phrase(plain(en), sides, tags=frozenset(tags.split()))


@cache
def _verbs(name: str) -> tuple[Phrase, ...]:
    rows = table(name)
    return tuple(
        verb_phrase(**sides_of(row), tags=row.get("tags") or "", once=row.get("once") or "") for row in rows
    )


def _adjective(row: Row) -> Phrase:
    sides = {
        **{key: marked(row[key], "0") for key in ("zh", "en", "vi")},
        "zh.attr": f"{row['zh']}/0" + (" 的" if row["attr"].endswith("的") else ""),
        "en.more": marked(row["more"], "0"),
        "en.most": marked(row["most"], "0"),
    }
    return phrase(row["en"], sides, {}, tags=frozenset(row["fits"].split()))
