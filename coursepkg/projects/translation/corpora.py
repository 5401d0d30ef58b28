"""The corpora by name, split so that no sentence is on two sides."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from coursepkg.data.registry import data_folder
from coursepkg.data.split import grouped_split
from coursepkg.projects.translation.corpus import (
    SentencePair,
    not_composed,
    pair_keys,
    read_parallel,
    read_published,
    sentence_key,
    without_duplicates,
)
from coursepkg.projects.translation.phrasebook.interlinear import (
    LANGUAGES as PHRASEBOOK_LANGUAGES,
)
from coursepkg.projects.translation.readers.open_corpus import (
    DOMAINS,
    MACHINE_MADE,
    SCORED_DOMAINS,
    domain_of,
    read_embedded,
    read_parts,
)
from coursepkg.projects.translation.readers.own_data import own_name, read_own
from coursepkg.projects.translation.synthetic import Phrasebook, Triple
from coursepkg.text.languages import (
    LANGUAGES,
    PAIRS,
    language_doubt,
    language_of,
    pair_of,
)

SHARES = {"train": 0.94, "dev": 0.03, "test": 0.03}
"""Of a pair's lines; of `zh-vi` some 900 for choosing and 900 for the last word."""
SPLIT_SEED = 0
LEAST_OWN_PAIRS = 20
"""Training pairs of the user's own, duplicates left out."""
CUT_PAIRS, CUT_SHARE = 50, 0.1
"""Of them go so many pairs to dev and to test, or this share where they are few."""
CUT_SEEDS, FEW_CUT_SEEDS = range(1, 21), range(1, 5)
"""Of the splits among which a cut is the best, of few pairs and of many. `SPLIT_SEED`
is not among them: of the training part of a corpus it would cut off nothing."""
FEW_PAIRS = 2000
"""Below so many a split by chance may miss its shares by far."""


@dataclass(frozen=True)
class Parts:
    """A corpus in one direction, split."""

    corpus: str
    """Name of the corpus that was read; `phrasebook` where the one asked for is
    missing."""
    source: str
    """Language of the sources."""
    target: str
    """Language of the targets."""
    train: tuple[SentencePair, ...]
    dev: tuple[SentencePair, ...]
    """For choosing among models."""
    test: tuple[SentencePair, ...]
    """For the last word alone."""
    notes: tuple[str, ...]
    """What was left out or stands in for something else, one line each."""

    def swapped(self) -> "Parts":
        """The other direction of the same split."""
        parts = (self.train, self.dev, self.test)
        train, dev, test = (tuple(p.swapped() for p in part) for part in parts)
        return Parts(
            self.corpus, self.target, self.source, train, dev, test, self.notes
        )


def load_parts(
    corpus: str, source: str, target: str, *, folder: Path | None = None
) -> Parts:
    """Read a corpus and split it; the phrasebook stands in for missing files.

    Args:
        corpus: "auto" for the one of the language pair, one of `CORPORA`, or the path
            of the user's own data, see `own_data`.
        folder: of the data sets; None is `data_folder()`.

    Raises:
        ValueError: a language or the corpus is unknown, or the corpus has other
            languages.
    """
    name = corpus_named(corpus, source, target)
    if name not in CORPORA:
        return _own(Path(name), source, target)
    parts = CORPORA[name](source, target, data_folder() if folder is None else folder)
    if corpus == "auto" and name == "phrasebook":
        note = (
            f"no corpus here has {source} and {target}, so the generated phrasebook"
            " serves"
        )
        return replace(parts, notes=(note, *parts.notes))
    return parts


