"""Pairs of rows that must or must not be together, as the map's lasso writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import documents
from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files import text
from graphfold.files.graphs import ends_like, strangers, warn_of_strangers
from graphfold.files.paths import PathLike, existing, reading

MUST, CANNOT = "must_link", "cannot_link"


def read_links(
    path: PathLike, labels: Array | None, n: int, *, complete: bool = True
) -> dict[str, list[Any]]:
    """Both kinds of pairs of a JSON file.

    If they are not ``complete``, ``labels`` are a few that say how rows are named.
    """
    place = existing(path, (".json",))
    with reading(place, ".json"):
        content = documents.read(place.path)
    if not isinstance(content, dict) or not {MUST, CANNOT} & set(content):
        raise FileError(
            f'{place} must be {{"{MUST}": [[a, b], ...], "{CANNOT}": [...]}}'
        )
    return {
        kind: _known(content.get(kind) or [], labels, n, place, complete)
        for kind in (MUST, CANNOT)
    }


def read_pairs(
    path: PathLike, kind: str, labels: Array | None, n: int, *, complete: bool = True
) -> list[Any]:
    """Pairs of one kind: two columns of a csv or tsv file, or their list in JSON."""
    place = existing(path, (*text.TEXT, ".json"))
    if place.suffix == ".json":
        return read_links(path, labels, n, complete=complete)[kind]
    start = text.peek(place)
    if start.width != 2:
        raise FileError(
            f"{place} must list pairs of rows, one a line: source, target; it has "
            f"{start.width} columns"
        )
    header = [cell.strip().lower() for cell in start.first] == ["source", "target"]
    if header and start.second is None:
        return []
    sheet = text.read_sheet(place, 2, header=header, words=(0, 1))
    pairs = list(zip(sheet.words[0].tolist(), sheet.words[1].tolist(), strict=True))
    return _known(pairs, labels, n, place, complete)


def _known(
    pairs: Any, labels: Array | None, n: int, place: Any, complete: bool
) -> list[Any]:
    """Pairs by the labels of the rows; those of rows that are not there are passed."""
    good = isinstance(pairs, list) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    )
    if not good:
        raise FileError(f"{place} must hold lists of pairs [a, b]")
    if not pairs:
        return []
    with reading(place, place.suffix):
        ends = [ends_like(labels, [pair[i] for pair in pairs], place) for i in (0, 1)]
    if not complete:
        return list(zip(*(end.tolist() for end in ends), strict=True))
    outside, lost = strangers(np.arange(n) if labels is None else labels, ends)
    if outside.all():
        raise FileError(
            f"{place} has no pair of two rows of the data: it names {some_of(lost, 1)}"
        )
    if outside.any():
        warn_of_strangers("pairs", lost, int(outside.sum()), place)
    kept = [end[~outside].tolist() for end in ends]
    return list(zip(*kept, strict=True))
