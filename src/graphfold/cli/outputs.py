"""Outputs that would destroy something: an input, another output, a file of others."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from graphfold.cli.models import named_path
from graphfold.errors import FileError
from graphfold.files.ours import is_ours

#: options that name files to read, of all verbs
_INPUTS = (
    "data",
    "graph",
    "labels",
    "must_link",
    "cannot_link",
    "links",
    "embeddings",
    "text",
    "images",
    "edges",
)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """The option that allows files of others to be replaced."""
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace an output that exists and was not written by graphfold",
    )


def check_outputs(
    arguments: argparse.Namespace, outputs: dict[str, str | None], *more: str
) -> None:
    """Refuse outputs that are inputs, or each other; or files of others.

    Parameters
    ----------
    arguments : the options, of which those that name files to read are looked up
    outputs : the path that each option names, or None
    more : paths that are read beside
    """
    inputs = [*_inputs(arguments), *more]
    seen: dict[str, str] = {}
    for option, path in outputs.items():
        if not path:
            continue
        _refuse_input(option, path, inputs)
        real = os.path.realpath(path)
        if real in seen:
            raise FileError(
                f"{seen[real]} and {option} must name different files; both name {path}"
            )
        seen[real] = option
        if os.path.lexists(path) and not (arguments.overwrite or is_ours(Path(path))):
            raise FileError(
                f"{path} exists, and it does not look like a file that graphfold has "
                f"written: choose another name for {option}, or say --overwrite"
            )


def _inputs(arguments: argparse.Namespace) -> list[str]:
    found: list[str] = []
    for option in _INPUTS:
        value = getattr(arguments, option, None) or []
        found += [value] if isinstance(value, str) else value
    return found


def _refuse_input(option: str, path: str, words: Iterable[str]) -> None:
    for word in words:
        for file in _files_of(word):
            if _is_same(path, file):
                raise FileError(
                    f"{option} {path} would replace {file}, which is read: choose "
                    "another name"
                )


def _files_of(word: str) -> set[str]:
    """Files that ``[NAME=]FILE[:KEY]`` can mean, of those that exist."""
    paths = {word, named_path(word)[1]}
    paths |= {path.rpartition(":")[0] for path in paths}
    return {path for path in paths if path and os.path.exists(path)}


def _is_same(output: str, file: str) -> bool:
    """Whether an output is a file, by whatever link; or a folder that holds it."""
    if not os.path.exists(output):
        return False
    if os.path.samefile(output, file):
        return True
    holds = os.path.join(os.path.realpath(output), "")
    return os.path.isdir(output) and os.path.realpath(file).startswith(holds)
