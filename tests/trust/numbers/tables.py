"""Data by integer formulas: the same bits with every NumPy, in float32 and float64."""

import numpy as np
import scipy.sparse as sp

from graphfold import Graph

#: rows of the fits, and of what is placed afterwards
N, NEW = 96, 8
#: sizes of columns, so that no two directions of the data are alike
SIZES = np.array([8, 6, 5, 3, 2, 1])


def mixed(n, p, start=0):
    """Integers from 0 to 1020 without a pattern, one for each entry."""
    i, j = np.ogrid[start : start + n, :p]
    return (i * i * 389 + (i + 7) * (j + 3) * 7919 + j * j * 6151) % 1021


def table(n=N, start=0, p=6):
    """Three groups of rows; entries are multiples of 1/1024 below 32 in size."""
    groups = (np.arange(start, start + n) % 3)[:, None]
    noise = mixed(n, p, start) - 510
    centre = 1024 * ((groups + 1) * (np.arange(p) + 2) % 5)
    sizes = np.resize(SIZES, p)
    return (sizes * noise + centre) / 1024.0


def groups(n=N, start=0):
    return np.arange(start, start + n) % 3


def new_rows(p=6):
    """Rows that no fit has seen."""
    return table(NEW, start=5000, p=p)


def ring(n=N):
    """A ring with chords; weights are eighths between 1/8 and 1: no symmetry."""
    i = np.arange(n)
    pairs = np.vstack(
        [np.column_stack([i, (i + 1) % n]), np.column_stack([i, (i + 6) % n])]
    )
    weights = (mixed(len(pairs), 1)[:, 0] % 8 + 1) / 8.0
    matrix = sp.coo_array((weights, pairs.T), shape=(n, n)).tocsr()
    return Graph(matrix + matrix.T)


def kin(n=N):
    """Rows of one group in a row, each linked to the next three of it."""
    i = np.arange(n - 9)
    pairs = np.vstack([np.column_stack([i, i + 3 * k]) for k in (1, 2, 3)])
    bridge = np.array([[0, 1], [1, 2], [n - 3, n - 2]])
    pairs = np.vstack([pairs, bridge, [[n - 9 + k, n - 6 + k] for k in range(6)]])
    weights = (mixed(len(pairs), 1, 50)[:, 0] % 16 + 1) / 16.0
    matrix = sp.coo_array((weights, pairs.T), shape=(n, n)).tocsr()
    return Graph(matrix + matrix.T)
