"""Run experiments: seed by seed, on several processes, going on where it stopped.

Every run is a file of its own, ``name/run-7000.json``, written at once or not at all;
a run that is there is not measured again. Each process keeps to one BLAS thread, so
runs do not wait for each other and times within a run compare.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import graphfold
from graphfold.arrays import Array
from graphfold.datasets import data_file
from graphfold.errors import GraphfoldError, GraphfoldWarning
from graphfold.experiments import results
from graphfold.experiments.catalogue import EXPERIMENTS, experiment_named
from graphfold.experiments.progress import Progress
from graphfold.experiments.protocol import Cell, Experiment, Measured, Scope
from graphfold.io import write_atomically

FULL_RUNS, QUICK_RUNS = 50, 3
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def reproduce(
    names: Sequence[str],
    *,
    out: str | os.PathLike[str],
    scope: Scope = Scope(),  # noqa: B008 (immutable)
    runs: int | None = None,
    jobs: int | None = None,
    fresh: bool = False,
) -> dict[str, Measured]:
    """Run the experiments named (all if none is) and write what they say into ``out``.

    Parameters
    ----------
    names : experiments, as ``graphfold reproduce --list`` has them
    out : folder for tables and figures; made if it is not there
    scope : quick or full, and where the data are
    runs : Monte Carlo runs; 50, or 3 where quick
    jobs : processes; as many as there are cores
    fresh : measure again what is there already

    Returns
    -------
    dict from name to the numbers of all runs; without experiments whose data are not
    there, which are named on the standard error stream (an error if none is left)
    """
    chosen = [experiment_named(name) for name in names or list(EXPERIMENTS)]
    runs = runs or (QUICK_RUNS if scope.quick else FULL_RUNS)
    lacking = absent_files(chosen, scope)
    able = [each for each in chosen if not each.missing(lacking)]
    if lacking and not able:
        raise GraphfoldError(sentence_on_missing(lacking, scope))
    if lacking:
        print(f"graphfold: {sentence_on_missing(lacking, scope)}", file=sys.stderr)
    measured = {}
    with _workers(jobs or os.cpu_count() or 1) as pool:
        for experiment in able:
            folder = Path(out) / experiment.name
            folder.mkdir(parents=True, exist_ok=True)
            if fresh:
                _forget(folder)
            measured[experiment.name] = _run(experiment, folder, scope, runs, pool)
    return measured


def _run(
    experiment: Experiment, folder: Path, scope: Scope, runs: int, pool: Any
) -> Measured:
    started = time.perf_counter()
    seeds = experiment.seeds(scope, runs)
    here = _provenance(scope)
    done = {seed: _read_run(folder, seed, here) for seed in seeds}
    to_do = [seed for seed, run in done.items() if run is None]
    progress = Progress(experiment.name, len(seeds), len(seeds) - len(to_do))
    progress.stage("preparing")
    _prepare(experiment, folder, scope, here)
    if to_do:
        tasks = [
            pool.submit(measure_run, experiment.name, seed, scope, folder, here)
            for seed in to_do
        ]
        for task in as_completed(tasks):
            seed, run = task.result()
            done[seed] = run
            progress.step()
    numbers = {seed: run for seed, run in done.items() if run is not None}
    measured = Measured.from_runs(
        experiment.columns, {seed: run["numbers"] for seed, run in numbers.items()}
    )
    record = _record(experiment, seeds, list(numbers.values()), here)
    _write(experiment, folder.parent, measured, _prepared(folder), record)
    progress.close(time.perf_counter() - started)
    return measured


def measure_run(
    name: str, seed: int, scope: Scope, folder: Path, here: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    """One run in a process of its own; writes its file and returns what is in it."""
    experiment = experiment_named(name)
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        # the page tells what happens at the letter of the paper; not 50 times here
        warnings.simplefilter("ignore", GraphfoldWarning)
        numbers = experiment.measure(seed, _prepared(folder), scope)
    seconds = time.perf_counter() - started
    rows = [[*cell, float(value)] for cell, value in numbers.items()]
    run = {
        "seed": seed,
        "seconds": round(seconds, 3),
        "commit": _commit(),
        **here,
        "numbers": rows,
    }
    results.write_text(_run_file(folder, seed), json.dumps(run))
    return seed, {**run, "numbers": _by_cell(rows)}


def _prepare(
    experiment: Experiment, folder: Path, scope: Scope, here: dict[str, Any]
) -> None:
    path = folder / "prepared.npz"
    marks = np.array(json.dumps(here, sort_keys=True))
    if path.is_file():
        with np.load(path, allow_pickle=False) as content:
            if str(content["__provenance__"]) == str(marks):
                return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfoldWarning)
        arrays = experiment.prepare(scope)
    content = {**arrays, "__provenance__": marks}
    write_atomically(str(path), lambda stream: np.savez(stream, **content))


@functools.lru_cache(maxsize=2)
def _arrays_of(path: Path, changed: int) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as content:
        return {key: content[key] for key in content if key != "__provenance__"}


def _prepared(folder: Path) -> dict[str, Array]:
    path = folder / "prepared.npz"
    return _arrays_of(path, path.stat().st_mtime_ns)


def _write(
    experiment: Experiment,
    out: Path,
    measured: Measured,
    prepared: dict[str, Array],
    record: dict[str, Any],
) -> None:
    results.write_measured(out / f"{experiment.name}.csv", measured)
    results.write_text(
        out / f"{experiment.name}.md", results.markdown(experiment, measured)
    )
    figure = experiment.draw(measured, prepared)
    formats: dict[str, dict[str, Any]] = {
        "png": {"dpi": 130},
        "svg": {"metadata": {"Date": None}, "dpi": 130},
    }
    for kind, more in formats.items():
        save = functools.partial(figure.savefig, format=kind, **more)
        write_atomically(str(out / f"{experiment.name}.{kind}"), save)
    results.write_record(out / f"{experiment.name}.json", record)


# -- where numbers come from -----------------------------------------------------------


def _provenance(scope: Scope) -> dict[str, Any]:
    """What has to be the same for runs to go together."""
    return {
        "graphfold": graphfold.__version__,
        "quick": scope.quick,
        **{name: version(name) for name in _LIBRARIES},
    }


def _record(
    experiment: Experiment,
    seeds: list[int],
    done: list[dict[str, Any]],
    here: dict[str, Any],
) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "commits": sorted({str(run["commit"]) for run in done}),
        **here,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "seeds": seeds,
        "seconds_per_run": [run["seconds"] for run in done],
    }


@functools.cache
def _commit() -> str | None:
    """Of the working copy that graphfold is installed from, if it is one."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        answer = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True
        )
    except OSError:
        return None
    return answer.stdout.strip() or None


