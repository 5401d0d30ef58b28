"""Measures the translator that ships: scores by domain, what its notes are worth, what is copied, speed, examples.

    coursepkg translation export --out runs/export --quantization int8
    .venv-dev/bin/python scripts/measure_translator.py --model runs/export --against runs/export-of-sixth-stage

Scored are the test parts of the open corpus, domain by domain, and all of them together by the length of the source
and by how often the open corpus and the phrasebook have its rarest word. The examples are chosen by a rule: of each
direction into Vietnamese the everyday and documentation sentences of 5 to 30 words, sorted by chrF, and of them ten at
even steps from the worst to the best. Each score is compared, by a paired bootstrap, with that of the same search
without reading back, and `--against` with that of another export, here of the sixth stage of training as it shipped.
On dev some searches are compared, and texts of several sentences, read at once and one by one; with `--against` also
run-on sentences, by both models. COURSEPKG_DATA names the data folder.
"""

import argparse
import copy
import dataclasses
import itertools
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import (
    compare,
    comparison_as_json,
    score,
    score_as_json,
    sentence_scores,
    signature,
)
from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.corpus import SentencePair, run_ons, to_scorer
from coursepkg.projects.translation.errors.surface import words
from coursepkg.projects.translation.evaluate import (
    bleu_of,
    evaluate,
    search_note,
    translate_pairs,
)
from coursepkg.projects.translation.predict import Translation, Translator
from coursepkg.projects.translation.studies.calibration import (
    USABLE,
    USABLE_HAN,
    reliability,
)
from coursepkg.text.languages import language_of

DOMAINS = ("everyday", "documentation", "interface")
WAYS = (("en", "vi"), ("zh", "vi"), ("vi", "en"), ("vi", "zh"))
LENGTHS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, 10_000))
"""Words of a source, in groups; of Chinese its characters."""
COUNTS = ((0, 0), (1, 9), (10, 99), (100, 10**9))
"""How often open corpus and phrasebook have the rarest word of a source, in groups."""
EXAMPLE_WORDS = (5, 30)
N_EXAMPLES = 10
N_LINES, N_SINGLE, N_RUN_ONS = 10_000, 50, 100
THREADS = 2
SEARCHES = (
    (1, 0.0),
    (3, 0.0),
    (5, 0.0),
    (10, 0.0),
    (3, 0.2),
    (3, 0.4),
    (3, 1.0),
    (5, 0.4),
    (10, 0.4),
)
"""Beams and weights of reading back that are compared on dev."""
N_SEARCHED = 300
"""Sentences of each dev part for that, the first ones; all where there are fewer."""


class Scored(NamedTuple):
    """One test sentence and what came of it."""

    domain: str
    pair: SentencePair
    found: Translation
    chrf: float


def rows_of(
    translator: Translator, way: tuple[str, str], part: str, other: Translator | None
) -> tuple[list[dict[str, Any]], list[Scored]]:
    """Scores of each domain, and all sentences with their own."""
    rows, sentences = [], []
    for domain in DOMAINS:
        corpus = f"open-{domain}"
        parts = load_parts(corpus, *way)
        if parts.corpus != corpus:
            raise SystemExit("error: the open corpus is not here; set COURSEPKG_DATA")
        pairs: Sequence[SentencePair] = getattr(parts, part)
        found, notes = translate_pairs(translator, pairs, *way)
        protocol = f"{corpus} {part}, {search_note(translator, *way)}"
        lines = [one.line for one in found]
        result = evaluate(lines, pairs, *way, protocol=protocol, notes=notes)
        print(" to ".join(way), domain, result, sep="\n", flush=True)
        rows.append({"domain": domain, **result.as_json()})
        others: dict[str, tuple[Translator, dict[str, float]]] = {
            "search alone": (translator, {"reverse_weight": 0.0})
        }
        if other is not None:
            others["earlier model"] = other, {}
        rows[-1]["against"] = {}
        for name, (baseline, options) in others.items():
            theirs = translate_pairs(baseline, pairs, *way, **options)[0]
            difference = compare(
                bleu_of(way[1]),
                [to_scorer(one.line, way[1]) for one in theirs],
                result.hypotheses,
                result.references,
                protocol=protocol,
            )
            rows[-1]["against"][name] = comparison_as_json(difference)
        own = sentence_scores(CHRF(), result.hypotheses, result.references).tolist()
        triples = zip(pairs, found, own, strict=True)
        sentences += [Scored(domain, *one) for one in triples]
    return rows, sentences


