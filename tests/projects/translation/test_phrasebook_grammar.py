"""Rules of the three languages that every sentence of the Phrasebook keeps; none is taken from its grammar."""

import re
from itertools import pairwise

import pytest

from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES
from coursepkg.projects.translation.synthetic import Phrasebook

TRIPLES = Phrasebook().triples
ZH = [triple.tokens("zh") for triple in TRIPLES]
EN = [triple.en for triple in TRIPLES]
VI = [triple.vi for triple in TRIPLES]

ZH_NUMERAL = re.compile(r"[一二两三四五六七八九十百千万零]+")
# What may stand after a Chinese number: measure words, units, money, and what is named by a number.
ZH_COUNTED = set("个本辆条张件双台支只间碗顶家部盘杯块份幅盏套束根副座所瓶把片封面遍米分天年点号路楼岁") | {
    *("公斤", "公里", "越南盾", "美元", "分钟")
}
EN_SINGULAR_SUBJECT = re.compile(
    r"^(?:He|She|Lan|Minh|Xiao Wang|My (?:father|mother|grandfather|grandmother|husband|wife|son|daughter|friend"
    r"|colleague|(?:older|younger) (?:brother|sister)))(?: (?:often|sometimes|rarely|never|already))? ([^ .]+)"
)
EN_OTHER_SUBJECT = re.compile(r"^(?:I|We|They|You) ([^ .]+)")
EN_UNINFLECTED = {"can", "can't", "will", "should", "shouldn't", "would", "used"}
EN_S = {"is", "has", "does", "isn't", "hasn't", "doesn't"}
PAST_PATTERNS = (
    *("past.", "transport.went", "shopping.kilos", "description.bought-a", "possession.found"),
    *("possession.forgot", "time.waited", "languages.has-studied", "languages.starts"),
)
VI_LETTERS = set("aăâbcdđeêghiklmnoôơpqrstuưvxyáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ")
# Vietnamese syllables that are spelled like English words, and names that are the same in both.
SAME_SPELLING = {
    *("cam", "con", "kem", "may", "pho", "tin", "to", "chat", "tan", "sang", "an", "ba", "hai"),
    *("hoa", "lan", "long", "mai", "minh", "nha", "trang"),
}


def test_each_language_uses_its_own_signs():
    for triple in TRIPLES:
        assert re.fullmatch(r"[一-鿿0-9，。？]+", triple.zh), triple.zh
        assert re.fullmatch(r"[A-Za-zé0-9 ,.?'-]+", triple.en), triple.en
        letters = {c for c in triple.vi.lower() if c.isalpha()}
        assert letters <= VI_LETTERS, (letters - VI_LETTERS, triple.vi)


def test_one_final_sign_and_the_same_kind_in_the_three_languages():
    for triple in TRIPLES:
        last = tuple(triple.tokens(language)[-1] for language in LANGUAGES)
        assert last in {("。", ".", "."), ("？", "?", "?")}, last
        for language in LANGUAGES:
            assert not set(triple.line(language)[:-1]) & set(".?。？"), triple.line(language)


def test_english_and_vietnamese_begin_with_a_capital():
    for triple in TRIPLES:
        assert triple.en[0].isupper()
        assert triple.vi[0].isupper()


def test_a_chinese_question_has_a_question_word_and_a_statement_has_none():
    for triple in TRIPLES:
        asks = bool(re.search("吗|几|多少|什么|怎么|哪|还是", triple.zh))
        assert asks == triple.zh.endswith("？"), triple.zh


def test_chinese_numbers_count_with_a_measure_word():
    for tokens in ZH:
        for word, following in pairwise(tokens):
            if ZH_NUMERAL.fullmatch(word):
                assert following in ZH_COUNTED, tokens


def test_liang_counts_and_er_names():
    for tokens in ZH:
        for word, following in pairwise(tokens):
            if word == "二":
                assert following in {"路", "楼", "号"}, tokens
            if word == "两":
                assert following not in {"路", "楼", "号"}, tokens


def test_chinese_negates_the_past_with_mei():
    for tokens in ZH:
        line = " ".join(tokens)
        assert not re.search("不 去 过|不 有 |没 是|没 会|没 想", line)
        if "没" in tokens:
            assert not line.endswith("了 。"), line


