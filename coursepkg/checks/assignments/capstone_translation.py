"""Tests of the capstone on translation: clusters, a gain's interval, a contest file."""

import csv
import io
import itertools
import random
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import same_numbers, two
from coursepkg.checks.assignments.task import Task
from coursepkg.data.split import group_records

Case = tuple[Any, ...]
Pair = tuple[str, str]
Counts = Sequence[tuple[int, int, int]]
"""Of one sentence, for n = 1, 2, ...: n-grams of the translation, of the reference, and
those in both."""

SHOWN = 40
"""Characters of a sentence that a message repeats."""
ORDER = 3
"""Length of the n-grams by which texts are compared."""
HAN = "我你他她们想要喝茶酒店在哪里这个多少钱明天早上八点火车站书很贵便宜"
SYLLABLES = (
    "tôi bạn muốn uống trà khách sạn ở đâu cái này bao nhiêu tiền ngày mai đi học"
)
SPECIAL: Sequence[Pair] = (
    ("Room 12, please!", "Cho tôi phòng 12."),
    ("ROOM 12 please", "Một phòng khác, số mười hai"),
    ("the ticket costs ten dong", "vé giá mười đồng"),
    ("this ticket costs ten dong", "giá của tấm vé là 10.000"),
    ("this ticket costs two dong", "rẻ nhỉ"),
    ("where is the station", "nhà ga ở đâu vậy bạn ơi"),
    ("I am looking for trains", "Nhà ga ở đâu, vậy bạn ơi?"),
    ("the sea", unicodedata.normalize("NFD", "biển đẹp quá")),
    ("what a view", "Biển đẹp quá"),
    ("Nguyễn Văn An", "I know this man"),
    ("who is it", "nguyễn văn an"),
    ("banana", "một quả chuối chín"),
    ("banananananana", "trái cây màu vàng"),
    ("ok", "được"),
    ("OK.", "ừ, thế nhé"),
    ("?", "hả"),
    ("!", "ôi trời ơi"),
    ("VN7315", "chuyến bay buổi sáng"),
    ("VN731", "máy bay này bị hoãn"),
    ("QK2846", "tàu đêm ra bắc"),
    ("QK28", "mười giờ mới khởi hành"),
    ("ａｂｃ１２３ｄｅ", "mã toàn góc"),
    ("abc123de", "một mã số khác"),
)
"""Pairs that only a careful comparison joins, or keeps apart."""


def _cluster_case(n: int, threshold: float, seed: int) -> Case:
    """The special pairs and random ones, some with a copy of which a piece differs."""
    draw = random.Random(seed)
    pairs = list(SPECIAL)
    for _ in range(n):
        source = draw.choices(HAN, k=draw.randint(4, 12))
        target = draw.choices(SYLLABLES.split(), k=draw.randint(3, 9))
        pairs.append(("".join(source), " ".join(target)))
        if draw.random() < 0.5:
            other = "".join(draw.choices("bcdfghklmnpqrstvx", k=12))
            if draw.random() < 0.5:
                source[draw.randrange(len(source))] = "8"
                pairs.append(("".join(source), other))
            else:
                target[draw.randrange(len(target))] = "xanh"
                pairs.append((other, " ".join(target)))
    draw.shuffle(pairs)
    return pairs, threshold


