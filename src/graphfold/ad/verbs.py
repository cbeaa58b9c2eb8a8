"""The verbs for one AnnData: ``graph_kernel_pca`` and its semi-supervised sister."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfold import check
from graphfold.ad import checks, edges, results
from graphfold.ad.reading import Table, table_of
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators import GraphKernelPCA, SemiSupervisedGraphKernelPCA


def graph_kernel_pca(
    adata: Any,
    n_comps: int = 50,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    mask_var: Any = None,
    graph_keys: Any = None,
    batch_key: str | None = None,
    key_added: str | None = None,
    random_state: Any = 0,
    keep_model: bool = False,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Kernel PCA of the cells, pulled to be smooth on graphs of them.

    :class:`~graphfold.GraphKernelPCA` on the arrays of an AnnData; cells meet the
    nodes of the graphs by ``obs_names``.

    Parameters
    ----------
    adata : AnnData
        In memory, or backed by a file whose X is dense or CSR.
    n_comps : int, default=50
    use_rep : str, default=None
        A representation in ``obsm``; None or "X" is X.
    layer : str, default=None
        A layer in the place of X.
    mask_var : str or array of bool, default=None
        A column of ``var`` such as "highly_variable", or a mask; None: all variables.
    graph_keys : str, list or dict, default=None
        Graphs in ``obsp``, by key (or by the name of a ``neighbors_key`` in ``uns``);
        several, as a list or by name, get learned weights. None:
        "spatial_connectivities" if it is there, else "connectivities". ``[]``: none.
    batch_key : str, default=None
        Column of ``obs`` with the section of each cell: edges between sections are
        dropped.
    key_added : str, default=None
        Key for obsm, varm and uns in the place of "X_graphfold" and "graphfold".
    random_state : int, default=0
    keep_model : bool, default=False
        Keep the fitted estimator in ``uns``, as bytes that an h5ad file can hold, for
        :func:`transform` and :func:`model`.
    copy : bool, default=False
        Return a copy with the results; else they are written into ``adata``.
    **settings
        Passed to :class:`~graphfold.GraphKernelPCA`: ``kernel``, ``graph_strength``,
        ``response``, ``landmarks``, ``max_memory``, ...; ``graph`` for a recipe such
        as ``NeighborGraph()``, which takes the place of ``graph_keys``.

    Returns
    -------
    None, or an AnnData if ``copy``. Sets

    ``obsm["X_graphfold"]`` : array of shape (n_obs, n_comps)
    ``varm["graphfold"]`` : array of shape (n_vars, n_comps)
        Loadings, where the kernel is linear and columns are variables; 0 outside of
        ``mask_var``.
    ``uns["graphfold"]`` : dict
        ``params``, ``eigenvalues``, ``explained_variance_ratio``, ``graph_strength``,
        ``graph_names``, ``graph_weights``, ``formula``, ...

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(rng.standard_normal((60, 8)))
    >>> adata.obsm["spatial"] = rng.random((60, 2))
    >>> ad.spatial_neighbors(adata)
    >>> ad.graph_kernel_pca(adata, n_comps=3, kernel="linear")
    >>> adata.obsm["X_graphfold"].shape, adata.varm["graphfold"].shape
    ((60, 3), (8, 3))
    """
    return _embed(
        GraphKernelPCA,
        adata,
        n_comps,
        said={
            "use_rep": use_rep,
            "layer": layer,
            "mask_var": mask_var,
            "batch_key": batch_key,
        },
        graph_keys=graph_keys,
        key_added=key_added,
        keep_model=keep_model,
        copy=copy,
        settings={"random_state": random_state, **settings},
    )


