"""Experiment (e): which of two manifolds is a point from? The paper's Table I.

A plane with a hole, or a sphere, around a trefoil: 600 points, turned into 100
dimensions with noise, embedded in two, clustered by k-means. The geometry was chosen in
``geometry``, the reading called "chosen here" in ``readings``, both on other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from graphfold import LocalNonlinearEmbedding
from graphfold.arrays import Array
from graphfold.datasets import two_manifolds
from graphfold.experiments.figures import curves, panels
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
    claim_of,
)
from graphfold.experiments.readings import PLAIN, READINGS
from graphfold.experiments.results import markdown_table, with_error
from graphfold.experiments.table_one import (
    COSINES,
    LETTER,
    METHODS,
    NEIGHBORS,
    PAPER,
    SIGNED,
    SURFACES,
    UNSCALED,
    clusters,
    paper_mean,
)
from graphfold.plot import COLOURS

COLUMNS = ("surface", "method", "k")
PICTURE_SEED = 500

CHOSEN = "order 1, l1 0.1"  # of `readings`, with scaled columns

#: LNEG by the letter: the full graph of cosines, gamma = 0.1 as on the Swiss roll
LETTER_GRAPH = {**LETTER, "graph": SIGNED, **UNSCALED}
#: each fit gives two embeddings: orthonormal columns, and columns scaled by the kernel
FITS: dict[str, dict[str, Any]] = {
    "LLE": {"order": 1},
    "LNE": LETTER,
    "LNEG": LETTER_GRAPH,
    "LNEG, strength 0.1": {**LETTER, "graph": COSINES, "graph_strength": 0.1},
    "LNE, P = 1": {**LETTER, **PLAIN},
    "LNE, defaults": {},
    "chosen here": READINGS[CHOSEN],
}
REPORTED = (
    "LLE",
    "LNE",
    "LNEG",
    "LNE, P = 1",
    "LLE, scaled",
    "LNE, scaled",
    "LNEG, strength 0.1, scaled",
    "LNE, P = 1, scaled",
    "LNE, defaults, scaled",
    "chosen here, scaled",
)


def prepare(scope: Scope) -> dict[str, Array]:
    """The pictures: k = 40, P = 2 on the plane and P = 3 on the sphere, as printed."""
    arrays: dict[str, Array] = {}
    for surface, order in (("plane", 2), ("sphere", 3)):
        X, y = two_manifolds(surface, random_state=PICTURE_SEED)  # type: ignore[arg-type]
        fits = {
            "LLE": FITS["LLE"],
            f"LNEG, P = {order}": {**LETTER_GRAPH, "order": order},
            "chosen here": FITS["chosen here"],
        }
        arrays[f"{surface}/labels"] = y
        arrays[f"{surface}/three dimensions of 100"] = PCA(3).fit_transform(X)
        arrays[f"{surface}/PCA"] = PCA(2).fit_transform(X)
        for name, params in fits.items():
            model = LocalNonlinearEmbedding(2, n_neighbors=40, **params).fit(X)
            chosen = name == "chosen here"
            arrays[f"{surface}/{name}, k = 40"] = (
                model.embedding_ if chosen else model.eigenvectors_
            )
    return arrays


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    numbers: dict[Cell, float] = {}
    for surface in SURFACES:
        X, y = two_manifolds(surface, random_state=seed)  # type: ignore[arg-type]
        numbers[surface, "PCA", "-"] = clusters(PCA(2).fit_transform(X), y, seed)
        for k in (5, 20, 40) if scope.quick else NEIGHBORS:
            for name, params in FITS.items():
                model = LocalNonlinearEmbedding(2, n_neighbors=k, **params).fit(X)
                embeddings = {
                    name: model.eigenvectors_,
                    f"{name}, scaled": model.embedding_,
                }
                for label in REPORTED:
                    if label in embeddings:
                        numbers[surface, label, k] = clusters(
                            embeddings[label], y, seed
                        )
    return numbers


def table(measured: Measured) -> str:
    """Table I, the paper's numbers above ours."""
    parts = []
    for surface in SURFACES:
        neighbors = [k for k in measured.levels("k") if k != "-"]
        heads = [f"{surface} + trefoil", *(f"k = {k}" for k in neighbors), "mean"]
        lines = [heads, ["---"] * len(heads)]
        for place, name in enumerate(METHODS):
            cells = [f"{PAPER[surface][k][place]:.2f}" for k in neighbors]
            mean = f"{paper_mean(surface, name):.3f}"
            lines.append([f"*paper: {name}*", *cells, mean])
        blank = [""] * len(neighbors)
        lines.append(["*paper: PCA*", *blank, f"{paper_mean(surface, 'PCA'):.2f}"])
        for name in REPORTED:
            here = {"surface": surface, "method": name}
            cells = [with_error(measured, **here, k=k) for k in neighbors]
            lines.append([name, *cells, with_error(measured, **here)])
        pca = with_error(measured, surface=surface, method="PCA")
        lines.append(["PCA", *blank, pca])
        parts.append(markdown_table(lines))
    return "\n".join(parts)


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    figure, axes = panels(2, 6, width=2.9, height=2.8)
    for row, surface in zip(axes, SURFACES, strict=True):
        names = [key for key in prepared if key.startswith(f"{surface}/")]
        colours = np.array(COLOURS)[[1, 0]][prepared[f"{surface}/labels"]]
        for ax, key in zip(row[1:5], names[2:], strict=True):
            Z = prepared[key]
            points = {"c": colours, "linewidths": 0, "rasterized": True}
            ax.scatter(Z[:, 0], Z[:, 1], s=5, **points)
            ax.set_title(key.split("/")[1], fontsize=10, loc="left")
            ax.set_xticks([])
            ax.set_yticks([])
        place = row[0].get_subplotspec()
        row[0].remove()
        solid = figure.add_subplot(place, projection="3d")
        solid.scatter(*prepared[names[1]].T, c=colours, s=4, rasterized=True)
        solid.set_title(f"{surface} + trefoil", fontsize=10, loc="left")
        solid.set_axis_off()
        solid.set_box_aspect(None, zoom=1.5)
        shown = ("LLE", "LNE", "LNEG", "chosen here, scaled")
        curves(
            row[5],
            measured,
            x="k",
            order=shown,
            dashed=("LNEG",),  # it lies on LNE
            ylabel="clustering error",
            title="Table I",
            surface=surface,
        )
        row[5].set_ylim(0, 0.72)
        row[5].legend(fontsize=7.5, loc="upper left", ncols=2)
    return figure