def test_a_before_consonants_and_an_before_vowels():
    for sentence in EN:
        for article, word in re.findall(r"(?<!Hoi )(?<!['\w])([Aa]n?) ([A-Za-zé]+)", sentence):
            vowel = word[0] in "aeiou" and not word.startswith(("uni", "use", "one"))
            assert (article.lower() == "an") == vowel, sentence


def test_english_subjects_and_verbs_agree():
    for triple, sentence in zip(TRIPLES, EN, strict=True):
        if found := EN_SINGULAR_SUBJECT.match(sentence):
            past = triple.pattern.startswith(PAST_PATTERNS)
            uninflected = found[1] in EN_UNINFLECTED
            assert found[1].endswith("s") or found[1] in EN_S or past or uninflected, sentence
        elif found := EN_OTHER_SUBJECT.match(sentence):
            assert found[1] not in EN_S, sentence
            assert not re.search(r"^I are|^(?:We|They|You) am", sentence)


def test_english_do_support_leaves_the_verb_bare():
    for sentence in EN:
        for verb in re.findall(r"\b(?:doesn't|don't|didn't|can't|shouldn't|will) ([a-z]+)", sentence):
            assert verb not in {"has", "likes", "wants", "goes", "does", "is", "went", "had"}, sentence


def test_english_much_and_many():
    for sentence in EN:
        for word in re.findall(r"\b[Hh]ow many ([a-z ]+?) (?:do|does)\b", sentence):
            assert word.endswith("s") or word == "children", sentence
        assert not re.search(r"\b[Hh]ow much [a-z]+s\b(?<!is)", sentence), sentence


@pytest.mark.parametrize("number", ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
def test_english_plural_after_a_number(number):
    counted = re.compile(rf"\b(?:bought|drank|ate|have|has|me|us) {number} ([a-z]+)(?: [a-z]+)?")
    two_words = {
        "double",
        "single",
        "steamed",
        "spring",
        "more",
        "older",
        "younger",
        "train",
        "plane",
        "coach",
    }
    for sentence in EN:
        for word in counted.findall(sentence):
            assert word.endswith("s") or word in two_words | {"children"}, sentence


def test_vietnamese_numbers_change_after_ten():
    for sentence in VI:
        assert not re.search(r"mươi (?:một|bốn|năm)\b", sentence), sentence
        assert not re.search(r"mười (?:mốt|tư|năm)\b", sentence), sentence
        assert not re.search(r"(?<!mươi )(?<!mười )\blăm\b", sentence), sentence


def test_vietnamese_yes_no_questions_end_in_a_particle():
    for tokens, sentence in zip(ZH, VI, strict=True):
        if tokens[-2] == "吗":
            assert re.search(r"(?:không|chưa|à)\?$", sentence), sentence


def test_vietnamese_particles_of_time_go_with_the_chinese_ones():
    for triple, zh in zip(TRIPLES, ZH, strict=True):
        vi = set(triple.tokens("vi"))
        if "sẽ" in vi:
            assert not {"昨天", "前天", "去年"} & set(zh), triple.vi
        if "正在" in zh:
            assert "đang" in vi, triple.vi
        if "还" in zh and "没" in zh:
            assert "chưa" in vi, triple.vi
        if "过" in zh:
            assert {"từng", "bao_giờ"} & vi, triple.vi
        if {"đã", "chưa"} & vi:
            assert {"了", "过", "没"} & set(zh), triple.vi


def test_no_english_word_stands_in_a_vietnamese_sentence():
    english = {token.lower() for triple in TRIPLES for token in triple.tokens("en") if token.isalpha()}
    vietnamese = {syllable.lower() for triple in TRIPLES for syllable in triple.tokens("vi", compounds=False)}
    assert english & vietnamese <= SAME_SPELLING


def test_pronouns_are_consistent():
    pronouns = {
        "我们": ("we|us|our|let's", "chúng tôi|chúng ta"),
        "他们": ("they|them|their", "họ"),
        "他": ("he|him|his", "anh ấy"),
        "她": ("she|her", "cô ấy"),
    }
    for tokens, en, vi in zip(ZH, EN, VI, strict=True):
        for zh in pronouns.keys() & set(tokens):
            in_english, in_vietnamese = pronouns[zh]
            assert re.search(rf"\b(?:{in_english})\b", en.lower()), en
            assert re.search(rf"\b(?:{in_vietnamese})\b", vi.lower()), vi
