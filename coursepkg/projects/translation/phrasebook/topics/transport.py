"""Trains, planes, buses and taxis: tickets, departures, trips."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import clocks, durations, times
from coursepkg.projects.translation.phrasebook.fitness import suits
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.money import amounts
from coursepkg.projects.translation.phrasebook.nouns import nouns, places
from coursepkg.projects.translation.phrasebook.numerals import number, plain_number
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import grown_ups, people
from coursepkg.projects.translation.phrasebook.predicates import activities
from coursepkg.projects.translation.phrasebook.tables import simple

# zh vehicle, zh ticket, zh departs, en vehicle, en departs, vi vehicle, tags
LINES = (
    ("火车", "火车票", "出发", "train", "leaves", "tàu_hỏa", "land rail"),
    ("大巴", "大巴票", "出发", "coach", "leaves", "xe_khách", "land"),
    ("飞机", "机票", "起飞", "plane", "takes/1 off/1", "máy_bay", "land air"),
)


def _reachable(city: Phrase, trip: Phrase, **_: Phrase) -> bool:
    if "no_rail" in city.tags and "rail" in trip.tags:
        return False
    return "abroad" not in city.tags or "air" in trip.tags


def _lines() -> list[Phrase]:
    return [
        phrase(
            en,
            {
                "zh": f"{zh}/v",
                "zh.ticket": f"{ticket}/v,t",
                "zh.departs": f"{zh_departs}/1",
                "en": f"{en}/v",
                "en.ticket": f"{en}/v ticket/t",
                "en.tickets": f"{en}/v tickets/t",
                "en.leave": en_departs.replace("leaves", "leave/1").replace("takes", "take"),
                "en.departs": en_departs if "/" in en_departs else f"{en_departs}/1",
                "vi": f"{vi}/v",
                "vi.ticket": f"vé/t {vi}/v",
                "vi.departs": "khởi_hành/1" if en != "plane" else "cất_cánh/1",
            },
            tags=frozenset(tags.split()),
        )
        for zh, ticket, zh_departs, en, en_departs, vi, tags in LINES
    ]


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    cities, trips, lines, visited = simple("cities"), simple("trips"), _lines(), places("visit")
    travellers, asked, told = grown_ups(), people("asked"), people("told")
    departures = [
        *clocks("early", 6, 8, 0, 10, 15, 20, 30, 40, 50),
        *clocks("morning", 9, 10, 0, 10, 15, 20, 30, 40, 50),
        *clocks("afternoon", 1, 5, 0, 10, 15, 20, 30, 40, 50),
        *clocks("evening", 7, 9, 0, 10, 15, 20, 30, 40, 50),
    ]
    fares = amounts(yuan=(120, 150, 180, 200, 220, 250, 280, 300, 350, 400, 450, 500, 550, 600))
    future = [when for when in times("future") if "evening" not in when.tags]
    stays = [*durations("day", *range(2, 8)), *durations("week", 1, 2, 3)]
    past = [when for when in times("past") if "evening" not in when.tags]

    yield Pattern(
        "will-go-by",
        "{when} {who} 要/1 {trip} 去/2 {city} 。",
        "{who} {be@who}/1 going/2 to {city} {trip} {when} .",
        "{when} {who} sẽ/1 đi/2 {city} {trip} .",
        {"city": cities, "trip": trips, "who": travellers, "when": future},
        _reachable,
        limit=290,
    )
    yield Pattern(
        "went-by",
        "{when} {who} {trip} 去/1 了/2 {city} 。",
        "{who} went/1,2 to {city} {trip} {when} .",
        "{when} {who} đã/2 đi/1 {city} {trip} .",
        {"city": cities, "trip": trips, "who": travellers, "when": past},
        _reachable,
        limit=210,
    )
    yield Pattern(
        "will-you-go-by",
        "{who} 要/1 {trip} 去/2 {city} 吗/3 ？",
        "{be@who}/1,3 {who} going/2 to {city} {trip} ?",
        "{who} sẽ/1 đi/2 {city} {trip} à/3 ?",
        {"city": cities, "trip": trips, "who": asked},
        lambda who, **slots: not who.tags & {"child", "young", "old"} and _reachable(**slots),
        limit=140,
    )
    yield Pattern(
        "buy-a-ticket",
        "{who} 想/1 买/2 一/3 张 去/4 {city} 的 {line.ticket} 。",
        "{who} {want@who}/1 to buy/2 a/3 {line.ticket} to/4 {city} .",
        "{who} muốn/1 mua/2 một/3 {line.ticket} đi/4 {city} .",
        {"city": cities, "line": lines, "who": people("self")},
        _on_line,
    )
    yield Pattern(
        "buy-tickets",
        "{who} 想/1 买/2 {n} 张 去/3 {city} 的 {line.ticket} 。",
        "{who} {want@who}/1 to buy/2 {n} {line.tickets} to/3 {city} .",
        "{who} muốn/1 mua/2 {n} {line.ticket} đi/3 {city} .",
        {"city": cities, "line": lines, "n": [number(n) for n in range(2, 7)], "who": travellers},
        _on_line,
        limit=160,
    )
    yield Pattern(
        "how-much-ticket",
        "去/1 {city} 的 {line.ticket} 多少/2 钱/2 ？",
        "How/2 much/2 is a {line.ticket} to/1 {city} ?",
        "{line.ticket} đi/1 {city} bao_nhiêu/2 tiền/2 ?",
        {"city": cities, "line": lines},
        _on_line,
    )
    yield Pattern(
        "fare",
        "去/1 {city} 的 {line.ticket} {price} 。",
        "A {line.ticket} to/1 {city} costs/2 {price} .",
        "{line.ticket} đi/1 {city} giá/2 {price} .",
        {"city": [c for c in cities if "abroad" not in c.tags], "line": lines, "price": fares},
        fits=_on_line,
        limit=140,
    )
    yield Pattern(
        "departs-at",
        "去/1 {city} 的 {line} {clock} {line.departs} 。",
        "The {line} to/1 {city} {line.departs} at/t {clock} .",
        "{line} đi/1 {city} {line.departs} lúc/t {clock} .",
        {"city": cities, "line": lines, "clock": departures},
        _on_line,
        limit=290,
    )
    yield Pattern(
        "when-departs",
        "去/1 {city} 的 {line} 几/2 点/3 {line.departs} ？",
        "What/2 time/3 does the {line} to/1 {city} {line.leave} ?",
        "{line} đi/1 {city} {line.departs} lúc mấy/2 giờ/3 ?",
        {"city": cities, "line": lines},
        _on_line,
    )
    yield Pattern(
        "arrives-at",
        "从/1 {city} 来/2 的 {line} {clock} 到/3 。",
        "The {line} from/1 {city} arrives/3 at/t {clock} .",
        "{line} từ/1 {city} đến/3 lúc/t {clock} .",
        {"city": cities, "line": lines, "clock": departures},
        _on_line,
        limit=160,
    )
    yield Pattern(
        "delayed",
        "去/1 {city} 的 {line} 晚点/2 了/2 。",
        "The {line} to/1 {city} is late/2 .",
        "{line} đi/1 {city} bị trễ/2 .",
        {"city": cities, "line": lines},
        _on_line,
    )
    yield Pattern(
        "which-bus",
        "去/1 {p} 坐/2 几/3 路/4 公交车/5 ？",
        "Which/3 bus/5 goes/2 to/1 {p.the} ?",
        "Đi/1 {p} thì đi/2 xe_buýt/5 số/4 mấy/3 ?",
        {"p": visited},
    )
    yield Pattern(
        "bus-goes-to",
        "{n} 路/1 公交车/2 去/3 {p} 。",
        "Bus/2 number/1 {n} goes/3 to {p.the} .",
        "Xe_buýt/2 số/1 {n} đi/3 {p} .",
        {"n": [plain_number(n) for n in range(2, 41)], "p": visited},
        limit=100,
    )
    yield Pattern(
        "does-bus-go",
        "这/1 辆 公交车/2 去/3 {p} 吗/4 ？",
        "Does/4 this/1 bus/2 go/3 to {p.the} ?",
        "Xe_buýt/2 này/1 có/4 đi/3 {p} không/4 ?",
        {"p": visited},
    )
    yield Pattern(
        "get-off",
        "{who} 在/1 {p} 下车/2 。",
        "{who} {get@who}/2 off/2 at/1 {p.the} .",
        "{who} xuống/2 xe/2 ở/1 {p} .",
        {"p": visited, "who": travellers},
        limit=100,
    )
    yield Pattern(
        "stop-at",
        "请/1 在/2 {p} 停/3 一下 。",
        "Please/1 stop/3 at/2 {p.the} .",
        "Làm_ơn/1 dừng/3 ở/2 {p} .",
        {"p": visited},
    )
    yield Pattern(
        "commute",
        "{who} {ride} 去 {act} 。",
        "{who} {act@who} {ride} .",
        "{who} {ride} {act} .",
        {"ride": [r for r in simple("rides") if "commute" in r.tags], "who": told, "act": activities("duty")},
        lambda who, act, ride: act.concept.startswith("go to") and suits(who, act),
    )
    yield Pattern(
        "rent",
        "{who} 想/1 租/2 {x.one} ， 租 {days} 。",
        "{who} {want@who}/1 to rent/2 {x.one} for {days} .",
        "{who} muốn/1 thuê/2 {x.one} trong {days} .",
        {
            "x": nouns("vehicle"),
            "days": stays,
            "who": travellers,
        },
        limit=120,
    )


def _on_line(city: Phrase, line: Phrase, **_: Phrase) -> bool:
    return _reachable(city, line)
