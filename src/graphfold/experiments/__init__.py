"""The paper's experiments, and two studies of ours: each a script of public calls.

=================  ============================================================
protocol           what an experiment is, its numbers, and claims about them
runner, progress   run seed by seed, on several processes, going on where it stopped
results, page      tables and records on disk; the page that tells them all
figures, methods   what several experiments share
catalogue          the experiments by name; each has a module of its own
=================  ============================================================
"""

from graphfold.experiments.catalogue import EXPERIMENTS, experiment_named
from graphfold.experiments.page import write_page
from graphfold.experiments.protocol import Claim, Experiment, Measured, Scope
from graphfold.experiments.runner import reproduce

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Experiment",
    "Measured",
    "Scope",
    "experiment_named",
    "reproduce",
    "write_page",
]
