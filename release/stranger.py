"""The wheel as a stranger meets it: a new environment, an empty folder, the demo."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_SAY = "import graphfold, sys; print(graphfold.__file__, *sys.version_info[:3])"


def use_the_wheel(
    wheel: Path, python: str, look: Callable[[str], None] | None = None
) -> str:
    """Install the wheel for ``python``, run the demo and say how it went.

    ``look`` is called with the Python that has the wheel installed without extras.
    Everything is in a temporary folder outside of the checkout; only pip's settings
    come along from the environment.
    """
    with tempfile.TemporaryDirectory(prefix="graphfold-release-") as folder:
        place = Path(folder).resolve()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
        }
        empty = place / "empty"
        empty.mkdir()

        def run(*command: str) -> str:
            done = subprocess.run(
                command, cwd=empty, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
            return done.stdout

        run(python, "-m", "venv", str(place / "venv"))
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        own = str(programs / "python")
        run(own, "-m", "pip", "install", "-q", str(wheel))
        run(own, "-m", "pip", "check")
        if look is not None:
            look(own)
        run(own, "-m", "pip", "install", "-q", f"{wheel}[plot]")
        run(own, "-m", "pip", "check")
        imported, *version = run(own, "-c", _SAY).split()
        if not Path(imported).is_relative_to(place):
            sys.exit(f"the demo would run {imported}, not the wheel")
        said = run(str(programs / "graphfold"), "demo", "--map", "demo.html")
        _look_at(empty, said)
        return f"Python {'.'.join(version)}: installed {wheel.name}[plot], demo ran"


def _look_at(folder: Path, said: str) -> None:
    """Both files are there, are what they are called, and nothing else is."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    good = (
        set(files) == {"demo.png", "demo.html"}
        and files["demo.png"].startswith(b"\x89PNG")
        and b"</html>" in files["demo.html"][-200:]
        and "GraphKernelPCA" in said
    )
    if not good:
        sys.exit(f"the demo wrote {sorted(files)} and said:\n{said}")
