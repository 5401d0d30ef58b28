"""What `coursepkg sign-language evaluate` does: score a part, or leave one signer out at a time, and write it down."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.documents import print_json
from coursepkg.metrics.bootstrap import Comparison
from coursepkg.projects.options import RUNS, with_threads
from coursepkg.projects.sign_language.answers import DrawBy, draw_groups, from_rows
from coursepkg.projects.sign_language.command_options import load_recognizer
from coursepkg.projects.sign_language.commands import Evaluate
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.evaluate import compare, score_answers
from coursepkg.projects.sign_language.leave_out import leave_signers_out
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.recognizer import DEFAULT, SignRecognizer
from coursepkg.projects.sign_language.scored_part import ScoredPart, score_part
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.stored import store_document
from coursepkg.training.call_log import read_calls
from coursepkg.training.files import read_json

EVALUATION = "evaluation.json"


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    for flag, value in (
        ("--limit", options.limit),
        ("--worst", options.worst),
        ("--threads", options.use.threads),
    ):
        check_count(flag, value, least=0)
    check_count("--batch-size", options.use.batch_size)
    with with_threads(options.use.threads):
        return _leave_out(options) if options.leave_one_signer_out else _score(options)


def corpus_of(options: Evaluate, recognizer: SignRecognizer) -> SignCorpus:
    """The clips that the options name; without a name those of the set that the model learnt from."""
    common, learnt = options.common, recognizer.card.get("data")
    told: Mapping[str, Any] = learnt if isinstance(learnt, dict) else {}
    name, split = common.data, common.protocol
    if name == "auto":
        name = str(told.get("name", common.corpus_name))
        if common.split == "auto" and told.get("protocol") in ("clip", "group", "signer"):
            split = str(told["protocol"])
    return load_corpus(name, recognizer.recipe, split=split)


def stored_scores(path: Path) -> SignScores:
    """What another system scored, by its stored answers; without intervals.

    Args:
        path: the `evaluation.json` that `evaluate --out` wrote, or its folder.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or holds no answers.
    """
    path = path / EVALUATION if path.is_dir() else path
    document = read_json(path, needs={"labels": list, "counts": list, "answers": list})
    answers = from_rows(document, str(path))
    return score_answers(answers, document["labels"], document["counts"], n_resamples=0)


def against(theirs: SignScores, ours: SignScores, protocol: str) -> dict[str, Comparison]:
    """What another system makes of the same clips: their scores and ours, by metric.

    Args:
        theirs: the scores of that system.
        ours: the scores that are compared with them.
        protocol: for the signature.

    Raises:
        ValueError: they are scores on other clips.
    """
    by: DrawBy = "clip" if draw_groups(ours.answers, "signer") is None else "signer"
    return {
        "macro-F1": compare(theirs, ours, by=by, protocol=protocol),
        "accuracy": compare(theirs, ours, metric="accuracy", by=by, protocol=protocol),
    }


def _score(options: Evaluate) -> int:
    # A mistake is said before a model scores clips for minutes.
    theirs = None if options.against is None else stored_scores(options.against)
    recognizer = load_recognizer(options.common, options.use)
    corpus = corpus_of(options, recognizer)
    found = score_part(
        recognizer, corpus, options.part, limit=options.limit, batch_size=options.use.batch_size
    )
    print(found.scores)
    folders = options.use.folders(options.common) or (DEFAULT,)
    document = found.scores.as_json() | {"notes": [*found.scores.notes, *found.notes], "part": options.part}
    document |= {"corpus": corpus.described(), "fingerprint": recognizer.fingerprint}
    document |= _origin(recognizer, folders)
    for note in found.notes:
        print(f"note: {note}")
    if options.against is not None and theirs is not None:
        document["against"] = _compared(options.against, theirs, found)
    return _finish(options, document, found)


def _leave_out(options: Evaluate) -> int:
    """Train and ask, one signer after another; what is given for a trained model is refused."""
    common, use = options.common, options.use
    given = {"--model": use.model, "--against": options.against, "--limit": options.limit}
    wrong = next((flag for flag, value in given.items() if value), None)
    if wrong is not None:
        raise ValueError(f"{wrong} cannot be given with --leave-one-signer-out, which trains its own models")
    preset = common.preset or "tiny"
    recipe = PRESETS[preset]
    views = recipe.views if use.views is None else use.views
    adjust = recipe.adjust if use.adjust is None else use.adjust
    recipe = dataclasses.replace(recipe, views=views, adjust=adjust)
    name = "signs" if common.data == "auto" else common.data
    runs = (common.out or RUNS / f"sign-language-leave-out-{preset}") / "runs"
    found = leave_signers_out(name, recipe, runs, seed=options.seed)
    print(found)
    document = found.as_json() | {
        "recipe": recipe.described(),
        "seed": options.seed,
        "corpus": {"name": name},
    }
    return _finish(options, document, None)


def _compared(other: Path, theirs: SignScores, found: ScoredPart) -> dict[str, Any]:
    told: dict[str, Any] = {"other": str(other)}
    for name, one in against(theirs, found.scores, found.protocol).items():
        print(f"against {other}: {one}")
        told[name] = {
            "theirs": one.baseline,
            "ours": one.system,
            "difference": [one.difference.lower, one.difference.upper],
            "share_higher": one.share_higher,
            "p_value": one.p_value,
            "signature": f"{one.name}|{one.signature}",
        }
    return told


def _origin(recognizer: SignRecognizer, folders: tuple[Path, ...]) -> dict[str, Any]:
    """The models with recipe, seed and data, and how they looked at clips."""
    card = recognizer.card
    return {
        "model": [folder.name for folder in folders],
        "recipe": recognizer.recipe.described(),
        "seed": card.get("seed"),
        "training": {name: value for name, value in card.items() if name not in ("recipe", "seed", "labels")}
        | {"calls": [read_calls(folder) for folder in folders]},
    }


def _finish(options: Evaluate, document: dict[str, Any], found: ScoredPart | None) -> int:
    """Write what --out asks for, each file whole or not at all, and print the document for --json."""
    out = options.common.out
    if out is not None:
        store_document(out / EVALUATION, "evaluation", document)
        if found is not None:
            found.write_answers(out / "answers.tsv")
            shown = found.write_worst(out / "worst.html", most=options.worst)
            print(f"{shown} worst clips in {out / 'worst.html'}")
    if options.common.json:
        print_json(document | circumstances())
    return 0