def several_sentences(translator: Translator) -> list[dict[str, Any]]:
    """Dev texts of several sentences, at once where they fit, and one by one: chrF."""
    at_once = copy.copy(translator)
    at_once.recipe = dataclasses.replace(translator.recipe, split_sentences=False)
    rows = []
    for way in WAYS:
        dev = load_parts("open", *way).dev
        read = [translator.masked(pair.source).text for pair in dev]
        several = [len(translator.sentences_of(text)) > 1 for text in read]
        pairs = list(itertools.compress(dev, several))
        found = [
            [
                to_scorer(one.line, way[1])
                for one in translate_pairs(made, pairs, *way)[0]
            ]
            for made in (at_once, translator)
        ]
        difference = compare(
            CHRF(),
            *found,
            [to_scorer(pair.target, way[1]) for pair in pairs],
            protocol=f"open dev, several sentences, {search_note(translator, *way)}"
            " against at once",
        )
        told = {"from": way[0], "to": way[1], "n": len(pairs)}
        rows.append(told | comparison_as_json(difference))
        print(rows[-1], flush=True)
    return rows


def bare(text: str) -> str:
    """A text in lower case without marks, so that a model gains nothing by the form of run-on sentences."""
    return " ".join(re.findall(r"\w+", text.lower()))


def run_on_sentences(translator: Translator, other: Translator) -> list[dict[str, Any]]:
    """Run-on sentences of the everyday dev part, by another model and by this one: BLEU in lower case without marks."""
    rows = []
    for way in WAYS:
        (source,) = {*way} - {"vi"}
        pairs = run_ons(
            load_parts("open-everyday", source, "vi").dev, N_RUN_ONS, source, "vi"
        )
        if way[0] == "vi":
            pairs = [pair.swapped() for pair in pairs]
        found = [
            [
                bare(to_scorer(one.line, way[1]))
                for one in translate_pairs(made, pairs, *way)[0]
            ]
            for made in (other, translator)
        ]
        difference = compare(
            bleu_of(way[1]),
            *found,
            [bare(to_scorer(pair.target, way[1])) for pair in pairs],
            protocol=f"run-on sentences of open-everyday dev, lower case, no marks, {search_note(translator, *way)}",
        )
        told = {"from": way[0], "to": way[1], "n": len(pairs)}
        rows.append(told | comparison_as_json(difference))
        print(rows[-1], flush=True)
    return rows


def compared_searches(translator: Translator) -> list[dict[str, float]]:
    """BLEU and chrF of some searches, means over the domains and directions of dev."""
    parts = [load_parts(f"open-{domain}", *way) for way in WAYS for domain in DOMAINS]
    rows = []
    for beams, weight in SEARCHES:
        found: dict[str, list[float]] = {"BLEU": [], "chrF": []}
        for one in parts:
            pairs, options = (
                one.dev[:N_SEARCHED],
                {"beam_size": beams, "reverse_weight": weight},
            )
            made, _ = translate_pairs(
                translator, pairs, one.source, one.target, **options
            )
            ours = [to_scorer(each.line, one.target) for each in made]
            true = [to_scorer(pair.target, one.target) for pair in pairs]
            for name, metric in (("BLEU", bleu_of(one.target)), ("chrF", CHRF())):
                found[name].append(float(score(metric, ours, true).value))
        means = {
            name: round(statistics.fmean(values), 2) for name, values in found.items()
        }
        rows.append({"beams": beams, "reverse_weight": weight, **means})
        print(rows[-1], flush=True)
    return rows


def searched_signatures() -> list[dict[str, str]]:
    """Of the scores on each part that `compared_searches` averages."""
    found = []
    for way in WAYS:
        for domain in DOMAINS:
            dev = load_parts(f"open-{domain}", *way).dev
            signed = partial(
                signature,
                references=[to_scorer(p.target, way[1]) for p in dev[:N_SEARCHED]],
                n_in_file=len(dev),
                protocol=f"open-{domain} dev, the first {N_SEARCHED}",
            )
            found.append({"BLEU": signed(bleu_of(way[1])), "chrF": signed(CHRF())})
    return found


def groups(
    sentences: Sequence[Scored],
    way: tuple[str, str],
    bounds: Sequence[tuple[int, int]],
    measure: Callable[[str], int],
) -> list[dict[str, Any]]:
    """BLEU of the sentences whose source measures so much."""
    found = []
    for least, most in bounds:
        own = [s for s in sentences if least <= measure(s.pair.source) <= most]
        if not own:
            continue
        ours = [to_scorer(s.found.line, way[1]) for s in own]
        true = [to_scorer(s.pair.target, way[1]) for s in own]
        value = score(bleu_of(way[1]), ours, true, n_resamples=1000)
        row = {"least": least, "most": most, "n": len(own)}
        found.append(row | {"BLEU": score_as_json(value)})
    return found


