"""How good an embedding or a graph is, in numbers that do not depend on the method.

=============  ===========================================================
clustering     ``clustering_error``: samples in the wrong cluster
gain           ``graph_gain``: does this graph help? Against rewired copies
rewiring       ``rewired``: a random copy of a graph that keeps all degrees
=============  ===========================================================
"""

from graphfold.quality.clustering import clustering_error
from graphfold.quality.gain import GraphGain, graph_gain
from graphfold.quality.rewiring import rewired

__all__ = ["GraphGain", "clustering_error", "graph_gain", "rewired"]
