"""Every figure of a test is drawn without a window, in plain settings, and closed."""

import warnings
from collections.abc import Iterator

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def plain_matplotlib() -> Iterator[None]:
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        mpl.use("agg")
        yield
    plt.close("all")
