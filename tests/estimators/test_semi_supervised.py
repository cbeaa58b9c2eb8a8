"""Labels and pairs enter as the formula says, and are looked after in every fold."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import graphfold
from graphfold import (
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
)
from graphfold.errors import (
    ConstraintError,
    GraphfoldError,
    LabelError,
    MissingLabelsWarning,
)
from tests.helpers import (
    assert_same_up_to_sign,
    dense_laplacian,
    largest_angle,
    link_tables,
)

N = 60
LABELS = np.array([f"row{i}" for i in range(N)])
LETTER = {"normalize": False, "center": False, "laplacian": "combinatorial"}
MUST = [(0, 7), (7, 21), (30, 31)]
CANNOT = [(21, 30), (5, 40)]


@pytest.fixture
def codes(points, rng):
    """Three classes that the first two columns tell, two thirds of them unknown."""
    classes = (points[:, 0] > 1).astype(int) + (points[:, 1] > 1.5)
    return np.where(rng.random(N) < 0.35, classes, -1)


@pytest.fixture
def table(points):
    return pd.DataFrame(points, index=LABELS)


def by_name(pairs):
    return [(f"row{i}", f"row{j}") for i, j in pairs]


# -- the formula, with loops and LAPACK ------------------------------------------------


def continuous_tables(y):
    """The same for few continuous labels, each its own quantile."""
    known = y[~np.isnan(y)]
    spread = math.sqrt(sum((known - known.mean()) ** 2) / len(known))
    alike, unlike = np.zeros((len(y), len(y))), np.zeros((len(y), len(y)))
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j and not np.isnan(y[i] + y[j]):
                alike[i, j] = math.exp(-2 * ((y[i] - y[j]) / spread) ** 2)
                unlike[i, j] = 1 - alike[i, j]
    return alike, unlike


def gaussian(X, width):
    return np.exp(-width * cdist(X, X, "sqeuclidean"))


def median_width(X):
    squares = [
        float(((X[i] - X[j]) ** 2).sum()) for i in range(len(X)) for j in range(i)
    ]
    return 1 / (2 * float(np.median(squares)))


def letter_matrix(X, tables, strengths=(0.5, 0.5), graph=None, width=0.5):
    """M = K - g1 L_S + g2 L_D - L, with the strengths themselves."""
    M = gaussian(X, width)
    for A, sign, strength in zip(tables, (-1, 1), strengths, strict=True):
        M = M + sign * strength * dense_laplacian(A, "combinatorial")
    return M if graph is None else M - dense_laplacian(graph, "combinatorial")


def default_matrix(X, tables, strengths=(0.5, 0.5), graph=None, kind="normalized"):
    """P (K - g1 L_S + g2 L_D - g L) P, strengths in the size of the data."""
    P = np.eye(len(X)) - 1 / len(X)
    K = gaussian(X, median_width(X))
    top = np.linalg.eigvalsh(P @ K @ P)[-1]

    def size(A):
        return 1.0 if kind == "normalized" else max(A.sum(axis=1))

    M = K
    for A, sign, strength in zip(tables, (-1, 1), strengths, strict=True):
        if A.any():
            linked = sum(bool(row.any()) for row in A) / len(A)
            g = strength * top / size(A) * math.sqrt(linked)
            M = M + sign * g * dense_laplacian(A, kind)
    if graph is not None:
        M = M - top / size(graph) * dense_laplacian(graph, kind)
    return P @ M @ P


def assert_solves(model, M):
    """Its eigenpairs are LAPACK's top ones of M, which are well told from the rest."""
    values, vectors = np.linalg.eigh(M)
    # P M P has the constant vector with eigenvalue 0, which is kept out
    if model.center:
        constant = np.abs(vectors.sum(axis=0)) / math.sqrt(len(M)) > 1 - 1e-6
        values, vectors = values[~constant], vectors[:, ~constant]
    d = model.n_components
    values, vectors = values[::-1], vectors[:, ::-1]
    size = np.abs(values).max()
    assert values[d - 1] - values[d] > 1e-3 * size  # the subspace is well defined
    assert_allclose(model.eigenvalues_, values[:d], atol=1e-8 * size, rtol=0)
    assert largest_angle(model.eigenvectors_, vectors[:, :d]) < 1e-6


