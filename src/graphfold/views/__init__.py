"""The face: one offline page with a map to explore and a report to read.

===========  ===============================================================
view         ``view``: read what is given, and write the page
sources      embeddings of the same rows, and what estimators know of them
columns      what points are coloured by, searched for, and shown with
layouts      two dimensions out of many: UMAP, t-SNE
pictures     thumbnails
links        edges and pairs by the position of their ends
packing      columns as binary blocks of a page
page         the built page (sources in ``web/``) filled in; ``Map``
===========  ===============================================================
"""

from graphfold.views.page import Map
from graphfold.views.view import view

__all__ = ["Map", "view"]
