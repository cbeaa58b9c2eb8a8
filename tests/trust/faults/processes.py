"""Fits in a parent and in its children: by fork, by spawn, by joblib's loky.

``python -m tests.trust.faults.processes KIND`` says what came of it.
"""

import json
import multiprocessing
import sys
import threading
import warnings

import numpy as np
from sklearn.base import clone

from graphfold import threads
from tests.trust.faults.models import MODELS, X, fit

SECONDS = 120
#: exact, landmarks in blocks, and one with workers of its own
NAMES = ["GraphKernelPCA", "GraphKernelPCA, landmarks", "FastRobustGraphPCA"]
#: many rows, so that threads are used where there are some
MANY = np.random.default_rng(1).standard_normal((1500, 8))


def answer(name):
    warnings.simplefilter("ignore")
    model = clone(MODELS[name])
    if name == "GraphKernelPCA, landmarks":
        model.set_params(graph=None)
        return model.fit(MANY).embedding_.tolist()
    return fit(model).transform(X[:5]).tolist()


def in_pool(how):
    context = multiprocessing.get_context(how)
    with context.Pool(2) as pool:
        return pool.map_async(answer, NAMES).get(timeout=SECONDS)


def in_loky():
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=2, timeout=SECONDS, backend="loky")
    return parallel(delayed(answer)(name) for name in NAMES)


def fork_while_locked():
    """A child that is made while another thread holds the lock of the threads."""
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with threads._lock:
            entered.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait()
    try:
        return in_pool("fork")
    finally:
        leave.set()
        holder.join()


KINDS = {
    "fork": lambda: in_pool("fork"),
    "fork while a lock is held": fork_while_locked,
    "spawn": lambda: in_pool("spawn"),
    "loky": in_loky,
}


if __name__ == "__main__":
    serial = [answer(name) for name in NAMES]  # a fit in the parent comes first
    found = {}
    for kind in sys.argv[1:]:
        parts = zip(KINDS[kind](), serial, strict=True)
        gaps = [float(np.abs(np.subtract(a, b)).max()) for a, b in parts]
        found[kind] = gaps
    print(json.dumps(found))
