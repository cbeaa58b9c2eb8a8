"""Data terms: from X to a kernel matrix K.

=============  ===========================================================
base           ``Kernel``: bind to data, block k(X, Y), gram k(X, X), diagonal
products       kernels that are a function of inner products: ``Linear``,
               ``Gaussian``, ``Polynomial``, ``Sigmoid``, ``Cosine``
borrowed       any other scikit-learn name or a callable (``Pairwise``), and
               ``Precomputed``
combined       ``Combination`` (a weighted sum), ``OnColumns`` (one view of X)
names          from scikit-learn's words (``kernel="rbf", gamma=...``) to kernels
bandwidth      the median rule
gradients      how a kernel expansion changes with each column of X
degenerate     is K the identity, or a constant?
=============  ===========================================================
"""

from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Pairwise, Precomputed
from graphfold.kernels.combined import Combination, OnColumns
from graphfold.kernels.names import gaussian_grid
from graphfold.kernels.products import Cosine, Gaussian, Linear, Polynomial, Sigmoid

__all__ = [
    "Combination",
    "Cosine",
    "Gaussian",
    "Kernel",
    "Linear",
    "OnColumns",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "gaussian_grid",
]
