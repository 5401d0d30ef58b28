"""`coursepkg translation dictionary`: learn a bilingual dictionary from a corpus."""

from dataclasses import dataclass, field

from coursepkg.app.output import print_json
from coursepkg.projects.translation.commands import Common, CommonOptions


@dataclass(frozen=True)
class LearnDictionary:
    """Learn which words translate each other, from the training part alone, and write
    them to --out as TSV.
    """  # noqa: D205

    common: CommonOptions = field(default_factory=Common)

    def run(self) -> int:
        """Learn, write, and return the exit code."""
        from coursepkg.projects.translation.errors.dictionary import Dictionary

        if self.common.out is None:
            raise ValueError("--out FILE must be given, the TSV file to write")
        parts = self.common.parts()
        # The corpora come cut into words, Vietnamese compounds joined: what is wanted
        # here.
        learnt = Dictionary.learn(
            [(p.source.split(), p.target.split()) for p in parts.train]
        )
        learnt.save(self.common.out)
        print(f"{len(learnt)} entries in {self.common.out}")
        if self.common.json:
            print_json(
                {
                    "out": str(self.common.out),
                    "entries": len(learnt),
                    "corpora": [parts.corpus],
                }
            )
        return 0
