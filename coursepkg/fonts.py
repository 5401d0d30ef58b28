"""Which of the fonts on this machine can draw the scripts of the course.

Vietnamese needs stacked diacritics, which the DejaVu Sans of matplotlib has. Chinese needs a CJK font, which
matplotlib does not bring.
"""

from functools import cache

VIETNAMESE = "ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
CHINESE = "你好注意力机制请问多少钱"


@cache
def find_font(sample: str) -> str | None:
    """Return the name of an installed font family that has every character of `sample`, or None.

    matplotlib's own font comes first; then families that are known to cover CJK, to avoid opening every file.
    """
    from matplotlib import font_manager

    likely = (
        "dejavu sans",
        "cjk sc",
        "cjk",
        "wenquanyi",
        "pingfang",
        "heiti",
        "yahei",
        "simhei",
        "droid sans",
    )

    def rank(entry: font_manager.FontEntry) -> tuple[int, bool, str]:
        name = entry.name.lower()
        place = next((i for i, word in enumerate(likely) if word in name), len(likely))
        return place, entry.style != "normal" or str(entry.weight) not in ("400", "normal"), name

    for entry in sorted(font_manager.fontManager.ttflist, key=rank):
        # The Last Resort font of matplotlib claims every character and draws each as a labelled box.
        if "Last Resort" not in entry.name and _covers(entry.fname, sample):
            return str(entry.name)
    return None


def _covers(path: str, sample: str) -> bool:
    from matplotlib import ft2font

    try:
        glyphs = ft2font.FT2Font(path).get_charmap()
    except (OSError, RuntimeError):
        return False
    return all(ord(character) in glyphs for character in sample)
