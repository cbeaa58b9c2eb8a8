"""Embeddings into h5ad files and zarr stores: copies of the table they came from."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np

from graphfold.files.annotated import KEY, anndata
from graphfold.files.ours import MARK, NAME
from graphfold.files.paths import Place, optional
from graphfold.replacing import replace_atomically, replace_folder


def write_h5ad(
    place: Place, Z: Any, labels: Any, source: Place | None, adata: Any
) -> None:
    """A copy of the annotated table the rows came from, with the embedding in obsm."""
    if source is None or source.suffix != ".h5ad":
        copy = _bare(Z, labels) if adata is None else _with_embedding(adata, Z)
        replace_atomically(place.path, lambda name: _write_marked(copy, name))
        return
    h5py = optional("h5py", "disk", "h5ad files")

    def fill(name: str) -> None:
        shutil.copyfile(source.path, name)
        with h5py.File(name, "r+") as file:
            file.attrs[MARK] = NAME
            fresh = "obsm" not in file
            group = file.require_group("obsm")
            if fresh:
                group.attrs["encoding-type"] = "dict"
                group.attrs["encoding-version"] = "0.1.0"
            if KEY in group:
                del group[KEY]
            written = group.create_dataset(KEY, data=Z)
            written.attrs["encoding-type"] = "array"
            written.attrs["encoding-version"] = "0.2.0"

    replace_atomically(place.path, fill)


def write_zarr(place: Place, Z: Any, adata: Any) -> None:
    """The embedding as an array; of an annotated table, a copy with it in obsm."""
    zarr = optional("zarr", "disk", "zarr stores")

    def fill(folder: str) -> None:
        if adata is None:
            zarr.save_array(folder, np.asarray(Z))
        else:
            _with_embedding(adata, Z).write_zarr(folder)
        store = zarr.open(folder, mode="r+", use_consolidated=False)
        store.attrs[MARK] = NAME
        if adata is not None:
            zarr.consolidate_metadata(folder)

    replace_folder(place.path, fill)


def _write_marked(copy: Any, name: str) -> None:
    copy.write_h5ad(name)
    with optional("h5py", "disk", "h5ad files").File(name, "r+") as file:
        file.attrs[MARK] = NAME


def _with_embedding(adata: Any, Z: Any) -> Any:
    whole = adata.whole()
    whole.obsm[KEY] = np.asarray(Z)
    return whole


def _bare(Z: Any, labels: Any) -> Any:
    import pandas

    names = np.arange(len(Z)) if labels is None else labels
    rows = pandas.DataFrame(index=np.asarray(names).astype(str))
    return anndata().AnnData(obs=rows, obsm={KEY: np.asarray(Z)})
