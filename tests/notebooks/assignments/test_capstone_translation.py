"""The functions of the capstone on translation accept what is right and say what is wrong."""

import csv
import io
import random
import unicodedata
from collections import Counter

from coursepkg.checks.assignments import capstone_translation
from tests.notebooks.assignments.sources import settings, solution_tests, source
from tests.said import said


def letters(text, form="NFKC", fold=str.casefold, keep=str.isalnum):
    return "".join(c for c in fold(unicodedata.normalize(form, text)) if keep(c))


def grams(text, n=3, **normal):
    plain = letters(text, **normal)
    return Counter(plain[i : i + n] for i in range(max(1, len(plain) - n + 1)) if plain)


def jaccard(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b)) if a or b else 0.0


def of_counts(a, b):
    return (a & b).total() / (a | b).total() if a or b else 0.0


def of_the_shorter(a, b):
    return len(set(a) & set(b)) / min(len(a), len(b)) if a and b else 0.0


def cluster_pairs(pairs, threshold, *, near=jaccard, joined=((0, 0), (1, 1)), above=False, find=grams):
    """Compares all with all, and gives the smaller number to both until nothing changes."""
    found = [[find(text) for text in pair] for pair in pairs]
    links = []
    for i, own in enumerate(found):
        for j in range(i):
            values = [near(own[a], found[j][b]) for a, b in joined]
            if max(values) > threshold or (not above and max(values) == threshold):
                links.append((i, j))
    label = list(range(len(pairs)))
    while True:
        before = list(label)
        for i, j in links:
            label[i] = label[j] = min(label[i], label[j])
        if label == before:
            return label


def clusters_by_growing(pairs, threshold):
    """Takes a pair, then all that are near to one of its cluster, as names."""
    found = [[set(grams(text)) for text in pair] for pair in pairs]
    left, names = set(range(len(pairs))), [""] * len(pairs)
    while left:
        queue = [left.pop()]
        for i in queue:
            names[i] = f"cluster of {queue[0]}"
            new = [
                j
                for j in left
                if any(jaccard(*both) >= threshold for both in zip(found[i], found[j], strict=True))
            ]
            left.difference_update(new)
            queue += new
    return names


def clusters_without_chains(pairs, threshold):
    found = [[grams(text) for text in pair] for pair in pairs]
    first = []
    for i, own in enumerate(found):
        near = [j for j in range(i) if any(jaccard(own[s], found[j][s]) >= threshold for s in (0, 1))]
        first.append(near[0] if near else i)
    return first


def clusters_of_equal(pairs, threshold):
    return cluster_pairs(pairs, 1.0, near=lambda a, b: float(a == b and bool(a)))


def with_grams(**changes):
    return lambda pairs, threshold: cluster_pairs(pairs, threshold, find=lambda text: grams(text, **changes))


def with_empty_texts(a, b):
    return jaccard(a, b) if a or b else 1.0


def without_short_texts(text):
    return grams(text) if len(letters(text)) >= 3 else Counter()


def chrf(rows, *, beta2=4, all_orders=False, micro=False):
    sums = [[sum(c) for c in zip(*order, strict=True)] for order in zip(*rows, strict=True)]
    kept = [s for s in sums if all_orders or (s[0] and s[1])]
    shares = [(both / max(1, ours), both / max(1, theirs)) for ours, theirs, both in kept]

    def score(p, r):
        return 100 * (1 + beta2) * p * r / (beta2 * p + r) if p + r else 0.0

    if micro:
        return sum(score(p, r) for p, r in shares) / max(1, len(shares))
    return score(*(sum(side) / len(shares) for side in zip(*shares, strict=True))) if shares else 0.0


def of_sentences(rows):
    return sum(chrf([row]) for row in rows) / len(rows)


