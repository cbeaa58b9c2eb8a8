"""Model files with one part changed: refused in one sentence, or as good as any.

``python -m tests.trust.parsers.model_changes`` tries all two hundred thousand of them;
here it is one in some hundreds, spread over all parts of all models.
"""

import io

import numpy as np
import pytest

import graphfold
from graphfold.errors import ModelFileError
from tests.trust.examples import TIMES
from tests.trust.ledger import tried
from tests.trust.parsers.model_changes import Change, content_of, every, outcomes
from tests.trust.parsers.saved_models import cases, saved, whole

#: a prime, so that every part and every kind of change has its turn
STEP = 499

_KERNEL = ("state", "dict", "kernel_", "params", "dict")
_EXTENSION = ("state", "dict", "_extension", "fields", "dict")
_DATA = (*_EXTENSION, "data", "fields", "dict")
_FIRST = (*_DATA, "expansions", 0, "fields", "dict")
_OF_FIRST = (*_FIRST, "kernel", "params", "dict")
_SHARE = (
    "state",
    "dict",
    "_extension",
    "fields",
    "dict",
    "graphs",
    0,
    "fields",
    "dict",
)
_SOURCE = ("state", "dict", "_sources", "dict", "graph")
#: what loaded, and then failed or did not end
KNOWN = {
    "a geodesic kernel with other ways": [
        Change("geodesic", (*_OF_FIRST, "ways", "csr", 1), kind)
        for kind in ("zeros", "reversed", "the same", "a negative", "single")
    ],
    "a geodesic kernel without ways": [
        Change("geodesic", (*_OF_FIRST, name), kind)
        for name in ("ways", "rows", "n_neighbors", "metric", "n_jobs")
        for kind in ("none", "huge", "text", "matrix", "table", "minus one", "missing")
    ],
    "threads beyond number": [
        Change("locally linear", (*_SOURCE, "params", "dict", "n_jobs"), "huge"),
        Change("local", ("params", "dict", "n_jobs"), "huge"),
    ],
    "a kernel with a rule in the place of a number": [
        Change("rbf", (*_OF_FIRST, "gamma"), kind)
        for kind in ("none", "text", "minus one", "nan", "list", "texts")
    ],
    "weights of other rows": [
        Change("rbf", (*_FIRST, name), kind)
        for name in ("W", "X")
        for kind in ("shorter", "transposed", "as texts", "dates", "a nan", "none")
    ],
    "degrees of other nodes": [
        Change("plain graph", (*_SHARE, name), kind)
        for name in ("degrees", "RV", "energies", "trivial", "weight", "name")
        for kind in ("longer", "complex", "text", "none", "deeper")
    ],
    "a graph that is none": [
        Change("labelled graph", place, kind)
        for place in (_SOURCE, ("state", "dict", "graph_"))
        for kind in ("infinite", "true", "text", "kernel", "no dict", "missing")
    ],
    "a preimage of other rows": [
        Change(
            "labelled graph",
            ("state", "dict", "_preimage", "fields", "dict", name),
            kind,
        )
        for name in ("embedding", "coefficients", "kernel")
        for kind in ("deeper", "shorter", "none", "table", "missing")
    ],
    "a stream whose batches do not fit": [
        Change("stream", ("state", "dict", "_stream", "fields", "dict", name), kind)
        for name in ("blocks", "classes", "numbers", "labels", "edges", "n_batches")
        for kind in ("none", "no list", "huge", "minus one", "numbers", "no dict")
    ],
    "a mode with other columns": [
        Change("blocks", ("state", "dict", "_modes", 0, "fields", "dict", name), kind)
        for name in ("columns", "scale", "means", "kind", "name", "categories")
        for kind in ("none", "huge", "zeros", "shorter", "text", "a huge")
    ],
    "a robust model of other rows": [
        Change("robust", ("state", "dict", name), kind)
        for name in ("_X_fit", "mean_", "components_", "_scales", "embedding_")
        for kind in ("shorter", "as texts", "none", "transposed", "flags")
    ],
    "no state at all": [
        Change(name, ("state",), "no dict") for name in ("rbf", "modes", "robust")
    ],
    "parameters that no fit takes": [
        Change("linear", ("params", "dict", name), kind)
        for name in ("n_components", "laplacian", "scaling", "solver", "verbose")
        for kind in ("rule", "minus one", "nan", "list")
    ],
}


def _tried(changes, what):
    found = list(outcomes(changes))
    failed = [str(one) for one in found if one.what == "failed"]
    assert not failed
    tried("parsers", "models", what, len(found))
    return found


@pytest.mark.parametrize("changes", KNOWN.values(), ids=KNOWN)
def test_parts_that_do_not_fit_are_refused_when_a_model_is_loaded(changes):
    found = _tried(changes, "changed parts")
    assert sum(one.what == "refused" for one in found) > len(found) / 2


def test_a_model_with_one_part_changed_is_refused_or_works():
    found = _tried(every(max(1, STEP // TIMES)), "changed parts")
    refused = [one for one in found if one.what == "refused"]
    assert len(refused) > len(found) / 2
    assert all(one.said.startswith("<") for one in refused)  # the file is named


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", cases())
def test_a_sound_model_loads_and_answers(name):
    parts = saved(name)
    placed = graphfold.load(io.BytesIO(whole(name))).transform(
        parts.fit_rows, **parts.settings
    )
    assert np.isfinite(placed).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Change("rbf", (*_FIRST, "W"), "shorter"), r"Expansion\.W does not fit X"),
        (Change("rbf", (*_FIRST, "W"), "a nan"), r"W has NaN or infinity"),
        (Change("rbf", ("state", "dict", "_scales"), "missing"), "it has no _scales"),
        (Change("rbf", ("params", "dict", "solver"), "text"), "solver must be one of"),
        (Change("rbf", (*_KERNEL, "gamma"), "minus one"), "gamma must be at least 0"),
    ],
)
def test_the_sentence_says_what_does_not_fit(change, sentence):
    content = content_of(change)
    with pytest.raises(ModelFileError, match=sentence):
        graphfold.load(io.BytesIO(content))
