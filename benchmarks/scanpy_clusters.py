"""Clusters of blood cells by PCA and by us, as docs/interoperability.md tells them.

``python -m benchmarks.scanpy_clusters``; the graph is made of the same genes, so that
no gain is to be expected.
"""

from __future__ import annotations

import scanpy as sc
from sklearn.metrics import adjusted_rand_score

from graphfold import ad


def main() -> None:
    adata = sc.datasets.pbmc68k_reduced()  # comes with scanpy
    sc.pp.neighbors(adata, n_neighbors=15, method="gauss")
    ad.graph_kernel_pca(adata, n_comps=20, kernel="linear")
    print("| representation | resolution | clusters | adjusted Rand index |")
    for representation in ("X_pca", "X_graphfold"):
        sc.pp.neighbors(adata, n_neighbors=15, use_rep=representation, method="gauss")
        for resolution in (0.3, 1.0):
            sc.tl.leiden(
                adata, resolution, flavor="igraph", n_iterations=2, directed=False
            )
            found = adata.obs["leiden"]
            agreement = adjusted_rand_score(adata.obs["bulk_labels"], found)
            print(
                f"| {representation} | {resolution} | {found.nunique()} "
                f"| {agreement:.2f} |"
            )


if __name__ == "__main__":
    main()
