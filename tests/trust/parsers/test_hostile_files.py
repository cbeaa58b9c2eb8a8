"""Files that other packages read: broken ones get one sentence of ours."""

import io
import json

import numpy as np
import pytest

from graphfold.errors import GraphfoldError
from graphfold.files import read_table
from tests.trust.ledger import tried
from tests.trust.parsers.readers import MEGABYTE, column, graph


@pytest.mark.parametrize("read", [read_table, graph, column])
@pytest.mark.parametrize("suffix", [".parquet", ".h5ad"])
@pytest.mark.parametrize("content", [b"", b"PAR1" + b"\xff" * 60 + b"PAR1", b"\x89HDF"])
def test_broken_files_of_other_packages_get_one_sentence(
    suffix, content, read, refused
):
    package = {".parquet": "pyarrow", ".h5ad": "anndata"}[suffix]
    pytest.importorskip(package, reason=f"{suffix} files are read with {package}")
    assert "data" in refused(f"data{suffix}", content, read, 200 * MEGABYTE)


def test_a_parquet_file_cut_anywhere_gets_one_sentence(refused):
    pd = pytest.importorskip("pandas", reason="parquet files are read with pandas")
    pytest.importorskip("pyarrow", reason="parquet files are read with pyarrow")
    stream = io.BytesIO()
    pd.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]}).to_parquet(stream)
    whole = stream.getvalue()
    for end in range(0, len(whole) - 1, 97):
        refused("data.parquet", whole[:end], most=200 * MEGABYTE)


def test_json_of_results_that_is_no_record_is_refused(tmp_path):
    pytest.importorskip("matplotlib", reason="experiments draw with matplotlib")
    from graphfold.experiments.results import read_record

    path = tmp_path / "record.json"
    for content in ("[1]", "1", "{", "[" * 100_000, json.dumps("x"), "9" * 10_000):
        path.write_text(content)
        with pytest.raises(GraphfoldError, match="not a record of results"):
            read_record(path)
        tried("parsers", "record.json", "hostile files")


@pytest.mark.parametrize("read", [read_table, graph, column])
def test_a_parquet_file_that_repeats_one_number_is_refused(read, refused):
    """Ten million rows in some kilobytes."""
    pa = pytest.importorskip("pyarrow", reason="parquet files are read with pyarrow")
    pytest.importorskip("pandas", reason="parquet files are read with pandas")
    from pyarrow import parquet

    ones = pa.array(np.ones(10**7))
    stream = io.BytesIO()
    parquet.write_table(pa.table({"source": ones, "target": ones}), stream)
    assert len(stream.getvalue()) < 10**6
    said = refused("data.parquet", stream.getvalue(), read)
    assert "use_dictionary=False" in said
