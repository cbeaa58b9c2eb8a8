"""Tables of the figures that tests of trust have measured."""

from __future__ import annotations

from typing import Any

from tests.trust.markdown import table

SOLVERS = ("lapack", "krylov", "chebyshev", "lobpcg", "shift-invert", "auto")


def plain(figures: dict[str, Any]) -> str:
    """Each figure in a line of its own."""
    rows = [[name, short(value)] for name, value in sorted(figures.items())]
    return table(["figure", "measured"], rows)


def short(value: Any) -> str:
    """Two digits of a number."""
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def numbers(figures: dict[str, Any]) -> str:
    """Golden results by precision and threads, conditions by solver, and the rest."""
    golden: dict[str, list[float]] = {}
    conditions: dict[str, dict[tuple[str, str], float]] = {}
    rest = {}
    for name, value in figures.items():
        case, _, last = name.rpartition("/")
        if last.endswith("BLAS threads"):
            golden.setdefault(last, []).append(value)
        elif last in ("residual", "orthogonality", "angle"):
            case, _, solver = case.rpartition("/")
            conditions.setdefault(case, {})[solver, last] = value
        else:
            rest[name] = value
    return "\n".join(
        [
            "Largest difference to the golden results, relative:\n",
            table(
                ["with", "fits", "difference"],
                [[f, len(v), short(max(v))] for f, v in sorted(golden.items())],
            ),
            "Residuals |MV - VΛ| / |M| of hard problems, and over all solvers the "
            "largest |V'V - I| and, where the spectrum tells, the largest angle to an "
            "answer in extended precision. Where a solver gives up it says so:\n",
            _of_conditions(conditions),
            "Fits of estimators: the residual, or the difference to the same fit "
            "without the difficulty, relative:\n",
            plain(rest),
        ]
    )


def _of_conditions(conditions: dict[str, dict[tuple[str, str], float]]) -> str:
    rows = []
    for case, found in sorted(conditions.items()):
        residuals = [found.get((solver, "residual"), "") for solver in SOLVERS]
        worst = [
            max((v for (_, kind), v in found.items() if kind == wanted), default="")
            for wanted in ("orthogonality", "angle")
        ]
        rows.append([case, *map(short, residuals), *map(short, worst)])
    return table(["problem", *SOLVERS, "orthogonality", "angle"], rows)
