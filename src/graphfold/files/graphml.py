"""graphml files of strangers: XML without tricks, before networkx sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

DEEPEST = 64


def check_xml(path: Path) -> None:
    """Refuse a document type, and with it entities of any kind; and deep nesting.

    Entities can read other files, and a few lines of them can mean gigabytes; graphml
    has no use for them.
    """
    parser = expat.ParserCreate()
    depth = 0

    def begin(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"its elements are nested more than {DEEPEST} times")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    with open(path, "rb") as stream:
        parser.ParseFile(stream)


def _refuse(*_: Any) -> Any:
    raise ValueError(
        "it has a document type or entities, which are not read: remove its lines of "
        "<!DOCTYPE ...> and <!ENTITY ...>"
    )