def gain_interval(first, second, groups, draws, *, measure=chrf, cut=40, once=False, mean=False, shift=0):
    gains = []
    for number, drawn in enumerate(draws):
        other = draws[(number + shift) % len(draws)]
        pick = [
            [i for g in (sorted(set(names)) if once else names) for i, own in enumerate(groups) if own == g]
            for names in (drawn, other)
        ]
        gains.append(measure([second[i] for i in pick[1]]) - measure([first[i] for i in pick[0]]))
    gains.sort()
    out = len(gains) // cut
    gain = sum(gains) / len(gains) if mean else measure(second) - measure(first)
    return gain, gains[out], gains[-1 - out]


def gain_by_weights(first, second, groups, draws):
    """Weighs each sentence by how often its group was drawn, and adds from there."""

    def value(rows, weights):
        n_orders, p, r, n = len(rows[0]), 0.0, 0.0, 0
        for order in range(n_orders):
            ours, theirs, both = (
                sum(w * row[order][k] for row, w in zip(rows, weights, strict=True)) for k in range(3)
            )
            if ours > 0 and theirs > 0:
                p, r, n = p + both / ours, r + both / theirs, n + 1
        p, r = p / max(1, n), r / max(1, n)
        return 0.0 if p == r == 0 else 500 * p * r / (4 * p + r)

    gains = []
    for drawn in [sorted(set(groups)), *draws]:
        times = Counter(drawn)
        weights = [times[group] for group in groups]
        gains.append(value(second, weights) - value(first, weights))
    whole, *rest = gains
    rest = sorted(rest)[len(draws) // 40 : len(draws) - len(draws) // 40]
    return [whole, rest[0], rest[-1]]


def gain_of_sentences(first, second, groups, draws):
    """Takes a drawn group as one sentence: the first of it."""
    kept = [groups.index(group) for group in sorted(set(groups))]
    rows = [[side[i] for i in kept] for side in (first, second)]
    return gain_interval(*rows, sorted(set(groups)), draws)


def turned(first, second, groups, draws):
    return gain_interval(second, first, groups, draws)


def contest_file(
    sources,
    improved,
    baseline,
    *,
    header=True,
    write=None,
    clean=lambda text: " ".join(unicodedata.normalize("NFC", text).split()),
    start=1,
    fills=lambda source, text: bool(source) and not text,
    order=None,
    copies=True,
    skips_empty=True,
):
    """Right by default; each argument is a way to be wrong, or to write otherwise."""
    text, lines = io.StringIO(newline=""), []
    write = write or csv.writer(text).writerow
    rows = [["tieng_trung", "tieng_viet"]] if header else []
    for number in order(improved, sources) if order else range(1, len(sources) + 1):
        source, said = sources[number - 1], improved.get(number - 1 + start, "")
        translation = clean(said) if source or not skips_empty else ""
        if fills(source, translation):
            translation = baseline[number - 1]
            lines.append(number)
        if copies or source not in [row[0] for row in rows]:
            rows.append([source, translation])
    written = [write(row) for row in rows]
    return text.getvalue() or "".join(map(str, written)), sorted(lines)


def quoted(row):
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n"


def changed(**changes):
    return lambda *case: contest_file(*case, **changes)


def file_with_mark(sources, improved, baseline):
    text, lines = contest_file(sources, improved, baseline, write=quoted)
    return "\ufeff" + text, lines


def tidy(text):
    return " ".join(text.split())


def finished_first(improved, sources):
    return [*improved, *(n for n in range(1, len(sources) + 1) if n not in improved)]


def without_empty(improved, sources):
    return [number for number, text in enumerate(sources, start=1) if text]


RIGHT = {
    "cluster_pairs": cluster_pairs,
    "cluster_pairs by growing": clusters_by_growing,
    "gain_interval": gain_interval,
    "gain_interval by weights": gain_by_weights,
    "contest_file": contest_file,
    "contest_file all quoted": file_with_mark,
}
WRONG = {
    "cluster_pairs alone": (lambda pairs, threshold: list(range(len(pairs))), "are in different clusters"),
    "cluster_pairs one": (lambda pairs, threshold: [0] * len(pairs), "are not near, nor linked"),
    "cluster_pairs equal": (clusters_of_equal, "of their 3-grams; at least 0.5 is near"),
    "cluster_pairs sources": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, joined=[(0, 0)]),
        "but their targets",
    ),
    "cluster_pairs targets": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, joined=[(1, 1)]),
        "but their sources",
    ),
    "cluster_pairs across": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, joined=[(0, 0), (1, 1), (0, 1), (1, 0)]),
        "are not near, nor linked",
    ),
    "cluster_pairs chains": (clusters_without_chains, "are in different clusters"),
    "cluster_pairs above": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, above=True),
        "share 0.50 of their 3-grams",
    ),
    "cluster_pairs counts": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, near=of_counts),
        "'banana' and",
    ),
    "cluster_pairs shorter": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, near=of_the_shorter),
        "are not near, nor linked",
    ),
    "cluster_pairs empty": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, near=with_empty_texts),
        "are not near, nor linked",
    ),
    "cluster_pairs short": (
        lambda pairs, threshold: cluster_pairs(pairs, threshold, find=without_short_texts),
        "share 1.00 of their 3-grams",
    ),
    "cluster_pairs bigrams": (with_grams(n=2), "are not near, nor linked"),
    "cluster_pairs full width": (with_grams(form="NFC"), "'ａｂｃ１２３ｄｅ'"),
    "cluster_pairs capitals": (with_grams(fold=str), "are in different clusters"),
    "cluster_pairs signs": (with_grams(keep=lambda c: True), "are in different clusters"),
    "cluster_pairs sets": (
        lambda pairs, threshold: set(cluster_pairs(pairs, threshold)),
        "a list is expected",
    ),
    "gain_interval sentences": (
        lambda *case: gain_interval(*case, measure=of_sentences),
        "the score of a corpus is no mean over sentences",
    ),
    "gain_interval orders": (
        lambda *case: gain_interval(*case, measure=lambda rows: chrf(rows, micro=True)),
        "then one F",
    ),
    "gain_interval F1": (
        lambda *case: gain_interval(*case, measure=lambda rows: chrf(rows, beta2=1)),
        "recall weighs twice as much as precision",
    ),
    "gain_interval precision": (
        lambda *case: gain_interval(*case, measure=lambda rows: chrf(rows, beta2=0.25)),
        "recall weighs more, not precision",
    ),
    "gain_interval all orders": (
        lambda *case: gain_interval(*case, measure=lambda rows: chrf(rows, all_orders=True)),
        "too short for stays out of the means",
    ),
    "gain_interval once": (lambda *case: gain_interval(*case, once=True), "drawn twice counts twice"),
    "gain_interval ten per cent": (
        lambda *case: gain_interval(*case, cut=20),
        "a fortieth of the gains at each end",
    ),
    "gain_interval unpaired": (
        lambda *case: gain_interval(*case, shift=1),
        "both systems are scored on the same whole groups",
    ),
    "gain_interval first sentences": (gain_of_sentences, "is expected"),
    "gain_interval turned": (turned, "a gain is second minus first"),
    "gain_interval shares": (
        lambda *case: tuple(value / 100 for value in gain_interval(*case)),
        "chrF goes from 0 to 100",
    ),
    "gain_interval mean": (lambda *case: gain_interval(*case, mean=True), "the gain is"),
    "gain_interval two": (lambda *case: gain_interval(*case)[1:], "three results are expected"),
    "contest_file joined": (
        changed(write=lambda row: ",".join(row) + "\n"),
        "a cell with a comma, a quotation mark or a line break is quoted",
    ),
    "contest_file tabs": (changed(write=lambda row: "\t".join(row) + "\n"), "the file begins with"),
    "contest_file empty": (lambda *case: ("", []), "the file is empty"),
    "contest_file one cell": (
        lambda *case: ("tieng_trung,tieng_viet\n" + 200_000 * "a", []),
        "the file is no CSV",
    ),
    "contest_file header": (changed(header=False), "tieng_trung,tieng_viet is expected"),
    "contest_file finished": (changed(order=finished_first), "the source of row"),
    "contest_file without empty": (changed(order=without_empty), "empty lines have rows of their own"),
    "contest_file copies": (changed(copies=False), "copies and empty lines have rows"),
    "contest_file from zero": (changed(start=0), "the translation of row"),
    "contest_file decomposed": (changed(clean=lambda text: " ".join(text.split())), "in NFC"),
    "contest_file lines": (
        changed(clean=lambda text: unicodedata.normalize("NFC", text).strip()),
        "with single spaces",
    ),
    "contest_file gaps": (changed(fills=lambda source, text: False), "take the baseline's"),
    "contest_file all empty": (changed(fills=lambda source, text: not text), "an empty source needs no"),
    "contest_file of nothing": (changed(skips_empty=False), "the translation of row"),
    "contest_file numbers": (
        lambda *case: (contest_file(*case)[0], [n - 1 for n in contest_file(*case)[1]]),
        "numbers from 1",
    ),
    "contest_file other baseline": (
        lambda sources, improved, baseline: contest_file(sources, improved, [tidy(one) for one in baseline]),
        "the translation of row",
    ),
    "contest_file other sources": (
        lambda sources, improved, baseline: contest_file([tidy(one) for one in sources], improved, baseline),
        "it stands as it came",
    ),
    "contest_file text alone": (lambda *case: contest_file(*case)[0], "two results are expected"),
}

