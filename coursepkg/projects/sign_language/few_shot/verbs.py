"""What `coursepkg sign-language enroll` does."""

from coursepkg.app.output import log_to_stderr, print_json, required_out
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.video_file import import_av
from coursepkg.projects.sign_language.few_shot.recognizer import enroll, enrolment_notes
from coursepkg.projects.sign_language.few_shot.words import Words, checked_word
from coursepkg.projects.sign_language.options import Enroll


def enroll_command(options: Enroll) -> int:
    """Add, replace and remove words; 1 where clips were left out."""
    out = required_out(options.out, "the folder of the words")
    if options.clips is None and not options.remove:
        raise ValueError(
            "name the folder of the clips, a folder a word, or give --remove WORD"
        )
    out = out.resolve()
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; name a folder")
    words = Words.load(out) if out.is_dir() and any(out.iterdir()) else Words()
    if options.remove:
        words = words.without([checked_word(word) for word in options.remove])
    left_out: list[str] = []
    if options.clips is not None:
        import_av()
        scan = scan_clips(options.clips)
        for problem in scan.problems:
            log_to_stderr(f"note: {problem}")
        files = [file for file in scan.files if file.label]
        if not files:
            raise ValueError(
                f"{options.clips}: no clip has a word; put the clips of each word into"
                " a folder of its name"
            )
        words, left_out = enroll(
            files,
            words,
            replace_words=options.replace,
            report=lambda line: log_to_stderr(f"note: {line}"),
        )
    for reason in left_out:
        log_to_stderr(f"error: {reason}")
    words.save(out)
    notes = enrolment_notes(words) if words.clips else []
    for word in words.labels:
        own = words.clips_of(word)
        signers = {one.signer for one in own if one.signer}
        people = f", {len(signers)} signers" if signers else ""
        print(f"{word}: {len(own)} clips{people}")
    for note in notes:
        log_to_stderr(f"note: {note}")
    print(f"{len(words.labels)} words, {len(words.clips)} clips in {out}")
    if options.json:
        counts = {word: len(words.clips_of(word)) for word in words.labels}
        told = {"out": str(out), "words": counts}
        print_json({**told, "left_out": left_out, "notes": notes})
    return int(bool(left_out))
