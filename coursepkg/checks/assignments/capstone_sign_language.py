"""Tests of the capstone on sign language: folds of signers, an interval, a file."""

import random
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import two
from coursepkg.checks.assignments.task import Task
from coursepkg.grading.leaderboard import PROJECTS, check_answers

Case = tuple[Any, ...]
Clip = tuple[str, str, str, str]
"""Name, word, signer, film."""
SIGNERS = ("Bình", "Hương", "Đức", "Ngọc", "Trường", "Ái", "Vũ", "Quỳnh")
WORDS = ("mẹ", "bố", "uống", "bệnh viện", "cảm ơn", "mẹ, má", 'số "một"', "ngủ")
TWO_WORDS, NO_SIGNER, TWO_SIGNERS, COPY = (
    "two words",
    "no signer",
    "two signers",
    "copy",
)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _clips_case(n_signers: int, n_folds: int, seed: int) -> Case:
    """Clips of signers of unequal diligence, with every fault of the task planted."""
    draw = random.Random(seed)
    rows: list[tuple[str, str, str]] = []
    for number, signer in enumerate(SIGNERS[:n_signers]):
        for take in range(6 + draw.randint(0, 8)):
            word = draw.choice(WORDS[:5])
            rows.append((word, signer, f"film {number}-{take}"))
    for number, signer in enumerate(SIGNERS[:n_signers]):
        own = [row for row in rows if row[1] == signer]
        copied, relabelled, claimed, shared = draw.sample(own, 4)
        other = SIGNERS[(number + 1) % n_signers]
        rows += [copied] * draw.randint(1, 2)
        wrong = draw.choice([word for word in WORDS[:5] if word != relabelled[0]])
        rows += [(wrong, signer, relabelled[2]), (wrong, "", relabelled[2])]
        rows.append((claimed[0], other, claimed[2]))
        rows.append((shared[0], "", shared[2]))
        rows.append((copied[0], "", f"film {number}-unknown"))
    draw.shuffle(rows)
    clips = [
        (
            f"{number}.mp4",
            unicodedata.normalize(draw.choice(("NFC", "NFD")), word),
            unicodedata.normalize(draw.choice(("NFC", "NFD")), signer),
            film,
        )
        for number, (word, signer, film) in enumerate(rows)
    ]
    return clips, n_folds


def _removed(clips: Sequence[Clip]) -> dict[str, str]:
    """Names of the clips that are left out, and why."""
    rows = [
        (name, _nfc(word), _nfc(signer), film) for name, word, signer, film in clips
    ]
    words: dict[str, set[str]] = {}
    signers: dict[str, set[str]] = {}
    for _, word, signer, film in rows:
        words.setdefault(film, set()).add(word)
        signers.setdefault(film, set()).update({signer} - {""})
    found: dict[str, str] = {}
    seen: set[str] = set()
    for name, _, signer, film in rows:
        if len(words[film]) > 1:
            found[name] = TWO_WORDS
        elif not signer:
            found[name] = NO_SIGNER
        elif len(signers[film]) > 1:
            found[name] = TWO_SIGNERS
        elif film in seen:
            found[name] = COPY
        else:
            seen.add(film)
    return found


def _judge_removed(clips: Sequence[Clip], removed: Any) -> None:
    assert isinstance(removed, dict), (
        f"what is removed is a {type(removed).__name__}; a dict from name to reason is"
        " expected"
    )
    right = _removed(clips)
    for name, word, signer, film in clips:
        told, wanted = removed.get(name), right.get(name)
        if told == wanted:
            continue
        about = f"{name} ({word}, signer {signer!r}, {film})"
        assert wanted is not None, (
            f"{about} is removed as {told!r}; it has to stay: of equal films with one"
            " word and one signer the first clip stays, and a name in two Unicode forms"
            " is one name"
        )
        assert told is not None, f"{about} stays; it has to be removed as {wanted!r}"
        raise AssertionError(
            f"{about} is removed as {told!r}; the first reason that holds is {wanted!r}"
        )
    others = sorted(set(map(str, removed)) - set(right))
    assert not others, f"{others[0]!r} is removed, and is no clip of the list"


