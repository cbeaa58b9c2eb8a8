"""What a symmetric matrix is: products only, never solves.

=============  ==========================================================
base           ``SymmetricOperator``: apply, diagonal, bounds; + and scalar *
algebra        ``Sum``, ``Scaled``, ``Centered`` (H M H), ``Lifted`` (P M P'),
               ``InDoublePrecision``
stored         ``Dense``, ``Sparse``, ``LowRank`` (Z W Z'), ``Diagonal``
tiled          ``TiledKernel``: strips computed at each product, never stored
filtered       ``SpectralFunction`` (eigenbasis), ``ChebyshevFunction``
ordering       ``Reordered``: neighbours near each other, for large graphs
inverse        ``Factorized`` (sparse factors), ``PseudoInverse`` (products only)
rooted         ``RootInverse``: (T'T)^+ by the factors of T
=============  ==========================================================
"""

from graphfold.operators.algebra import (
    Centered,
    InDoublePrecision,
    Lifted,
    Scaled,
    Sum,
    fused,
)
from graphfold.operators.base import SymmetricOperator
from graphfold.operators.filtered import ChebyshevFunction, SpectralFunction
from graphfold.operators.inverse import Factorized, PseudoInverse
from graphfold.operators.ordering import Reordered, with_neighbours_near
from graphfold.operators.stored import Dense, Diagonal, LowRank, Sparse
from graphfold.operators.tiled import TiledKernel

__all__ = [
    "Centered",
    "ChebyshevFunction",
    "Dense",
    "Diagonal",
    "Factorized",
    "InDoublePrecision",
    "Lifted",
    "LowRank",
    "PseudoInverse",
    "Reordered",
    "Scaled",
    "Sparse",
    "SpectralFunction",
    "Sum",
    "SymmetricOperator",
    "TiledKernel",
    "fused",
    "with_neighbours_near",
]