def _run_file(folder: Path, seed: int) -> Path:
    return folder / f"run-{seed}.json"


def _read_run(folder: Path, seed: int, here: dict[str, Any]) -> dict[str, Any] | None:
    path = _run_file(folder, seed)
    if not path.is_file() or not (folder / "prepared.npz").is_file():
        return None
    run = json.loads(path.read_text())
    if any(run.get(key) != value for key, value in here.items()):
        return None  # another version, or a quick run: measured again
    return {**run, "numbers": _by_cell(run["numbers"])}


def _by_cell(rows: list[list[Any]]) -> dict[Cell, float]:
    return {tuple(row[:-1]): row[-1] for row in rows}


def _forget(folder: Path) -> None:
    for path in [*folder.glob("run-*.json"), *folder.glob("prepared.npz")]:
        path.unlink()


# -- data that are not there -----------------------------------------------------------


def absent_files(experiments: Sequence[Experiment], scope: Scope) -> dict[str, str]:
    """Data sets that experiments need and that are not there: name to sentence."""
    absent = {}
    for name in dict.fromkeys(name for each in experiments for name in each.files):
        try:
            data_file(name, scope.data_dir)
        except FileNotFoundError as error:
            absent[name] = str(error)
    return absent


def sentence_on_missing(lacking: dict[str, str], scope: Scope) -> str:
    """Which file, where it is usually found, and what runs without it."""
    everything = list(EXPERIMENTS.values())
    absent = {**lacking, **absent_files(everything, scope)}
    without = [each.name for each in everything if not each.missing(absent)]
    stopped = [each.name for each in everything if each.missing(lacking)]
    return (
        f"{'; '.join(lacking.values())}; {' and '.join(stopped)} cannot run, "
        f"{', '.join(without)} can"
    )


# -- processes -------------------------------------------------------------------------


@contextmanager
def _workers(jobs: int) -> Iterator[Any]:
    """A pool of processes; what has not begun is dropped when we are interrupted."""
    # a fork would inherit the state of BLAS threads
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_die_quietly)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _die_quietly() -> None:
    """An interrupt ends a worker at once; the traceback would say nothing."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