def neighbor_graph(points):
    graph = NeighborGraph(5).build(points)
    return graph, graph.to_scipy().toarray()


PAIRS = {
    "labels": ([], []),
    "labels and pairs": (MUST, CANNOT),
}


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("with_graph", [False, True])
def test_the_letter_equals_the_formula(points, codes, pairs, with_graph):
    must, cannot = pairs
    codes = np.where(np.isin(np.arange(N), np.ravel(MUST + CANNOT)), -1, codes)
    graph, A = neighbor_graph(points) if with_graph else (None, None)
    model = SemiSupervisedGraphKernelPCA(
        3, gamma=0.5, graph=graph, must_link=must, cannot_link=cannot, **LETTER
    ).fit(points, codes)
    M = letter_matrix(points, link_tables(codes, must, cannot), graph=A)
    assert_solves(model, M)


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("with_graph", [False, True])
def test_the_default_equals_the_formula(points, codes, pairs, with_graph):
    must, cannot = pairs
    codes = np.where(np.isin(np.arange(N), np.ravel(MUST + CANNOT)), -1, codes)
    graph, A = neighbor_graph(points) if with_graph else (None, None)
    model = SemiSupervisedGraphKernelPCA(
        2, graph=graph, must_link=must, cannot_link=cannot
    ).fit(points, codes)
    M = default_matrix(points, link_tables(codes, must, cannot), graph=A)
    assert_solves(model, M)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("strengths", [(0.2, 1.5), (1.0, 0.0), (0.0, 1.0)])
def test_strengths_and_laplacians(points, codes, kind, strengths):
    model = SemiSupervisedGraphKernelPCA(
        2,
        must_link_strength=strengths[0],
        cannot_link_strength=strengths[1],
        laplacian=kind,
    ).fit(points, codes)
    assert_solves(
        model, default_matrix(points, link_tables(codes), strengths, kind=kind)
    )


@pytest.mark.parametrize("must, cannot", [(MUST, []), ([], CANNOT), (MUST, CANNOT)])
def test_pairs_alone(points, must, cannot):
    model = SemiSupervisedGraphKernelPCA(must_link=must, cannot_link=cannot).fit(points)
    tables = link_tables(np.full(N, -1), must, cannot)
    assert_solves(model, default_matrix(points, tables))


def test_continuous_labels(points, rng):
    y = points[:, 0] + 0.1 * rng.standard_normal(N)
    y[rng.permutation(N)[:40]] = np.nan
    model = SemiSupervisedGraphKernelPCA().fit(points, y)
    assert_solves(model, default_matrix(points, continuous_tables(y)))


@pytest.mark.parametrize("solver", ["lapack", "krylov", "chebyshev", "lobpcg"])
def test_solvers_agree(points, codes, solver):
    model = SemiSupervisedGraphKernelPCA(solver=solver).fit(points, codes)
    assert_solves(model, default_matrix(points, link_tables(codes)))


def test_labels_pull_classes_together_and_push_them_apart(points, codes):
    def ratio(**strengths):
        model = SemiSupervisedGraphKernelPCA(scaling="unit", **strengths)
        Z = model.fit_transform(points, codes)
        within = sum(
            ((Z[codes == c] - Z[codes == c].mean(axis=0)) ** 2).sum() for c in range(3)
        )
        return within / ((Z[codes >= 0] - Z[codes >= 0].mean(axis=0)) ** 2).sum()

    without = ratio(must_link_strength=0, cannot_link_strength=0)
    assert ratio() < 0.7 * without


# -- what y may be -----------------------------------------------------------------


def spellings(codes):
    words = np.array(["low", "mid", "top"])
    known = codes >= 0
    return {
        "floats with NaN": np.where(known, codes, np.nan),
        "floats with -1": codes.astype(float),
        "shifted": np.where(known, codes + 5, -1),
        "list": codes.tolist(),
        "list with None": [int(c) if c >= 0 else None for c in codes],
        "strings with None": np.where(known, words[codes], None),
        "strings with NaN": np.where(known, words[codes].astype(object), np.nan),
        "list of strings with None": [words[c] if c >= 0 else None for c in codes],
        "Series": pd.Series(np.where(known, words[codes], None)),
        "nullable integers": pd.Series(np.where(known, codes, None), dtype="Int64"),
        "categories": pd.Series(np.where(known, words[codes], None), dtype="category"),
        "int8": codes.astype(np.int8),
    }


