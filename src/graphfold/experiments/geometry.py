"""A choice behind experiment (e): how large, how far apart and how noisy?

The paper gives neither the sizes of its manifolds nor where they lie. PCA and LLE leave
little else open, so geometries are ranked by *their* columns of the paper's Table I;
what local nonlinear embedding does there is shown, and has no say. The seeds are used
for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.decomposition import PCA

from graphfold import LocalNonlinearEmbedding
from graphfold.arrays import Array
from graphfold.datasets import two_manifolds
from graphfold.experiments.figures import GREY, panels
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.experiments.results import markdown_table
from graphfold.experiments.table_one import LETTER, NEIGHBORS, clusters, paper_mean
from graphfold.plot import COLOURS

COLUMNS = ("surface", "noise", "offset", "shape", "method", "k")
#: the hole is "around the origin", and so is a trefoil
OFFSET_OF_THE_TEXT = 0


class Geometry(NamedTuple):
    """One reading of where two manifolds are."""

    surface: str
    noise: float
    offset: int
    shape: str

    def sample(self, seed: int) -> tuple[Array, Array]:
        sizes = dict(part.split(" ") for part in self.shape.split(", "))
        return two_manifolds(
            self.surface,  # type: ignore[arg-type]
            noise=self.noise,
            offset=self.offset,
            shape={name: float(size) for name, size in sizes.items()},
            random_state=seed,
        )


#: arguments of the surfaces; the trefoil reaches 3 from its centre
SHAPES = {
    "plane": [
        f"half_width {size}, hole {share * size:g}"
        for size in (1, 2, 3, 4, 6)
        for share in (0.25, 0.5, 0.8)
    ],
    "sphere": [f"radius {size}" for size in (1, 2, 3, 4, 6)],
}
GEOMETRIES = [
    Geometry(surface, noise, offset, shape)
    for surface, shapes in SHAPES.items()
    for noise in (0.1, 0.01)
    for offset in (0, 2, 4)
    for shape in shapes
]


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    numbers: dict[Cell, float] = {}
    for geometry in GEOMETRIES[::13] if scope.quick else GEOMETRIES:
        X, y = geometry.sample(seed)
        numbers[(*geometry, "PCA", "-")] = clusters(PCA(2).fit_transform(X), y, seed)
        for k in NEIGHBORS[::2] if scope.quick else NEIGHBORS:
            for name, params in (("LLE", {"order": 1}), ("LNE", LETTER)):
                model = LocalNonlinearEmbedding(
                    2, n_neighbors=k, scaling="orthonormal", **params
                )
                numbers[(*geometry, name, k)] = clusters(
                    model.fit_transform(X), y, seed
                )
    return numbers


def distances(measured: Measured, surface: str) -> dict[Geometry, float]:
    """How far PCA's and LLE's mean errors are from the paper's, nearest first."""
    far = {}
    for cell in measured.select(surface=surface, method="PCA"):
        geometry = Geometry(*cell[:4])
        far[geometry] = sum(
            abs(_mean(measured, geometry, name) - paper_mean(surface, name))
            for name in ("LLE", "PCA")
        )
    return dict(sorted(far.items(), key=lambda item: item[1]))


def _mean(measured: Measured, geometry: Geometry, method: str) -> float:
    return measured.mean(**geometry._asdict(), method=method)


