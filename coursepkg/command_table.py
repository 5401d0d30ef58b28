"""The table of `coursepkg`'s subcommands: where the options of each one live, and what it does."""

from typing import NamedTuple


class Command(NamedTuple):
    """Where the options of a subcommand live (`module:name`, anything tyro can parse) and what it does."""

    options: str
    summary: str


class Group(NamedTuple):
    """A subcommand with verbs of its own, by name."""

    summary: str
    verbs: dict[str, Command]


def _verbs(project: str, *rows: tuple[str, str, str]) -> dict[str, Command]:
    """The subcommands of a project by verb: where their options stand below it, and what they do."""
    return {
        verb: Command(f"coursepkg.projects.{project}.{options}", summary) for verb, options, summary in rows
    }


COMMANDS: dict[str, Command | Group] = {
    "bench": Command("coursepkg.commands:Bench", "time a suite of attention variants against each other"),
    "doctor": Command(
        "coursepkg.commands:Doctor", "check this machine: Python, torch, memory, fonts, packages"
    ),
    "data": Group(
        "the real data sets: what is here, how to get the rest",
        {
            "list": Command(
                "coursepkg.data.commands:List", "say of each set whether it is here, and its licence"
            ),
            "fetch": Command("coursepkg.data.commands:Fetch", "download sets, check and unpack them"),
        },
    ),
    "translation": Group(
        "Chinese-Vietnamese and English-Vietnamese translation",
        _verbs(
            "translation",
            (
                "audit",
                "commands:Audit",
                "look for duplicates, leakage between train and test, and bad lines",
            ),
            (
                "describe",
                "commands:Describe",
                "print the statistics of the data and the size of the model",
            ),
            ("train", "commands:Train", "train a model by a preset, with every option a flag"),
            (
                "evaluate",
                "commands:Evaluate",
                "score a model with signatures, intervals and an error report",
            ),
            ("predict", "commands:Predict", "translate text or a file"),
            ("export", "commands:Export", "write a model for the CTranslate2 runtime"),
            (
                "dictionary",
                "errors.dictionary_command:LearnDictionary",
                "learn a bilingual dictionary from a corpus",
            ),
            (
                "back-translate",
                "back_translation.commands:BackTranslate",
                "make training pairs from target-side text",
            ),
            (
                "round-trip",
                "back_translation.commands:RoundTrip",
                "translate training pairs there and back",
            ),
            (
                "lm-train",
                "studies.decoding_commands:LanguageModelTrain",
                "train a language model of the target language",
            ),
            (
                "rerank",
                "studies.decoding_commands:Rerank",
                "rerank n-best lists with a language model or a model that translates back",
            ),
            (
                "neighbours",
                "neighbours_command:Neighbours",
                "give a model its training part to look things up in, tuned on dev",
            ),
            (
                "decode-study",
                "studies.decoding_commands:DecodeStudy",
                "compare searches and samplers on the dev part",
            ),
            ("search", "studies.config_search:ConfigSearch", "try many settings, by grid or at random"),
            (
                "ladder",
                "ladder.commands:Ladder",
                "train and score the rows of the ablation ladder, and store their results",
            ),
            ("t5-train", "t5.commands:T5Train", "fine-tune a T5 to translate, or to read Nom"),
            ("t5-predict", "t5.commands:T5Predict", "translate with a fine-tuned T5"),
        ),
    ),
    "ocr": Group(
        "Vietnamese receipts and documents: read lines and photographs",
        _verbs(
            "ocr",
            (
                "audit",
                "commands:Audit",
                "look for faults of the table, bad texts, and leakage between parts",
            ),
            (
                "describe",
                "commands:Describe",
                "print the statistics of the data and the size of the model",
            ),
            ("pack", "commands:Pack", "cut or draw the lines of a set once, to train from"),
            ("train", "commands:Train", "train a recogniser by a preset, with every option a flag"),
            (
                "evaluate",
                "commands:Evaluate",
                "score a recogniser with signatures, intervals and the worst crops",
            ),
            ("predict", "page.command:Predict", "read photographs, scans and PDFs, or pictures of lines"),
            ("export", "commands:Export", "write encoder and CTC head as a program for PyTorch alone"),
        ),
    ),
    "sign-language": Group(
        "words signed in short videos: recognise clips, folders and streams",
        _verbs(
            "sign_language",
            (
                "audit",
                "commands:Audit",
                "look for faults of the folder, unreadable clips, copies, and leakage between parts",
            ),
            (
                "describe",
                "commands:Describe",
                "print the statistics of the data and the size of the model",
            ),
            ("survey", "commands:Survey", "decode every clip; print figures, broken frames and copies"),
            ("prepare", "commands:Prepare", "part, clean and decode the clips of a set once, to train from"),
            ("train", "commands:Train", "train a recogniser by a preset, with every option a flag"),
            (
                "evaluate",
                "commands:Evaluate",
                "score a recogniser with signatures, intervals and the worst clips",
            ),
            ("predict", "commands:Predict", "name the signed word of clips, folders and streams"),
            ("export", "commands:Export", "write a model as a program for PyTorch alone"),
            (
                "ladder",
                "ladder_command:Ladder",
                "train and score the rows of the ablation ladder, and store their results",
            ),
        ),
    ),
}
