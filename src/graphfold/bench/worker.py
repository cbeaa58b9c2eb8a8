"""One method on one table, in a process of its own: ``python -m`` this, a request."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

from graphfold.bench.data import rows_of
from graphfold.bench.methods import METHODS

#: rows of a first fit that is not timed
WARM_UP = 100


def timed(method: str, rows: int, components: int, path: str | None) -> dict[str, Any]:
    """Seconds of ``fit_transform``, and MB that the process took beyond its data."""
    X = rows_of(path, rows)
    make = METHODS[method].make
    few = X[: max(WARM_UP, components + 1)]
    make(few, components).fit_transform(few)  # what is imported or compiled first is
    model = make(X, components)
    before = _highest()
    started = time.perf_counter()
    model.fit_transform(X)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak_mb": _highest() - before}


def _highest() -> float:
    """The most memory that this process has had so far, in MB; 0 where none tells."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(timed(**json.loads(sys.argv[1]))))
