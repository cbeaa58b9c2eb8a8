"""scikit-learn's faces of the method, each a recipe for a Problem.

==================  ======================================================
graph_kernel_pca    ``GraphKernelPCA``: one kernel, one graph
reading             rows and parameters, checked at the door
statement           from arguments and rows to the Problem
rows                rows of X meet nodes of a graph, by label
advice              warnings of a fit, each with its remedy
progress            scikit-learn's callbacks and ``verbose``
==================  ======================================================
"""

from graphfold.estimators.graph_kernel_pca import GraphKernelPCA

__all__ = ["GraphKernelPCA"]
