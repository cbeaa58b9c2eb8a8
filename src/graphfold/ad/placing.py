"""New cells by the model of a reference: ``transform``, and ``model`` itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfold.ad import checks, results
from graphfold.ad.modalities import tables_of, variable_places
from graphfold.ad.reading import columns_of, expressed, on_workers, table_of
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.stores import RowStore


def model(reference: Any, key: str = "graphfold") -> Any:
    """The fitted estimator that a verb has kept in ``uns[key]``.

    Parameters
    ----------
    reference : AnnData or MuData
        That a verb was called on with ``keep_model=True``; it may have been written
        to a file and read again.
    key : str, default="graphfold"
        The verb's ``key_added``.

    Returns
    -------
    The estimator, for its report, its plots, or ``transform`` with edges of several
    graphs.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((50, 6)))
    >>> ad.graph_kernel_pca(adata, n_comps=2, graph_keys=[], keep_model=True)
    >>> ad.model(adata).embedding_.shape
    (50, 2)
    """
    return results.unpacked(reference, key)


def transform(
    adata: Any,
    reference: Any,
    *,
    key: str = "graphfold",
    edges: Any = None,
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """Place new cells in the embedding of a reference, each by itself.

    As with ``sc.tl.ingest``, the new cells come first and the reference second. Cells
    are placed by their features and, where they are known, by their edges to cells of
    the reference. A cell whose name is one of the reference's gets its place there.

    Parameters
    ----------
    adata : AnnData or MuData
        New cells, or a new section; in memory or backed. Its variables are met by
        name, and it has the ``layer`` or ``use_rep`` of the reference.
    reference : AnnData or MuData
        That a verb was called on with ``keep_model=True``.
    key : str, default="graphfold"
        The result that is meant: the verb's ``key_added``.
    edges : matrix of shape (n_obs, n_obs of the reference), or dict, default=None
        Weights from the new cells to those of the reference; a dict of them by graph
        where there are several. None: features alone, unless the fit had a recipe
        such as ``NeighborGraph()``, which finds neighbours itself.
    key_added : str, default=None
        Key for obsm and uns; None: those of the reference.
    copy : bool, default=False

    Returns
    -------
    None, or the object if ``copy``. Sets ``obsm["X_graphfold"]`` and
    ``uns["graphfold"]["params"]``.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> cells = anndata.AnnData(np.random.default_rng(0).standard_normal((50, 6)))
    >>> old, new = cells[:40].copy(), cells[40:].copy()
    >>> ad.graph_kernel_pca(old, n_comps=2, graph_keys=[], keep_model=True)
    >>> ad.transform(new, old)
    >>> new.obsm["X_graphfold"].shape
    (10, 2)
    """
    fitted = results.unpacked(reference, key)
    noted = reference.uns[key]
    params = {k: v for k, v in noted["params"].items() if k in _OF_TABLES}
    several = params["estimator"] == "MultiModalGraphEmbedding"
    place = _place_modalities if several else _place_cells
    names = checks.multimodal(adata) if several else checks.annotated(adata)
    checks.can_be_written(adata, copy)
    if key_added is None and key != "graphfold":
        key_added = key
    _, in_uns = results.keys_for(key_added)
    if adata is reference and in_uns == key and not copy:
        raise GraphfoldError(
            f"key_added must be another key than {key!r} where adata is the reference: "
            "its model would be lost"
        )
    Z = place(adata, names, fitted, noted, edges)
    said = {**params, "placed_by": key}
    return results.write(adata, key_added, Z, {"params": said}, copy=copy)


#: what the table of a fit was, among the parameters of a verb
_OF_TABLES = ("estimator", "n_comps", "use_rep", "layer", "kernel")


def _place_cells(
    adata: Any, names: Array, fitted: Any, noted: Mapping[str, Any], edges: Any
) -> Array:
    params = noted["params"]
    if "variables" in noted:
        places = variable_places(adata, noted["variables"], "adata")
        X = columns_of(expressed(adata, params.get("layer")), places)
    else:
        X = table_of(adata, params.get("use_rep"), None, None).X
    if not isinstance(X, RowStore):
        Z = fitted.transform(X, node_ids=names, edges=edges)
        return Z if on_workers(Z) else np.asarray(Z)
    # each cell is placed by itself, so that blocks of a file do
    parts = [
        fitted.transform(block, node_ids=names[rows], edges=_some(edges, rows, names))
        for rows, block in X.blocks()
    ]
    return np.concatenate(parts)


def _some(edges: Any, rows: slice, names: Array) -> Any:
    """The edges of some of the new cells."""
    if edges is None:
        return None
    if isinstance(edges, Mapping):
        return {name: _some(part, rows, names) for name, part in edges.items()}
    if isinstance(edges, list | tuple):
        block = set(names[rows].tolist())
        return [edge for edge in edges if edge[0] in block]
    return edges[rows]


def _place_modalities(
    mdata: Any, names: Array, fitted: Any, noted: Mapping[str, Any], edges: Any
) -> Array:
    if edges is not None:
        raise GraphfoldError(
            "edges must be None for a MuData: each modality finds its neighbours"
        )
    params = noted["params"]
    tables, _ = tables_of(
        mdata,
        names,
        use_rep=params.get("use_rep"),
        layer=params.get("layer"),
        variables=noted.get("variables", {}),
    )
    return np.asarray(fitted.transform(tables))
