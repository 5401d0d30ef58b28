"""A translator that has learnt ten sentences by heart, both ways: made once a test run, in seconds."""

import tempfile
from functools import cache
from pathlib import Path

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.models import Subwords, build_model
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.task import TranslationBatches, TranslationTask
from coursepkg.projects.translation.train import card_of
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.saved_model import save_model
from coursepkg.training.schedules import inverse_sqrt
from coursepkg.training.seed import set_seed

_FOLDER = tempfile.TemporaryDirectory(prefix="memorised-")

PAIRS = tuple(
    SentencePair(source, target, "memorised", line)
    for line, (source, target) in enumerate(
        [
            ("我们去学校。", "Chúng tôi đi học ."),
            ("他是医生。", "Anh ấy là bác sĩ ."),
            ("酒店在哪里？", "Khách sạn ở đâu ?"),
            ("我想喝水。", "Tôi muốn uống nước ."),
            ("今天很热。", "Hôm nay rất nóng ."),
            ("这个多少钱？", "Cái này bao nhiêu tiền ?"),
            ("她不喜欢咖啡。", "Cô ấy không thích cà phê ."),
            ("请给我一张票。", "Cho tôi một vé ."),
            ("火车几点开？", "Mấy giờ tàu chạy ?"),
            ("谢谢你。", "Cảm ơn bạn ."),
        ],
        start=1,
    )
)

RECIPE = Recipe(
    vocab_size=130,
    underscores="remove",
    max_len=40,
    d_model=32,
    n_heads=2,
    n_encoder_layers=1,
    n_decoder_layers=1,
    d_ff=64,
    dropout=0.0,
    reverse=1.0,
    batch_tokens=4000,
    beam_size=4,
)


@cache
def memorised() -> tuple[Path, Parts]:
    """The folder of the run, as `train` writes it, and its corpus, whose dev part is its training part."""
    folder = Path(_FOLDER.name) / "run"
    folder.mkdir()
    corpora = [(("zh", "vi"), PAIRS)]
    subwords = Subwords.train(corpora, RECIPE)
    subwords.save(folder)
    set_seed(0)
    model = build_model(RECIPE, len(subwords.source), len(subwords.target))
    fit(
        model,
        TranslationTask(),
        TranslationBatches(corpora, subwords, RECIPE),
        config=TrainConfig(max_steps=90, learning_rate=inverse_sqrt(1e-2, 20), progress=False),
    )
    parts = Parts("phrasebook", "zh", "vi", PAIRS, PAIRS, (), ())
    card = card_of(RECIPE, [parts], 0, n_extra=0, start=None)
    save_model(folder / "model", model, **card, vocabulary=subwords.fingerprints)
    return folder, parts


def translator() -> Translator:
    """That model, loaded."""
    return Translator.load(memorised()[0])