def rarity(way: tuple[str, str]) -> Callable[[str], int]:
    """How often open corpus and phrasebook have the rarest word of a source."""
    counts = Counter(
        word
        for pair in load_parts("open", *way).train
        for word in words(pair.source.lower())
    )
    return lambda text: min(map(counts.__getitem__, words(text.lower())), default=0)


def examples(sentences: Sequence[Scored]) -> list[dict[str, Any]]:
    """Sentences at even steps from the worst to the best."""
    least, most = EXAMPLE_WORDS
    own = [
        s
        for s in sentences
        if s.domain != "interface" and least <= len(words(s.pair.source)) <= most
    ]
    own.sort(key=lambda s: s.chrf)
    steps = (round(i * (len(own) - 1) / (N_EXAMPLES - 1)) for i in range(N_EXAMPLES))
    return [
        {
            "source": s.pair.source,
            "translation": s.found.text,
            "reference": s.pair.target,
            "chrf": round(s.chrf, 1),
            "confidence": round(s.found.confidence, 2),
            "doubtful": s.found.doubtful,
        }
        for s in (own[step] for step in steps)
    ]


def speed(model: Path, translators: dict[str, Translator]) -> dict[str, Any]:
    """Seconds for one sentence, and for a file of many through `predict`."""
    way = WAYS[0]
    sources = list(dict.fromkeys(p.source for p in load_parts("open", *way).train))
    random.Random(0).shuffle(sources)
    single: dict[str, Any] = {}
    for name, translator in translators.items():
        # The runtime of an export sets this number to its own.
        torch.set_num_threads(THREADS)
        seconds = []
        for text in sources[: N_SINGLE + 1]:
            begun = time.perf_counter()
            translator.translate([text], source=way[0], target=way[1])
            seconds.append(time.perf_counter() - begun)
        # The first call prepares what the others use.
        rest = sorted(seconds[1:])
        found = {"median": statistics.median(rest), "largest": rest[-1]}
        single[name] = {key: round(value, 3) for key, value in found.items()}
    lines = [" ".join(text.split()) for text in sources[:N_LINES]]
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "lines.en", Path(folder) / "lines.vi"
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = [sys.executable, "-m", "coursepkg", "translation", "predict"]
        command += ["--from", way[0], "--to", way[1], "--model", str(model)]
        command += ["--file", str(source), "--out", str(out)]
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds_ = time.perf_counter() - begun
    many = {"lines": len(lines), "seconds": round(seconds_, 1)}
    many["lines_per_second"] = round(len(lines) / seconds_, 1)
    return {"one_sentence": single, "file": many} | circumstances()


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="exported folder")
    place = Path("book/_data/translation/shipped.json")
    parser.add_argument("--out", type=Path, default=place, help="file")
    parser.add_argument("--part", default="test", choices=("dev", "test"))
    parser.add_argument("--against", type=Path, help="another exported folder")
    told = "leave out the speed, which another model of this size does not change; the stored one stays"
    parser.add_argument("--keep-speed", action="store_true", help=told)
    chosen = parser.parse_args()
    if not chosen.out.absolute().parent.is_dir():
        parser.error(f"--out {chosen.out}: the folder does not exist; make it first")
    torch.set_num_threads(THREADS)
    translator = Translator.load(chosen.model)
    other = Translator.load(chosen.against) if chosen.against else None
    document: dict[str, Any] = {"schema": "coursepkg.translation.shipped/2"}
    document |= {"part": chosen.part, "model": translator.card, "ways": {}}
    for way in WAYS:
        rows, sentences = rows_of(translator, way, chosen.part, other)
        least = USABLE_HAN if language_of(way[1]).is_han else USABLE
        notes = reliability(
            [s.found.confidence for s in sentences], [s.chrf for s in sentences], least
        )
        print(notes, flush=True)
        found: dict[str, Any] = {"domains": rows, "notes": notes.as_json()}
        found["by_length"] = groups(sentences, way, LENGTHS, lambda t: len(words(t)))
        found["by_rarest_word"] = groups(sentences, way, COUNTS, rarity(way))
        if way[1] == "vi":
            found["examples"] = examples(sentences)
        document["ways"]["-".join(way)] = found
    document["searches"] = compared_searches(translator)
    document["searched"] = searched_signatures()
    document["several_sentences"] = several_sentences(translator)
    if other is not None:
        document["run_ons"] = run_on_sentences(translator, other)
    if chosen.keep_speed:
        document["speed"] = read_json(place)["speed"]
    else:
        default = Translator.load_default()
        both = {"export": translator, "PyTorch": default}
        document["speed"] = speed(chosen.model, both)
    print(document["speed"], flush=True)
    torch.set_num_threads(THREADS)
    write_json(chosen.out, document | circumstances())


if __name__ == "__main__":
    main()
