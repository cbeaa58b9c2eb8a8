"""What terms tell without being solved: names, bounds, precision; and their solves."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import Graph, kernels, responses
from graphfold.graphs import laplacian
from graphfold.model import inverse, strength, terms
from graphfold.model.problem import Problem
from graphfold.model.terms import Term, graph_term, kernel_term
from graphfold.operators import Dense

X = np.random.default_rng(0).standard_normal((14, 3))
RING = laplacian(Graph([(i, (i + 1) % 14) for i in range(14)]))
RNG = np.random.default_rng(0)


def of_graph(response, L=RING, **more):
    how = {"n_components": 2, "rng": np.random.default_rng(0), **more}
    return graph_term(L, response, **how).base


@pytest.mark.parametrize(
    ("kernel", "table", "how"),
    [
        (kernels.Gaussian(1.0), X, {}),
        (kernels.Linear(), X, {}),
        (kernels.Precomputed(), X @ X.T, {}),
        (kernels.Precomputed(), sp.csr_array(X @ X.T), {}),
        (kernels.LocallyLinear(4), X, {}),
    ],
    ids=["stored", "low-rank", "given", "sparse", "local"],
)
def test_a_kernel_is_called_k(kernel, table, how):
    assert kernel_term(kernel, table, **how).operator.describe() == "K"


def test_functions_of_a_graph_are_called_by_its_laplacian(monkeypatch):
    assert of_graph(None).describe() == "-1 * L"
    bandlimited, diffusion = responses.Bandlimited(1, 2.0), responses.Diffusion(2.0)
    assert of_graph(bandlimited).describe() == "r(L)"
    monkeypatch.setattr(terms, "SMALL_BASIS", 5)
    assert of_graph(bandlimited).describe() == "r(L)"
    assert of_graph(diffusion).describe() == "r(L)"
    monkeypatch.setattr(terms, "LARGER_THAN_CACHE", 14)
    assert "r(L)" in of_graph(diffusion).describe()
    shifted = Term("t", Dense(np.eye(2), name="K"), shift=1.5).operator
    assert shifted.describe() == "1.5 I + K"


def test_bounds_are_known_without_solving():
    assert of_graph(None).bounds() == (-2.0, 0.0)
    single = of_graph(None, dtype=np.float32)
    assert (single.bounds(), single.dtype) == ((-2.0, 0.0), np.float32)
    for tiled in (False, True):
        positive = kernel_term(kernels.Gaussian(1.0), X, tiled=tiled, strip=5).base
        assert positive.bounds()[0] == 0.0
        signed = kernel_term(kernels.Sigmoid(1.0, 0.0), X, tiled=tiled, strip=5).base
        assert signed.bounds()[0] < 0.0
    several = {"a": kernels.Gaussian(1.0), "b": kernels.Gaussian(2.0)}
    for term in terms.kernel_terms(several, X):
        assert term.base.bounds()[0] == 0.0
        assert term.base.describe() == "K"


def test_tiles_are_as_large_as_asked_for(monkeypatch):
    made = []
    original = terms.TiledKernel

    def spy(*arguments, **how):
        made.append(how)
        return original(*arguments, **how)

    monkeypatch.setattr(terms, "TiledKernel", spy)
    kernel_term(kernels.Gaussian(1.0), X, tiled=True, strip=7)
    terms.kernel_terms({"a": kernels.Gaussian(1.0)}, X, tiled=True, strip=9)
    assert [how["strip"] for how in made] == [7, 9]
    assert made[0]["bounds"] == (0.0, np.inf)
    assert made[0]["tiles"] is not None


def names_of_solves(module, monkeypatch):
    told = []
    original = module.top_eigenpairs

    def spy(operator, d, **how):
        told.append((how.get("name"), how))
        return original(operator, d, **how)

    monkeypatch.setattr(module, "top_eigenpairs", spy)
    return told


def test_solves_on_the_way_have_names_and_the_same_numbers(monkeypatch):
    told = names_of_solves(terms, monkeypatch)
    rng = np.random.default_rng(0)
    signed = Term("k", Dense(np.diag([3.0, 1.0, -2.0])))
    terms.negative_part(signed, center=False, rng=rng)
    assert [name for name, _ in told] == ["sign of the kernel"] * 2
    for _, how in told:
        assert (how["solver"], how["tol"], how["rng"]) == ("krylov", 1e-6, rng)
    told.clear()
    terms.low_eigenvalues(RING, 2, rng)
    terms.low_eigenvalue(RING, 2, rng)
    assert {name for name, _ in told} == {"eigenvectors of the graph"}
    assert all(how["rng"] is rng for _, how in told)
    assert {how["solver"] for _, how in told} == {"auto"}
    told.clear()
    tight = laplacian(Graph([(i, i + 1) for i in range(13)]), "combinatorial")
    terms.largest_eigenvalue(tight, responses.RandomWalk(3.99), rng)
    ((name, how),) = told
    assert name == "largest eigenvalue of the graph"
    assert how["rng"] is rng
    told.clear()
    monkeypatch.setattr(terms, "SMALL_BASIS", 5)
    of_graph(responses.Bandlimited(1, 2.0), rng=rng)
    assert told[-1][1]["rng"] is rng
    monkeypatch.setattr(terms, "SMALL_BASIS", 50)
    of_graph(responses.Bandlimited(1, 2.0))
    assert told[-1][1]["solver"] == "lapack"


def test_the_size_of_a_kernel_has_a_name(monkeypatch):
    told = names_of_solves(strength, monkeypatch)
    problem = Problem((kernel_term(kernels.Gaussian(1.0), X),), (1.0,))
    strength.data_scale(problem, 3)
    assert told[0][0] == "size of the kernel"
    assert problem.solve(2).vectors.shape == (14, 2)


@pytest.mark.parametrize("small", [5, 1000])
def test_local_weights_have_a_spectrum(small, monkeypatch):
    told = names_of_solves(inverse, monkeypatch)
    monkeypatch.setattr(inverse, "SMALL_BASIS", small)
    rng = np.random.default_rng(0)
    T = kernels.LocallyLinear(4).inverse_factor(X)
    operator, _ = inverse.kernel_of(T, 2, rng)
    assert {name for name, _ in told} == {"spectrum of the local weights"}
    first, last = told[0][1], told[-1][1]
    assert (first["tol"], first["rng"]) == (1e-2, rng)
    assert last["avoid"].shape == (14, 1)
    if small == 5:
        assert (last["tol"], last["rng"]) == (1e-12, rng)
    else:
        assert last["solver"] == "lapack"
        assert operator.describe() == "K"


def test_problems_are_solved_under_a_name_and_can_be_stopped(monkeypatch):
    from graphfold.model import problem as module

    told = names_of_solves(module, monkeypatch)
    Problem((kernel_term(kernels.Gaussian(1.0), X),), (1.0,)).solve(2, solver="lapack")
    ((name, how),) = told
    assert (name, how["stoppable"], how["solver"]) == ("solving", True, "lapack")
