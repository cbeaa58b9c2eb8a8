"""Pictures of the documentation: ``python -m benchmarks.pictures``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from graphfold import (
    GraphKernelPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    kernels,
    plot,
)
from graphfold.datasets import load_digits, swiss_roll, two_manifolds
from graphfold.demo import run_demo
from graphfold.errors import GraphfoldWarning

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def roll_methods() -> dict:
    return {
        "PCA": PCA(2),
        "Isomap: kernel=Geodesic(12)": GraphKernelPCA(2, kernel=kernels.Geodesic(12)),
        "LLE: order=1": LocalNonlinearEmbedding(2, n_neighbors=12, order=1),
        "LaplacianEigenmaps": LaplacianEigenmaps(2, n_neighbors=12),
    }


def knot_methods() -> dict:
    settings = {"n_neighbors": 20}
    return {
        "PCA": PCA(2),
        "Isomap: kernel=Geodesic(20)": GraphKernelPCA(2, kernel=kernels.Geodesic(20)),
        "LLE: order=1": LocalNonlinearEmbedding(2, order=1, **settings),
        "LocalNonlinearEmbedding": LocalNonlinearEmbedding(2, **settings),
    }


def draw(ax, Z, color, cmap, title: str) -> None:
    Z = Z / np.abs(Z).max(axis=0)
    ax.scatter(*Z.T, c=color, cmap=cmap, s=6, linewidths=0)
    ax.set_title(title, fontsize=10)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("0.8")


def start_page() -> None:
    """The digits of the demo, small enough for a phone."""
    digits = load_digits()
    figure, axes = plt.subplots(1, 2, figsize=(5.2, 2.8), layout="constrained")
    for ax, row in zip(axes, run_demo(lambda _: None)[1:], strict=True):
        plot.embedding(row.Z, digits.target, ax=ax, title=row.name)
    figure.savefig(IMAGES / "demo-phone.png", dpi=150)


def manifolds() -> None:
    """The picture of docs/local.md."""
    warnings.simplefilter("ignore", GraphfoldWarning)
    roll, place = swiss_roll(1500, random_state=0)
    knot, which = two_manifolds("sphere", random_state=0)
    figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
    for ax, (title, model) in zip(axes[0], roll_methods().items(), strict=True):
        draw(ax, model.fit_transform(roll), place[:, 0], "viridis", title)
    colors = matplotlib.colors.ListedColormap(["#1f77b4", "#e6761b"])
    for ax, (title, model) in zip(axes[1], knot_methods().items(), strict=True):
        draw(ax, model.fit_transform(knot), which, colors, title)
    axes[0, 0].set_ylabel("Swiss roll, by place along it")
    axes[1, 0].set_ylabel("sphere (blue) around a trefoil")
    figure.savefig(IMAGES / "manifolds.png", dpi=130)


if __name__ == "__main__":
    manifolds()
    start_page()
