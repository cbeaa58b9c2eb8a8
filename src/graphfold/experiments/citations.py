"""A study of ours: what citations add to the words of scientific papers (Cora).

M = K - gamma L: K compares the words of two papers, L joins papers that cite each
other. A classifier then tells the subject of a paper from 20 numbers. Controls: words
alone (strength 0), citations alone, and citations rewired at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from graphfold import Graph, GraphKernelPCA, LaplacianEigenmaps, plot
from graphfold.arrays import Array
from graphfold.datasets import load_cora
from graphfold.errors import UnusedGraphWarning
from graphfold.experiments.figures import GREY, curves, panels
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.quality import clustering_error, graph_gain, rewired

COLUMNS = ("task", "method", "labels", "strength")
D, MANY = 20, 100
STRENGTHS, FEW_STRENGTHS = (0, 0.3, 1, 3, 10), (0, 1)
DEFAULT = 1  # the library's own strength
LABELS = (5, 10, 20, 50)  # of each subject
NAMES = ("theory", "rewards", "genetic", "neural", "bayes", "cases", "rules")
QUICK_SUBJECTS = (1, 5, 6)

KNOWN, NEW, BARE = "known papers", "new papers", "new papers, no citations"
CLUSTERS = "clusters"
BOTH, REWIRED = "words and citations", "words and rewired citations"
AUTO, CITATIONS = 'words and citations, "auto"', "citations alone"
WIDE = f'words and citations, "auto", {MANY} columns'
ALL_WORDS, AVERAGED = "all 1,433 words", "all words, averaged over citations"
NONE = "-"


def read(scope: Scope) -> tuple[Any, Array, Array, Graph]:
    """Words in rows of length one, subjects, names of papers, and who cites whom."""
    cora = load_cora(scope.data_dir)
    kept = np.isin(cora.target, QUICK_SUBJECTS) | (not scope.quick)
    papers = cora.labels[kept]
    X = sp.csr_array(normalize(cora.data[kept]))
    return X, cora.target[kept], papers, cora.graph.subgraph(papers)


def model(graph: Graph, strength: Any, d: int = D) -> GraphKernelPCA:
    """PCA of the words that listens to a graph; columns of variance one."""
    return GraphKernelPCA(
        d, kernel="linear", graph=graph, graph_strength=strength, scaling="unit"
    )


def prepare(scope: Scope) -> dict[str, Array]:
    """All that sees every paper and no label: the same in every run."""
    X, y, papers, graph = read(scope)
    strengths = FEW_STRENGTHS if scope.quick else STRENGTHS
    Z = [model(graph, s).fit_transform(X, node_ids=papers) for s in strengths]
    auto = model(graph, "auto").fit(X, node_ids=papers)
    wide = model(graph, auto.graph_strength_, MANY).fit(X, node_ids=papers)
    with warnings.catch_warnings():
        # that a rewired graph is not used is what the control is to show
        warnings.simplefilter("ignore", UnusedGraphWarning)
        control = model(rewired(graph, 0), "auto").fit(X, node_ids=papers)
    paths = (auto.strength_path_, control.strength_path_)
    gain: Any = graph_gain(X, graph, node_ids=papers)
    maps = [Z[0], auto.embedding_]
    if not scope.quick:
        layout = TSNE(max_iter=500, random_state=0)
        maps = [layout.fit_transform(each) for each in maps]
    return {
        "y": y,
        "Z": np.array(Z),
        "auto": auto.embedding_,
        "wide": wide.embedding_,
        "citations": citations_alone(X, papers, graph),
        "maps": np.array([each[:, :2] for each in maps]),
        "gain": np.array([gain.effect, gain.p_value]),
        "strengths": paths[0].strengths,
        "gains": np.array([path.gains for path in paths]),
        "standard_errors": paths[0].standard_errors,
        "chosen": np.array([path.chosen for path in paths]),
    }


def citations_alone(X: Any, papers: Array, graph: Graph) -> Array:
    """Laplacian eigenmaps of the largest part; the other papers stay in the middle.

    On the whole graph every small part would take a column for itself.
    """
    part = connected_components(graph.to_scipy(), directed=False)[1]
    largest = part == np.bincount(part).argmax()
    eigenmaps = LaplacianEigenmaps(D, graph=graph.subgraph(papers[largest]))
    Z = np.zeros((len(papers), D))
    Z[largest] = eigenmaps.fit_transform(X[largest], node_ids=papers[largest])
    return np.asarray(Z / Z.std(axis=0))


def averaged(X: Any, graph: Graph) -> Any:
    """Words averaged twice over a paper and those it is linked to (Wu et al., 2019)."""
    A = graph.to_scipy() + sp.eye_array(graph.n_nodes)
    scale = sp.diags_array(1 / np.sqrt(graph.degrees + 1))
    S = scale @ A @ scale
    return normalize(sp.csr_array(S @ (S @ X)))


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    """Errors on a fifth of the papers, or on all but a few labelled ones."""
    X, y, papers, graph = read(scope)
    strengths = FEW_STRENGTHS if scope.quick else STRENGTHS
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed
    )
    most = round(len(train) / len(np.unique(y)))
    splits = {n: few_labels(y, n, seed) for n in LABELS} | {most: (train, test)}
    numbers: dict[Cell, float] = {}

    tables: dict[tuple[str, Any], Any] = {
        (BOTH, strength): Z
        for strength, Z in zip(strengths, prepared["Z"], strict=True)
    }
    tables[AUTO, NONE] = prepared["auto"]
    tables[WIDE, NONE] = prepared["wide"]
    tables[CITATIONS, NONE] = prepared["citations"]
    control = rewired(graph, seed)
    for strength in strengths[1:]:
        Z = model(control, strength).fit_transform(X, node_ids=papers)
        tables[REWIRED, strength] = Z
    for (method, strength), Z in tables.items():
        kmeans = KMeans(len(np.unique(y)), n_init=5, random_state=seed)
        found = clustering_error(y, kmeans.fit_predict(Z))
        numbers[CLUSTERS, method, 0, strength] = found
    tables[ALL_WORDS, NONE] = X
    tables[AVERAGED, NONE] = averaged(X, graph)
    for (method, strength), Z in tables.items():
        C = 25.0 if sp.issparse(Z) else 1.0
        for n in splits if strength in (NONE, 0) else [most]:
            numbers[KNOWN, method, n, strength] = error(Z, y, splits[n], C)

    known, new = papers[train], papers[test]
    for strength in strengths:
        fitted = model(graph.subgraph(known), strength).fit(X[train], node_ids=known)
        Z = np.empty((len(y), D))
        Z[train] = fitted.embedding_
        Z[test] = fitted.transform(X[test], edges=graph.edges_between(new, known))
        numbers[NEW, BOTH, most, strength] = error(Z, y, (train, test))
        Z[test] = fitted.transform(X[test], node_ids=new)  # not nodes of its graph
        numbers[BARE, BOTH, most, strength] = error(Z, y, (train, test))

    for method, chosen in zip((BOTH, REWIRED), prepared["chosen"], strict=True):
        numbers['strength of "auto"', method, 0, NONE] = float(chosen)
    for name, value in zip(("effect", "p-value"), prepared["gain"], strict=True):
        numbers[f"graph_gain: {name}", CITATIONS, 0, NONE] = float(value)
    return numbers


def few_labels(y: Array, n: int, seed: int) -> tuple[Array, Array]:
    """``n`` papers of each subject, and all others."""
    rng = np.random.default_rng(seed)
    subjects = [np.flatnonzero(y == subject) for subject in np.unique(y)]
    train = np.concatenate([rng.permutation(rows)[:n] for rows in subjects])
    return train, np.setdiff1d(np.arange(len(y)), train)


def error(Z: Any, y: Array, split: tuple[Array, Array], C: float = 1.0) -> float:
    """Share of papers given a wrong subject by logistic regression."""
    train, test = split
    classifier = LogisticRegression(C=C, max_iter=2000).fit(Z[train], y[train])
    return float(1 - classifier.score(Z[test], y[test]))


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    """Maps and the choice of a strength above, errors below."""
    figure, axes = panels(2, 3, width=4.3, height=3.6)
    path = SimpleNamespace(**{**prepared, "scored_by": "hidden words"})
    path.gains, path.chosen = prepared["gains"][0], prepared["chosen"][0]
    titles = ("Map of the words alone", f"With citations, strength {path.chosen:g}")
    for ax, Z, title in zip(axes[0], prepared["maps"], titles, strict=False):
        plot.embedding(Z, np.array(NAMES)[prepared["y"]], ax=ax, title=title)
        ax.set(xlabel="", ylabel="")
    for name in list(axes[0, 0].texts):
        name.remove()  # they would all lie in the middle
    plot.strength_path(path, ax=axes[0, 2], title='How "auto" chooses')
    axes[0, 2].plot(prepared["gains"][1], "--", color=GREY, label="rewired")

    most = {"labels": max(measured.levels("labels"))}
    known: dict[str, Any] = {"task": KNOWN, **most}
    order = [BOTH, REWIRED]
    curves(axes[1, 0], measured, x="strength", order=order, title="All known", **known)
    for method, style in ((CITATIONS, "--"), (AVERAGED, ":")):
        level = measured.mean(method=method, **known)
        axes[1, 0].axhline(level, color=GREY, linestyle=style, lw=1, label=method)
    new: dict[str, Any] = {"by": "task", "order": [NEW, BARE], "method": BOTH, **most}
    curves(axes[1, 1], measured, x="strength", title="New to the fit", **new)
    order = [AUTO, WIDE, CITATIONS, ALL_WORDS, AVERAGED]
    few: dict[str, Any] = {
        "order": order,
        "dashed": order[3:],
        "xlabel": "labels of each subject",
    }
    curves(axes[1, 2], measured, x="labels", title="Few labels", task=KNOWN, **few)
    for ax in axes[1, :2]:
        ticks = measured.levels("strength", task=NEW)
        ax.set_xscale("symlog", linthresh=0.3, linscale=0.5)
        ax.set_xlim(-0.05, 1.1 * max(ticks))
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ticks = measured.levels("labels", task=KNOWN, method=AUTO)
    axes[1, 2].set_xscale("log")
    axes[1, 2].set_xticks(ticks, [str(tick) for tick in ticks])
    for ax in (*axes[1], axes[0, 2]):
        ax.minorticks_off()
        ax.legend(fontsize=8, frameon=False)
        ax.set_ylim(min(0, ax.get_ylim()[0]), 1.2 * ax.get_ylim()[1])
    return figure


def claims(measured: Measured) -> list[Claim]:
    """Ours: what a user would hope for, whether it holds or not."""
    most = max(measured.levels("labels"))
    known = {"task": KNOWN, "labels": most}
    words = {"method": BOTH, "strength": 0}
    both = {"method": BOTH, "strength": DEFAULT}
    rivals: dict[str, dict[str, Any]] = {
        "words alone": words,
        "citations alone": {"method": CITATIONS},
        "all words": {"method": ALL_WORDS},
        "all words averaged over citations": {"method": AVERAGED},
    }
    pairs = {
        f'{labels}: both ("auto") below {name}': (
            {**known, "labels": n, "method": AUTO},
            {**known, "labels": n, **rival},
        )
        for labels, n in (("four fifths labelled", most), ("20 of each subject", 20))
        for name, rival in rivals.items()
    }
    pairs[f"four fifths labelled: {MANY} columns below all words averaged"] = (
        {**known, "method": WIDE},
        {**known, "method": AVERAGED},
    )
    pairs[f"5 of each subject: {D} columns below {MANY}"] = (
        {**known, "labels": 5, "method": AUTO},
        {**known, "labels": 5, "method": WIDE},
    )
    pairs["rewired citations do harm: words alone below them"] = (
        {**known, **words},
        {**known, "method": REWIRED, "strength": DEFAULT},
    )
    for task in (NEW, BARE, CLUSTERS):
        text = f"{task}: both (strength {DEFAULT}) below words alone"
        pairs[text] = ({"task": task, **both}, {"task": task, **words})
    return [
        measured.is_below(text, lower, upper, by_paper=False)
        for text, (lower, upper) in pairs.items()
    ]


NOTES = Notes(
    paper="""
