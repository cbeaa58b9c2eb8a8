"""Mutants of a module: the operators of mutmut, each applied at one place.

mutmut lets a trampoline choose among copies of a function, and so passes over decorated
ones. Here the code of the living function is exchanged in a forked process, and
properties are mutated too.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import (
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    WhitespaceInclusivePositionProvider,
)
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

HARMLESS = {"property", "classmethod", "staticmethod", "abstractmethod"}
HEADS = (cst.If, cst.While, cst.For, cst.With, cst.ExceptHandler, cst.Try)


@dataclass(frozen=True)
class Mutant:
    """One change: characters ``start`` to ``end`` of a file become ``text``."""

    file: str
    function: str
    number: int
    first_line: int  # of the statement that is changed
    last_line: int
    start: int
    end: int
    text: str
    before: str
    after: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.function}:{self.number}"

    @property
    def module(self) -> str:
        return f"graphfold.{self.file.removesuffix('.py').replace('/', '.')}"

    def apply(self, source: str) -> None:
        """Give the living function the changed code, in this process."""
        changed = source[: self.start] + self.text + source[self.end :]
        path = sys.modules[self.module].__file__
        function = living(self.module, self.function)
        code = code_of(compile(changed, str(path), "exec"), self.function)
        function.__code__ = code
        _renew_defaults(function, changed, self.function)


def living(module: str, qualname: str) -> Any:
    """The function itself, whatever it is wrapped in."""
    found: Any = sys.modules[module]
    for name in qualname.split("."):
        found = vars(found)[name]
    if isinstance(found, property):
        return found.fget
    if isinstance(found, cached_property):
        return found.func
    return getattr(found, "__func__", found)


def code_of(code: types.CodeType, qualname: str) -> types.CodeType:
    """The code of a function within the code of its module."""
    for name in qualname.split("."):
        parts = [part for part in code.co_consts if isinstance(part, types.CodeType)]
        code = next(part for part in parts if part.co_name == name)
    return code


def _renew_defaults(function: Any, source: str, qualname: str) -> None:
    """Defaults are no part of the code: those that are plain values are read again."""
    import ast

    body: Any = ast.parse(source)
    for name in qualname.split("."):
        body = next(n for n in body.body if getattr(n, "name", None) == name)

    def values(nodes: list[Any], old: list[Any]) -> list[Any]:
        return [
            node.value if isinstance(node, ast.Constant) else value
            for node, value in zip(nodes, old, strict=True)
        ]

    if function.__defaults__:
        new = values(body.args.defaults, list(function.__defaults__))
        function.__defaults__ = tuple(new)
    if function.__kwdefaults__:
        named = zip(body.args.kwonlyargs, body.args.kw_defaults, strict=True)
        for argument, node in named:
            if isinstance(node, ast.Constant):
                function.__kwdefaults__[argument.arg] = node.value


class Visitor(MutationVisitor):
    """mutmut's, also within properties."""

    METADATA_DEPENDENCIES = (
        *MutationVisitor.METADATA_DEPENDENCIES,
        ParentNodeProvider,
        WhitespaceInclusivePositionProvider,
    )

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef) and node.decorators:
            names = [getattr(d.decorator, "value", None) for d in node.decorators]
            return not HARMLESS.issuperset(names)
        return super()._skip_node_and_children(node)

    def _create_mutations(self, node: cst.CSTNode) -> None:
        before = len(self.mutations)
        super()._create_mutations(node)
        for mutation in self.mutations[before:]:
            self.places[id(mutation)] = self._place(node)

    def _place(self, node: cst.CSTNode) -> Place | None:
        chain = [node]
        while not isinstance(chain[-1], cst.Module):
            chain.append(self.get_metadata(ParentNodeProvider, chain[-1]))
        outer = [n for n in chain if isinstance(n, cst.FunctionDef)]
        if not outer:
            return None  # in the body of a module or class: run once, at import
        top = chain[chain.index(outer[-1]) :]
        named = [n for n in top if isinstance(n, cst.FunctionDef | cst.ClassDef)]
        function = ".".join(n.name.value for n in reversed(named))
        span = self.get_metadata(WhitespaceInclusivePositionProvider, node)
        return Place(function, self._lines(chain), span, _is_message(chain))

    def _lines(self, chain: list[cst.CSTNode]) -> tuple[int, int]:
        for node in chain:
            where = self.get_metadata(PositionProvider, node, None)
            if isinstance(node, cst.SimpleStatementLine):
                return where.start.line, where.end.line
            if isinstance(node, HEADS):
                body = self.get_metadata(PositionProvider, node.body)
                return where.start.line, max(where.start.line, body.start.line - 1)
            if isinstance(node, cst.FunctionDef):
                return where.start.line + 1, where.end.line
        raise AssertionError(chain)


@dataclass(frozen=True)
class Place:
    """Where a change is: the function, the lines of the statement, the characters."""

    function: str
    lines: tuple[int, int]
    span: Any
    is_message: bool


def _is_message(chain: list[cst.CSTNode]) -> bool:
    """Whether this is literal text of an error or a warning."""
    if not isinstance(chain[0], cst.BaseString):
        return False
    for node in chain:
        if isinstance(node, cst.Raise):
            return True
        if isinstance(node, cst.Call):
            called = getattr(node.func, "attr", node.func)
            if getattr(called, "value", "") == "warn":
                return True
    return False


def mutants_of(root: Path, file: str) -> tuple[list[Mutant], int]:
    """All mutants of a file under ``root``, and how many messages were left alone."""
    source = (root / file).read_text()
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    visitor.places = {}
    wrapper.visit(visitor)
    found = list(_located(visitor, wrapper.module, source, file))
    kept = [mutant for mutant, is_message in found if not is_message]
    return kept, len(found) - len(kept)


def _located(
    visitor: Visitor, module: cst.Module, source: str, file: str
) -> Iterator[tuple[Mutant, bool]]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    numbers: dict[str, int] = {}
    for mutation in visitor.mutations:
        place = visitor.places[id(mutation)]
        if place is None:
            continue
        first, last = place.span.start, place.span.end
        start = starts[first.line - 1] + first.column
        end = starts[last.line - 1] + last.column
        text = module.code_for_node(mutation.mutated_node)
        number = numbers[place.function] = numbers.get(place.function, 0) + 1
        before, after = _shown(source, start, end, text)
        yield (
            Mutant(
                file, place.function, number, *place.lines,
                start, end, text, before, after,
            ),
            place.is_message,
        )  # fmt: skip


def _shown(source: str, start: int, end: int, text: str) -> tuple[str, str]:
    """The lines that change, in short: without what both have at their ends."""
    left = source.rfind("\n", 0, start) + 1
    right = source.find("\n", end)
    before = " ".join(source[left:right].split())
    after = " ".join((source[left:start] + text + source[end:right]).split())
    return before, after
