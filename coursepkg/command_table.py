"""The table of `coursepkg`'s subcommands: options, handler, summary."""

from typing import NamedTuple


class Command(NamedTuple):
    """Where options and handler of a subcommand live, and what it does."""

    options: str
    """`module:class`, anything that tyro can parse."""
    summary: str
    handler: str = ""
    """`module:function` that takes the options and returns the exit code; empty where
    the options have a method `run`.
    """


class Group(NamedTuple):
    """A subcommand with verbs of its own, by name."""

    summary: str
    verbs: dict[str, Command]


def _verbs(project: str, *rows: tuple[str, ...]) -> dict[str, Command]:
    """The subcommands of a project by verb.

    Args:
        project: name of its package.
        rows: verb, options, summary and handler; options and handler as they stand
            below the package.
    """
    home = f"coursepkg.projects.{project}."
    return {
        verb: Command(
            home + options, summary, *(home + handler for handler in handlers)
        )
        for verb, options, summary, *handlers in rows
    }


COMMANDS: dict[str, Command | Group] = {
    "bench": Command(
        "coursepkg.commands:Bench",
        "time a suite of attention variants against each other",
    ),
    "doctor": Command(
        "coursepkg.commands:Doctor",
        "check this machine: Python, torch, memory, fonts, packages",
    ),
    "data": Group(
        "the real data sets: what is here, how to get the rest",
        {
            "list": Command(
                "coursepkg.data.commands:List",
                "say of each set whether it is here, and its licence",
            ),
            "fetch": Command(
                "coursepkg.data.commands:Fetch", "download sets and check them"
            ),
        },
    ),
    "class": Group(
        "teach a class: hand out assignments, grade them safely, give marks back",
        {
            verb: Command(
                f"coursepkg.grading.options:{verb.capitalize()}",
                summary,
                f"coursepkg.grading.handlers:{verb}_command",
            )
            for verb, summary in (
                ("release", "check assignments and make the student edition"),
                ("collect", "take submissions from folders and zip files"),
                ("grade", "grade submissions, each in a sandbox"),
                ("mark", "mark answers in words by a sheet, as a person"),
                ("feedback", "write a page for each student"),
                ("export", "write marks for Moodle or Canvas"),
                ("gradescope", "write the autograder of an assignment for Gradescope"),
                ("status", "say how far each assignment is"),
                (
                    "leaderboard",
                    "score predictions of a project, write a page of ranks",
                ),
                ("similar", "list solutions that are nearly the same"),
            )
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
                "handlers.data:audit",
            ),
            (
                "describe",
                "commands:Describe",
                "print the statistics of the data and the size of the model",
                "handlers.data:describe",
            ),
            (
                "train",
                "commands:Train",
                "train a model by a preset, with every option a flag",
                "handlers.model:train_command",
            ),
            (
                "evaluate",
                "commands:Evaluate",
                "score a model with signatures, intervals and an error report",
                "handlers.model:evaluate_command",
            ),
            (
                "predict",
                "commands:Predict",
                "translate text or a file",
                "handlers.predict:predict_command",
            ),
            (
                "export",
                "commands:Export",
                "write a model for CTranslate2 or onnxruntime",
                "handlers.model:export_command",
            ),
            (
                "dictionary",
                "study_commands:LearnDictionary",
                "learn a bilingual dictionary from a corpus",
                "errors.dictionary:dictionary_command",
            ),
            (
                "back-translate",
                "study_commands:BackTranslate",
                "make training pairs from target-side text",
                "back_translation.files:back_translate_command",
            ),
            (
                "round-trip",
                "study_commands:RoundTrip",
                "translate training pairs there and back",
                "back_translation.files:round_trip_command",
            ),
            (
                "lm-train",
                "study_commands:LanguageModelTrain",
                "train a language model of the target language",
                "studies.language_model:lm_train",
            ),
            (
                "rerank",
                "study_commands:Rerank",
                (
                    "rerank n-best lists with a language model or a model that"
                    " translates back"
                ),
                "studies.reranking:rerank_command",
            ),
            (
                "neighbours",
                "study_commands:Neighbours",
                "give a model its training part to look things up in, tuned on dev",
                "studies.neighbours_study:neighbours_command",
            ),
            (
                "calibrate",
                "study_commands:Calibrate",
                "fit how far a model's translations can be trusted",
                "studies.calibration:calibrate_command",
            ),
            (
                "decode-study",
                "study_commands:DecodeStudy",
                "compare searches and samplers on the dev part",
                "studies.decoding_study:decode_study",
            ),
            (
                "search",
                "study_commands:ConfigSearch",
                "try many settings, by grid or at random",
                "studies.config_search:search",
            ),
            (
                "ladder",
                "study_commands:Ladder",
                (
                    "train and score the rows of the ablation ladder, and store their"
                    " results"
                ),
                "ladder.commands:ladder_command",
            ),
            (
                "t5-pretrain",
                "t5.commands:T5Pretrain",
                "pretrain a small T5 on Vietnamese sentences alone",
            ),
            (
                "t5-train",
                "t5.commands:T5Train",
                "fine-tune a T5 to translate, or to read Nom",
            ),
            ("t5-predict", "t5.commands:T5Predict", "translate with a fine-tuned T5"),
        ),
    ),
    "ocr": Group(
        "Vietnamese receipts and documents: read lines and photographs",
        _verbs(
            "ocr",
            (
                "audit",
                "options:Audit",
                "look for faults of the table, bad texts, and leakage between parts",
                "handlers:audit_command",
            ),
            (
                "describe",
                "options:Describe",
                "print the statistics of the data and the size of the model",
                "handlers:describe_command",
            ),
            (
                "pack",
                "options:Pack",
                "cut or draw the lines of a set once, to train from",
                "handlers:pack_command",
            ),
            (
                "train",
                "options:Train",
                "train a recogniser by a preset, with every option a flag",
                "handlers:train_command",
            ),
            (
                "evaluate",
                "options:Evaluate",
                "score a recogniser with signatures, intervals and the worst crops",
                "handlers:evaluate_command",
            ),
            (
                "train-fields",
                "options:TrainFields",
                "train a model that labels the lines of receipts",
                "fields.command:train_fields_command",
            ),
            (
                "evaluate-fields",
                "options:EvaluateFields",
                "score shop, address, time and total found on receipts",
                "fields.command:evaluate_fields_command",
            ),
            (
                "predict",
                "options:Predict",
                "read photographs, scans and PDFs, or pictures of lines",
                "page.command:predict_command",
            ),
            (
                "export",
                "options:Export",
                "write encoder and CTC head for PyTorch alone or onnxruntime",
                "handlers:export_command",
            ),
        ),
    ),
    "sign-language": Group(
        "words signed in short videos: recognise clips, folders and streams",
        _verbs(
            "sign_language",
            (
                "audit",
                "options:Audit",
                "look for faults of the folder, unreadable clips, copies, and leakage"
                " between parts",
                "data_verbs:audit_command",
            ),
            (
                "describe",
                "options:Describe",
                "print the statistics of the data and the size of the model",
                "data_verbs:describe_command",
            ),
            (
                "survey",
                "options:Survey",
                "decode every clip; print figures, broken frames and copies",
                "data_verbs:survey_command",
            ),
            (
                "prepare",
                "options:Prepare",
                "part, clean and decode the clips of a set once, to train from",
                "data_verbs:prepare_command",
            ),
            (
                "train",
                "options:Train",
                "train a recogniser by a preset, with every option a flag",
                "training:train_command",
            ),
            (
                "evaluate",
                "options:Evaluate",
                "score a recogniser with signatures, intervals and the worst clips",
                "evaluate_verb:evaluate_command",
            ),
            (
                "enroll",
                "options:Enroll",
                "learn words of your own from a few clips each, without training",
                "few_shot.verbs:enroll_command",
            ),
            (
                "predict",
                "options:Predict",
                "name the signed word of clips, folders and streams",
                "predict:predict_command",
            ),
            (
                "export",
                "options:Export",
                "write a model for PyTorch alone or onnxruntime",
                "export:export_command",
            ),
            (
                "ladder",
                "ladder:LadderOptions",
                "train and score the rows of the ablation ladder, and store their"
                " results",
                "ladder:ladder_command",
            ),
        ),
    ),
}
