"""Files of the shell: tables, graphs, pairs and labels in, embeddings out.

=============  ======================================================================
paths          which format a path means; missing files, folders and packages
names          names of rows and nodes in arrays
text           columns of csv and tsv files, read fast; bad cells named by line
arrays         npy, npz, mtx
matrix_market  what a mtx file claims, before SciPy believes it
graphml        XML without tricks, before networkx sees it
annotated      h5ad, zarr: the parts that are asked for
copies         h5ad, zarr: copies with an embedding
tables         ``read_table``: numbers, names of rows, columns set aside
graphs         ``read_graph``: edge lists, matrices, graphml, obsp
pairs          ``read_pairs``, ``read_links``: must-link and cannot-link
columns        ``read_column``: classes or texts, one for each row
writing        ``write_table``
ours           whether a file was written by graphfold
partitions     ``read_parts``, ``write_parts``: tables that Dask's workers read, write
edge_parts     ``read_graph_for_parts``: graphs for such tables
pieces         row groups of parquet files
=============  ======================================================================
"""

from graphfold.files.arrays import is_model, read_matrix
from graphfold.files.columns import read_column
from graphfold.files.graphs import read_graph
from graphfold.files.pairs import read_links, read_pairs
from graphfold.files.paths import existing, to_be_written
from graphfold.files.tables import Table, read_table
from graphfold.files.writing import write_table

__all__ = [
    "Table",
    "existing",
    "is_model",
    "read_column",
    "read_graph",
    "read_links",
    "read_matrix",
    "read_pairs",
    "read_table",
    "to_be_written",
    "write_table",
]
