"""Near-identical solutions of a task, as a hint for a person, never a mark.

A solution becomes the bag of its syntax trees, each in a normal form: names that it
binds are all one, comments, docstrings and annotations are gone, a constant is its
type, and the operands of `+`, `*`, `and`, `==` and the like have one order. What is in
the notebook that was handed out does not count. Of two bags A and B

    similarity = 2 |A and B| / (|A| + |B|)

An answer in words is the bag of its runs of five words. Two notebooks with the same
line `STUDENT = "..."` have the same numbers to work out by hand; they are named, too.
"""

import ast
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coursepkg.grading.course import Course
from coursepkg.grading.driver import without_magics
from coursepkg.grading.grade import find_notebook
from coursepkg.grading.sandbox import clean_text
from coursepkg.grading.source import Assignment, Cell, read_cells
from coursepkg.validation import one_line

LEAST_NODES = 3
"""Nodes of the smallest tree that counts."""
LEAST_TREES = 12
"""A solution with fewer trees of its own is too short to tell anything."""
RUN_OF_WORDS = 5
OTHER_CELLS = "other cells"
"""Stands for the code of the cells that a student added."""
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
TURNED = {ast.Gt: "Lt", ast.GtE: "LtE"}
LEFT_OUT = ("annotation", "returns", "type_params", "type_comment", "ctx", "kind")
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")

Bag = Counter[str]


@dataclass(frozen=True)
class Pair:
    """Two students whose solutions of a task are nearly the same."""

    assignment: str
    task: str
    students: tuple[str, str]
    similarity: float
    """In (0, 1]; 1 where nothing but names and the like differ."""
    size: int
    """Trees of the smaller solution, or runs of words: the more, the less by chance."""


@dataclass
class Similar:
    """What a comparison found."""

    pairs: list[Pair] = field(default_factory=list)
    """The most alike first."""
    compared: dict[str, int] = field(default_factory=dict)
    """Solutions that were long enough to be compared, by task."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Student and why the notebook, or a cell of it, could not be compared."""
    shared_ids: dict[str, list[str]] = field(default_factory=dict)
    """What several students wrote as their `STUDENT`, and who they are."""


def find_similar(course: Course, name: str, threshold: float) -> Similar:
    """Compare all submissions of an assignment, task by task.

    Args:
        threshold: the least similarity of a pair that is reported, in (0, 1].

    Raises:
        ValueError: the assignment was not released.
    """
    course.require_released(name)
    assignment = Assignment.read(course.source(name))
    starter = _starter(read_cells(course.release(name)))
    found = Similar()
    bags: dict[str, dict[str, Bag]] = {}
    ids: dict[str, list[str]] = {}
    for student in course.students(name):
        try:
            path = find_notebook(course.submission(student, name))
            cells = read_cells(path)
        except (OSError, ValueError) as reason:
            found.unreadable.append((student, clean_text(one_line(reason))))
            continue
        for one in {one for cell in cells for one in _student_ids(cell)}:
            ids.setdefault(one, []).append(student)
        for task, text, is_code in _answers(assignment, cells):
            try:
                bag = trees(text) if is_code else runs_of_words(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as reason:
                why = f"{task} is no Python ({one_line(reason)[:80]})"
                found.unreadable.append((student, clean_text(why)))
                continue
            own = Counter({one: n for one, n in bag.items() if one not in starter})
            if own.total() >= (LEAST_TREES if is_code else 2 * RUN_OF_WORDS):
                bags.setdefault(task, {})[student] = own
    for task, by_student in bags.items():
        found.compared[task] = len(by_student)
        found.pairs += _pairs(name, task, by_student, threshold)
    found.shared_ids = {one: who for one, who in sorted(ids.items()) if len(who) > 1}
    found.pairs.sort(key=lambda one: (-one.similarity, one.task, one.students))
    return found


def _student_ids(cell: Cell) -> Iterator[str]:
    """What a cell gives to `STUDENT`, as the numbers to work by hand depend on it."""
    try:
        program = ast.parse(cell.source if cell.kind == "code" else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in program.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="STUDENT")], value=ast.Constant(value=str() as one)
            ) if one.strip():
                yield clean_text(one_line(one.strip().casefold()))


def _pairs(
    name: str, task: str, bags: Mapping[str, Bag], threshold: float
) -> Iterator[Pair]:
    for (a, first), (b, second) in itertools.combinations(bags.items(), 2):
        value = similarity(first, second)
        if value >= threshold:
            size = min(first.total(), second.total())
            yield Pair(name, task, (a, b), round(value, 3), size)


def similarity(first: Bag, second: Bag) -> float:
    """The share of two bags that is in both, in [0, 1]."""
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def _answers(
    assignment: Assignment, cells: Sequence[Cell]
) -> Iterator[tuple[str, str, bool]]:
    """Task, answer, and whether it is code; the cells that were added come last."""
    known = {cell.grade_id for cell in assignment.cells if cell.grade_id}
    wanted = {cell.grade_id for cell in assignment.cells if cell.solution}
    own = []
    for cell in cells:
        if cell.grade_id in wanted:
            yield cell.grade_id, cell.source, cell.kind == "code"
        elif cell.kind == "code" and cell.grade_id not in known:
            own.append(cell.source)
    if own:
        yield OTHER_CELLS, "\n".join(own), True


