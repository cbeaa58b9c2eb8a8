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
import struct
import sys
import time
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from graphfold import documents
from graphfold.archives import Archive
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError, GraphfoldWarning
from graphfold.experiments import results
from graphfold.experiments.catalogue import EXPERIMENTS, experiment_named
from graphfold.experiments.figures import write_figure
from graphfold.experiments.missing import absent_files, sentence_on_missing
from graphfold.experiments.progress import Progress
from graphfold.experiments.protocol import Cell, Experiment, Measured, Scope
from graphfold.experiments.provenance import commit, provenance
from graphfold.replacing import clear_up, write_atomically

FULL_RUNS, QUICK_RUNS = 50, 3
_MARKS = "__marks__"
#: what comes of a file that was cut off or changed; NotImplementedError is what zipfile
#: says of a compression that there is none of
_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


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

    Examples
    --------
    >>> import tempfile
    >>> from graphfold.experiments import Scope, reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     quick = Scope(quick=True)
    ...     numbers = reproduce(["readings"], out=folder, scope=quick, runs=1, jobs=1)
    >>> numbers["readings"].mean(reading="LLE", columns="scaled") < 0.5
    True
    """
    chosen = [experiment_named(name) for name in names or list(EXPERIMENTS)]
    _refuse_to_replace_full_results(chosen, Path(out), scope)
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
            clear_up(folder)  # of a run that was killed: perhaps none is to be done
            if fresh:
                _forget(folder)
            measured[experiment.name] = _run(experiment, folder, scope, runs, pool)
    return measured


def _run(
    experiment: Experiment, folder: Path, scope: Scope, runs: int, pool: Any
) -> Measured:
    started = time.perf_counter()
    seeds = experiment.seeds(scope, runs)
    here = provenance(scope)
    done = {seed: _read_run(folder, seed, here) for seed in seeds}
    to_do = [seed for seed, run in done.items() if run is None]
    with Progress(experiment.name, len(seeds), len(seeds) - len(to_do)) as progress:
        progress.stage("preparing")
        _prepare(experiment, folder, scope, here)
        tasks = {
            pool.submit(
                measure_run, experiment.name, seed, scope, folder, here, commit()
            ): seed
            for seed in to_do
        }
        for task in as_completed(tasks):
            done[tasks[task]] = _answer(task, f"{experiment.name}, seed {tasks[task]}")
            progress.step()
        numbers = {seed: run for seed, run in done.items() if run is not None}
        measured = Measured.from_runs(
            experiment.columns, {seed: run["numbers"] for seed, run in numbers.items()}
        )
        record = _record(experiment, seeds, list(numbers.values()), here, folder)
        _write(experiment, folder.parent, measured, _prepared(folder), record)
        progress.close(time.perf_counter() - started)
    return measured


def _answer(task: Any, what: str) -> dict[str, Any]:
    try:
        return dict(task.result())
    except BrokenProcessPool:
        raise GraphfoldError(
            f"a worker process died ({what}), perhaps for want of memory: run again "
            "with fewer --jobs, it goes on where it stopped"
        ) from None
    except Exception as error:
        error.add_note(f"in {what}")
        raise


def measure_run(
    name: str,
    seed: int,
    scope: Scope,
    folder: Path,
    here: dict[str, Any],
    at: str | None,
) -> dict[str, Any]:
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
        "commit": at,
        **here,
        "numbers": rows,
    }
    results.write_text(_run_file(folder, seed), json.dumps(run))
    return {**run, "numbers": _by_cell(rows)}


def _prepare(
    experiment: Experiment, folder: Path, scope: Scope, here: dict[str, Any]
) -> None:
    """Make the arrays that all runs share, unless they are there."""
    if _preparation(folder).get("of") == here:
        return
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfoldWarning)
        arrays = experiment.prepare(scope)
    seconds = round(time.perf_counter() - started, 3)
    marks = json.dumps({"of": here, "commit": commit(), "seconds": seconds})
    content: dict[str, Any] = {**arrays, _MARKS: np.array(marks)}
    path = folder / "prepared.npz"
    write_atomically(str(path), lambda stream: np.savez(stream, **content))


def _preparation(folder: Path) -> dict[str, Any]:
    """Of what, at which commit, how long; empty where there is none that is whole."""
    try:
        with Archive(folder / "prepared.npz") as content:
            marks = documents.parsed(str(content[_MARKS]).encode())
    except _DAMAGED:
        return {}
    return marks if isinstance(marks, dict) else {}


@functools.lru_cache(maxsize=2)
def _arrays_of(path: Path, changed: int) -> dict[str, Array]:
    with Archive(path) as content:
        return {key: content[key] for key in content if key != _MARKS}


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
    write_figure(experiment.draw(measured, prepared), out, experiment.name)
    results.write_record(out / f"{experiment.name}.json", record)


# -- files -----------------------------------------------------------------------------


def _record(
    experiment: Experiment,
    seeds: list[int],
    done: list[dict[str, Any]],
    here: dict[str, Any],
    folder: Path,
) -> dict[str, Any]:
    prepared = _preparation(folder)
    return {
        "experiment": experiment.name,
        "commits": sorted({str(of["commit"]) for of in (prepared, *done)}),
        **here,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "seeds": seeds,
        "seconds_preparing": prepared["seconds"],
        "seconds_per_run": [run["seconds"] for run in done],
    }


def _run_file(folder: Path, seed: int) -> Path:
    return folder / f"run-{seed}.json"


def _read_run(folder: Path, seed: int, here: dict[str, Any]) -> dict[str, Any] | None:
    try:
        run = documents.read(_run_file(folder, seed))
        if any(run.get(key) != value for key, value in here.items()):
            return None  # another version, or a quick run: measured again
        return {**run, "numbers": _by_cell(run["numbers"])}
    except (OSError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        return None  # not there, or broken by another hand


def _by_cell(rows: list[list[Any]]) -> dict[Cell, float]:
    return {tuple(row[:-1]): row[-1] for row in rows}


def _refuse_to_replace_full_results(
    experiments: Sequence[Experiment], out: Path, scope: Scope
) -> None:
    for experiment in experiments if scope.quick else ():
        path = out / f"{experiment.name}.json"
        if path.is_file() and not results.read_record(path).get("quick"):
            raise GraphfoldError(
                f"{out} has a full run of {experiment.name}, which a quick one would "
                "replace: give --out another folder"
            )


def _forget(folder: Path) -> None:
    for path in [*folder.glob("run-*.json"), *folder.glob("prepared.npz")]:
        path.unlink()


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
    """An interrupt ends a worker at once; the traceback would say nothing.

    Where interrupts are ignored, as by a job in the background, workers ignore them.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
