"""The bookkeeping behind the benchmarks of scale: growth, resuming, limits, graphs."""

import json
import math
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import forest, harness, scale, scale_page
from benchmarks.bounded import run_bounded

HERE = "tests.test_benchmarks_scale"


def point(n, **facts):
    return {"method": "umap-learn", "n": n, "cap": 60, "commit": "abc", **facts}


def test_growth_is_the_slope_of_the_last_factor_of_ten():
    curved = [point(n, seconds=1.0) for n in (1_000, 3_000)]
    straight = [point(n, seconds=n**1.5) for n in (10_000, 30_000, 100_000)]
    assert scale.growth(curved + straight) == pytest.approx(1.5)
    assert math.isnan(scale.growth([point(1_000, seconds=1.0)]))
    assert math.isnan(scale.growth([point(1_000, failed="more than 60 s")]))


def test_what_is_there_is_not_run_again_and_limits_end_a_method():
    points = [point(1_000, seconds=1.0), point(3_000, failed="more than 60 s")]
    wanted = [scale.wanted(points, "umap-learn", n) for n in scale.SIZES[:3]]
    assert wanted == [False, False, False]
    mended = [point(1_000, failed="ValueError: no")]
    assert scale.wanted(mended, "umap-learn", 1_000)
    assert not scale.wanted(mended, "umap-learn", 3_000)
    assert scale.wanted(points, "pymde", 3_000)


def test_points_survive_between_runs(tmp_path):
    path = tmp_path / "scale.json"
    scale.store([point(3_000, seconds=2.0), point(1_000, seconds=1.0)], path)
    assert [p["n"] for p in scale.load(path)] == [1_000, 3_000]
    assert scale.load(tmp_path / "none.json") == []


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    asked = []

    def measured(name, n, arguments):
        asked.append((name, n))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return {"seconds": 1.0, "cpu": 1.0, "peak_mb": 1.0, "beyond_mb": 1.0}

    monkeypatch.setattr(scale, "measured", measured)
    monkeypatch.setattr(scale.subprocess, "run", lambda *a, **k: None)
    monkeypatch.setattr(scale, "git", lambda *a: "abc")
    arguments = SimpleNamespace(
        only=["umap"], largest=3_000, again=False, python=sys.executable, cap=60
    )
    arguments.note = "a trial"
    arguments.output = tmp_path / "scale.json"
    with pytest.raises(KeyboardInterrupt):
        scale.main(arguments)
    scale.main(arguments)
    assert [n for _, n in asked] == [1_000, 3_000, 3_000]
    points = scale.load(arguments.output)
    assert [p["note"] for p in points] == ["a trial", "a trial"]


def quick():
    return lambda: {"answer": 42}


def endless():
    def run():
        while True:
            pass

    return run


def greedy():
    block = np.ones(60_000_000)  # 480 MB
    time.sleep(30)
    return lambda: {"sum": float(block.sum())}


def broken():
    raise ValueError("nothing to do")


def test_a_case_is_held_to_its_limits():
    limits = {"seconds": 0.5, "megabytes": 400}
    assert run_bounded(HERE, "quick", {}, **limits)["answer"] == 42
    failed = {
        name: run_bounded(HERE, name, {}, **limits)["failed"]
        for name in ("endless", "broken")
    }
    assert failed["endless"] == "more than 0.5 s"
    assert failed["broken"] == "ValueError: nothing to do"


@pytest.mark.skipif(not Path("/proc").exists(), reason="memory is read from /proc")
def test_a_case_is_held_to_its_memory():
    found = run_bounded(HERE, "greedy", {}, seconds=60, megabytes=400)
    assert found["failed"] == "more than 0.4 GB"


def test_finished_runs_wait_for_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "kept", lambda name: tmp_path / name)
    calls = []

    def in_own_process(module, function, arguments, timeout):
        calls.append(function)
        good = {"seconds": 1.0}
        return {"failed": "ValueError: no"} if function == "bad" else good

    monkeypatch.setattr(harness, "in_own_process", in_own_process)
    cases = {"a": ("m", "good", {"n": 1}), "b": ("m", "bad", {})}
    harness.run_alternating(cases, 2, timeout=1, keep="trial")
    assert calls.count("good") == 2
    harness.run_alternating(cases, 2, timeout=1, keep="trial")
    # what went well is kept, what failed is tried again
    assert (calls.count("good"), calls.count("bad")) == (2, 4)
    other = cases | {"a": ("m", "good", {"n": 2})}
    harness.run_alternating(other, 2, timeout=1, keep="trial")
    assert calls.count("good") == 4  # other arguments: another case


def test_the_forest_finds_most_neighbours():
    X = forest.clusters(3_000)
    found, squares = forest.nearest(X)
    D = ((X[:50, None] - X[None]) ** 2).sum(axis=2)
    D[np.arange(50), np.arange(50)] = np.inf
    true = np.argsort(D, axis=1)[:, : forest.K]
    hits = [len(np.intersect1d(a, b)) for a, b in zip(true, found, strict=False)]
    assert np.mean(hits) >= 0.95 * forest.K
    assert (np.diff(squares, axis=1) >= 0).all()
    A = forest.symmetric(found)
    assert abs(A - A.T).max() == 0
    assert not A.diagonal().any()


def test_page_and_pictures_from_points(tmp_path):
    points = [point(n, seconds=n / 1e4, beyond_mb=0.0) for n in scale.SIZES[:3]]
    points += [point(30_000, failed="more than 60 s")]
    ours = {"method": "graphfold, exact", "seconds": 1.0, "beyond_mb": 3.0}
    points += [point(1_000) | ours]
    points += [point(3_000) | {"method": "pymde", "failed": "ValueError: no"}]
    path = tmp_path / "scale.json"
    scale.store(points, path)
    text = scale_page.page(json.loads(path.read_text()))
    assert "| umap-learn | 0.10 | 0.30 | 1.00 | > 60 s |  |  |  | 1.00 |" in text
    assert "* pymde at 3,000: `ValueError: no`" in text
    pytest.importorskip("matplotlib")
    scale_page.draw(points, "beyond_mb", "MB", "Memory", tmp_path / "memory.png")
    assert (tmp_path / "memory.png").stat().st_size > 10_000
