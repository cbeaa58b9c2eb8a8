"""All of graphfold, used where sockets are forbidden: ``python -m ... FOLDER``.

Prints one JSON object: what was used, and each event of a socket. Clusters of Dask are
left out: their workers talk over the loopback device, which is what they are for.
"""

import importlib
import json
import pkgutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

EVENTS: list[str] = []


def forbid(event, arguments):
    if event.startswith("socket."):
        EVENTS.append(f"{event} {arguments!r}"[:200])
        raise PermissionError(f"no network: {event}")


def import_everything():
    """Every module; one whose optional package is missing counts as not there."""
    import graphfold

    names = []
    for module in pkgutil.walk_packages(graphfold.__path__, "graphfold."):
        needs_dask = module.name.startswith("graphfold.distributed")
        if module.name.endswith("__main__") or (needs_dask and not find_spec("dask")):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue
        names.append(module.name)
    return names


def fit_everything(folder):
    """Each estimator fitted, saved, loaded and asked again."""
    import numpy as np

    import graphfold

    X = np.array([[(7 * i * i + 3 * i * j) % 31 for j in range(5)] for i in range(40)])
    X = X / 31.0
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 3, -1)
    used = []
    for name in graphfold.__all__:
        if not name.endswith(("PCA", "Eigenmaps", "Embedding")):
            continue
        words = {"modes": 2} if name.startswith("Multi") else {}
        model = getattr(graphfold, name)(2, **words)
        model.fit(X, y if name.startswith("Semi") else None)
        path = folder / f"{name}.npz"
        model.save(path)
        again = graphfold.load(path)
        assert (again.embedding_ == model.embedding_).all()
        again.transform(X)
        used.append(name)
    stream = graphfold.GraphKernelPCA(2, landmarks=10).partial_fit(X[:20])
    stream.partial_fit(X[20:])
    return [*used, "partial_fit"]


def show_everything(folder):
    """The command line, the page, the report and the plots."""
    import numpy as np

    import graphfold
    from graphfold.cli import main

    used = []
    table = folder / "table.csv"
    rows = [[str((i * i + 5 * j) % 17) for j in range(4)] for i in range(30)]
    table.write_text("a,b,c,d\n" + "\n".join(",".join(row) for row in rows))
    main(["embed", str(table), "--output", str(folder / "out.csv")])
    used.append("graphfold embed")
    X = np.array(rows, dtype=float)
    model = graphfold.GraphKernelPCA(2, graph=graphfold.NeighborGraph(5)).fit(X)
    graphfold.view(model, folder / "map.html", X=X)
    used.append("view")
    graphfold.datasets.load_digits()
    graphfold.quality.trustworthiness(X, model.embedding_)
    used += ["datasets", "quality"]
    if find_spec("matplotlib"):
        import matplotlib

        matplotlib.use("Agg")
        graphfold.plot.embedding(model)
        graphfold.plot.scree(model)
        graphfold.plot.graph(model)
        used.append("plot")
    if find_spec("anndata"):
        import anndata

        graphfold.ad.graph_kernel_pca(anndata.AnnData(X), n_comps=2, graph_keys=[])
        used.append("ad")
    return used


def main(folder):
    # before the hook: the standard library's own, which open nothing
    import socket  # noqa: F401

    sys.addaudithook(forbid)
    warnings.simplefilter("ignore")
    modules = import_everything()
    used = fit_everything(folder) + show_everything(folder)
    print(json.dumps({"modules": len(modules), "used": used, "sockets": EVENTS}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
