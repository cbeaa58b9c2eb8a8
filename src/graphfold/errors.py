"""Errors and warnings by name, so that trouble can be caught, filtered and looked up.

Every message says which argument is meant, what is allowed, what came and what to do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphfold.progress import make_room


class GraphfoldError(ValueError):
    """An argument that cannot be used; the message names it and the remedy."""


class GraphError(GraphfoldError):
    """A graph that cannot be used: weights, size, or no edges at all."""


class LabelError(GraphError):
    """Rows of X and nodes of the graph that cannot be matched by label."""


class ResponseError(GraphfoldError):
    """A graph response that is not defined on the spectrum of this graph."""


class KernelError(GraphfoldError):
    """A kernel that does not give a finite symmetric matrix."""


class ConstraintError(GraphfoldError):
    """Links that contradict each other, or that name no row."""


class ModeError(GraphfoldError):
    """A mode without columns, a sample without modes, or values a mode cannot have."""


class BudgetError(GraphfoldError):
    """No way of solving fits into ``max_memory``."""


class ConvergenceError(GraphfoldError):
    """No solver came near an eigenvector; the message says how far it came."""


class ModelFileError(GraphfoldError):
    """A model that cannot be saved, or a file that is not a graphfold model."""


class FileError(GraphfoldError):
    """A file that cannot be read or written; the message says where it is wrong."""


class ClusterError(GraphfoldError):
    """A Dask cluster that has no workers left, or lost what it was working on."""


class PackageError(GraphfoldError):
    """An optional package is missing; the message says how to install it."""


class GraphfoldWarning(UserWarning):
    """Base of all graphfold warnings."""


class DegenerateKernelWarning(GraphfoldWarning):
    """The kernel matrix is close to the identity or to a constant."""


class IndefiniteKernelWarning(GraphfoldWarning):
    """A kernel has negative eigenvalues; what it cannot say positively is left out."""


class MissingLabelsWarning(GraphfoldWarning):
    """Labels or pairs that ask for nothing; the answer is without that term."""


class DisconnectedGraphWarning(GraphfoldWarning):
    """The graph falls into many parts; the kernel alone places them."""


class WeakSpectrumWarning(GraphfoldWarning):
    """Some components carry no kernel energy, so their scale is zero."""


class UnlabelledRowsWarning(GraphfoldWarning):
    """Rows without labels that say which nodes they are, so their edges are unknown."""


class UnknownRowsWarning(GraphfoldWarning):
    """Edges or pairs of a file name rows that the data do not have."""


class IgnoredColumnsWarning(GraphfoldWarning):
    """Columns of a table of edges, or attributes of edges, that are not used."""


class DuplicateEdgesWarning(GraphfoldWarning):
    """Edges listed several times, or in both directions, with different weights."""


class DroppedEdgesWarning(GraphfoldWarning):
    """Edges without an end or a weight were dropped, as ``dropna=True`` asks."""


class UnusedGraphWarning(GraphfoldWarning):
    """``graph_strength="auto"`` chose 0: the graph has no part in the embedding."""


class SignedGraphWarning(GraphfoldWarning):
    """The graph has negative weights: its Laplacian is not positive semi-definite."""


class SplitMultipletWarning(GraphfoldWarning):
    """A cut fell inside a group of equal eigenvalues and was moved to its end."""


class UnderdeterminedWarning(GraphfoldWarning):
    """Fewer equations than coefficients: the penalty chooses among many answers."""


class NullDirectionsWarning(GraphfoldWarning):
    """Directions that neighbours reconstruct exactly; a pseudo-inverse drops them."""


class DriftWarning(GraphfoldWarning):
    """The newest rows of a stream are not like those that the landmarks have seen."""


class LandmarksChosenWarning(GraphfoldWarning):
    """A budget left no room for the exact problem, so landmarks were used."""


class ExactSearchWarning(GraphfoldWarning):
    """All pairs of many rows are compared: no approximate search serves them."""


# -- warnings that are remembered ----------------------------------------------

#: (category, message) of each warning, inside of ``noticed``
_noticed: ContextVar[list[tuple[str, str]] | None] = ContextVar("noticed", default=None)
#: who is not meant when a warning points to a line
_NOT_THE_CALLER = ("graphfold", "sklearn", "joblib")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called graphfold; a fit under way remembers it.

    However deep the call: frames of graphfold, and of scikit-learn around it, are
    passed over. Remembered whatever the warning filters say.
    """
    found = _noticed.get()
    if found is not None:
        found.append((category.__name__, message))
    make_room()
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in _NOT_THE_CALLER


@contextmanager
def noticed() -> Iterator[list[tuple[str, str]]]:
    """The warnings that ``warn`` gives inside of the block, in this thread alone."""
    found: list[tuple[str, str]] = []
    token = _noticed.set(found)
    try:
        yield found
    finally:
        _noticed.reset(token)
