"""``main``: run one verb, and turn what goes wrong into one sentence and a code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from types import TracebackType

import graphfold
from graphfold.cli import bench, demo, embed, plan, report, reproduce, view
from graphfold.cli.arguments import Parser, add_common
from graphfold.cli.output import Console, silence_output
from graphfold.errors import GraphfoldError

FINE, BUG, MISTAKE, INTERRUPTED = 0, 1, 2, 130
#: who asks for what is not always installed
_EXTRAS = {
    "matplotlib": "graphfold[plot]",
    "pandas": "graphfold[tables]",
    "pyarrow": "graphfold[tables]",
    "networkx": "graphfold[graphs]",
    "igraph": "graphfold[graphs]",
    "anndata": "graphfold[ad]",
    "h5py": "graphfold[disk]",
    "zarr": "graphfold[disk]",
    "dask": "graphfold[dask]",
    "distributed": "graphfold[dask]",
    "umap": "umap-learn",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``graphfold ...`` and return its exit code.

    0 is fine, 2 a mistake of the user (one sentence), 130 interrupted, 1 a bug.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console(json="--json" in words, quiet="--quiet" in words)
    debug = "--debug" in words
    try:
        arguments = _parser().parse_args(words)
        with console.listening_to_warnings():
            arguments.run(arguments, console)
        code = FINE
    except SystemExit as asked:  # --help and --version
        code = asked.code if isinstance(asked.code, int) else FINE
    except KeyboardInterrupt:
        console.fail("stopped", "KeyboardInterrupt")
        code = INTERRUPTED
    except BrokenPipeError:
        silence_output()
        code = FINE
    except Exception as error:
        if debug:
            console.finished()
            traceback.print_exc()
        code, sentence = _judged(error)
        console.fail(sentence, type(error).__name__)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_output()
    return code


def _parser() -> Parser:
    parser = Parser(
        prog="graphfold",
        description="Dimensionality reduction that listens to graphs.",
        epilog="Exit codes: 0 fine, 2 a mistake (one sentence), 130 interrupted, "
        "1 a bug.",
    )
    parser.add_argument("--version", action="version", version=graphfold.__version__)
    add_common(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for verb in (embed, view, report, plan, demo, reproduce, bench):
        add_common(verb.add(commands))
    return parser


def _judged(error: Exception) -> tuple[int, str]:
    """The exit code of an error, and its sentence."""
    if isinstance(error, ImportError) and error.name:
        package = _EXTRAS.get(error.name.partition(".")[0])
        if package:
            return MISTAKE, f"this needs {error.name}: pip install '{package}'"
    if isinstance(error, MemoryError):
        return MISTAKE, (
            "there is not enough memory: say --max-memory 2GB or --landmarks 1000"
        )
    if isinstance(error, OSError) and error.filename is not None:
        return MISTAKE, f"{error.filename}: {error.strerror}"
    if isinstance(error, GraphfoldError | OSError) or _checked(error):
        return MISTAKE, str(error)
    return BUG, (
        f"unexpected {type(error).__name__}: {error}; --debug shows where: please "
        "report it"
    )


def _checked(error: Exception) -> bool:
    """Whether scikit-learn's own checks of arguments have raised it."""
    frame: TracebackType | None = error.__traceback__
    module = ""
    while frame is not None:
        module = frame.tb_frame.f_globals.get("__name__", "")
        frame = frame.tb_next
    return isinstance(error, ValueError | TypeError) and module.startswith(
        "sklearn.utils"
    )
