"""How a graph speaks: scalar functions r(lambda) of its Laplacian's eigenvalues.

Kernel form adds r_dagger(L) = 1 / r(L) to the problem (0 where r is 0), penalty form
adds -r(L). A response is a scalar function and its parameters, nothing else: how it is
applied to a large graph is not decided here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self, final

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import ResponseError
from graphfold.params import Params

Form = Literal["kernel", "penalty"]
FORMS = ("kernel", "penalty")
ZERO = 1e-10


class Response(Params):
    """A non-decreasing r(lambda) >= 0, in kernel or in penalty form."""

    form: Form
    #: whether polynomials approximate it: no jump, no pole
    smooth: bool = True

    def check(self, largest: float) -> None:
        """Raise if the response is not defined up to the eigenvalue ``largest``."""
        check.one_of("form", self.form, FORMS)
        self.check_parameters()

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise if a parameter is out of range."""

    @abstractmethod
    def r(self, eigenvalues: Array) -> Array:
        """r at ascending eigenvalues."""

    def r_dagger(self, eigenvalues: Array) -> Array:
        """1 / r, and 0 where r is 0."""
        return inverse_where_positive(self.r(eigenvalues), eigenvalues)

    def term(self, eigenvalues: Array) -> Array:
        """Eigenvalues of the term that joins M: r_dagger, or -r."""
        if self.form == "kernel":
            return self.r_dagger(eigenvalues)
        return -self.r(eigenvalues)

    def finite_term(self, eigenvalues: Array, dtype: Any) -> Array:
        """The same, refused where it is beyond the numbers of a precision."""
        with np.errstate(over="ignore"):
            values = self.term(eigenvalues)
        largest = float(np.abs(values).max(initial=0.0))
        if not largest < float(np.finfo(dtype).max):
            raise ResponseError(
                f"response {self!r} must be finite in {np.dtype(dtype).name} on the "
                "spectrum of the graph, whose largest eigenvalue is "
                f"{eigenvalues[-1]:.3g}; got {largest:.3g}: use a smaller scale, "
                'form="kernel" or laplacian="normalized"'
            )
        return values

    def size(self, laplacian_scale: float) -> float:
        """c(R): the size in which the strength of this term is measured."""
        if self.form == "kernel":
            return float(self.r_dagger(np.zeros(1))[0])
        return float(self.r(np.array([laplacian_scale]))[0])

    def needed_eigenvalue(self, n_components: int) -> int | None:
        """Rank of the eigenvalue that a rule such as "auto" asks for, or None."""
        return None

    def bind(self, eigenvalue: float) -> Self:
        """This response with its rule replaced by a number."""
        return self

    def low_rank(self) -> tuple[int, float] | None:
        """How many lowest eigenvectors describe it, and its value on all others."""
        return None


@final
class Diffusion(Response):
    """r = exp(scale * lambda / 2): heat that has spread for a while.

    Parameters
    ----------
    scale : float or "auto", default=1.0
        "auto" is 2 / lambda_d, lambda_d the d-th smallest eigenvalue of the graph.
    form : {"kernel", "penalty"}, default="kernel"

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.Diffusion(scale=2.0).r_dagger(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.3679])
    """

    def __init__(
        self, scale: float | Literal["auto"] = 1.0, form: Form = "kernel"
    ) -> None:
        self.scale = scale
        self.form = form

    def check_parameters(self) -> None:
        if self.scale != "auto":
            check.at_least("scale", self.scale, 0)

    def r(self, eigenvalues: Array) -> Array:
        return np.exp(float(self.scale) * eigenvalues / 2)

    def r_dagger(self, eigenvalues: Array) -> Array:
        return np.exp(-float(self.scale) * eigenvalues / 2)

    def needed_eigenvalue(self, n_components: int) -> int | None:
        return n_components if self.scale == "auto" else None

    def bind(self, eigenvalue: float) -> Self:
        return self.with_params(scale=2.0 / eigenvalue)


