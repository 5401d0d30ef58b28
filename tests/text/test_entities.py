import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.entities import unescape


@pytest.mark.parametrize(
    ("text", "plain", "counts"),
    [
        ("life &apos;s &quot; work &quot; .", 'life \'s " work " .', {"&apos;": 1, "&quot;": 2}),
        ("&#91; Laughter &#93; &lt; &gt; &#124;", "[ Laughter ] < > |", None),
        ("&amp;quot;", '"', {"&amp;": 1, "&quot;": 1}),
        ("&amp;amp;amp;lt;", "<", {"&amp;": 3, "&lt;": 1}),
        ("Head &amp; amp ; Shoulders", "Head & Shoulders", {"&amp;": 2}),
        ("he said &amp; quot ; no", 'he said " no', {"&amp;": 1, "&quot;": 1}),
        ("&eacute; &#233; &#xE9; &#Xe9;", "é é é é", None),
        ("không có gì", "không có gì", {}),
    ],
)
def test_entities_become_characters(text: str, plain: str, counts: dict[str, int] | None) -> None:
    found = unescape(text)
    assert found.text == plain
    assert found.unknown == {}
    if counts is not None:
        assert found.counts == counts


@pytest.mark.parametrize(
    "text", ["AT&T; x".replace(";", ""), "R & D ;", "?a=1&copy=2", "& ; &; &amp", "fish&chips"]
)
def test_what_is_no_entity_stays(text: str) -> None:
    assert unescape(text) == (text, {}, {})


def test_unknown_entities_stay_and_are_reported() -> None:
    found = unescape("&nosuch; &#0; &#xD800; &#x110000; &#27; &quot;")
    assert found.text == '&nosuch; &#0; &#xD800; &#x110000; &#27; "'
    assert found.counts == {"&quot;": 1}
    assert found.unknown == dict.fromkeys(["&nosuch;", "&#0;", "&#xD800;", "&#x110000;", "&#27;"], 1)


@given(st.text(), st.integers(0, 3))
def test_text_that_was_escaped_comes_back_however_often(text: str, times: int) -> None:
    escaped = plain = unescape(text).text
    for _ in range(times):
        escaped = html.escape(escaped)
    assert unescape(escaped).text == plain


@given(st.text(st.sampled_from("&amp;#quot91 ;x")))
def test_unescaping_twice_changes_nothing_more(text: str) -> None:
    once = unescape(text).text
    assert unescape(once).text == once


@pytest.mark.parametrize("name", ["&#9;", "&#10;", "&#13;", "&#x0A;"])
def test_no_entity_breaks_a_line(name: str) -> None:
    assert unescape(f"a{name}b").text == "a b"
