"""Selection restrictions: what goes together so that nothing sounds odd.

The patterns in `topics` call them by name, with their slots as arguments.
"""

from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.lexicon import ages, typical_price
from coursepkg.projects.translation.phrasebook.numbers import english

YUAN = {"yuan": 1.0, "dong": 1 / 3500, "dollar": 7.0}
YOUNG = {"child", "young"}
HOURS = {
    "early": ("early", 6, 8),
    "late": ("afternoon", 4, 5),
    "evening": ("evening", 6, 8),
    "night": ("evening", 9, 10),
}
"""Tag of a daily deed -> part of the day, first and last hour."""
SIZES = {
    "tiny": "phone wallet passport key book pen watch camera ticket notebook glasses"
    " photo",
    "wear": "shirt sweater coat hat scarf skirt gloves trousers",
    "big": "suitcase backpack umbrella",
}
"""Tag of a place -> the things that are kept there."""


def share(x: Phrase, y: Phrase) -> bool:
    """Whether two phrases have a tag in common: a quality and what it is said of."""
    return bool(x.tags & y.tags)


def differ(x: Phrase, y: Phrase) -> bool:
    """Whether two phrases mean different things."""
    return x.concept != y.concept


def distinct(who: Phrase, whom: Phrase) -> bool:
    """Whether one sentence tells two persons apart: no "we called me", "he met him"."""
    return differ(who, whom) and {who.concept, whom.concept} != {"I", "we"}


def adult(who: Phrase) -> bool:
    """Whether somebody is neither a child nor old."""
    return not who.tags & {*YOUNG, "old"}


def plausible(x: Phrase, price: Phrase) -> bool:
    """Whether a price is within 0.6 and 1.7 times the usual one."""
    amount, currency = price.concept.split()
    return 0.6 <= int(amount) * YUAN[currency] / typical_price(x) <= 1.7


def suits(who: Phrase, act: Phrase) -> bool:
    """Whether a person of this age does that: no beer for children."""
    if "any" in act.tags:
        return True
    if "old" in who.tags:
        return "old" in act.tags
    if "child" in who.tags:
        return "child" in act.tags
    return bool(act.tags & {"young" if "young" in who.tags else "adult", "sport"})


def timely(act: Phrase, when: Phrase) -> bool:
    """Whether one does that at such a time: breakfast in the morning."""
    act_tags, tags = act.tags, when.tags
    if (
        ("long" in tags and "long" not in act_tags)
        or ("moment" in act_tags and "habit" not in tags)
        or ("trip" in act_tags and not tags & {"long", "weekend"})
        or ("trivial" in act_tags and not tags & {"near", "habit"})
        or ("late" in act_tags and "morning" in tags)
        or ("duty" in act_tags and "weekend" in tags)
        or ("daytime" in act_tags and "evening" in tags)
        or (act_tags & {"am", "noon", "pm"} and "weekend" in tags)
    ):
        return False
    part_of_day = tags & {"morning", "afternoon", "evening"}
    if act_tags & {"noon", "night"}:
        return not part_of_day
    hours = (("am", "morning"), ("pm", "evening"))
    only = {part for tag, part in hours if tag in act_tags}
    return not only or not part_of_day or part_of_day == only


def at_its_hour(act: Phrase, clock: Phrase) -> bool:
    """Whether a daily deed is done at that hour."""
    part, first, last = HOURS[next(tag for tag in HOURS if tag in act.tags)]
    return part in clock.tags and first <= int(clock.concept.split(":")[0]) <= last


def goes(act: Phrase) -> bool:
    """Whether a deed is to go somewhere."""
    return act.concept.startswith("go to")


def is_open(p: Phrase, clock: Phrase) -> bool:
    """Whether one can meet there then: at a museum neither at dawn nor at night."""
    if "evening" in clock.tags:
        return "late" in p.tags
    is_early_place = p.tags & {"ride", "stay", "sight"} and "office" not in p.tags
    return "early" not in clock.tags or bool(is_early_place)


def closes(p: Phrase, clock: Phrase) -> bool:
    """Whether offices close in the afternoon, and all else in the evening."""
    return ("office" in p.tags) == ("afternoon" in clock.tags)


def of_age(who: Phrase, n: Phrase) -> bool:
    """Whether the lexicon gives a person this age."""
    return n.concept in {english(age) for age in ages(who)}