def semi_supervised_graph_kernel_pca(
    adata: Any,
    labels_key: str | None,
    n_comps: int = 50,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    mask_var: Any = None,
    graph_keys: Any = None,
    batch_key: str | None = None,
    key_added: str | None = None,
    random_state: Any = 0,
    keep_model: bool = False,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """As :func:`graphfold.ad.graph_kernel_pca`, with labels of some cells.

    :class:`~graphfold.SemiSupervisedGraphKernelPCA` on the arrays of an AnnData.

    Parameters
    ----------
    adata : AnnData
    labels_key : str or None
        Column of ``obs`` with classes, missing (NaN) where unknown, or with numbers.
        None: only ``must_link`` and ``cannot_link``, pairs of ``obs_names``.
    n_comps, use_rep, layer, mask_var, graph_keys, batch_key, key_added, \
random_state, keep_model, copy :
        As in :func:`graph_kernel_pca`.
    **settings
        Passed to :class:`~graphfold.SemiSupervisedGraphKernelPCA`.

    Returns
    -------
    None, or an AnnData if ``copy``. Sets what :func:`graph_kernel_pca` sets, and

    ``uns["graphfold"]["constraints"]`` : dict
        How many cells have labels, and how many lie nearer to another class.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(rng.standard_normal((60, 8)))
    >>> adata.obs["type"] = ["a", "b", None] * 20
    >>> ad.semi_supervised_graph_kernel_pca(adata, "type", n_comps=2, graph_keys=[])
    >>> adata.uns["graphfold"]["constraints"]["n_labelled"]
    40
    """
    return _embed(
        SemiSupervisedGraphKernelPCA,
        adata,
        n_comps,
        said={
            "labels_key": labels_key,
            "use_rep": use_rep,
            "layer": layer,
            "mask_var": mask_var,
            "batch_key": batch_key,
        },
        graph_keys=graph_keys,
        key_added=key_added,
        keep_model=keep_model,
        copy=copy,
        settings={"random_state": random_state, **settings},
    )


def _embed(
    kind: type,
    adata: Any,
    n_comps: Any,
    *,
    said: dict[str, Any],
    graph_keys: Any,
    key_added: Any,
    keep_model: bool,
    copy: bool,
    settings: dict[str, Any],
) -> Any:
    """Take out, fit, write back; until the last line the object is only read."""
    names = checks.annotated(adata)
    checks.can_be_written(adata, copy)
    check.flag("keep_model", keep_model)
    results.keys_for(key_added)
    refuse_unknown(kind, settings)
    d = results.checked_n_comps(n_comps, len(names))
    table = table_of(adata, said["use_rep"], said["layer"], said["mask_var"])
    graph, keys, dropped = _graph(
        adata, names, graph_keys, said["batch_key"], settings.pop("graph", None)
    )
    y = None
    if said.get("labels_key") is not None:
        y = checks.column(adata, "labels_key", said["labels_key"])
    model = kind(d, graph=graph, **settings)
    model.fit(table.X, y, node_ids=names)
    noted = {
        "params": results.described(
            model,
            {"estimator": kind.__name__, "n_comps": d, "graph_keys": keys, **said},
        ),
        **results.findings(model),
    }
    if dropped:
        noted["n_edges_across"] = dropped
    report = getattr(model, "constraint_report_", None)
    if report is not None:
        noted["constraints"] = {
            "n_labelled": report.n_labelled,
            "n_groups": report.n_groups,
            "n_misplaced": len(report.misplaced),
            "n_violated": len(report.violated_must) + len(report.violated_cannot),
        }
    if keep_model:
        noted["model"] = results.packed(model)
        if table.variables is not None:
            used = np.asarray(adata.var_names)[table.variables]
            noted["variables"] = used.astype(object)
    return results.write(
        adata,
        key_added,
        model.embedding_,
        noted,
        copy=copy,
        loadings=_loadings(model, table, adata.n_vars),
    )


def refuse_unknown(kind: type, settings: Mapping[str, Any]) -> None:
    """Settings that the estimator does not have, by name."""
    known = [*inspect.signature(kind).parameters]
    known = [name for name in known if name != "n_components"]
    unknown = [name for name in settings if name not in known]
    if unknown:
        instead = {"n_components": "n_comps", "n_pcs": "n_comps"}.get(unknown[0])
        raise GraphfoldError(
            f"settings must be parameters of {kind.__name__}; it has no "
            f"{check.some_of(unknown)}: "
            + (f"use {instead}" if instead else f"it has {', '.join(known)}")
        )


def _graph(
    adata: Any, names: Array, graph_keys: Any, batch_key: Any, given: Any
) -> tuple[Any, Any, dict[str, int]]:
    """What the estimator takes as ``graph``, the keys it came from, edges dropped."""
    if given is not None:
        for name, value in (("graph_keys", graph_keys), ("batch_key", batch_key)):
            if value is not None:
                raise GraphfoldError(
                    f"{name} must be None together with graph=, which may join any two "
                    f"cells; got {value!r}: put the graph into obsp, and name it"
                )
        return given, None, {}
    keys = edges.named_keys(adata, graph_keys)
    graphs, dropped = edges.graphs_of(adata, names, keys, batch_key)
    return graphs or None, list(keys.values()) or None, dropped


def _loadings(model: Any, table: Table, n_vars: int) -> Array | None:
    found = getattr(model, "components_", None)
    if found is None or table.variables is None:
        return None
    full = np.zeros((n_vars, len(found)), dtype=found.dtype)
    full[table.variables] = found.T
    return full
