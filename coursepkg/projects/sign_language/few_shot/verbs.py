"""What `coursepkg sign-language enroll` does."""

from pathlib import Path

from coursepkg.app.output import log_to_stderr, print_json, required_out
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.video_file import import_av
from coursepkg.projects.sign_language.few_shot.recognizer import enroll, enrolment_notes
from coursepkg.projects.sign_language.few_shot.words import Words, checked_word
from coursepkg.projects.sign_language.options import Enroll
from coursepkg.validation import counted


def enroll_command(options: Enroll) -> int:
    """Add, replace and remove words; 1 where clips were left out."""
    out = required_out(options.out, "the folder of the words")
    if options.clips is None and not options.remove:
        raise ValueError(
            "name the folder of the clips, a folder a word, or give --remove WORD"
        )
    out = out.resolve()
    files = [] if options.clips is None else _files_with_words(options.clips)
    remove = [checked_word(word) for word in options.remove]
    replaced = {file.label.strip() for file in files if options.replace}
    notes: list[str] = []
    left_out: list[str] = []

    def note(line: str) -> None:
        notes.append(line)
        log_to_stderr(f"note: {line}")

    if out.is_dir() and any(out.iterdir()):
        words = Words.load(out, remove=remove, replace=replaced, report=note)
    else:
        words = Words().without(remove)
    new: frozenset[str] = frozenset()
    if files:
        words, new, left_out = enroll(
            files, words, replace_words=options.replace, report=note
        )
    for reason in left_out:
        log_to_stderr(f"error: {reason}")
    words.save(out)
    for word in words.labels:
        own = words.clips_of(word)
        signers = {one.signer for one in own if one.signer}
        people = f", {len(signers)} signers" if signers else ""
        print(f"{word}: {counted(len(own), 'clip')}{people}")
    for word in sorted(replaced - set(words.labels)):
        note(f"{word}: none of its clips could be enrolled, so the word is not there")
    for line in enrolment_notes(words, new):
        note(line)
    print(f"{len(words.labels)} words, {len(words.clips)} clips in {out}")
    if options.json:
        counts = {word: len(words.clips_of(word)) for word in words.labels}
        told = {"out": str(out), "words": counts}
        print_json({**told, "left_out": left_out, "notes": notes})
    return int(bool(left_out))


def _files_with_words(folder: Path) -> list[ClipFile]:
    """The clips of a folder; what is wrong with it is said.

    Raises:
        ValueError: no clip has a word.
        ImportError: av is not installed.
    """
    import_av()
    scan = scan_clips(folder)
    for problem in scan.problems:
        # A word with one clip cannot be both learnt and tested, but can be enrolled.
        if problem.kind != "one clip":
            log_to_stderr(f"note: {problem}")
    files = [file for file in scan.files if file.label]
    if not files:
        raise ValueError(
            f"{folder}: no clip has a word; put the clips of each word into a folder"
            " of its name"
        )
    return files
