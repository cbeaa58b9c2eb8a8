"""(a) Which way do drivers look: error of a linear SVM, and seconds, against d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC

from graphfold import CorrelationGraph
from graphfold.arrays import Array
from graphfold.datasets import load_drivface
from graphfold.experiments import methods
from graphfold.experiments.figures import curves, panels
from graphfold.experiments.methods import DEFAULT, RAW, UNIT
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.operators.stored import Dense
from graphfold.solvers import top_eigenpairs

DIMENSIONS, FEW = (2, 5, 10, 15, 20, 30), (5, 10)
OF_THE_PAPER = ("PCA", "KPCA", "GKPCA")
#: PCA by random projections is scikit-learn's own choice for rows as wide as these
RANDOM, COVARIANCE, TIMED_AT = "PCA, randomised", "PCA by covariance", 10


class Reading(NamedTuple):
    """One reading of the paper: what is done to rows and graph, and who classifies."""

    methods: Mapping[str, methods.Make]
    rows: Callable[[Array], Array]
    graph: Callable[[Array], Any]
    classifier: Any


def between_all(points: Array) -> Any:
    """The graph of the paper: the correlation of each pair, negative ones too."""
    return CorrelationGraph(n_neighbors=None, negative="keep").build(points)


def between_all_centred(points: Array) -> Any:
    """As that, with every point measured from where it lies on average."""
    return CorrelationGraph(n_neighbors=None).build(points - points.mean(axis=0))


def only(chosen: Mapping[str, methods.Make]) -> dict[str, methods.Make]:
    return {name: chosen[name] for name in OF_THE_PAPER}


LETTERS, SVM = only(methods.BY_THE_LETTER), SVC(kernel="linear")
READINGS = {
    RAW: Reading(LETTERS, methods.unchanged, between_all, SVM),
    UNIT: Reading(LETTERS, normalize, between_all, SVM),
    DEFAULT: Reading(
        only(methods.BY_DEFAULT) | methods.OTHERS,
        methods.unchanged,
        between_all_centred,
        make_pipeline(StandardScaler(), SVM),
    ),
}


def prepare(scope: Scope) -> dict[str, Array]:
    """The embeddings: the labels play no part in them, nor does chance."""
    drivers = load_drivface(scope.data_dir)
    arrays = {"y": drivers.target}  # no pixel goes into a file of results
    for name, reading in READINGS.items():
        X, graph = reading.rows(drivers.data), reading.graph(drivers.points)
        found = methods.embeddings(reading.methods, X, graph, dimensions(scope))
        arrays |= {f"{name}/{method}/{d}": Z for (method, d), Z in found.items()}
    return arrays


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    """Five folds, shuffled anew in each run; and the paper's fits by the clock."""
    y, numbers = prepared["y"], {}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for name, reading in READINGS.items():
        for method in reading.methods:
            for d in dimensions(scope):
                Z = prepared[f"{name}/{method}/{d}"]
                guessed = cross_val_predict(reading.classifier, Z, y, cv=folds)
                numbers[name, method, d, "error"] = float(np.mean(guessed != y))
    return numbers | seconds(scope)


def seconds(scope: Scope) -> dict[Cell, float]:
    """What a fit of each of the paper's methods takes, by our defaults."""
    drivers = load_drivface(scope.data_dir)
    X, graph = drivers.data, between_all_centred(drivers.points)
    numbers: dict[Cell, float] = {}
    timed = {**only(methods.BY_DEFAULT), RANDOM: randomised}
    for method, make in timed.items():
        for d in dimensions(scope):
            took = by_the_clock(partial(make(graph, d).fit_transform, X))
            numbers[DEFAULT, method, d, "seconds"] = took
    took = by_the_clock(partial(pca_by_covariance, X, TIMED_AT))
    return {**numbers, (DEFAULT, COVARIANCE, TIMED_AT, "seconds"): took}


