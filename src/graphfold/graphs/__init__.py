"""Graph terms: from edges to a Laplacian and its responses.

=============  ===========================================================
graph          ``Graph``: labels, induced subgraphs, edges of new nodes
reading        what a Graph can be made of: SciPy, NumPy, networkx, igraph, tables
edge_columns   which columns of a table of edges are its ends and its weight
sources        edges and matrices become one symmetric adjacency matrix
labels         node labels as arrays that can be searched
edge_table     ``EdgeTable``: edges that lie elsewhere, for rows of Dask's
named          one graph or several, each with a name and a response
recipes        ``NeighborGraph``, ``CorrelationGraph``: built from X at fit
known          ``KnownGraph``: one that is known, where a recipe is asked for
modes          ``ModeGraph``: some columns, for the rows that have them
links          links that labels and pairs ask for, as groups
laplacian      combinatorial and normalised, with a certified bound
responses      the scalar functions r(lambda) and r_dagger(lambda)
=============  ===========================================================
"""

from graphfold.graphs.edge_table import EdgeTable
from graphfold.graphs.graph import Graph
from graphfold.graphs.laplacian import Laplacian, laplacian
from graphfold.graphs.named import (
    Source,
    graph_from,
    graphs_from,
    in_memory,
    responses_from,
)
from graphfold.graphs.recipes import CorrelationGraph, GraphRecipe, NeighborGraph

__all__ = [
    "CorrelationGraph",
    "EdgeTable",
    "Graph",
    "GraphRecipe",
    "Laplacian",
    "NeighborGraph",
    "Source",
    "graph_from",
    "graphs_from",
    "in_memory",
    "laplacian",
    "responses_from",
]
