"""Embeddings into files, in the format that the suffix names; never half of one."""

from __future__ import annotations

import csv
import gzip
import io
from typing import Any

import numpy as np
import scipy.io

from graphfold.arrays import Array
from graphfold.files import copies
from graphfold.files.ours import NAME
from graphfold.files.paths import TEXT, PathLike, Place, optional, to_be_written
from graphfold.files.tables import Table
from graphfold.replacing import write_atomically


def write_table(
    path: PathLike,
    Z: Any,
    labels: Any,
    columns: list[str],
    *,
    extra: dict[str, Array] | None = None,
    table: Table | None = None,
) -> None:
    """Write an embedding, with the labels of its rows, in the format of the suffix.

    ``extra`` columns stand behind it where the format has names for them. Of the
    ``table`` that the rows came from, an annotated copy is written.
    """
    place = to_be_written(path)
    names = range(len(Z)) if labels is None else labels
    if place.suffix in TEXT:
        content = _text(place, Z, names, columns, extra or {})
        write_atomically(path, lambda stream: stream.write(content))
    elif place.suffix == ".npy":
        write_atomically(path, lambda stream: np.save(stream, Z))
    elif place.suffix == ".npz":
        arrays = {"embedding": Z} | ({} if labels is None else {"labels": labels})
        write_atomically(path, lambda stream: np.savez(stream, **arrays))
    elif place.suffix == ".parquet":
        pandas = optional("pandas", "tables", "parquet files")
        optional("pyarrow", "tables", "parquet files")
        frame = pandas.DataFrame(Z, columns=columns)
        frame.insert(0, "id", names)
        for name, values in (extra or {}).items():
            frame[name] = values
        write_atomically(path, lambda stream: frame.to_parquet(stream, index=False))
    elif place.suffix == ".mtx":
        write_atomically(path, lambda stream: scipy.io.mmwrite(stream, Z, NAME))
    elif place.suffix == ".h5ad":
        source, adata = (table.source, table.annotated) if table else (None, None)
        copies.write_h5ad(place, Z, labels, source, adata)
    else:
        copies.write_zarr(place, Z, table.annotated if table else None)


def _text(
    place: Place, Z: Any, names: Any, columns: list[str], extra: dict[str, Array]
) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=TEXT[place.suffix], lineterminator="\n")
    writer.writerow(["id", *columns, *extra])
    beside = [values.tolist() for values in extra.values()]
    rows = zip(names, Z.tolist(), *beside, strict=True)
    writer.writerows([name, *row, *more] for name, row, *more in rows)
    content = text.getvalue().encode()
    return gzip.compress(content) if place.compressed else content
