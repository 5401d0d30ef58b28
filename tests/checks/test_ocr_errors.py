"""The checks of the chapter on what a recogniser gets wrong accept what is right and say what is wrong."""

import unicodedata

from coursepkg.text.vietnamese import TONE_MARKS, TONES, split_tone


def rates(lines):
    corpus = sum(edits for edits, _ in lines) / sum(length for _, length in lines)
    mean = sum(edits / length for edits, length in lines) / len(lines)
    return corpus, mean, sum(edits == 0 for edits, _ in lines) / len(lines)


def test_three_rates_right(assert_accepts):
    assert_accepts("ocr_errors.three_rates", rates)


def test_three_rates_exchanged(assert_rejects):
    def exchanged(lines):
        corpus, mean, accuracy = rates(lines)
        return mean, corpus, accuracy

    assert_rejects("ocr_errors.three_rates", exchanged, "then divide once")


def test_three_rates_cut_at_one(assert_rejects):
    def cut(lines):
        corpus, _, accuracy = rates(lines)
        return corpus, sum(min(1, edits / length) for edits, length in lines) / len(lines), accuracy

    assert_rejects("ocr_errors.three_rates", cut, "may exceed 1")


def test_three_rates_accuracy_of_characters(assert_rejects):
    def of_characters(lines):
        corpus, mean, _ = rates(lines)
        return corpus, mean, 1 - corpus

    assert_rejects("ocr_errors.three_rates", of_characters, "without any edit")


def test_three_rates_as_one_number(assert_rejects):
    assert_rejects("ocr_errors.three_rates", lambda lines: rates(lines)[0], "not three numbers")


def toneless(text):
    return "".join(TONES.get(letter, (letter, ""))[0] for letter in unicodedata.normalize("NFC", text))


def test_without_tone_right(assert_accepts):
    assert_accepts("ocr_errors.without_tone", toneless)


def test_without_tone_all_marks(assert_rejects):
    def plain(text):
        apart = unicodedata.normalize("NFD", text)
        return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))

    assert_rejects("ocr_errors.without_tone", plain, "circumflex, breve, horn")


def test_without_tone_tilde_of_any_letter(assert_rejects):
    def five_marks(text):
        apart = unicodedata.normalize("NFD", text)
        kept = "".join(c for c in apart if c not in TONE_MARKS.values())
        return unicodedata.normalize("NFC", kept)

    assert_rejects("ocr_errors.without_tone", five_marks, "Piñata")


def test_without_tone_left_apart(assert_rejects):
    assert_rejects(
        "ocr_errors.without_tone", lambda text: unicodedata.normalize("NFD", toneless(text)), "compose it"
    )


def test_without_tone_in_nfc_only(assert_rejects):
    def looked_up(text):
        return "".join(TONES.get(letter, (letter, ""))[0] for letter in text)

    assert_rejects("ocr_errors.without_tone", looked_up, "NFD")


def differences(right, read):
    def parts(letter):
        vowel, tone = split_tone(letter)
        apart = unicodedata.normalize("NFD", vowel)
        bar = {"đ": "d-", "Đ": "D-"}.get(apart, apart)
        return {"letter": bar[0].lower(), "vowel mark": bar[1:], "tone": tone, "case": bar[0].isupper()}

    first, second = parts(right), parts(read)
    return {name for name in first if first[name] != second[name]}


def test_what_differs_right(assert_accepts):
    assert_accepts("ocr_errors.what_differs", differences)
    assert_accepts("ocr_errors.what_differs", lambda right, read: sorted(differences(right, read)))


def test_what_differs_first_only(assert_rejects):
    def first(right, read):
        found = differences(right, read)
        return next(({name} for name in ("letter", "vowel mark", "tone", "case") if name in found), set())

    assert_rejects("ocr_errors.what_differs", first, "what differs between 'ấ' and 'a'")


def test_what_differs_bar_as_letter(assert_rejects):
    def bar_is_letter(right, read):
        found = differences(right, read)
        if "đ" in (right + read).lower() and "vowel mark" in found:
            return found - {"vowel mark"} | {"letter"}
        return found

    assert_rejects("ocr_errors.what_differs", bar_is_letter, "bar of đ")


def test_what_differs_as_text(assert_rejects):
    assert_rejects(
        "ocr_errors.what_differs", lambda right, read: ", ".join(differences(right, read)), "a set of names"
    )


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


def test_calibration_error_right(assert_accepts):
    assert_accepts("ocr_errors.calibration_error", gap)


def test_calibration_error_not_weighted(assert_rejects):
    assert_rejects(
        "ocr_errors.calibration_error", lambda *given: gap(*given, weighted=False), "share of all readings"
    )


def test_calibration_error_closed_on_the_left(assert_rejects):
    assert_rejects(
        "ocr_errors.calibration_error", lambda *given: gap(*given, closed="left"), "k/n < confidence"
    )


def test_calibration_error_signed(assert_rejects):
    def signed(confidences, right, n_bins):
        return sum(c - r for c, r in zip(confidences, right, strict=True)) / len(right)

    assert_rejects("ocr_errors.calibration_error", signed, "calibration error of")


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


def test_lines_to_hand_over_right(assert_accepts):
    assert_accepts("ocr_errors.lines_to_hand_over", handed)


def test_lines_to_hand_over_of_the_kept(assert_rejects):
    assert_rejects(
        "ocr_errors.lines_to_hand_over",
        lambda lines, target: handed(lines, target, of_all=False),
        "characters of all lines",
    )


def test_lines_to_hand_over_ties_apart(assert_rejects):
    assert_rejects(
        "ocr_errors.lines_to_hand_over",
        lambda lines, target: handed(lines, target, together=False),
        "equal ones together",
    )


def test_lines_to_hand_over_most_edits_first(assert_rejects):
    def knows_the_edits(lines, target):
        return handed([(-edits, edits, length) for _, edits, length in lines], target)

    assert_rejects("ocr_errors.lines_to_hand_over", knows_the_edits, "lowest confidence first")
