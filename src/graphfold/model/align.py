"""Axes turned to lie as near as possible to those of another embedding."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphfold.arrays import Array


def nearest_rotation(Z: Array, reference: Array) -> Array:
    """The orthogonal T that brings Z T nearest to the reference (Procrustes).

    Reflections count as rotations: the sign of an axis has no meaning of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.model.align import nearest_rotation
    >>> Z = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> nearest_rotation(Z, -Z)
    array([[-1.,  0.],
           [ 0., -1.]])
    """
    product = Z.T.astype(np.float64) @ reference.astype(np.float64)
    U, _, Wt = scipy.linalg.svd(product)
    return np.asarray(U @ Wt) + 0.0  # no negative zeros


def carried_eigenvalues(values: Array, T: Array) -> Array:
    """Rayleigh quotients of the turned axes: the diagonal of T' Lambda T."""
    return np.einsum("ij,i,ij->j", T, values.astype(np.float64), T)