def corpus_named(corpus: str, source: str, target: str) -> str:
    """The corpus that a name stands for; "auto" is the one of the language pair.

    The path of the user's own data stands for itself.

    Raises:
        ValueError: a language or the corpus is unknown, or the corpus has other
            languages.
    """
    for name, language in (("--from", source), ("--to", target)):
        if language not in LANGUAGES:
            raise ValueError(
                f"{name} must be one of {', '.join(LANGUAGES)}, got {language}"
            )
    if source == target:
        raise ValueError(f"--from and --to must differ, got {source} twice")
    pair = pair_of(source, target)
    corpus = (pair or "phrasebook") if corpus == "auto" else corpus
    if corpus not in CORPORA and not (corpus and Path(corpus).exists()):
        raise ValueError(
            f"--data must be auto or one of {', '.join(CORPORA)}, got {corpus}; nor is"
            " there a folder or file of this name"
        )
    if corpus in PAIRS and corpus != pair:
        raise ValueError(
            f"--data {corpus} has no {source} to {target}; use --data phrasebook, or"
            " other languages"
        )
    return corpus


def random_split(parts: Parts) -> Parts:
    """The corpus cut at random, line by line, as the tutorials do it.

    Duplicates stay, and sentences leak into dev.

    The lines of a pair with one file a language are read again as they stand there;
    those of other corpora are taken together from their parts.
    """
    if CORPORA.get(parts.corpus) is _raw_pair:
        folder = data_folder() / parts.corpus.replace("-", "_")
        files = (folder / f"train.{one}" for one in (parts.source, parts.target))
        pairs = read_parallel(*files)
        notes = _composition_notes(pairs)
    else:
        pairs = [*parts.train, *parts.dev, *parts.test]
        notes = [*parts.notes]
    random.Random(SPLIT_SEED).shuffle(pairs)
    shares = (SHARES["train"], 1 - SHARES["test"])
    first, second = (round(share * len(pairs)) for share in shares)
    note = "raw lines split at random: sentences of dev are in train, too"
    return replace(
        parts,
        corpus=f"{parts.corpus}-random",
        train=tuple(pairs[:first]),
        dev=tuple(pairs[first:second]),
        test=tuple(pairs[second:]),
        notes=(*notes, note),
    )


def _raw_pair(source: str, target: str, folder: Path) -> Parts:
    """A pair of languages whose folder holds training lines alone; they are split."""
    name = pair_of(source, target)
    first, second = name.split("-")
    own = folder / f"{first}_{second}"
    files = [own / f"train.{language}" for language in (first, second)]
    if not all(file.is_file() for file in files):
        return _stand_in(name, files[0], source, target)
    pairs = read_parallel(*files)
    notes = _composition_notes(pairs)
    kept, left_out = without_duplicates(pairs, lambda p: pair_keys(p, first, second))
    notes.append(f"{len(left_out)} of {len(pairs)} pairs left out as duplicates")
    keys = [pair_keys(p, first, second) for p in kept]
    split = grouped_split(keys, SHARES, seed=SPLIT_SEED)
    train, dev, test = (tuple(kept[i] for i in split[part]) for part in SHARES)
    found = Parts(name, first, second, train, dev, test, tuple(notes))
    return _in_direction(found, source)


def _en_vi(source: str, target: str, folder: Path) -> Parts:
    empty: list[str] = []

    def read(name: str) -> list[SentencePair]:
        pairs, left_out = read_published(
            *(folder / "en_vi" / f"{name}.{one}" for one in ("en", "vi"))
        )
        empty.extend(left_out)
        return pairs

    if not (folder / "en_vi" / "tst2012.en").is_file():
        return _stand_in("en-vi", folder / "en_vi" / "tst2012.en", source, target)
    if (folder / "en_vi" / "train.en").is_file() and (
        folder / "en_vi" / "tst2013.en"
    ).is_file():
        train, dev, test = (read(name) for name in ("train", "tst2012", "tst2013"))
        notes = ["the full IWSLT'15 set: dev is tst2012, test is tst2013"]
    else:
        talks = [
            pair for name in ("dev2010", "tst2010", "tst2011") for pair in read(name)
        ]
        split = grouped_split(
            [pair_keys(p, "en", "vi") for p in talks], {"train": 0.94, "dev": 0.06}
        )
        train, dev = ([talks[i] for i in split[name]] for name in ("train", "dev"))
        test = read("tst2012")
        book = [_pair(t, "en", "vi") for t in Phrasebook().triples]
        notes = [
            f"train is dev2010, tst2010, tst2011 ({len(train)} pairs) and the"
            f" phrasebook ({len(book)})"
        ]
        train += book
    notes += empty
    dev, repeated = _apart(dev, _keys(test))
    notes.append(f"{len(repeated)} dev pairs left out, whose sentences are in test")
    clean, repeated = _apart(train, _keys([*dev, *test]))
    notes.append(
        f"{len(repeated)} training pairs left out, whose sentences are in dev or test"
    )
    clean, left_out = without_duplicates(clean, lambda p: pair_keys(p, "en", "vi"))
    notes.append(f"{len(left_out)} training pairs left out as duplicates")
    notes += _composition_notes([*clean, *dev, *test])
    return _in_direction(
        Parts("en-vi", "en", "vi", tuple(clean), tuple(dev), tuple(test), tuple(notes)),
        source,
    )


