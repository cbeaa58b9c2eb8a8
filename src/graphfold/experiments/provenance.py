"""Where numbers come from: versions, and the commit of the working copy."""

from __future__ import annotations

import functools
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import graphfold
from graphfold.experiments.protocol import Scope

_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def provenance(scope: Scope) -> dict[str, Any]:
    """What has to be the same for runs to go together."""
    return {
        "graphfold": graphfold.__version__,
        "quick": scope.quick,
        **{name: version(name) for name in _LIBRARIES},
    }


@functools.cache
def commit() -> str | None:
    """Of the working copy that holds this file, if one does."""
    try:
        # an installed copy may lie in the folder of another repository
        _git("ls-files", "--error-unmatch", __file__)
        return _git("describe", "--always", "--dirty", "--abbrev=12")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*command: str) -> str:
    answer = subprocess.run(
        ["git", *command],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.strip()
