"""A strength that chooses itself: what each strength of a path can foretell.

A graph helps if an embedding that listens to it foretells what it has not seen: columns
of X that were left out of the kernel, or edges that were left out of the graph. The
scores of a path are compared fold by fold, and strength 0 stays unless another beats
it by more than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from graphfold.arrays import Array
from graphfold.hints import Numbers, Range, Sizes

#: an eigenvector need not be known better than this for a score
TOLERANCE = 1e-4
#: nought, half a decade from one to the next, and closer where most graphs are best
STRENGTHS = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 2.0, 3.0, 6.0, 10.0)
N_COLUMN_FOLDS = 4
N_ROW_FOLDS = 5
N_EDGE_FOLDS = 10
#: standard errors by which the best strength has to beat 0: it is the best of ten, and
#: the best of ten that do nothing may beat 0 by one (``python -m benchmarks.strength``)
SURE = 2.0
RIDGE = 1.0


@dataclass(frozen=True)
class StrengthPath:
    """Scores along a path of strengths, and the strength they speak for.

    Attributes
    ----------
    strengths : array of shape (m,)
    scores : array of shape (m, n_folds)
        Higher is better: the share of variance foretold in columns left out ("columns")
        or the area under the curve of edges left out ("edges").
    chosen : float
    scored_by : {"columns", "edges"}

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import GraphKernelPCA, NeighborGraph
    >>> model = GraphKernelPCA(2, graph=NeighborGraph(5), graph_strength="auto")
    >>> with warnings.catch_warnings():  # an UnusedGraphWarning says the same
    ...     warnings.simplefilter("ignore")
    ...     path = model.fit(load_iris().data).strength_path_
    >>> path.scored_by, path.chosen  # neighbours tell nothing that X has not told
    ('columns', 0.0)
    """

    strengths: Annotated[Array, Numbers("_m", low=0.0)]
    scores: Annotated[Array, Numbers("_m", "_f", finite=False)]
    chosen: Annotated[float, Range(0.0)]
    scored_by: str

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise if nothing was scored."""
        if not self.scores.size:
            raise ValueError("it has no scores")

    @property
    def mean_scores(self) -> Array:
        """Score of each strength, over the folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def gains(self) -> Array:
        """How much better than strength 0, over the folds."""
        return np.asarray((self.scores - self.scores[0]).mean(axis=1))

    @property
    def standard_errors(self) -> Array:
        """Standard error of each gain, from its differences fold by fold."""
        return standard_errors(self.scores)

    def __str__(self) -> str:
        lines = [f"strength   {self.scored_by} foretold   gain over 0"]
        for strength, score, gain, error in zip(
            self.strengths,
            self.mean_scores,
            self.gains,
            self.standard_errors,
            strict=True,
        ):
            mark = "  <- chosen" if strength == self.chosen else ""
            lines.append(
                f"{strength:8.3g}   {score:16.4f}   {gain:+.4f} ({error:.4f}){mark}"
            )
        return "\n".join(lines)


def standard_errors(scores: Array) -> Array:
    """Standard error of the mean difference to the first row of scores."""
    differences = scores - scores[0]
    spread = differences.std(axis=1, ddof=min(1, scores.shape[1] - 1))  # 0 of one fold
    return np.asarray(spread / np.sqrt(scores.shape[1]))


def decide(strengths: Sequence[float], scores: Array, scored_by: str) -> StrengthPath:
    """The strength of the best score; 0 unless that is two standard errors better.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.model.path import decide
    >>> decide([0.0, 1.0], np.array([[0.1, 0.2], [0.3, 0.45]]), "columns").chosen
    1.0
    >>> decide([0.0, 1.0], np.array([[0.1, 0.2], [0.0, 0.31]]), "columns").chosen
    0.0
    """
    path = StrengthPath(np.array(strengths, dtype=float), scores, 0.0, scored_by)
    best = int(np.argmax(path.mean_scores))
    sure = path.gains[best] > SURE * path.standard_errors[best]
    chosen = float(path.strengths[best]) if sure else 0.0
    return StrengthPath(path.strengths, scores, chosen, scored_by)


def folds(n: int, count: int, rng: np.random.Generator) -> Array:
    """Which of ``count`` folds each of n things belongs to, of nearly equal sizes."""
    return rng.permutation(np.arange(n) % count)


class HiddenColumns:
    """Columns that were left out, and how well embeddings foretell them.

    Ridge regression on the rows of all folds but one. What does not depend on the
    embedding is computed once. Targets may be sparse: only their products are formed,
    never what is foretold.
    """

    def __init__(self, targets: Any, row_folds: Array):
        count = int(row_folds.max()) + 1
        self._rows = [np.flatnonzero(row_folds == fold) for fold in range(count)]
        parts = [targets[rows] for rows in self._rows]
        self._squares = [_sum_of_squares(part) for part in parts]
        # sparse: a product with rows that are contiguous is the faster one
        is_sparse = sp.issparse(targets)
        self._across = [sp.csr_array(p.T) if is_sparse else p.T for p in parts]
        sizes = np.array([len(rows) for rows in self._rows], dtype=float)
        sums = np.array([np.asarray(part.sum(axis=0)).ravel() for part in parts])
        means = (sums.sum(axis=0) - sums) / np.maximum(sizes.sum() - sizes, 1)[:, None]
        #: squared error of the mean of the other rows
        within = np.sum(means * (sizes[:, None] * means - 2 * sums), axis=1)
        self._totals = np.array(self._squares) + within

    def foretold(self, V: Array) -> list[float]:
        """Share of their variance foretold from V, for each fold of the rows."""
        design = np.hstack(
            [np.ones((len(V), 1)), directions(V) * np.sqrt(V.shape[1] + 1)]
        )
        ridge = RIDGE * np.eye(design.shape[1])
        ridge[0, 0] = 0.0  # the mean is free
        blocks = [design[rows] for rows in self._rows]
        grams = [block.T @ block for block in blocks]
        products = [
            np.asarray(across @ block).T
            for across, block in zip(self._across, blocks, strict=True)
        ]
        gram, product, scores = sum(grams), sum(products), []
        for i, total in enumerate(self._totals):
            weights = np.linalg.solve(gram - grams[i] + ridge, product - products[i])
            left = self._squares[i] - 2 * np.sum(weights * products[i])
            left += np.sum(weights * (grams[i] @ weights))
            known = total > 1e-12 * self._squares[i]
            scores.append(float(1.0 - left / total) if known else 0.0)
        return scores


def foretold_variance(V: Array, targets: Any, row_folds: Array) -> list[float]:
    """Share of variance of ``targets`` foretold from V, for each fold of the rows."""
    return HiddenColumns(targets, row_folds).foretold(V)


def _sum_of_squares(targets: Any) -> float:
    return float(targets.power(2).sum() if sp.issparse(targets) else np.sum(targets**2))


def directions(V: Array) -> Array:
    """Rows of [V, 1], of unit variance each, scaled to length one: where, not how far.

    How far a row lies from the centre has to do with its degree: strong graphs push
    hubs and small parts out, and a score would look at these alone. It then peaks at
    weaker graphs than a classifier would choose: ``python -m benchmarks.strength``.
    """
    wide = V.astype(np.float64) * np.sqrt(len(V))
    rows = np.hstack([wide, np.ones((len(V), 1))])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def foretold_edges(V: Array, held: Array, others: Array) -> float:
    """Chance that an edge left out joins nearer rows than a pair without an edge."""
    V = directions(V)
    near = -np.concatenate([_squared_distances(V, held), _squared_distances(V, others)])
    ranks = rankdata(near)[: len(held)]
    wins = ranks.sum() - len(held) * (len(held) + 1) / 2
    return float(wins / (len(held) * len(others)))


def _squared_distances(V: Array, pairs: Array) -> Array:
    gaps = V[pairs[:, 0]] - V[pairs[:, 1]]
    return np.einsum("ij,ij->i", gaps, gaps)


def pairs_without_edge(adjacency: Any, count: int, rng: np.random.Generator) -> Array:
    """Random pairs of rows that no edge joins; ends as often as edges have them.

    Ends are drawn by degree, so that hubs do not make edges easy to tell from pairs.
    """
    rows, columns = sp.triu(adjacency, k=1).nonzero()
    ends = np.concatenate([rows, columns])
    left, right = rng.choice(ends, 4 * count), rng.choice(ends, 4 * count)
    taken = np.asarray(adjacency[left, right]).ravel() != 0
    free = np.flatnonzero((left != right) & ~taken)[:count]
    return np.column_stack([left[free], right[free]])
