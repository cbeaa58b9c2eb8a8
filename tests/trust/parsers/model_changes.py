"""Model files with one part changed: each is refused when it is loaded, or works.

``python -m tests.trust.parsers.model_changes`` tries them all, which takes some
minutes; ``--every 20`` one in twenty of them.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import multiprocessing
import resource
import signal
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import graphfold
from graphfold.errors import GraphfoldError
from graphfold.model import speed
from tests.trust.parsers.saved_models import answers, cases, packed, saved, usual

#: seconds that loading and all questions may take, and memory beyond what there is
SECONDS, MEMORY = 20, 2**30

Place = tuple[str | int, ...]


class Change(NamedTuple):
    """One part of the file of one model, and what it becomes."""

    model: str
    place: Place
    kind: str


class Outcome(NamedTuple):
    """What became of a changed file."""

    change: Change
    #: "refused", "works", "spoken" (a GraphfoldError later on) or "failed"
    what: str
    said: str = ""

    def __str__(self) -> str:
        place = "/".join(map(str, self.change.place))
        return f"{self.change.model}: {place} {self.change.kind}: {self.said}"


# -- what can be changed ---------------------------------------------------------------

VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "huge": 2**31,
    "endless": 10**30,
    "half": 0.5,
    "nan": float("nan"),
    "infinite": float("inf"),
    "text": "x",
    "no text": "",
    "no list": [],
    "list": [1, "x"],
    "no dict": {"dict": {}},
    "tuple": {"tuple": [0, 1]},
    "numbers": {"array": "a900"},
    "table": {"array": "a901"},
    "texts": {"array": "a902"},
    "matrix": {
        "csr": [{"array": "a903"}, {"array": "a904"}, {"array": "a905"}],
        "shape": [3, 3],
    },
    "kernel": {"part": "Gaussian", "params": {"dict": {"gamma": 0.5}}},
    "rule": {"part": "NeighborGraph", "params": {"dict": {"n_neighbors": 2}}},
    "keys": {
        "record": "RowKeys",
        "fields": {"dict": {"fingerprints": {"array": "a900"}}},
    },
}
BESIDE = {
    "a900": np.arange(3.0),
    "a901": np.ones((3, 2)),
    "a902": np.array(["a", "b", "c"]),
    "a903": np.ones(3),
    "a904": np.array([1, 2, 0]),
    "a905": np.array([0, 1, 2, 3]),
}


def _with_first(values: Any, number: Any) -> Any:
    changed = values.copy()
    changed.flat[0] = number
    return changed


ARRAYS: dict[str, Any] = {
    "shorter": lambda a: a[:-1],
    "longer": lambda a: np.concatenate([a, a[:1]]),
    "narrower": lambda a: a[..., :-1] if a.ndim > 1 else a[:1],
    "wider": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "transposed": lambda a: a.T.copy() if a.ndim > 1 else a[:, None],
    "flat": lambda a: a.ravel(),
    "deeper": lambda a: a[None],
    "empty": lambda a: a[:0],
    "one number": lambda a: a.ravel()[0] if a.size else np.float64(1),
    "reversed": lambda a: a[::-1].copy(),
    "single": lambda a: a.astype(np.float32),
    "half precision": lambda a: a.astype(np.float16),
    "complex": lambda a: a.astype(complex),
    "whole": lambda a: a.astype(np.int64),
    "bytes": lambda a: a.astype(np.uint8),
    "flags": lambda a: a.astype(bool),
    "as texts": lambda a: a.astype("U8"),
    "as bytes": lambda a: a.astype("S8"),
    "dates": lambda a: np.zeros(a.shape, dtype="M8[s]"),
    "big endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "zeros": np.zeros_like,
    "a nan": lambda a: _with_first(a, np.nan),
    "an infinity": lambda a: _with_first(a, np.inf),
    "a negative": lambda a: _with_first(a, -7),
    "a huge": lambda a: _with_first(a, 2**31 - 1),
    "a large": lambda a: _with_first(a, 1e300),
    "the same": lambda a: np.full_like(a, a.flat[0]) if a.size else a,
}


def places_of(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every node of the header below ``params`` and ``state``, and where it is."""
    if place:
        yield place, node
    if isinstance(node, dict):
        for key, below in node.items():
            yield from places_of(below, (*place, key))
    elif isinstance(node, list):
        for i, below in enumerate(node):
            yield from places_of(below, (*place, i))


def changes_of(model: str) -> Iterator[Change]:
    """All changes of one model."""
    parts = saved(model)
    for name in parts.arrays:
        for kind in ARRAYS:
            yield Change(model, (name,), kind)
    for place, node in places_of(parts.header):
        if place == ("format",):
            continue
        for kind in kinds_for(place, node):
            yield Change(model, place, kind)


def kinds_for(place: Place, node: Any) -> list[str]:
    """How a node of the header can be changed."""
    kinds = list(VALUES)
    if isinstance(place[-1], str):
        kinds += ["missing", "renamed", "swapped"]
    if isinstance(node, list):
        kinds += ["one less", "one more", "turned"]
    if isinstance(node, dict) and "array" in node:
        kinds += ["other", *ARRAYS]
    if isinstance(node, int | float) and not isinstance(node, bool):
        kinds += ["next", "negative", "fraction"]
    if place[-1] in ("part", "record"):
        kinds += ["Linear", "Geodesic", "KnownGraph", "Edges", "Extension"]
    return kinds


