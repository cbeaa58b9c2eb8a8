"""Tables with annotations: h5ad files and zarr stores, read with anndata's help."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np

from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files.paths import Place, chosen, optional, reading
from graphfold.replacing import replace_atomically, replace_folder

#: where an embedding is put
KEY = "X_graphfold"


def anndata() -> Any:
    """The package, or how to get it."""
    return optional("anndata", "ad", "h5ad files and annotated zarr stores")


def open_annotated(place: Place) -> Any:
    """The AnnData of a file or store; None if a zarr store is not one."""
    if place.suffix == ".h5ad":
        read = anndata().read_h5ad
        with reading(place.path, ".h5ad"):
            return read(place.path)
    if not is_annotated(place):
        return None
    read = anndata().read_zarr
    with reading(place.path, ".zarr"):
        return read(place.path)


def is_annotated(place: Place) -> bool:
    """Whether a zarr store is an AnnData."""
    return bool(_open_zarr(place).attrs.get("encoding-type") == "anndata")


def matrix_in(adata: Any, key: str | None, where: Any) -> Any:
    """X, ``layers/NAME``, ``obsm/NAME`` or ``obsp/NAME``."""
    if key in (None, "X"):
        if adata.X is None:
            raise FileError(
                f"{where} has no X; name a table in it: "
                f"{some_of([f'obsm/{name}' for name in adata.obsm]) or 'it has none'}"
            )
        return adata.X
    part, _, name = str(key).partition("/")
    if part not in ("layers", "obsm", "obsp") or not name:
        raise FileError(
            f"{where}: a key must be X, layers/NAME, obsm/NAME or obsp/NAME; got {key}"
        )
    held = getattr(adata, part)
    found = held[chosen(list(held.keys()), name, where, f"{part} called")]
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def array_in(place: Place) -> Any:
    """The array of a zarr store, or the one that is named in it (X by default)."""
    store = _open_zarr(place)
    if hasattr(store, "shape"):
        return store
    names = [name for name, _ in store.arrays()]
    wanted = place.key or (names[0] if len(names) == 1 else "X")
    if "/" in wanted and wanted in store:
        return store[wanted]
    return store[chosen(names, wanted, place.path, "array called")]


def _open_zarr(place: Place) -> Any:
    zarr = optional("zarr", "disk", "zarr stores")
    with reading(place.path, ".zarr"):
        return zarr.open(str(place.path), mode="r")


# -- writing --------------------------------------------------------------------------


def write_h5ad(
    place: Place, Z: Any, labels: Any, source: Place | None, adata: Any
) -> None:
    """A copy of the annotated table the rows came from, with the embedding in obsm."""
    if source is None or source.suffix != ".h5ad":
        copy = _bare(Z, labels) if adata is None else _with_embedding(adata, Z)
        replace_atomically(place.path, lambda name: copy.write_h5ad(name))
        return
    h5py = optional("h5py", "disk", "h5ad files")

    def fill(name: str) -> None:
        shutil.copyfile(source.path, name)
        with h5py.File(name, "r+") as file:
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
            return
        _with_embedding(adata, Z).write_zarr(folder)

    replace_folder(place.path, fill)


def _with_embedding(adata: Any, Z: Any) -> Any:
    copy = adata.copy()
    copy.obsm[KEY] = np.asarray(Z)
    return copy


def _bare(Z: Any, labels: Any) -> Any:
    import pandas

    names = np.arange(len(Z)) if labels is None else labels
    rows = pandas.DataFrame(index=np.asarray(names).astype(str))
    return anndata().AnnData(obs=rows, obsm={KEY: np.asarray(Z)})
