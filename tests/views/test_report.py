"""A report says what a fit did and found, in plain values and as a text."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from graphfold import (
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
)
from graphfold.errors import GraphfoldError
from graphfold.quality import edge_overlap, graph_gain, neighbor_overlap, rewired
from graphfold.views import report_text
from graphfold.views.columns import MOST_CLASSES, Column, pack_column
from graphfold.views.packing import Blocks
from graphfold.views.report import report_of, summary
from graphfold.views.report_quality import class_codes


@pytest.fixture
def groups(rng):
    """60 rows around three centres, far enough apart to be told, with names."""
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 6)) * 0.5 + 4 * np.eye(6)[y]
    names = [f"row {i}" for i in range(60)]
    edges = [(names[i], names[(i + 3) % 60]) for i in range(60)]
    return pd.DataFrame(X, index=names), y, Graph(edges)


def strict_json(report):
    return json.loads(json.dumps(report, allow_nan=False))


ESTIMATORS = {
    "kernel": lambda: GraphKernelPCA(3, graph=NeighborGraph(5)),
    "semi-supervised": lambda: SemiSupervisedGraphKernelPCA(2),
    "local": lambda: LocalNonlinearEmbedding(2, n_neighbors=3),
    "eigenmaps": lambda: LaplacianEigenmaps(2),
    "graph-laplacian": lambda: GraphLaplacianPCA(2, graph=NeighborGraph(5)),
    "robust": lambda: RobustGraphPCA(2),
    "fast-robust": lambda: FastRobustGraphPCA(2),
    "modes": lambda: MultiModalGraphEmbedding(2, block_size=3),
    "landmarks": lambda: GraphKernelPCA(2, landmarks=20),
}


@pytest.mark.parametrize("case", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_has_a_report_and_a_text(case, groups):
    frame, y, _ = groups
    X = frame.to_numpy()
    model = ESTIMATORS[case]().fit(X, y)
    report = report_of(model, X=X, labels=y, n_neighbors=5)
    assert strict_json(report) == report
    assert report["class"] == type(model).__name__
    assert report["shape"] == {
        "rows": 60,
        "columns": 6,
        "components": model.embedding_.shape[1],
    }
    values = getattr(model, "eigenvalues_", getattr(model, "singular_values_", None))
    assert_allclose(report["spectrum"]["values"], values)
    quality = {row["name"]: row["value"] for row in report["quality"]}
    Z = model.embedding_
    expected = sklearn_trustworthiness(X, Z, n_neighbors=5)
    assert quality["trustworthiness"] == pytest.approx(expected)
    kept = neighbor_overlap(X, Z, 5).mean()
    assert quality["neighbours kept"] == pytest.approx(kept)
    assert quality["5-NN accuracy"] > 0.5
    assert 0 <= quality["clustering error"] <= 1
    assert {p["name"] for p in report["parameters"]} == set(model.get_params(False))
    assert [w["category"] for w in report["warnings"]] == [
        category for category, _ in model.warnings_
    ]
    text = summary(report)
    assert not text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 80
    for part in (type(model).__name__, "-- spectrum", "-- quality", "-- parameters"):
        assert part in text


def test_figures_are_those_of_the_model(groups):
    frame, _, graph = groups
    model = GraphKernelPCA(
        3,
        kernel={"linear": "linear", "rbf": "rbf"},
        graph={"ring": graph, "near": NeighborGraph(4)},
    ).fit(frame)
    report = report_of(model, X=frame, n_neighbors=4)
    assert report["formula"] == model.formula_
    assert_allclose(report["spectrum"]["explained"], model.explained_variance_ratio_)
    assert_allclose(report["spectrum"]["gaps"], model.axis_report_.eigengaps)
    assert report["spectrum"]["interchangeable"] == model.axis_report_.interchangeable
    kernels, graphs = report["weights"]
    assert kernels["names"] == ["linear", "rbf"]
    assert_allclose(kernels["values"], model.kernel_weights_)
    assert graphs["names"] == ["ring", "near"]
    assert_allclose(graphs["values"], model.graph_weights_)
    assert_allclose(report["objective"], model.objective_trace_)
    assert report["solver"]["reason"] == model.solver_reason_
    links = edge_overlap(graph, model.embedding_, 4, node_ids=frame.index)
    quality = {row["name"]: row["value"] for row in report["quality"]}
    assert quality["links kept, ring"] == pytest.approx(np.nanmean(links))
    assert quality["links kept, near"] > quality["links kept, ring"]
    assert [g["name"] for g in report["graphs"]] == ["ring", "near"]
    assert report["graphs"][0]["edges"] == 60
    text = summary(report)
    assert "linear" in text
    assert "ring" in text


def test_parameters_that_differ_come_first(groups):
    model = GraphKernelPCA(3, kernel="linear", tol=1e-7).fit(groups[0])
    parameters = report_of(model)["parameters"]
    changed = [p["name"] for p in parameters if p["changed"]]
    assert sorted(changed) == ["kernel", "n_components", "tol"]
    assert all(p["changed"] for p in parameters[:3])
    by_name = {p["name"]: p for p in parameters}
    assert by_name["kernel"]["value"] == "'linear'"
    assert by_name["kernel"]["default"] == "'rbf'"
    text = summary(report_of(model))
    assert "  kernel = 'linear'" in text
    assert "as by default" in text


def test_large_values_of_parameters_are_named_not_printed(groups):
    frame, _, graph = groups
    pairs = [("row 0", "row 3")] * 40
    model = SemiSupervisedGraphKernelPCA(
        2, must_link=pairs, graph=graph, align_to=np.ones((60, 2))
    ).fit(frame, groups[1])
    by_name = {p["name"]: p["value"] for p in report_of(model)["parameters"]}
    assert by_name["graph"] == "Graph of 60 nodes and 60 edges"
    assert by_name["must_link"] == "list of 40"
    assert by_name["align_to"] == "ndarray of 60 x 2"
    spectrum = report_of(model)["spectrum"]
    assert spectrum["turned"]
    assert "next" not in spectrum
    assert "turned" in summary(report_of(model))


def test_the_eigenvalue_left_out_is_told_by_the_last_gap(groups):
    frame = groups[0]
    wide = GraphKernelPCA(6).fit(frame).eigenvalues_
    told = 0
    for d in range(2, 6):
        found = report_of(GraphKernelPCA(d).fit(frame))["spectrum"].get("next")
        if found is not None:
            assert found == pytest.approx(wide[d])
            told += 1
    assert told
    rising = LaplacianEigenmaps(6, n_neighbors=20).fit(frame).eigenvalues_
    for d in range(2, 6):
        model = LaplacianEigenmaps(d, n_neighbors=20).fit(frame)
        found = report_of(model)["spectrum"].get("next")
        assert found is None or found == pytest.approx(rising[d])
        told += found is not None
    assert told > 3
    # of one value alone nobody can tell which way the next one is
    one = report_of(GraphKernelPCA(1).fit(frame))["spectrum"]
    assert one["next"] is None


def test_strength_path_and_gain(groups):
    frame, _, graph = groups
    model = GraphKernelPCA(2, graph=graph, graph_strength="auto").fit(frame)
    gains = graph_gain(frame, {"ring": graph, "chance": rewired(graph, 1)}, n_copies=29)
    report = report_of(model, gain=gains)
    assert strict_json(report) == report
    path = model.strength_path_
    assert_allclose(report["strength"]["gains"], path.gains)
    assert_allclose(report["strength"]["errors"], path.standard_errors)
    assert report["strength"]["chosen"] == path.chosen
    ring, chance = report["gain"]
    assert (ring["name"], chance["name"]) == ("ring", "chance")
    assert ring["helps"]
    assert ring["sentence"] == str(gains["ring"])
    assert sum(ring["null"]["counts"]) == 29
    assert len(ring["null"]["edges"]) == len(ring["null"]["counts"]) + 1
    assert len(chance["edges"]) == len(gains["chance"].edges)
    text = summary(report)
    assert "<- chosen" in text
    assert "ring: The graph helps" in text
    assert report_of(model, gain=gains["ring"])["gain"][0]["name"] == "graph"
    with pytest.raises(GraphfoldError, match="gain must be what"):
        report_of(model, gain={"ring": 0.3})


def test_violated_constraints_are_listed_by_label(groups):
    frame, y, _ = groups
    # rows of other groups that must be together, and twins that must not
    must = [("row 0", "row 1"), ("row 3", "row 6")]
    cannot = [("row 2", "row 5"), ("row 0", "row 4")]
    model = SemiSupervisedGraphKernelPCA(
        2,
        must_link=must,
        cannot_link=cannot,
        must_link_strength=1e-6,
        cannot_link_strength=1e-6,
    ).fit(frame)
    found = model.constraint_report_
    assert found.violated_must  # there is something to report
    report = report_of(model)["constraints"]
    kinds = {(p["kind"], p["first"], p["second"]) for p in report["violated"]}
    assert ("must-link", "row 0", "row 1") in kinds
    assert ("cannot-link", "row 2", "row 5") in kinds
    must_count, cannot_count = report["counts"]
    assert must_count["asked"] == 2
    assert must_count["violated"] == len(found.violated_must)
    assert must_count["kept"] == 1 - must_count["violated"] / 2
    assert cannot_count["violated"] == len(found.violated_cannot)
    text = summary(report_of(model))
    assert "must-link   row 0 - row 1" in text

    labelled = np.where(np.arange(60) < 30, y, -1)
    model = SemiSupervisedGraphKernelPCA(2).fit(frame, labelled)
    (rows,) = report_of(model)["constraints"]["counts"]
    assert (rows["name"], rows["asked"]) == ("labelled rows", 30)
    assert rows["violated"] == len(model.constraint_report_.misplaced)


def test_long_lists_are_cut_and_counted(rng):
    X = rng.standard_normal((300, 4))
    pairs = [(int(i), int(j)) for i, j in rng.integers(300, size=(260, 2)) if i != j]
    model = SemiSupervisedGraphKernelPCA(
        2, cannot_link=[], must_link=pairs, must_link_strength=1e-9
    ).fit(X)
    report = report_of(model)["constraints"]
    assert len(report["violated"]) == 100 < report["n_violated"]
    text = summary(report_of(model))
    assert "more pairs" in text
    assert max(map(len, text.splitlines())) <= 80


def test_numbers_that_are_not_finite_are_none(groups):
    class Odd:
        embedding_ = np.array([[0.0, np.nan], [1.0, 2.0]])
        eigenvalues_ = np.array([np.inf, 1.0])
        residuals_ = np.array([np.nan, 0.0])
        converged_ = False

    report = report_of(Odd(), labels=["a", "b"])
    assert strict_json(report) == report
    assert report["spectrum"]["values"] == [None, 1.0]
    assert "not finite" in report["notes"][0]
    assert "parameters" not in report
    assert "Odd: 2 rows -> 2 components" in summary(report)


def test_an_array_is_an_embedding(groups):
    frame, y, _ = groups
    Z = PCA(2).fit_transform(frame)
    report = report_of(Z, X=frame, labels=y)
    assert report["name"] == "embedding"
    assert {row["name"] for row in report["quality"]} == {
        "trustworthiness",
        "neighbours kept",
        "5-NN accuracy",
        "clustering error",
    }
    assert summary(report).startswith("embedding: 60 rows -> 2 components")
    for nothing in (GraphKernelPCA(2), "a text", [1.0, 2.0]):
        with pytest.raises(GraphfoldError, match="model must be fitted"):
            report_of(nothing)


def test_what_is_known_is_not_measured_again(groups, monkeypatch):
    frame, _, _ = groups
    Z = frame.to_numpy()[:, :2]
    expected = report_of(Z, X=frame)

    def measured(*_):
        raise AssertionError("measured again")

    for name in ("trustworthiness", "neighbor_overlap"):
        monkeypatch.setattr(f"graphfold.views.report_quality.{name}", measured)
    with pytest.raises(AssertionError, match="measured again"):
        report_of(Z, X=frame)
    trust, overlap = np.full(60, 0.25), np.full(60, 0.5)
    given = report_of(Z, X=frame, trust=trust, overlap=overlap)
    assert [row["value"] for row in given["quality"]] == [0.25, 0.5]
    assert given["trust"]["counts"] == [60]
    assert sum(expected["trust"]["counts"]) == 60


def test_tables_without_distances_are_noted(groups):
    frame, y, _ = groups
    Z = frame.to_numpy()[:, :2]
    holes = frame.mask(frame > 4.5)
    report = report_of(Z, X=holes, labels=y)
    assert "X must be finite" in report["notes"][0]
    assert "trust" not in report
    assert "X must be finite" in " ".join(summary(report).split())
    with pytest.raises(GraphfoldError, match="row for each of the 60 rows"):
        report_of(Z, X=frame.iloc[:50])
    with pytest.raises(GraphfoldError, match="labels must have one entry"):
        report_of(Z, labels=y[:50])


def test_several_columns_of_labels(groups):
    frame, y, _ = groups
    Z = frame.to_numpy()[:, :3]
    labels = pd.DataFrame(
        {"group": np.array(["a", "b", "c"])[y], "size": frame.to_numpy()[:, 0]}
    )
    names = [row["name"] for row in report_of(Z, labels=labels)["quality"]]
    assert names == ["5-NN accuracy, group", "clustering error, group"]
    same = report_of(Z, labels=dict(labels))["quality"]
    assert same == report_of(Z, labels=labels)["quality"]


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (["a", "b", None, "a", "b", float("nan")], [0, 1, -1, 0, 1, -1]),
        ([True, False, True, False], [1, 0, 1, 0]),
        ([0.0, 1.0, np.nan, 0.0, 1.0], [0, 1, -1, 0, 1]),
        ([-1, 0, 1, 0, 1, -1], [-1, 0, 1, 0, 1, -1]),
        ([-1, 1, -1, 1], [0, 1, 0, 1]),
        (pd.Series(["x", "y", "x", "y"], dtype="category"), [0, 1, 0, 1]),
        ([0.5, 1.0, 0.5, 1.0], None),
        (["a", "a", "a"], None),
        (["a", "b", "c", "d"], None),
        (list(range(60)) * 2, None),
    ],
)
def test_what_counts_as_classes(column, codes):
    found = class_codes(column)
    assert found is None if codes is None else found.tolist() == codes


def test_many_rows_are_sampled_for_classes(rng, monkeypatch):
    monkeypatch.setattr("graphfold.views.report_quality.MANY", 50)
    y = np.arange(200) % 2
    Z = rng.standard_normal((200, 2)) + 8 * y[:, None]
    accuracy, error = report_of(Z, labels=y)["quality"]
    assert accuracy["value"] == 1.0
    assert error["value"] == 0.0
    assert "sample of 50 rows" in accuracy["note"]
    assert "sample of 50 rows" in error["note"]


@pytest.mark.parametrize(
    ("n", "judged", "starts"),
    [(2_000, 2_000, 10), (2_001, 2_001, 3), (6_000, 5_000, 3)],
)
def test_classes_are_judged_at_a_bounded_cost(rng, monkeypatch, n, judged, starts):
    seen = []

    class Watched(KMeans):
        def fit_predict(self, X):
            seen.append((len(X), self.n_init))
            return super().fit_predict(X)

    monkeypatch.setattr("graphfold.views.report_quality.KMeans", Watched)
    y = np.arange(n) % 2
    Z = rng.standard_normal((n, 2)) + 8 * y[:, None]
    accuracy, _ = report_of(Z, labels=y)["quality"]
    assert seen == [(judged, starts)]
    assert ("sample" in accuracy["note"]) == (judged < n)


def test_the_first_columns_of_classes_are_judged_and_the_others_named(groups):
    frame, y, _ = groups
    Z = frame.to_numpy()[:, :3]
    labels = {"size": frame.to_numpy()[:, 0]}
    labels |= {f"c{i}": y for i in range(7)}
    report = report_of(Z, labels=labels)
    names = [row["name"] for row in report["quality"]]
    assert names[::2] == [f"5-NN accuracy, c{i}" for i in range(4)]
    assert len(names) == 8
    (note,) = report["notes"]
    assert note.endswith("not c4, c5, c6")
    assert "notes" not in report_of(Z, labels={f"c{i}": y for i in range(4)})
    many = report_of(Z, labels={f"c{i}": y for i in range(30)})["notes"][0]
    assert many.endswith("c23 and 6 more")


def test_columns_of_too_many_classes_are_left_out_and_named(rng):
    Z = rng.standard_normal((510, 2))
    rows = np.arange(510)
    texts = {
        "fifty": [f"k{i % 50}" for i in rows],
        "fifty-one": [f"k{i % 51}" for i in rows],
    }
    report = report_of(Z, labels=texts)
    assert len(report["quality"]) == 2
    assert report["quality"][0]["name"] == "5-NN accuracy, fifty"
    assert report["notes"][0].endswith(": fifty-one")
    few = [f"k{i % 11}" for i in range(50)]  # not five rows each
    report = report_of(Z[:50], labels=few)
    assert "quality" not in report
    assert report["notes"][0].endswith(": labels")
    assert len(report_of(Z[:55], labels=[*few, *few[:5]])["quality"]) == 2


@pytest.mark.filterwarnings("error")
def test_classes_of_two_rows_are_left_out_without_a_warning(rng):
    pairs = [f"k{i % 30}" for i in range(60)]
    report = report_of(rng.standard_normal((60, 2)), labels=pairs)
    assert "quality" not in report
    assert report["notes"][0].endswith(": labels")


def test_numbers_are_classes_in_the_table_where_they_are_on_the_map():
    for n_kinds in (MOST_CLASSES, MOST_CLASSES + 1):
        column = np.arange(10 * n_kinds) % n_kinds
        kind = pack_column("c", Column(column), Blocks())["kind"]
        assert (class_codes(column) is not None) == (kind == "category")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sizes", [[5] * 30, [2, 2, *[6] * 10], [30, 30]])
def test_classes_are_judged_without_a_warning(rng, sizes):
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    one_place = np.zeros((len(y), 2))
    few_places = np.eye(2)[np.arange(len(y)) % 2]
    for Z in (rng.standard_normal((len(y), 2)), one_place, few_places):
        _, error = report_of(Z, labels=y)["quality"]
        found = min(len(sizes), len(np.unique(Z, axis=0)))
        assert error["note"] == f"k-means, {found} clusters"


def test_nothing_is_written_that_nobody_shows(groups):
    """The page and the text read each value; residuals are there for JSON."""
    frame, y, graph = groups
    web = Path(__file__).parents[2] / "web" / "src"
    text = Path(report_text.__file__).read_text()
    readers = text + "".join(
        (web / name).read_text() for name in ("report.js", "charts.js")
    )
    model = SemiSupervisedGraphKernelPCA(2, graph=graph).fit(frame, y)
    report = report_of(model, gain=graph_gain(frame, graph, n_copies=19))
    written = {*report["spectrum"], *report["gain"][0], *report["constraints"]}
    unread = {key for key in written if not re.search(rf"\b{key}\b", readers)}
    assert unread == {"residuals"}


def test_a_number_of_many_digits_does_not_break_the_lines(groups):
    model = GraphKernelPCA(2).fit(groups[0])
    model.explained_variance_ratio_ = np.array([1e300, 0.1])
    assert "explained" in report_text.summary(report_of(model))