def wears(who: Phrase, x: Phrase) -> bool:
    """Whether a garment is for this person; other things are for everybody."""
    if x.concept == "tie":
        return "he" in who.tags and not who.tags & YOUNG
    return x.concept != "skirt" or "she" in who.tags


def drives(who: Phrase, x: Phrase) -> bool:
    """Whether a person is old enough to own a vehicle, if it is one."""
    return not ("vehicle" in x.tags and who.tags & YOUNG)


def no_linen(x: Phrase) -> bool:
    """Whether a thing is no bed linen."""
    return "linen" not in x.tags


def sober(who: Phrase, x: Phrase) -> bool:
    """No alcohol for children."""
    return "alcohol" not in x.tags or not who.tags & YOUNG


def mild_enough(who: Phrase, x: Phrase) -> bool:
    """No strong coffee for children."""
    return not ("child" in who.tags and "strong" in x.tags)


def decent(x: Phrase, when: Phrase) -> bool:
    """No alcohol in the morning."""
    return "alcohol" not in x.tags or "morning" not in when.tags


def alternative(x: Phrase, y: Phrase) -> bool:
    """Whether one chooses between two drinks: no two juices, no milk or beer."""
    same = x.concept == y.concept or "juice" in x.tags & y.tags
    return not same and ("alcohol" in x.tags) == ("alcohol" in y.tags)


def similar(x: Phrase, y: Phrase) -> bool:
    """Whether one compares two fruits or drinks: no two juices, no beer and water."""
    odd = (x.tags | y.tags) & {"alcohol", "plain"} or "juice" in x.tags & y.tags
    return differ(x, y) and share(x, y) and not odd


def far_enough(q: Phrase, distance: Phrase) -> bool:
    """Whether a distance is in kilometers where a place lies outside of the town."""
    return "outskirts" not in q.tags or "kilo" in distance.concept


def reachable(city: Phrase, trip: Phrase) -> bool:
    """Whether one gets there so: other countries by plane, no train without rails."""
    if "no_rail" in city.tags and "rail" in trip.tags:
        return False
    return "abroad" not in city.tags or "air" in trip.tags


def in_season(city: Phrase, weather: Phrase) -> bool:
    """Whether a city has such weather: no cold in the tropics."""
    return "tropical" not in city.tags or "cold" not in weather.concept


def has_kin(who: Phrase, x: Phrase) -> bool:
    """Whether no family word is said twice: my brother has children, no brothers."""
    is_sibling, is_offspring = "sibling" in who.tags, "offspring" in x.tags
    if is_sibling:
        return is_offspring
    return "family" not in who.tags or not is_offspring


def is_like(who: Phrase, quality: Phrase) -> bool:
    """Whether a quality is said of a person of this age."""
    return bool(quality.tags & _age(who))


def comparable(who: Phrase, whom: Phrase, quality: Phrase) -> bool:
    """Whether two persons of one age are compared by a quality of that age."""
    alike = _age(who) == _age(whom)
    return alike and distinct(who, whom) and is_like(who, quality)


def can_be_older(who: Phrase, whom: Phrase) -> bool:
    """Whether one can be older: of siblings the word says who is."""
    return distinct(who, whom) and not (who.concept == "I" and "sibling" in whom.tags)


def fits_there(x: Phrase, spot: Phrase) -> bool:
    """Whether a thing is kept in such a place: no coat in a drawer."""
    kept = any(x.concept in SIZES[tag].split() for tag in spot.tags)
    return kept and not spot.concept.endswith(x.concept)


def belongs_on(x: Phrase, spot: Phrase) -> bool:
    """Whether a thing is put there: tableware on the table only."""
    return "tableware" not in x.tags or spot.concept == "on the table"


def affordable(x: Phrase, n: Phrase) -> bool:
    """Whether one has so many: at most two houses or cars."""
    return n.concept == "two" or not x.tags & {"home", "vehicle"}


def interests(p: Phrase, who: Phrase) -> bool:
    """Whether a place attracts a person: children want something to see or to eat."""
    return "child" not in who.tags or bool(p.tags & {"sight", "meal"})


def _age(who: Phrase) -> frozenset[str]:
    return who.tags & {"old", *YOUNG} or frozenset({"adult"})
