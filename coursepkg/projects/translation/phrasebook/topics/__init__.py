"""The sentence patterns of the Phrasebook, one module a topic."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from coursepkg.projects.translation.phrasebook.pattern import Sentence

TOPICS = (
    *("shopping", "restaurant", "hotel", "directions", "transport", "time", "people", "possession"),
    *("habits", "past", "plans", "comparison", "description", "health", "requests", "languages"),
)


def sentences() -> Iterator[tuple[str, Sentence]]:
    """Every sentence of every pattern with its topic; a sentence may be said by two patterns."""
    for topic in TOPICS:
        module = import_module(f"{__name__}.{topic}")
        for pattern in module.patterns():
            for sentence in replace(pattern, name=f"{topic}.{pattern.name}"):
                yield topic, sentence