def _open(name: str, source: str, target: str, folder: Path) -> Parts:
    """The open corpus in English, Chinese or Vietnamese, scored on one domain or all.

    Its training part is the same whatever is scored.
    """
    if not {source, target} <= set(PHRASEBOOK_LANGUAGES):
        raise ValueError(
            f"--data {name} has no {source} to {target}; it has en, zh, vi"
        )
    first = folder / "open" / f"{next(iter(DOMAINS))}.tsv"
    if not first.is_file():
        return _open_stand_in(name, first, source, target)
    book, known = _book_keys(source, target)
    keys, n_known = dict(book), 0
    parts: dict[str, list[SentencePair]] = {}
    for part, rows in read_parts(folder / "open").items():
        parts[part] = []
        for row in rows:
            pair, own = row.pair(source, target), row.sentence_keys
            if pair is None:
                continue
            if part != "train" and not known.isdisjoint(own.values()):
                n_known += 1
                continue
            parts[part].append(pair)
            keys[pair] = own[source], own[target]
    train, left_out = without_duplicates([*parts["train"], *book], keys.__getitem__)
    machine = sum(DOMAINS.get(pair.file) == MACHINE_MADE for pair in train)
    notes = (
        f"train is open text and {len(book)} pairs of the phrasebook",
        f"{len(left_out)} training pairs left out as duplicates",
        f"{n_known} dev and test pairs left out, which the phrasebook has",
        f"the Vietnamese of {machine} training pairs was made by a machine",
    )
    domain = SCORED_DOMAINS[name]
    dev, test = (
        tuple(pair for pair in parts[part] if domain in ("", domain_of(pair)))
        for part in ("dev", "test")
    )
    return Parts(name, source, target, tuple(train), dev, test, notes)


def _book_keys(
    source: str, target: str
) -> tuple[dict[SentencePair, tuple[str, str]], set[str]]:
    """The phrasebook's training pairs with their keys; its keys in every language."""
    triples = Phrasebook().split("random")[0]
    pairs = [_pair(triple, source, target) for triple in triples]
    keys = {pair: pair_keys(pair, source, target) for pair in pairs}
    known = {key for own in keys.values() for key in own}
    others = [one for one in PHRASEBOOK_LANGUAGES if one not in (source, target)]
    known |= {sentence_key(t.line(one), one) for t in triples for one in others}
    return keys, known


def _open_stand_in(name: str, missing: Path, source: str, target: str) -> Parts:
    """What ships with the package in place of the open corpus."""
    is_embedded = SCORED_DOMAINS[name] in ("", "everyday")
    if not is_embedded or {source, target} != {"en", "vi"}:
        return _stand_in(name, missing, source, target)
    parts = _tatoeba(source, target, missing.parent)
    note = (
        f"{missing} is missing, so its everyday sentences, which ship with the package,"
        f" stand in for {name}; coursepkg data list says how to get it"
    )
    return replace(parts, notes=(note, *parts.notes))


