"""Every data set of the course: its files, address, licence, and how to ask for them.

An address stands here only where it is public and known to lead to the file. Contest
data and sets for research only have none: their entry says how to ask for them and
where to put them.
"""

import difflib
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from coursepkg.files import cache_folder


def data_folder() -> Path:
    """The folder of the real data sets: `$COURSEPKG_DATA`, or the user's cache.

    The folder may not exist yet. Where a set is missing, the generated one that ships
    with the package serves.

    Raises:
        ValueError: the variable begins with `~` and a name that no user has.
    """
    chosen = os.environ.get("COURSEPKG_DATA")
    if not chosen:
        return cache_folder()
    try:
        return Path(chosen).expanduser()
    except RuntimeError:
        raise ValueError(
            f"COURSEPKG_DATA is {chosen}, and no user of this machine has that home"
            " folder; set it to another folder"
        ) from None


_STANFORD = "https://nlp.stanford.edu/projects/nmt/data/iwslt15.en-vi"


@dataclass(frozen=True)
class DataFile:
    """A file or folder of a set, and where it can be downloaded from."""

    path: str
    """Place in the folder of the set."""
    url: str = ""
    """Address; empty where there is no public one."""
    sha256: str | None = None
    """SHA-256 of what the address gives, or of the file that has none; None where it is
    not known, and the first download decides."""
    size_limit: int = 100_000_000
    """Largest download that is accepted, in bytes."""
    lines: int | None = None
    """Lines of a text file, 1 or more; None where they are not checked."""

    def __post_init__(self) -> None:
        place = Path(self.path)
        if not self.path or place.is_absolute() or ".." in place.parts:
            raise ValueError(
                f"path must lie in the folder of the set, got {self.path!r}"
            )
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValueError(
                f"url must begin with https:// or http://, got {self.url!r}"
            )
        if self.sha256 is not None and (
            len(self.sha256) != 64 or set(self.sha256) - set("0123456789abcdef")
        ):
            raise ValueError(
                f"sha256 must be 64 hexadecimal digits, got {self.sha256!r}"
            )
        if self.size_limit < 1:
            raise ValueError(f"size_limit must be at least 1, got {self.size_limit}")
        if self.lines is not None and self.lines < 1:
            raise ValueError(f"lines must be at least 1 or None, got {self.lines}")


@dataclass(frozen=True)
class DataSet:
    """A data set of the course."""

    name: str
    """Name of the set and of its folder under the data folder."""
    summary: str
    """What it holds, in one line."""
    licence: str
    """What its owners allow."""
    ask: str
    """How to get the files that have no address."""
    files: tuple[DataFile, ...]
    """Its files."""
    attribution: str = ""
    """Packaged file with what must stand beside everything that is made from it and
    shipped; empty where nothing may ship."""

    @property
    def downloadable(self) -> tuple[DataFile, ...]:
        """The files that have an address."""
        return tuple(file for file in self.files if file.url)


# The SHA-256 and sizes of the IWSLT'15 files are those on record in Hugging Face
# datasets (datasets/mt_eng_vietnamese/dataset_infos.json); the two of tst2012 were
# compared with copies of the files.
_IWSLT = """
train.en 13603614 133317
    c26dfeed74b6bf3752f5ca552f2412456f0de153f7c804df8717931fb3a5c78a
train.vi 18074646 133317
    707206edf2dc0280273952c7b70544ea8a1363aa69aaeb9d70514b888dc3067d
tst2012.en 140250 1553
    b8fbcd0d4199d41276421d1f7228298df67dd9e2c5c134c2ee8cdf3ec27801e2
tst2012.vi 188396 1553
    01004078b3f36b0c46e81b65fc6851230b3c823405c76d1d82ef3b786b512ff0
tst2013.en 132264 1268
    3860ce60bc5b85d96cc2d3d580cf1bc9d62440e939c1b964676d3607c4e8f1df
tst2013.vi 183855 1268
    29af16842808da2812b8fd4d47fc05d082ba870e60ab7755090ad04b380994cd
"""
"""Name, bytes, lines and SHA-256 of each file."""


_SCANNED_RECEIPTS = """
10_2 12_2 18_3 21_2 2_2 3 4_1 4_3 7_2 8_2 no_0164 no_0178 no_0258
"""
"""Names of the pages of `vi_receipts`."""