def by_the_clock(fit: Callable[[], Any]) -> float:
    """Seconds of the better of two calls: the first may have something to load."""
    took = []
    for _ in range(2):
        start = perf_counter()
        fit()
        took.append(perf_counter() - start)
    return min(took)


def randomised(graph: Any, d: int) -> PCA:
    return PCA(d, svd_solver="randomized", random_state=0)


def pca_by_covariance(X: Array, d: int) -> Array:
    """PCA as the paper counts it: the D x D covariance, and its top eigenvectors."""
    X = X - X.mean(axis=0)
    C = X.T @ X / len(X)
    top = top_eigenpairs(Dense(C, bounds=(0.0, float(np.trace(C)))), d)
    return X @ top.vectors


def dimensions(scope: Scope) -> tuple[int, ...]:
    return FEW if scope.quick else DIMENSIONS


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    figure, axes = panels(2, 3, width=3.9, height=3.1)
    words: dict[str, Any]
    names, others = [*OF_THE_PAPER, *methods.OTHERS], list(methods.OTHERS)
    shown: dict[str, dict[str, Any]] = {
        "letter, raw pixels: K is near I": {"reading": RAW},
        "letter, rows of unit length": {"reading": UNIT},
        "defaults": {"reading": DEFAULT, "method": list(OF_THE_PAPER)},
        "defaults, beside others": {"reading": DEFAULT, "method": ["GKPCA", *others]},
    }
    for ax, (title, chosen) in zip(axes.flat, shown.items(), strict=False):
        words = {"order": names, "dashed": others, "title": title, "measure": "error"}
        curves(ax, measured, x="d", **words, **chosen)
        ax.set_ylim(0, 0.56)
    clock = axes[1, 1]
    order = [*OF_THE_PAPER, RANDOM, COVARIANCE]
    words = {"order": order, "dashed": order[3:], "measure": "seconds"}
    curves(clock, measured, x="d", title="time of a fit", ylabel="seconds", **words)
    clock.set_yscale("log")
    clock.legend(fontsize=8, frameon=False)
    handles = dict(line for ax in axes[:, 0] for line in named_lines(ax))
    axes[1, 2].legend(handles.values(), handles, loc="center left", frameon=False)
    axes[1, 2].set_axis_off()
    return figure


def named_lines(ax: Any) -> Any:
    handles, labels = ax.get_legend_handles_labels()
    return zip(labels, handles, strict=True)


def claims(measured: Measured) -> list[Claim]:
    def below(lower: str, upper: str, by_paper: bool = True, **where: Any) -> Claim:
        at = f"d = {where['d']}" if "d" in where else "mean over d"
        text = f"{where['reading']}: {where['measure']} of {lower} below {upper}, {at}"
        cells = ({"method": lower, **where}, {"method": upper, **where})
        return measured.is_below(text, *cells, by_paper=by_paper)

    found = []
    for reading in READINGS:
        here: dict[str, Any] = {"reading": reading, "measure": "error"}
        found += [below("GKPCA", "KPCA", d=d, **here) for d in FEW]
        found += [below("GKPCA", other, **here) for other in ("KPCA", "PCA")]
    here = {"reading": DEFAULT, "measure": "error"}
    found += [below("GKPCA", other, False, **here) for other in methods.OTHERS]
    here["measure"] = "seconds"
    found += [below("KPCA", COVARIANCE, d=TIMED_AT, **here)]
    found += [below("KPCA", other, **here) for other in ("PCA", RANDOM)]
    found += [below("GKPCA", "KPCA", **here)]
    return found


