"""How good an embedding or a graph is, in numbers that do not depend on the method.

=============  ===========================================================
clustering     ``clustering_error``: samples in the wrong cluster
neighborhoods  ``trustworthiness`` and more: who is near whom, row by row
edges          ``edge_overlap``: are linked rows near?
gain           ``graph_gain``: does this graph help? Against rewired copies
rewiring       ``rewired``: a random copy of a graph that keeps all degrees
distances      between given pairs of rows, of a table of any kind
=============  ===========================================================
"""

from graphfold.quality.clustering import clustering_error
from graphfold.quality.edges import edge_overlap
from graphfold.quality.gain import GraphGain, graph_gain
from graphfold.quality.neighborhoods import (
    KeptNeighbors,
    neighbor_overlap,
    neighbors_kept,
    trustworthiness,
)
from graphfold.quality.rewiring import rewired

__all__ = [
    "GraphGain",
    "KeptNeighbors",
    "clustering_error",
    "edge_overlap",
    "graph_gain",
    "neighbor_overlap",
    "neighbors_kept",
    "rewired",
    "trustworthiness",
]
