"""Experiment (d): a Swiss roll of 1,000 points, unrolled by PCA, LLE and LNEG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.manifold import trustworthiness

from graphfold import (
    GraphKernelPCA,
    LocalNonlinearEmbedding,
    kernels,
)
from graphfold.arrays import Array
from graphfold.datasets import swiss_roll
from graphfold.experiments.figures import panels
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.experiments.table_one import COSINES, LETTER, SIGNED, UNSCALED

COLUMNS = ("method", "k", "measure")
NEIGHBORS = (20, 40)
PICTURE_SEED = 500

#: P = 2, gamma = 0.1: what the paper prints; measured in the kernel by default
LNEG = {"order": 2, "graph": COSINES, "graph_strength": 0.1}
#: gamma as it is, cosines of either sign, V'V = I
BY_THE_LETTER = {
    **LETTER,
    **UNSCALED,
    "order": 2,
    "graph": SIGNED,
    "scaling": "orthonormal",
}
METHODS: dict[str, dict[str, Any]] = {
    "LLE": {"order": 1},
    "LNEG, letter": BY_THE_LETTER,
    "LNEG, defaults": LNEG,
    "LNEG, rows to one": {
        **LNEG,
        "penalty": "ridge",
        "collapse": "norm",
        "normalize_rows": True,
    },
}


def embeddings(X: Array) -> dict[tuple[str, Any], Array]:
    """Two dimensions by every method and number of neighbours."""
    found: dict[tuple[str, Any], Array] = {("PCA", "-"): PCA(2).fit_transform(X)}
    for k in NEIGHBORS:
        for name, params in METHODS.items():
            model = LocalNonlinearEmbedding(2, n_neighbors=k, **params)
            found[name, k] = model.fit_transform(X)
        isomap = GraphKernelPCA(2, kernel=kernels.Geodesic(k))
        found["Isomap", k] = isomap.fit_transform(X)
    return found


def prepare(scope: Scope) -> dict[str, Array]:
    """The picture, on a seed that no number comes from."""
    X, place = swiss_roll(400 if scope.quick else 1000, random_state=PICTURE_SEED)
    arrays = {"X": X, "place": place}
    for (name, k), Z in embeddings(X).items():
        arrays[f"{name}, k = {k}" if k != "-" else name] = Z
    return arrays


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    X, place = swiss_roll(400 if scope.quick else 1000, random_state=seed)
    numbers: dict[Cell, float] = {}
    for (name, k), Z in embeddings(X).items():
        Z = Z / np.abs(Z).max()
        left = place - LinearRegression().fit(Z, place).predict(Z)
        arc, height = left.var(axis=0) / place.var(axis=0)
        numbers[name, k, "arc lost"] = arc
        numbers[name, k, "height lost"] = height
        # places on the unrolled sheet are what the neighbours should be those of
        numbers[name, k, "distrust"] = 1 - trustworthiness(place, Z, n_neighbors=10)
    return numbers


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    names = [key for key in prepared if key not in ("X", "place")]
    figure, axes = panels(2, 6, width=2.9, height=2.7)
    arc = prepared["place"][:, 0]
    points: dict[str, Any] = {"c": arc, "s": 4, "linewidths": 0, "rasterized": True}
    axes[0, 0].remove()
    roll = figure.add_subplot(2, 6, 1, projection="3d")
    roll.scatter(*prepared["X"].T, **points)
    roll.set_title("the roll", fontsize=10, loc="left")
    roll.set_axis_off()
    places = [axes[1, 0], *axes[0, 1:], *axes[1, 1:]]  # PCA stands under the roll
    for ax, name in zip(places, names, strict=True):
        Z = prepared[name]
        ax.scatter(Z[:, 0], Z[:, 1], **points)
        ax.set_title(name, fontsize=10, loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def claims(measured: Measured) -> list[Claim]:
    found = []
    for name in ("LNEG, letter", "LNEG, defaults", "LNEG, rows to one"):
        for what in ("arc lost", "height lost", "distrust"):
            for k in NEIGHBORS:
                here = {"k": k, "measure": what}
                found.append(
                    measured.is_below(
                        f"{name} below LLE, k = {k}: {what}",
                        {"method": name, **here},
                        {"method": "LLE", **here},
                    )
                )
    found.append(
        measured.is_below(
            "Isomap below LLE: distrust",
            {"method": "Isomap", "measure": "distrust"},
            {"method": "LLE", "measure": "distrust"},
            by_paper=False,
        )
    )
    return found


NOTES = Notes(
    paper="""
1,000 points of a Swiss roll, in two dimensions by PCA, by LLE and by LNEG with 20 and
with 40 neighbours, gamma = 0.1, P = 2, and the full graph of cosines. Pictures only;
the text says that LNEG keeps the structure of the roll better than LLE.
""",
    left_open="""
How the coefficients of a neighbour become one weight, whether rows of W are normalised,
the weight of the penalty, how gamma compares with the kernel, and the scale and origin
of the roll, on which powers depend. How well a picture keeps the structure is not
measured.
""",
    chosen="""
*Letter*: l1 with weight 1, raw powers, sum over powers, gamma = 0.1 unscaled, cosines
of either sign, orthonormal columns. *Defaults*: the library's LNEG, whose penalty and
strength have no dimension. *Rows to one*: the reading that keeps the arc best in the
sweep of [Manifolds](local.md) (ridge, norm over powers, rows normalised). Three
numbers, lower is better: the share of the arc's and of the height's variance that the
two axes leave unexplained (a linear fit), and distrust, one minus the trustworthiness
of ten neighbours against the unrolled sheet. Isomap, a kernel of the same library,
joins as what one would use.
""",
    found="""
By the letter and by defaults LNEG does not unroll: a few rows take all the room. With
rows of W normalised it keeps the arc, at 40 neighbours too, where LLE loses it; but it
loses the height, which LLE with 40 keeps. So one of the two coordinates can be had as
the paper's pictures suggest, by one reading of several, and no reading serves both.
Little distrust is no proof of unrolling: PCA, which unrolls nothing, has as little as
the best.
""",
    in_short="""
With rows of W normalised LNEG keeps the arc where LLE loses it, and loses the height;
by the letter it does not unroll.
""",
)

EXPERIMENT = Experiment(
    name="swiss_roll",
    title="The Swiss roll",
    files=(),
    columns=COLUMNS,
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
    across="measure",
)