Not in the paper: a study of ours. Cora is the usual example of rows with a graph: 2,708
papers on machine learning as bags of 1,433 words, seven subjects, who cites whom.
""",
    left_open="""
Everything. Do citations help to tell the subject of a paper, also of one that comes
later? Is it due to *who* cites whom? Can the strength be chosen without a label?
""",
    chosen="""
Rows of unit length and the linear kernel (strength 0 is PCA of the words), 20 columns
of unit variance, logistic regression; at the strength of `"auto"` also 100 columns. No
embedding sees a label. Each run tests on a fifth of the papers of its own (309 of each
subject on average have labels then), or labels a few papers of each subject and tests
on all others.

* *Known papers*: all papers and citations are embedded.
* *New papers*: the fifth is unknown to the fit; `transform` places its papers by their
  words and their citations of known papers, or by their words only.
* *Controls*: the graph rewired anew in each run, each paper keeping its number of
  links; citations alone (Laplacian eigenmaps of the largest part: every small part
  would take a column for itself, so other papers stay in the middle).
* *References that reduce nothing*: all words, and all words averaged twice over
  citations (simplified graph convolution), with C = 25.
* `"auto"` is chosen once, on all papers, from words that it hides. Claims on new papers
  and clusters take the default strength.

The maps are t-SNE of the 20 columns. A quick pass has three of the subjects and shows
the first two columns.
""",
    found="""
Citations help wherever a paper has some: known papers and new ones, many labels and
few, clusters without labels; both together do better than either alone. What helps is
who cites whom: rewired, citations do harm, and `"auto"` gives the rewired copy that it
was tried on strength 0.

What the graph does not do: a new paper *without* citations gains little, since known
papers were placed by both and it is placed by words alone. And no embedding here beats
all words averaged over citations, if these are to be had: 20 columns stay behind, 100
draw level where labels are many, and lose where they are few.
""",
    in_short="""
Words and citations together do better than either, for known papers and for new ones;
rewired citations do harm. All words averaged over citations do better still.
""",
)

EXPERIMENT = Experiment(
    name="citations",
    title="Papers, their words and their citations (Cora)",
    files=("cora",),
    columns=COLUMNS,
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
    across="strength",
)
