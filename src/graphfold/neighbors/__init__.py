"""Which rows are near which: what graphs and manifold kernels are built from.

==============  ==========================================================
search          the nearest rows by a metric, exactly
local           distinct neighbours of each row, all parts joined
==============  ==========================================================
"""

from graphfold.neighbors.local import (
    Neighborhoods,
    nearest_distinct_rows,
    neighborhoods,
)
from graphfold.neighbors.search import METRICS, nearest_rows

__all__ = [
    "METRICS",
    "Neighborhoods",
    "nearest_distinct_rows",
    "nearest_rows",
    "neighborhoods",
]
