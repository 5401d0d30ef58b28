"""The commands of the page on sentences of one's own, from an installed wheel, on 500 pairs."""

import json
import re
from pathlib import Path

import pytest

from coursepkg.projects.translation.readers.open_corpus import read_embedded
from coursepkg.projects.translation.synthetic import Phrasebook
from tests.projects.pages import BOOK, run_page
from tests.projects.translation.tiny import write_lines

N_PAIRS, N_HARD = 500, 150


@pytest.fixture(scope="module")
def told(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command said, by its line; `python` is the program."""
    folder = tmp_path_factory.mktemp("page")
    # Sentences that the model that ships was not trained on: easy ones, and some that it translates badly.
    triples = Phrasebook().split("random")[2][: N_PAIRS - N_HARD]
    pairs = [(one.text("en"), one.text("vi")) for one in triples]
    pairs += [(pair.source, pair.target) for pair in read_embedded()["test"][:N_HARD]]
    for language, texts in zip(("en", "vi"), zip(*pairs, strict=True), strict=True):
        write_lines(folder / "mine" / f"train.{language}", list(texts))
    found = run_page("your_own_sentences.md", folder, installed, COURSEPKG_DATA=str(folder / "none"))
    terms = (folder / "terms.tsv").read_text("utf-8")
    cards = [path.read_text("utf-8") for path in (folder / "runs").glob("*/*.json")]
    attributed = sorted(path.parent.name for path in folder.glob("runs/*/ATTRIBUTION.txt"))
    return found | {"terms": terms, "cards": "\n".join(cards), "attributed": " ".join(attributed)}


def of(told: dict[str, str], *parts: str) -> list[str]:
    return [said for line, said in told.items() if all(part in line for part in parts)]


def bleu(said: str) -> float:
    (value,) = re.findall(r"^BLEU: .* = ([\d.]+) \[", said, re.M)
    return float(value)


def test_every_verb_of_the_page_runs(told: dict[str, str]) -> None:
    verbs = {line.split()[2] for line in told if line.startswith("coursepkg")}
    assert verbs == {"audit", "describe", "train", "evaluate", "dictionary", "predict", "export", "calibrate"}
    (audit,) = of(told, " audit ")
    assert "500 pairs" in audit
    assert "leaks: none" in audit


def test_what_begins_with_a_model_is_better_than_what_begins_with_nothing(told: dict[str, str]) -> None:
    (nothing,), (begun, kept) = of(told, " train ", "runs/nothing"), of(told, " train ", "--start default")
    assert min(bleu(begun), bleu(kept)) > bleu(nothing) + 20
    assert "pairs of phrasebook are taken, as many as of folder mine" in kept
    assert "phrasebook, zh to vi" in kept
    (against,) = of(told, " evaluate ", "--against")
    assert "against runs/kept" in against


def test_what_comes_out_is_used(told: dict[str, str]) -> None:
    assert of(told, " predict ") == ["Khách sạn ở đâu?\n"]
    assert "confidence.json" in of(told, " calibrate ")[0]
    assert told["python"].count(" -> ") == 3
    assert not re.search(r"^[^\t]*[.,?!]\t", told["terms"], re.M)
    assert len(told["terms"].splitlines()) > 20
    assert "folder mine" in told["cards"]
    assert "/mine" not in told["cards"]
    assert told["attributed"] == "kept mine mine-int8"


NAMES = {
    "start": "from the shipped model",
    "mixed": "the same, old pairs mixed in",
    "small": "from nothing, preset `small`",
}
DONE = {"patience": "to its end", "max_epochs": "to its end", "max_seconds": "cut off after 25 minutes"}


def test_the_table_of_the_page_holds_the_stored_numbers() -> None:
    stored = json.loads((BOOK / "_data" / "translation" / "own_sentences.json").read_text("utf-8"))
    told = (BOOK / "your_own_sentences.md").read_text("utf-8").split("own_sentences.json: ")[1]
    rows = [line for line in told.splitlines() if line.startswith("| ")][2:]
    expected = [
        f"| {NAMES[row['way']] if row['n'] else 'nothing: the shipped model'} | {row['n']:,} |"
        f" {row['own']['BLEU']:.1f} | {row['other']['BLEU']:.1f} | {DONE.get(row.get('stopped'), '')} |"
        for row in sorted(stored["rows"], key=lambda row: (row["n"], list(NAMES).index(row["way"])))
    ]
    assert [" ".join(row.split()) for row in rows] == [" ".join(row.split()) for row in expected]
