"""Data sets: bundled digits, and real sets read from a data directory.

=============  ===========================================================
digits         ``load_digits``: images, labels and a graph, nothing to download
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

__all__ = [
    "data_file",
    "load_cora",
    "load_digits",
    "load_mfeat",
    "load_mnist",
    "load_usps",
]