def _tatoeba(source: str, target: str, folder: Path) -> Parts:
    """The everyday sentences of the open corpus that ship with the package."""
    if {source, target} != {"en", "vi"}:
        raise ValueError(
            f"--data tatoeba has no {source} to {target}; it has en and vi"
        )
    embedded = read_embedded()
    train, left_out = without_duplicates(
        embedded["train"], lambda p: pair_keys(p, "en", "vi")
    )
    notes = (f"{len(left_out)} training pairs left out as duplicates",)
    dev, test = (tuple(embedded[part]) for part in ("dev", "test"))
    found = Parts("tatoeba", "en", "vi", tuple(train), dev, test, notes)
    return _in_direction(found, source)


def _apart(
    pairs: Sequence[SentencePair],
    held: set[str],
    languages: tuple[str, str] = ("en", "vi"),
) -> tuple[list[SentencePair], list[SentencePair]]:
    """The pairs without a sentence whose key is held, and the rest."""
    found: tuple[list[SentencePair], list[SentencePair]] = ([], [])
    for pair in pairs:
        found[not held.isdisjoint(pair_keys(pair, *languages))].append(pair)
    return found


def _keys(
    pairs: Sequence[SentencePair], languages: tuple[str, str] = ("en", "vi")
) -> set[str]:
    """Keys of all sentences."""
    return {key for pair in pairs for key in pair_keys(pair, *languages)}


def scored_keys(parts: Parts) -> set[str]:
    """Keys of the sentences of dev and test, which nothing may be trained on."""
    return _keys([*parts.dev, *parts.test], (parts.source, parts.target))


def apart(parts: Parts, own: Parts) -> tuple[list[SentencePair], list[SentencePair]]:
    """Training pairs without a sentence of another corpus's dev and test; the rest."""
    return _apart(parts.train, scored_keys(own), (parts.source, parts.target))


def _own(path: Path, source: str, target: str) -> Parts:
    """The user's own text; a part that has no file is cut off the training pairs."""
    languages = source, target
    parts, notes = read_own(path, *languages)
    given = [pair for part in parts.values() for pair in part]
    notes += _composition_notes(given)
    notes += _language_notes(given, languages)
    notes += _hold_apart(parts, languages)
    if len(parts["train"]) < LEAST_OWN_PAIRS:
        raise ValueError(
            f"--data {path} must have at least {LEAST_OWN_PAIRS} different training"
            f" pairs, got {len(parts['train'])}; give more"
        )
    missing = [name for name in ("dev", "test") if name not in parts]
    if missing:
        parts |= _cut_off(path, parts["train"], missing, languages)
        cut = " and ".join(f"{len(parts[name])} pairs for {name}" for name in missing)
        notes.append(f"{cut} are cut off the training pairs")
    if not parts["dev"]:
        raise ValueError(
            f"--data {path}: every pair of dev has a sentence that is in test; give"
            " other sentences"
        )
    train, dev, test = (tuple(parts[name]) for name in ("train", "dev", "test"))
    return Parts(own_name(path), source, target, train, dev, test, tuple(notes))


def _hold_apart(
    parts: dict[str, list[SentencePair]], languages: tuple[str, str]
) -> list[str]:
    """Leave out of `train` and `dev` what is in a part behind, and duplicates."""
    notes = []
    if "dev" in parts and "test" in parts:
        held = _keys(parts["test"], languages)
        parts["dev"], repeated = _apart(parts["dev"], held, languages)
        notes.append(f"{len(repeated)} dev pairs left out, whose sentences are in test")
    given = [pair for name in ("dev", "test") for pair in parts.get(name, ())]
    train, repeated = _apart(parts["train"], _keys(given, languages), languages)
    if given:
        notes.append(
            f"{len(repeated)} training pairs left out, whose sentences are in dev or"
            " test"
        )
    train, left_out = without_duplicates(train, lambda p: pair_keys(p, *languages))
    parts["train"] = train
    return [*notes, f"{len(left_out)} training pairs left out as duplicates"]