NOTES = Notes(
    paper="""
66 images of drivers of 80 x 80 pixels, seen from the front or from the side. GKPCA and
KPCA have a Gaussian kernel with sigma^2 = 1; the graph of GKPCA has the correlation of
the coordinates of nose, eyes and ears as weights. A linear SVM with five folds tells
the two sides apart. Its figure (no numbers are printed) is said to show GKPCA below
both KPCA and PCA, the kernel methods much faster than PCA because D is far above n, and
GKPCA faster than KPCA for most d.
""",
    left_open="""
Which 66 of the 606 images, the scale of the pixels, gamma, the values of d, whether K
is centred, how columns are scaled before the SVM and its C, and how PCA was computed.
The data have the corners of the mouth, not the ears.
""",
    chosen="""
All 33 frames that face left, and as many that face front, of the same drivers; d = 2 to
30; C = 1. Folds are drawn over frames, so that a driver is in several of them. Three
readings. *The letter on raw pixels* (in [0, 1]): K - gamma L as it stands, V'V = I, the
correlations of all pairs. No entry of K off its diagonal is above 0.001 (on pixels from
0 to 255 all are 0), so K is the identity, KPCA has nothing to tell, and GKPCA has the
eigenvectors of L whatever gamma is. *The letter on rows of unit length*: that one
change. gamma is 0.1, which the paper prints for LNEG. *Defaults*: `GraphKernelPCA(d,
graph=graph)` on the pixels, that is the median width, K centred, strength 1; columns
are standardised before the SVM. The one thing done to the graph: every coordinate is
measured from its mean over the images, since the correlations of coordinates as they
are lie above 0.94 for every pair and say next to nothing. The embedding sees all 66
images, never a label. Time is that of a fit on one thread, with the graph given. PCA is
timed three ways: by the exact SVD, by random projections (what scikit-learn takes for
such rows by itself), and by the eigenvectors of the D x D covariance, at d = 10 only.
""",
    found="""
By defaults GKPCA is below KPCA at d = 5 and d = 10, and in the mean over d below KPCA,
PCA and every method of others; but not at every d: at 15 KPCA is lower, from 20 on PCA
is (MDS is PCA here), and RPCAG is from 10 on. By the letter on raw pixels GKPCA is
below KPCA, but both are poor and far above PCA: K is the identity, and an SVM with C =
1 underfits columns of unit length. On rows of unit length the letter gives a tie with
KPCA at d = 5 and 10, and GKPCA is *above* KPCA in the mean over d. Other choices,
errors at d = 5 / d = 10 with standardised columns and the graph of all pairs, on folds
of seeds 0 to 19: not those reported, but of the same images and labels (`python -m
benchmarks.image_choices faces`):

| rows, width | points | KPCA | strength 0.1 | 0.3 | 1 | 3 |
| --- | --- | --- | --- | --- | --- | --- |
| raw, median | as is | .050/.032 | .049/.031 | .048/.030 | .047/.027 | .034/.020 |
| raw, median | centred | .050/.032 | .033/.013 | .045/.001 | .000/.002 | .001/.002 |
| unit, median | as is | .033/.030 | .033/.030 | .033/.030 | .033/.030 | .033/.029 |
| unit, median | centred | .033/.030 | .032/.019 | .033/.011 | .045/.001 | .003/.002 |
| unit, s^2 = 1 | as is | .039/.026 | .039/.026 | .039/.026 | .037/.024 | .038/.023 |
| unit, s^2 = 1 | centred | .039/.026 | .032/.019 | .033/.016 | .045/.000 | .005/.001 |

With graphs of ten neighbours as well, GKPCA is below KPCA in 81 of 96 such numbers,
equal to three digits in 12 and above in 3. Two of these 3 are at d = 5 and strength 1
on rows of unit length: with that in place of raw pixels our defaults would not show the
ordering at d = 5. What the paper says of time depends on what is meant by PCA: kernel
methods are far faster than the eigenvectors of the covariance and nearly twice as fast
as the exact SVD; beside random projections they are a little faster or equal, as the
load of the machine has it, and a graph makes a fit no faster here.
""",
    in_short="""
GKPCA below KPCA at d = 5 and 10 by defaults, with points measured from their means; by
the letter it is the identity (raw pixels) or a tie (unit length).
""",
)

EXPERIMENT = Experiment(
    name="faces",
    title="Which way drivers look: classification and time against d (DrivFace)",
    files=("drivface",),
    columns=("reading", "method", "d", "measure"),
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
)
