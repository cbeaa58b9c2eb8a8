"""Embeddings and models that were written to files, and the rows they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphfold
from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.cli.arguments import UsageError
from graphfold.cli.models import named_path
from graphfold.errors import FileError, ModelFileError
from graphfold.files import existing, is_model, read_matrix, read_table
from graphfold.files.arrays import filled_in
from graphfold.files.graphs import ends_like
from graphfold.graphs.labels import LabelIndex

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Embeddings(NamedTuple):
    """Several embeddings of the same rows by name, and what stands beside them."""

    parts: dict[str, Any]
    labels: Array | None
    columns: dict[str, Array]
    n: int

    @property
    def argument(self) -> Any:
        """As ``graphfold.view`` takes them: one, or several by name."""
        return self.parts if len(self.parts) > 1 else next(iter(self.parts.values()))


def read_embeddings(words: list[str]) -> Embeddings:
    """The files that ``[NAME=]FILE`` name: tables of coordinates, or saved models."""
    parts: dict[str, Any] = {}
    columns: dict[str, Array] = {}
    labels: Array | None = None
    n = 0
    for word in words:
        name, path = named_path(word)
        if name in parts:
            raise UsageError(
                f"embeddings must have different names; {name} is twice: say NAME=FILE"
            )
        part, own, beside = _read(path)
        count = len(part.embedding_ if hasattr(part, "embedding_") else part)
        if parts and count != n:
            raise FileError(
                f"embeddings must be of the same rows; {path} has {count}, {n} before"
            )
        if own is not None and labels is not None and not hasattr(part, "embedding_"):
            order = positions(labels, own, path)
            part = part[order]
            beside = {key: values[order] for key, values in beside.items()}
        labels = own if labels is None else labels
        parts[name], n = part, count
        columns |= {key: values for key, values in beside.items() if key not in columns}
    return Embeddings(parts, labels, columns, n)


def read_model(path: str) -> Any:
    """The model in an npz file that ``save`` has written, with its embedding."""
    place = existing(path, (".npz",))
    if not is_model(place):
        raise ModelFileError(
            f"{path} is not a model: graphfold embed --model writes one"
        )
    model = graphfold.load(place.path)
    if not hasattr(model, "embedding_"):
        raise ModelFileError(
            f"{path} has no embedding: it was saved before a fit, or its rows lay on "
            "workers of Dask's, where the embedding is what embed -o wrote"
        )
    return model


def read_rows_of(
    path: str, labels: Array | None, n: int, aside: list[str], ids: str | None
) -> tuple[Any, dict[str, Array]]:
    """The original rows in the order of the embedding, and what stands beside them.

    Columns of words are no part of them, nor those named in ``aside``.
    """
    table = read_table(path, aside=aside, words=True, ids=ids)
    if labels is not None and table.labels is not None:
        order = positions(labels, table.labels, path)
        beside = {name: values[order] for name, values in table.extra.items()}
        return table.X[order], beside
    if table.X.shape[0] != n:
        raise FileError(
            f"{path} must have the {n} rows of the embedding; it has {table.X.shape[0]}"
        )
    return table.X, table.extra


def positions(labels: Array, own: Array, where: Any) -> Array:
    """Where each label is among those of a file."""
    found = LabelIndex(ends_like(labels, own, where)).find(labels)
    if (found < 0).any():
        lost = labels[found < 0]
        raise FileError(
            f"{where} must have the rows of the embedding; {len(lost)} are not there, "
            f"such as {some_of(lost, 3)}"
        )
    return found


def read_images(path: str, labels: Array | None, n: int) -> Any:
    """Pictures of the rows: an npy array, or files of a folder by name or in order."""
    folder = Path(path)
    if not folder.is_dir():
        images = filled_in(read_matrix(existing(path, (".npy", ".npz"))), path)
        if np.ndim(images) == 0 or len(images) != n:
            raise FileError(
                f"{path} must have {n} pictures; its shape is {images.shape}"
            )
        return images
    files = sorted(f for f in folder.iterdir() if f.suffix.lower() in _PICTURES)
    by_name = {file.stem: file for file in files}
    names = [str(label) for label in (range(n) if labels is None else labels)]
    if all(name in by_name for name in names):
        return [str(by_name[name]) for name in names]
    if len(files) == n:
        return [str(file) for file in files]
    raise FileError(
        f"{path} must have a picture for each of the {n} rows, named as they are; it "
        f"has {len(files)} ({', '.join(_PICTURES)}), and none called "
        f"{next(name for name in names if name not in by_name)}"
    )


def _read(path: str) -> tuple[Any, Array | None, dict[str, Array]]:
    if path.lower().endswith(".npz") and is_model(existing(path, (".npz",))):
        model = read_model(path)
        labels = getattr(model, "_row_labels", None)
        return model, None if labels is None else np.asarray(labels), {}
    table = read_table(path, words=True)
    X = filled_in(table.X, path)
    return np.asarray(X, dtype=float), table.labels, table.extra
