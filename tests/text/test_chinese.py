import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.chinese import is_han, remove_spaces, split_characters, to_full_width, to_half_width

WORDS = ["如果", "我", "JAL", "4002", "iPhone", "3.5", "e-mail", "𠊛", "，", "。", "（", "）", "“", "”", "？"]


@pytest.mark.parametrize(
    "character",
    # unified, 〇 and 々, Extension A, compatibility, and Extensions B, C, D, E, F, G, H, I
    "好一龥〇々㐀㐌豈𠀀𠊛𪚚𪜀𫝀𫠠𬺰\U00030000\U00031722\U0002ebf0",
)
def test_han_characters_of_every_plane(character: str) -> None:
    assert is_han(character)


@pytest.mark.parametrize("text", ["a", "ấ", "，", "。", "あ", "한", "1", "", "好好", "\U000f063f", " "])
def test_what_is_no_han_character(text: str) -> None:
    assert not is_han(text)


@pytest.mark.parametrize(
    ("segmented", "read"),
    [
        ("如果 你 还 有 什么 需要 的 就 告诉 我 。", "如果你还有什么需要的就告诉我。"),
        ("我 想 改变 JAL 4002 航班 。", "我想改变JAL 4002航班。"),
        ("对 不 起 , 我 想 去 C 码头 .", "对不起,我想去C码头."),
        ("他 说 ： “ Hello world ” ， （ 笑 ） 。", "他说：“Hello world”，（笑）。"),
        ("iPhone 15 Pro 吗 ？", "iPhone 15 Pro吗？"),
        (" 𠊛 𠄩\u3000𠀧  ", "𠊛𠄩𠀧"),
        ("New   York", "New York"),
        ("", ""),
    ],
)
def test_remove_spaces(segmented: str, read: str) -> None:
    assert remove_spaces(segmented) == read


@given(st.lists(st.sampled_from(WORDS)))
def test_nothing_but_spaces_goes(words: list[str]) -> None:
    read = remove_spaces(" ".join(words))
    assert read.replace(" ", "") == "".join(words)
    assert remove_spaces(read) == read
    assert remove_spaces(" ".join(split_characters(read))) == read


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("我想改变JAL 4002航班。", ["我", "想", "改", "变", "JAL", "4002", "航", "班", "。"]),
        ("下午8:30，3.5元，10,000人", ["下", "午", "8:30", "，", "3.5", "元", "，", "10,000", "人"]),
        ("don't e-mail café,ok.", ["don't", "e-mail", "café", ",", "ok", "."]),
        ("MP3播放器(新)!?", ["MP3", "播", "放", "器", "(", "新", ")", "!", "?"]),
        ("cafe\u0301好", ["cafe\u0301", "好"]),
        ("葛\U000e0100城", ["葛\U000e0100", "城"]),  # a variation selector stays with its character
        ("𠊛\U00031722\U000f063f", ["𠊛", "\U00031722", "\U000f063f"]),
        ("X光片", ["X", "光", "片"]),
        ("  ", []),
    ],
)
def test_split_characters(line: str, tokens: list[str]) -> None:
    assert split_characters(line) == tokens


@given(st.text())
def test_splitting_loses_nothing_but_spaces(text: str) -> None:
    assert "".join(split_characters(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("你好，３．５元（ＡＢ）。", "你好,3.5元(AB)."),
        ("一、二　三！", "一,二 三!"),
        ("《书》“a”", "《书》“a”"),
    ],
)
def test_to_half_width(text: str, half: str) -> None:
    assert to_half_width(text) == half


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("你好,我是３号!", "你好，我是3号！"),
        ("(我)吗?!", "（我）吗？！"),
        ("共3.5元;8:30开", "共3.5元；8:30开"),
        ("Mr. Li, hello.", "Mr. Li, hello."),
        ("他走了...", "他走了..."),
        ("“好”.", "“好”。"),
    ],
)
def test_to_full_width(text: str, full: str) -> None:
    assert to_full_width(text) == full
    assert to_full_width(full) == full
