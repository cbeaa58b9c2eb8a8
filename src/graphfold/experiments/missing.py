"""Data that are not there: which file, where it is found, what runs without it."""

from __future__ import annotations

from collections.abc import Sequence

from graphfold.datasets import data_file
from graphfold.experiments.catalogue import EXPERIMENTS
from graphfold.experiments.protocol import Experiment, Scope


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
        f"{'; '.join(lacking.values())}; {', '.join(stopped)} cannot run, "
        f"{', '.join(without)} can"
    )
