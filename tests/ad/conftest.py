"""Cells of scanpy's bundled data set."""

import warnings

import numpy as np
import pytest

KEPT = 240


@pytest.fixture(scope="session")
def pbmc():
    """700 blood cells, 765 genes, with neighbours, as scanpy ships them."""
    scanpy = pytest.importorskip("scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scanpy.datasets.pbmc68k_reduced()


@pytest.fixture
def adata(pbmc):
    """A part of them, with a place on one of two sections."""
    cells = pbmc[:KEPT].copy()
    del cells.raw, cells.uns["rank_genes_groups"]  # the larger half of a file
    rng = np.random.default_rng(0)
    cells.obsm["spatial"] = rng.random((KEPT, 2))
    cells.obs["section"] = np.where(np.arange(KEPT) % 2, "left", "right")
    return cells