def _letters(text: str) -> str:
    """What is compared: letters and digits in one Unicode form and one case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def _grams(text: str) -> set[str]:
    letters = _letters(text)
    if len(letters) < ORDER:
        return {letters} - {""}
    return {letters[i : i + ORDER] for i in range(len(letters) - ORDER + 1)}


def _judge_clusters(case: Case, answer: Any) -> None:
    pairs, threshold = case
    expect.attempted(answer)
    assert isinstance(answer, list), (
        f"the result is a {type(answer).__name__}; a list is expected"
    )
    assert len(answer) == len(pairs), (
        f"the list has {len(answer)} entries; there are {len(pairs)} pairs"
    )
    near = {}
    for side in (0, 1):
        grams = [_grams(pair[side]) for pair in pairs]
        for i, j in itertools.combinations(range(len(pairs)), 2):
            shared, either = len(grams[i] & grams[j]), len(grams[i] | grams[j])
            if either and shared / either >= threshold:
                near[i, j] = side, shared / either
    for (i, j), (side, share) in near.items():
        name = ("sources", "targets")[side]
        assert answer[i] == answer[j], (
            f"pairs {i} and {j} are in different clusters, but their {name}"
            f" {_short(pairs[i][side])} and {_short(pairs[j][side])} share"
            f" {share:.2f} of their {ORDER}-grams; at least {threshold} is near"
        )
    right = group_records(
        [[i, *(e for e in near if i in e)] for i in range(len(pairs))]
    )
    for i, j in itertools.combinations(range(len(pairs)), 2):
        assert (answer[i] == answer[j]) == (right[i] == right[j]), (
            f"pairs {i} and {j} are in one cluster, but {_short(pairs[i])} and"
            f" {_short(pairs[j])} are not near, nor linked through other pairs"
        )


def _short(value: str | Pair) -> str:
    text = repr(value)
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}..."


cluster_pairs = Task(
    "cluster_pairs",
    make=_cluster_case,
    judge=_judge_clusters,
    public=[(0, 0.5, 0), (15, 0.5, 1), (12, 0.75, 2)],
)


def _gain_case(n_groups: int, n_orders: int, n_draws: int, seed: int) -> Case:
    """Counts of two systems by sentence, groups of 1 to 4 sentences, draws of groups.

    Some sentences are shorter than the longest n-grams, on one side or on both.
    """
    draw = random.Random(seed)
    first: list[list[tuple[int, int, int]]] = []
    second: list[list[tuple[int, int, int]]] = []
    groups: list[int] = []
    for group in range(n_groups):
        share = draw.uniform(0.2, 0.8)
        for _ in range(draw.choice((1, 1, 2, 4))):
            n_reference = draw.randint(1, 4 * n_orders)
            groups.append(10 + group)
            for rows, gain in ((first, 0.0), (second, 0.08)):
                length = max(1, n_reference + draw.randint(-3, 8))
                rows.append(_counts(length, n_reference, share + gain, n_orders))
    order = draw.sample(range(len(groups)), len(groups))
    names = sorted(set(groups))
    draws = [draw.choices(names, k=n_groups) for _ in range(n_draws)]
    shuffled = [[system[i] for i in order] for system in (first, second)]
    return *shuffled, [groups[i] for i in order], draws


def _counts(
    length: int, n_reference: int, share: float, n_orders: int
) -> list[tuple[int, int, int]]:
    found = []
    for n in range(n_orders):
        ours, theirs = max(0, length - n), max(0, n_reference - n)
        found.append((ours, theirs, int(min(ours, theirs) * share ** (1 + n / 2))))
    return found


def _chrf(
    rows: Sequence[Counts], *, beta: float = 2.0, all_orders: bool = False
) -> float:
    """chrF of a corpus from its sentences' counts, 0 to 100."""
    sums = [
        [sum(counts) for counts in zip(*order, strict=True)]
        for order in zip(*rows, strict=True)
    ]
    kept = [three for three in sums if three[0] and three[1]]
    n = len(sums) if all_orders else len(kept)
    precision = sum(both / ours for ours, _, both in kept) / max(n, 1)
    recall = sum(both / theirs for _, theirs, both in kept) / max(n, 1)
    below = beta**2 * precision + recall
    return 100 * (1 + beta**2) * precision * recall / below if below else 0.0


def _mean_of_orders(rows: Sequence[Counts]) -> float:
    """The mean of an F-score for each n, as it is often mistaken for chrF."""
    n_orders = len(rows[0])
    parts = [_chrf([[row[n]] for row in rows]) for n in range(n_orders)]
    possible = [any(row[n][0] for row in rows) for n in range(n_orders)]
    return sum(parts) / max(1, sum(possible))


def _mean_of_sentences(rows: Sequence[Counts]) -> float:
    return sum(_chrf([row]) for row in rows) / len(rows)


