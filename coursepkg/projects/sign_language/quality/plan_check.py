"""Whether a cleaning plan leaves something to learn, said before clips are decoded for minutes."""

from collections.abc import Iterable

from coursepkg.projects.sign_language.quality.plan import CleaningPlan
from coursepkg.projects.sign_language.quality.plan_report import removal_as_text

UNOPENED = "cannot be opened"
"""Of `quality.plan.REASONS`: no rule decides it, so no other rules help."""


def check_plan(name: str, plan: CleaningPlan) -> None:
    """Raises a ValueError unless clips of at least two words stay.

    Args:
        name: of the data, as `--data` takes it.
        plan: for the training part.
    """
    reasons = plan.removed_by_reason
    if not plan.kept and list(reasons) == [UNOPENED]:
        raise ValueError(
            f"--data {name}: none of the {len(plan.removed):,} training clips can be opened; the first: "
            f"{removal_as_text(plan.removed[0])}"
        )
    if not plan.kept:
        why = ", ".join(f"{count:,} for {reason}" for reason, count in reasons.items())
        raise ValueError(
            f"--data {name}: the rules leave none of {len(plan.removed):,} training clips ({why}); loosen them"
        )
    check_words(name, (kept.file.label for kept in plan.kept))


def check_words(name: str, labels: Iterable[str]) -> None:
    """Raises a ValueError unless there are two words to tell apart.

    Args:
        name: of the data, as `--data` takes it.
        labels: the word of each training clip, at least one.
    """
    words = sorted(set(labels))
    if len(words) < 2:
        raise ValueError(
            f"--data {name} has one word to learn, {words[0]!r}; a recogniser needs at least two"
        )