def _iwslt() -> tuple[DataFile, ...]:
    words = _IWSLT.split()
    rows = zip(*(words[i::4] for i in range(4)), strict=True)
    return tuple(
        DataFile(name, f"{_STANFORD}/{name}", sha256, int(size), int(lines))
        for name, size, lines, sha256 in rows
    )


_EN_VI = DataSet(
    "en_vi",
    "IWSLT'15 English-Vietnamese, TED talks: 133,317 training pairs, dev and test sets",
    "CC BY-NC-ND 3.0 (TED talks)",
    "dev2010, tst2010 and tst2011 are in the IWSLT 2015 release en-vi of WIT3"
    " (https://wit3.fbk.eu) as XML files: write the text of each <seg> on a line of"
    " its own",
    (
        *_iwslt(),
        *(
            DataFile(f"{part}.{side}")
            for part in ("dev2010", "tst2010", "tst2011")
            for side in ("en", "vi")
        ),
    ),
)

_OPEN = """
tatoeba.tsv 6925 8e95293af8681d81f7ce5788abb530496d68dd426f7bc2d73d59d210b225d0f9
tatoeba.LICENCE - 845531cbc3dba7a799f838af82782e0bf68ffb021498ee29f0d8c06402bbbf4e
ms_ht.tsv 35471 b006c743a000508b408b4004c87df01b8abde286b3c62fa85e4f37a741da015b
ms_ht.LICENCE - df57b44501a1589bfebadcd740ccaac3fb076f51036fde1ae30219a9dd4087ac
docs_react.tsv 1414 79a5a91e4e608b242dd0742724c81dc3f919cad972e4790dc73b854826f9ba8c
docs_react.LICENCE - 04170efe4fb4f6c24c5e3c6d68180c91ab8fcd98aaa77a396a04506cb65fc504
l10n_perm.tsv 26818 a330ceb3069e149ecfa0adc500fd0d4a8d194dd06df1225cdf3c466f583d6b8e
l10n_perm.LICENCE - d60b4146db06dabbee5a174544f926ee1a4e63425970d7586186842670a3e336
l10n_mpl.tsv 2830 da398852da5b862e56f91aa4f3f6691b913fb683b2d037172df6b75589115423
l10n_mpl.LICENCE - c2807b6c2b5c2f211a6162b980ed0c7f94574bc9f600e2942221e059622de7fb
ms_mt.tsv 28479 4034465f0f8a64aa42ebb6351362b5255dc0d98558463ecfc373864d258ce192
ms_mt.LICENCE - 79afb63bcf387fdc8396710c1c9a20731f785d28d8caa0cbb919188dbe114f08
vi_wikipedia.txt.xz - bd885ab85a56af4fa0cc373bbebf8f613b891cce7faf97df1c1407921ea23c23
vi_wikipedia.LICENCE - bc7da4bbe36fafb7aefcc1ed93007ab6d7afdac1745372fba642b35db6be3ded
"""
"""Name, lines of the tables and SHA-256 of each file."""


def _open_files() -> tuple[DataFile, ...]:
    rows = (line.split() for line in _OPEN.split("\n") if line)
    return tuple(
        DataFile(name, sha256=sha256, lines=None if lines == "-" else int(lines))
        for name, lines, sha256 in rows
    )


_OPEN_SET = DataSet(
    "open",
    "open English-Vietnamese text, 101,931 pairs, 77,529 of them with Chinese: everyday"
    " sentences, documentation, interface strings; 112,919 paragraphs of the Vietnamese"
    " Wikipedia",
    "CC BY 2.0 FR (tatoeba), CC BY 4.0 (ms_ht, ms_mt, docs_react), Apache-2.0, MIT, ISC"
    " and BSD-3-Clause (l10n_perm), MPL-2.0 (l10n_mpl), CC BY-SA 3.0 (vi_wikipedia)",
    "no public address holds the files as they are; ask your instructor. The LICENCE"
    " file beside each names the public repositories and commits that its lines come"
    " from. coursepkg data fetch open compares files that are there with their SHA-256",
    _open_files(),
    "open_attribution.txt",
)

