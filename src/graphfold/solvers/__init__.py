"""From an operator M to its top-d eigenpairs; top means algebraically largest.

==================  ===========================================================
result              ``Eigenpairs``: values, vectors, residuals, converged
choose              ``top_eigenpairs``, the only door; ``choose_solver`` says why
dense               LAPACK on the matrix itself
krylov              which Krylov space; one with restarts and a Chebyshev filter
lanczos             block Lanczos, for matrices that cost much to apply
vector_lanczos      Lanczos from one vector, and whether it has seen every eigenvector
polynomial_lanczos  the same on a polynomial of M, for a sparse M
filtering           the Chebyshev filter that both iterative solvers use
chebyshev           Chebyshev-filtered subspace iteration
factorized          shift-invert, where M is sparse and so are its factors
rooted              its Lanczos for M = -T'T, by the factors of T
filled              whether factors will stay sparse, by a small copy of the graph
borrowed            LOBPCG behind our signature
singular            singular values above a threshold, and the largest ones
conjugate           conjugate gradients for a shifted operator
==================  ===========================================================
"""

from graphfold.solvers.choose import SOLVERS, Choice, choose_solver, top_eigenpairs
from graphfold.solvers.result import Eigenpairs, Iteration

__all__ = [
    "SOLVERS",
    "Choice",
    "Eigenpairs",
    "Iteration",
    "choose_solver",
    "top_eigenpairs",
]
