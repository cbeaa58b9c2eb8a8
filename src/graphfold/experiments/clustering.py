"""(b) Clusters of objects and of drivers: error of K-means against d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from graphfold import CorrelationGraph
from graphfold.arrays import Array
from graphfold.datasets import load_coil20, load_drivface
from graphfold.experiments import methods
from graphfold.experiments.figures import curves, legend_beside, panels
from graphfold.experiments.methods import DEFAULT, RAW, UNIT
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.quality import clustering_error

DIMENSIONS, FEW = (5, 10, 20, 30), (5, 10)
STARTS, FEW_STARTS = 50, 10
DATA = {"COIL20": load_coil20, "DrivFace": load_drivface}


TEN = "defaults, 10 neighbours"


class Reading(NamedTuple):
    """One reading of the paper: methods, neighbours of a row, what is done to rows."""

    methods: Mapping[str, methods.Make]
    n_neighbors: int
    rows: Callable[[Array], Array]


READINGS = {
    RAW: Reading(methods.BY_THE_LETTER, 100, methods.unchanged),
    UNIT: Reading(methods.BY_THE_LETTER, 100, normalize),
    DEFAULT: Reading(methods.BY_DEFAULT, 100, methods.unchanged),
    TEN: Reading(methods.BY_DEFAULT | methods.OTHERS, 10, methods.unchanged),
}


def load(name: str, scope: Scope) -> tuple[Array, Array]:
    """Images and classes; for a quick pass five of the objects."""
    images = DATA[name](scope.data_dir)
    X, y = images.data, images.target
    if scope.quick and name == "COIL20":
        few = np.isin(y, np.unique(y)[:5])
        X, y = X[few], y[few]
    return X, y


def prepare(scope: Scope) -> dict[str, Array]:
    """The embeddings: the classes play no part in them, nor does chance."""
    arrays = {}
    for name in DATA:
        X, arrays[f"{name}/y"] = load(name, scope)
        for reading, (chosen, n_neighbors, rows) in READINGS.items():
            graph = CorrelationGraph(n_neighbors, metric="cosine").build(X)
            found = methods.embeddings(chosen, rows(X), graph, dimensions(scope))
            for (method, d), Z in found.items():
                arrays[f"{name}/{reading}/{method}/{d}"] = Z
    return arrays


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    """K-means from fifty starts, of which the best counts."""
    numbers: dict[Cell, float] = {}
    n_starts = FEW_STARTS if scope.quick else STARTS
    done: dict[bytes, tuple[float, float]] = {}
    for name in DATA:
        y = prepared[f"{name}/y"]
        for reading, (chosen, *_) in READINGS.items():
            for method in chosen:
                for d in dimensions(scope):
                    Z = prepared[f"{name}/{reading}/{method}/{d}"]
                    # without a graph two readings have the same embedding
                    key = Z.tobytes()
                    if key not in done:
                        done[key] = clustered(Z, y, seed, n_starts)
                    by_inertia, by_class = done[key]
                    numbers[name, reading, method, d, "inertia"] = by_inertia
                    numbers[name, reading, method, d, "classes"] = by_class
    return numbers


def clustered(Z: Array, y: Array, seed: int, n_starts: int) -> tuple[float, float]:
    """Errors of the tightest of the clusterings, and of that nearest to the classes."""
    seeds = np.random.default_rng(seed).integers(2**31, size=n_starts)
    found = [
        KMeans(len(np.unique(y)), n_init=1, random_state=int(start)).fit(Z)
        for start in seeds
    ]
    errors = [clustering_error(y, one.labels_) for one in found]
    return errors[int(np.argmin([one.inertia_ for one in found]))], min(errors)


def dimensions(scope: Scope) -> tuple[int, ...]:
    return FEW if scope.quick else DIMENSIONS


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    figure, axes = panels(len(DATA), len(READINGS), width=3.4, height=3.0)
    own, others = list(methods.BY_DEFAULT), list(methods.OTHERS)
    for row, name in zip(axes, DATA, strict=True):
        for ax, reading in zip(row, READINGS, strict=True):
            words = {"data": name, "reading": reading, "best": "inertia"}
            shown = own + others if reading == TEN else own
            curves(
                ax,
                measured,
                x="d",
                order=own + others,
                dashed=others,
                method=shown,
                **words,
            )
            ax.set_title(f"{name}, {reading}", fontsize=9, loc="left")
            chance = name == "COIL20" and reading == RAW
            ax.set_ylim(0, 0.95 if chance else 0.55)
    legend_beside(figure, axes[0, -1])
    return figure


def claims(measured: Measured) -> list[Claim]:
    def below(lower: str, upper: str, by_paper: bool = True, **where: Any) -> Claim:
        text = (
            f"{where['data']}, {where['reading']}: {lower} below {upper}, mean over d"
        )
        cells = [
            {"method": name, "best": "inertia", **where} for name in (lower, upper)
        ]
        return measured.is_below(text, *cells, by_paper=by_paper)

    found = []
    for name in DATA:
        for reading in READINGS:
            here: dict[str, Any] = {"data": name, "reading": reading}
            # the text compares GMKPCA with KPCA, GPCA and GKPCA, by 100 neighbours
            printed = reading != TEN
            for other in ("KPCA", "GPCA", "GKPCA"):
                found.append(below("GMKPCA", other, printed, **here))
            found.append(below("GMKPCA", "PCA", False, **here))
            for other in ("KPCA", "PCA"):
                found.append(below("GKPCA", other, False, **here))
        here = {"data": name, "reading": TEN}
        found += [below("GMKPCA", other, False, **here) for other in methods.OTHERS]
    return found


NOTES = Notes(
    paper="""
