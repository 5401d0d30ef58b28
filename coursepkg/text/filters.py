"""Which sentence pairs of a parallel text to train on. What is left out is counted and named, line by line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_LINES_SHOWN = 10


@dataclass(frozen=True)
class PairLimits:
    """Limits on the two sides of a pair. Lengths are in tokens."""

    min_source: int = 1
    """Shortest source that is kept, in tokens, 1 or more."""
    max_source: int = 100
    """Longest source that is kept, in tokens."""
    min_target: int = 1
    """Shortest target that is kept, in tokens, 1 or more."""
    max_target: int = 100
    """Longest target that is kept, in tokens."""
    max_ratio: float | None = None
    """Largest ratio of the longer to the shorter side, 1 or more; None sets no limit."""

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            least, most = getattr(self, f"min_{side}"), getattr(self, f"max_{side}")
            if least < 1:
                raise ValueError(f"min_{side} must be at least 1, got {least}")
            if most < least:
                raise ValueError(f"max_{side} must be at least min_{side} ({least}), got {most}")
        if self.max_ratio is not None and not self.max_ratio >= 1:
            raise ValueError(f"max_ratio must be at least 1 or None, got {self.max_ratio}")

    def reason(self, source: Sequence[str], target: Sequence[str]) -> str | None:
        """Why a pair of token lists is left out: the first limit that it breaks; None where it is kept."""
        for side, tokens, least, most in (
            ("source", source, self.min_source, self.max_source),
            ("target", target, self.min_target, self.max_target),
        ):
            if not tokens:
                return f"empty {side}"
            if len(tokens) < least:
                return f"{side} shorter than {least} tokens"
            if len(tokens) > most:
                return f"{side} longer than {most} tokens"
        short, long = sorted((len(source), len(target)))
        if self.max_ratio is not None and long > self.max_ratio * short:
            return f"one side more than {self.max_ratio:g} times as long as the other"
        return None


class Pair(NamedTuple):
    """A sentence pair that was kept."""

    line: int
    """Number of its line, from 1."""
    source: str
    target: str


@dataclass(frozen=True)
class FilterReport:
    """What a filter did. Printed, it is one line in all and one line a reason."""

    n_pairs: int
    """Pairs that came in."""
    left_out: dict[str, tuple[int, ...]]
    """Line numbers, from 1, of the pairs left out for each reason; every pair has one reason."""

    @property
    def n_kept(self) -> int:
        """Pairs that were kept."""
        return self.n_pairs - sum(len(lines) for lines in self.left_out.values())

    def __str__(self) -> str:
        reasons = [
            f"{len(lines)} left out, {reason}: {'line' if len(lines) == 1 else 'lines'} "
            f"{', '.join(map(str, lines[:_LINES_SHOWN]))}{', ...' if len(lines) > _LINES_SHOWN else ''}"
            for reason, lines in self.left_out.items()
        ]
        return "\n".join([f"{self.n_kept} of {self.n_pairs} pairs kept", *reasons])


def filter_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    limits: PairLimits,
    *,
    tokenize: Callable[[str], Sequence[str]] = str.split,
) -> tuple[list[Pair], FilterReport]:
    """Keep the pairs within some limits, in their order.

    Args:
        sources: lines of the source.
        targets: lines of the target; line i translates line i.
        limits: what is kept.
        tokenize: cuts a line into the tokens that the limits count.

    Returns:
        the pairs kept, their text unchanged, and the report.

    Raises:
        ValueError: the two sides have different numbers of lines, or one is a string.
    """
    for name, lines in (("sources", sources), ("targets", targets)):
        if isinstance(lines, str):
            raise ValueError(
                f"{name} must be a list of lines, got the string {lines[:40]!r}; split it into lines"
            )
    if len(sources) != len(targets):
        raise ValueError(
            f"sources and targets must have equally many lines, got {len(sources)} and {len(targets)}; a line is "
            f"missing on one side, and every pair from there on is wrong"
        )
    kept: list[Pair] = []
    left_out: dict[str, list[int]] = {}
    for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
        reason = limits.reason(tokenize(source), tokenize(target))
        if reason is None:
            kept.append(Pair(number, source, target))
        else:
            left_out.setdefault(reason, []).append(number)
    return kept, FilterReport(len(sources), {reason: tuple(lines) for reason, lines in left_out.items()})
