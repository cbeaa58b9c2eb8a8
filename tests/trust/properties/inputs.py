"""Strategies: tables and graphs as strangers have them, and every way to hold them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

SCALES = (1.0, 1e-150, 1e150, 1e-80, 1e90, 1e-12, 1e12, 255.0)
SHAPES = ("random", "path", "star", "clique", "parts", "isolated", "one edge")
WEIGHTS = ("ones", "uniform", "tiny", "huge", "mixed", "with zeros")
SPARSE = ("csr", "csc", "coo", "bsr", "dok", "lil", "dia")


class Table:
    """Rows of numbers, and in words what is odd about them."""

    def __init__(self, X, what, seed):
        self.X, self.what, self.seed = X, what, seed
        self.n = len(X)
        #: whether rows differ by too little for the squares of it to be numbers
        self.next_to_equal = 0 < np.ptp(X, axis=0).max() < 1e-150

    def __repr__(self):
        return f"Table({self.X.shape}, {self.what}, seed {self.seed})"


class Weights:
    """A symmetric matrix of weights at least 0 without a diagonal, and its kind."""

    def __init__(self, A, what, seed):
        self.A, self.what, self.seed = A, what, seed
        self.n = len(A)

    def __repr__(self):
        return f"Weights({self.what}, seed {self.seed})"


def seeds():
    return st.integers(0, 2**32 - 1)


def _equal_rows(X, rng):
    X[rng.integers(0, len(X), len(X) // 2)] = X[0]


def _equal_columns(X, rng):
    X[:] = X[:, :1]


def _constant_column(X, rng):
    X[:, rng.integers(0, X.shape[1])] = 3.0


def _constant_rows(X, rng):
    X[::2] = X[::2, :1]


def _zero_rows(X, rng):
    X[rng.random(len(X)) < 0.5] = 0.0


def _all_equal(X, rng):
    X[:] = X[:1]


def _all_zero(X, rng):
    X[:] = 0.0


def _whole_numbers(X, rng):
    X[:] = np.round(3 * X)


def _far_from_origin(X, rng):
    X *= 1e-6
    X += 1.0


def _columns_of_all_sizes(X, rng):
    X *= 10.0 ** rng.integers(-150, 151, X.shape[1])


def _rows_of_all_sizes(X, rng):
    X *= 10.0 ** rng.integers(-150, 151, (len(X), 1))


def _one_outlier(X, rng):
    X[-1] *= 1e120


def _mostly_zeros(X, rng):
    X[rng.random(X.shape) < 0.8] = 0.0


def _on_a_line(X, rng):
    X[:] = np.arange(len(X))[:, None] * X[:1]


def _plain(X, rng):
    pass


ODDITIES = {
    "plain": _plain,
    "equal rows": _equal_rows,
    "equal columns": _equal_columns,
    "a constant column": _constant_column,
    "constant rows": _constant_rows,
    "zero rows": _zero_rows,
    "all rows equal": _all_equal,
    "all zero": _all_zero,
    "whole numbers": _whole_numbers,
    "far from the origin": _far_from_origin,
    "columns of all sizes": _columns_of_all_sizes,
    "rows of all sizes": _rows_of_all_sizes,
    "one outlier": _one_outlier,
    "mostly zeros": _mostly_zeros,
    "on a line": _on_a_line,
}
#: these have sizes of their own, and are not scaled on top of them
OF_ALL_SIZES = ("columns of all sizes", "rows of all sizes", "one outlier")


@st.composite
def tables(draw, rows=(2, 14), columns=(1, 8), oddities=tuple(ODDITIES), scales=SCALES):
    """float64 rows: random ones, made odd in one way, at one scale."""
    n = draw(st.one_of(st.integers(*rows), st.sampled_from(rows)))
    width = draw(st.one_of(st.integers(*columns), st.just(min(n, columns[1]))))
    seed = draw(seeds())
    what = draw(st.sampled_from(oddities))
    scale = draw(st.sampled_from(scales)) if what not in OF_ALL_SIZES else 1.0
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, width))
    ODDITIES[what](X, rng)
    X *= scale
    return Table(X, what if scale == 1 else f"{what}, x {scale:g}", seed)


@st.composite
def calm_tables(draw, rows=(6, 14), columns=(3, 6)):
    """Rows in general position, at one scale: nothing is nearly equal by chance."""
    odd = ("plain", "far from the origin")
    return draw(tables(rows=rows, columns=columns, oddities=odd[:1]))


def adjacency(shape, weights, n, rng):
    """A symmetric matrix of weights at least 0 without a diagonal."""
    A = np.zeros((n, n))
    order = rng.permutation(n)
    if shape == "path":
        A[order[:-1], order[1:]] = 1
    elif shape == "star":
        A[order[0], order[1:]] = 1
    elif shape == "clique":
        A[:] = 1
    elif shape == "parts":
        part = rng.integers(0, max(2, n // 3), n)
        A[:] = part[:, None] == part
    elif shape == "isolated":
        half = order[: max(2, n // 2)]
        A[np.ix_(half, half)] = rng.random((len(half), len(half))) < 0.7
    elif shape == "random":
        A[:] = rng.random((n, n)) < 0.4
    A[order[0], order[-1]] = 1  # at least one edge, where there are two nodes
    A = np.triu(np.maximum(A, A.T), 1)
    A *= _weights(weights, (n, n), rng)
    return A + A.T


def _weights(kind, shape, rng):
    if kind == "ones":
        return np.ones(shape)
    values = rng.uniform(0.1, 1.0, shape)
    if kind == "tiny":
        return values * 1e-300
    if kind == "huge":
        return values * 1e300
    if kind == "mixed":
        return values * 10.0 ** rng.integers(-300, 301, shape)
    if kind == "with zeros":
        return values * (rng.random(shape) < 0.5)
    return values


@st.composite
def weighted_graphs(draw, nodes=(2, 14), weights=WEIGHTS, shapes=SHAPES):
    """Weights between so many nodes, or between ``nodes`` if that is a number."""
    n = nodes
    if not isinstance(nodes, int):
        n = draw(st.one_of(st.integers(*nodes), st.sampled_from(nodes)))
    shape, kind = draw(st.sampled_from(shapes)), draw(st.sampled_from(weights))
    seed = draw(seeds())
    A = adjacency(shape, kind, n, np.random.default_rng(seed))
    return Weights(A, f"{shape} of {n}, weights {kind}", seed)


def edges_of(A, rng, *, both=False, labels=None):
    """Edges in some order, each by either end first, once or twice."""
    rows, columns = np.nonzero(np.triu(A, 1))
    turned = rng.random(len(rows)) < 0.5
    tails, heads = np.where(turned, columns, rows), np.where(turned, rows, columns)
    values = A[rows, columns]
    if both:
        tails, heads = np.append(tails, heads), np.append(heads, tails)
        values = np.tile(values, 2)
    order = rng.permutation(len(tails))
    tails, heads, values = tails[order], heads[order], values[order]
    if labels is not None:
        tails, heads = labels[tails], labels[heads]
    return tails, heads, values


def node_labels(kind, n, rng):
    """Labels of n nodes: a kind from 0 to 3, numbers, texts or both."""
    if kind == 0:
        return rng.permutation(n)
    if kind == 1:
        return rng.choice(10**15, n, replace=False) - 10**14
    if kind == 2:
        return np.array([f"node {i}é" for i in rng.permutation(n)])
    return np.array([i if i % 2 else f"n{i}" for i in range(n)], dtype=object)


# -- ways to hold the same numbers ---------------------------------------------------


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _backwards(X):
    return X[::-1, ::-1].copy()[::-1, ::-1]


def _unaligned(X):
    """As a table out of the middle of a message is."""
    message = np.zeros(X.nbytes + 1, dtype=np.uint8)
    held = message[1:].view(X.dtype).reshape(X.shape)
    held[...] = X
    return held


def _memory_mapped(X):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r")  # the file is gone, its pages are not


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "read-only": _read_only,
    "strided": _strided,
    "negative strides": _backwards,
    "unaligned": _unaligned,
    "memory-mapped": _memory_mapped,
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "list of lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "longdouble": lambda X: X.astype(np.longdouble),
}


def _unsorted(X):
    found = sp.csr_array(X)
    for row in range(found.shape[0]):
        part = slice(found.indptr[row], found.indptr[row + 1])
        found.indices[part] = found.indices[part][::-1].copy()
        found.data[part] = found.data[part][::-1].copy()
    found.has_sorted_indices = False
    return found


def _explicit_zeros(X):
    rows, columns = np.indices(X.shape)
    ends = (rows.ravel(), columns.ravel())
    return sp.coo_array((X.ravel(), ends), shape=X.shape).tocsr()


def _duplicates(X):
    rows, columns = (np.tile(part, 2) for part in np.nonzero(X))
    data = np.tile(X[np.nonzero(X)] / 2, 2)
    return sp.coo_array((data, (rows, columns)), shape=X.shape)


def _long_indices(X):
    found = sp.csr_array(X)
    found.indices, found.indptr = (
        found.indices.astype(np.int64),
        found.indptr.astype(np.int64),
    )
    return found


def sparse_layouts():
    """Every sparse format, as a matrix and as an array, and their oddities."""
    found = {
        "unsorted indices": _unsorted,
        "explicit zeros": _explicit_zeros,
        "duplicate entries": _duplicates,
        "indices of 8 bytes": _long_indices,
    }
    for word in SPARSE:
        for kind in ("array", "matrix"):
            found[f"{word}_{kind}"] = getattr(sp, f"{word}_{kind}")
    return found


def bytes_of(*values):
    """All that a caller could see change: the bytes of arrays, sparse or not."""
    found = []
    for value in values:
        if sp.issparse(value):
            entries = value.tocoo()
            kept = ("data", "indices", "indptr", "row", "col", "offsets")
            held = [getattr(value, name, None) for name in kept]
            held += [entries.data, entries.row, entries.col]
            found += [np.asarray(part).tobytes() for part in held if part is not None]
        elif value is not None:
            found.append(np.asarray(value).tobytes())
    return found