@final
class RandomWalk(Response):
    """r = (a - lambda)^-p: p steps of a lazy random walk.

    Parameters
    ----------
    a : float, default=2.0
        At least 2, and at least the largest eigenvalue (above it in penalty form):
        use the normalised Laplacian, whose eigenvalues are at most 2.
    p : float, default=1
        At least 0, a whole number or not; 0 makes r constant. With a fraction the
        function has a root at lambda = a, so a graph whose largest eigenvalue is near
        ``a`` needs its whole eigenbasis.
    form : {"kernel", "penalty"}, default="kernel"

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.RandomWalk(a=2.0, p=2).r_dagger(np.array([0.0, 1.0]))
    array([4., 1.])
    """

    def __init__(self, a: float = 2.0, p: float = 1, form: Form = "kernel") -> None:
        self.a = a
        self.p = p
        self.form = form

    def check_parameters(self) -> None:
        check.at_least("a", self.a, 2)
        check.between("p", self.p, 0, 1000)

    def check(self, largest: float) -> None:
        Response.check(self, largest)
        if self.p == 0:  # r = 1, whatever a is
            return
        rounding = 1e-9 * max(largest, 1.0)
        if self.form == "kernel" and self.a < largest - rounding:
            raise ResponseError(
                f"a must be at least the largest eigenvalue of the Laplacian, "
                f"{largest:.6g}, for a random walk; got a={self.a}: use a larger a or "
                'laplacian="normalized"'
            )
        if self.form == "penalty" and self.a <= largest + rounding:
            raise ResponseError(
                f"a must be above the largest eigenvalue of the Laplacian, "
                f"{largest:.6g}, for a random walk in penalty form; got a={self.a}"
            )

    def r(self, eigenvalues: Array) -> Array:
        if self.p == 0:
            return np.ones(np.shape(eigenvalues))
        with np.errstate(divide="ignore"):
            return self._distance(eigenvalues) ** -float(self.p)

    def r_dagger(self, eigenvalues: Array) -> Array:
        return self._distance(eigenvalues) ** float(self.p)

    def _distance(self, eigenvalues: Array) -> Array:
        """a - lambda, not below 0 by rounding where p has a fraction."""
        distance = float(self.a) - eigenvalues
        return distance if float(self.p).is_integer() else np.maximum(distance, 0.0)


@final
class RegularizedLaplacian(Response):
    """r = 1 + scale * lambda.

    Parameters
    ----------
    scale : float, default=1.0
    form : {"kernel", "penalty"}, default="kernel"

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.RegularizedLaplacian(scale=3.0).r_dagger(np.array([0.0, 1.0]))
    array([1.  , 0.25])
    """

    def __init__(self, scale: float = 1.0, form: Form = "kernel") -> None:
        self.scale = scale
        self.form = form

    def check_parameters(self) -> None:
        check.at_least("scale", self.scale, 0)

    def r(self, eigenvalues: Array) -> Array:
        return 1.0 + float(self.scale) * eigenvalues

    def r_dagger(self, eigenvalues: Array) -> Array:
        return 1.0 / self.r(eigenvalues)


