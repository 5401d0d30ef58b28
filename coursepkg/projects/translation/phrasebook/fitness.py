"""Selection restrictions: what goes together so that a native reader finds nothing odd.

Each takes the slots it judges by their usual name and ignores the others.
"""

from collections.abc import Callable

from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import typical_price

Fits = Callable[..., bool]

YUAN = {"yuan": 1.0, "dong": 1 / 3500, "dollar": 7.0}
OF_MEN = {"tie"}
OF_WOMEN = {"skirt"}
ONLY_AT = {"am": "morning", "pm": "evening"}


def describes(adj: Phrase, x: Phrase, **_: Phrase) -> bool:
    """Whether a quality can be said of a thing."""
    return bool(adj.tags & x.tags)


def plausible(x: Phrase, price: Phrase, **_: Phrase) -> bool:
    """Whether a price is within 0.6 and 1.7 times the usual one."""
    amount, currency = price.concept.split()
    return 0.6 <= int(amount) * YUAN[currency] / typical_price(x) <= 1.7


def suits(who: Phrase, act: Phrase, **_: Phrase) -> bool:
    """Whether a person of this age does that: no beer for children, no basketball for grandparents."""
    if "any" in act.tags:
        return True
    if "old" in who.tags:
        return "old" in act.tags
    if "child" in who.tags:
        return "child" in act.tags
    if "young" in who.tags:
        return bool(act.tags & {"young", "sport"})
    return bool(act.tags & {"adult", "sport"})


def timely(act: Phrase, when: Phrase, **_: Phrase) -> bool:
    """Whether one does that at such a time: breakfast in the morning, no shower "last year"."""
    if "long" in when.tags and "long" not in act.tags:
        return False
    if "moment" in act.tags and "habit" not in when.tags:
        return False
    if "trip" in act.tags and not when.tags & {"long", "weekend"}:
        return False
    if "trivial" in act.tags and not when.tags & {"near", "habit"}:
        return False
    if "late" in act.tags and "morning" in when.tags:
        return False
    if "duty" in act.tags and "weekend" in when.tags:
        return False
    if "daytime" in act.tags and "evening" in when.tags:
        return False
    if act.tags & {"am", "noon", "pm"} and "weekend" in when.tags:
        return False
    part_of_day = when.tags & {"morning", "afternoon", "evening"}
    if act.tags & {"noon", "night"}:
        return not part_of_day
    only = {part for tag, part in ONLY_AT.items() if tag in act.tags}
    return not only or not part_of_day or part_of_day == only


def wears(who: Phrase, x: Phrase, **_: Phrase) -> bool:
    """Whether a garment is for this person; one without a known sex wears anything neutral."""
    if x.concept in OF_MEN:
        return "he" in who.tags and not who.tags & {"child", "young"}
    return x.concept not in OF_WOMEN or "she" in who.tags


def distinct(who: Phrase, whom: Phrase, **_: Phrase) -> bool:
    """Whether two persons can be told apart in one sentence: not "we called me", not "he met him"."""
    return who.concept != whom.concept and {who.concept, whom.concept} != {"I", "we"}


def both(*restrictions: Fits) -> Fits:
    """All of several restrictions."""
    return lambda **slots: all(fits(**slots) for fits in restrictions)
