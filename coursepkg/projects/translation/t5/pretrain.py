"""Pretrain a small T5 on sentences alone: it is to write what was cut out of them.

    sentence   Hà Nội là thủ đô của Việt Nam.
    source     Hà Nội <extra_id_0> của Việt Nam.
    target     <extra_id_0> là thủ đô <extra_id_1>

OUT/start/      the model with random weights, which can be fine-tuned to compare
OUT/run/        logs and checkpoints of `fit`
OUT/model/      the model with the lowest loss on dev, for `t5-train --model`
OUT/result.json settings, sentences, losses

The spans are drawn anew in every epoch. They are spans of words, where the paper has
tokens: a syllable of Vietnamese is a word here, and mostly one token. Source: Raffel et
al. (arXiv 1910.10683), sections 3.1.4 and 3.3.4. Dropout is off, as in T5 1.1, and on
again when the model is fine-tuned. The weights are moved by Muon, which learns
this in fewer steps than AdamW.
"""

import copy
import dataclasses
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.app.jobs import chunks
from coursepkg.bench.machine import circumstances
from coursepkg.data.batching import LazyBatches
from coursepkg.files import write_json
from coursepkg.projects.translation.back_translation.files import (
    held_out_keys,
    mono_text,
)
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.t5.data import (
    Direction,
    Ids,
    T5Batch,
    directions_of,
    encode_text,
    make_t5_batch,
    natural,
)
from coursepkg.projects.translation.t5.model import (
    LETTERS,
    T5,
    save_t5,
    tiny_t5,
)
from coursepkg.projects.translation.t5.nom import load_nom
from coursepkg.projects.translation.t5.run import check_unused, load_start
from coursepkg.projects.translation.t5.text import corrupt_spans, draw_spans
from coursepkg.projects.translation.t5.train import T5Task, TextToText, t5_mean_loss
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.saved_model import restore_best
from coursepkg.training.schedules import inverse_sqrt
from coursepkg.training.task import eval_mode
from coursepkg.validation import (
    check_at_least,
    check_choice,
    check_count,
    check_finite,
    check_positive,
    flag_of,
)

N_SENTINELS = 100
"""As many as the published models have."""
WORDS = (2, 200)
"""Fewest and most words of a sentence; so many need fewer sentinels than there are."""
RARE = 20
"""A character that the sentences have less often is none to learn, unless it is one of
ASCII or Vietnamese."""
N_DEV, DEV_SHARE = 500, 0.1
"""Sentences that the loss is measured on, or this share where they are few."""
VALIDATE_EVERY = 500
"""Steps between two validations, each with its checkpoint."""
WINDOW = 50
"""Batches whose sentences are sorted by length: less padding."""
N_EXAMPLES = 8
"""Sentences of dev whose spans the trained model is asked for."""

_SENTINEL = re.compile(r"(<extra_id_\d+>)")


@dataclass(frozen=True)
class PreTraining:
    """How a small T5 is pretrained."""

    learning_rate: int | float = 4e-3
    """The highest rate, above 0, reached after the warm-up; then it falls by the
    inverse square root of the step."""
    warmup: int = 500
    """Steps up to the highest rate, at least 1."""
    batch_size: int = 64
    """Sentences of a step, at least 1."""
    weight_decay: int | float = 0.01
    """Decoupled decay of the weights, at least 0."""
    epochs: int = 10
    """Most passes over the sentences, at least 1."""
    precision: str = "32-true"
    """32-true or bf16-mixed."""
    seed: int = 0
    """Of weights, order and spans."""

    def __post_init__(self) -> None:
        for name in ("warmup", "batch_size", "epochs"):
            check_count(flag_of(name), getattr(self, name))
        check_count("--seed", self.seed, least=0, most=2**32 - 1)
        check_positive("--learning-rate", self.learning_rate)
        check_finite("--weight-decay", self.weight_decay)
        check_at_least("--weight-decay", self.weight_decay, 0)
        check_choice("--precision", self.precision, ("32-true", "bf16-mixed"))


@dataclass(frozen=True)
class PlainText:
    """Vietnamese sentences to pretrain on."""

    name: str
    """Where they come from."""
    train: tuple[str, ...]
    dev: tuple[str, ...]
    """For measuring the loss."""
    left_out: dict[str, int]
    """By reason, how many sentences are in neither."""
    notes: tuple[str, ...]


