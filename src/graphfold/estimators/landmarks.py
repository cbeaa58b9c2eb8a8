"""``landmarks=`` of the estimators: how many, which rows, or rows of their own."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from graphfold import check
from graphfold.arrays import Array
from graphfold.equal_rows import first_equal_rows
from graphfold.errors import GraphfoldError, LabelError
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate
from graphfold.kernels import Kernel, Linear
from graphfold.kernels.landmarks import LandmarkFeatures, landmark_features
from graphfold.kernels.names import bind_all
from graphfold.model.landmarks import CANDIDATES, CHOICES, Chosen, choose_landmarks
from graphfold.model.memory import N_PROBES
from graphfold.stores import is_sparse

#: rows looked at, and how many times farther from zero than from each other rows may
#: lie before the linear kernel is taken about their mean
LOOKED_AT, FAR = 1000, 10.0
#: what ``landmarks`` is where they are chosen: a number, or None for what fits
WANTED = (numbers.Integral, NoneType)


@dataclass(frozen=True)
class Landmarks:
    """Rows that stand for all, and the features that they give for each kernel.

    ``lost`` is the share of the variance in feature space that they do not see.
    """

    rows: Any
    kernels: dict[str, Kernel]
    features: dict[str, LandmarkFeatures]
    lost: float

    def __len__(self) -> int:
        return int(self.rows.shape[0])


def n_landmarks(estimator: Any) -> int | None:
    """How many landmarks are asked for; None where none are."""
    asked = getattr(estimator, "landmarks", None)
    if asked is None:
        return None
    if isinstance(asked, numbers.Number | str):
        return check.integer_between("landmarks", asked, 1, 2**31)
    shape = getattr(asked, "shape", None)
    listed = isinstance(asked, list | tuple | range) or (
        shape is not None and len(shape) > 0
    )
    if not listed:
        raise GraphfoldError(
            "landmarks must be None, a number, labels of rows, or rows; got "
            f"{type(asked).__name__}"
        )
    return len(asked) if shape is None else int(shape[0])


def refines(estimator: Any) -> bool:
    """Whether the answer in the landmarks' span is only where the search begins."""
    return getattr(estimator, "refine", "auto") is not False


def check_landmarks(
    estimator: Any, n: int, labels: Array | None, *, growing: bool = False
) -> None:
    """Ranges of ``landmarks`` and its companions, before any work.

    In a stream, ``growing``, a number of landmarks may be more than the rows so far.
    """
    check.one_of("landmark_choice", estimator.landmark_choice, CHOICES)
    if not (isinstance(estimator.refine, str) and estimator.refine == "auto"):
        try:
            check.flag("refine", estimator.refine)
        except GraphfoldError:
            raise GraphfoldError(
                f'refine must be "auto", True or False; got {estimator.refine!r}'
            ) from None
    asked = estimator.landmarks
    if asked is None:
        return
    if isinstance(asked, numbers.Number | str):
        d = int(estimator.n_components)
        check.integer_between(
            "landmarks",
            asked,
            d,
            2**31 if growing else n,
            f"n_components={d} and X has {n} rows",
        )
        return
    count = n_landmarks(estimator) or 0
    if count < estimator.n_components:
        raise GraphfoldError(
            f"landmarks must be at least n_components={estimator.n_components}; got "
            f"{count}"
        )
    if np.ndim(asked) == 1 and not sp.issparse(asked):
        positions_of(asked, labels, n)
    elif not estimator._takes_landmark_rows:
        raise GraphfoldError(
            "landmarks must be a number, or labels or positions of samples, where "
            "samples have several modes; got a table"
        )


def positions_of(asked: Any, labels: Array | None, n: int) -> Array:
    """Rows that a list of labels, or of positions where there are none, names."""
    names = as_labels(asked)
    repeated = first_duplicate(names)
    if repeated is not None:
        raise LabelError(f"landmarks must be distinct; {repeated!r} occurs twice")
    found = LabelIndex(np.arange(n) if labels is None else labels).find(names)
    lost = names[found < 0]
    if len(lost):
        what = "positions" if labels is None else "labels"
        raise LabelError(
            f"landmarks must be {what} of rows of X; {check.some_of(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} not"
        )
    return np.sort(found)


def given_rows(asked: Any, X: Any, names: Any = None) -> Any:
    """Landmarks that are rows of their own, with the columns and precision of X.

    ``names`` are those of the columns of X: a table of landmarks is met by them.
    """
    if names is not None and hasattr(asked, "columns"):
        own = [str(name) for name in asked.columns]
        if sorted(own) != sorted(names):
            raise GraphfoldError(
                f"landmarks must have the columns of X, {check.some_of(list(names))}; "
                f"got {check.some_of(own)}"
            )
        asked = asked[list(names)]
    rows = check_array(
        asked,
        accept_sparse="csr",
        dtype=[X.dtype],
        input_name="landmarks",
        copy=True,  # the caller may change them afterwards
    )
    if rows.shape[1] != X.shape[1]:
        raise GraphfoldError(
            f"landmarks must have the {X.shape[1]} columns of X; got {rows.shape[1]}"
        )
    first = first_equal_rows(rows)
    copies = np.flatnonzero(first != np.arange(len(first)))
    if len(copies):
        raise GraphfoldError(
            f"landmarks must be distinct; row {copies[0]} equals row "
            f"{first[copies[0]]} ({len(copies)} copies in all)"
        )
    if is_sparse(X):
        return sp.csr_array(rows)
    return rows.toarray() if sp.issparse(rows) else rows


