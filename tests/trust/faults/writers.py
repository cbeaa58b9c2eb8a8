"""Everything that writes: how an old and a new file come to be, and which one is there.

All of them run in children of the zygote; see there.
"""

import contextlib
import io
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import graphfold
from graphfold.cli import main
from graphfold.experiments import Measured, Scope, runner
from graphfold.experiments.protocol import Experiment, Notes
from graphfold.files import read_table, write_table
from graphfold.files.annotated import open_annotated
from graphfold.files.paths import Place
from graphfold.files.tables import Table

FORMATS = ("csv", "csv.gz", "tsv", "npy", "npz", "parquet", "mtx", "h5ad", "zarr")
ANNOTATED = ("annotated.h5ad", "annotated.zarr")
TABLES = (*FORMATS, *ANNOTATED)
#: the command, by what it writes
EMBEDS = {"embed": "csv", "embed h5ad": "h5ad", "embed zarr": "zarr"}
OLD, NEW = "old file", "new file"
ROWS = np.random.default_rng(0).standard_normal((20, 3))
_MODELS = {}


class Broken(Exception):
    """What is there is neither the old file nor the new one."""


class CommandFailed(Exception):
    """The exit code of a command, and what it said."""


def _embedding(which):
    return ROWS[:, :2] + (which == NEW)


def _told(found, what):
    """Which of the two was found, number by number."""
    for which in (OLD, NEW):
        expected = what(which)
        if np.shape(found) == np.shape(expected) and np.allclose(found, expected):
            return which
    raise Broken(f"neither the old one nor the new one: {np.shape(found)}")


# -- tables ----------------------------------------------------------------------------


def write_one(kind, folder, which):
    """An embedding in a format; of an annotated table, the copy that is written."""
    path = Path(folder, f"out.{kind.removeprefix('annotated.')}")
    table = None
    if kind in ANNOTATED:
        table = _annotated(folder, kind)
    write_table(path, _embedding(which), None, ["a", "b"], table=table)


def _annotated(folder, kind):
    import anndata

    adata = anndata.AnnData(ROWS.copy())
    source = Path(folder, "source.h5ad")
    if not source.exists():
        adata.write_h5ad(source)
    place = Place(source, ".h5ad")
    return Table(ROWS, None, None, {}, place, open_annotated(place))


def read_one(kind, folder):
    plain = kind.removeprefix("annotated.")
    path = f"{Path(folder, f'out.{plain}')}"
    if kind in (*ANNOTATED, "h5ad"):
        path += ":obsm/X_graphfold"
    return _told(read_table(path).X, _embedding)


# -- models, maps, whole commands ------------------------------------------------------


def model_of(which):
    """Fitted once: what is tried is how it is written."""
    if which not in _MODELS:
        kernel = "rbf" if which == OLD else "linear"
        _MODELS[which] = graphfold.GraphKernelPCA(2, kernel=kernel).fit(ROWS)
    return _MODELS[which]


def _embedding_of_model(which):
    return model_of(which).embedding_


def save_model(folder, which):
    model_of(which).save(Path(folder, "out.model.npz"))


def read_model(folder):
    found = graphfold.load(Path(folder, "out.model.npz"))
    return _told(found.embedding_, _embedding_of_model)


def write_map(folder, which):
    graphfold.view(model_of(which), Path(folder, "out.html"), title=which)


def read_map(folder):
    text = Path(folder, "out.html").read_text()
    if not text.rstrip().endswith("</html>"):
        raise Broken("half of a page")
    return OLD if f"<title>{OLD}" in text else NEW


def embed(kind, folder, which):
    """The command, with all that it can write, the embedding in a format."""
    data = Path(folder, "data.csv")
    if not data.exists():
        np.savetxt(data, ROWS, delimiter=",", header="x,y,z", comments="")
    words = ["embed", str(data), "-o", f"{folder}/out.{kind}", "--components", "2"]
    words += ["--kernel", "rbf" if which == OLD else "linear", "--quiet"]
    words += ["--model", f"{folder}/out.model.npz", "--map", f"{folder}/out.html"]
    words.append("--overwrite")  # an npy file has no mark
    code, errors = command(words)
    if code != 0:
        raise CommandFailed(f"{code} {errors}")


