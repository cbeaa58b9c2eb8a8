"""scikit-learn's faces of the method, each a recipe for a Problem.

==================  ======================================================
base                what all embeddings share: new rows, files, reports
graph_kernel_pca    ``GraphKernelPCA``: kernels and graphs, weights learned
semi_supervised     ``SemiSupervisedGraphKernelPCA``: a few labels, or pairs
row_embedding       embeddings of one table: fit, transform, plan
streaming           ``partial_fit``: rows and edges that come batch by batch
stream, drift       what has come so far, and whether it has changed
landmarks           what ``landmarks=`` means, and the features they give
row_keys            rows of a large fit, known again without being kept
planning            what a plan needs to know of an estimator
local_nonlinear     ``LocalNonlinearEmbedding``: rows from their neighbours, LLE
special_cases       ``LaplacianEigenmaps``, ``GraphLaplacianPCA``
multi_modal         ``MultiModalGraphEmbedding``: samples described in several ways
robust              ``RobustGraphPCA``, ``FastRobustGraphPCA``: gross errors taken out
states              what a saved fit holds, and that its parts fit each other
robust_base         what both share: a fit, its directions, missing entries
robust_graphs       their graphs of rows and of columns
mode_tables         which columns are a mode, of tables of any library
modes               from the tables of modes to numbers
reading             rows and parameters, checked at the door
statement           from arguments and rows to the Problem
fitting             what every fit does: bind, plan, state, choose, solve
strength_path       ``graph_strength="auto"``
rows                rows of X meet nodes of a graph, by label
constraints         partial labels and pairs: read before, looked after when done
importance          which columns of X move a component
alignment           what ``align_to=`` means
advice              warnings of a fit, each with its remedy
progress            scikit-learn's callbacks and ``verbose``
==================  ======================================================
"""

from graphfold.estimators.graph_kernel_pca import GraphKernelPCA
from graphfold.estimators.local_nonlinear import LocalNonlinearEmbedding
from graphfold.estimators.multi_modal import MultiModalGraphEmbedding
from graphfold.estimators.robust import FastRobustGraphPCA, RobustGraphPCA
from graphfold.estimators.semi_supervised import SemiSupervisedGraphKernelPCA
from graphfold.estimators.special_cases import GraphLaplacianPCA, LaplacianEigenmaps

__all__ = [
    "FastRobustGraphPCA",
    "GraphKernelPCA",
    "GraphLaplacianPCA",
    "LaplacianEigenmaps",
    "LocalNonlinearEmbedding",
    "MultiModalGraphEmbedding",
    "RobustGraphPCA",
    "SemiSupervisedGraphKernelPCA",
]
