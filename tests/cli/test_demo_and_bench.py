"""``graphfold demo`` and ``graphfold bench``: small runs of the whole command."""

import json

import numpy as np
import pytest

from graphfold import bench, demo
from graphfold.bench.data import rows_of
from graphfold.bench.measuring import Measured, ours_at
from graphfold.cli import main
from tests.cli.command import answer
from tests.cli.command import graphfold as command


def test_demo_prints_a_table_and_draws_a_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs the plot extra")
    words = ["-o", "demo.png", "--map", "demo.html"]
    output = command("demo", *words, cwd=tmp_path).stdout
    scores = {
        line.split()[0]: [float(word) for word in line.split()[1:3]]
        for line in output.splitlines()
        if line.startswith(("PCA", "KernelPCA", "GraphKernelPCA"))
    }
    assert scores["GraphKernelPCA"][0] > scores["KernelPCA"][0] + 0.15
    assert scores["GraphKernelPCA"][1] < scores["KernelPCA"][1] - 0.1
    path = tmp_path / "demo.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000
    assert (tmp_path / "demo.html").stat().st_size > 200_000
    assert output.endswith("\nwrote demo.png, demo.html\n")


def test_demo_for_machines(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="the picture needs the plot extra")
    monkeypatch.chdir(tmp_path)
    row = demo.Row("GraphKernelPCA", np.ones((2, 2)), 0.75, 0.25, 1.5, None)
    monkeypatch.setattr(demo, "run_demo", lambda say: [row])
    monkeypatch.setattr(demo, "draw_demo", lambda rows, path: None)
    assert main(["demo", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    scores = {"accuracy": 0.75, "clustering_error": 0.25, "seconds": 1.5}
    assert said["methods"] == [{"name": "GraphKernelPCA"} | scores]
    assert said["wrote"] == ["demo.png"]


def test_bench_times_each_in_its_own_process(folder):
    words = ["plain.npy", "--rows", "30", "--repeats", "2", "--methods"]
    said = answer("bench", *words, "PCA", "GraphKernelPCA", cwd=folder)
    assert said["command"] == "bench"
    assert (said["data"], said["repeats"]) == ("plain.npy", 2)
    cases = [(each["rows"], each["method"]) for each in said["results"]]
    assert cases == [(30, "GraphKernelPCA"), (30, "PCA")]
    for each in said["results"]:
        assert len(each["seconds"]) == 2
        assert each["median"] == pytest.approx(np.median(each["seconds"]))
        assert each["failed"] is None
    assert said["results"][0]["ratio"] == 1.0


def test_bench_prints_a_table(capsys):
    words = ["--rows", "40", "--repeats", "1", "--methods", "GraphKernelPCA, graph"]
    assert main(["bench", *words, "GraphKernelPCA"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "rows",
        "method",
        "seconds",
        "MB",
        "ratio",
        "to",
        bench.OURS,
    ]
    assert lines[1].split()[:2] == ["40", "GraphKernelPCA"]
    assert lines[1].endswith("1.00")
    assert "GraphKernelPCA, graph" in lines[2]
    assert lines[-1] == "medians of 1, each run in a process of its own"


def test_peers_are_those_that_are_installed(monkeypatch, capsys):
    from graphfold.bench import methods

    assert {"PCA", "KernelPCA", "SpectralEmbedding"} <= set(bench.installed())
    monkeypatch.setattr(methods, "find_spec", lambda name: name == "sklearn")
    assert "UMAP" not in bench.installed()
    assert main(["bench", "--methods", "UMAP"]) == 2
    assert "UMAP is not installed: pip install umap-learn" in capsys.readouterr().err


@pytest.mark.parametrize("name", [m for m in bench.METHODS if m != "UMAP"])
def test_every_method_embeds(name):
    X = rows_of(None, 80)
    assert bench.METHODS[name].make(X, 2).fit_transform(X).shape == (80, 2)


def test_ratios_are_of_one_repeat():
    ours = Measured(bench.OURS, 10, [1.0, 10.0, 2.0], [5.0, 7.0, 6.0])
    slow = Measured("KernelPCA", 10, [2.0, 20.0, 8.0], [1.0, 1.0, 1.0])
    assert slow.ratio(ours) == 2.0
    assert (ours.median, ours.peak_mb) == (2.0, 6.0)
    assert ours_at([slow, ours], 10) is ours
    assert ours_at([slow], 10) is None
    failed = Measured("UMAP", 10, failed="more than 1 s")
    assert failed.ratio(ours) is failed.median is failed.peak_mb is None


def test_a_run_that_fails_or_takes_too_long_is_said(tmp_path):
    found = bench.measure(["PCA"], [5], repeats=2, components=50)[0]
    assert "n_components=50 must be between" in found.failed
    assert found.seconds == []
    found = bench.measure(["PCA"], [5], repeats=2, timeout=0.01)[0]
    assert found.failed == "more than 0.01 s"


def test_rows_are_as_many_as_asked_for_and_all_different():
    for n in (10, 2000):
        X = rows_of(None, n)
        assert X.shape == (n, 64)
        assert len(np.unique(X, axis=0)) == n
