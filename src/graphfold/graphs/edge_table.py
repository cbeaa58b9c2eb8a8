"""A graph whose edges lie elsewhere: a table of them, never read as a whole."""

from __future__ import annotations

import os
from typing import Any, final

from graphfold import check
from graphfold.errors import GraphError
from graphfold.graphs.edge_columns import edge_columns, warn_of_ignored


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
        rows of the adjacency matrix, which becomes max(A, A').
    source, target, weight : column names, default=None
        Columns of the ends and the weight, found as in a table for :class:`Graph`;
        ``weight=False`` gives every edge weight 1.
    duplicates : {"once", "sum"}, default="once"
        What an edge means that is listed several times, in one direction or in both:
        one edge with the largest of the weights listed, or the sum of them. Of a matrix
        only "once".
    dropna : bool, default=False
        Drop edges with a missing end or weight; by default they are refused.

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
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        duplicates: str = "once",
        *,
        dropna: bool = False,
    ):
        check.one_of("duplicates", duplicates, ("once", "sum"))
        self.dropna = check.flag("dropna", dropna)
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
            self._refuse_settings_of_tables(source, target, weight)
            return
        found = edge_columns(list(edges.columns), source, target, weight)
        if weight is None:
            warn_of_ignored(found)
        self.source, self.target, self.weight = found[:3]

    def _refuse_settings_of_tables(self, *columns: Any) -> None:
        if any(name is not None for name in columns):
            raise GraphError(
                "source, target and weight must be None for a dask.array: it has no "
                "columns of edges"
            )
        if self.duplicates == "sum":
            raise GraphError(
                'duplicates must be "once" for a dask.array; got "sum": add the '
                "directions before, as A + A.T"
            )

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