def _interval(
    case: Case,
    measure: Callable[[Sequence[Counts]], float] = _chrf,
    *,
    once: bool = False,
    cut: int = 40,
) -> tuple[float, float, float]:
    """Gain and interval; `once` counts a group once that was drawn several times."""
    first, second, groups, draws = case
    members: dict[int, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    gains = []
    for drawn in draws:
        names = sorted(set(drawn)) if once else drawn
        chosen = [i for name in names for i in members[name]]
        scores = [measure([rows[i] for i in chosen]) for rows in (first, second)]
        gains.append(scores[1] - scores[0])
    gains.sort()
    out = len(gains) // cut
    kept = gains[out : len(gains) - out]
    return measure(second) - measure(first), kept[0], kept[-1]


MISTAKES: Mapping[str, Callable[[Case], tuple[float, float, float]]] = {
    "the score of a corpus is no mean over sentences": lambda case: _interval(
        case, _mean_of_sentences
    ),
    "take the mean of precision and of recall over n first, then one F": lambda case: (
        _interval(case, _mean_of_orders)
    ),
    "recall weighs twice as much as precision, beta = 2": lambda case: _interval(
        case, lambda rows: _chrf(rows, beta=1.0)
    ),
    "recall weighs more, not precision": lambda case: _interval(
        case, lambda rows: _chrf(rows, beta=0.5)
    ),
    "an n that the whole corpus is too short for stays out of the means": lambda case: (
        _interval(case, lambda rows: _chrf(rows, all_orders=True))
    ),
    "a group that is drawn twice counts twice": lambda case: _interval(case, once=True),
    "leave out a fortieth of the gains at each end, no more": lambda case: _interval(
        case, cut=20
    ),
}
"""What a mistake makes of the three numbers, by what is to be said of it."""


def _judge_gain(case: Case, answer: Any) -> None:
    expect.attempted(answer)
    is_triple = isinstance(answer, tuple | list) and len(answer) == 3
    assert is_triple, (
        "three results are expected: the gain and the two ends of its interval"
    )
    right = _interval(case)
    names = ("the gain", "the lower end", "the upper end")
    for number, name in zip(answer, names, strict=True):
        assert isinstance(number, float), (
            f"{name} is a {type(number).__name__}; a float is expected"
        )
    if same_numbers(answer, right):
        return
    assert not same_numbers(answer, [-right[0], -right[2], -right[1]]), (
        "the signs are turned: a gain is second minus first"
    )
    assert not same_numbers(answer, [n / 100 for n in right]), "chrF goes from 0 to 100"
    for hint, mistake in MISTAKES.items():
        assert not same_numbers(answer, mistake(case)), (
            f"the three numbers are wrong: {hint}"
        )
    for number, wanted, name in zip(answer, right, names, strict=True):
        expect.close(
            number,
            wanted,
            what=name,
            tolerance=1e-9,
            hint="in each draw both systems are scored on the same whole groups",
        )


gain_interval = Task(
    "gain_interval",
    make=_gain_case,
    judge=_judge_gain,
    public=[(6, 2, 40, 0), (8, 3, 80, 1), (2, 6, 40, 2), (1, 2, 4, 3)],
)

HEADER = "tieng_trung,tieng_viet"
SOURCES = (
    "我想喝茶",
    '他说："你好"，走了',
    "房间, 早餐",
    "谢谢",
    'say "hi", please',
    "海",
    " 书  很贵 ",
)
TRANSLATIONS = (
    "Tôi muốn uống trà",
    "Phòng này giá 200.000 đồng, có bữa sáng",
    'Anh ấy nói: "Xin chào"',
    unicodedata.normalize("NFD", "Biển đẹp quá"),
    "  Cảm ơn   bạn ",
    "Dòng một\nvà dòng hai",
    "Ở đâu?\r\n",
    "",
    " \n ",
)
"""Translations as systems write them; the last two are none."""


def _file_case(n: int, seed: int) -> Case:
    """Sources with commas, quotation marks, copies and empty lines; two systems.

    The improved one finished its lines in an order of its own, lacks one, and wrote
    something for empty sources, too.
    """
    draw = random.Random(seed)
    sources = [*SOURCES, *SOURCES, "", "", *draw.choices(SOURCES, k=n)]
    draw.shuffle(sources)
    numbers = [number for number, text in enumerate(sources, start=1) if text]
    draw.shuffle(numbers)
    improved = dict(zip(numbers[1:], itertools.cycle(TRANSLATIONS), strict=False))
    improved |= {i: "Vâng." for i, text in enumerate(sources, start=1) if not text}
    baseline = [text and f"Câu {i},  {text}" for i, text in enumerate(sources, start=1)]
    return sources, improved, baseline


def _judge_file(case: Case, answer: Any) -> None:
    sources, improved, baseline = case
    text, lines = two(answer, "the text of the file and the lines of the baseline")
    assert isinstance(text, str), (
        f"the file is a {type(text).__name__}; a str is expected"
    )
    try:
        table = [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))]
    except csv.Error as reason:
        raise AssertionError(f"the file is no CSV: {reason}") from reason
    assert table, "the file is empty"
    head, *rows = table
    assert ",".join(head) == HEADER, (
        f"the file begins with {head}; {HEADER} is expected"
    )
    for number, row in enumerate(rows, start=1):
        assert len(row) == 2, (
            f"row {number} has {len(row)} columns; a cell with a comma, a quotation"
            " mark or a line break is quoted"
        )
    assert len(rows) == len(sources), (
        f"the file has {len(rows)} rows for {len(sources)} sources; copies and empty"
        " lines have rows of their own"
    )
    taken = []
    for number, (row, source) in enumerate(zip(rows, sources, strict=True), start=1):
        expect.equal(
            row[0],
            source,
            what=f"the source of row {number}",
            hint="it stands as it came",
        )
        said = improved.get(number, "") if source else ""
        own = " ".join(unicodedata.normalize("NFC", said).split())
        if source and not own:
            taken.append(number)
            assert row[1], f"row {number} has no translation; take the baseline's"
        expect.equal(
            row[1],
            own or baseline[number - 1],
            what=f"the translation of row {number}",
            hint="in NFC, on one line, with single spaces, and in the order of sources",
        )
    expect.equal(
        lines,
        taken,
        what="the list of lines that the baseline translated",
        hint="numbers from 1, in order; an empty source needs no translation",
    )


contest_file = Task(
    "contest_file",
    make=_file_case,
    judge=_judge_file,
    public=[(0, 0), (3, 1)],
)
