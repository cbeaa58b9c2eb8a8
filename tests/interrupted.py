"""Long jobs that wait for Ctrl-C, done as they are asked for; see the test of it."""

import json
import signal
import sys
import threading
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from graphfold import FastRobustGraphPCA, Graph, GraphKernelPCA
from graphfold.kernels import landmarks
from graphfold.neighbors import cells, find_neighbors, search
from graphfold.operators import Dense, TiledKernel
from graphfold.progress import shown
from graphfold.quality import graph_gain
from graphfold.threads import blas

rng = np.random.default_rng(0)
X = rng.standard_normal((1200, 20))


def slowed(owner, name, seconds):
    """A step of a loop takes so long that no loop ends before it is interrupted."""
    quick = getattr(owner, name)

    def slow(*arguments, **settings):
        time.sleep(seconds)
        return quick(*arguments, **settings)

    setattr(owner, name, slow)


def fit_exact(model):
    slowed(Dense, "apply", 1.0)
    model.fit(X[:1100])


def fit_landmarks(model):
    slowed(landmarks.LandmarkFeatures, "_fill", 0.2)
    landmarks.BLOCK = 4
    model.set_params(landmarks=50).fit(X)


def fit_robust(model):
    model.fit(X)


def product(_):
    def block(A, B):
        time.sleep(0.1)
        return A @ B.T

    with shown(1, "product"):
        kernel = TiledKernel(block, X, np.ones(len(X)), strip=32)
        kernel.apply(np.ones((len(X), 2)))


def search_exact(_):
    slowed(NearestNeighbors, "kneighbors", 1.0)
    search._BLOCK_NUMBERS = 1
    find_neighbors(np.vstack([X] * 20), 5, search="exact", verbose=1)


def search_cells(_):
    slowed(cells, "_around", 0.5)
    find_neighbors(np.vstack([X] * 5), 5, search="approximate", verbose=1)


def monte_carlo(_):
    ring = Graph([(i, (i + 1) % len(X)) for i in range(len(X))])
    graph_gain(X, ring, n_copies=10**6, verbose=1)


JOBS = {
    "exact": (fit_exact, GraphKernelPCA(3, verbose=1).fit(X[:50])),
    "landmarks": (fit_landmarks, GraphKernelPCA(3, verbose=1).fit(X[:50])),
    "robust": (
        fit_robust,
        FastRobustGraphPCA(2, tol=0, max_iter=10**9, verbose=1),
    ),
    "product": (product, None),
    "exact search": (search_exact, None),
    "search in cells": (search_cells, None),
    "Monte Carlo": (monte_carlo, None),
}


def state():
    threads = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
    return [threads, threading.active_count()]


if __name__ == "__main__":
    # whoever started this may have told it to ignore the signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    blas()
    with threadpool_limits(2):
        for line in sys.stdin:
            job, model = JOBS[line.strip()]
            before, own = state(), dict(vars(model)) if model is not None else {}
            held = None
            try:
                job(model)
            except KeyboardInterrupt as error:
                held = error  # as sys.last_value does
            now = vars(model) if model is not None else {}
            same = now.keys() == own.keys()
            same &= all(now[k] is own[k] for k in own if k != "landmarks")
            clean = {
                "interrupted": held is not None,
                "same threads": state() == before,
                "same model": bool(same),
            }
            print(json.dumps(clean), flush=True)
