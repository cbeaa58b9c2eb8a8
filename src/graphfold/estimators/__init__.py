"""scikit-learn's faces of the method, each a recipe for a Problem.

==================  ======================================================
graph_kernel_pca    ``GraphKernelPCA``: one kernel, one graph
rows                rows of X meet nodes of a graph, by label
progress            scikit-learn's callbacks and ``verbose``
==================  ======================================================
"""

from graphfold.estimators.graph_kernel_pca import GraphKernelPCA

__all__ = ["GraphKernelPCA"]
