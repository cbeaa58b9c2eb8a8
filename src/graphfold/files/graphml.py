"""graphml files of strangers: XML without tricks, before networkx sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from graphfold.files.names import refuse_wide

DEEPEST = 64
#: characters of the name of a node
LONGEST_NAME = 2**16
#: bytes of a tag or a comment
LONGEST_TAG = 2**20
_CHUNK = 2**18
_NAMES = ("id", "source", "target")


def check_xml(path: Path) -> None:
    """Refuse a document type, and with it entities of any kind; and deep nesting.

    Entities can read other files, and a few lines of them can mean gigabytes; graphml
    has no use for them. Names of nodes are measured before arrays are made of them.
    """
    parser = expat.ParserCreate()
    depth = count = longest = 0

    def begin(_: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count, longest
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"its elements are nested more than {DEEPEST} times")
        names = [attributes[key] for key in _NAMES if key in attributes]
        count += len(names)
        longest = max(longest, *map(len, names), 0)
        if longest > LONGEST_NAME:
            raise ValueError(
                f"a name in it has {longest} characters; {LONGEST_NAME} are allowed"
            )

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    with open(path, "rb") as stream:
        fed = 0
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            parser.Parse(chunk, False)
            fed += len(chunk)
            # what is not closed is looked at again with each chunk
            if fed - parser.CurrentByteIndex > LONGEST_TAG:
                raise ValueError(
                    f"a tag or comment in it has more than {LONGEST_TAG} bytes"
                )
        parser.Parse(b"", True)
    refuse_wide(4 * count * longest, path.stat().st_size, path)


def _refuse(*_: Any) -> Any:
    raise ValueError(
        "it has a document type or entities, which are not read: remove its lines of "
        "<!DOCTYPE ...> and <!ENTITY ...>"
    )
