"""Figures with matplotlib (the ``plot`` extra); they take and return an ``ax``.

Each function is the short way to a Display in scikit-learn's convention, which keeps
what it draws and the artists it has drawn:

    embeddings   where the rows are, by class or by number
    graphs       the same with the edges of a graph beneath
    spectrum     eigenvalues, gaps, and axes that may be mixed up
    strengths    the path along which ``graph_strength="auto"`` chooses
    bars         weights of kernels, graphs and modes

``reading`` takes estimators and tables, ``colouring`` what points are coloured by,
``naming`` writes classes down, ``placing`` keeps names apart, ``edges`` finds those of
the rows, ``style`` is how all of them look.
"""

from graphfold.plot.bars import WeightsDisplay, weights
from graphfold.plot.embeddings import EmbeddingDisplay, embedding
from graphfold.plot.graphs import GraphDisplay, graph
from graphfold.plot.spectrum import ScreeDisplay, scree
from graphfold.plot.strengths import StrengthPathDisplay, strength_path
from graphfold.plot.style import COLOURS

__all__ = [
    "COLOURS",
    "EmbeddingDisplay",
    "GraphDisplay",
    "ScreeDisplay",
    "StrengthPathDisplay",
    "WeightsDisplay",
    "embedding",
    "graph",
    "scree",
    "strength_path",
    "weights",
]
