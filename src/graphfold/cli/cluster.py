"""A Dask cluster for one command: workers of its own, or a scheduler to connect to."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import graphfold
from graphfold.cli.arguments import UsageError, count
from graphfold.cli.output import Console
from graphfold.errors import ClusterError

#: seconds in which a scheduler has to answer
ANSWERING = 5.0


class Cluster(NamedTuple):
    """Who does the work, and where it can be watched, if it can."""

    client: Any
    dashboard: str | None


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Options that say who works."""
    workers = parser.add_argument_group("on Dask (parquet or zarr in and out)")
    workers.add_argument(
        "--workers", type=count, metavar="N", help="start N workers on this machine"
    )
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="let the workers of a scheduler do it, such as tcp://HOST:8786; they see "
        "the files by the same paths",
    )
    workers.add_argument(
        "--memory-limit", metavar="SIZE", help="of each of N workers, such as 4GB"
    )


def asks_for_cluster(arguments: argparse.Namespace) -> bool:
    """Whether the options name workers, in words that go together."""
    if arguments.workers and arguments.dask:
        raise UsageError("--workers starts a cluster and --dask joins one: say either")
    if arguments.memory_limit and not arguments.workers:
        raise UsageError(
            "--memory-limit is that of workers that --workers starts; say --workers N"
        )
    return bool(arguments.workers or arguments.dask)


@contextmanager
def cluster_for(arguments: argparse.Namespace, console: Console) -> Iterator[Cluster]:
    """The cluster that the options name; one that was started here is ended here."""
    if not getattr(arguments, "debug", False):
        _say_nothing_of_workers()
    with ExitStack() as opened:
        if arguments.dask:
            text = f"connecting to {arguments.dask}"
            with console.stage("connecting", text):
                client = opened.enter_context(_joined(arguments.dask))
        else:
            text = f"starting {arguments.workers} workers"
            with console.stage("starting", text), _interrupts_held_back():
                client = opened.enter_context(_started(arguments))
        dashboard = _dashboard_of(client)
        if dashboard:
            console.note(f"dashboard: {dashboard}")
        yield Cluster(client, dashboard)


@contextmanager
def _started(arguments: argparse.Namespace) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=arguments.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=_memory(arguments.memory_limit),
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _joined(address: str) -> Iterator[Any]:
    from distributed import Client

    _refuse_silence(address)
    with Client(address, timeout=ANSWERING) as client:
        _refuse_strangers(client, address)
        yield client


def _memory(size: str | None) -> Any:
    from dask.utils import parse_bytes

    if size is None:
        return "auto"
    try:
        return parse_bytes(size)
    except ValueError:
        raise UsageError(
            f"--memory-limit must be a size such as 4GB; got {size}"
        ) from None


def _refuse_silence(address: str) -> None:
    """Ask first: a Client waits for ever for someone who listens and says nothing."""

    async def ask() -> None:
        from distributed import Security
        from distributed.core import rpc

        how = Security().get_connection_args("client")
        async with rpc(address, connection_args=how) as scheduler:
            await scheduler.ncores(workers=None)

    async def in_time() -> None:
        await asyncio.wait_for(ask(), ANSWERING)

    try:
        asyncio.run(in_time())
    except Exception as error:  # whatever comes from what is no scheduler
        why = str(error) or f"nobody answered for {ANSWERING:.0f} s"
        raise ClusterError(
            f"--dask must be the address of a scheduler, such as tcp://127.0.0.1:8786; "
            f"at {address} there is none: {why}"
        ) from error


def _refuse_strangers(client: Any, address: str) -> None:
    """Who reads the tasks, the scheduler and its workers, has to know their words."""
    known = client.get_versions(packages=["graphfold"])
    found = {"the scheduler": known["scheduler"], **known["workers"]}
    for name, versions in found.items():
        theirs = versions["packages"].get("graphfold")
        if theirs != graphfold.__version__:
            raise ClusterError(
                f"the scheduler and the workers at {address} must have graphfold "
                f"{graphfold.__version__} installed; {name} has {theirs or 'none'}"
            )


def _dashboard_of(client: Any) -> str | None:
    """The link to watch it by; None where the scheduler shows nothing."""
    try:
        if client.cluster is not None:
            import bokeh  # noqa: F401 (without it there is a link to nothing)
        return str(client.dashboard_link)
    except (ImportError, KeyError):
        return None


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """An interrupt waits for the end of this; threads and processes begun never see it.

    Ctrl-C reaches all processes of a terminal: workers would die of it with a
    traceback each, while it is for this process to end them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # the first to start it would see interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _say_nothing_of_workers() -> None:
    """What went wrong is one sentence; Dask's own words are for --debug."""
    import distributed

    for name in ("distributed", "distributed.client", "tornado", "bokeh", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    del distributed  # imported first, since it sets these levels itself
