"""The checks of the chapter on what a recogniser gets wrong accept what is right and say what is wrong."""

import unicodedata

from coursepkg.checks.error_lists import read_labels
from coursepkg.text.vietnamese import TONE_MARKS, TONES, split_tone
from tests.checks.solutions import solution_tests


def rates(lines):
    corpus = sum(edits for edits, _ in lines) / sum(length for _, length in lines)
    mean = sum(edits / length for edits, length in lines) / len(lines)
    return corpus, mean, sum(edits == 0 for edits, _ in lines) / len(lines)


def exchanged(lines):
    corpus, mean, accuracy = rates(lines)
    return mean, corpus, accuracy


def cut(lines):
    corpus, _, accuracy = rates(lines)
    return corpus, sum(min(1, edits / length) for edits, length in lines) / len(lines), accuracy


def of_characters(lines):
    corpus, mean, _ = rates(lines)
    return corpus, mean, 1 - corpus


def toneless(text):
    return "".join(TONES.get(letter, (letter, ""))[0] for letter in unicodedata.normalize("NFC", text))


def plain(text):
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def five_marks(text):
    apart = unicodedata.normalize("NFD", text)
    kept = "".join(c for c in apart if c not in TONE_MARKS.values())
    return unicodedata.normalize("NFC", kept)


def looked_up(text):
    return "".join(TONES.get(letter, (letter, ""))[0] for letter in text)


def differences(right, read):
    def parts(letter):
        vowel, tone = split_tone(letter)
        apart = unicodedata.normalize("NFD", vowel)
        bar = {"đ": "d-", "Đ": "D-"}.get(apart, apart)
        return {"letter": bar[0].lower(), "vowel mark": bar[1:], "tone": tone, "case": bar[0].isupper()}

    first, second = parts(right), parts(read)
    return {name for name in first if first[name] != second[name]}


def first(right, read):
    found = differences(right, read)
    return next(({name} for name in ("letter", "vowel mark", "tone", "case") if name in found), set())


def bar_is_letter(right, read):
    found = differences(right, read)
    if "đ" in (right + read).lower() and "vowel mark" in found:
        return found - {"vowel mark"} | {"letter"}
    return found


def gap(confidences, right, n_bins, *, weighted=True, closed="right"):
    total = used = 0.0
    for k in range(n_bins):
        low, high = k / n_bins, (k + 1) / n_bins
        if closed == "right":
            own = [i for i, c in enumerate(confidences) if low < c <= high or (k == 0 and c == 0)]
        else:
            own = [i for i, c in enumerate(confidences) if low <= c < high]
        if own:
            mean, share = sum(confidences[i] for i in own) / len(own), sum(right[i] for i in own) / len(own)
            weight = len(own) / len(confidences) if weighted else 1.0
            total += weight * abs(mean - share)
            used += 1
    return total if weighted else total / max(1, used)


def signed(confidences, right, n_bins):
    return sum(c - r for c, r in zip(confidences, right, strict=True)) / len(right)


def handed(lines, target, *, of_all=True, together=True):
    ordered = sorted(lines, key=lambda line: line[0])
    total = sum(length for _, _, length in lines)
    for count in range(len(lines) + 1):
        if together and 0 < count < len(lines) and ordered[count][0] == ordered[count - 1][0]:
            continue
        kept = ordered[count:]
        below = total if of_all else max(1, sum(length for _, _, length in kept))
        if sum(edits for _, edits, _ in kept) <= target * below:
            return count
    return len(lines)


def knows_the_edits(lines, target):
    return handed([(-edits, edits, length) for _, edits, length in lines], target)


MISREAD, _ = read_labels("ocr_misread_lines")


RIGHT = {
    "three_rates": rates,
    "without_tone": toneless,
    "what_differs": differences,
    "what_differs 2": lambda right, read: sorted(differences(right, read)),
    "calibration_error": gap,
    "lines_to_hand_over": handed,
    "costliest_step": lambda: "c",
    "misread_lines": lambda: MISREAD,
    "misread_lines mostly": lambda: ["vowel mark" if one == "tone mark" else one for one in MISREAD],
}

WRONG = {
    "three_rates exchanged": (exchanged, "then divide once"),
    "three_rates cut at one": (cut, "may exceed 1"),
    "three_rates accuracy of characters": (of_characters, "without any edit"),
    "three_rates as one number": (lambda lines: rates(lines)[0], "not three numbers"),
    "without_tone all marks": (plain, "circumflex, breve, horn"),
    "without_tone tilde of any letter": (five_marks, "Piñata"),
    "without_tone left apart": (lambda text: unicodedata.normalize("NFD", toneless(text)), "compose it"),
    "without_tone in nfc only": (looked_up, "NFD"),
    "what_differs first only": (first, "what differs between 'ấ' and 'a'"),
    "what_differs bar as letter": (bar_is_letter, "bar of đ"),
    "what_differs as text": (lambda right, read: ", ".join(differences(right, read)), "a set of names"),
    "calibration_error not weighted": (lambda *given: gap(*given, weighted=False), "share of all readings"),
    "calibration_error closed on the left": (lambda *given: gap(*given, closed="left"), "k/n < confidence"),
    "calibration_error signed": (signed, "calibration error of"),
    "lines_to_hand_over of the kept": (
        lambda lines, target: handed(lines, target, of_all=False),
        "characters of all lines",
    ),
    "lines_to_hand_over ties apart": (
        lambda lines, target: handed(lines, target, together=False),
        "equal ones together",
    ),
    "lines_to_hand_over most edits first": (knows_the_edits, "lowest confidence first"),
    "costliest_step compression": (lambda: "a", "flat"),
    "costliest_step noise": (lambda: "b", "near 1%"),
    "costliest_step tilt": (lambda: "d", "not to 26%"),
    "misread_lines all alike": (lambda: ["tone mark"] * 50, "Cohen's kappa 0.00; 0.6 is needed; item 1"),
    "misread_lines in reverse": (lambda: MISREAD[::-1], "0.6 is needed"),
    "misread_lines too few": (lambda: MISREAD[:49], "49 labels; 50 are expected"),
    "misread_lines of another name": (lambda: ["tone", *MISREAD[1:]], "label 1 is 'tone'; need one of"),
    "misread_lines marks alike": (
        lambda: ["case" if "mark" in one else one for one in MISREAD],
        "item 2 is 'tone mark' and not 'case'",
    ),
}

test_right, test_wrong = solution_tests("ocr_errors", RIGHT, WRONG)
