"""Which rows are near which: what graphs and manifold kernels are built from.

==============  ==========================================================
search          the nearest rows by a metric, exactly
cells           rows sorted into cells, and candidates from the cells around
approximate     nearly the nearest rows, with the recall measured
choose          exact where that is affordable, else approximate
local           distinct neighbours of each row, all parts joined
==============  ==========================================================
"""

from graphfold.neighbors.approximate import Neighbors, approximate_neighbors
from graphfold.neighbors.choose import find_neighbors
from graphfold.neighbors.local import (
    Neighborhoods,
    nearest_distinct_rows,
    neighborhoods,
)
from graphfold.neighbors.search import METRICS, nearest_rows

__all__ = [
    "METRICS",
    "Neighborhoods",
    "Neighbors",
    "approximate_neighbors",
    "find_neighbors",
    "nearest_distinct_rows",
    "nearest_rows",
    "neighborhoods",
]
