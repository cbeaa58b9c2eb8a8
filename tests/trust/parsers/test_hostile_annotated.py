"""h5ad files and zarr stores whose parts do not fit: one sentence, or an answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import GraphKernelPCA, ad
from graphfold.errors import FileError, GraphfoldError
from graphfold.files import read_graph, read_table
from tests.trust.ledger import tried

anndata = pytest.importorskip("anndata", reason="annotated tables need anndata")
h5py = pytest.importorskip("h5py", reason="h5ad files need h5py")
pytest.importorskip("zarr", reason="zarr stores need zarr")

from tests.trust.parsers import damage  # noqa: E402

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")
@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
def test_a_damaged_part_never_ends_the_process(suffix, tmp_path):
    where = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust.parsers.damage", suffix, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": where, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    last = (done.stdout.splitlines() or ["nothing"])[-1]
    assert done.returncode == 0, f"{done.returncode} at {last}: {done.stderr[-2000:]}"
    found = json.loads(last)
    assert found["refusals"] > 3 * found["answers"]
    tried("parsers", suffix[1:], "damaged parts", sum(found.values()))


def damaged(path, group, part, change):
    damage.make(path)
    with h5py.File(path, "r+") as file:
        damage.put(file, f"{group}/{part}", change(file[f"{group}/{part}"][()]))
    return path


OUTSIDE = {
    "indptr": lambda a: np.append(a[:-1], 2**30).astype(a.dtype),
    "indices": lambda a: np.append(a[:-1], 2**30).astype(a.dtype),
}


@pytest.mark.parametrize("part", OUTSIDE)
@pytest.mark.parametrize("backed", [None, "r"])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_matrix_that_anndata_has_read_is_refused(part, backed, tmp_path):
    """anndata does not look at it; a product with it would end the process."""
    path = damaged(tmp_path / "x.h5ad", "X", part, OUTSIDE[part])
    cells = anndata.read_h5ad(path, backed=backed)
    with pytest.raises(GraphfoldError, match="sparse matrix"):
        ad.graph_kernel_pca(cells, 2, graph_keys=[], landmarks=5)


@pytest.mark.parametrize("part", OUTSIDE)
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_graph_that_anndata_has_read_is_refused(part, tmp_path):
    path = damaged(tmp_path / "x.h5ad", "obsp/other", part, OUTSIDE[part])
    cells = anndata.read_h5ad(path)
    with pytest.raises(GraphfoldError, match=r"obsp\['other'\] is damaged"):
        ad.graph_kernel_pca(cells, 2, use_rep="dense", graph_keys="other")


def test_a_sound_matrix_on_disk_is_embedded_as_in_memory(tmp_path):
    damage.make(tmp_path / "x.h5ad")
    table = read_table(tmp_path / "x.h5ad")
    assert sp.issparse(table.X)
    Z = GraphKernelPCA(2, kernel="linear").fit_transform(table.X)
    other = GraphKernelPCA(2, kernel="linear").fit_transform(table.X.toarray())
    np.testing.assert_allclose(abs(Z), abs(other), atol=1e-8)


def test_unsigned_places_are_read(tmp_path):
    path = damaged(tmp_path / "x.h5ad", "X", "indices", lambda a: a.astype(np.uint64))
    honest = tmp_path / "honest.h5ad"
    damage.make(honest)
    found, wanted = read_table(path).X, read_table(honest).X
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


@pytest.mark.parametrize("key", ["X", "layers/csc", "obsm/dense", "obsp/other"])
def test_sizes_that_no_file_holds_get_one_sentence(key, tmp_path):
    """They ended in a bare MemoryError."""
    path = tmp_path / "x.h5ad"
    damage.make(path)
    with h5py.File(path, "r+") as file:
        del file[key]
        made = file.create_dataset(
            key, shape=(2**40, 2**20), chunks=(64, 64), dtype="f8"
        )
        made.attrs["encoding-type"], made.attrs["encoding-version"] = "array", "0.2.0"
    with pytest.raises(FileError, match=r"reading it would take .* of memory"):
        read_table(f"{path}:{key}")


def test_rows_that_obs_does_not_name_are_refused(tmp_path):
    path = tmp_path / "x.h5ad"
    damage.make(path)
    with h5py.File(path, "r+") as file:
        del file["obsm/dense"]
        file.create_dataset("obsm/dense", data=np.ones((5, 2)))
    with pytest.raises(FileError, match="each of the 12 rows of obs; it has 5"):
        read_table(f"{path}:obsm/dense")


@pytest.mark.parametrize("read", [read_table, lambda p: read_graph(p, None, 3000)])
def test_chunks_are_counted_before_they_are_read(read, tmp_path):
    """Nine million chunks, none of which is there, ran past a minute."""
    import zarr

    path = tmp_path / "x.zarr"
    zarr.create_array(str(path), shape=(3000, 3000), chunks=(1, 1), dtype="f8")
    with pytest.raises(FileError, match="9000000 chunks of 8 bytes"):
        read(path)


def test_a_part_that_is_not_asked_for_is_not_read(tmp_path):
    path = tmp_path / "x.h5ad"
    damage.make(path)
    with h5py.File(path, "r+") as file:
        file.create_dataset("obsm/huge", shape=(12, 2**40), chunks=(12, 64), dtype="f8")
    assert read_table(path).X.shape == (12, 5)
    with pytest.raises(FileError, match="no obsm called 'wrong'"):
        read_table(f"{path}:obsm/wrong")