@pytest.mark.parametrize("spelling", spellings(np.array([0, 1, -1])))
def test_spellings_of_partial_labels(points, codes, spelling):
    y = spellings(codes)[spelling]
    found = SemiSupervisedGraphKernelPCA().fit(points, y)
    reference = SemiSupervisedGraphKernelPCA().fit(points, codes)
    assert_allclose(found.embedding_, reference.embedding_, atol=1e-10)
    assert found.constraint_report_.n_labelled == (codes >= 0).sum()


@pytest.mark.parametrize("kind", [bool, np.uint8, str])
def test_complete_labels(points, kind):
    y = (points[:, 0] > 1).astype(int)
    found = SemiSupervisedGraphKernelPCA().fit(points, y.astype(kind))
    reference = SemiSupervisedGraphKernelPCA().fit(points, y)
    assert_allclose(found.embedding_, reference.embedding_, atol=1e-10)
    assert found.constraint_report_.n_labelled == N


def test_minus_one_is_a_value_among_continuous_labels(points, rng):
    y = np.where(rng.random(N) < 0.5, np.nan, rng.standard_normal(N))
    y[:2] = -1.0, 0.5
    with pytest.warns(MissingLabelsWarning, match="use NaN"):
        report = SemiSupervisedGraphKernelPCA().fit(points, y).constraint_report_
    assert report.n_labelled == np.isfinite(y).sum()


def test_pandas_strings_with_na(points):
    y = pd.Series(["a", "b", None] * 20, dtype="string")
    report = SemiSupervisedGraphKernelPCA().fit(points, y).constraint_report_
    assert report.n_labelled == 40


def test_a_plain_list_of_strings_with_nan(points):
    y = ["a", "b", math.nan] * 20
    report = SemiSupervisedGraphKernelPCA().fit(points, y).constraint_report_
    assert report.n_labelled == 40


def test_continuous_labels_with_none(points):
    values = points[:, 0]
    y = [v if i % 3 else None for i, v in enumerate(values.tolist())]
    found = SemiSupervisedGraphKernelPCA().fit(points, y)
    same = np.where(np.arange(N) % 3, values, np.nan)
    reference = SemiSupervisedGraphKernelPCA().fit(points, same)
    assert_allclose(found.embedding_, reference.embedding_, atol=1e-10)


@pytest.mark.parametrize("length", [N - 1, N + 1])
def test_y_of_another_length(points, length):
    with pytest.raises(ValueError, match=f"{N}, {length}"):
        SemiSupervisedGraphKernelPCA().fit(points, np.zeros(length, dtype=int))


def test_y_with_infinity_or_two_columns(points, codes):
    y = codes.astype(float)
    y[3] = np.inf
    with pytest.raises(ConstraintError, match="infinity"):
        SemiSupervisedGraphKernelPCA().fit(points, y)
    with pytest.raises(ValueError, match="1d array"):
        SemiSupervisedGraphKernelPCA().fit(points, np.column_stack([codes, codes]))


@pytest.mark.parametrize("name", ["must_link_strength", "cannot_link_strength"])
def test_strengths_are_at_least_zero(points, codes, name):
    with pytest.raises(GraphfoldError, match=f"{name} must be at least 0; got -1"):
        SemiSupervisedGraphKernelPCA(**{name: -1}).fit(points, codes)


# -- where little is known ---------------------------------------------------------

NOTHING = {
    "None": None,
    "ints": np.full(N, -1),
    "floats": np.full(N, np.nan),
    "objects": np.full(N, None),
    "one row": np.r_[0, np.full(N - 1, -1)],
    "one number": np.r_[0.5, np.full(N - 1, np.nan)],
}