def content_of(change: Change) -> bytes | None:
    """The bytes of the changed file; None where nothing has changed."""
    parts = saved(change.model)
    header, arrays = copy.deepcopy(parts.header), dict(parts.arrays)
    before = json.dumps(header)
    place, kind = change.place, change.kind
    if place[0] in arrays:
        changed = _changed_array(arrays[str(place[0])], kind)
        if changed is None:
            return None
        arrays[str(place[0])] = changed
        return packed(header, arrays)
    holder: Any = header
    for step in place[:-1]:
        holder = holder[step]
    node = holder[place[-1]]
    if kind not in kinds_for(place, node):
        return None
    if kind in ARRAYS:
        changed = _changed_array(arrays[node["array"]], kind)
        if changed is None:
            return None
        arrays["a906"], holder[place[-1]] = changed, {"array": "a906"}
    else:
        _change_header(holder, place[-1], kind, list(arrays))
    if json.dumps(header) == before:
        return None
    return packed(header, arrays | BESIDE)


def _changed_array(values: Any, kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            changed = np.asarray(ARRAYS[kind](values))
        except (TypeError, ValueError, OverflowError, IndexError):
            return None  # texts are no numbers
    same = changed.dtype == values.dtype and np.array_equal(changed, values)
    return None if same else changed


def _change_header(holder: Any, key: Any, kind: str, arrays: list[str]) -> None:
    node = holder[key]
    match kind:
        case "missing":
            del holder[key]
        case "renamed":
            holder[f"{key}x"] = holder.pop(key)
        case "swapped":
            keys = list(holder)
            other = keys[(keys.index(key) + 1) % len(keys)]
            holder[key], holder[other] = holder[other], node
        case "one less":
            holder[key] = node[:-1]
        case "one more":
            holder[key] = [*node, node[0] if node else 0]
        case "turned":
            holder[key] = node[::-1]
        case "other":
            following = arrays[(arrays.index(node["array"]) + 1) % len(arrays)]
            holder[key] = {"array": following}
        case "next":
            holder[key] = node + 1
        case "negative":
            holder[key] = -node
        case "fraction":
            holder[key] = node + 0.5
        case _:
            holder[key] = VALUES.get(kind, kind)


# -- what becomes of it ----------------------------------------------------------------


def outcome_of(change: Change, content: bytes) -> Outcome:
    """Load the changed file, and ask what is loaded everything."""
    try:
        model = graphfold.load(io.BytesIO(content))
    except GraphfoldError as error:
        sentence = str(error)
        sound = "\n" not in sentence and len(sentence) < 500
        return Outcome(change, "refused" if sound else "failed", sentence)
    except Exception as error:
        return Outcome(change, "failed", f"load: {type(error).__name__}: {error}"[:300])
    known = usual(change.model)
    asked = answers(model, saved(change.model)).items()
    wrong = {name: said for name, said in asked if name not in known}
    names = {cls.__name__ for cls in _all_classes(GraphfoldError)}
    for name, said in wrong.items():
        if said.partition(":")[0] not in names:
            return Outcome(change, "failed", f"{name}: {said}")
    if wrong:
        return Outcome(
            change, "spoken", "; ".join(f"{k}: {v}" for k, v in wrong.items())
        )
    return Outcome(change, "works")


def _all_classes(cls: type) -> Iterator[type]:
    yield cls
    for below in cls.__subclasses__():
        yield from _all_classes(below)


def outcomes(changes: Iterable[Change]) -> Iterator[Outcome]:
    """What becomes of each, in processes that may take so much time and memory."""
    listed = list(changes)
    for name in {change.model for change in listed}:
        usual(name)  # fitted once, before processes are made
    done = 0
    while done < len(listed):
        here, there = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_try, args=(listed[done:], there))
        process.start()
        there.close()
        while done < len(listed):
            try:
                found = here.recv()
            except EOFError:
                break
            done += 1
            if found is not None:
                yield found
        process.join()
        here.close()
        if done < len(listed):
            end = -(process.exitcode or 0)
            said = "does not end" if end == signal.SIGALRM else f"ends Python ({end})"
            yield Outcome(listed[done], "failed", said)
            done += 1


def _try(changes: list[Change], results: Any) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # compiled loops hear nothing else
    with open("/proc/self/statm") as pages:
        used = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    warnings.simplefilter("ignore")
    speed.probe = cache(speed.probe)  # the speed of this machine, asked by each plan
    for change in changes:
        content = content_of(change)
        signal.alarm(SECONDS)
        results.send(None if content is None else outcome_of(change, content))
        signal.alarm(0)
    results.close()


def every(step: int) -> list[Change]:
    """One change in ``step`` of all, so that each part and each kind is among them."""
    found: list[Change] = []
    for name in cases():
        found += list(changes_of(name))
    return found[::step]


def main() -> None:
    """Try them, and say what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--model", action="append")
    parser.add_argument("--start", type=int, default=0)
    asked = parser.parse_args()
    changes = every(1)
    if asked.model:
        changes = [change for change in changes if change.model in asked.model]
    counts: Counter[str] = Counter()
    for found in outcomes(changes[asked.start :: asked.every]):
        counts[found.what] += 1
        if found.what in ("failed", "spoken"):
            print(f"{found.what} {found}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
