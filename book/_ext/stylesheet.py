"""One style sheet for the site: what its pages use of the theme's, with an icon font of the icons they show.

The theme and its extensions bring 550 kB of rules and 300 kB of icons to every page, of which the pages use a
tenth. When all pages are written, the rules whose classes, ids and elements occur in no page and no script are
left out, and so are the icons that no page shows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

import tinycss2
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

URL = re.compile(r"url\((?!\s*[\"']?(?:data:|#))\s*[\"']?([^)\"']+)[\"']?\s*\)")
IMPORT = re.compile(r"@import\s+(?:url\()?[\"']([^\"']+)[\"']\)?\s*;")
CLASSES = re.compile(r"\bclass=\"([^\"]*)\"")
IDS = re.compile(r"\bid=\"([^\"]*)\"")
TAGS = re.compile(r"<([a-z][a-z0-9-]*)")
WORDS = re.compile(r"[A-Za-z_][\w-]*")
VARIABLE = re.compile(r"var\(\s*(--[\w-]+)")
ICON = re.compile("[\ue000-\uf8ff]")
"""An icon in a rule: a character of Unicode's private area."""
NESTING = {"media", "supports", "layer"}


@dataclass(frozen=True)
class Used:
    """The names that occur in the pages, and all words of the scripts, which may set any of them."""

    names: frozenset[str]
    tags: frozenset[str]

    @classmethod
    def by(cls, pages: Iterable[str], scripts: Iterable[str]) -> "Used":
        """What pages and scripts use."""
        names: set[str] = set()
        tags = {"html", "body"}
        for page in pages:
            for value in CLASSES.findall(page):
                names.update(value.split())
            names.update(IDS.findall(page))
            tags.update(TAGS.findall(page))
        for script in scripts:
            names.update(WORDS.findall(script))
        return cls(frozenset(names), frozenset(tags))


def read_styles(static: Path, names: Iterable[str]) -> str:
    """The text of style sheets below the static folder, imports included, addresses relative to that folder."""
    return "\n".join(_read(static, PurePosixPath(name)) for name in names)


def _read(static: Path, name: PurePosixPath) -> str:
    text = (static / name).read_text(encoding="utf-8")

    def moved(match: re.Match[str]) -> str:
        return f'url("{normpath(name.parent / match[1])}")'

    text = URL.sub(moved, text)
    return IMPORT.sub(
        lambda match: _read(static, PurePosixPath(normpath(name.parent / match[1]))),
        text,
    )


@dataclass(frozen=True)
class Rule:
    """A rule or an at-rule: what stands before its brackets, its declarations, the rules inside it."""

    head: str
    declarations: list[str]
    rules: list["Rule"]

    def text(self, variables: set[str] | None = None) -> str:
        """The rule as CSS, of its variables only those named; empty where nothing is left."""
        kept = [
            declaration
            for declaration in self.declarations
            if variables is None
            or not declaration.startswith("--")
            or _name(declaration) in variables
        ]
        inside = ";".join(kept) + "\n".join(
            filter(None, (rule.text(variables) for rule in self.rules))
        )
        return f"{self.head}{{{inside}}}" if inside else ""


def used_rules(css: str, used: Used) -> str:
    """The rules that apply to something, without the variables that none of them reads."""
    parsed = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    rules = list(_kept(parsed, used))
    variables: set[str] | None = None
    while True:
        text = "\n".join(filter(None, (rule.text(variables) for rule in rules)))
        read = set(VARIABLE.findall(text))
        if read == variables:
            return text
        variables = read


def _kept(rules: Iterable[Any], used: Used) -> Iterator[Rule]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [
                part for part in _split(rule.prelude, ",") if _applies(part, used)
            ]
            if selectors:
                yield Rule(
                    ",".join(map(_css, selectors)), _declarations(rule.content), []
                )
        elif rule.type != "at-rule" or rule.content is None:
            continue
        elif rule.lower_at_keyword in NESTING:
            inner = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            yield Rule(
                f"@{rule.at_keyword} {_css(rule.prelude)}", [], list(_kept(inner, used))
            )
        else:
            yield Rule(
                f"@{rule.at_keyword} {_css(rule.prelude)}", [_css(rule.content)], []
            )


def _declarations(content: list[Any]) -> list[str]:
    return [text for text in map(_css, _split(content, ";")) if text]


def _name(declaration: str) -> str:
    return declaration.partition(":")[0].strip()


def _css(tokens: Iterable[Any]) -> str:
    return tinycss2.serialize(
        token for token in tokens if token.type != "comment"
    ).strip()


def _split(tokens: list[Any], mark: str) -> Iterator[list[Any]]:
    """The parts of a list of tokens between marks."""
    part: list[Any] = []
    for token in tokens:
        if token == mark:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _applies(selector: list[Any], used: Used) -> bool:
    """Whether every class, id and element that a selector names outside brackets occurs."""
    before = ""
    for token in selector:
        if token.type == "ident":
            if before == "." and token.value not in used.names:
                return False
            if before not in (".", ":") and token.value.lower() not in used.tags:
                return False
        if token.type == "hash" and token.value not in used.names:
            return False
        before = token.value if token.type == "literal" else ""
    return True


def subset_fonts(css: str, static: Path) -> str:
    """The style sheet with each icon font cut down to the icons that its rules name."""
    icons = {ord(icon) for icon in ICON.findall(css)}
    faces = re.findall(r"@font-face\s*\{[^}]*\}", css)
    for face in faces:
        files = [name for name in URL.findall(face) if name.endswith(".ttf")]
        if not files or "Font Awesome" not in face.replace("\\", ""):
            continue
        small = _subset(static / files[0], icons)
        source = f'src:url("{relpath(small, static)}") format("woff")' if small else ""
        css = css.replace(face, re.sub(r"src:[^;}]*", source, face) if small else "")
    return css


def _subset(font_file: Path, icons: set[int]) -> Path | None:
    """The icons of a font as a file beside it; None where it has none of them."""
    font = TTFont(font_file)
    present = icons & set(font.getBestCmap())
    if not present:
        return None
    subsetter = Subsetter(Options(drop_tables=["GSUB", "GPOS"], notdef_outline=False))
    subsetter.populate(unicodes=present)
    subsetter.subset(font)
    font.flavor = "woff"
    target = font_file.with_suffix(".icons.woff")
    font.save(target)
    return target


SEARCH_INDEX = "search_index.js"
"""Of an earlier build: it holds every word of the book, and names no class."""


def is_page(site: Path, path: Path) -> bool:
    """Whether an HTML file is a page of this site: no slides, and not of a language's own site below it."""
    top = path.relative_to(site).parts[0]
    return top not in ("_static", "slides") and not (site / top / "_static").is_dir()


def write_stylesheet(site: Path, names: Iterable[str]) -> None:
    """Write the style sheet of a site whose pages are all there."""
    static = site / "_static"
    pages = (
        path.read_text(encoding="utf-8")
        for path in site.rglob("*.html")
        if is_page(site, path)
    )
    scripts = (
        path.read_text(encoding="utf-8")
        for name in ("*.js", "scripts/pydata-sphinx-theme.js")
        for path in static.glob(name)
        if path.name != SEARCH_INDEX
    )
    css = used_rules(read_styles(static, names), Used.by(pages, scripts))
    (static / "site.css").write_text(subset_fonts(css, static), encoding="utf-8")
