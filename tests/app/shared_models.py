"""Copies, forks and threads of the system that the first argument names agree with it, and mistakes are told.

A test runs it without the shape checks of the suite, which would refuse mistakes before the package sees them.
"""

import copy
import os
import pickle
import select
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch

Answers = list[tuple[str, float]]


def translation() -> tuple[Any, Callable[[Any], Answers]]:
    from coursepkg.projects.translation import Translator

    texts = ["酒店在哪里？", "我要买三本书。", "谢谢。", "这个多少钱？"]
    return Translator.load_phrasebook(), lambda one: [(t.text, t.confidence) for t in one.translate(texts)]


def ocr() -> tuple[Any, Callable[[Any], Answers]]:
    from coursepkg.projects.ocr import Recognizer
    from coursepkg.projects.ocr.bench import lines

    images = [line.image for line in lines(4, 5)]
    return Recognizer.load_default(), lambda one: [(r.text, r.confidence) for r in one.read_lines(images)]


def sign_language() -> tuple[Any, Callable[[Any], Answers]]:
    from coursepkg.projects.sign_language import SignRecognizer
    from tests.projects.sign_language.signed import write_films

    films = write_films(Path(tempfile.mkdtemp()), 3)
    return SignRecognizer.load_default(), lambda one: [(r.label, r.confidence) for r in one.recognize(films)]


def agree(found: Answers, wanted: Answers) -> bool:
    same = [text for text, _ in found] == [text for text, _ in wanted]
    return same and np.allclose([p for _, p in found], [p for _, p in wanted], atol=1e-4)


def in_fork(system: Any, answer: Callable[[Any], Answers]) -> Answers:
    """What a forked process answers within a minute; else its end is an error."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, pickle.dumps(answer(system)))
        os._exit(0)
    os.close(writing)
    if not select.select([reading], [], [], 60)[0]:
        os.kill(child, 9)
        raise AssertionError("a forked process hangs")
    with os.fdopen(reading, "rb") as pipe:
        found: Answers = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return found


LINE = np.full((40, 120), 255, np.uint8)
CALLS: dict[str, tuple[str, str, list[Any]]] = {
    "translation": (
        "translate",
        "texts must be a list of sentences",
        ["我", None, 3, ["我", None], {"我": 1}],
    ),
    "ocr": (
        "read_lines",
        "pictures must be a list of pictures",
        ["a", Path("a"), LINE, None, 3, [LINE, None]],
    ),
    "sign_language": ("recognize", "paths must be a list of videos", ["a", Path("a"), None, 3, [None], b"a"]),
}
"""What reads several inputs, what it says of anything else, and such things."""


def refusal(call: Callable[..., Any], *given: Any, **options: Any) -> str:
    try:
        call(*given, **options)
    except ValueError as reason:
        return str(reason)
    raise AssertionError(f"{given} {options} were taken")


def check_mistakes(name: str, system: Any) -> None:
    """Each mistake is one line that says what to pass."""
    method, told, wrong = CALLS[name]
    call = getattr(system, method)
    for one in wrong:
        said = refusal(call, one)
        assert said.startswith(f"{told}, got "), said
        assert "\n" not in said
    for count in ("n_best", "batch_size"):
        for value in (1.5, 0, None, "2"):
            assert refusal(call, [], **{count: value}).startswith(f"{count} must be an integer"), value
    if name == "sign_language":
        assert refusal(system.recognize_clips, None) == "clips must be a list of clips, got None"
        assert refusal(system.recognize_clips, [], n_best=1.5).startswith("n_best must be")
    else:
        assert refusal(call, [], beam_size=2**63).startswith("beam_size must be at most 1,000")


def main(name: str) -> None:
    torch.set_num_threads(2)
    system, answer = {"translation": translation, "ocr": ocr, "sign_language": sign_language}[name]()
    check_mistakes(name, system)
    wanted = answer(system)
    assert agree(in_fork(system, answer), wanted), "fork"
    for made in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert answer(made) == answer(system), "copy"
        assert made.fingerprint == system.fingerprint
    with ThreadPoolExecutor(10) as pool:
        assert all(agree(found, wanted) for found in pool.map(lambda _: answer(system), range(10))), "threads"


if __name__ == "__main__":
    main(sys.argv[1])
