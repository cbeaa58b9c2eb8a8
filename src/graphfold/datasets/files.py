"""Real data sets read from a directory of .npz files; nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from graphfold.errors import GraphfoldError
from graphfold.graphs import Graph

_NEEDS = {
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
    with np.load(data_file(name, data_dir), allow_pickle=False) as content:
        missing = [key for key in keys if key not in content]
        if missing:
            raise GraphfoldError(f"{name}.npz must hold {keys}; it lacks {missing}")
        return [content[key] for key in keys]


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