def table(measured: Measured) -> str:
    lines = [
        ["surface", "noise", "offset", "shape", "LLE", "PCA", "distance", "LNE"],
        ["---"] * 8,
    ]
    for surface in measured.levels("surface"):
        for geometry, far in list(distances(measured, surface).items())[:12]:
            errors = [
                f"{_mean(measured, geometry, name):.3f}"
                for name in ("LLE", "PCA", "LNE")
            ]
            lines.append([*map(str, geometry), *errors[:2], f"{far:.3f}", errors[2]])
    return markdown_table(lines)


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    surfaces = measured.levels("surface")
    figure, axes = panels(1, len(surfaces), width=4.8, height=4.2)
    for ax, surface in zip(axes[0], surfaces, strict=True):
        for number, (noise, offset) in enumerate(
            (noise, offset)
            for noise in measured.levels("noise")
            for offset in measured.levels("offset")
        ):
            here = [
                g
                for g in distances(measured, surface)
                if (g.noise, g.offset) == (noise, offset)
            ]
            ax.scatter(
                [_mean(measured, g, "LLE") for g in here],
                [_mean(measured, g, "LNE") for g in here],
                color=COLOURS[number % 3],
                marker="o" if noise == 0.1 else "x",
                s=22,
                label=f"noise {noise:g}, offset {offset:g}",
            )
        ax.plot([0, 0.5], [0, 0.5], color="#BBBBBB", linewidth=0.8)
        ax.axvline(paper_mean(surface, "LLE"), color=GREY, linewidth=0.8, linestyle=":")
        ax.annotate(
            " LLE in the paper ",
            (paper_mean(surface, "LLE"), 0.01),
            ha="right",
            fontsize=8,
            color=GREY,
        )
        ax.set_title(
            f"{surface} + trefoil, one mark a geometry", fontsize=11, loc="left"
        )
        ax.set_xlabel("error of LLE, mean over k", fontsize=9, color=GREY)
        ax.set_ylabel("error of LNE (the letter)", fontsize=9, color=GREY)
        ax.set_xlim(0, 0.5)
        ax.set_ylim(0, 0.5)
    axes[0, 0].legend(fontsize=8, loc="upper left")
    return figure


def claims(measured: Measured) -> list[Claim]:
    found = []
    for surface in measured.levels("surface"):
        for noise in measured.levels("noise"):
            here = {"surface": surface, "noise": noise, "offset": OFFSET_OF_THE_TEXT}
            if not measured.select(**here):
                continue
            found.append(
                measured.is_below(
                    f"{surface}, noise {noise:g}: LNE below LLE, mean over concentric "
                    "sizes",
                    {**here, "method": "LNE"},
                    {**here, "method": "LLE"},
                    by_paper=False,
                )
            )
    return found


NOTES = Notes(
    paper="""
Two manifolds "on the same ambient space", the hole "around the origin", 200 and 400
points, turned into 100 dimensions, noise of variance 0.01.
""",
    left_open="""
The size of the plane, of its hole and of the sphere relative to the trefoil; whether
they have the same centre; whether 0.01 is meant as the variance (standard deviation
0.1) or went into the program as the standard deviation. (And of LLE its regularisation,
of K-means its starts: both are scikit-learn's here.)
""",
    chosen="""
The default of `two_manifolds` was found before this library was written, among
geometries on which LNE does beat LLE. So it is put to a test in which LNE has no say: a
grid of 120 geometries on seeds of its own, ranked by how far the mean errors of *PCA
and LLE* are from the paper's columns. A hole around the origin means offset 0, and
variance is taken as variance (noise 0.1). The table has the twelve nearest of each
surface, whatever their offset and noise.
""",
    found="""
Of the geometries with offset 0 and noise 0.1 the default is the nearest, on both
surfaces: half-width 4 with a hole of radius 3.2, and radius 4. (On the plane, some that
are offset by 2 come nearer still.) That LNE is below LLE is not the property of one
geometry, nor of all: it is so on most that are concentric, but not where the plane is
small and lies inside the trefoil, where both are near chance; not where the hole is so
wide that LLE tells the two apart by itself; and for few planes that are offset by 4.
The smaller noise changes little.
""",
    in_short="""
The default is the nearest concentric geometry by the columns of PCA and LLE; LNE is
below LLE on most geometries, not on all.
""",
)

EXPERIMENT = Experiment(
    name="geometry",
    title="A choice: the geometry of the two manifolds",
    files=(),
    columns=COLUMNS,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
    table=table,
    first_seed=1000,
    most_runs=4,
)