def _judge_folds(case: Case, answer: Any) -> None:
    clips, n_folds = case
    folds, removed = two(answer, "the folds and the removed clips")
    _judge_removed(clips, removed)
    fits = isinstance(folds, list) and len(folds) == n_folds
    assert fits, f"a list of {n_folds} folds is expected"
    right = _removed(clips)
    signer_of = {
        name: _nfc(signer) for name, _, signer, _ in clips if name not in right
    }
    expect.equal(
        sorted(name for fold in folds for name in fold),
        sorted(signer_of),
        what="the sorted list of the clips of all folds",
        hint="every clip that is not removed stands in one fold, once, by its name",
    )
    home: dict[str, int] = {}
    for number, fold in enumerate(folds):
        assert len(fold) > 0, f"fold {number} is empty"
        for signer in sorted({signer_of[name] for name in fold}):
            assert home.setdefault(signer, number) == number, (
                f"{signer} signs in folds {home[signer]} and {number}; a name in two"
                " Unicode forms is one name"
            )
    sizes = [len(fold) for fold in folds]
    largest = max(Counter(signer_of.values()).values())
    assert max(sizes) - min(sizes) <= largest, (
        f"the folds have {sizes} clips; they may differ by {largest}, the clips of the"
        " signer with most"
    )


plan_folds = Task(
    "plan_folds",
    make=_clips_case,
    judge=_judge_folds,
    public=[(4, 2, 0), (6, 3, 1), (5, 5, 2)],
)


def _systems_case(n_signers: int, n_words: int, n_draws: int, seed: int) -> Case:
    """Two systems on the same clips; the second knows some signers better."""
    draw = random.Random(seed)
    truths: list[str] = []
    signers: list[str] = []
    first: list[str | None] = []
    second: list[str | None] = []
    words = WORDS[:n_words]
    for number, signer in enumerate(SIGNERS[:n_signers]):
        for _ in range(draw.randint(2, 9)):
            word = words[min(draw.randrange(n_words), draw.randrange(n_words))]
            truths.append(word)
            signers.append(signer)
            for said, chance in ((first, 0.5), (second, 0.45 + 0.1 * (number % 3))):
                wrong = draw.choice([*words, "không", None])
                said.append(word if draw.random() < chance else wrong)
    names = sorted(set(signers))
    draws = [draw.choices(names, k=len(names)) for _ in range(n_draws)]
    return truths, signers, first, second, draws


def _macro_f1(
    truths: Sequence[str], said: Sequence[str | None], *, union: bool = False
) -> float:
    """Mean F1 of the words that are signed; with `union` also of those only said."""
    words = set(truths) | ({one for one in said if one} if union else set())
    hits = Counter(a for a, b in zip(truths, said, strict=True) if a == b)
    signed, answered = Counter(truths), Counter(said)
    return float(np.mean([2 * hits[w] / (signed[w] + answered[w]) for w in words]))


def _differences(case: Case, *, whole: bool = True, union: bool = False) -> np.ndarray:
    """The difference on all clips, then that of each draw."""
    truths, signers, first, second, draws = case
    found = []
    for drawn in [sorted(set(signers)), *draws]:
        chosen = drawn if whole else sorted(set(drawn))
        picked = [i for name in chosen for i, own in enumerate(signers) if own == name]
        parts = [[one[i] for i in picked] for one in (truths, first, second)]
        before, after = (_macro_f1(parts[0], one, union=union) for one in parts[1:])
        found.append(after - before)
    return np.array(found)


def _interval(differences: np.ndarray) -> tuple[float, float]:
    lower, upper = np.quantile(differences[1:], [0.025, 0.975])
    return float(lower), float(upper)


