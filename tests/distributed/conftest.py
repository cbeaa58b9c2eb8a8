"""Clusters of processes, started once for all tests of a process."""

import dask
import pytest

from tests.distributed.problems import start_cluster, working_on


@pytest.fixture(scope="session")
def cluster():
    with start_cluster(2) as client:
        yield client


@pytest.fixture
def workers(cluster):
    """Two worker processes, and Dask's work goes to them."""
    with working_on(cluster):
        yield cluster


@pytest.fixture(autouse=True)
def threads_unless_asked(request):
    """Dask's own threads, where a test does not ask for a cluster."""
    if "workers" in request.fixturenames or "no_scheduler" in request.keywords:
        yield
    else:
        with dask.config.set(scheduler="threads"):
            yield
