"""``SemiSupervisedGraphKernelPCA``: a few labels, or pairs that belong together."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.estimators.constraints import LinksInMemory, read_links
from graphfold.estimators.fitting import Sources
from graphfold.estimators.graph_kernel_pca import GraphKernelPCA
from graphfold.estimators.progress import guarded_fit
from graphfold.estimators.reading import (
    check_parameters,
    lies_on_workers,
    read_anywhere,
    workers,
)
from graphfold.estimators.rows import labels_for
from graphfold.estimators.statement import Statement, generator
from graphfold.estimators.states import Constrained, checker
from graphfold.model.problem import Problem


@io.register
class SemiSupervisedGraphKernelPCA(GraphKernelPCA):
    """Kernel PCA that keeps together what belongs together, and apart what does not.

    M = K + gamma R - g1 L_S + g2 L_D: links S between rows of one class and D between
    rows of different ones, from a few labels, from pairs, or from both; and what else
    is known, a graph. A class of any size costs O(n) per product.

    Parameters
    ----------
    n_components : int, default=2
    must_link, cannot_link : sequence of pairs, default=None
        Labels of rows, or positions where rows have none. Pairs whose rows are not in
        the fit are passed over, so folds of a cross-validation work.
    closure : bool, default=True
        True: must-links are transitive, and what a row is kept apart from, its whole
        group is; links that then contradict each other are refused. False is the
        paper's letter: S and D hold the given pairs and the pairs of labelled rows,
        and nothing that follows from them. Only a pair that is in both, by pairs or
        by labels, is refused.
    must_link_strength, cannot_link_strength : float, default=0.5
        g1 and g2 without dimension, like ``graph_strength``, times the square root of
        the share of rows that have links; with ``normalize=False`` the numbers
        themselves. ``normalize=False, center=False, laplacian="combinatorial",
        closure=False, scaling="orthonormal"`` is the paper's letter.
    kernel, graph, graph_strength, landmarks, landmark_choice, refine, forgetting, \
max_memory, ... :
        As in :class:`GraphKernelPCA`. ``partial_fit`` takes ``y`` with each batch.

    Attributes
    ----------
    constraint_report_ : ConstraintReport
        Pairs and rows that the embedding does not keep as asked.
    embedding_, eigenvalues_, warnings_, ... :
        As in :class:`GraphKernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from graphfold import SemiSupervisedGraphKernelPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 10 == 0, y, -1)[:300]
    >>> model = SemiSupervisedGraphKernelPCA(2).fit(X[:300], y)
    >>> model.constraint_report_.n_labelled
    30
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        graph: Any = None,
        response: Any = None,
        laplacian: str = "normalized",
        graph_strength: float | str = 1.0,
        must_link: Any = None,
        cannot_link: Any = None,
        closure: bool = True,
        must_link_strength: float = 0.5,
        cannot_link_strength: float = 0.5,
        normalize: bool = True,
        weights: Any = "learn",
        weight_norm: float = 2.0,
        center: bool = True,
        scaling: str = "eigenvalue",
        solver: str = "auto",
        landmarks: Any = None,
        landmark_choice: str = "auto",
        refine: bool | str = "auto",
        forgetting: float = 1.0,
        max_memory: int | str | None = None,
        align_to: Any = None,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            graph=graph,
            response=response,
            laplacian=laplacian,
            graph_strength=graph_strength,
            normalize=normalize,
            weights=weights,
            weight_norm=weight_norm,
            center=center,
            scaling=scaling,
            solver=solver,
            landmarks=landmarks,
            landmark_choice=landmark_choice,
            refine=refine,
            forgetting=forgetting,
            max_memory=max_memory,
            align_to=align_to,
            fit_inverse_transform=fit_inverse_transform,
            alpha=alpha,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            verbose=verbose,
        )
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.closure = closure
        self.must_link_strength = must_link_strength
        self.cannot_link_strength = cannot_link_strength

    _check_loaded = checker(Constrained)

    @guarded_fit
    def fit(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Self:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n, n_features)
        y : array of shape (n,), default=None
            Classes, with -1 (or NaN, or None) where unknown; or numbers with a
            fraction, which are linked by how near they are (NaN unknown).
        node_ids : sequence of n labels, default=None

        Returns
        -------
        self
        """
        graphs = self._graphs()
        raw, X = X, read_anywhere(self, X)
        check_parameters(self, X.shape[0])
        check.flag("closure", self.closure)
        for name in ("must_link_strength", "cannot_link_strength"):
            check.at_least(name, getattr(self, name), 0)
        labels = labels_for(raw, X, node_ids, self._keyed(graphs))
        self._row_labels = labels_for(raw, X, node_ids, True)
        self._solve(X, y, labels, graphs)
        return self

    def _solve(
        self, X: Any, y: Any, labels: Array | None, graphs: Sources, **how: Any
    ) -> None:
        asked = y, self.must_link, self.cannot_link, labels
        links: Any = (
            workers().read_links_on_workers(*asked, X, closure=self.closure)
            if lies_on_workers(X)
            else LinksInMemory(read_links(*asked, X.shape[0], closure=self.closure))
        )
        rng = generator(self.random_state)
        constrain = self._constrain(links)
        self._fit_rows(X, y, labels, graphs, rng, constrain, **how)
        V = self._extension.V * np.sqrt(self._extension.V.shape[0])
        self.constraint_report_ = links.report(V, labels, rng)
        self._finish(rng)

    def _keyed(self, graphs: Sources) -> bool:
        return self._has_pairs() or super()._keyed(graphs)

    def _constrain(self, links: Any) -> Any:
        def constrain(statement: Statement) -> Problem:
            return links.add_to(
                statement.problem,
                kind=self.laplacian,
                strengths={
                    "must-link": float(self.must_link_strength),
                    "cannot-link": float(self.cannot_link_strength),
                },
                top=statement.top if self.normalize else None,
            )

        return constrain

    def _has_pairs(self) -> bool:
        pairs = (self.must_link, self.cannot_link)
        return any(listed is not None and len(listed) > 0 for listed in pairs)

    def _measures_the_data(self) -> bool:
        return True

    def _knows_rows_by_content(self) -> bool:
        return not self._sources or super()._knows_rows_by_content()

    def _label_keys(self) -> Any:
        return self._fit_labels is not None