KPCA, GPCA (the linear kernel with the graph), GKPCA and GMKPCA, to which we add PCA;
sigma^2 = 1 for one Gaussian, ten equal steps from 0.01 to 1 for ten. The graph links
each row with the 100 whose cosine is largest, weighed by it. K-means is repeated 50
times and the best result reported. The caption of the figure says COIL20, the text
Drivface; no numbers are printed. GMKPCA is said to be clearly the lowest.
""",
    left_open="""
Which of the two data sets, the scale of the pixels, gamma, the values of d, what "best"
means (by the objective of K-means, or by the classes), whether K is centred and columns
scaled.
""",
    chosen="""
Both data sets, d = 5 to 30. One run is K-means from 50 starts, of which that with the
lowest inertia counts: the classes are not looked at. The rows named `classes` show the
start with the lowest error in its place, which nobody could choose without knowing the
classes. Four readings. *The letter on raw pixels* (in [0, 1]): K - gamma L as it
stands, V'V = I, and gamma = 0.1, which the paper prints for LNEG. *The letter on rows
of unit length*: that one change, with which sigma^2 from 0.01 to 1 becomes a sensible
range. *Defaults*: `GraphKernelPCA(d, graph=graph)`, that is the median width (ten
widths about it for GMKPCA), K centred, strength 1, columns scaled by their kernel
energy. *Defaults, 10 neighbours*: COIL20 has 72 images of an object, so that 100
neighbours lie in other objects too, whatever the pixels are; 10 is what a
`NeighborGraph` of this library takes when it is not told (on the 66 drivers 100
neighbours are all the others). Methods of others join by their defaults, RPCAG and
FRPCAG with the normalised Laplacian, RPCAG to a duality gap of 1 %.
""",
    found="""
With the paper's 100 neighbours, on COIL20: by the letter on rows of unit length GMKPCA
is below KPCA, GPCA and GKPCA, as the paper says, and equal to PCA, which its text does
not name; GKPCA is above KPCA there. By the letter on raw pixels KPCA is next to chance,
GMKPCA between it and GKPCA, and all of them above PCA. By defaults a graph of 100
neighbours does harm. With 10 neighbours GMKPCA and GKPCA, which are equal, are below
KPCA and PCA, and below the methods of others. That was looked for when 100 had failed,
by K-means of seeds 0 to 2: not those reported, but of the same images and labels
(`python -m benchmarks.image_choices objects`; clustering error by defaults, ten starts,
mean over d = 5, 10, 15, 20 and 30; ten Gaussians are fitted once, at d = 30):

| rows | kernel | neighbours | no graph | strength 0.1 | 0.3 | 1 | 3 |
| --- | --- | --- | --- | --- | --- | --- | --- |
| raw | Gaussian | 10 | .326 | .323 | .295 | .273 | .250 |
| raw | Gaussian | 100 | .326 | .328 | .353 | .391 | .375 |
| raw | ten Gaussians | 10 | .338 | .306 | .289 | .270 | .251 |
| raw | ten Gaussians | 100 | .338 | .333 | .352 | .368 | .381 |
| unit length | Gaussian | 10 | .359 | .340 | .317 | .285 | .258 |
| unit length | Gaussian | 100 | .359 | .369 | .358 | .377 | .393 |
| unit length | ten Gaussians | 10 | .354 | .323 | .310 | .286 | .261 |
| unit length | ten Gaussians | 100 | .354 | .353 | .360 | .372 | .380 |

With the linear kernel, 5 and 20 neighbours as well, a graph of at most 20 neighbours
lowers the error in 72 of 72 such numbers, and that of 100 in 7 of 24. So it is the
graph that helps, once it is local, at any strength tried; ten Gaussians are worth
little beside one. On DrivFace two clusters are not the two sides that drivers look to:
by defaults every kernel method errs as often as chance does, PCA at unit length is the
lowest of the paper's methods, and Laplacian eigenmaps and GLPCA, which trust the graph
more, are below all of ours.
""",
    in_short="""
COIL20: GMKPCA below KPCA, GPCA and GKPCA by the letter on rows of unit length, but only
equal to PCA; below both with 10 neighbours in place of 100. DrivFace: it does not hold.
""",
)

EXPERIMENT = Experiment(
    name="clustering",
    title="Clusters of objects and of drivers against d (COIL20, DrivFace)",
    files=("coil20", "drivface"),
    columns=("data", "reading", "method", "d", "best"),
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
)
