"""Typesets formulas with KaTeX while the book is built.

A page holds each formula as HTML for the eye and as MathML for screen readers, so it needs no script in the
browser. A formula that KaTeX cannot read is a warning, and thus an error of the build.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

KATEX = Path(__file__).resolve().parents[1] / "vendor" / "katex" / "katex.min.js"
SHORT = 24
"""Characters of TeX up to which a formula stays on one line; a longer one may break after its signs."""
SIGN = re.compile(r"\\(?:[A-Za-z]+|.)|.", re.DOTALL)
"""A command or a character of TeX."""
logger = logging.getLogger(__name__)


@cache
def engine() -> MiniRacer:
    """A JavaScript engine that has read KaTeX."""
    racer = MiniRacer()
    racer.eval(KATEX.read_text(encoding="utf-8"))
    return racer


@cache
def typeset(tex: str, display: bool) -> str:
    """A formula as HTML and MathML.

    Raises:
        ValueError: for a formula that KaTeX cannot read; the text is KaTeX's own.
    """
    options = {"displayMode": display, "strict": "ignore"}
    try:
        return str(engine().call("katex.renderToString", tex, options))
    except JSEvalException as error:
        reason = next(line for line in str(error).splitlines() if "KaTeX" in line)
        raise ValueError(reason.strip()) from None


def as_display(tex: str) -> str:
    """The formula of a display as one environment: blank lines part equations."""
    parts = [part for part in tex.split("\n\n") if part.strip()]
    lines = [
        rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part
        for part in parts
    ]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{aligned}" + r"\\".join(lines) + r"\end{aligned}"


def breakable(tex: str) -> str:
    """A formula of a line that may also break after its commas, as far as they stand in no group."""
    depth, parts = 0, []
    for sign in SIGN.findall(tex):
        depth += {"{": 1, r"\left": 1, "}": -1, r"\right": -1}.get(sign, 0)
        parts.append(r",\allowbreak " if sign == "," and depth == 0 else sign)
    return "".join(parts)


def typeset_node(node: nodes.math | nodes.math_block, tex: str, display: bool) -> str:
    """The HTML of a formula; its source and a warning where it cannot be read."""
    try:
        return typeset(tex, display)
    except ValueError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return nodes.Text(node.astext()).astext()


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line of text."""
    tex = node.astext()
    is_short = len(tex) <= SHORT
    html = typeset_node(node, tex if is_short else breakable(tex), display=False)
    kind = "math short" if is_short else "math"
    self.body.append(self.starttag(node, "span", "", CLASS=kind) + html + "</span>")
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on lines of its own."""
    tex = node.astext() if node["nowrap"] else as_display(node.astext())
    html = typeset_node(node, tex, display=True)
    self.body.append(self.starttag(node, "div", CLASS="math") + html + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
