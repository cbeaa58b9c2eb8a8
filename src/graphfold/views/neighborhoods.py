"""Who is near whom in the data, what each embedding kept of it, and trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.quality import neighbors_kept, trustworthiness
from graphfold.views.columns import number_column
from graphfold.views.packing import Blocks

_FEWEST = 3  # rows: fewer have no neighbours worth the name
_MANY = 5000  # rows: of more, ranks are counted in a sample


@dataclass(frozen=True)
class Neighborhoods:
    """The k nearest rows in the data; kept and trusted by each embedding."""

    k: int
    nearest: Array
    kept: list[Array]
    trust: list[Array]

    def overlap(self, i: int) -> Array:
        """Share of its nearest rows that embedding i kept, for each row."""
        return self.kept[i].mean(axis=1)

    def pack(self, blocks: Blocks) -> dict[str, Any]:
        """As the page reads them."""
        return {
            "k": self.k,
            "block": blocks.add(self.nearest, "u4"),
            "kept": [blocks.add(part, "u1") for part in self.kept],
        }

    def columns(self, blocks: Blocks) -> list[dict[str, Any]]:
        """Columns to colour by."""
        kept = [self.overlap(i) for i in range(len(self.kept))]
        trusted = f"1: its {self.k} nearest in the embedding are all near in the data"
        shared = (
            f"of its {self.k} nearest in the data, the share nearest in the embedding"
        )
        return [
            number_column("trust", self.trust, blocks, trusted),
            number_column("neighbours kept", kept, blocks, shared),
        ]


def neighborhoods(
    X: Any, embeddings: list[Array], k: int, random_state: Any
) -> Neighborhoods | None:
    """Look at the rows of X and at each embedding of them; None for two rows."""
    n = len(embeddings[0])
    check.integer_between("n_neighbors", k, 1, 1000)
    if isinstance(X, Mapping):
        raise GraphfoldError(
            "X must be one table, in which rows are near or far; got a dict of modes: "
            "put their columns side by side, or leave X out"
        )
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or shape[0] != n:
        raise GraphfoldError(
            f"X must have the {n} rows of the embedding; got shape {shape}"
        )
    if n < _FEWEST:
        return None
    k = min(k, (n - 1) // 2)
    found = [neighbors_kept(X, Z, k) for Z in embeddings]
    sample = None if n <= _MANY else max(2000, 3 * k)
    ranks = {"sample": sample, "random_state": random_state}
    # estimated ranks may take a row below 0
    trust = [np.clip(trustworthiness(X, Z, k, **ranks), 0, 1) for Z in embeddings]
    return Neighborhoods(k, found[0].indices, [part.kept for part in found], trust)
