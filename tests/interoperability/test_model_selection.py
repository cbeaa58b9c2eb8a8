"""scikit-learn's search in several processes, with a graph that is cut to each fold."""

import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from graphfold import Graph, GraphKernelPCA


@pytest.fixture(scope="module")
def searches(samples):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(samples.X, index=samples.ids)
    graph = Graph(samples.edges, nodes=samples.ids)
    pipe = make_pipeline(
        GraphKernelPCA(2, kernel="linear", graph=graph, scaling="unit"),
        LogisticRegression(),
    )
    grid = {"graphkernelpca__graph_strength": [0.0, 2.0]}
    found = []
    for jobs in (1, 2):
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(pipe, grid, cv=folds, n_jobs=jobs)
        # every array goes to the workers as a read-only file, as large ones do
        with parallel_config(backend="loky", max_nbytes=1):
            found.append(search.fit(frame, samples.groups))
    return found


def test_two_processes_find_what_one_does(searches):
    one, two = searches
    assert one.best_params_ == two.best_params_
    for key in ("mean_test_score", "std_test_score"):
        assert_array_equal(one.cv_results_[key], two.cv_results_[key])


def test_the_search_finds_that_the_graph_helps(searches):
    """Held-out samples are placed by their own edges to those of the fit."""
    scores = searches[0].cv_results_["mean_test_score"]
    assert searches[0].best_params_["graphkernelpca__graph_strength"] > 0
    assert scores[1] > scores[0] + 0.1
