"""Rooms, nights, what is in a room, what is broken, which floor."""

from collections.abc import Iterator

from coursepkg.projects.translation.phrasebook.calendar import clocks, durations, ordinal
from coursepkg.projects.translation.phrasebook.fitness import describes
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.money import amounts
from coursepkg.projects.translation.phrasebook.nouns import nouns
from coursepkg.projects.translation.phrasebook.numerals import chinese, number, vietnamese
from coursepkg.projects.translation.phrasebook.pattern import Pattern
from coursepkg.projects.translation.phrasebook.persons import people
from coursepkg.projects.translation.phrasebook.predicates import adjectives
from coursepkg.projects.translation.phrasebook.tables import simple

PRICES = (180, 200, 220, 250, 280, 300, 320, 350, 380, 400, 450, 500, 600, 700, 800)
THOUSANDS_OF_DONG = (350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950)
DOLLARS = (25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 90, 100, 120)
ROOM_NUMBERS = tuple(
    100 * floor + door for floor in range(1, 10) for door in (1, 2, 3, 5, 6, 8, 10, 11, 12, 15)
)
SURFACES = {"quiet", "comfortable", "clean", "big", "cheap"}


def patterns() -> Iterator[Pattern]:
    """The patterns of this topic."""
    rooms, bookable = nouns("room"), nouns("bookable")
    facilities, things = nouns("facility"), nouns("linen", "tableware")
    nights = durations("night", *range(1, 11))
    we = people("self", "group")[:2]
    few = [number(n) for n in range(2, 7)]
    floors = [
        phrase(
            f"floor {n}",
            {"zh": f"{chinese(n)}/n 楼/f", "en": f"the {ordinal(n)}/n floor/f", "vi": floor_vi(n)},
        )
        for n in range(2, 16)
    ]
    doors = [phrase(str(n), {"zh": str(n), "en": str(n), "vi": str(n)}) for n in ROOM_NUMBERS]
    rates = amounts(yuan=PRICES, thousands_of_dong=THOUSANDS_OF_DONG, dollars=DOLLARS)
    better = [adj for adj in adjectives() if adj.concept in SURFACES]

    yield Pattern(
        "book-a-room",
        "{who} 想/1 订/2 {x.one} ， 住/3 {nights} 。",
        "{who} would like/1 to book/2 {x.one} for/3 {nights} .",
        "{who} muốn/1 đặt/2 {x.one} trong/3 {nights} .",
        {"x": bookable, "nights": nights, "who": we},
    )
    yield Pattern(
        "book-rooms",
        "{who} 想/1 订/2 {n} {x.m} ， 住/3 {nights} 。",
        "{who} would like/1 to book/2 {n} {x.m} for/3 {nights} .",
        "{who} muốn/1 đặt/2 {n} {x.m} trong/3 {nights} .",
        {"x": bookable, "n": few, "nights": nights, "who": we},
        limit=110,
    )
    yield Pattern(
        "room-with",
        "{who} 想/1 要/1 一/2 {x.cl} {feature} 的 {x} 。",
        "{who} would like/1 a/2 {x.head} {feature} .",
        "{who} muốn/1 một/2 {x} {feature} .",
        {"x": rooms, "feature": simple("features"), "who": we},
    )
    yield Pattern(
        "is-there-a-room-with",
        "有/1 {feature} 的 {x} 吗/2 ？",
        "Do/2 you have/1 a {x.head} {feature} ?",
        "Có/1 {x} nào {feature} không/2 ?",
        {"x": rooms, "feature": simple("features")},
    )
    yield Pattern(
        "rate",
        "{x} 一/1 个 晚上/2 {price} 。",
        "A {x.head} costs/3 {price} a/1 night/2 .",
        "{x} giá/3 {price} một/1 đêm/2 .",
        {"x": bookable, "price": rates},
    )
    yield Pattern(
        "is-there-in-room",
        "{room} 里/1 有/2 {x} 吗/3 ？",
        "Is/3 there/2 {x.one} in/1 {room} ?",
        "Trong/1 {room} có/2 {x} không/3 ?",
        {"x": facilities, "room": _rooms()},
    )
    yield Pattern(
        "none-in-room",
        "{room} 里/1 没有/2 {x} 。",
        "There is no/2 {x.head} in/1 {room} .",
        "Trong/1 {room} không/2 có/2 {x} .",
        {"x": facilities, "room": _rooms()},
    )
    yield Pattern(
        "broken",
        "{room} 里/1 的 {x} 坏/2 了/2 。",
        "The {x.head} in/1 {room} is broken/2 .",
        "{x.m} trong/1 {room} bị hỏng/2 rồi/2 .",
        {"x": nouns("machine"), "room": _rooms()},
    )
    yield Pattern(
        "fix-please",
        "请/1 修/2 一下 {room} 里/3 的 {x} 。",
        "Please/1 fix/2 the {x.head} in/3 {room} .",
        "Làm_ơn/1 sửa/2 {x.m} trong/3 {room} .",
        {"x": nouns("machine"), "room": _rooms()},
    )
    yield Pattern(
        "another",
        "可以/1 再/2 给/3 {who} {x.one} 吗/4 ？",
        "Can/1,4 you give/3 {who.obj} another/2 {x.cl} {x.head} ?",
        "Có_thể/1 cho/3 {who} thêm/2 {x.one} không/4 ?",
        {"x": things, "who": we},
    )
    yield Pattern(
        "more",
        "请/1 再/2 给/3 {who} {n} {x.m} 。",
        "Please/1 give/3 {who.obj} {n} more/2 {x.m} .",
        "Làm_ơn/1 cho/3 {who} thêm/2 {n} {x.m} .",
        {"x": things, "n": few[:4], "who": we},
    )
    yield Pattern(
        "bring-to-room",
        "请/1 送/2 {n} {x.m} 到/3 {door} 房间/4 。",
        "Please/1 bring/2 {n} {x.m} to/3 room/4 {door} .",
        "Làm_ơn/1 mang/2 {n} {x.m} đến/3 phòng/4 {door} .",
        {"x": things, "n": few[:4], "door": doors},
        limit=160,
    )
    yield Pattern(
        "room-number",
        "{who} 住/1 在/2 {door} 房间/3 。",
        "{who} {be@who} staying/1 in/2 room/3 {door} .",
        "{who} ở/1,2 phòng/3 {door} .",
        {"who": people("told"), "door": doors},
        limit=160,
    )
    yield Pattern(
        "floor",
        "{place} 在/1 {floor} 。",
        "{place} is on/1 {floor} .",
        "{place} ở/1 {floor} .",
        {"place": simple("inside"), "floor": floors},
    )
    yield Pattern(
        "which-floor",
        "{place} 在/1 几/2 楼/3 ？",
        "Which/2 floor/3 is {place} on/1 ?",
        "{place} ở/1 tầng/3 mấy/2 ?",
        {"place": simple("inside")},
    )
    yield Pattern(
        "opens-at",
        "{place} {clock} 开门/1 。",
        "{place} opens/1 at/t {clock} .",
        "{place} mở_cửa/1 lúc/t {clock} .",
        {"place": [p for p in simple("inside") if "opens" in p.tags], "clock": clocks("early", 6, 8)},
    )
    yield Pattern(
        "change-room",
        "{who} 想/1 换/2 一/3 {x.cl} {adj} 一点/4 的 {x} 。",
        "{who} would like/1 to move/2 to a/3 {adj.more}/4 {x.head} .",
        "{who} muốn/1 đổi/2 sang một/3 {x} {adj} hơn/4 .",
        {"x": rooms, "adj": better, "who": we},
        describes,
    )


def floor_vi(n: int) -> str:
    """The Vietnamese floor: tầng ba."""
    return " ".join(["tầng/f", *(f"{word}/n" for word in vietnamese(n).split())])


def _rooms() -> tuple[Phrase, ...]:
    """The room somebody speaks of."""
    whole = {"zh": "房间/1", "en": "the room/1", "vi": "phòng/1"}
    mine = {"zh": "我/2 房间/1", "en": "my/2 room/1", "vi": "phòng/1 của tôi/2"}
    ours = {"zh": "我们/2 房间/1", "en": "our/2 room/1", "vi": "phòng/1 của chúng_tôi/2"}
    return tuple(phrase(sides["en"].partition("/")[0], sides) for sides in (whole, mine, ours))
