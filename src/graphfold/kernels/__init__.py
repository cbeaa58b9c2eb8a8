"""Data terms: from X to a kernel matrix K.

=============  ===========================================================
base           ``Kernel``: bind to data, block k(X, Y), gram k(X, X), diagonal
products       kernels that are a function of inner products: ``Linear``,
               ``Gaussian``, ``Polynomial``, ``Sigmoid``, ``Cosine``
grams          inner products of all pairs of rows, tile by tile
borrowed       any other scikit-learn name or a callable (``Pairwise``), and
               ``Precomputed``
local          ``LocallyLinear``, ``LocallyNonlinear``: each row from its
               neighbours, by ``coefficients`` solved in one batch
scaling        ``ClassicalScaling`` and ``Geodesic``: kernels of distances
combined       ``Combination`` (a weighted sum), ``OnColumns`` (one view of X)
names          from scikit-learn's words (``kernel="rbf", gamma=...``) to kernels
landmarks      what a few rows see of a kernel: features of all rows
tiles          values of two slices of rows, prepared once
bandwidth      the median rule
inner          norms, triangles and powers of inner products
gradients      how a kernel expansion changes with each column of X
degenerate     is K the identity, or a constant?
=============  ===========================================================
"""

from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Pairwise, Precomputed
from graphfold.kernels.combined import Combination, OnColumns
from graphfold.kernels.local import LocallyLinear, LocallyNonlinear
from graphfold.kernels.names import gaussian_grid
from graphfold.kernels.products import Cosine, Gaussian, Linear, Polynomial, Sigmoid
from graphfold.kernels.scaling import ClassicalScaling, Geodesic

__all__ = [
    "ClassicalScaling",
    "Combination",
    "Cosine",
    "Gaussian",
    "Geodesic",
    "Kernel",
    "Linear",
    "LocallyLinear",
    "LocallyNonlinear",
    "OnColumns",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "gaussian_grid",
]
