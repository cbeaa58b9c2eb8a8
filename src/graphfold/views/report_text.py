"""A report as a text for the terminal, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

WIDTH = 80
BAR = 28
#: lines of a list; how many more there are is said
LINES = 12


def summary(report: dict[str, Any]) -> str:
    """A report of :func:`graphfold.views.report.report_of` as a text, figures first.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> from graphfold.views.report import report_of, summary
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> print(summary(report_of(GraphKernelPCA(2).fit(X))).splitlines()[0])
    GraphKernelPCA: 50 rows x 3 columns -> 2 components
    """
    blocks = [list(_head(report))]
    for title, key, lines in _SECTIONS:
        if report.get(key):
            listed = list(lines(report[key]))
            if listed:
                blocks.append([_ruler(title), *listed])
    return "\n\n".join("\n".join(block) for block in blocks)


def _head(report: dict[str, Any]) -> Iterator[str]:
    shape = report["shape"]
    columns = shape["columns"]
    wide = "" if columns is None else f" x {columns:,} columns"
    what = report["name"]
    if report.get("class") not in (None, what):
        what += f" ({report['class']})"
    size = f"{shape['rows']:,} rows{wide} -> {_count(shape['components'], 'component')}"
    yield from textwrap.wrap(f"{what}: {size}", WIDTH, subsequent_indent="  ")
    if report.get("formula"):
        yield from _wrapped(report["formula"], "  ")
    for graph in report.get("graphs", []):
        parts = graph["parts"]
        text = f"graph {graph['name']!r}: {_count(graph['edges'], 'edge')}"
        if parts is not None:
            text += f", {_count(parts, 'part')}"
        yield "  " + text
    used = report.get("strength", {}).get("used")
    if used is not None and report.get("graphs"):
        yield f"  graph_strength {_number(used)}"
    if report.get("landmarks"):
        found = report["landmarks"]
        lost = "" if found["error"] is None else f", blind to {found['error']:.1%}"
        yield f"  {found['count']:,} landmarks{lost}"


def _spectrum(found: dict[str, Any]) -> Iterator[str]:
    values, explained = found["values"], found.get("explained")
    gaps = None if found["turned"] else found.get("gaps")
    top = max((abs(v) for v in values if v is not None), default=0.0)
    heads = [f"{found['kind']:>{7 + BAR}}"]
    heads += [f"{'gap':>10}"] if gaps else []
    heads += [f"{'variance':>10}{'in all':>9}"] if explained else []
    yield f"  {'axis':>4}  " + "".join(heads)
    total = 0.0
    for i, value in enumerate(values):
        line = f"  {i + 1:4d}  {_number(value):>8} {_bar(value, top)}"
        if gaps:
            line += f" {_number(gaps[i]):>8}"
        if explained:
            total += explained[i] or 0.0
            line += f"{explained[i] or 0:10.1%}{total:9.1%}"
        yield line.rstrip()
    if found.get("next") is not None:
        yield f"  next  {_number(found['next']):>8} (not kept)"
    if found["turned"]:
        yield "  axes are turned (align_to), so their gaps are not those of one axis"
    else:
        for group in found.get("interchangeable", []):
            yield from _wrapped(interchangeable(group, len(values)), "  ")


def interchangeable(group: list[int], d: int) -> str:
    """What is not sure about a group of axes, counted from 1."""
    kept = [str(axis + 1) for axis in group if axis < d]
    left_out = " and one that was left out" if d in group else ""
    which = f"{'axis' if len(kept) == 1 else 'axes'} {', '.join(kept)}{left_out}"
    return f"{which} may mix when the data change by 1 %: only their span is sure"


def _weights(groups: list[dict[str, Any]]) -> Iterator[str]:
    groups = [group for group in groups if len(group["names"]) > 1]
    for group in groups:
        yield f"  {group['title']}"
        top = max((v or 0.0 for v in group["values"]), default=0.0)
        for name, value in zip(group["names"], group["values"], strict=True):
            yield f"    {_fit(name, 24):24s} {_bar(value, top)} {_number(value):>8}"


def _strength(found: dict[str, Any]) -> Iterator[str]:
    if "strengths" not in found:
        return
    columns = ("strengths", "scores", "gains", "errors")
    head = f"{found['scored_by']} foretold"
    yield f"  strength {head:>18} {'gain over 0':>13} {'error':>9}"
    top = max((gain or 0.0 for gain in found["gains"]), default=0.0)
    for strength, score, gain, error in zip(*(found[c] for c in columns), strict=True):
        mark = "<- chosen" if strength == found["chosen"] else ""
        line = f"  {_number(strength):>8} {_number(score):>18} {_number(gain):>13}"
        line += f" {_number(error):>9} {_bar(max(gain or 0, 0), top, 14)} {mark}"
        yield line.rstrip()


def _gains(found: list[dict[str, Any]]) -> Iterator[str]:
    for one in found:
        yield from _wrapped(f"{one['name']}: {one['sentence']}", "  ")


def _constraints(found: dict[str, Any]) -> Iterator[str]:
    for count in found["counts"]:
        kept = count["asked"] - count["violated"]
        yield (
            f"  {count['name']:18s} {_bar(count['kept'], 1.0)} {kept:,} of "
            f"{count['asked']:,} kept"
        )
    pairs = [
        f"    {pair['kind']:11s} {pair['first']} - {pair['second']}"
        f" ({_number(pair['distance'])} apart)"
        for pair in found["violated"]
    ]
    yield from _some(pairs, found["n_violated"], "pairs")
    if found["n_misplaced"]:
        rows = ", ".join(str(label) for label in found["misplaced"][:LINES])
        more = found["n_misplaced"] - LINES
        rows += f" and {more:,} more" if more > 0 else ""
        yield from _wrapped(f"nearer to another group: {rows}", "  ")
    if found["n_unknown_pairs"]:
        yield f"  {found['n_unknown_pairs']:,} pairs passed over: not among the rows"


def _quality(table: list[dict[str, Any]]) -> Iterator[str]:
    for row in table:
        bar = _bar(row["value"] if row["share"] else None, 1.0, 11)
        line = f"  {_fit(row['name'], 25):25s} {_fit(row['text'], 12):>7} {bar} "
        first, *more = textwrap.wrap(row["note"], WIDTH - len(line))
        yield line + first
        yield from (" " * len(line) + rest for rest in more)


def _warnings(found: list[dict[str, Any]]) -> Iterator[str]:
    for one in found:
        yield from _wrapped(f"{one['category']}: {one['message']}", "  ")


def _notes(found: list[str]) -> Iterator[str]:
    for note in found:
        yield from _wrapped(note, "  ")


def _solver(found: dict[str, Any]) -> Iterator[str]:
    reason = f": {found['reason']}" if found.get("reason") else ""
    if found.get("name"):
        yield from _wrapped(f"{found['name']}{reason}", "  ")
    if "converged" in found:
        said = "converged" if found["converged"] else "did not converge"
        rounds = found.get("iterations")
        after = "" if rounds is None else f" after {_count(rounds, 'round')}"
        residual = found.get("residual")
        left = "" if residual is None else f", residual {residual:.1e}"
        yield f"  {said}{after}{left}"


def _parameters(found: list[dict[str, Any]]) -> Iterator[str]:
    changed = [row for row in found if row["changed"]]
    for row in changed:
        yield from _wrapped(f"{row['name']} = {row['value']}", "  ")
    others = ", ".join(row["name"] for row in found if not row["changed"])
    if others:
        yield from _wrapped(f"as by default: {others}", "  ")


_SECTIONS: tuple[tuple[str, str, Callable[[Any], Iterator[str]]], ...] = (
    ("spectrum", "spectrum", _spectrum),
    ("weights", "weights", _weights),
    ("strength of the graph", "strength", _strength),
    ("does the graph help?", "gain", _gains),
    ("constraints", "constraints", _constraints),
    ("quality", "quality", _quality),
    ("warnings", "warnings", _warnings),
    ("notes", "notes", _notes),
    ("solver", "solver", _solver),
    ("parameters", "parameters", _parameters),
)


# -- lines -------------------------------------------------------------------------


def _ruler(title: str) -> str:
    return f"-- {title} ".ljust(WIDTH, "-")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  "
    )


def _bar(value: float | None, top: float, width: int = BAR) -> str:
    share = 0.0 if value is None or top <= 0 else min(abs(value) / top, 1.0)
    n = round(share * width)
    return ("#" * n or ("|" if share > 0 else "")).ljust(width)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _count(n: float, word: str) -> str:
    return f"{n:,.0f} {word}{'' if n == 1 else 's'}"


def _fit(text: str, width: int) -> str:
    text = str(text)
    return text if len(text) <= width else text[: width - 3] + "..."


def _some(lines: list[str], total: int, what: str) -> list[str]:
    shown = [_fit(line, WIDTH) for line in lines[:LINES]]
    if total > len(shown):
        shown.append(f"    and {total - len(shown):,} more {what}")
    return shown