@final
class Bandlimited(Response):
    """r = 1/b on the ``n_low`` smallest eigenvalues and b on the others.

    Parameters
    ----------
    n_low : int, default=10
        The paper's B, a count of at least 1; a group of equal eigenvalues that it would
        cut is taken whole.
    b : float, default=10.0
        Above 0. Below 1 it favours the other eigenvalues instead of the smallest: r
        is then not non-decreasing. 1 makes r constant.
    form : {"kernel", "penalty"}, default="kernel"

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.Bandlimited(n_low=1, b=2.0).r_dagger(np.array([0.0, 1.0, 1.5]))
    array([2. , 0.5, 0.5])
    """

    smooth = False

    def __init__(self, n_low: int = 10, b: float = 10.0, form: Form = "kernel") -> None:
        self.n_low = n_low
        self.b = b
        self.form = form

    def check_parameters(self) -> None:
        check.integer_between("n_low", self.n_low, 1, 2**31)
        check.at_least("b", self.b, 0, strict=True)

    def r(self, eigenvalues: Array) -> Array:
        low = np.arange(len(eigenvalues)) < self.n_low
        return np.where(low, 1.0 / float(self.b), float(self.b))

    def r_dagger(self, eigenvalues: Array) -> Array:
        return 1.0 / self.r(eigenvalues)

    def size(self, laplacian_scale: float) -> float:
        # the largest value of both r and r_dagger; r_dagger(0) where b is at least 1
        return max(float(self.b), 1.0 / float(self.b))

    def low_rank(self) -> tuple[int, float] | None:
        others = 1.0 / float(self.b) if self.form == "kernel" else -float(self.b)
        return int(self.n_low), others


@final
class LowPass(Response):
    """r_dagger = 1 up to ``cutoff`` and 0 above: only the smooth part of the graph.

    Kernel form only: the penalty would be infinite above the cut.

    Parameters
    ----------
    cutoff : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.LowPass(cutoff=0.5).r_dagger(np.array([0.0, 0.5, 1.0]))
    array([1., 1., 0.])
    """

    smooth = False
    form: Form = "kernel"

    def __init__(self, cutoff: float = 0.5) -> None:
        self.cutoff = cutoff

    def check_parameters(self) -> None:
        check.at_least("cutoff", self.cutoff, 0)

    def r(self, eigenvalues: Array) -> Array:
        return np.where(self._passes(eigenvalues), 1.0, np.inf)

    def r_dagger(self, eigenvalues: Array) -> Array:
        return np.where(self._passes(eigenvalues), 1.0, 0.0)

    def _passes(self, eigenvalues: Array) -> Array:
        # an eigenvalue that is the cutoff up to rounding is on its lower side
        return np.asarray(eigenvalues <= float(self.cutoff) + ZERO)


@final
class Custom(Response):
    """Any non-negative function r of the eigenvalues.

    Parameters
    ----------
    function : callable
        Takes and returns an array.
    form : {"kernel", "penalty"}, default="kernel"

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import responses
    >>> responses.Custom(lambda x: x).r_dagger(np.array([0.0, 2.0]))
    array([0. , 0.5])
    """

    def __init__(
        self, function: Callable[[Array], Array], form: Form = "kernel"
    ) -> None:
        self.function = function
        self.form = form

    def check_parameters(self) -> None:
        if not callable(self.function):
            raise ResponseError(f"response must be callable; got {self.function!r}")

    def r(self, eigenvalues: Array) -> Array:
        values = np.asarray(self.function(eigenvalues), dtype=np.float64)
        if values.shape != eigenvalues.shape or np.isnan(values).any():
            raise ResponseError(
                "response must return one number, not NaN, for each eigenvalue; got "
                f"shape {values.shape} for {eigenvalues.shape}"
            )
        if (values < -ZERO * np.abs(values).max(initial=0.0)).any():
            raise ResponseError(
                "response must be at least 0 on the spectrum; "
                f"got {values.min():.4g} at {eigenvalues[values.argmin()]:.4g}"
            )
        return values


def response_from(response: Any) -> Response | None:
    """The response meant by a constructor argument; a bare callable is r."""
    if response is None or isinstance(response, Response):
        return response
    if callable(response):
        return Custom(response)
    raise ResponseError(
        "response must be None, one of graphfold.responses or a callable r(lambda); "
        f"got {response!r}"
    )


def inverse_where_positive(values: Array, eigenvalues: Array) -> Array:
    """1 / values, and 0 where values are 0: below 1e-10 of the largest eigenvalue."""
    positive = values > ZERO * max(float(np.abs(eigenvalues).max(initial=0.0)), ZERO)
    with np.errstate(divide="ignore"):
        return np.where(positive, 1.0 / np.where(positive, values, 1.0), 0.0)
