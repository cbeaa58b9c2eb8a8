"""The promise of docs/stability.md: no public name goes away unannounced.

``tests/public_names.txt`` lists names and their arguments as users have them. New ones
may be added at any time; ``python -m tests.test_stability`` writes the list anew, and a
line that is gone in the difference is a break to be announced.
"""

import inspect
import warnings
from pathlib import Path

import pytest

import graphfold
from graphfold import ad, datasets, errors, kernels, plot, quality, responses

LIST = Path(__file__).parent / "public_names.txt"
MODULES = {
    "": graphfold,
    "ad.": ad,
    "datasets.": datasets,
    "errors.": errors,
    "kernels.": kernels,
    "plot.": plot,
    "quality.": quality,
    "responses.": responses,
}


def public_names():
    """Lines such as ``Graph.subgraph labels``: a name, then its arguments."""
    lines = set()
    for prefix, module in MODULES.items():
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("graphfold")
            if name.startswith("_") or not ours:
                continue
            if module in (errors, responses) and not is_class_of(module, value):
                continue  # modules without a list of what is public
            lines.add(line(prefix + name, value))
            # methods of kernels and responses are for solvers, not for users
            if module is graphfold and inspect.isclass(value):
                lines |= {
                    line(f"{name}.{member}", getattr(value, member))
                    for member, _ in inspect.getmembers_static(value)
                    if is_public_and_ours(value, member)
                }
    return sorted(lines)


def is_class_of(module, value):
    return inspect.isclass(value) and value.__module__ == module.__name__


def is_public_and_ours(cls, member):
    """Not what scikit-learn's base classes bring along, or make for each class."""
    if member.startswith("_") or member.endswith("_request"):
        return False
    owner = next(base for base in cls.__mro__ if member in vars(base))
    value = vars(owner)[member]
    shown = callable(getattr(cls, member)) or isinstance(value, property)
    return owner.__module__.startswith("graphfold") and shown


def line(name, value):
    if isinstance(value, type) and issubclass(value, BaseException):
        return name
    if not callable(value):
        return name
    parameters = inspect.signature(value).parameters
    itself = ("self", "estimator")
    return " ".join([name, *(p for p in parameters if p not in itself)])


def test_no_public_name_or_argument_is_gone():
    listed = LIST.read_text().splitlines()
    now = {text.split()[0]: set(text.split()[1:]) for text in public_names()}
    for text in listed:
        name, *arguments = text.split()
        assert name in now, f"{name} is gone: see docs/stability.md"
        gone = set(arguments) - now[name]
        assert not gone, f"{name} has lost {gone}: see docs/stability.md"


def test_the_list_is_not_empty_by_mistake():
    listed = LIST.read_text()
    for name in ("GraphKernelPCA n_components kernel", "Graph.from_edge_index", "load"):
        assert name in listed


def test_a_change_is_announced_at_the_callers_line():
    """How the policy says it: a FutureWarning, shown by default, through our door."""
    with pytest.warns(FutureWarning, match="goes with 0.9: use b") as caught:
        errors.warn("a goes with 0.9: use b", FutureWarning)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.GraphfoldWarning)
        with pytest.warns(FutureWarning):
            errors.warn("strict filters of ours do not stop on it", FutureWarning)


if __name__ == "__main__":
    LIST.write_text("\n".join(public_names()) + "\n")
