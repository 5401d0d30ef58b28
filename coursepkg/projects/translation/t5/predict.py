"""A T5 at work: texts or a file in, translations out.

>>> translator = T5Translator.load("runs/nom/model")
>>> translator.translate(["碎讀冊"], source="nom", target="vi")[0].text
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from coursepkg.app.model_folder import default_device, weights_sha256
from coursepkg.projects.translation.t5.data import encode_text, natural
from coursepkg.projects.translation.t5.model import T5, load_t5
from coursepkg.projects.translation.t5.text import PREFIXES
from coursepkg.projects.translation.t5.train import T5Output, write_texts

LONGEST_SOURCE = 512
"""Most tokens of a source; a T5 takes longer ones, but was not trained on them."""


class T5Translator:
    """A T5 with its directions.

    Args:
        prefixes: by direction, such as `nom-vi`, what stands in front of each text, as
            in training.
    """

    def __init__(self, t5: T5, prefixes: Mapping[str, str]) -> None:
        self.t5, self.prefixes = t5, dict(prefixes)

    @classmethod
    def load(cls, model: str | Path, *, prefix: str | None = None) -> "T5Translator":
        """Load a model; its card says its directions and their prefixes.

        A model from elsewhere has no card: it is taken to know every direction by the
        course's prefixes.

        Args:
            prefix: another text for every direction; may be empty.

        Raises:
            OSError: the model cannot be loaded.
            ValueError: it is no T5, damaged, or was never fine-tuned.
        """
        t5 = load_t5(model)
        t5.network.to(default_device())
        usual = {"-".join(pair): text for pair, text in PREFIXES.items()}
        if prefix is not None:
            return cls(t5, dict.fromkeys(usual, prefix))
        if "pretrained_on" in t5.card and "prefixes" not in t5.card:
            raise ValueError(
                f"{model} was pretrained on {t5.card['pretrained_on']} and knows no"
                f" direction yet; fine-tune it: t5-train --model {model}"
            )
        return cls(t5, t5.card.get("prefixes") or usual)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of weights, vocabulary and prefixes."""
        vocabulary = sorted(self.t5.tokenizer.get_vocab().items())
        told = json.dumps([vocabulary, self.prefixes], sort_keys=True)
        return weights_sha256(told, [self.t5.network])

    def check_direction(self, source: str, target: str) -> None:
        """Raises a ValueError unless the model knows the direction."""
        if f"{source}-{target}" not in self.prefixes:
            raise ValueError(
                f"{self.t5.name} was trained for {', '.join(self.prefixes)}, not for"
                f" {source}-{target}; choose one of these, or another model"
            )

    def encode(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        *,
        first: int = 1,
        name: str = "line",
    ) -> list[list[int]]:
        """Ids of texts, prefix in front and EOS behind.

        Raises:
            ValueError: a text is empty or too long; it is named by `name` and its
                number, counted from `first`.
        """
        prefix = self.prefixes[f"{source}-{target}"]
        found = []
        for number, text in enumerate(texts, start=first):
            if not text.strip():
                raise ValueError(
                    f"{name} {number}: empty; give a text or remove the line"
                )
            ids = encode_text(self.t5, prefix + natural(text, source))
            if len(ids) > LONGEST_SOURCE:
                raise ValueError(
                    f"{name} {number}: {len(ids)} tokens, at most {LONGEST_SOURCE};"
                    " split it into sentences"
                )
            found.append(ids)
        return found

    def translate(
        self, texts: Sequence[str], *, source: str, target: str, **options: Any
    ) -> list[T5Output]:
        """Translate texts, in order.

        Args:
            **options: of `write_texts`: beam_size, n_best, max_tokens, batch_size.

        Raises:
            ValueError: the direction is not the model's, or a text is empty or too
                long; it is named.
        """
        self.check_direction(source, target)
        self.encode(texts, source, target, name="text")
        read = [natural(text, source) for text in texts]
        return write_texts(
            self.t5, read, self.prefixes[f"{source}-{target}"], **options
        )
