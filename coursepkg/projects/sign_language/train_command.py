"""What `coursepkg sign-language train` does."""

from pathlib import Path

import torch

from coursepkg.arguments import check_count
from coursepkg.documents import print_json
from coursepkg.projects.sign_language.commands import Train
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.evaluate import evaluate
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.quality.plan_check import check_words
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.train import Trained, train
from coursepkg.projects.sign_language.trained_model import read_model
from coursepkg.training.run_card import check_free


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    common, recipe = options.common, options.recipe
    check_count("--threads", options.threads, least=0)
    if options.threads or common.is_tiny:
        torch.set_num_threads(options.threads or 1)
    out = common.out or common.run_folder
    check_free(out, options.resume)
    if options.start is not None:
        read_model(options.start)  # a mistake is said before clips are decoded for minutes
    corpus = load_corpus(common.corpus_name, recipe, split=common.protocol)
    check_words(corpus.name, corpus.part("train").labels)
    print("\n".join(corpus.report()))
    trained = train(recipe, corpus, out, start=options.start, seed=options.seed, resume=options.resume)
    return _report(options, trained, corpus, out)


def score_dev(trained: Trained, corpus: SignCorpus, recipe: Recipe) -> SignScores | None:
    """How well the dev part is recognised; None where there is none."""
    if corpus.dev is None:
        return None
    said = predict_clips(trained.model, corpus.dev, recipe, counts=corpus.counts)
    protocol = f"{corpus.name} dev, split {corpus.protocol}"
    return evaluate(said, corpus.dev, corpus.labels, corpus.counts, protocol=protocol)


def _report(options: Train, trained: Trained, corpus: SignCorpus, out: Path) -> int:
    scores = score_dev(trained, corpus, options.recipe)
    print(scores or "no dev part, so nothing was chosen and nothing is scored")
    part = "test" if corpus.test is not None else "train"
    print(f"model in {out}; score it with: coursepkg sign-language evaluate --model {out} --part {part}")
    if options.common.json:
        card = trained.card | {"seconds": trained.history.seconds, "stopped": trained.history.stopped}
        dev = None if scores is None else scores.as_json()
        print_json({"out": str(out), "card": card, "dev": dev})
    return 0
