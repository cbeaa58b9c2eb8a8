"""The command line: parse, call, print; no mathematics."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import graphfold
from graphfold.errors import GraphfoldError


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``graphfold ...``; 0 on success, 2 with one sentence on a mistake."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except (GraphfoldError, OSError, ImportError, ValueError) as error:
        if arguments.debug:
            raise
        print(f"graphfold: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("graphfold: stopped", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphfold", description="Dimensionality reduction that listens to graphs."
    )
    parser.add_argument("--version", action="version", version=graphfold.__version__)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="three methods on bundled digits")
    demo.add_argument("-o", "--output", default="demo.png", help="picture to write")
    demo.set_defaults(run=_demo)

    embed = commands.add_parser(
        "embed", help="embed a table, with a graph if there is one"
    )
    embed.add_argument("data", help="csv, tsv, npy, npz, parquet or mtx")
    embed.add_argument("--graph", help="edges (csv, tsv, parquet) or a square matrix")
    embed.add_argument("-o", "--output", required=True, help="file to write")
    embed.add_argument("-d", "--components", type=int, default=2)
    embed.add_argument("--kernel", default="rbf")
    embed.add_argument(
        "--gamma", type=float, help="kernel width; median rule by default"
    )
    embed.add_argument(
        "--strength", type=_strength, default=1.0, help='of the graph: a number, "auto"'
    )
    embed.add_argument(
        "--laplacian", default="normalized", choices=("normalized", "combinatorial")
    )
    embed.add_argument(
        "--scaling", default="eigenvalue", choices=("eigenvalue", "orthonormal", "unit")
    )
    embed.add_argument("--max-memory", help='budget such as "2GB"')
    embed.add_argument("--model", help="also save the fitted model (.npz)")
    embed.add_argument("-v", "--verbose", action="count", default=0)
    embed.set_defaults(run=_embed)

    reproduce = commands.add_parser(
        "reproduce", help="run the paper's experiments and ours"
    )
    reproduce.add_argument("names", nargs="*", help='experiments, or "all"')
    reproduce.add_argument("--list", action="store_true", help="name them, and stop")
    reproduce.add_argument("--data", help="folder of data sets; GRAPHFOLD_DATA else")
    reproduce.add_argument("--runs", type=_count, help="default 50, with --quick 3")
    reproduce.add_argument("--out", default="results", help="folder to write into")
    reproduce.add_argument("--quick", action="store_true", help="a pass of minutes")
    reproduce.add_argument("--jobs", type=_count, help="processes; default: all cores")
    reproduce.add_argument(
        "--fresh", action="store_true", help="measure again what is there"
    )
    reproduce.add_argument("--page", help="also write a page of all results in --out")
    reproduce.set_defaults(run=_reproduce)
    return parser


def _strength(text: str) -> float | str:
    return text if text.startswith("auto") else float(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1; got {text!r}")
    return int(text)


def _demo(arguments: argparse.Namespace) -> None:
    from graphfold.demo import draw_demo, run_demo

    rows = run_demo()
    draw_demo(rows, arguments.output)
    print(f"\nwrote {arguments.output}")


def _embed(arguments: argparse.Namespace) -> None:
    from graphfold.files import read_graph, read_table, write_table

    table = read_table(arguments.data)
    n = table.X.shape[0]
    graph = None
    if arguments.graph is not None:
        graph = read_graph(arguments.graph, table.labels, n)
    model = graphfold.GraphKernelPCA(
        arguments.components,
        kernel=arguments.kernel,
        gamma="median" if arguments.gamma is None else arguments.gamma,
        graph=graph,
        laplacian=arguments.laplacian,
        graph_strength=arguments.strength,
        scaling=arguments.scaling,
        max_memory=arguments.max_memory,
        verbose=arguments.verbose,
    )
    Z = model.fit_transform(table.X, node_ids=table.labels)
    columns = [f"component{i + 1}" for i in range(Z.shape[1])]
    write_table(arguments.output, Z, table.labels, columns)
    if arguments.model:
        model.save(arguments.model)
    print(f"{n} rows, {model.formula_}\nwrote {arguments.output}")


def _reproduce(arguments: argparse.Namespace) -> None:
    from graphfold.experiments import EXPERIMENTS, Scope, reproduce, write_page

    if arguments.list:
        width = max(map(len, EXPERIMENTS))
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:{width}}  {experiment.title}")
        return
    names = [name for name in arguments.names if name != "all"]
    if "all" in arguments.names and names:
        raise GraphfoldError(f'give "all" or names, not both; got {arguments.names}')
    scope = Scope(arguments.quick, arguments.data)
    measured = reproduce(
        names,
        out=arguments.out,
        scope=scope,
        runs=arguments.runs,
        jobs=arguments.jobs,
        fresh=arguments.fresh,
    )
    for name, numbers in measured.items():
        for claim in EXPERIMENTS[name].claims(numbers):
            print(f"{claim.verdict:13}  {claim.text}: {claim.evidence}")
    if arguments.page:
        write_page(arguments.page, arguments.out)
    print(f"wrote {', '.join(measured)} into {arguments.out}")
    left_out = [name for name in names or EXPERIMENTS if name not in measured]
    if left_out:
        raise GraphfoldError(f"{', '.join(left_out)} did not run: data are missing")


if __name__ == "__main__":
    sys.exit(main())