def plain_text(mono: str, held: Collection[str], *, limit: int = 0) -> PlainText:
    """Sentences as a reader writes them, cleaned and split.

    Args:
        mono: of `mono_text`: wikipedia, a corpus, or a file of one sentence a line.
        held: keys of the sentences that may not be learnt.
        limit: take only so many, the first ones; 0 takes all.

    Raises:
        FileNotFoundError: it is neither a corpus nor a file.
        ValueError: it has no Vietnamese, or too few sentences are left.
    """
    check_count("--limit", limit, least=0)
    lines, name, notes = mono_text(mono, "en", "vi")
    sentences, left_out = _cleaned(
        [natural(line, "vi") for line in lines[: limit or None]], held
    )
    random.Random(0).shuffle(sentences)
    n_dev = min(N_DEV, int(DEV_SHARE * len(sentences)))
    if not n_dev:
        raise ValueError(
            f"--mono {mono} has {len(sentences)} sentences to learn from, at least"
            f" {round(1 / DEV_SHARE)} are needed; give more"
        )
    train, dev = tuple(sentences[n_dev:]), tuple(sentences[:n_dev])
    return PlainText(name, train, dev, left_out, notes)


def _cleaned(
    lines: Sequence[str], held: Collection[str]
) -> tuple[list[str], dict[str, int]]:
    """The sentences to learn, and how many are left out by reason."""
    counts = Counter(sign for line in lines for sign in line)
    common = {sign for sign, n in counts.items() if n >= RARE or sign.isascii()}
    known = common.union(LETTERS)
    kept: dict[str, str] = {}
    left_out = dict.fromkeys(
        ("in dev or test of a corpus", "repeated", "length", "rare characters"), 0
    )
    for line in lines:
        key = sentence_key(line, "vi")
        if key in held:
            left_out["in dev or test of a corpus"] += 1
        elif key in kept:
            left_out["repeated"] += 1
        elif not WORDS[0] <= len(line.split()) <= WORDS[1]:
            left_out["length"] += 1
        elif not known.issuperset(line):
            left_out["rare characters"] += 1
        else:
            kept[key] = line
    return list(kept.values()), left_out


def corrupt_sentence(
    sentence: str, *, seed: int, epoch: int, number: int
) -> tuple[str, str]:
    """Source and target of one sentence in one epoch, the same whenever it is asked.

    Example:
        >>> place = {"seed": 0, "epoch": 0, "number": 0}
        >>> corrupt_sentence("Hà Nội là thủ đô của Việt Nam.", **place)
        ('Hà Nội là thủ <extra_id_0> của Việt Nam.', '<extra_id_0> đô <extra_id_1>')

    Args:
        sentence: of two words or more.
        number: its place among the sentences.
    """
    words = sentence.split()
    draw = random.Random(f"{seed} {epoch} {number}")
    return corrupt_spans(words, draw_spans(len(words), draw))


