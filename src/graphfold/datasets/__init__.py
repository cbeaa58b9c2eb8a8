"""Data sets: bundled digits, and real sets read from a data directory.

=============  ===========================================================
digits         ``load_digits``: images, labels and a graph, nothing to download
files          ``load_cora``, ``load_mnist`` from ``GRAPHFOLD_DATA``
=============  ===========================================================
"""

from graphfold.datasets.digits import load_digits
from graphfold.datasets.files import data_file, load_cora, load_mnist

__all__ = ["data_file", "load_cora", "load_digits", "load_mnist"]
