"""What `coursepkg sign-language export` does."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.commands import Export


def export_command(options: "Export") -> int:
    """Export a model and return the exit code."""
    from coursepkg.files import check_new
    from coursepkg.projects.sign_language.export import export_program
    from coursepkg.projects.sign_language.recognizer import DEFAULT, SignRecognizer

    common = options.common
    if common.data != "auto":
        raise ValueError("--data names clips, and export needs none; leave it out")
    if common.out is None:
        raise ValueError("--out FOLDER must be given, the folder to write")
    check_new(common.out, "choose another --out")
    folder = options.model or (common.run_folder if common.preset else DEFAULT)
    recognizer = SignRecognizer.load(folder)
    card = export_program(recognizer, common.out)
    print(f"exported to {common.out}: {len(card['labels'])} words")
    if recognizer.recipe.views > 1:
        print(f"the program looks once; the model's recipe averages {recognizer.recipe.views} views")
    if common.json:
        print(json.dumps({"out": str(common.out), "model": folder.name} | card, ensure_ascii=False))
    return 0
