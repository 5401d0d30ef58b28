"""The milestones of the capstone on sign language accept what is right and say what is wrong."""

import csv
import io
import json
import unicodedata
from collections import Counter

import numpy as np

from coursepkg.checks.assignments import capstone_sign_language
from tests.notebooks.assignments.sources import solution_tests


def nfc(text):
    return unicodedata.normalize("NFC", text)


def reasons(clips, form=nfc, known=True, keep="first"):
    """Why clips are removed, with a part of the rules changed."""
    words, signers = {}, {}
    for _, word, signer, film in clips:
        words.setdefault(film, set()).add(form(word))
        signers.setdefault(film, set()).update({form(signer)} - ({""} if known else set()))
    removed, kept = {}, {}
    for name, _, signer, film in clips if keep == "first" else clips[::-1]:
        if len(words[film]) > 1:
            removed[name] = "two words"
        elif not signer:
            removed[name] = "no signer"
        elif len(signers[film]) > 1:
            removed[name] = "two signers"
        elif film in kept:
            removed[name] = "copy"
        else:
            kept[film] = name
    return removed


def by_signer(clips, removed, form=nfc):
    groups = {}
    for name, _, signer, _ in clips:
        if name not in removed:
            groups.setdefault(form(signer), []).append(name)
    return groups


def fill(groups, n_folds):
    folds = [[] for _ in range(n_folds)]
    for names in groups:
        min(folds, key=len).extend(names)
    return folds


def plan_folds(clips, n_folds):
    removed = reasons(clips)
    return fill(sorted(by_signer(clips, removed).values(), key=len, reverse=True), n_folds), removed


def plan_in_order(clips, n_folds):
    """The rules one after the other, and the signers as they come."""
    rows = [(name, nfc(word), nfc(signer), film) for name, word, signer, film in clips]
    removed = {}
    for name, word, _, film in rows:
        if any(other != word for _, other, _, same in rows if same == film):
            removed[name] = "two words"
    for name, _, signer, film in rows:
        others = {other for _, _, other, same in rows if same == film} - {"", signer}
        if name not in removed and (not signer or others):
            removed[name] = "two signers" if signer else "no signer"
    left = [row for row in rows if row[0] not in removed]
    for number, (name, _, _, film) in enumerate(left):
        if film in [row[3] for row in left[:number]]:
            removed[name] = "copy"
    return fill(by_signer(clips, removed).values(), n_folds), removed


def planned(**changes):
    def plan(clips, n_folds):
        removed = reasons(clips, **changes)
        return fill(by_signer(clips, removed).values(), n_folds), removed

    return plan


def plan_clip_by_clip(clips, n_folds):
    removed = reasons(clips)
    return fill([[name] for name, *_ in clips if name not in removed], n_folds), removed


def plan_as_spelt(clips, n_folds):
    removed = reasons(clips)
    return fill(by_signer(clips, removed, form=str).values(), n_folds), removed


def plan_one_fold(clips, n_folds):
    names = [name for group in by_signer(clips, reasons(clips)).values() for name in group]
    return [names] + [[] for _ in range(n_folds - 1)], reasons(clips)


def plan_uneven(clips, n_folds):
    """One signer in each of the first folds, all others in the last one."""
    groups = sorted(by_signer(clips, reasons(clips)).values(), key=len)
    folds = [*groups[: n_folds - 1], [name for group in groups[n_folds - 1 :] for name in group]]
    return folds, reasons(clips)


def plan_silently(clips, n_folds):
    return plan_folds(clips, n_folds)[0], {}


def plan_without(reason):
    """Clips of one reason stay."""

    def plan(clips, n_folds):
        removed = {name: why for name, why in reasons(clips).items() if why != reason}
        return fill(by_signer(clips, removed).values(), n_folds), removed

    return plan


def plan_all_copies(clips, n_folds):
    removed = reasons(clips)
    copied = {film for name, _, _, film in clips if removed.get(name) == "copy"}
    removed |= {name: "copy" for name, _, _, film in clips if film in copied}
    return fill(by_signer(clips, removed).values(), n_folds), removed


def plan_signer_first(clips, n_folds):
    removed = reasons(clips) | {name: "no signer" for name, _, signer, _ in clips if not signer}
    return fill(by_signer(clips, removed).values(), n_folds), removed


def macro_f1(truths, said, words=None):
    words = set(truths) if words is None else words
    signed, answered = Counter(truths), Counter(said)
    hits = Counter(a for a, b in zip(truths, said, strict=True) if a == b)
    return sum(2 * hits[w] / max(1, signed[w] + answered[w]) for w in words) / len(words)


def accuracy(truths, said):
    return sum(a == b for a, b in zip(truths, said, strict=True)) / len(truths)


