"""What an AnnData or a MuData must be before a verb touches it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array, are_missing
from graphfold.errors import GraphfoldError, LabelError
from graphfold.graphs.labels import first_duplicate


def annotated(adata: Any) -> Array:
    """Names of the cells, if this is an AnnData whose cells can be told apart."""
    if _is_multimodal(adata):
        raise GraphfoldError(
            "adata must be an AnnData; got a MuData: use "
            "ad.multi_modal_graph_embedding, or one modality of it (mdata['rna'])"
        )
    if not _has(adata, "obs_names", "var_names", "obsm", "obsp", "uns"):
        raise GraphfoldError(f"adata must be an AnnData; got {type(adata).__name__}")
    return distinct_names(adata.obs_names)


def multimodal(mdata: Any) -> Array:
    """Names of the cells, if this is a MuData whose modalities share their cells."""
    if not _is_multimodal(mdata):
        raise GraphfoldError(
            f"mdata must be a MuData; got {type(mdata).__name__}: for one table use "
            "ad.graph_kernel_pca"
        )
    if getattr(mdata, "axis", 0) != 0:
        raise GraphfoldError(
            f"mdata must share its cells (axis=0); got axis={mdata.axis}"
        )
    for name, part in mdata.mod.items():
        if _is_multimodal(part):
            raise GraphfoldError(
                f"modalities of mdata must be AnnData; {name!r} is a MuData: embed "
                "it by itself, or put its own modalities into mdata"
            )
        distinct_names(part.obs_names, f" of modality {name!r}")
    return distinct_names(mdata.obs_names)


def can_be_written(adata: Any, copy: bool) -> None:
    """Results are kept in the object itself; some of a file on disk cannot have any."""
    check.flag("copy", copy)
    if not getattr(adata, "isbacked", False):
        return
    if adata.is_view:
        raise GraphfoldError(
            "adata must not be a view of a backed file, which cannot hold results; "
            "read it with adata.to_memory(), or write it with adata.copy(filename)"
        )
    if copy:
        raise GraphfoldError(
            "copy must be False for a backed file; got True: X stays on disk and only "
            "results are added, or read it all with adata.to_memory()"
        )


def as_text(names: Any) -> Array:
    """Names as an array of text, whichever way a file has given them back."""
    # zarr gives numpy's strings of any length, which become others by objects alone
    return np.asarray(names).astype(object).astype(str)


def distinct_names(names: Any, where: str = "") -> Array:
    """Names of cells as text, none of them twice."""
    found = as_text(names)
    repeated = first_duplicate(found)
    if repeated is not None:
        raise LabelError(
            f"obs_names{where} must be distinct, for cells meet their graphs by name; "
            f"{str(repeated)!r} occurs twice: call obs_names_make_unique() first"
        )
    return found


def one_of_keys(argument: str, key: Any, keys: Collection[str], where: str) -> str:
    """``key`` if it is there; else what there is."""
    keys = [name for name in keys if isinstance(name, str)]  # layers may list None: X
    if not isinstance(key, str) or key not in keys:
        raise GraphfoldError(
            f"{argument} must name an entry of {where}; got {key!r}, and there are "
            f"{check.some_of(sorted(keys), 12) or 'none'}"
        )
    return key


def column(adata: Any, argument: str, key: Any) -> Array:
    """A column of ``adata.obs``; what is missing in it is None."""
    key = one_of_keys(argument, key, list(adata.obs.columns), "adata.obs")
    values = np.array(adata.obs[key].astype(object), dtype=object)
    values[are_missing(values)] = None
    return values


def sections(adata: Any, batch_key: Any) -> Array | None:
    """The number of each cell's section, or None where there is one."""
    if batch_key is None:
        return None
    values = column(adata, "batch_key", batch_key)
    lost = np.flatnonzero(values == None)  # noqa: E711 - cell by cell
    if len(lost):
        raise GraphfoldError(
            f"batch_key must give every cell a section; obs[{batch_key!r}] is missing "
            f"for {len(lost)} cells, {check.some_of(adata.obs_names[lost], 3)}"
        )
    _, numbers = np.unique(values.astype(str), return_inverse=True)
    return np.asarray(numbers).ravel()


def _is_multimodal(data: Any) -> bool:
    return _has(data, "mod", "obs_names", "obsm", "uns")


def _has(data: Any, *names: str) -> bool:
    return all(hasattr(data, name) for name in names)