def _judge_interval(case: Case, answer: Any) -> None:
    expect.attempted(answer)
    is_three = isinstance(answer, tuple | list) and len(answer) == 3
    assert is_three, (
        "three numbers are expected: the difference, and the interval's ends"
    )
    found = _differences(case)
    value, ends = float(found[0]), _interval(found)
    assert not (
        abs(value) > 1e-9
        and isinstance(answer[0], float)
        and abs(answer[0] + value) < 1e-9
    ), f"the difference is {answer[0]:.4f}; it is second less first"
    expect.close(
        answer[0],
        value,
        what="the difference on all clips",
        tolerance=1e-9,
        hint="macro-F1 is the mean over the words that are signed in these clips",
    )
    for other, hint in (
        (_differences(case, whole=False), "a signer who is drawn twice counts twice"),
        (
            _differences(case, union=True),
            "a word that nobody signs in a draw is left out of its mean",
        ),
    ):
        wrong = _interval(other)
        if max(abs(a - b) for a, b in zip(wrong, ends, strict=True)) > 1e-6:
            same = all(
                isinstance(a, float) and abs(a - b) < 1e-9
                for a, b in zip(answer[1:], wrong, strict=True)
            )
            assert not same, f"the interval is wrong: {hint}"
    for number, (name, share) in enumerate((("lower", "2.5"), ("upper", "97.5")), 1):
        expect.close(
            answer[number],
            ends[number - 1],
            what=f"the {name} end",
            tolerance=1e-9,
            hint=(
                f"it is the {share}% quantile of the differences, and both systems are"
                " scored on the same draw"
            ),
        )


difference_interval = Task(
    "difference_interval",
    make=_systems_case,
    judge=_judge_interval,
    public=[(3, 3, 40, 0), (5, 6, 60, 1), (1, 2, 3, 2)],
)


def _records_case(n_clips: int, seed: int) -> Case:
    """Records of `predict --out`, some missing, unreadable, foreign or double."""
    draw = random.Random(seed)
    clips = [f"{draw.choice(WORDS[:5])} {number}.mp4" for number in range(n_clips)]
    draw.shuffle(clips)

    def record(name: str, word: str) -> dict[str, Any]:
        decomposed = unicodedata.normalize("NFD", name)
        place = draw.choice(("", "test/", "test/part 2/"))
        return {
            "clip": place + draw.choice((_nfc(name), decomposed)),
            "label": word,
            "confidence": round(draw.uniform(0.2, 1), 4) if word else 0.0,
            "error": "" if word else f"{name} is no video that can be read",
        }

    records = [record(name, draw.choice(WORDS)) for name in clips[1:]]
    records.append(record(clips[1], ""))
    records.append(record(clips[2], WORDS[5]))
    records.append(record(clips[3], WORDS[6]))
    records.append(record("rehearsal.mp4", draw.choice(WORDS)))
    return records, clips


def _right_answers(case: Case) -> dict[str, str]:
    records, clips = case
    last = {_nfc(one["clip"].rpartition("/")[2]): one["label"] for one in records}
    return {_nfc(name): last.get(_nfc(name), "") for name in clips}


def _judge_file(case: Case, answer: Any) -> None:
    expect.attempted(answer)
    assert isinstance(answer, str), (
        f"the result is a {type(answer).__name__}; the text of the file is expected"
    )
    assert not answer.startswith("{"), (
        "the text is JSON, as predict --out writes it; a CSV with the columns"
        " video_name and label is expected"
    )
    right = _right_answers(case)
    try:
        given = PROJECTS["sign-language"].read(answer.removeprefix("\ufeff"))
        check_answers(given, right)
    except ValueError as reason:
        raise AssertionError(f"the leaderboard refuses the file: {reason}") from reason
    for name, word in right.items():
        assert _nfc(given[name]) == _nfc(word), (
            f"{name} is answered {given[name]!r}; {word!r} is expected: the last record"
            " of a clip counts, no record is an empty answer, and CSV quotes a word"
            " with a comma"
        )


leaderboard_file = Task(
    "leaderboard_file",
    make=_records_case,
    judge=_judge_file,
    public=[(6, 0), (9, 1)],
)
