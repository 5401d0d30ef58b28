"""Share of right texts: by definition, with spaces and Unicode forms that CER does not count either."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.metrics.edit import CER
from coursepkg.metrics.exact import ExactMatch
from coursepkg.metrics.scoring import score, sentence_scores

TEXT = st.text(alphabet="aáạ ẤĐd.", max_size=6)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8))
def test_a_text_is_right_where_it_has_no_edit(pairs: list[tuple[str, str]]) -> None:
    said, true = zip(*pairs, strict=True)
    right = sentence_scores(ExactMatch(), said, true)
    assert right.tolist() == [float(rate == 0) for rate in sentence_scores(CER(), said, true)]
    assert score(ExactMatch(), said, true).value == pytest.approx(right.mean())


def test_the_form_and_the_spaces_at_the_ends_do_not_matter() -> None:
    said = [unicodedata.normalize("NFD", "Cộng hòa"), " Giá ", "Gia"]
    found = score(ExactMatch(), said, ["Cộng hòa", "Giá", "Giá"], n_resamples=50)
    assert found.value == pytest.approx(2 / 3)
    assert found.details == {"right": 2}
    assert "unit:line" in found.signature
    assert found.interval is not None
    assert 0 <= found.interval.lower <= found.value <= found.interval.upper <= 1
