"""What reads files of strangers, and for how many rows."""

import numpy as np

from graphfold.files import read_column, read_graph, read_links

MEGABYTE = 2**20
N = 12
LABELS = np.array([f"n{i}" for i in range(N)])


def graph(path):
    return read_graph(path, None, N)


def named_graph(path):
    return read_graph(path, LABELS, N)


def column(path):
    return read_column(path, None, N)


def links(path):
    return read_links(path, LABELS, N)
