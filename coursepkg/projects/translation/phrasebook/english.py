"""English inflection: the regular rules and the irregular words of the lexicon."""

IRREGULAR_PLURALS = {
    "child": "children",
    "person": "people",
    "knife": "knives",
    "scarf": "scarves",
    "fish": "fish",
    "bus": "buses",
}

# base: (past, past participle)
IRREGULAR_VERBS = {
    "be": ("was", "been"),
    "become": ("became", "become"),
    "bring": ("brought", "brought"),
    "buy": ("bought", "bought"),
    "come": ("came", "come"),
    "do": ("did", "done"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "drive": ("drove", "driven"),
    "eat": ("ate", "eaten"),
    "feed": ("fed", "fed"),
    "find": ("found", "found"),
    "forget": ("forgot", "forgotten"),
    "get": ("got", "gotten"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "have": ("had", "had"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "read": ("read", "read"),
    "ride": ("rode", "ridden"),
    "run": ("ran", "run"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "sing": ("sang", "sung"),
    "sleep": ("slept", "slept"),
    "speak": ("spoke", "spoken"),
    "swim": ("swam", "swum"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "wear": ("wore", "worn"),
    "write": ("wrote", "written"),
}

DOUBLED = {"run", "swim", "get", "shop", "chat", "jog", "stop", "plan", "put", "sit"}

# Forms by person: first singular, third singular, every other person.
AGREEING = {
    "be": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "isn't": ("am not", "isn't", "aren't"),
    "do": ("do", "does", "do"),
    "don't": ("don't", "doesn't", "don't"),
    "have": ("have", "has", "have"),
    "haven't": ("haven't", "hasn't", "haven't"),
}


def agree(verb: str, person: str) -> str:
    """The present of a verb for a subject: ``agree("be", "1s") == "am"``; persons are 1s, 3s, p."""
    if verb not in AGREEING:
        return third_person(verb) if person == "3s" else verb
    first, third, other = AGREEING[verb]
    return {"1s": first, "3s": third}.get(person, other)


def plural(noun: str) -> str:
    """Plural of a noun phrase; its last word is the one that changes."""
    *rest, head = noun.split(" ")
    if head in IRREGULAR_PLURALS:
        head = IRREGULAR_PLURALS[head]
    elif head.endswith(("s", "x", "ch", "sh")) or head in {"mango", "potato", "tomato"}:
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    else:
        head += "s"
    return " ".join([*rest, head])


def third_person(verb: str) -> str:
    """Third person singular present: ``go -> goes``, ``watch -> watches``, ``study -> studies``."""
    irregular = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    return irregular.get(verb) or plural(verb)


def past(verb: str) -> str:
    """Simple past."""
    return IRREGULAR_VERBS[verb][0] if verb in IRREGULAR_VERBS else _with_ed(verb)


def participle(verb: str) -> str:
    """Past participle."""
    return IRREGULAR_VERBS[verb][1] if verb in IRREGULAR_VERBS else _with_ed(verb)


def progressive(verb: str) -> str:
    """The ``-ing`` form."""
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return verb[:-1] + "ing"
    return verb + "ing"


def article(next_word: str) -> str:
    """``a`` or ``an`` before a word, by its sound."""
    silent_h, spoken_y_or_w = ("hour", "honest"), ("uni", "use", "eu", "one")
    word = next_word.lower()
    if word.startswith(silent_h):
        return "an"
    return "an" if word[0] in "aeiou" and not word.startswith(spoken_y_or_w) else "a"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + verb[-1] + "ed" if verb in DOUBLED else verb + "ed"
