"""Data sets: bundled digits, manifolds, and real sets read from a data directory.

=============  ===========================================================
digits         ``load_digits``: images, labels and a graph, nothing to download
manifolds      ``trefoil``, ``plane_with_hole``, ``punctured_sphere``,
               ``swiss_roll``, ``two_manifolds``
files          ``load_cora``, ``load_mnist``, ``load_usps``, ``load_mfeat`` from
               ``GRAPHFOLD_DATA``
=============  ===========================================================
"""

from graphfold.datasets.digits import load_digits
from graphfold.datasets.files import (
    data_file,
    load_cora,
    load_mfeat,
    load_mnist,
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
    "load_cora",
    "load_digits",
    "load_mfeat",
    "load_mnist",
    "load_usps",
    "plane_with_hole",
    "punctured_sphere",
    "swiss_roll",
    "trefoil",
    "two_manifolds",
]