def read_embedded(kind, folder):
    """Each file by itself: the three are written one after the other."""
    path = f"{folder}/out.{kind}" + (":obsm/X_graphfold" if kind == "h5ad" else "")
    found = [_told(read_table(path).X, _embedding_of_model)]
    found.append(read_model(folder))
    text = Path(folder, "out.html").read_text()
    if not text.rstrip().endswith("</html>"):
        raise Broken("half of a page")
    return NEW if NEW in found else OLD


def command(words):
    """Exit code and error stream of ``graphfold ...`` in this process."""
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        code = main(words)
    return code, errors.getvalue()


# -- experiments -----------------------------------------------------------------------


def _draw(measured, prepared):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    figure.text(0.1, 0.1, "toy")
    return figure


def _measure(seed, prepared, scope):
    rng = np.random.default_rng(seed)
    return {(c,): float(prepared["X"].sum() + rng.random()) for c in ("a", "b")}


TOY = Experiment(
    name="toy",
    title="Toy",
    files=(),
    columns=("letter",),
    measure=_measure,
    draw=_draw,
    claims=lambda measured: [],
    notes=Notes("", "", ""),
    prepare=lambda scope: {"X": np.arange(6.0)},
    across="letter",
)


def reproduce_toy(folder, which):
    """An experiment of moments, measured in this process: NEW has one more run."""
    runner.experiment_named = lambda name: TOY
    runner._workers = _at_once
    runner.commit = lambda: "here"
    runs = 2 if which == OLD else 3
    how = {"scope": Scope(quick=True), "runs": runs, "jobs": 1}
    with contextlib.redirect_stderr(io.StringIO()):  # its line of progress
        runner.reproduce(["toy"], out=Path(folder, "results"), **how)


@contextlib.contextmanager
def _at_once(jobs):
    yield SimpleNamespace(submit=_submitted)


def _submitted(function, *arguments):
    from concurrent.futures import Future

    future = Future()
    future.set_result(function(*arguments))
    return future


def read_toy(folder):
    """Which of the tables is there; every file of a run is whole."""
    for path in Path(folder, "results", "toy").glob("run-*.json"):
        assert len(json.loads(path.read_text())["numbers"]) == 2
    with np.load(Path(folder, "results", "toy", "prepared.npz")) as prepared:
        assert prepared["X"].tolist() == list(range(6))
    assert Path(folder, "results", "toy.png").read_bytes().endswith(b"IEND\xaeB`\x82")
    assert json.loads(Path(folder, "results", "toy.json").read_text())["seeds"]
    measured = runner.results.read_measured(Path(folder, "results", "toy.csv"))
    return _told(_numbers(measured), lambda which: _expected_numbers(which))


def _numbers(measured: Measured):
    return [list(runs.values()) for runs in measured.by_cell.values()]


def _expected_numbers(which):
    seeds = TOY.seeds(Scope(quick=True), 2 if which == OLD else 3)
    runs = [_measure(seed, {"X": np.arange(6.0)}, None) for seed in seeds]
    return [[run[cell] for run in runs] for cell in (("a",), ("b",))]


#: packages without which a writer does not write
NEEDS = {
    "parquet": ["pandas", "pyarrow"],
    "h5ad": ["anndata", "h5py", "pandas"],
    "zarr": ["zarr"],
    "embed h5ad": ["anndata", "h5py", "pandas"],
    "embed zarr": ["zarr"],
    "annotated.h5ad": ["anndata", "h5py"],
    "annotated.zarr": ["anndata", "zarr"],
    "reproduce": ["matplotlib"],
}
#: what writes (folder, which), and what tells which one is there (folder)
WRITERS = {
    **{kind: (partial(write_one, kind), partial(read_one, kind)) for kind in TABLES},
    "save": (save_model, read_model),
    "view": (write_map, read_map),
    **{
        name: (partial(embed, kind), partial(read_embedded, kind))
        for name, kind in EMBEDS.items()
    },
    "reproduce": (reproduce_toy, read_toy),
}
