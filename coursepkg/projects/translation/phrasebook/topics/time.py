"""Clock times, weekdays, dates, birthdays, opening hours, appointments."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import clock, clocks, dates, durations, weekdays
from coursepkg.projects.translation.phrasebook.fitness import distinct, suits
from coursepkg.projects.translation.phrasebook.interlinear import Phrase
from coursepkg.projects.translation.phrasebook.nouns import places
from coursepkg.projects.translation.phrasebook.numerals import english, number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import ages, grown_ups, people
from coursepkg.projects.translation.phrasebook.predicates import daily
from coursepkg.projects.translation.phrasebook.tables import simple

CLOSED_NEVER = {"park", "beach", "hotel", "hospital", "police station", "temple", "church"}
PARTS_FOR = {"early": {"early"}, "late": {"afternoon"}, "evening": {"evening"}, "night": {"evening"}}
HOURS_FOR = {"early": (6, 8), "late": (4, 5), "evening": (6, 8), "night": (9, 10)}


def _at_its_hour(who: Phrase, act: Phrase, clock: Phrase, **_: Phrase) -> bool:
    kind = next(tag for tag in HOURS_FOR if tag in act.tags)
    first, last = HOURS_FOR[kind]
    hour = int(clock.concept.partition(":")[0])
    return suits(who, act) and bool(clock.tags & PARTS_FOR[kind]) and first <= hour <= last


def _open_then(p: Phrase, clock: Phrase, **_: Phrase) -> bool:
    """Whether one can meet there at that hour: at a museum neither at six in the morning nor at night."""
    if "evening" in clock.tags:
        return "late" in p.tags
    return "early" not in clock.tags or bool(p.tags & {"ride", "stay", "sight"} and "office" not in p.tags)


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    told, asked = people("told"), people("asked")
    quarters = (0, 10, 15, 20, 30, 40, 50)
    all_clocks = [clock(hour, minute) for hour in range(1, 13) for minute in quarters]
    day_clocks = [
        *clocks("early", 6, 8),
        *clocks("morning", 9, 10),
        *clocks("afternoon", 1, 5),
        *clocks("evening", 6, 10),
    ]
    shops = [p for p in places("visit") if not p.tags & {"ride", "inside"} and p.concept not in CLOSED_NEVER]
    closing = [*clocks("afternoon", 4, 5), *clocks("evening", 6, 10)]
    days, every_date = weekdays(), dates()
    cities = simple("cities")

    yield Pattern(
        "now-is",
        "现在/1 {clock} 。",
        "It is {clock} now/1 .",
        "Bây_giờ/1 là {clock} .",
        {"clock": all_clocks},
    )
    yield Pattern(
        "daily-at",
        "{who} {clock} {act} 。",
        "{who} {act@who} at/t {clock} .",
        "{who} {act} lúc/t {clock} .",
        {"act": daily(), "clock": day_clocks, "who": told},
        _at_its_hour,
        limit=230,
    )
    yield Pattern(
        "when-does",
        "{who} 几/1 点/2 {act} ？",
        "What/1 time/2 {do@who} {who} {act} ?",
        "{who} {act} lúc mấy/1 giờ/2 ?",
        {"act": daily(), "who": asked},
        suits,
    )
    yield Pattern(
        "weekday-at",
        "{day} {who} {clock} {act} 。",
        "On {day} {who} {act@who} at/t {clock} .",
        "{day} {who} {act} lúc/t {clock} .",
        {"act": daily(), "clock": day_clocks, "day": days, "who": told},
        _at_its_hour,
        limit=230,
    )
    yield Pattern(
        "opens",
        "{p} {clock} 开门/1 。",
        "{p.the} opens/1 at/t {clock} .",
        "{p} mở_cửa/1 lúc/t {clock} .",
        {"p": shops, "clock": [*clocks("early", 7, 8), *clocks("morning", 9, 10)]},
    )
    yield Pattern(
        "closes",
        "{p} {clock} 关门/1 。",
        "{p.the} closes/1 at/t {clock} .",
        "{p} đóng_cửa/1 lúc/t {clock} .",
        {"p": shops, "clock": closing},
        lambda p, clock: ("office" in p.tags) == ("afternoon" in clock.tags),
        limit=100,
    )
    yield Pattern(
        "when-opens",
        "{p} {day} 几/1 点/2 开门/3 ？",
        "What/1 time/2 does {p.the} open/3 on {day} ?",
        "{day} {p} mở_cửa/3 lúc mấy/1 giờ/2 ?",
        {"p": shops, "day": days},
    )
    yield Pattern(
        "when-closes",
        "{p} {day} 几/1 点/2 关门/3 ？",
        "What/1 time/2 does {p.the} close/3 on {day} ?",
        "{day} {p} đóng_cửa/3 lúc mấy/1 giờ/2 ?",
        {"p": shops, "day": days},
    )
    yield Pattern(
        "open-on",
        "{p} {day} 开门/1 吗/2 ？",
        "Is/2 {p.the} open/1 on {day} ?",
        "{p} có/2 mở_cửa/1 vào {day} không/2 ?",
        {"p": shops, "day": days},
    )
    yield Pattern(
        "lets-meet",
        "我们/1 {day} {clock} 在/2 {p} 见面/3 吧/4 。",
        "Let's/1,4 meet/3 at/2 {p.the} at/t {clock} on {day} .",
        "Chúng_ta/1 gặp/3 nhau ở/2 {p} lúc/t {clock} {day} nhé/4 .",
        {"p": places("visit"), "day": days, "clock": day_clocks},
        _open_then,
        limit=270,
    )
    yield Pattern(
        "appointment",
        "{who} {day} {clock} 和/1 {whom} 有/2 约/3 。",
        "{who} {have@who}/2 an appointment/3 with/1 {whom.obj} at/t {clock} on {day} .",
        "{who} có/2 hẹn/3 với/1 {whom} lúc/t {clock} {day} .",
        {
            "who": [w for w in grown_ups() if "old" not in w.tags],
            "whom": people("circle", "name"),
            "day": days,
            "clock": day_clocks,
        },
        distinct,
        limit=200,
    )
    yield Pattern(
        "date-today",
        "今天/1 是/2 {date} 。",
        "Today/1 is/2 {date} .",
        "Hôm_nay/1 là/2 {date} .",
        {"date": every_date},
        limit=140,
    )
    yield Pattern(
        "birthday",
        "{who.poss} 生日/1 是/2 {date} 。",
        "{who.poss} birthday/1 is/2 on {date} .",
        "Sinh_nhật/1 {who.poss} là/2 {date} .",
        {"who": [w for w in told if "group" not in w.tags], "date": every_date},
        limit=230,
    )
    yield Pattern(
        "leave-on-date",
        "{who} {date} 去/1 {city} 。",
        "{who} {be@who} going/1 to {city} on {date} .",
        "{who} đi/1 {city} vào {date} .",
        {"city": cities, "date": every_date, "who": grown_ups()},
        limit=200,
    )
    yield Pattern(
        "age",
        "{who} 今年/1 {n} 岁/2 。",
        "{who} {be@who} {n} years/2 old this/1 year/1 .",
        "{who} năm/1 nay/1 {n} tuổi/2 .",
        {"who": told, "n": [number(n) for n in range(3, 86)]},
        lambda who, n: n.concept in {english(age) for age in ages(who)},
    )
    yield Pattern(
        "waited",
        "{who} 等/1 了/2 {whom} {time} 。",
        "{who} waited/1,2 for {whom.obj} for {time} .",
        "{who} đã/2 đợi/1 {whom} {time} .",
        {
            "who": told,
            "time": [*durations("minute", 5, 10, 15, 20, 30, 40, 50), *durations("hour", 1, 2, 3)],
            "whom": people("self", "group", "circle", "name"),
        },
        distinct,
        limit=200,
    )
