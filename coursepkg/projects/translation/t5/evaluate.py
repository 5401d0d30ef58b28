"""What a T5 writes for a test part, scored; and the baseline that a T5 for Nom must beat."""

from collections.abc import Sequence
from typing import Any

from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import score
from coursepkg.metrics.signature import Score
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.evaluate import evaluate
from coursepkg.projects.translation.t5.corpora import Direction, natural
from coursepkg.projects.translation.t5.model import T5
from coursepkg.projects.translation.t5.nom import ReadingTable, plain, table_pairs
from coursepkg.projects.translation.t5.task import T5Output, write_texts


def score_direction(
    t5: T5, direction: Direction, *, beam_size: int, max_tokens: int, batch_size: int = 32
) -> tuple[dict[str, Score], list[T5Output]]:
    """Scores on the test part by name, and the outputs.

    Nom is scored by its characters; for zh, vi and en the scores are those of every other translation model here.
    """
    parts, test = direction.parts, direction.parts.test
    outputs = write_texts(
        t5,
        [p.source for p in direction.natural(test)],
        direction.prefix,
        beam_size=beam_size,
        max_tokens=max_tokens,
        batch_size=batch_size,
    )
    said = [one.text for one in outputs]
    protocol = f"{parts.corpus} test {direction.name}, beam {beam_size}"
    if "nom" in (parts.source, parts.target):
        return nom_scores(said, test, parts.target, protocol), outputs
    spaced = [to_model(text, parts.target) for text in said]
    return evaluate(spaced, test, parts.source, parts.target, protocol=protocol).scores, outputs


def nom_scores(
    said: Sequence[str], pairs: Sequence[SentencePair], target: str, protocol: str
) -> dict[str, Score]:
    """Character error rate as written and, of quoc ngu, without case and punctuation; BLEU and chrF beside it."""
    true = [natural(p.target, target) for p in pairs]
    scores = {"CER": score(CER(), said, true, protocol=protocol)}
    if target == "vi":
        folded = [plain(text) for text in said], [plain(text) for text in true]
        scores["CER, plain"] = score(CER(), *folded, protocol=f"{protocol}, plain")
    scores["BLEU"] = score(BLEU(tokenize="char" if target == "nom" else "13a"), said, true, protocol=protocol)
    return scores | {"chrF": score(CHRF(), said, true, protocol=protocol)}


def table_scores(direction: Direction) -> dict[str, Score]:
    """What looking up each character's or syllable's most frequent partner scores: the baseline of Nom."""
    parts = direction.parts
    table = ReadingTable(table_pairs(parts.train, parts.source))
    said = [table.read(p.source) if parts.source == "nom" else table.write(p.source) for p in parts.test]
    return nom_scores(said, parts.test, parts.target, f"{parts.corpus} test {direction.name}, look-up")


def scores_as_json(scores: dict[str, Score]) -> dict[str, Any]:
    """Scores by name, each with its signature, as JSON can hold them."""
    return {
        name: {"value": one.value, "signature": f"{one.name}|{one.signature}"} for name, one in scores.items()
    }