@pytest.mark.parametrize("y", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("with_graph", [False, True])
def test_nothing_known_is_graph_kernel_pca(points, y, with_graph):
    graph = NeighborGraph(5) if with_graph else None
    model = SemiSupervisedGraphKernelPCA(3, graph=graph)
    with pytest.warns(MissingLabelsWarning, match="GraphKernelPCA") as caught:
        model.fit(points, y)
    assert len(caught) == 1
    reference = GraphKernelPCA(3, graph=graph).fit(points)
    assert_same_up_to_sign(model.embedding_, reference.embedding_, rtol=1e-7)
    assert_allclose(model.eigenvalues_, reference.eigenvalues_, rtol=1e-8)


def test_one_class_only_still_pulls(points, codes):
    y = np.where(codes == 1, 1, -1)
    model = SemiSupervisedGraphKernelPCA()
    with pytest.warns(MissingLabelsWarning, match="one class only"):
        model.fit(points, y)
    assert "must-link" in model.formula_
    assert "cannot-link" not in model.formula_
    assert_solves(model, default_matrix(points, link_tables(y)))


def test_one_class_with_a_cannot_link_is_no_reason_to_warn(points, codes):
    rows = np.flatnonzero(codes == 1)
    other = int(np.flatnonzero(codes == 0)[0])
    y = np.where(codes == 1, 1, -1)
    cannot = [(int(rows[0]), other)]
    model = SemiSupervisedGraphKernelPCA(cannot_link=cannot).fit(points, y)
    assert_solves(model, default_matrix(points, link_tables(y, (), cannot)))


def test_contradictions_are_named_together(table):
    model = SemiSupervisedGraphKernelPCA(
        must_link=by_name([(0, 1), (2, 3), (10, 11)]),
        cannot_link=by_name([(3, 2), (11, 10)]),
    )
    y = np.full(N, -1)
    y[:2] = 0, 1
    with pytest.raises(ConstraintError, match="3 do") as caught:
        model.fit(table, y)
    for i in (0, 1, 2, 3, 10, 11):
        assert f"row{i}" in str(caught.value)


# -- pairs meet rows ---------------------------------------------------------------


def test_labels_ids_and_positions_say_the_same(points, table):
    by_label = {"must_link": by_name(MUST), "cannot_link": by_name(CANNOT)}
    by_position = {"must_link": MUST, "cannot_link": CANNOT}
    reference = SemiSupervisedGraphKernelPCA(**by_position).fit(points)
    for found in (
        SemiSupervisedGraphKernelPCA(**by_label).fit(table),
        SemiSupervisedGraphKernelPCA(**by_label).fit(points, node_ids=LABELS),
        SemiSupervisedGraphKernelPCA(**by_position).fit(pd.DataFrame(points)),
        SemiSupervisedGraphKernelPCA(
            must_link=np.array(MUST), cannot_link=np.array(CANNOT)
        ).fit(points),
    ):
        assert_allclose(found.embedding_, reference.embedding_, atol=1e-10)


def test_pairs_follow_their_rows_when_rows_are_shuffled(table, rng):
    model = SemiSupervisedGraphKernelPCA(
        must_link=by_name(MUST), cannot_link=by_name(CANNOT)
    )
    reference = model.fit(table).embedding_
    order = rng.permutation(N)
    found = clone(model).fit(table.iloc[order]).embedding_
    assert_same_up_to_sign(found, reference[order], rtol=1e-7)


def test_integer_labels_are_not_positions(points):
    shifted = pd.DataFrame(points, index=np.arange(N) + 100)
    must = [(i + 100, j + 100) for i, j in MUST]
    found = SemiSupervisedGraphKernelPCA(must_link=must).fit(shifted)
    reference = SemiSupervisedGraphKernelPCA(must_link=MUST).fit(points)
    assert_allclose(found.embedding_, reference.embedding_, atol=1e-10)


def test_pairs_of_absent_rows_are_passed_over_and_counted(table):
    model = SemiSupervisedGraphKernelPCA(
        must_link=by_name(MUST), cannot_link=by_name(CANNOT)
    ).fit(table.drop("row21"))
    report = model.constraint_report_
    assert (report.n_must_pairs, report.n_cannot_pairs) == (2, 1)
    assert report.n_unknown_pairs == 2


def test_pairs_that_name_no_row(table, points):
    with pytest.warns(MissingLabelsWarning, match="none of the 1 pairs"):
        SemiSupervisedGraphKernelPCA(must_link=[("x", "y")]).fit(table)
    with pytest.raises(ConstraintError, match="must_link must name rows of X"):
        SemiSupervisedGraphKernelPCA(must_link=[(1, 2)]).fit(table)
    with pytest.raises(ConstraintError, match="cannot_link must hold positions"):
        SemiSupervisedGraphKernelPCA(cannot_link=[(0, N)]).fit(points)
    with pytest.raises(ConstraintError, match="must_link must be pairs"):
        SemiSupervisedGraphKernelPCA(must_link=[0, 1]).fit(points)


def test_pairs_with_a_label_that_occurs_twice(table):
    repeated = pd.concat([table, table.iloc[:1] + 1.0])
    with pytest.raises((ConstraintError, LabelError), match="row0"):
        SemiSupervisedGraphKernelPCA(must_link=by_name(MUST)).fit(repeated)


def test_neither_kernel_nor_graph(points, codes):
    try:
        model = SemiSupervisedGraphKernelPCA(kernel=None).fit(points, codes)
    except GraphfoldError:
        return
    assert np.isfinite(model.embedding_).all()


def test_pairs_and_a_labelled_graph_share_the_labels(points, table):
    plain, _ = neighbor_graph(points)
    graph = Graph(plain, nodes=LABELS)
    found = SemiSupervisedGraphKernelPCA(graph=graph, must_link=by_name(MUST))
    reference = SemiSupervisedGraphKernelPCA(graph=plain, must_link=MUST)
    assert_allclose(
        found.fit(table).embedding_, reference.fit(points).embedding_, atol=1e-9
    )


# -- folds -------------------------------------------------------------------------


def test_cross_validation_with_pairs(table):
    y = (table[0] > 1).to_numpy().astype(int)
    wide = [(i, j) for i in range(0, N, 4) for j in range(1, N, 7)]
    must = by_name([(i, j) for i, j in wide if y[i] == y[j]])
    cannot = by_name([(i, j) for i, j in wide if y[i] != y[j]])
    pipeline = make_pipeline(
        SemiSupervisedGraphKernelPCA(must_link=must, cannot_link=cannot),
        LogisticRegression(),
    )
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(pipeline, table, y, cv=folds, error_score="raise")
    assert np.isfinite(scores).all()

    counts = []
    for train, _ in folds.split(table):
        report = clone(pipeline[0]).fit(table.iloc[train]).constraint_report_
        here = {f"row{i}" for i in train}
        expected = sum(a in here and b in here for a, b in must)
        assert report.n_must_pairs == expected
        total = report.n_must_pairs + report.n_cannot_pairs + report.n_unknown_pairs
        assert total == len(wide)
        counts.append(report.n_unknown_pairs)
    assert min(counts) > 0


def test_grid_search_over_strengths(table):
    y = (table[0] > 1).to_numpy().astype(int)
    pipeline = make_pipeline(
        SemiSupervisedGraphKernelPCA(must_link=by_name([(0, 1), (2, 3), (4, 5)])),
        LogisticRegression(),
    )
    y[:6] = y[[0, 0, 2, 2, 4, 4]]
    name = "semisupervisedgraphkernelpca__must_link_strength"
    search = GridSearchCV(
        pipeline,
        {name: [0.0, 0.5, 2.0]},
        cv=KFold(3, shuffle=True, random_state=1),
        error_score="raise",
    ).fit(table, y)
    assert search.best_params_[name] in (0.0, 0.5, 2.0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(table).shape == (N,)


# -- the report --------------------------------------------------------------------


def clusters(rng, first=30):
    """Two far groups of rows, the first of them this large."""
    far = np.where(np.arange(N) < first, 0, 4)[:, None]
    return rng.standard_normal((N, 3)) * 0.3 + far


def test_planted_violations_are_listed(rng):
    """Without strength nothing is kept, so what contradicts the data is violated."""
    table = pd.DataFrame(clusters(rng, first=45), index=LABELS)
    table.loc["row12"] = table.loc["row11"] + 1e-3
    table.loc["row51"] = table.loc["row50"] + 1e-3
    model = SemiSupervisedGraphKernelPCA(
        1,
        must_link=by_name([(50, 51), (0, 48)]),
        cannot_link=by_name([(2, 55), (11, 12)]),
        must_link_strength=0,
        cannot_link_strength=0,
        scaling="unit",
    ).fit(table)
    report = model.constraint_report_
    assert [pair[:2] for pair in report.violated_must] == [("row0", "row48")]
    assert [pair[:2] for pair in report.violated_cannot] == [("row11", "row12")]
    Z = model.embedding_
    far, near = report.violated_must[0][2], report.violated_cannot[0][2]
    assert far == pytest.approx(np.linalg.norm(Z[0] - Z[48]), rel=1e-6)
    assert near == pytest.approx(np.linalg.norm(Z[11] - Z[12]), rel=1e-6)
    assert (report.n_must_pairs, report.n_cannot_pairs) == (2, 2)
    assert report.n_violations == 2 + len(report.misplaced)
    assert "1 of 2 must-links and 1 of 2 cannot-links" in str(report)


def test_violations_come_worst_first(rng):
    X = clusters(rng, first=45)
    must = [(i, 59 - i) for i in range(6)]
    model = SemiSupervisedGraphKernelPCA(1, must_link=must, must_link_strength=0)
    model.fit(X)
    distances = [pair[2] for pair in model.constraint_report_.violated_must]
    assert len(distances) == 6
    assert distances == sorted(distances, reverse=True)


def test_misplaced_rows_are_listed(rng):
    X = clusters(rng)
    y = (np.arange(N) >= 30).astype(int)
    y[[3, 44]] = 1 - y[[3, 44]]
    model = SemiSupervisedGraphKernelPCA(must_link_strength=0, cannot_link_strength=0)
    report = model.fit(X, y).constraint_report_
    assert sorted(report.misplaced) == [3, 44]
    assert (report.n_labelled, report.n_groups) == (N, 2)
    named = model.set_params(must_link=by_name([(0, 1)]))
    report = named.fit(pd.DataFrame(X, index=LABELS), y).constraint_report_
    assert sorted(report.misplaced) == ["row3", "row44"]


def test_labels_that_agree_with_the_data_violate_nothing(rng):
    X, y = clusters(rng), np.where(np.arange(N) % 3, -1, np.arange(N) >= 30)
    model = SemiSupervisedGraphKernelPCA(must_link=[(1, 2)], cannot_link=[(1, 58)])
    report = model.fit(X, y).constraint_report_
    assert report.n_violations == 0
    assert report.n_labelled == 20
    assert report.n_groups == 3


# -- new rows ----------------------------------------------------------------------


def test_rows_of_the_fit_come_back(points, codes):
    model = SemiSupervisedGraphKernelPCA(3).fit(points, codes)
    assert_allclose(model.transform(points), model.embedding_, atol=1e-10)
    assert_allclose(model.transform(points[7:9]), model.embedding_[7:9], atol=1e-10)
    fitted = clone(model).fit_transform(points, codes)
    assert_allclose(fitted, model.embedding_, atol=1e-12)


def test_rows_of_the_fit_come_back_by_label(table, codes):
    model = SemiSupervisedGraphKernelPCA(must_link=by_name([(0, 1)]))
    model.fit(table, np.where(np.arange(N) < 2, -1, codes))
    part = table.iloc[[5, 0, 30]]
    assert_allclose(model.transform(part), model.embedding_[[5, 0, 30]], atol=1e-10)
    bare = part.to_numpy()
    assert_allclose(model.transform(bare), model.embedding_[[5, 0, 30]], atol=1e-10)
    with pytest.raises(LabelError, match="row5"):
        model.transform(part + 1.0)


@pytest.mark.parametrize("with_graph", [False, True])
def test_new_rows_are_placed_one_by_one(points, codes, rng, with_graph):
    graph = NeighborGraph(5) if with_graph else None
    model = SemiSupervisedGraphKernelPCA(graph=graph).fit(points, codes)
    new = rng.standard_normal((9, 5)) + 1.0
    placed = model.transform(new)
    assert placed.shape == (9, 2)
    assert np.isfinite(placed).all()
    one_by_one = np.vstack([model.transform(row[None]) for row in new])
    assert_allclose(one_by_one, placed, atol=1e-10)
    mixed = model.transform(np.vstack([points[:3], new]))
    assert_allclose(mixed[3:], placed, atol=1e-10)
    assert_allclose(mixed[:3], model.embedding_[:3], atol=1e-10)


def test_new_rows_near_a_class_land_near_it(rng):
    X, y = clusters(rng), np.where(np.arange(N) % 3, -1, np.arange(N) >= 30)
    model = SemiSupervisedGraphKernelPCA(scaling="unit").fit(X, y)
    new = (
        rng.standard_normal((20, 3)) * 0.3 + np.where(np.arange(20) < 10, 0, 4)[:, None]
    )
    centres = [model.embedding_[:30].mean(axis=0), model.embedding_[30:].mean(axis=0)]
    nearest = cdist(model.transform(new), centres).argmin(axis=1)
    assert_array_equal(nearest, np.arange(20) >= 10)


# -- precision, copies, files ------------------------------------------------------


@pytest.mark.parametrize("with_graph", [False, True])
def test_single_precision_stays_single(points, codes, with_graph):
    graph = NeighborGraph(5) if with_graph else None
    model = SemiSupervisedGraphKernelPCA(
        graph=graph, must_link=[(1, 3)], cannot_link=[(1, 50)]
    )
    y = codes.copy()
    y[[1, 3, 50]] = -1
    exact = clone(model).fit(points, y)
    single = model.fit(points.astype(np.float32), y)
    assert single.embedding_.dtype == np.float32
    assert single.eigenvalues_.dtype == np.float32
    assert single.transform(points[:4].astype(np.float32) + 0.1).dtype == np.float32
    assert largest_angle(single.eigenvectors_, exact.eigenvectors_) < 1e-3


def full_model(table, codes):
    y = codes.copy()
    y[np.unique(np.ravel(MUST + CANNOT))] = -1
    model = SemiSupervisedGraphKernelPCA(
        must_link=by_name(MUST),
        cannot_link=by_name(CANNOT),
        must_link_strength=0.0,
        cannot_link_strength=0.1,
    )
    return model.fit(table, y)


def copied(model, how, folder):
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    model.save(folder / "model.npz")
    return graphfold.load(folder / "model.npz")


@pytest.mark.parametrize("how", ["pickle", "file"])
def test_round_trips_keep_the_answer_and_the_report(table, codes, tmp_path, how):
    model = full_model(table, codes)
    assert model.constraint_report_.n_violations > 0  # something to be lost
    again = copied(model, how, tmp_path)
    new = table.to_numpy()[:5] + 0.1
    assert_array_equal(again.transform(new), model.transform(new))
    assert_array_equal(again.transform(table), model.embedding_)
    assert again.constraint_report_ == model.constraint_report_
    assert str(again.constraint_report_) == str(model.constraint_report_)
    assert again.get_params() == model.get_params()
    assert again.formula_ == model.formula_


@pytest.mark.parametrize("how", ["pickle", "file"])
def test_a_round_trip_can_be_fitted_again(points, codes, tmp_path, how):
    y = np.where(np.isin(np.arange(N), [1, 3]), -1, codes)
    model = SemiSupervisedGraphKernelPCA(must_link=np.array([[1, 3]])).fit(points, y)
    again = copied(model, how, tmp_path)
    assert_array_equal(again.fit(points, y).embedding_, model.embedding_)


def test_clone_keeps_parameters_and_forgets_the_fit(table, codes):
    model = full_model(table, codes)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "embedding_")
    assert not hasattr(copy, "constraint_report_")


def test_fits_repeat_and_leave_their_arguments_alone(table, codes):
    must, y, before = by_name(MUST), codes.copy(), table.copy()
    y[np.unique(np.ravel(MUST))] = -1
    given = y.copy()
    model = SemiSupervisedGraphKernelPCA(must_link=must)
    first = model.fit(table, y).embedding_
    assert_array_equal(clone(model).fit(table, y).embedding_, first)
    assert must == by_name(MUST)
    assert_array_equal(y, given)
    pd.testing.assert_frame_equal(table, before)
