"""The competition's rules: no pretrained model, no data from outside.

Synthetic data made from its own data are allowed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.training.run_card import CARD, read_card

if TYPE_CHECKING:
    from coursepkg.projects.translation.commands import Train
    from coursepkg.projects.translation.corpora import Parts

CORPUS = "zh-vi"
"""The contest's training file."""


def check_contest_rules(options: "Train", corpora: Sequence["Parts"]) -> None:
    """Raises a ValueError that names the first option which breaks the rules."""
    outside = next((one.corpus for one in corpora if one.corpus != CORPUS), None)
    if outside is not None:
        raise ValueError(
            f"--contest-rules allow the contest's training file alone, but {outside}"
            " would be trained on; give --data zh-vi without --also, or leave"
            " --contest-rules out"
        )
    if options.start is not None:
        _check_own(options.start / CARD, "--start")
    for flag, prefix in (
        ("--extra", options.extra),
        ("--round-trips", options.round_trips),
    ):
        if prefix is not None:
            _check_own(Path(f"{prefix}.json"), flag)


def check_t5_rules(model: str, source: str, target: str, corpus: str) -> None:
    """Check that a T5 is built afresh and learns from the contest's own file.

    Raises:
        ValueError: it does not, or the file is not here.
    """
    if model != "tiny":
        raise ValueError(
            f"--contest-rules allow no pretrained model, got {model}; give --model"
            " tiny, or leave --contest-rules out"
        )
    if "nom" in (source, target):
        found = "nom-vi" if corpus == "auto" else corpus
    else:
        from coursepkg.projects.translation.corpora import load_parts

        found = load_parts(corpus, source, target).corpus
    if found != CORPUS:
        raise ValueError(
            f"--contest-rules allow the contest's training file alone, but {found}"
            " would be trained on; give --data zh-vi, or leave --contest-rules out"
        )


def follows_rules(card: Mapping[str, Any]) -> bool:
    """Whether a model was trained by the rules and looks up no other corpus."""
    return (
        bool(card.get("contest_rules")) and card.get("neighbours_of", CORPUS) == CORPUS
    )


def _check_own(card: Path, flag: str) -> None:
    """Check that a card says that all comes from the contest's data alone."""
    if not card.is_file():
        raise ValueError(
            f"--contest-rules: {card} is missing, so nothing says what {flag} was made"
            " from; leave one of the two out"
        )
    content = read_card(card)
    corpora = set(content.get("corpora", ["unknown"]))
    if corpora != {CORPUS}:
        raise ValueError(
            f"--contest-rules allow the contest's training file alone, but {flag} was"
            f" made from {', '.join(sorted(corpora))} ({card}); leave one of the"
            " two out"
        )
    # What that model began with, and its further pairs, were checked if it was trained
    # by the same rules.
    if (content.get("start") or content.get("n_extra")) and not content.get(
        "contest_rules"
    ):
        raise ValueError(
            f"--contest-rules: {flag} began with another model or learnt further pairs,"
            f" and was not trained with --contest-rules itself ({card}); leave one of"
            " the two out"
        )
