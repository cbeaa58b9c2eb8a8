"""Data terms: from X to a kernel matrix K.

=============  ===========================================================
base           ``Kernel``: bind to data, block k(X, Y), gram k(X, X), diagonal
products       kernels that are a function of inner products: ``Linear``,
               ``Gaussian``, ``Polynomial``, ``Sigmoid``, ``Cosine``
borrowed       any other scikit-learn name or a callable (``Pairwise``), and
               ``Precomputed``
names          from scikit-learn's words (``kernel="rbf", gamma=...``) to a kernel
bandwidth      the median rule
degenerate     is K the identity, or a constant?
=============  ===========================================================
"""

from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Pairwise, Precomputed
from graphfold.kernels.products import Cosine, Gaussian, Linear, Polynomial, Sigmoid

__all__ = [
    "Cosine",
    "Gaussian",
    "Kernel",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
]