test_right, test_wrong = solution_tests("capstone_translation", capstone_translation, RIGHT, WRONG)


def model_solution(*ids):
    """What the cells with these grade ids define."""
    scope = {}
    for cell in source("capstone_translation").cells:
        if settings(cell).get("grade_id") in ("imports", *ids):
            exec(cell.source, scope)
    return scope


def test_a_folder_cut_by_clusters_keeps_near_copies_together(tmp_path) -> None:
    scope = model_solution("cluster_pairs", "given_parts")
    draw = random.Random(0)
    pairs = []
    for _ in range(100):
        source, *targets = ("".join(draw.choices("abcdefghijklmnop ", k=30)).strip() for _ in range(3))
        pairs += [(f"{source} one", targets[0]), (f"{source} two", targets[1])]
    clusters = scope["cluster_pairs"](pairs, 0.5)
    assert len(set(clusters)) == 100
    scope["write_parts"](pairs, clusters, str(tmp_path / "mine"), ("en", "vi"))
    parts = [path.read_text("utf-8").splitlines() for path in (tmp_path / "mine").glob("*.en")]
    assert sum(map(len, parts)) == len(pairs)
    for lines in parts:
        assert lines
        assert set(Counter(line[:-4] for line in lines).values()) == {2}
    done = said("translation", "audit", "--data", tmp_path / "mine", "--from", "en", "--to", "vi")
    assert done.code == 0, done.err


def test_the_leaderboard_scores_the_model_solution_s_file(tmp_path) -> None:
    contest = model_solution("contest_file")["contest_file"]
    sources = ["我想喝茶", "谢谢, 再见", "", "酒店在哪里"]
    references = ["Tôi muốn uống trà", 'Cảm ơn, "tạm biệt"', "", "Khách sạn ở đâu vậy bạn"]
    text, lines = contest(sources, {4: references[3], 1: references[0] + "\n"}, ["a", references[1], "", "b"])
    assert lines == [2]
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "roster.csv").write_text("student,name\nan,Lê An\n", encoding="utf-8")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "an.csv").write_text(text, encoding="utf-8")
    (tmp_path / "test.vi").write_text("\n".join(references) + "\n", encoding="utf-8")
    command = ("class", "leaderboard", tmp_path / "in", "--project", "translation", "--json")
    places = ("--references", tmp_path / "test.vi", "--course", folder, "--out", tmp_path / "board.html")
    (rank,) = said(*command, *places).document["ranks"]
    assert rank["student"] == "an"
    assert rank["value"] > 99
