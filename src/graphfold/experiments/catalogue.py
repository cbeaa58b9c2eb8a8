"""Every experiment by its name, in the order in which they are run and told."""

from __future__ import annotations

from graphfold.errors import GraphfoldError
from graphfold.experiments import (
    brain,
    citations,
    clustering,
    faces,
    geometry,
    manifolds,
    readings,
    semi_supervised,
    swiss_roll,
)
from graphfold.experiments.protocol import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        faces,
        clustering,
        semi_supervised,
        swiss_roll,
        geometry,
        readings,
        manifolds,
        citations,
        brain,
    )
}


def experiment_named(name: str) -> Experiment:
    """Look one up; a name that is not there is answered by those that are."""
    if name not in EXPERIMENTS:
        raise GraphfoldError(
            f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]