def interval_with(
    measure=macro_f1, levels=(0.025, 0.975), once=False, paired=True, method="linear", sign=1, by_clip=False
):
    """The right way with one part replaced."""

    def interval(truths, signers, first, second, draws):
        def score(said, drawn):
            names = sorted(set(drawn)) if once else drawn
            picked = [i for name in names for i, own in enumerate(signers) if own == name]
            if by_clip:
                picked = sorted(set(picked))[: len(drawn)]
            return measure([truths[i] for i in picked], [said[i] for i in picked])

        others = draws if paired else [*draws[1:], draws[0]]
        found = [sign * (score(second, a) - score(first, b)) for a, b in zip(draws, others, strict=True)]
        ends = np.quantile(found, levels, method=method)
        everyone = sorted(set(signers))
        return sign * (score(second, everyone) - score(first, everyone)), *map(float, ends)

    return interval


difference_interval = interval_with()


def interval_by_tables(truths, signers, first, second, draws):
    """Counts of each signer, added up."""
    words = sorted(set(truths))
    names = sorted(set(signers))
    tables = np.zeros((len(names), 2, 3, len(words)))
    for right, signer, *answers in zip(truths, signers, first, second, strict=True):
        table = tables[names.index(signer)]
        for system, said in enumerate(answers):
            table[system, 0, words.index(right)] += 1
            if said in words:
                table[system, 1, words.index(said)] += 1
                table[system, 2, words.index(said)] += said == right

    def gain(times):
        signed, said, hits = np.einsum("n,nskw->ksw", times, tables)
        f1 = 2 * hits / np.maximum(signed + said, 1)
        first, second = [row[own > 0].mean() for row, own in zip(f1, signed, strict=True)]
        return float(second - first)

    gains = [gain(np.array([drawn.count(name) for name in names])) for drawn in draws]
    return [gain(np.ones(len(names))), *np.quantile(gains, [0.025, 0.975]).tolist()]


def of_all_words(truths, signers, first, second, draws):
    """A word that a draw lacks counts 0 in its mean."""
    words = set(truths)

    def measure(right, said):
        return macro_f1(right, said, words)

    return interval_with(measure)(truths, signers, first, second, draws)


def of_said_words(truths, said):
    return macro_f1(truths, said, set(truths) | (set(said) - {None}))


def mean_over_signers(truths, signers, first, second, draws):
    def gain(name):
        picked = [i for i, own in enumerate(signers) if own == name]
        right, before, after = ([one[i] for i in picked] for one in (truths, first, second))
        return macro_f1(right, after) - macro_f1(right, before)

    gains = {name: gain(name) for name in signers}
    found = [float(np.mean([gains[name] for name in drawn])) for drawn in draws]
    return float(np.mean(list(gains.values()))), *np.quantile(found, [0.025, 0.975]).tolist()


def two_numbers(*case):
    return difference_interval(*case)[1:]


def leaderboard_file(records, clips):
    said = {nfc(one["clip"].rpartition("/")[2]): one["label"] for one in records}
    file = io.StringIO()
    csv.writer(file).writerows(
        [("video_name", "label"), *((name, said.get(nfc(name), "")) for name in clips)]
    )
    return file.getvalue()


def file_by_hand(records, clips):
    rows = ["\ufeffvideo_name,label"]
    for name in sorted(clips):
        own = [one["label"] for one in records if nfc(one["clip"]).endswith("/" + nfc(name))]
        own = [one["label"] for one in records if nfc(one["clip"].split("/")[-1]) == nfc(name)] or own
        rows.append('{},"{}"'.format(nfc(name), (own or [""])[-1].replace('"', '""')))
    return "\n".join(rows) + "\n"


def written(records, clips, *, columns=("video_name", "label"), form=nfc, first=False, delimiter=","):
    said = {}
    for one in records:
        name = form(one["clip"].rpartition("/")[2])
        said[name] = said.get(name, one["label"]) if first else one["label"]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(
        [columns, *((name, said.get(form(name), "")) for name in clips)]
    )
    return file.getvalue()


def every_record(records, clips):
    file = io.StringIO()
    rows = [(one["clip"].rpartition("/")[2], one["label"]) for one in records]
    csv.writer(file).writerows([("video_name", "label"), *rows])
    return file.getvalue()


def readable_ones(records, clips):
    file = io.StringIO()
    said = {nfc(one["clip"].rpartition("/")[2]): one["label"] for one in records}
    rows = [(name, said[nfc(name)]) for name in clips if said.get(nfc(name))]
    csv.writer(file).writerows([("video_name", "label"), *rows])
    return file.getvalue()


def foreign_ones_too(records, clips):
    said = {nfc(one["clip"].rpartition("/")[2]) for one in records}
    return leaderboard_file(records, [*clips, *sorted(said - set(clips))])