class SpanBatches:
    """Batches of sentences with spans cut out, drawn anew in every epoch.

    Order and spans depend on (seed, epoch) and (seed, epoch, number) alone. Sentences
    of like length stand side by side.

    Args:
        sentences: of two words or more.
        shuffle: False keeps their order, as validation wants it.

    Raises:
        ValueError: there is no sentence, or batch_size is below 1.
    """

    def __init__(
        self,
        t5: T5,
        sentences: Sequence[str],
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        check_count("batch_size", batch_size)
        if not sentences:
            raise ValueError("sentences must hold at least one, got none")
        self.t5, self.sentences, self.batch_size = t5, tuple(sentences), batch_size
        self.seed, self.shuffle = seed, shuffle

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sentences, the vocabulary and how they are batched."""
        vocabulary = sorted(self.t5.tokenizer.get_vocab().items())
        how = [self.batch_size, self.seed, self.shuffle]
        content = json.dumps([self.sentences, vocabulary, how])
        return hashlib.sha256(content.encode()).hexdigest()

    def epoch(self, number: int) -> LazyBatches[T5Batch]:
        """The batches of epoch `number`."""
        order = list(range(len(self.sentences)))
        if not self.shuffle:
            groups = list(chunks(order, self.batch_size))
        else:
            draw = random.Random(f"{self.seed} {number}")
            draw.shuffle(order)
            groups = []
            for window in chunks(order, WINDOW * self.batch_size):
                alike = sorted(window, key=self._n_words.__getitem__)
                groups += chunks(alike, self.batch_size)
            draw.shuffle(groups)
        return LazyBatches(groups, partial(self._make, number))

    @cached_property
    def _n_words(self) -> list[int]:
        return [len(sentence.split()) for sentence in self.sentences]

    def _make(self, epoch: int, group: Sequence[int]) -> T5Batch:
        examples = [self._example(epoch, number) for number in group]
        return make_t5_batch(examples, pad_id=self.t5.pad_id, start_id=self.t5.start_id)

    def _example(self, epoch: int, number: int) -> Ids:
        source, target = corrupt_sentence(
            self.sentences[number], seed=self.seed, epoch=epoch, number=number
        )
        return encode_text(self.t5, source), encode_text(self.t5, target)


@dataclass(frozen=True)
class PreTrained:
    """What pretraining did; the losses are those of dev, in nats a target token."""

    history: History
    before: float
    after: float


def pretrain(
    t5: T5,
    text: PlainText,
    settings: PreTraining,
    *,
    out: Path,
    resume: bool = False,
    max_seconds: int | float | None = None,
    progress: bool = False,
) -> PreTrained:
    """Train in place; the model ends with the weights of the lowest loss on dev.

    Args:
        t5: the model to begin with, with sentinels; the same one when a run is resumed.
        max_seconds: wall-clock limit of this call; None has none.

    Raises:
        ValueError: `out` holds another run.
    """
    batches = SpanBatches(t5, text.train, settings.batch_size, seed=settings.seed)
    judged = list(
        SpanBatches(t5, text.dev, settings.batch_size, shuffle=False).epoch(0)
    )
    model = TextToText(_without_dropout(t5.network))
    before = t5_mean_loss(model, judged)
    config = TrainConfig(
        max_epochs=settings.epochs,
        max_seconds=max_seconds,
        optimizer="muon",
        learning_rate=inverse_sqrt(settings.learning_rate, settings.warmup),
        weight_decay=settings.weight_decay,
        precision="bf16-mixed" if settings.precision == "bf16-mixed" else "32-true",
        validate_every=VALIDATE_EVERY,
        checkpoint_every=VALIDATE_EVERY,
        seed=settings.seed,
        progress=progress,
    )
    history = fit(
        model,
        T5Task(),
        batches,
        config=config,
        out=out,
        validate=lambda network: {"loss": t5_mean_loss(network, judged)},
        resume=resume,
    )
    score = partial(t5_mean_loss, batches=judged)
    _, after = restore_best(model, out, history, score, "min")
    t5.network.load_state_dict(model.network.state_dict())
    return PreTrained(history, before, after)


def _without_dropout(network: Any) -> nn.Module:
    """A copy of a T5 that drops nothing while it is trained."""
    config = copy.deepcopy(network.config)
    config.dropout_rate = 0.0
    twin: nn.Module = type(network)(config)
    twin.load_state_dict(network.state_dict())
    return twin


@torch.inference_mode()
def fill_spans(t5: T5, sources: Sequence[str], *, max_tokens: int = 60) -> list[str]:
    """What a T5 writes for corrupted sentences, with its sentinels; by greedy search.

    Args:
        sources: as `corrupt_spans` gives them.
        max_tokens: most tokens of an output.
    """
    eos = int(t5.tokenizer.eos_token_id)
    examples = [(encode_text(t5, source), [eos]) for source in sources]
    batch = make_t5_batch(examples, pad_id=t5.pad_id, start_id=t5.start_id)
    batch = batch.to(t5.network.device)
    with eval_mode(t5.network):
        written = t5.network.generate(
            input_ids=batch.src,
            attention_mask=batch.src_mask,
            decoder_start_token_id=t5.start_id,
            max_new_tokens=max_tokens,
            do_sample=False,
        )
    # Up to the first EOS; all tokens where the limit cut the output off.
    texts = [
        t5.tokenizer.decode(ids[: ids.index(eos)] if eos in ids else ids)
        for ids in (row[1:] for row in written.tolist())
    ]
    return [" ".join(_SENTINEL.sub(r" \1 ", text).split()) for text in texts]


def run_pretraining(
    settings: PreTraining,
    *,
    mono: str,
    out: Path,
    sizes: dict[str, int],
    also: str = "",
    source: str = "en",
    target: str = "vi",
    vocab_size: int = 8000,
    limit: int = 0,
    max_seconds: int | float | None = None,
    resume: bool = False,
) -> dict[str, Any]:
    """Read sentences, build a model, pretrain, save.

    Args:
        mono: see `plain_text`.
        sizes: fields of `transformers.T5Config`.
        also: a corpus of `source` and `target`, whose training part the vocabulary is
            learnt from, too; empty for none.
        limit: sentences to take, the first ones; 0 takes all.

    Returns:
        what `out/result.json` holds.

    Raises:
        ValueError: text or settings cannot be trained with, or `out` holds another run.
        OSError: a file cannot be read, or `out` not be written.
    """
    if max_seconds is not None:
        check_positive("--max-seconds", max_seconds)
    check_unused(out, resume)
    directions = _directions(source, target, also) if also else []
    text = plain_text(mono, held_out(directions), limit=limit)
    corpora = [direction.parts.corpus for direction in directions]
    notes = [*text.notes, *(note for one in directions for note in one.parts.notes)]
    for note in notes:
        print(f"note: {note}")
    reasons = ", ".join(f"{n} {reason}" for reason, n in text.left_out.items())
    print(
        f"{text.name}: {len(text.train)} sentences to learn, {len(text.dev)} to measure"
        f" the loss; left out: {reasons}"
    )
    t5 = _start(out / "start", text, directions, vocab_size, sizes, settings.seed)
    done = pretrain(
        t5,
        text,
        settings,
        out=out / "run",
        resume=resume,
        max_seconds=max_seconds,
        progress=True,
    )
    save_t5(t5, out / "model", pretrained_on=text.name, vocabulary_of=corpora)
    print(f"loss on dev: {done.before:.4f} before, {done.after:.4f} after")
    result = {
        "mono": text.name,
        "also": corpora,
        "parameters": sum(p.numel() for p in t5.network.parameters()),
        "vocabulary": len(t5.tokenizer),
        "sizes": sizes,
        "settings": dataclasses.asdict(settings),
        "sentences": {"train": len(text.train), "dev": len(text.dev)},
        "left_out": text.left_out,
        "first_step": done.history.first_step,
        "steps": done.history.step,
        "stopped": done.history.stopped,
        "seconds": round(done.history.seconds, 1),
        "dev_loss": {"before": done.before, "after": done.after},
        "validations": [dict(row) for row in done.history.validations],
        "examples": _examples(t5, text.dev[:N_EXAMPLES]),
        "notes": notes,
        **circumstances(),
    }
    write_json(out / "result.json", result)
    return result


def _directions(source: str, target: str, also: str) -> list[Direction]:
    try:
        return directions_of(source, target, corpus=also)
    except ValueError as reason:
        raise ValueError(str(reason).replace("--data", "--also")) from reason


def held_out(directions: Sequence[Direction]) -> set[str]:
    """Keys of the Vietnamese of every dev and test part, Nom's and those given too."""
    own = [direction.parts for direction in directions]
    keys = held_out_keys("en", "vi")
    return keys.union(*map(_scored, [load_nom("nom", "vi"), *own]))


def _scored(parts: Parts) -> set[str]:
    """Keys of the Vietnamese side of dev and test, if there is one."""
    sides = [side for side in ("source", "target") if getattr(parts, side) == "vi"]
    pairs = (*parts.dev, *parts.test)
    return {sentence_key(getattr(pair, side), "vi") for pair in pairs for side in sides}


def _start(
    folder: Path,
    text: PlainText,
    directions: Sequence[Direction],
    vocab_size: int,
    sizes: dict[str, int],
    seed: int,
) -> T5:
    """The model with random weights; it is stored, so that a resumed run finds it."""
    if not folder.is_dir():
        pairs = [pair for d in directions for pair in d.natural(d.parts.train)]
        texts = [*text.train, *(side for pair in pairs for side in pair[:2])]
        built = tiny_t5(
            dict.fromkeys(texts),
            vocab_size=vocab_size,
            n_sentinels=N_SENTINELS,
            seed=seed,
            **sizes,
        )
        save_t5(built, folder, vocab_size=vocab_size)
    t5 = load_start(folder, vocab_size)
    for name, size in sizes.items():
        if (there := getattr(t5.network.config, name)) != size:
            raise ValueError(
                f"{folder} holds a model with {name} {there}, and {size} is asked for;"
                " give the sizes of that run or choose another --out"
            )
    return t5


def _examples(t5: T5, sentences: Sequence[str]) -> list[dict[str, str]]:
    """Sentences of dev as the loss is measured on them, and what the model writes."""
    cut = [
        corrupt_sentence(sentence, seed=0, epoch=0, number=number)
        for number, sentence in enumerate(sentences)
    ]
    written = fill_spans(t5, [source for source, _ in cut])
    return [
        {"source": source, "target": target, "written": text}
        for (source, target), text in zip(cut, written, strict=True)
    ]
