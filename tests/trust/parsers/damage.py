"""Each array of an annotated table damaged in turn, in a process of its own.

``python -m tests.trust.parsers.damage .h5ad FOLDER`` prints each case before it is
read, and what became of it: what was printed last is what has ended the process.
"""

import json
import resource
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from graphfold import GraphKernelPCA
from graphfold.errors import GraphfoldError
from graphfold.files import read_graph, read_table

N, MEMORY = 12, 4 * 2**30
LABELS = np.array([f"n{i}" for i in range(N)])
#: groups that hold a sparse matrix, and who reads them by which key
SPARSE = {
    "X": ("table", None),
    "layers/csc": ("table", "layers/csc"),
    "obsm/sparse": ("table", "obsm/sparse"),
    "obsp/connectivities": ("graph", None),
    "obsp/other": ("graph", "obsp/other"),
}
#: for each of data, indices and indptr
PARTS = {
    "last is huge": lambda a: np.append(a[:-1], 2**30).astype(a.dtype),
    "last is far below": lambda a: np.append(a[:-1], -(2**30)).astype(a.dtype),
    "first is one": lambda a: np.append([1], a[1:]).astype(a.dtype),
    "first is huge": lambda a: np.append([2**31 - 1], a[1:]).astype(a.dtype),
    "middle is minus one": lambda a: np.where(np.arange(len(a)) == 5, -1, a),
    "beyond 32 bits": lambda a: a.astype(np.int64) + 2**40,
    "backwards": lambda a: a[::-1].copy(),
    "shorter": lambda a: a[:-1],
    "longer": lambda a: np.append(a, a[-1:]),
    "empty": lambda a: a[:0],
    "texts": lambda a: np.array([b"x"] * len(a), dtype="S1"),
    "floats": lambda a: a + 0.5,
    "unsigned and huge": lambda a: np.full(len(a), 2**64 - 1, dtype=np.uint64),
    "two dimensions": lambda a: np.stack([a, a]),
}
SHAPES = {
    "no rows": [0, 0],
    "fewer columns": [N, 1],
    "a trillion rows": [10**12, 3],
    "a trillion columns": [N, 10**12],
    "negative": [-1, N],
    "one size": [N],
    "three sizes": [N, N, N],
}
KINDS = ("csr_matrix", "csc_matrix", "array", "dataframe", "categorical", "nonsense")


def make(path):
    """A small annotated table with all kinds of parts."""
    import anndata

    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (N, 5)).astype(float)
    A = np.triu(rng.random((N, N)) < 0.5, 1).astype(float)
    A = sp.csr_matrix(A + A.T)
    made = anndata.AnnData(
        sp.csr_matrix(X),
        obs=pd.DataFrame({"kind": list("xyz") * 4, "age": range(N)}, index=LABELS),
        obsm={"sparse": sp.csr_matrix(X), "dense": X},
        obsp={"connectivities": A, "other": A},
        layers={"csc": sp.csc_matrix(X), "dense": X},
    )
    made.write_h5ad(path) if path.suffix == ".h5ad" else made.write_zarr(path)


def opened(path):
    if path.suffix == ".h5ad":
        import h5py

        return h5py.File(path, "r+")
    import zarr

    store = zarr.open(str(path), mode="r+", use_consolidated=False)
    metadata = path / ".zmetadata"
    metadata.unlink(missing_ok=True)
    return store


def put(root, key, values):
    attributes = dict(root[key].attrs)
    del root[key]
    if hasattr(root, "create_array"):
        made = root.create_array(key, data=values)
    else:
        made = root.create_dataset(key, data=values)
    made.attrs.update(attributes)


def cases():
    """Name, group, and what is done to it."""
    for group in SPARSE:
        for part in ("data", "indices", "indptr"):
            for name, change in PARTS.items():
                key = f"{group}/{part}"

                def damage(root, key=key, change=change):
                    put(root, key, change(np.asarray(root[key][()])))

                yield f"{key}: {name}", group, damage
            yield f"{group}/{part}: missing", group, _without(f"{group}/{part}")
        for name, shape in SHAPES.items():
            yield f"{group} shape: {name}", group, _with(group, "shape", shape)
        for kind in KINDS:
            yield f"{group} is {kind}", group, _with(group, "encoding-type", kind)
    for key in ("obs/_index", "obs", "var"):
        yield f"{key}: missing", "X", _without(key)
    for name, change in PARTS.items():

        def damage(root, change=change):
            put(root, "obs/kind/codes", change(np.asarray(root["obs/kind/codes"][()])))

        yield f"obs/kind/codes: {name}", "obs", damage


def _without(key):
    def damage(root):
        del root[key]

    return damage


def _with(group, name, value):
    def damage(root):
        root[group].attrs[name] = value

    return damage


def used(path, reader, key):
    """Read, and let compiled code work on the answer."""
    word = str(path) if key is None else f"{path}:{key}"
    if reader == "table":
        table = read_table(word, aside=["kind"])
        GraphKernelPCA(2, kernel="linear").fit(table.X)
        return
    for labels in (LABELS, None):
        read_graph(word, labels, N).to_scipy() @ np.ones(N)


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    suffix, folder = sys.argv[1], Path(sys.argv[2])
    answers = refusals = 0
    honest = folder / f"honest{suffix}"
    make(honest)
    copy = shutil.copytree if honest.is_dir() else shutil.copyfile
    for number, (name, group, damage) in enumerate(cases()):
        print(name, flush=True)
        path = folder / f"{number}{suffix}"
        copy(honest, path)
        root = opened(path)
        damage(root)
        if suffix == ".h5ad":
            root.close()
        reader, key = SPARSE.get(group, ("table", None))
        try:
            used(path, reader, key)
            answers += 1
        except GraphfoldError as error:
            sentence = str(error)
            assert sentence.isprintable() and len(sentence) < 800, sentence
            refusals += 1
    print(json.dumps({"answers": answers, "refusals": refusals}))


if __name__ == "__main__":
    main()