SETS: dict[str, DataSet] = {
    one.name: one
    for one in (
        _OPEN_SET,
        DataSet(
            "zh_vi",
            "Chinese-Vietnamese training pairs of the 2025 AI Olympiad, 32,061 in the"
            " contest's file",
            "none stated; for those who took part in the contest",
            "ask the organisers of the 2025 AI Olympiad for the training file of the"
            " translation task",
            (DataFile("train.zh"), DataFile("train.vi")),
        ),
        _EN_VI,
        DataSet(
            "nom_vi",
            "594 lines of modern prose in Nom with their quoc ngu reading, one"
            " character a syllable",
            "Apache-2.0 (tat_den.tsv), CC BY-SA (wikipedia.tsv)",
            "no public address is known; ask your instructor. Each file has the columns"
            " line, nom, quoc_ngu, quoc_ngu_segmented, separated by tabs",
            (DataFile("tat_den.tsv"), DataFile("wikipedia.tsv")),
        ),
        DataSet(
            "mc_ocr",
            "MC-OCR 2021: Vietnamese receipts photographed with phones, their text"
            " lines marked",
            "research use only",
            "ask the organisers of the MC-OCR challenge"
            " (https://www.rivf2021-mc-ocr.vietnlp.com/dataset)",
            (DataFile("mcocr_train_df.csv"), DataFile("images")),
        ),
        DataSet(
            "vi_lines",
            "632 lines of Vietnamese official documents with their text: 592 rendered"
            " from PDF, 40 as a screen shows them",
            "official documents",
            "no public address is known; ask your instructor. labels.tsv holds path,"
            " tab, text",
            (DataFile("labels.tsv"), DataFile("documents"), DataFile("directive")),
        ),
        DataSet(
            "vi_receipts",
            "13 scanned Vietnamese receipts with a box and a text for each word; some"
            " labels lack digits or marks: for comparing readers alone",
            "none stated; do not pass it on",
            "no public address is known; ask your instructor. Beside each NAME.jpg lies"
            " NAME.txt: x1,y1,...,x4,y4,text, a word a line",
            tuple(
                DataFile(f"{name}{end}")
                for name in _SCANNED_RECEIPTS.split()
                for end in (".jpg", ".txt")
            ),
        ),
        DataSet(
            "signs",
            "63 clips of 33 signed words in American, Turkish and Indian sign language",
            "none stated; do not pass it on",
            "no public address is known; ask your instructor. manifest.csv names the"
            " owner of each clip",
            tuple(
                map(DataFile, ("manifest.csv", "asl_pairs", "tid_pairs", "isl_single"))
            ),
        ),
    )
}
"""The sets by name."""


def find_set(name: str) -> DataSet:
    """The set of this name; a hyphen reads as an underscore.

    Raises:
        ValueError: there is none; the names are listed.
    """
    plain = name.strip().lower().replace("-", "_")
    if plain not in SETS:
        near = difflib.get_close_matches(plain, SETS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        listed = ", ".join(SETS)
        raise ValueError(f"unknown data set {name!r}; {hint}the sets are {listed}")
    return SETS[plain]


def attribution_of(name: str) -> str:
    """What must stand beside everything that is made from a set and shipped.

    It names sources, authors and licences; empty where nothing made from it may ship.

    Example:
        >>> "Tatoeba" in attribution_of("open")
        True
    """
    file = find_set(name).attribution
    if not file:
        return ""
    return (resources.files("coursepkg.data") / file).read_text(encoding="utf-8")


def folder_of(name: str, within: Path | None = None) -> Path:
    """The folder of a set: in another folder, or in the data folder of this machine."""
    return (within or data_folder()) / find_set(name).name


def missing_files(name: str, within: Path | None = None) -> list[str]:
    """The files of a set that are not there."""
    folder = folder_of(name, within)
    return [
        file.path for file in find_set(name).files if not (folder / file.path).exists()
    ]


def is_present(name: str, *paths: str, within: Path | None = None) -> bool:
    """Whether these files of a set are there; all of its files where none is named.

    Example:
        >>> is_present("en_vi", "train.en", "train.vi", within=Path("nowhere"))
        False
    """
    folder = folder_of(name, within)
    return (
        all((folder / path).exists() for path in paths)
        if paths
        else not missing_files(name, within)
    )