def _starter(cells: Sequence[Cell]) -> set[str]:
    """All that students were given: trees of code, runs of words of text."""
    found: set[str] = set()
    for cell in cells:
        try:
            is_code = cell.kind == "code"
            found |= (
                trees(cell.source) if is_code else runs_of_words(cell.source)
            ).keys()
        except SyntaxError:
            continue
    return found


def runs_of_words(text: str) -> Bag:
    """The runs of five words of a text, without case and punctuation."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    ends = range(RUN_OF_WORDS, len(words) + 1)
    return Counter(" ".join(words[end - RUN_OF_WORDS : end]) for end in ends)


def trees(code: str) -> Bag:
    """The syntax trees of some code in their normal form.

    Raises:
        SyntaxError: it is no Python, also without lines of magic.
        RecursionError: it lies too deep in one another.
    """
    try:
        program = ast.parse(code)
    except SyntaxError:
        program = ast.parse(without_magics(code))
    form = _NormalForm(program)
    form.of(program)
    return form.bag


class _NormalForm:
    """Writes each node as text; keeps those that are large enough."""

    def __init__(self, program: ast.Module) -> None:
        self.bag: Bag = Counter()
        self.names = dict(_bound_names(program))

    def of(self, node: Any) -> tuple[str, int]:
        """The text of a node or plain value, and how many nodes it has."""
        if isinstance(node, list):
            parts = [self.of(one) for one in node]
            return ",".join(text for text, _ in parts), sum(n for _, n in parts)
        if not isinstance(node, ast.AST):
            return str(node), 0
        text, size = self._text(node)
        if size >= LEAST_NODES and isinstance(node, ast.expr | ast.stmt):
            self.bag[text] += 1
        return text, size

    def _text(self, node: ast.AST) -> tuple[str, int]:
        match node:
            case ast.Name(id=name):
                return self.names.get(name, name), 1
            case ast.arg(arg=name):
                return self.names.get(name, name), 1
            case ast.Constant(value=value):
                return f"<{type(value).__name__}>", 1
            case ast.Expr(value=ast.Constant()):
                return "", 0
            case ast.BinOp(op=op) if isinstance(op, COMMUTATIVE):
                return self._sorted(type(op).__name__, _operands(node, type(op)))
            case ast.BoolOp(op=op, values=values):
                return self._sorted(type(op).__name__, values)
            case ast.Set(elts=elements):
                return self._sorted("Set", elements)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op]):
                return self._sorted(type(op).__name__, [left, *node.comparators])
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op]):
                return self._joined(TURNED[type(op)], [*node.comparators, left])
            case ast.Compare(left=left, ops=[op]):
                return self._joined(type(op).__name__, [left, *node.comparators])
            case ast.AnnAssign(target=target, value=value):
                return self._joined("Assign", [target, value] if value else [target])
            case ast.AugAssign(target=target, op=op, value=value):
                sum_of = ast.BinOp(left=target, op=op, right=value)
                return self._joined("Assign", [target, sum_of])
            case ast.Call(func=func, args=args, keywords=keywords):
                named = sorted(keywords, key=lambda one: one.arg or "")
                return self._joined("Call", [func, *args, *named])
        return self._any(node)

    def _any(self, node: ast.AST) -> tuple[str, int]:
        """Type and fields; a body is read for its own trees, and is no part of it."""
        texts, size = [], 1
        for name, value in ast.iter_fields(node):
            if name in LEFT_OUT:
                continue
            text, n = self.of(value)
            is_body = name in BODIES and isinstance(value, list)
            if not is_body and not (name == "name" and isinstance(node, ast.stmt)):
                texts.append(text)
                size += n
        return f"{type(node).__name__}({';'.join(texts)})", size

    def _joined(self, kind: str, nodes: Sequence[ast.AST]) -> tuple[str, int]:
        parts = [self.of(node) for node in nodes]
        return f"{kind}({';'.join(t for t, _ in parts)})", 1 + sum(n for _, n in parts)

    def _sorted(self, kind: str, nodes: Sequence[ast.AST]) -> tuple[str, int]:
        parts = sorted(self.of(node) for node in nodes)
        return f"{kind}({';'.join(t for t, _ in parts)})", 1 + sum(n for _, n in parts)


def _operands(node: ast.AST, kind: type[ast.operator]) -> list[ast.AST]:
    """The operands of a chain of one commutative operator."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        return [*_operands(node.left, kind), *_operands(node.right, kind)]
    return [node]


def _bound_names(program: ast.Module) -> Iterator[tuple[str, str]]:
    """What each name that the code binds is called in the normal form."""
    for node in ast.walk(program):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, "_"
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, "_"
            case ast.ExceptHandler(name=str() as name):
                yield name, "_"
            case ast.alias(name=name, asname=str() as short):
                yield short, name
