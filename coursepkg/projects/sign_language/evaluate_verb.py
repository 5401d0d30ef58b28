"""What `coursepkg sign-language evaluate` does: score a part and show the worst clips.

The page of the worst clips shows each as a film strip with its attention above, and
people of the test part: keep it as private as their clips.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from coursepkg.app.error_gallery import write_gallery
from coursepkg.app.evaluation import limited, origin_of
from coursepkg.app.options import RUNS
from coursepkg.app.output import print_json, write_texts
from coursepkg.app.published_results import write_measurement
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json
from coursepkg.metrics.scoring import Comparison
from coursepkg.processor import check_threads, with_threads
from coursepkg.projects.sign_language.corpora import load_corpus, order_pairs
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.clip import sample_frames
from coursepkg.projects.sign_language.data.splits import PROTOCOLS
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.leave_one_signer_out import leave_signers_out
from coursepkg.projects.sign_language.options import (
    WITH_WORDS,
    Evaluate,
    Use,
    refuse_given,
)
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.recognizer import (
    DEFAULT,
    SignRecognizer,
    load_recognizer,
)
from coursepkg.projects.sign_language.scores import (
    Answer,
    DrawBy,
    SignScores,
    answers_of,
    draw_groups,
    from_rows,
)
from coursepkg.projects.sign_language.scoring import (
    N_RESAMPLES,
    PairScore,
    compare,
    score_answers,
    score_pairs,
)
from coursepkg.validation import check_count
from coursepkg.viz.film import checked_weights, strip_picture
from coursepkg.viz.image import picture_data

HEIGHT = 72
"""Of the strips, in pixels."""
GAP = 2
BARS = 44
"""Height of the bars above a strip, in pixels, and of the number on the highest one."""
STYLE = """
body { max-width: 84rem; }
ol { list-style: none; padding: 0; }
li { border-top: 1px solid var(--line); padding: .6rem 0; }
.film { max-width: 100%; overflow-x: auto; }
.film svg, .film img { display: block; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
.bar { fill: var(--bar); } .most { fill: var(--most); }
.even { stroke: var(--soft); stroke-dasharray: 2 3; }
ins { color: var(--most); font-weight: bold; text-decoration: none; }
"""


class Film(NamedTuple):
    """What the network saw of a clip."""

    frames: np.ndarray
    """The sampled frames without padding, RGB, uint8 (T, height, width, 3)."""
    weights: np.ndarray | None = None
    """What each of them weighed (T,); None where the network has no attention pooling.
    """
    times: np.ndarray | None = None
    """When each is shown, in seconds (T,)."""


def worst_first(answers: Sequence[Answer]) -> list[int]:
    """Return the places of the wrong answers by rising probability of the right word.

    What could not be read comes first; of equal ones the more confident.
    """
    wrong = [place for place, one in enumerate(answers) if not one.is_right]

    def badness(place: int) -> tuple[bool, float, float, str]:
        one = answers[place]
        return one.said is not None, one.given, -one.confidence, one.name

    return sorted(wrong, key=badness)


def write_worst_page(
    path: str | Path,
    answers: Sequence[Answer],
    film_of: Callable[[int], Film | None],
    *,
    title: str = "Worst clips",
    most: int = 24,
) -> int:
    """Write the page and return how many clips it shows.

    Args:
        path: of the HTML file.
        answers: to all clips of the part.
        film_of: from the place of an answer to what the network saw; None for a clip
            that could not be read. It is asked for the clips that are shown, one after
            another.
        title: heading of the page.
        most: clips to show.

    Raises:
        ValueError: there is no answer, or weights do not fit their frames.
        OSError: the file cannot be written.
    """
    check_count("most", most, least=0)
    if not answers:
        raise ValueError("answers must hold at least one answer, got none")
    ranked = worst_first(answers)
    shown = ranked[:most]
    told = f"{len(ranked):,} of {len(answers):,} clips are wrong; {len(shown):,} are"
    write_gallery(
        path,
        title=title,
        opening=(
            f"<p>{told} shown, worst first. Bars above the frames are attention"
            " weights; the dotted line is what each would weigh if all weighed the"
            " same.</p>\n<ol>"
        ),
        entries=(clip_html(answers[place], film_of(place)) for place in shown),
        closing="</ol>",
        style=STYLE,
    )
    return len(shown)


def clip_html(one: Answer, film: Film | None) -> str:
    """One clip as an entry of the page.

    Raises:
        ValueError: the weights are not one number a frame, or no shares.
    """
    said = "nothing" if one.said is None else one.said
    sure = (
        ""
        if one.said is None
        else f" ({one.confidence:.0%}; {escape(one.label)} {one.given:.0%})"
    )
    picture = "<p>The clip could not be read.</p>" if film is None else _film(film, one)
    by = f", signer {escape(one.signer)}" if one.signer else ""
    return (
        f'<li>\n<p>signed <b lang="vi">{escape(one.label)}</b>, said <ins'
        f' lang="vi">{escape(said)}</ins>{sure}</p>\n'
        f"{picture}\n<p><small>{escape(one.name)}{by}</small></p>\n</li>\n"
    )


def _film(film: Film, one: Answer) -> str:
    """Strip and bars, frame under bar; both scroll together on a narrow screen."""
    picture = strip_picture(film.frames, height=HEIGHT, gap=GAP)
    width = picture.shape[1]
    alt = f"{len(film.frames)} frames of a clip of {one.label}"
    if film.times is not None and len(film.times):
        alt += (
            f", from {float(film.times[0]):.2f} to {float(film.times[-1]):.2f} seconds"
        )
    data = picture_data(picture, "JPEG", quality=85)
    bars = "" if film.weights is None else _bars(film, width)
    return (
        f'<div class="film" tabindex="0">{bars}<img src="{data}" width="{width}" '
        f'height="{HEIGHT}" alt="{escape(alt, quote=True)}"></div>'
    )


def _bars(film: Film, width: int) -> str:
    assert film.weights is not None
    shares = checked_weights(film.weights, np.ones(len(film.frames), dtype=bool))
    step, highest, room = width / len(shares), int(shares.argmax()), BARS - 14
    scale = room / float(shares.max())
    drawn = []
    for i, share in enumerate(shares.tolist()):
        kind = "most" if i == highest else "bar"
        tall = share * scale
        drawn.append(
            f'<rect class="{kind}" x="{i * step + 0.15 * step:.1f}"'
            f' y="{BARS - tall:.1f}" width="{0.66 * step:.1f}" height="{tall:.1f}"/>'
        )
    even = BARS - scale / len(shares)
    drawn.append(
        f'<line class="even" x1="0" x2="{width}" y1="{even:.1f}" y2="{even:.1f}"/>'
    )
    middle = (highest + 0.48) * step
    drawn.append(
        f'<text x="{middle:.1f}" y="10"'
        f' text-anchor="middle">{shares[highest]:.2f}</text>'
    )
    said = (
        f"Attention weights; frame {highest + 1} of {len(shares)} weighs most,"
        f" {shares[highest]:.2f}"
    )
    return (
        f'<svg role="img" aria-label="{escape(said)}" width="{width}" height="{BARS}" '
        f'viewBox="0 0 {width} {BARS}">{"".join(drawn)}</svg>'
    )


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """What `score_part` gives."""

    scores: SignScores
    notes: tuple[str, ...]
    """What a reader of the scores must know besides theirs: about the corpus, and what
    the model learnt."""
    protocol: str
    """As it stands in the signatures."""
    pairs: PairScore | None
    """Scores within pairs of words that differ in order alone; None without such."""
    clips: CachedClips = field(repr=False)
    recipe: Recipe = field(repr=False)
    weights: np.ndarray | None = field(repr=False)
    """Attention weights of the answers that have a clip, (N, T); None without attention
    pooling."""

    def film(self, place: int) -> Film | None:
        """Return what the network saw of an answer's clip; None if unreadable."""
        if self.scores.answers[place].said is None:
            return None
        times = self.clips.times(place)
        sampled = sample_frames(times, self.recipe.n_frames, self.recipe.padding)
        numbers = sampled.numbers[sampled.mask]
        weights = None if self.weights is None else self.weights[place][sampled.mask]
        return Film(self.clips.frames(place, numbers), weights, times[numbers])

    def write_answers(self, path: str | Path) -> None:
        """Write the answers as a table, a row a clip."""
        rows = ["clip\tsigner\tright\tsaid\tconfidence\tprobability of right\n"]
        for one in self.scores.answers:
            numbers = f"{one.confidence:.4f}\t{one.given:.4f}"
            cells = one.name, one.signer, one.label, one.said or "", numbers
            rows.append("\t".join(cells) + "\n")
        path = Path(path)
        write_texts(path.parent, {path.name: "".join(rows)})

    def write_worst(self, path: str | Path, *, most: int) -> int:
        """Write the page of the worst clips and return how many it shows."""
        title = f"Worst clips: {self.protocol}"
        return write_worst_page(
            path, self.scores.answers, self.film, title=title, most=most
        )


def score_part(
    recognizer: SignRecognizer,
    corpus: SignCorpus,
    part: str,
    *,
    limit: int = 0,
    batch_size: int = 32,
    n_resamples: int = N_RESAMPLES,
) -> ScoredPart:
    """Ask a recogniser about a part of a corpus and score the answers.

    Head, body and tail go by the clips that the model learnt from; where its card does
    not tell them, by those of the corpus.

    Args:
        recognizer: what is asked.
        corpus: its words must all be among those of the model.
        part: train, dev or test.
        limit: so many of its clips, the first ones; 0 takes all.
        batch_size: clips at once.
        n_resamples: bootstrap resamples behind the intervals.

    Raises:
        ValueError: the part has no clip, or the corpus has a word that the model does
            not know.
    """
    check_count("limit", limit, least=0)
    clips, labels = corpus.part(part), recognizer.labels
    unknown = sorted(set(corpus.labels) - set(labels))
    if unknown:
        raise ValueError(
            f"--data {corpus.name} has {len(unknown)} words that the model does not"
            f" know, such as {unknown[0]!r}; score it on clips of its own words, or"
            " train on these"
        )
    model, *others = recognizer.models
    predicted = predict_clips(
        model,
        clips,
        recognizer.recipe,
        batch_size=batch_size,
        limit=limit,
        models=others,
        counts=recognizer.counts,
    )
    n_there = len(clips) + len(clips.left_out)
    if limit and limit < len(clips):
        answers = answers_of(predicted.probabilities, clips.clips[:limit], labels)
    else:
        answers = answers_of(predicted.probabilities, clips, labels)[: limit or None]
    protocol = f"{corpus.name} {part}{limited(limit, n_there)}"
    protocol += f", split {corpus.protocol}{_settings_of(recognizer)}"
    protocol = protocol.replace("|", "/")
    trained_on = dict(zip(corpus.labels, corpus.counts, strict=True))
    counts = recognizer.counts or tuple(trained_on.get(word, 0) for word in labels)
    scores = score_answers(
        answers, labels, counts, protocol=protocol, n_resamples=n_resamples
    )
    pairs = None
    if not limit:
        pairs = score_pairs(
            *(predicted, clips, labels, order_pairs(corpus.name)),
            protocol=protocol,
            n_resamples=n_resamples,
        )
    notes = (*corpus.notes, *learnt_notes(recognizer.card, corpus, part))
    return ScoredPart(
        scores, notes, protocol, pairs, clips, recognizer.recipe, predicted.weights
    )


def learnt_notes(card: Mapping[str, Any], corpus: SignCorpus, part: str) -> list[str]:
    """Return notes where the model may have seen the clips or their signers.

    Args:
        card: of the model.
        corpus: whose part is scored.
        part: of the corpus.
    """
    learnt = card.get("data")
    if not isinstance(learnt, dict) or "fingerprint" not in learnt:
        return [
            "the model's card does not say what it learnt from; it may have seen these"
            " clips"
        ]
    notes = []
    if card.get("start"):
        notes.append(
            f"the model began with another one ({card['start']}), which may have seen"
            " these clips"
        )
    if learnt["fingerprint"] != corpus.fingerprint:
        told = f"{learnt.get('name')} parted by {learnt.get('protocol')}"
        notes.append(
            f"the model learnt from {told}, not from this corpus; it may have seen"
            " clips or signers of it"
        )
    elif part == "train":
        notes.append(
            "the model learnt from these very clips; the scores say nothing about"
            " others"
        )
    elif part == "dev":
        notes.append(
            "the weights were chosen by these clips, so the scores are a little too"
            " good; test is not"
        )
    if learnt["fingerprint"] == corpus.fingerprint and corpus.protocol != "signer":
        notes.append(
            f"parted by {corpus.protocol}: the model may know the signers of these"
            " clips"
        )
    return notes


def _settings_of(recognizer: SignRecognizer) -> str:
    """How the recogniser looks at clips, where it is not once and by itself."""
    recipe, n_models = recognizer.recipe, len(recognizer.models)
    told = [f"{n_models} models"] if n_models > 1 else []
    told += [f"{recipe.views} views"] if recipe.views > 1 else []
    told += [f"adjusted by {recipe.adjust:g}"] if recipe.adjust else []
    return "".join(f", {one}" for one in told)


EVALUATION = "evaluation.json"


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    check_count("--limit", options.limit, least=0)
    check_count("--worst", options.worst, least=0)
    check_threads(options.use.threads)
    check_count("--batch-size", options.use.batch_size)
    if options.words is None:
        refuse_given(
            [("--method", options.method != "auto")],
            "compares enrolled words; name their folder with --words",
        )
    with with_threads(options.use.threads):
        if options.words is not None:
            return _score_words(options)
        return _leave_out(options) if options.leave_one_signer_out else _score(options)


def corpus_of(options: Evaluate, recognizer: SignRecognizer) -> SignCorpus:
    """Load the clips that the options name, or by default the model's data set."""
    common, learnt = options.common, recognizer.card.get("data")
    told: Mapping[str, Any] = learnt if isinstance(learnt, dict) else {}
    known = str(told.get("name", common.corpus_name))
    name = known if common.data == "auto" else common.data
    split, protocol = common.protocol, str(told.get("protocol"))
    if common.split == "auto" and name == known and protocol in PROTOCOLS:
        split = protocol
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


def against(
    theirs: SignScores, ours: SignScores, protocol: str
) -> dict[str, Comparison]:
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
    refuse_given([("--seed", options.seed)], "goes with --leave-one-signer-out")
    # A mistake is said before a model scores clips for minutes.
    theirs = None if options.against is None else stored_scores(options.against)
    recognizer = load_recognizer(options.common, options.use)
    corpus = corpus_of(options, recognizer)
    found = score_part(
        recognizer,
        corpus,
        options.part,
        limit=options.limit,
        batch_size=options.use.batch_size,
    )
    print(found.scores)
    if found.pairs is not None:
        print(found.pairs)
    folders = options.use.folders(options.common) or (DEFAULT,)
    document = found.scores.as_json() | {
        "notes": [*found.scores.notes, *found.notes],
        "part": options.part,
    }
    if found.pairs is not None:
        document["order_pairs"] = found.pairs.as_json()
    document |= {"corpus": corpus.described(), "fingerprint": recognizer.fingerprint}
    document["model"] = [folder.name for folder in folders]
    card = recognizer.card
    document |= origin_of(recognizer.recipe, card, folders, leave=["labels"])
    for note in found.notes:
        print(f"note: {note}")
    if options.against is not None and theirs is not None:
        document["against"] = _compared(options.against, theirs, found)
    return _finish(options, document, found)


def _leave_out(options: Evaluate) -> int:
    """Train on all signers but one and score that one, for each signer in turn.

    An option for a trained model or for a part raises a ValueError.
    """
    common, use = options.common, options.use
    refuse_given(
        [
            ("--model", use.model),
            ("--against", options.against),
            ("--limit", options.limit),
            ("--part", options.part != Evaluate.part),
            ("--worst", options.worst != Evaluate.worst),
            ("--split", common.split != "auto"),
        ],
        "cannot be given with --leave-one-signer-out, which trains its own models",
    )
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


def _score_words(options: Evaluate) -> int:
    """Score enrolled words on their own clips, see `few_shot.evaluation`."""
    from coursepkg.projects.sign_language.few_shot.evaluation import score_words
    from coursepkg.projects.sign_language.few_shot.words import Words

    common, use = options.common, options.use
    refuse_given(
        [
            ("--model", use.model),
            ("--preset", common.preset),
            ("--data", common.data != "auto"),
            ("--against", options.against),
            ("--limit", options.limit),
            ("--views", use.views is not None),
            ("--adjust", use.adjust is not None),
            ("--batch-size", use.batch_size != Use.batch_size),
            ("--worst", options.worst != Evaluate.worst),
            ("--part", options.part != "dev"),
            ("--leave-one-signer-out", options.leave_one_signer_out),
            ("--seed", options.seed),
            ("--split group", common.split == "group"),
        ],
        WITH_WORDS,
    )
    assert options.words is not None
    words = Words.load(options.words)
    split: Literal["signer", "clip"] = "clip" if common.split == "clip" else "signer"
    found = score_words(words, split=split, method=options.method, log=print)
    print(found)
    document = found.as_json() | {
        "words": options.words.name,
        "split": split,
        "method": options.method,
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


def _finish(
    options: Evaluate, document: dict[str, Any], found: ScoredPart | None
) -> int:
    """Write the files for --out and print the document for --json.

    Each file is written whole or not at all.
    """
    out = options.common.out
    if out is not None:
        whole = {"schema": "evaluation", **document, **circumstances()}
        write_measurement(out / EVALUATION, whole)
        if found is not None:
            found.write_answers(out / "answers.tsv")
            if found.clips.n_features:
                print("no page of the worst clips: the model saw landmarks, no frames")
            else:
                shown = found.write_worst(out / "worst.html", most=options.worst)
                print(f"{shown} worst clips in {out / 'worst.html'}")
    if options.common.json:
        print_json(document | circumstances())
    return 0
