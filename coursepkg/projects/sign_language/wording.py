"""Words that several reports share: words that a part lacks, signers that are not known."""

from collections.abc import Iterable, Sequence

from coursepkg.wording import counted

SHOWN = 8
"""Words that a line names at most."""


def lacking(absent: Sequence[str]) -> str:
    """What a part lacks of the words of the data.

    Example:
        >>> lacking(["Tôi"])
        'lacks 1 word: Tôi'
        >>> lacking([])
        'every word'
    """
    if not absent:
        return "every word"
    more = ", ..." if len(absent) > SHOWN else ""
    return f"lacks {counted(len(absent), 'word')}: {', '.join(absent[:SHOWN])}{more}"


def known_signers(signers: Iterable[str], before: str) -> str:
    """How many people sign; empty where none of them is known, as 0 would be wrong.

    Args:
        signers: of each clip, empty where it is not known.
        before: what leads to the number, as a comma.
    """
    n_known = len({*signers} - {""})
    return f"{before}{counted(n_known, 'signer')}" if n_known else ""


def signer_notes(signers: Iterable[str], protocol: str) -> list[str]:
    """What a split by signer cannot promise where signers are not known.

    Args:
        signers: of each clip, empty where it is not known.
        protocol: how the clips are parted, see `data.splits`.
    """
    told = list(signers)
    n_unknown = told.count("")
    if protocol != "signer" or not n_unknown:
        return []
    who = "signers" if n_unknown == len(told) else f"the signers of {n_unknown:,} of {len(told):,} clips"
    return [f"{who} are not known: parted by recordings and copies only; a person may stand in several parts"]
