"""Eigenpairs to more digits than float64 has: an independent judge of solvers."""

import numpy as np


def refined_pairs(matrix: np.ndarray, rounds: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs in extended precision, largest first.

    Where the machine has no longer float than float64, it is LAPACK's answer again.

    LAPACK's answer, refined by the iteration of Ogita and Aishima (Iterative refinement
    for symmetric eigenvalue decomposition, 2018): each round doubles the digits of
    vectors whose eigenvalues are apart; those of a group only stay orthonormal.
    """
    A = matrix.astype(np.longdouble)
    X = np.linalg.eigh(matrix)[1][:, ::-1].astype(np.longdouble)
    eye = np.eye(len(A), dtype=np.longdouble)
    for _ in range(rounds):
        R, S = eye - X.T @ X, X.T @ A @ X
        values = np.diagonal(S) / (1 - np.diagonal(R))
        D = np.diag(values)
        together = 2 * (
            np.linalg.norm((S - D).astype(float), 2)
            + np.abs(values).max() * np.linalg.norm(R.astype(float), 2)
        )
        gap = values[None, :] - values[:, None]
        apart = np.abs(gap) > together
        E = np.where(apart, (S + values * R) / np.where(apart, gap, 1), R / 2)
        X = X + X @ E
    order = np.argsort(values)[::-1]
    return values[order], X[:, order]


def pairs_in_fifty_digits(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs by mpmath, largest first, rounded to extended precision."""
    import mpmath

    n = len(matrix)
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        V = np.array(
            [
                [np.longdouble(mpmath.nstr(vectors[i, j], 25)) for j in range(n)]
                for i in range(n)
            ]
        )
        w = np.array([np.longdouble(mpmath.nstr(value, 25)) for value in values])
    order = np.argsort(w)[::-1]
    return w[order], V[:, order]
