"""A graph whose edges lie elsewhere: a table of them, never read as a whole."""

from __future__ import annotations

import os
from typing import Any, final

from graphfold import check
from graphfold.errors import GraphError
from graphfold.graphs.sources import edge_columns


@final
class EdgeTable:
    """Edges of a graph as a ``dask.dataframe``, parquet files, or rows of a matrix.

    For X of Dask's: edges meet rows by label, wherever either lies, and nobody holds
    them all. Rows without edges are nodes without edges; edges to rows that X does not
    have are passed over.

    Parameters
    ----------
    edges : dask.dataframe, path of a parquet file or folder, or dask.array
        One edge a row, by the labels of its ends and perhaps a weight; where rows have
        no labels, by their numbers 0, 1, 2 ... Of an array, n x n with sparse blocks:
        rows of the adjacency matrix, which becomes (A + A')/2.
    source, target, weight : str, default=None
        Names of the columns: those of a table that :class:`Graph` takes by default.
    duplicates : {"once", "sum"}, default="once"
        What an edge means that is listed several times: one edge with the largest of
        the weights listed, or the sum of them.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from graphfold import EdgeTable
    >>> edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    >>> EdgeTable(dd.from_pandas(edges, npartitions=1))
    EdgeTable(source, target; 1 part)
    """

    def __init__(
        self,
        edges: Any,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        duplicates: str = "once",
    ):
        check.one_of("duplicates", duplicates, ("once", "sum"))
        if isinstance(edges, str | os.PathLike):
            from dask.dataframe import read_parquet

            edges = read_parquet(os.fspath(edges))
        if not is_edge_table(edges):
            raise GraphError(
                "edges must be a dask.dataframe of edges, the path of parquet files, "
                f"or an n x n dask.array; got {type(edges).__name__}: Graph takes "
                "what is in memory"
            )
        self.edges, self.duplicates = edges, duplicates
        self.is_matrix = not hasattr(edges, "columns")
        if self.is_matrix:
            if edges.ndim != 2 or edges.shape[0] != edges.shape[1]:
                raise GraphError(
                    f"graph must be a square matrix; got shape {edges.shape}"
                )
            return
        listed = list(edges.columns)
        named = {"source": source, "target": target, "weight": weight}
        lost = [name for name in named.values() if name and name not in listed]
        if lost:
            raise GraphError(
                f"edges must have the columns named; there is no {lost[0]!r} among "
                f"{check.some_of(listed)}"
            )
        found = edge_columns(listed)
        self.source = source or found[0]
        self.target = target or found[1]
        self.weight = weight or found[2]

    @property
    def has_labels(self) -> bool:
        """Whether ends are labels of rows, and not their places in a matrix."""
        return not self.is_matrix

    @property
    def n_parts(self) -> int:
        """In how many parts the edges lie."""
        if self.is_matrix:
            return int(self.edges.numblocks[0])
        return int(self.edges.npartitions)

    def __deepcopy__(self, memo: Any) -> EdgeTable:
        return self  # as of a Graph: sklearn.base.clone never copies it

    def __repr__(self) -> str:
        parts = "1 part" if self.n_parts == 1 else f"{self.n_parts} parts"
        if self.is_matrix:
            return f"EdgeTable(rows of a matrix; {parts})"
        names = [self.source, self.target]
        names += [self.weight] if self.weight is not None else []
        return f"EdgeTable({', '.join(map(str, names))}; {parts})"


def is_edge_table(graph: Any) -> bool:
    """Whether something is a collection of Dask's that may hold edges."""
    return hasattr(graph, "__dask_graph__") and (
        hasattr(graph, "columns") or hasattr(graph, "numblocks")
    )
