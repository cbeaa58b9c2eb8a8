"""``spatial_neighbors``: which cells lie near each other in their section."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.ad import checks
from graphfold.ad.reading import plain
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.graphs import NeighborGraph


def spatial_neighbors(
    adata: Any,
    *,
    n_neighbors: int = 6,
    spatial_key: str = "spatial",
    batch_key: str | None = None,
    key_added: str = "spatial",
    copy: bool = False,
) -> Any:
    """Link each cell to the cells nearest to it on its tissue section.

    Parameters
    ----------
    adata : AnnData
    n_neighbors : int, default=6
        Cells that each cell chooses; an edge is where either end has chosen the other.
        At most those that there are in its section.
    spatial_key : str, default="spatial"
        Coordinates in ``obsm``.
    batch_key : str, default=None
        Column of ``obs`` with the section of each cell: no edge crosses sections, so
        their coordinates may overlap.
    key_added : str, default="spatial"
        What the keys begin with.
    copy : bool, default=False
        Return a copy with the results; else they are written into ``adata``.

    Returns
    -------
    None, or an AnnData if ``copy``. Sets

    ``obsp["spatial_connectivities"]`` : CSR matrix
        1 where two cells are neighbours; symmetric.
    ``obsp["spatial_distances"]`` : CSR matrix
    ``uns["spatial_neighbors"]`` : dict
        As scanpy and squidpy have it, so that ``neighbors_key="spatial_neighbors"``
        works in scanpy.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> adata = anndata.AnnData(np.zeros((4, 1)))
    >>> adata.obsm["spatial"] = np.array([[0, 0], [0, 1], [5, 0], [5, 1]])
    >>> ad.spatial_neighbors(adata, n_neighbors=1)
    >>> adata.obsp["spatial_connectivities"].toarray().astype(int)
    array([[0, 1, 0, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 1, 0]])
    """
    checks.annotated(adata)
    checks.can_be_written(adata, copy)
    check.integer_between("n_neighbors", n_neighbors, 1, 2**31)
    if not isinstance(key_added, str) or not key_added:
        raise GraphfoldError(f"key_added must be a name; got {key_added!r}")
    places = _places(adata, spatial_key)
    section = checks.sections(adata, batch_key)
    distances = _nearest(places, section, int(n_neighbors))
    target = adata.copy() if copy else adata
    keys = {
        "connectivities_key": f"{key_added}_connectivities",
        "distances_key": f"{key_added}_distances",
    }
    linked = sp.csr_matrix(distances, copy=True)
    linked.data[:] = 1.0
    target.obsp[keys["connectivities_key"]] = linked
    target.obsp[keys["distances_key"]] = sp.csr_matrix(distances)
    params = {"n_neighbors": int(n_neighbors), "spatial_key": spatial_key}
    if batch_key is not None:
        params["batch_key"] = batch_key
    # scanpy asks for the method where it reads connectivities
    params |= {"method": "graphfold", "metric": "euclidean"}
    target.uns[f"{key_added}_neighbors"] = {**keys, "params": params}
    return target if copy else None


def _places(adata: Any, spatial_key: Any) -> Array:
    key = checks.one_of_keys(
        "spatial_key", spatial_key, list(adata.obsm.keys()), "adata.obsm"
    )
    places = np.asarray(plain(adata.obsm[key]), dtype=np.float64)
    lost = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if len(lost):
        raise GraphfoldError(
            f"obsm[{key!r}] must be finite; it is not for {len(lost)} cells, "
            f"{check.some_of(adata.obs_names[lost], 3)}: drop them"
        )
    return places


def _nearest(places: Array, section: Array | None, k: int) -> Any:
    """Distances along the edges, one section after the other; symmetric, CSR."""
    n = len(places)
    groups = np.zeros(n, dtype=int) if section is None else section
    tails, heads, lengths = [], [], []
    for group in range(groups.max(initial=0) + 1):
        cells = np.flatnonzero(groups == group)
        if len(cells) < 2:
            continue  # alone in its section
        found = NeighborGraph(k).neighbors(places[cells])
        chosen = found.indices.shape[1]
        tails.append(np.repeat(cells, chosen))
        heads.append(cells[found.indices.ravel()])
        lengths.append(found.distances.ravel())
    if not tails:
        raise GraphfoldError(
            "batch_key must leave two cells in some section; each has one alone"
        )
    ends = np.stack([np.concatenate(tails), np.concatenate(heads)]).astype(np.int64)
    pairs = np.concatenate([ends[0] * n + ends[1], ends[1] * n + ends[0]])
    # an edge that both ends have chosen counts once; a distance of 0 stays an edge
    pairs, first = np.unique(pairs, return_index=True)
    values = np.tile(np.concatenate(lengths), 2)[first]
    return sp.csr_array((values, (pairs // n, pairs % n)), shape=(n, n))
