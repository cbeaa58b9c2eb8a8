"""The command line in a process of its own."""

import json
import os
import subprocess
import sys


def graphfold(*words, cwd, code=0, **more):
    """Run ``python -m graphfold`` and check its exit code; no traceback is shown."""
    command = [sys.executable, "-m", "graphfold", *map(str, words)]
    found = subprocess.run(command, cwd=cwd, capture_output=True, text=True, **more)
    assert found.returncode == code, found.stderr
    if "--debug" not in words:
        assert "Traceback" not in found.stderr
    return found


def answer(*words, cwd, code=0):
    """What ``--json`` says: one object, and nothing else on the standard output."""
    found = graphfold(*words, "--json", cwd=cwd, code=code)
    return json.loads(found.stdout)


def without(module, folder):
    """An environment in which a package cannot be imported."""
    blocked = folder / "blocked"
    blocked.mkdir(exist_ok=True)
    (blocked / f"{module}.py").write_text(
        f"raise ModuleNotFoundError('No module named {module}', name={module!r})\n"
    )
    known = os.environ.get("PYTHONPATH", "")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(blocked), known])}
