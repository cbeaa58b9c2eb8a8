"""What a release has answered, every later one answers: on any threads, in both types.

The same files are read by ``make test`` and ``make test-lowest``: the newest and the
lowest dependencies are held to one answer.
"""

import json
import math

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import graphfold
from tests.trust.examples import TIMES
from tests.trust.ledger import measured, tried
from tests.trust.numbers import golden
from tests.trust.numbers.cases import CASES, ON_TWO_THREADS
from tests.trust.numbers.golden import CHANGED, TOLERANCES, differences

ENDINGS = ("PCA", "Eigenmaps", "Embedding")
ESTIMATORS = [name for name in graphfold.__all__ if name.endswith(ENDINGS)]


def threads_for(name, dtype):
    everyday = name in ON_TWO_THREADS and dtype == np.float64
    return (1, 2) if everyday or TIMES > 1 else (1,)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_the_answer_of_each_release_comes_again(name, dtype):
    case = CASES[name]
    double, single, _ = TOLERANCES[case.kind]
    allowed = double if dtype == np.float64 else single
    for threads in threads_for(name, dtype):
        with threadpool_limits(threads):
            found = case.fit(dtype)
        for release in golden.releases():
            expected = golden.stored(release).get(name)
            if expected is None or (release, name) in CHANGED:
                continue
            far = differences(found, expected)
            worst = max(far, key=far.__getitem__)
            assert far[worst] <= allowed, (
                f"{worst} is {far[worst]:.1e} from what {release} answered, "
                f"{allowed:g} is allowed ({case.kind}; {threads} BLAS threads)"
            )
            what = f"{np.dtype(dtype).name}, {threads} BLAS threads"
            tried("numbers", f"golden {release}", what)
            measured("numbers", f"golden {release}/{name}/{what}", far[worst])


def test_this_version_has_its_answers_and_no_case_is_missing():
    release = golden.version()
    path = golden.path_of(release)
    assert path.exists(), (
        f"{path.name} is missing: python -m tests.trust.numbers.golden --write"
    )
    assert json.loads(path.read_text())["version"] == release
    assert golden.stored(release).keys() == CASES.keys()


def test_a_case_of_an_old_release_is_still_fitted():
    for release in golden.releases():
        gone = golden.stored(release).keys() - CASES.keys()
        assert not {name for name in gone if (release, name) not in CHANGED}


def test_each_answer_is_a_list_of_finite_numbers():
    for release in golden.releases():
        for name, answer in golden.stored(release).items():
            numbers = [value for values in answer.values() for value in values]
            assert numbers, name
            assert all(math.isfinite(value) for value in numbers), name


def test_every_estimator_has_a_case():
    assert len(ESTIMATORS) == 8
    source = (golden.FOLDER.parent / "cases.py").read_text()
    for name in ESTIMATORS:
        assert f"{name}(" in source, name


def test_a_changed_answer_is_found():
    """The comparison itself: one number among many that is off by a little."""
    answer = golden.stored(golden.version())["kernel rbf"]
    other = {name: list(values) for name, values in answer.items()}
    other["distances"][3] *= 1 + 1e-6
    assert max(differences(other, answer).values()) > TOLERANCES["exact"][0]
    assert differences({}, answer)["distances"] == np.inf
    assert set(differences(answer, answer).values()) == {0.0}


def test_threads_are_really_limited():
    """Else one thread would have been compared with one thread."""
    for threads in (1, 2):
        with threadpool_limits(threads):
            blas = [
                lib["num_threads"]
                for lib in threadpool_info()
                # of scs: built for one thread, and none of our products runs there
                if lib["user_api"] == "blas" and lib["threading_layer"] != "disabled"
            ]
            assert set(blas) == {threads}
