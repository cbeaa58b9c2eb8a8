"""graphfold for AnnData and MuData: scanpy's verbs over the estimators.

=================================  ==================================================
graph_kernel_pca                   kernel PCA pulled to graphs of the cells
semi_supervised_graph_kernel_pca   the same, with labels of a few cells
multi_modal_graph_embedding        MuData: one embedding of several modalities
spatial_neighbors                  a graph of cells near each other, per section
transform                          new cells by the model of a reference
model                              the fitted estimator that a verb has kept
=================================  ==================================================

The verbs are thin: they take arrays and graphs out of an object, fit an estimator and
write what it found where scanpy's users look for it. Inside:

    checks      what an AnnData or a MuData must be      reading   its tables
    edges       its graphs, cut where sections meet       results   where answers go
    verbs, modalities, spatial, placing                   the verbs

anndata itself is never imported: what has the parts of an AnnData is one.
"""

from graphfold.ad.modalities import multi_modal_graph_embedding
from graphfold.ad.placing import model, transform
from graphfold.ad.spatial import spatial_neighbors
from graphfold.ad.verbs import graph_kernel_pca, semi_supervised_graph_kernel_pca

__all__ = [
    "graph_kernel_pca",
    "model",
    "multi_modal_graph_embedding",
    "semi_supervised_graph_kernel_pca",
    "spatial_neighbors",
    "transform",
]
