"""Residuals, angles and rounds of ``solver="auto"`` over kinds of problems.

    GRAPHFOLD_DATA=... python -m benchmarks.solver_table [--sets Cora MNIST] [--write]

Both precisions; rows dense, sparse and as a Gaussian kernel; the penalty and every
response in both forms; Cora, MNIST, osmFISH, graphs of many parts, stars and paths;
clustered spectra. The reference is LAPACK on the same problem in double precision up to
4,000 rows, beyond it our own answer in double precision with ``tol=1e-11``. An angle is
that of the leading subspace at the widest gap among the last third of the components:
between nearly equal eigenvalues no angle is defined. ``--write`` puts the table into
docs/solvers.md and the numbers into benchmarks/results/solver_table.json; sets that are
not asked for keep the rows they have there.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import subspace_angles

from graphfold import Graph, GraphKernelPCA, NeighborGraph, responses
from graphfold.datasets import load_cora, load_mnist
from graphfold.datasets.files import data_file
from graphfold.operators import Dense
from graphfold.solvers import top_eigenpairs

LARGEST_REFERENCE = 4000
RESPONSES = {
    "-L": None,
    "Diffusion": responses.Diffusion(5.0),
    "Diffusion, penalty": responses.Diffusion(2.0, form="penalty"),
    "RandomWalk": responses.RandomWalk(2.0, 3),
    "RandomWalk, penalty": responses.RandomWalk(2.5, 2, form="penalty"),
    "RegularizedLaplacian": responses.RegularizedLaplacian(5.0),
    "RegularizedLaplacian, penalty": responses.RegularizedLaplacian(
        5.0, form="penalty"
    ),
    "Bandlimited": responses.Bandlimited(30, 10.0),
    "LowPass": responses.LowPass(0.7),
}
LARGE_RESPONSES = ("-L", "Diffusion", "RandomWalk", "RegularizedLaplacian, penalty")


class Case(NamedTuple):
    """One problem: rows, their graph, a response, how many components."""

    name: str
    X: Any
    graph: Graph
    response: str
    d: int
    kernel: str = "linear"
    strength: float = 1.0


class Row(NamedTuple):
    """What a fit of one case in one precision gave."""

    case: str
    n: int
    d: int
    response: str
    precision: str
    solver: str
    rounds: int
    residual: float
    orthogonality: float
    angle: float


def sets(limit: int) -> Iterator[tuple[str, Any, Graph, str]]:
    """Names, rows, graphs and kernels of the problems."""
    cora = load_cora()
    words = np.asarray(cora.data, dtype=float)
    words /= np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-12)
    citations = Graph(cora.graph.to_scipy())
    yield "Cora, sparse", sp.csr_array(words), citations, "linear"
    yield "Cora, dense", words, citations, "linear"
    pixels = load_mnist().data / 255.0
    for n in (300, 2000, 5000, 20_000):
        if n <= limit:
            X = pixels[:n]
            yield f"MNIST {n}, Gaussian", X, NeighborGraph(10).build(X), "rbf"
            yield f"MNIST {n}, linear", X, NeighborGraph(10).build(X), "linear"
    with np.load(data_file("osmfish")) as file:
        genes, places = np.log1p(file["X"].astype(float)), file["xy"]
    yield "osmFISH, Gaussian", genes, NeighborGraph(6).build(places), "rbf"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    yield "many parts", X, Graph([(i, i ^ 1) for i in range(2000)]), "rbf"
    yield "star", X, Graph([(0, i) for i in range(1, 2000)]), "rbf"
    yield "path", X, Graph([(i, i + 1) for i in range(1999)]), "rbf"


def cases(limit: int) -> Iterator[Case]:
    """Every set with every response at 20 components, and -L at others."""
    for name, X, graph, kernel in sets(limit):
        n = X.shape[0]
        for response in RESPONSES:
            # beyond 6,000 rows a fit takes minutes, and these need a basis of the graph
            if n <= 6000 or response in LARGE_RESPONSES:
                yield Case(name, X, graph, response, 20, kernel)
        for d in (2, 10, 50, 64, 100) if n <= 6000 else (2, 100):
            if d <= n // 4:
                yield Case(name, X, graph, "-L", d, kernel)
        yield Case(name, X, graph, "-L", 20, kernel, 0.1)
        yield Case(name, X, graph, "-L", 20, kernel, 10.0)


def measure(case: Case) -> Iterator[Row]:
    """Both precisions of a case against one reference."""
    small = case.X.shape[0] <= LARGEST_REFERENCE
    how = {"solver": "lapack"} if small else {"tol": 1e-11}
    reference = _fit(case, np.float64, **how)
    for dtype in (np.float64, np.float32):
        model = _fit(case, dtype)
        V = np.asarray(model.eigenvectors_, dtype=float)
        cut = _widest_gap(np.asarray(reference.eigenvalues_, dtype=float))
        angles = subspace_angles(V[:, :cut], reference.eigenvectors_[:, :cut])
        strength = "" if case.strength == 1 else f", strength {case.strength:g}"
        yield Row(
            case=case.name + strength,
            n=case.X.shape[0],
            d=case.d,
            response=case.response,
            precision=np.dtype(dtype).name,
            solver=model.solver_,
            rounds=int(model.n_iter_),
            residual=float(np.max(model.residuals_)),
            orthogonality=float(np.abs(V.T @ V - np.eye(case.d)).max()),
            angle=float(np.degrees(angles.max())),
        )


def _fit(case: Case, dtype: Any, **how: Any) -> GraphKernelPCA:
    model = GraphKernelPCA(
        case.d,
        kernel=case.kernel,
        graph=case.graph,
        graph_strength=case.strength,
        response=RESPONSES[case.response],
        **how,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(case.X.astype(dtype))


def _widest_gap(values: np.ndarray) -> int:
    first = max(1, 2 * len(values) // 3)
    gaps = values[first - 1 : -1] - values[first:]
    return first + int(np.argmax(gaps)) if len(gaps) else len(values)


def clustered(n: int) -> Iterator[Row]:
    """Spectra of groups of nearly equal values, as matrices."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    for width in (1e-3, 1e-6, 0.0):
        values = np.repeat(np.arange(n // 10, 0, -1.0), 10)
        values = values + width * rng.standard_normal(len(values))
        A = (Q * values) @ Q.T
        for dtype in (np.float64, np.float32):
            for d in (10, 60, 100):
                M = Dense(((A + A.T) / 2).astype(dtype))
                pairs = top_eigenpairs(M, d)
                V = pairs.vectors.astype(float)
                yield Row(
                    f"groups of 10, {width:g} apart",
                    n,
                    d,
                    "none",
                    np.dtype(dtype).name,
                    pairs.solver,
                    pairs.n_iterations,
                    float(pairs.residuals.max()),
                    float(np.abs(V.T @ V - np.eye(d)).max()),
                    float(np.degrees(subspace_angles(V, Q[:, :d]).max())),
                )


def page(rows: list[Row]) -> str:
    """The worst of each set and precision, as a page."""
    lines = [
        "# Solvers: residuals and angles",
        "",
        '`solver="auto"` over kinds of problems, made by `GRAPHFOLD_DATA=... python -m '
        "benchmarks.solver_table --write`; every row of it is in "
        "`benchmarks/results/solver_table.json`. Each line is the worst of its "
        "problems: the penalty and every response at 20 components, -L at 2 to 100 "
        "components and at strengths 0.1, 1 and 10. The angle is in degrees, to LAPACK "
        "in double precision up to 4,000 rows, beyond it to an answer in double "
        "precision at a tighter tolerance, at the widest gap among the last third of "
        "the components. Beyond 6,000 rows a fit takes minutes, and fewer problems are "
        "measured: the column of fits says how many.",
        "",
        "| problem | n | precision | fits | residual | orthogonality | angle | rounds"
        " |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        key = (row.case.split(", strength")[0], row.n, row.precision)
        groups.setdefault(key, []).append(row)
    for (name, n, precision), part in groups.items():
        worst = [max(getattr(r, f) for r in part) for f in Row._fields[7:]]
        least, most = min(r.rounds for r in part), max(r.rounds for r in part)
        lines.append(
            f"| {name} | {n:,} | {precision} | {len(part)} | {worst[0]:.0e} | "
            f"{worst[1]:.0e} | {worst[2]:.1g} | {least} to {most} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="*", default=[""], help="beginnings of names")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    asked = tuple(arguments.sets)
    path = Path(__file__).parent / "results" / "solver_table.json"
    kept = json.loads(path.read_text()) if path.exists() else []
    rows = [Row(**row) for row in kept if not row["case"].startswith(asked)]
    for row in measured(arguments.rows, asked):
        rows.append(row)
        print(*row, sep=" | ", flush=True)
        if arguments.write:
            listed = ",\n".join(json.dumps(row._asdict()) for row in rows)
            path.write_text(f"[\n{listed}\n]\n")
    if arguments.write:
        (path.parents[2] / "docs" / "solvers.md").write_text(page(rows))


def measured(limit: int, asked: tuple[str, ...]) -> Iterator[Row]:
    """Rows of the sets whose names begin as asked."""
    for case in cases(limit):
        if case.name.startswith(asked):
            yield from measure(case)
    if "groups".startswith(asked):
        yield from clustered(1500)


if __name__ == "__main__":
    main()
