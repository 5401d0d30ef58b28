"""The options of `coursepkg translation neighbours`, and what it does."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from coursepkg.documents import print_json
from coursepkg.projects.translation.commands import Common, CommonOptions


@dataclass(frozen=True)
class Neighbours:
    """Give a model a datastore of its training part, and choose on dev how much of it to mix in.

    Half of dev chooses weight and temperature, the other half judges. The datastore goes into the folder of the run;
    `evaluate`, `predict` and `rerank` use it with --neighbours.
    """

    common: CommonOptions = field(default_factory=Common)
    model: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder that `train` wrote; without it that of --preset."""
    weights: Annotated[tuple[float, ...], tyro.conf.arg(metavar="WEIGHT...")] = ()
    """Weights of the neighbours to try, in [0, 1]; 0.2 to 0.5 if none is given. The model alone is always tried."""
    temperatures: Annotated[tuple[float, ...], tyro.conf.arg(metavar="T...")] = ()
    """Temperatures of their squared distances to try, above 0; 5, 10 and 20 if none is given."""
    k: Annotated[int, tyro.conf.arg(aliases=["-k"])] = 16
    """Neighbours of each state."""
    limit: int = 0
    """Take only so many sentences of each half of dev, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once."""

    def run(self) -> int:
        """Build, tune and store; print the table."""
        from coursepkg.projects.translation.halves import dev_halves
        from coursepkg.projects.translation.neighbours import FOLDER, build_datastore
        from coursepkg.projects.translation.neighbours_study import TEMPERATURES, WEIGHTS, neighbour_study
        from coursepkg.projects.translation.predict_command import load_translator

        self._check()
        common = self.common
        translator, folder = load_translator(common, self.model)
        parts = common.parts(self.model)
        dev_halves(parts)  # a dev part that is too small is said before the long work
        store = build_datastore(translator, parts, batch_size=self.batch_size)
        print(f"{len(store)} target tokens of {len(parts.train)} training pairs", flush=True)
        study = neighbour_study(
            translator,
            store,
            parts,
            weights=self.weights or WEIGHTS,
            temperatures=self.temperatures or TEMPERATURES,
            k=self.k,
            limit=self.limit,
            batch_size=self.batch_size,
            report=lambda row: print(
                f"weight {row.weight:g}, temperature {row.temperature:g}: BLEU {row.bleu:.2f}", flush=True
            ),
        )
        document = study.as_json()
        replace(store, settings=study.settings).save(folder / FOLDER, study=document)
        print(study)
        print(
            f"datastore in {folder / FOLDER}; use it: coursepkg translation predict --model {folder} --neighbours"
        )
        if common.json:
            told = {"model": folder.name, "corpus": parts.corpus, "from": parts.source, "to": parts.target}
            print_json(told | document)
        return 0

    def _check(self) -> None:
        """Raises a ValueError that names the option which cannot be, before any long work."""
        from coursepkg.arguments import check_count
        from coursepkg.decoding.neighbours import check_neighbours
        from coursepkg.projects.translation.neighbours import FOLDER

        if self.model is None and self.common.preset is None:
            raise ValueError("--model FOLDER must be given: the datastore goes into that folder")
        if self.common.out is not None:
            raise ValueError(f"--out does not go with neighbours: the datastore goes into MODEL/{FOLDER}")
        for weight in self.weights:
            check_neighbours(weight, 1.0, 1, 1)
        for temperature in self.temperatures:
            check_neighbours(1.0, temperature, 1, 1)
        for name in ("k", "batch_size"):
            check_count(name, getattr(self, name))
        check_count("--limit", self.limit, least=0)
