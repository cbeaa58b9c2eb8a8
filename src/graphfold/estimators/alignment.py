"""What ``align_to=`` means: which rows of two embeddings are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate


def refuse_other_references(align_to: Any) -> None:
    """Raise unless ``align_to`` is a fitted estimator or a table of numbers."""
    if hasattr(align_to, "get_params") and not hasattr(align_to, "embedding_"):
        raise GraphfoldError(
            "align_to must be fitted; clone, and a search that clones, takes that "
            "away: pass its embedding_ as a DataFrame with labels as its index"
        )
    embedding = getattr(align_to, "embedding_", align_to)
    allowed = "a fitted estimator, or an array or DataFrame of its embedding"
    check.refuse_other_objects("align_to", embedding, allowed)
    check.refuse_odd_columns("align_to", embedding)


def reference_for(align_to: Any, Z: Array, labels: Array | None) -> tuple[Array, Array]:
    """Rows of Z and the rows of the reference that they should lie near to.

    An array has a row for each row of the fit. A fitted estimator, or a DataFrame, is
    met by label where both have distinct labels: the rows that both know are compared.
    """
    embedding = getattr(align_to, "embedding_", align_to)
    theirs = getattr(align_to, "_row_labels", None)
    if hasattr(align_to, "iloc"):
        theirs = as_labels(align_to.index)
    reference = np.asarray(embedding, dtype=np.float64)
    if reference.ndim != 2 or reference.shape[1] != Z.shape[1]:
        raise GraphfoldError(
            f"align_to must be a fitted estimator or an array with the {Z.shape[1]} "
            f"columns of the embedding; got shape {reference.shape}"
        )
    if not np.isfinite(reference).all():
        raise GraphfoldError("align_to must be finite; it contains NaN or infinity")
    distinct = all(
        part is not None and first_duplicate(part) is None for part in (labels, theirs)
    )
    if labels is not None and theirs is not None and distinct:
        where = LabelIndex(theirs).find(labels)
        common = np.flatnonzero(where >= 0)
        if len(common) < Z.shape[1]:
            raise GraphfoldError(
                f"align_to must share at least {Z.shape[1]} labels with the rows of "
                f"the fit; it shares {len(common)}"
            )
        return Z[common], reference[where[common]]
    if len(reference) != len(Z):
        raise GraphfoldError(
            f"align_to must have one row for each of the {len(Z)} rows of the fit, or "
            f"be an estimator with labels as the fit has; got {len(reference)} rows"
        )
    return Z, reference