def claims(measured: Measured) -> list[Claim]:
    found = []
    for surface in SURFACES:
        here = {"surface": surface}
        pairs = [
            ("LNE below LLE", "LNE", "LLE", True),
            ("LNEG below LLE", "LNEG", "LLE", True),
            ("LNEG below LNE", "LNEG", "LNE", True),
            (
                "LNEG, strength 0.1 below LNE, both scaled",
                "LNEG, strength 0.1, scaled",
                "LNE, scaled",
                False,
            ),
            ("LNE below PCA", "LNE", "PCA", True),
            ("LNE below LLE, both scaled", "LNE, scaled", "LLE, scaled", False),
            ("P = 2 below P = 1", "LNE", "LNE, P = 1", False),
        ]
        for text, lower, upper, by_paper in pairs:
            found.append(
                measured.is_below(
                    f"{surface}: {text}, mean over k",
                    {**here, "method": lower},
                    {**here, "method": upper},
                    by_paper=by_paper,
                )
            )
        best = round(paper_mean(surface, "LNEG"), 3)
        ours = measured.per_run(surface=surface, method="chosen here, scaled")
        found.append(
            claim_of(
                f"{surface}: chosen here below the number {best}, the paper's best",
                ours - best,
                by_paper=False,
            )
        )
    return found


NOTES = Notes(
    paper="""
A plane with a hole around the origin, or a sphere, and a trefoil, 200 and 400 points
(after the SMCE of Elhamifar and Vidal), in 100 dimensions with noise of variance 0.01,
embedded in two and clustered by K-means; pictures at k = 40 with P = 2 and P = 3, and
Table I over k = 5 to 40: LNE below LLE in all ten cells, LNEG below LNE in most and
"slightly better" in the text, PCA near one half.
""",
    left_open="""
The geometry and everything about W and gamma: see the two choices above. P of Table I.
With the sphere, which manifold has 200 points and which 400 (its text replaces the
larger matrix). Whether columns of the embedding are scaled before K-means.
""",
    chosen="""
`LNE` and `LNEG` are the letter: P = 2, l1 with weight 1, sum over powers, gamma = 0.1
as it is (printed for the Swiss roll), columns of unit length, surface 200 and trefoil
400 points. As it is, gamma is far below the kernel and changes nothing, so `LNEG,
strength 0.1` measures it in the largest eigenvalue of the kernel. `scaled` columns are
multiplied by the root of the kernel's energy, the library's default; LLE scaled alike
is the fair comparison then. `P = 1` is the ablation. `chosen here` comes from the sweep
of readings. No method sees a label, and none was chosen on the seeds of this table. The
paper's numbers come from its own geometry, which is not known, so they compare as
orderings, not digit by digit; "below the number" is a test against the printed mean.
""",
    found="""
LNE is below LLE on both pairs, in the mean and at every k, and PCA is near one half: as
in the paper. What is not as in the paper: the graph adds nothing. With gamma as it is
LNEG is LNE, and measured in the kernel it is a little above. Nor do powers add
anything: P = 1 is as good.

Scaled columns make more of a difference than any of this, and the reading chosen on
other seeds (the plain regression, scaled) is below the paper's best in the mean on both
pairs; so is the letter itself, once its columns are scaled. The story is not the same
at every k: with 5 and 10 neighbours on the plane, and with 5 on the sphere, our errors
are above those printed for LNEG; from 20 on they are far below. And it is a comparison
across geometries: what LNEG of the paper would do on ours, nobody can say.
""",
    in_short="""
LNE is below LLE on both pairs, LNEG ties with LNE, and powers add nothing; the reading
chosen on other seeds is below the paper's best on both.
""",
)

EXPERIMENT = Experiment(
    name="manifolds",
    title="Two manifolds: the pictures and Table I",
    files=(),
    columns=COLUMNS,
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
    table=table,
)
