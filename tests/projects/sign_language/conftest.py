"""The corpus that the tests of training share."""

import pytest

from coursepkg.projects.sign_language.corpus import SignCorpus
from tests.projects.sign_language.blocks import make_corpus, write_parts


@pytest.fixture(scope="session")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> SignCorpus:
    """Ten training clips of three words, six of dev and six of test."""
    folder = tmp_path_factory.mktemp("blocks")
    return make_corpus(folder / "clips", write_parts(folder / "films"))
