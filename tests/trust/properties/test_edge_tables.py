"""Edges that lie elsewhere, in any parts and order, are the graph that they list."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphfold import EdgeTable
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import (
    edges_of,
    node_labels,
    seeds,
    weighted_graphs,
)
from tests.trust.properties.outcomes import SECTION

dask = pytest.importorskip("dask", reason="edges of its tables")
da = pytest.importorskip("dask.array", reason="edges of its arrays")
dd = pytest.importorskip("dask.dataframe", reason="edges of its tables")
pd = pytest.importorskip("pandas", reason="parts of tables")

from graphfold.distributed.blocks import Tall  # noqa: E402
from graphfold.distributed.edges import adjacency_of  # noqa: E402
from graphfold.distributed.running import values  # noqa: E402
from graphfold.distributed.tasks import literal  # noqa: E402


@pytest.fixture(autouse=True)
def in_threads():
    with dask.config.set(scheduler="threads"):
        yield


def sizes_of(n, rng):
    """Rows of blocks: one may be empty."""
    cuts = np.sort(rng.integers(0, n + 1, 2))
    return tuple(int(size) for size in np.diff([0, *cuts, n]))


def in_blocks(rows, sizes):
    ends = np.cumsum((0, *sizes))
    parts = [rows[a:b] for a, b in pairwise(ends)]
    return Tall(tuple(map(literal, parts)), sizes)


def dense(edges, sizes, labels=None):
    """The adjacency matrix that workers would multiply with, by its products."""
    n = sum(sizes)
    grid = adjacency_of(edges, sizes, labels)
    product = grid.apply(in_blocks(np.eye(n), sizes), n)
    return np.concatenate(values("", product.blocks))


@examples(4)
@given(
    weights=weighted_graphs(),
    seed=seeds(),
    both=st.booleans(),
    duplicates=st.sampled_from(["once", "sum"]),
    kind=st.sampled_from([None, 0, 1, 2]),
)
def test_a_table_of_edges_is_the_graph_in_any_parts(
    weights, seed, both, duplicates, kind
):
    A, rng = weights.A, np.random.default_rng(seed)
    labels = None if kind is None else node_labels(kind, weights.n, rng)
    tails, heads, listed = edges_of(A, rng, both=both, labels=labels)
    if duplicates == "sum" and both:
        listed = listed / 2
    frame = pd.DataFrame({"source": tails, "target": heads, "weight": listed})
    parts = dd.from_pandas(frame, npartitions=int(rng.integers(1, 5)), sort=False)
    sizes = sizes_of(weights.n, rng)
    known = None if labels is None else in_blocks(labels, sizes)
    found = dense(EdgeTable(parts, duplicates=duplicates), sizes, known)
    np.testing.assert_allclose(found, A, rtol=1e-12, atol=0)
    shape = weights.what.split(" of ")[0]
    tried(SECTION, "EdgeTable", f"{shape}, {duplicates}, labels {kind}")


@examples(4)
@given(weights=weighted_graphs(), seed=seeds())
def test_rows_of_a_matrix_are_the_graph_in_any_blocks(weights, seed):
    rng = np.random.default_rng(seed)
    sizes = sizes_of(weights.n, rng)
    rows = tuple(size for size in sizes if size)
    matrix = da.from_array(weights.A, chunks=(rows, weights.n)).map_blocks(
        sp.csr_array, meta=sp.csr_array((0, 0))
    )
    found = dense(EdgeTable(matrix), sizes)
    np.testing.assert_allclose(found, weights.A, rtol=1e-12, atol=0)
    tried(SECTION, "EdgeTable", f"{weights.what.split(' of ')[0]}, rows of a matrix")