def joined(records, clips):
    said = {nfc(one["clip"].rpartition("/")[2]): one["label"] for one in records}
    return "video_name,label\n" + "".join(f"{name},{said.get(name, '')}\n" for name in clips)


def with_folders(records, clips):
    said = {nfc(one["clip"]): one["label"] for one in records}
    file = io.StringIO()
    csv.writer(file).writerows([("video_name", "label"), *((name, said.get(name, "")) for name in clips)])
    return file.getvalue()


def json_lines(records, clips):
    rows = csv.DictReader(io.StringIO(leaderboard_file(records, clips), newline=""))
    return "\n".join(json.dumps({"clip": row["video_name"], "label": row["label"]}) for row in rows)


RIGHT = {
    "plan_folds": plan_folds,
    "plan_folds in order": plan_in_order,
    "difference_interval": difference_interval,
    "difference_interval by tables": interval_by_tables,
    "leaderboard_file": leaderboard_file,
    "leaderboard_file by hand": file_by_hand,
}
WRONG = {
    "plan_folds clip by clip": (plan_clip_by_clip, "signs in folds"),
    "plan_folds as spelt": (plan_as_spelt, "in two Unicode forms is one name"),
    "plan_folds words as spelt": (planned(form=str), "is removed as 'two words'; "),
    "plan_folds one fold": (plan_one_fold, "fold 1 is empty"),
    "plan_folds uneven": (plan_uneven, "they may differ by"),
    "plan_folds silently": (plan_silently, "stays; it has to be removed as"),
    "plan_folds two words": (plan_without("two words"), "it has to be removed as 'two words'"),
    "plan_folds no signer": (plan_without("no signer"), "it has to be removed as 'no signer'"),
    "plan_folds two signers": (plan_without("two signers"), "it has to be removed as 'two signers'"),
    "plan_folds copies": (plan_without("copy"), "it has to be removed as 'copy'"),
    "plan_folds all copies": (plan_all_copies, "of equal films with one word and one signer the first"),
    "plan_folds last copy": (planned(keep="last"), "the first"),
    "plan_folds unknown": (planned(known=False), "it has to stay"),
    "plan_folds order": (plan_signer_first, "the first reason that holds is 'two words'"),
    "plan_folds alone": (lambda clips, n_folds: plan_folds(clips, n_folds)[0][:1], "two results"),
    "plan_folds names": (
        lambda clips, n_folds: (plan_folds(clips, n_folds)[0], list(reasons(clips))),
        "a dict from name to reason",
    ),
    "difference_interval once": (interval_with(once=True), "drawn twice counts twice"),
    "difference_interval sign": (interval_with(sign=-1), "it is second less first"),
    "difference_interval 90": (interval_with(levels=(0.05, 0.95)), "2.5% quantile"),
    "difference_interval unpaired": (interval_with(paired=False), "on the same draw"),
    "difference_interval accuracy": (interval_with(accuracy), "macro-F1 is the mean"),
    "difference_interval nearest": (interval_with(method="nearest"), "the lower end"),
    "difference_interval clips": (interval_with(by_clip=True), "the difference on all clips"),
    "difference_interval all words": (of_all_words, "the lower end"),
    "difference_interval said words": (interval_with(of_said_words), "macro-F1 is the mean"),
    "difference_interval mean": (mean_over_signers, "the difference on all clips"),
    "difference_interval two": (two_numbers, "three numbers are expected"),
    "leaderboard_file every record": (every_record, "the leaderboard refuses the file"),
    "leaderboard_file readable": (readable_ones, "it lacks"),
    "leaderboard_file foreign": (foreign_ones_too, "rehearsal.mp4"),
    "leaderboard_file joined": (joined, "CSV quotes a word with a comma"),
    "leaderboard_file folders": (with_folders, "is expected: the last record"),
    "leaderboard_file first": (
        lambda records, clips: written(records, clips, first=True),
        "the last record of a clip counts",
    ),
    "leaderboard_file as spelt": (
        lambda records, clips: written(records, clips, form=str),
        "is expected: the last record",
    ),
    "leaderboard_file head": (
        lambda records, clips: written(records, clips, columns=("clip", "label")),
        "no CSV with the columns video_name,label",
    ),
    "leaderboard_file semicolons": (
        lambda records, clips: written(records, clips, delimiter=";"),
        "no CSV with the columns video_name,label",
    ),
    "leaderboard_file JSON": (json_lines, "the text is JSON, as predict --out writes it"),
    "leaderboard_file bytes": (
        lambda records, clips: leaderboard_file(records, clips).encode(),
        "the text of the file is expected",
    ),
}

test_right, test_wrong = solution_tests("capstone_sign_language", capstone_sign_language, RIGHT, WRONG)