def _cut_off(
    path: Path,
    train: Sequence[SentencePair],
    missing: Sequence[str],
    languages: tuple[str, str],
) -> dict[str, list[SentencePair]]:
    """Training pairs and the parts that are cut off them, none less than half full."""
    share = max(SHARES["dev"], min(CUT_SHARE, CUT_PAIRS / len(train)))
    shares = {"train": 1 - share * len(missing)} | dict.fromkeys(missing, share)
    keys = [pair_keys(pair, *languages) for pair in train]

    def distance(split: dict[str, list[int]]) -> float:
        return sum(abs(len(split[name]) - share * len(train)) for name in missing)

    def is_full(split: dict[str, list[int]]) -> bool:
        least = share * len(train) / 2
        return all(len(split[name]) >= least for name in missing)

    seeds = CUT_SEEDS if len(train) < FEW_PAIRS else FEW_CUT_SEEDS
    splits = (grouped_split(keys, shares, seed=seed) for seed in seeds)
    best = min(filter(is_full, splits), key=distance, default={})
    if best:
        return {name: [train[i] for i in own] for name, own in best.items()}
    raise ValueError(
        f"--data {path}: its pairs share too many sentences to cut off"
        f" {' and '.join(missing)}; give such files beside the training pairs"
    )


def _phrasebook(source: str, target: str, folder: Path, kind: str = "random") -> Parts:
    train, dev, test = (
        tuple(_pair(triple, source, target) for triple in part)
        for part in Phrasebook().split(kind)
    )
    name = "phrasebook" if kind == "random" else f"phrasebook-{kind}"
    return Parts(name, source, target, train, dev, test, ())


def _compositional(source: str, target: str, folder: Path) -> Parts:
    return _phrasebook(source, target, folder, "compositional")


CORPORA: dict[str, Callable[[str, str, Path], Parts]] = {
    "phrasebook": _phrasebook,
    "phrasebook-compositional": _compositional,
    **dict.fromkeys(PAIRS, _raw_pair),
    "en-vi": _en_vi,
    **{name: partial(_open, name) for name in SCORED_DOMAINS},
    "tatoeba": _tatoeba,
}
"""By the name that `--data` takes."""


def _stand_in(wanted: str, missing: Path, source: str, target: str) -> Parts:
    if not {source, target} <= set(PHRASEBOOK_LANGUAGES):
        raise ValueError(f"--data {wanted}: {missing} is missing")
    parts = _phrasebook(source, target, missing.parent)
    note = (
        f"{missing} is missing, so the generated phrasebook stands in for {wanted}; "
        "coursepkg data list says how to get it"
    )
    return replace(parts, notes=(note,))


def _pair(triple: Triple, source: str, target: str) -> SentencePair:
    return SentencePair(triple.line(source), triple.line(target), "phrasebook")


def _in_direction(parts: Parts, source: str) -> Parts:
    return parts if parts.source == source else parts.swapped()


def _composition_notes(pairs: Sequence[SentencePair]) -> list[str]:
    notes = []
    for side in ("source", "target"):
        found = not_composed(getattr(p, side) for p in pairs)
        if found:
            first = pairs[found[0] - 1]
            notes.append(
                f"{len(found)} {side} lines, the first in line {first.line} of"
                f" {first.file}, are not in Unicode form NFC; they are composed when"
                " read"
            )
    return notes


def _language_notes(
    pairs: Sequence[SentencePair], languages: tuple[str, str]
) -> list[str]:
    notes = []
    for side, language in zip(("source", "target"), languages, strict=True):
        found = [p for p in pairs if language_doubt(getattr(p, side), language)]
        if found:
            name, first = language_of(language).name, found[0]
            notes.append(
                f"{len(found)} of {len(pairs)} {name} sides do not look like {name},"
                f" the first in line {first.line} of {first.file}"
            )
    return notes
