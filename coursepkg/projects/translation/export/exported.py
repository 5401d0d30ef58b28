"""An exported model at work: the folder of `export.export_ctranslate2`, with token ids in and out.

    score(y) = log p(y | x) / |y|^length_penalty        |y| counts EOS

That is CTranslate2's score; ours divides by ((5 + |y|) / 6)^alpha (`coursepkg.decoding.beam`). At a penalty of 0 both
are the log-probability. Unknown tokens stay in the output: nothing is copied from the source in their place.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count, check_finite
from coursepkg.projects.translation.export.spec import ctranslate2
from coursepkg.text.vocabulary import EOS, PAD


@dataclass(frozen=True)
class Exported:
    """One translation by an exported model."""

    ids: tuple[int, ...]
    """The tokens that were chosen, without BOS and EOS."""
    score: float
    """log-probability / |y|^length_penalty, natural logarithm; |y| counts EOS."""
    finished: bool
    """True if it ended with EOS, False if the limit cut it off."""


class ExportedTranslator:
    """A folder that `export_ctranslate2` wrote, in the id space of the model.

    Args:
        folder: where it is.
        threads: CPU threads for one batch; one batch runs at a time.
        device: "cpu", "cuda" or "auto".
        compute_type: of CTranslate2; "default" is that of the stored weights, as far as the processor has it.

    Raises:
        ImportError: ctranslate2 is not installed.
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or CTranslate2 refuses an argument.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        threads: int = 1,
        device: str = "cpu",
        compute_type: str = "default",
    ) -> None:
        check_count("threads", threads)
        runtime, folder = ctranslate2(), Path(folder)
        config = _read(folder / "config.json")
        if not isinstance(config, dict) or not isinstance(config.get("max_len"), int):
            raise ValueError(f"{folder / 'config.json'} has no max_len; export the model again")
        self.max_len: int = config["max_len"]
        shared = folder / "shared_vocabulary.json"
        self._source, self._target = (
            _read(shared if shared.exists() else folder / f"{side}_vocabulary.json")
            for side in ("source", "target")
        )
        self._target_ids = {piece: i for i, piece in enumerate(self._target)}
        try:
            self._runtime = runtime.Translator(
                str(folder), device, compute_type=compute_type, inter_threads=1, intra_threads=threads
            )
        except (RuntimeError, ValueError) as reason:
            first = str(reason).splitlines()[0]
            raise ValueError(
                f"{folder} cannot be run by CTranslate2: {first}; export the model again"
            ) from reason

    def translate(
        self,
        src: Sequence[Sequence[int]],
        *,
        max_len: int,
        beam_size: int = 1,
        n_best: int = 1,
        length_penalty: float = 0.0,
        max_batch_size: int = 0,
    ) -> list[list[Exported]]:
        """Decode greedily, or with a beam.

        Args:
            src: ids of each source as the model takes them: tag, tokens, EOS, no padding; any lengths.
            max_len: most tokens to produce for each, EOS included.
            beam_size: 1 is greedy decoding.
            n_best: results for each source, at most beam_size.
            length_penalty: exponent on the length. At 0 a beam search of ours with `length_penalty=0.0` has the same
                scores; other values do not correspond, since `beam_search` divides by ((5 + |y|) / 6)^alpha.
            max_batch_size: sources to decode at once, of similar lengths; 0 takes all as one batch.

        Returns:
            for each source its results, best first, in the order of src.

        Raises:
            ValueError: a source is empty or too long, holds PAD or an unknown id, or an argument is out of range.
        """
        check_count("max_len", max_len, most=self.max_len)
        check_count("beam_size", beam_size)
        check_count("n_best", n_best, most=beam_size)
        check_finite("length_penalty", length_penalty)
        check_count("max_batch_size", max_batch_size, least=0)
        found = self._runtime.translate_batch(
            [self._pieces("src", row, ids, self._source) for row, ids in enumerate(src)],
            beam_size=beam_size,
            num_hypotheses=n_best,
            length_penalty=length_penalty,
            max_batch_size=max_batch_size,
            max_input_length=0,  # lengths are checked here; CTranslate2 would cut in silence
            max_decoding_length=max_len,
            min_decoding_length=0,
            return_end_token=True,
            return_scores=True,
        )
        return [
            [self._result(*pair) for pair in zip(one.hypotheses, one.scores, strict=True)] for one in found
        ]

    def score(self, src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]]) -> list[tuple[float, ...]]:
        """Log-probabilities of the tokens of given translations, such as references or another model's output.

        Args:
            src: ids of each source, as in `translate`.
            tgt: ids of its translation, without BOS and EOS.

        Returns:
            for each translation the natural logarithm of every token's probability; that of EOS comes last.

        Raises:
            ValueError: a row is too long or holds an unknown id, or there is not one translation a source.
        """
        if len(src) != len(tgt):
            raise ValueError(f"tgt must hold one translation a source ({len(src)}), got {len(tgt)}")
        rows = [self._pieces("src", row, ids, self._source) for row, ids in enumerate(src)]
        # BOS is a row's first input, EOS its last output: both sides have one place beside the tokens.
        targets = [self._pieces("tgt", row, [*ids, EOS], self._target)[:-1] for row, ids in enumerate(tgt)]
        found = self._runtime.score_batch(rows, targets, max_input_length=0)
        return [tuple(one.log_probs) for one in found]

    def _pieces(self, name: str, row: int, ids: Sequence[int], pieces: list[str]) -> list[str]:
        if not 1 <= len(ids) <= self.max_len:
            raise ValueError(f"{name}[{row}] must have 1..{self.max_len} tokens, got {len(ids)}")
        for i in ids:
            check_count(f"{name}[{row}]'s id", i, least=PAD + 1, most=len(pieces) - 1)
        return [pieces[i] for i in ids]

    def _result(self, pieces: list[str], score: float) -> Exported:
        ids = [self._target_ids[piece] for piece in pieces]
        finished = ids[-1:] == [EOS]
        return Exported(tuple(ids[:-1] if finished else ids), score, finished)


def _read(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; export the model again")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise ValueError(f"{path} is damaged: it is no JSON file; export the model again") from reason
