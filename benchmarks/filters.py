"""r_dagger(L) times a block by Chebyshev polynomials, against PyGSP's filter.

Heat on the normalised Laplacian of a 10-NN graph, degree 30 on both sides, seconds
per edge and column. Ours orders the rows so that neighbours lie near each other; that
is done once for a graph, and shown apart. What degree 30 leaves out is bounded, and
measured against a polynomial of degree 200.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.polynomial import chebyshev

from benchmarks.forest import inputs
from benchmarks.harness import at_most, median, run_alternating, save

HERE = "benchmarks.filters"
SMALL, LARGE = 100_000, 1_000_000
DEGREE, COLUMNS, SCALE = 30, 10, 30.0  # heat: exp(-SCALE lambda / 2), lambda <= 2


def heat(eigenvalues):
    from graphfold import responses

    return responses.Diffusion(SCALE).r_dagger(np.asarray(eigenvalues))


def block(n: int, columns: int, dtype: str) -> np.ndarray:
    V = np.random.default_rng(0).standard_normal((n, columns)).astype(dtype)
    return V if columns > 1 else V[:, 0]


def tolerance_of(operator, degree: int) -> float:
    """The tolerance for which ChebyshevFunction takes this degree, by bisection."""
    from graphfold.operators import ChebyshevFunction

    low, high = -16.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        p = ChebyshevFunction(operator, heat, tol=10**middle)
        if p.degree == degree:
            return 10**middle
        low, high = (middle, high) if p.degree > degree else (low, middle)
    raise RuntimeError(f"no tolerance gives degree {degree}")


def ours(n: int, columns: int, dtype: str, check: bool = False):
    from graphfold import Graph
    from graphfold.graphs import laplacian
    from graphfold.operators import ChebyshevFunction, Reordered, with_neighbours_near

    _, A = inputs(n, "plain")
    L = laplacian(Graph(A), dtype=np.dtype(dtype)).operator
    V = block(n, columns, dtype)
    tol = tolerance_of(L, DEGREE)
    # once for each graph, as in a fit; both sides have their Laplacian ready
    start = time.perf_counter()
    ordered, order = with_neighbours_near(L)
    ordering = time.perf_counter() - start

    def run():
        p = ChebyshevFunction(ordered, heat, tol=tol)
        product = Reordered(p, order).apply(V)
        facts = {"edges": A.nnz // 2, "degree": p.degree, "bound": p.error_bound}
        facts["ordering_seconds"] = ordering

        def later():
            gap = np.linalg.norm(product - reference(L.matrix, V), axis=0)
            return {"residual": float((gap / np.linalg.norm(V, axis=0)).max())}

        return facts | ({"later": later} if check else {})

    return run


def reference(matrix, V, degree: int = 200) -> np.ndarray:
    """The interpolant of degree 200, by a recurrence written apart from the library."""
    c = chebyshev.chebinterpolate(lambda x: heat(1 + x), degree)
    older, newer = V, matrix @ V - V
    product = c[0] * older + c[1] * newer
    for coefficient in c[2:]:
        older, newer = newer, 2 * (matrix @ newer - newer) - older
        product += coefficient * newer
    return product


def pygsp(n: int, columns: int):
    from pygsp import filters, graphs

    _, A = inputs(n, "plain")
    G = graphs.Graph(A.astype(np.float64), lap_type="normalized")
    G._lmax = 2.0  # a bound as certain as ours, and no eigenproblem on its clock
    # its Heat is exp(-scale lambda / lmax)
    g = filters.Heat(G, scale=SCALE)
    V = block(n, columns, "float64")

    def run():
        product = g.filter(V, method="chebyshev", order=DEGREE)

        def later():
            gap = np.linalg.norm(product - reference(G.L, V), axis=0)
            return {"residual": float((gap / np.linalg.norm(V, axis=0)).max())}

        return {"edges": A.nnz // 2, "later": later}

    return run


def per_edge(runs: list[dict], columns: int) -> float:
    """Nanoseconds per edge, column and degree; nan when nothing ran."""
    edges = median(runs, "edges")
    return 1e9 * median(runs) / (edges * columns * DEGREE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", type=int, default=LARGE)
    parser.add_argument("--small", type=int, default=SMALL)
    arguments = parser.parse_args()
    small, large = arguments.small, arguments.large
    for n in (small, large):
        inputs(n, "plain")
    cases = {}
    for columns in (1, COLUMNS):
        text = f"{columns} column" + "s" * (columns > 1)
        both = {"columns": columns, "dtype": "float64"}
        cases |= {
            f"{large:,} graphfold, {text}": (HERE, "ours", {"n": large, **both}),
            f"{small:,} graphfold, {text}": (
                HERE,
                "ours",
                {"n": small, "check": True, **both},
            ),
            f"{small:,} PyGSP, {text}": (
                HERE,
                "pygsp",
                {"n": small, "columns": columns},
            ),
        }
    cases[f"{large:,} graphfold, {COLUMNS} columns, float32"] = (
        HERE,
        "ours",
        {"n": large, "columns": COLUMNS, "dtype": "float32"},
    )
    runs = run_alternating(cases, arguments.repeats, timeout=600, keep="filters")
    for name, found in runs.items():
        columns = 1 if "1 column" in name and "10 columns" not in name else COLUMNS
        print(f"{name}: {per_edge(found, columns):.2f} ns per edge, column and degree")
    trial = (small, large) != (SMALL, LARGE)
    save("filters", runs, claims_of(runs, small, large), trial=trial)


def claims_of(runs: dict, small: int, large: int) -> list[dict]:
    claims = []
    for columns in (1, COLUMNS):
        text = f"{columns} column" + "s" * (columns > 1)
        us, peer = (
            runs[f"{large:,} graphfold, {text}"],
            runs[f"{small:,} PyGSP, {text}"],
        )
        value = per_edge(us, columns) / per_edge(peer, columns)
        claims.append(
            at_most(f"{text}: us at {large:,} / PyGSP at {small:,}, per edge", value, 1)
        )
    us, peer = (
        runs[f"{large:,} graphfold, {COLUMNS} columns"],
        runs[f"{small:,} PyGSP, {COLUMNS} columns"],
    )
    share = 1 + median(us, "ordering_seconds") / median(us)
    value = share * per_edge(us, COLUMNS) / per_edge(peer, COLUMNS)
    claims.append(
        at_most(f"{COLUMNS} columns, the ordering of the graph too", value, 1)
    )
    checked = runs[f"{small:,} graphfold, {COLUMNS} columns"]
    # rounding of 200 products comes on top of what the polynomial leaves out
    bound = median(checked, "bound")
    difference = median(checked, "residual")
    text = f"true error {difference:.1e} / its bound {bound:.1e} and rounding"
    claims.append(at_most(text, difference / (bound + 1e-13), 1))
    return claims


if __name__ == "__main__":
    main()
