"""Parquet files of strangers: what they claim to hold is looked at first.

A column that repeats one number is a few bytes however long it is.
"""

from __future__ import annotations

from typing import Any

from graphfold.allowance import refuse_beyond
from graphfold.files.paths import Place, optional

#: bytes of a number in Arrow's table, in the frame and in the array made of it
_NUMBER = 24


def read_frame(place: Place) -> Any:
    """A table of pandas', with the names of its columns as texts."""
    pandas = optional("pandas", "tables", "parquet files")
    parquet = optional("pyarrow.parquet", "tables", "parquet files")
    with parquet.ParquetFile(place.path) as file:
        claim = file.metadata
        # texts take more, but a reference each at least
        numbers = claim.num_rows * claim.num_columns
    refuse_beyond(
        _NUMBER * numbers,
        place.path.stat().st_size,
        "write it with compression=None, use_dictionary=False, or embed it with Dask",
    )
    frame = pandas.read_parquet(place.path)
    frame.columns = [str(name) for name in frame.columns]
    return frame