def choose(
    estimator: Any,
    X: Any,
    labels: Array | None,
    count: int | None,
    rng: np.random.Generator,
    fingerprints: Array | None = None,
) -> Chosen:
    """The rows that are landmarks, and those that tell the width of a kernel."""
    asked = estimator.landmarks
    if asked is not None and not isinstance(asked, numbers.Integral):
        if np.ndim(asked) == 1 and not sp.issparse(asked):
            rows = X[positions_of(asked, labels, X.shape[0])]
        else:
            names = getattr(estimator, "feature_names_in_", None)
            rows = given_rows(asked, X, names)
        return Chosen(rows, rows)
    wanted = int(asked if asked is not None else count or 0)
    kernels = estimator._kernels(X)
    how = choice_of(estimator, kernels)
    listed = list(kernels.values())
    return choose_landmarks(X, wanted, how, listed, rng, fingerprints)


def choice_of(estimator: Any, kernels: dict[str, Kernel]) -> str:
    """How a number of landmarks is chosen: "auto" is k-means where means make sense."""
    how, known = estimator.landmark_choice, means_make_sense(kernels)
    if how == "auto":
        return "k-means" if known else "uniform"
    if how == "k-means" and not known:
        raise GraphfoldError(
            'landmark_choice must not be "k-means" where a kernel is a callable, to '
            f"which a mean of rows may say nothing; got kernel={estimator.kernel!r}"
        )
    return str(how)


def averaged_rows(estimator: Any, kernels: dict[str, Kernel]) -> int:
    """Rows for each landmark that means are sought of; 0 where they are rows of X."""
    asked = getattr(estimator, "landmarks", None)
    how = getattr(estimator, "landmark_choice", "uniform")
    of_means = how in ("auto", "k-means") and means_make_sense(kernels)
    return CANDIDATES if of_means and isinstance(asked, WANTED) else 0


def means_make_sense(kernels: dict[str, Kernel]) -> bool:
    """Whether every kernel is a function of numbers, so that rows may be averaged."""
    return all(kernel.of_means for kernel in kernels.values())


def check_kernels(estimator: Any, kernels: dict[str, Kernel]) -> None:
    """Landmarks see a kernel through its values at pairs of rows."""
    known = all(kernel.pointwise for kernel in kernels.values())
    if not known or not kernels or not estimator._has_rows():
        raise GraphfoldError(
            "landmarks must be None unless every kernel is a function of two rows; "
            f"got kernel={estimator.kernel!r}"
        )
    if isinstance(estimator.landmarks, WANTED):
        choice_of(estimator, kernels)


def _about(kernel: Kernel, rows: Any) -> Kernel:
    """The linear kernel about the landmarks' mean: the same where it is centred."""
    if isinstance(kernel, Linear):
        return Linear(shift=np.asarray(rows.mean(axis=0)))
    return kernel


def near_zero(kernel: Kernel, X: Any) -> Kernel:
    """The linear kernel about the mean of rows that lie far from zero.

    Products of columns around 1e6 lose twelve digits of the centred kernel, which is
    the same about any point.
    """
    known = isinstance(kernel, Linear) and kernel.shift is None
    if not known or not isinstance(X, np.ndarray):
        return kernel
    some = X[:: -(-X.shape[0] // LOOKED_AT)].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not moved
        middle = some.mean(axis=0)
        spread = np.linalg.norm(some - middle) / np.sqrt(len(some))
        is_far = np.linalg.norm(middle) > FAR * spread
    return _about(kernel, X) if is_far else kernel


def landmarks_of(
    estimator: Any, X: Any, chosen: Chosen, rank: int | None, rng: np.random.Generator
) -> Landmarks:
    """Kernels bound to what was chosen, and features; ``rank`` columns of each.

    A median width looks at the landmarks alone, or at rows chosen uniformly where
    they are means: all who have them agree on it.
    """
    rows = chosen.rows
    kernels = bind_all(estimator._kernels(X), chosen.typical, rng)
    if rank is None:
        return bound_landmarks(estimator, kernels, rows, some_rows(X, rng))
    features = features_for(estimator, kernels, rows)
    features = {name: part.with_rank(rank, X) for name, part in features.items()}
    return _judged(rows, features, some_rows(X, rng))


def bound_landmarks(
    estimator: Any, kernels: dict[str, Kernel], rows: Any, probes: Any
) -> Landmarks:
    """Landmarks with all their features; ``probes`` are rows to judge them by."""
    return _judged(rows, features_for(estimator, kernels, rows), probes)


def features_for(
    estimator: Any, kernels: dict[str, Kernel], rows: Any
) -> dict[str, LandmarkFeatures]:
    """The features that landmarks give for each kernel."""
    if estimator.center and not sp.issparse(rows):
        kernels = {name: _about(kernel, rows) for name, kernel in kernels.items()}
    return {
        name: landmark_features(kernel, rows, center=estimator.center)
        for name, kernel in kernels.items()
    }


def _judged(rows: Any, features: dict[str, LandmarkFeatures], probes: Any) -> Landmarks:
    kernels = {name: part.kernel for name, part in features.items()}
    lost = [part.lost_share(probes) for part in features.values()]
    return Landmarks(rows, kernels, features, float(np.mean(lost)))


def some_rows(X: Any, rng: np.random.Generator) -> Any:
    """A sample of the rows, for what need not be known of all of them."""
    n = X.shape[0]
    return X[np.sort(rng.choice(n, min(N_PROBES, n), replace=False))]
