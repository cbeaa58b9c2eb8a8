"""``multi_modal_graph_embedding``: the modalities of a MuData in one embedding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.ad import checks, results
from graphfold.ad.edges import named_keys
from graphfold.ad.reading import columns_of, expressed, plain
from graphfold.ad.verbs import refuse_unknown
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators import MultiModalGraphEmbedding
from graphfold.graphs import Graph, GraphRecipe, NeighborGraph
from graphfold.graphs.known import KnownGraph
from graphfold.stores import RowStore


def multi_modal_graph_embedding(
    mdata: Any,
    n_comps: int = 50,
    *,
    use_rep: Any = None,
    layer: Any = None,
    graph_keys: Any = None,
    key_added: str | None = None,
    random_state: Any = 0,
    keep_model: bool = False,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """One embedding of cells that are measured in several ways.

    :class:`~graphfold.MultiModalGraphEmbedding` on the modalities of a MuData. Cells
    may miss modalities.

    Parameters
    ----------
    mdata : MuData
    n_comps : int, default=50
    use_rep : str or dict of these by modality, default=None
        Representations in ``obsm`` of the modalities; None is X.
    layer : str or dict of these by modality, default=None
    graph_keys : str, list or dict, default=None
        None: each modality's neighbours are sought. A dict names, for a modality, the
        graph in its own ``obsp`` that takes the place of the search; any other name is
        that of a graph in ``mdata.obsp``, which comes in as one more mode. A text or
        a list are keys of ``mdata.obsp``, or a text is one that every modality has.
    key_added : str, default=None
        Key for obsm and uns in the place of "X_graphfold" and "graphfold".
    random_state : int, default=0
    keep_model : bool, default=False
        Keep the fitted estimator in ``uns`` for :func:`transform` and :func:`model`.
    copy : bool, default=False
    **settings
        Passed to :class:`~graphfold.MultiModalGraphEmbedding`.

    Returns
    -------
    None, or a MuData if ``copy``. Sets

    ``obsm["X_graphfold"]`` : array of shape (n_obs, n_comps)
    ``obsm["graphfold_contributions"]`` : array of shape (n_obs, n_modes)
        How much of each cell's place each mode gives.
    ``uns["graphfold"]`` : dict
        ``params``, ``mode_names``, ``mode_weights``, ``eigenvalues``, ...

    Examples
    --------
    >>> import anndata, mudata
    >>> import numpy as np
    >>> from graphfold import ad
    >>> rng = np.random.default_rng(0)
    >>> rna = anndata.AnnData(rng.standard_normal((50, 6)))
    >>> protein = anndata.AnnData(rng.standard_normal((50, 4)))[:40].copy()
    >>> mdata = mudata.MuData({"rna": rna, "protein": protein})
    >>> ad.multi_modal_graph_embedding(mdata, n_comps=2)
    >>> mdata.obsm["X_graphfold"].shape
    (50, 2)
    """
    names = checks.multimodal(mdata)
    checks.can_be_written(mdata, copy)
    check.flag("keep_model", keep_model)
    _, key = results.keys_for(key_added)
    refuse_unknown(MultiModalGraphEmbedding, settings)
    d = results.checked_n_comps(n_comps, len(names))
    said = {"use_rep": use_rep, "layer": layer}
    tables, variables = tables_of(mdata, names, **said)
    metric = settings.pop("metric", "auto")
    n_neighbors = settings.get("n_neighbors", 10)
    keys = _keys_by_mode(mdata, graph_keys)
    known = {
        mode: _known_graph(mdata, names, mode, of_mode, metric, n_neighbors)
        for mode, of_mode in keys.items()
    }
    for mode in known:
        if mode not in tables:
            # known by name alone, which says nothing of another cell
            tables[mode] = names.astype(object)[:, None]
    if known:
        usual = metric if isinstance(metric, Mapping) else dict.fromkeys(tables, metric)
        metric = {**usual, **known}
    model = MultiModalGraphEmbedding(
        d, metric=metric, random_state=random_state, **settings
    )
    model.fit(tables)
    heard = {
        "estimator": "MultiModalGraphEmbedding",
        "n_comps": d,
        "graph_keys": keys or None,
        "metric": {k: v for k, v in metric.items() if k not in known}
        if known
        else metric,
    }
    noted = {
        "params": {
            **results.described(model, {**said}),
            **{k: results.plain_value(v) for k, v in heard.items() if v is not None},
        },
        "mode_names": np.array(model.mode_names_, dtype=object),
        "mode_weights": np.asarray(model.mode_weights_),
        **results.findings(model),
    }
    if keep_model:
        noted["model"] = results.packed(model)
        noted["variables"] = variables
    target = mdata.copy() if copy else mdata
    results.write(target, key_added, model.embedding_, noted, copy=False)
    target.obsm[f"{key}_contributions"] = model.mode_contributions_
    return target if copy else None


def tables_of(
    mdata: Any,
    names: Array,
    *,
    use_rep: Any = None,
    layer: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Array]]:
    """A table of each modality, a row for every cell, and names of its variables.

    Cells that miss the modality have NaN. ``variables`` are those of a fit, by which
    columns are met.
    """
    modes = list(mdata.mod)
    asked = {
        argument: _by_mode(argument, value, modes)
        for argument, value in (("use_rep", use_rep), ("layer", layer))
    }
    tables, found = {}, {}
    for mode, part in mdata.mod.items():
        rep, of_layer = asked["use_rep"][mode], asked["layer"][mode]
        if rep not in (None, "X"):
            where = f"obsm of modality {mode!r}"
            checks.one_of_keys("use_rep", rep, list(part.obsm.keys()), where)
            X = plain(part.obsm[rep])
        else:
            X = expressed(part, of_layer)
            wanted = None if variables is None else variables.get(mode)
            places = variable_places(part, wanted, f"modality {mode!r}")
            found[mode] = np.asarray(part.var_names)[places].astype(object)
            X = columns_of(X, places)
            X = X.read() if isinstance(X, RowStore) else X
        rows = part.obs_names.get_indexer(names)
        tables[mode] = _with_missing(X, rows)
    return tables, found


def variable_places(adata: Any, wanted: Any, what: str) -> Array:
    """Positions of variables by name; all where none are asked for."""
    if wanted is None:
        return np.arange(adata.n_vars)
    wanted = checks.as_text(wanted)
    if not adata.var_names.is_unique:
        raise GraphfoldError(
            f"var_names of {what} must be distinct, for variables are met by name: "
            "call var_names_make_unique() first"
        )
    places = adata.var_names.get_indexer(wanted)
    lost = wanted[places < 0]
    if len(lost):
        raise GraphfoldError(
            f"{what} must have the {len(wanted)} variables of the fit; "
            f"{len(lost)} are missing, {check.some_of(lost, 3)}"
        )
    return np.asarray(places)


def _by_mode(argument: str, value: Any, modes: list[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return dict.fromkeys(modes, value)
    unknown = [name for name in value if name not in modes]
    if unknown:
        raise GraphfoldError(
            f"{argument} must name modalities among {check.some_of(modes)}; got "
            f"{check.some_of(unknown)}"
        )
    return {mode: value.get(mode) for mode in modes}


def _with_missing(X: Any, rows: Array) -> Any:
    """Rows in the order of all cells; NaN where there are none, sparse or not."""
    if (rows >= 0).all():
        return X[rows]
    dtype = np.result_type(X.dtype, np.float32)
    if not sp.issparse(X):
        full = np.full((len(rows), X.shape[1]), np.nan, dtype=dtype)
        full[rows >= 0] = X[rows[rows >= 0]]
        return full
    lost = sp.csr_array(([np.nan], ([0], [0])), shape=(1, X.shape[1]), dtype=dtype)
    return sp.csr_array(sp.vstack([X, lost], format="csr"))[rows]


def _keys_by_mode(mdata: Any, graph_keys: Any) -> dict[str, str]:
    """Key of the graph of each mode: of a modality, or of a mode of its own."""
    if graph_keys is None:
        return {}
    shared = isinstance(graph_keys, str) and graph_keys not in mdata.obsp
    if shared and all(graph_keys in part.obsp for part in mdata.mod.values()):
        return dict.fromkeys(mdata.mod, graph_keys)
    if not isinstance(graph_keys, Mapping):
        found = named_keys(mdata, graph_keys)
        both = [name for name in found if name in mdata.mod]
        if both:
            raise GraphfoldError(
                "graph_keys must be a dict where a graph is called as a modality is; "
                f"got {check.some_of(both)}"
            )
        return found
    return {
        str(mode): next(iter(named_keys(mdata.mod.get(mode, mdata), key).values()))
        for mode, key in graph_keys.items()
    }


def _known_graph(
    mdata: Any, names: Array, mode: str, key: str, metric: Any, n_neighbors: int
) -> KnownGraph:
    """The graph of the cells that have a mode, in the order of all cells."""
    if mode not in mdata.mod:
        return KnownGraph(Graph(plain(mdata.obsp[key])))
    part = mdata.mod[mode]
    rows = part.obs_names.get_indexer(names)
    rows = rows[rows >= 0]
    asked = metric.get(mode, "auto") if isinstance(metric, Mapping) else metric
    if not isinstance(asked, GraphRecipe):
        asked = NeighborGraph(
            n_neighbors, metric="euclidean" if asked == "auto" else asked
        )
    return KnownGraph(Graph(plain(part.obsp[key])[rows][:, rows]), asked)
