"""Build both archives, look into them, and use the wheel as a stranger would."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from release.contents import differences, faults_of_sdist, faults_of_wheel
from release.stranger import use_the_wheel

ROOT = Path(__file__).resolve().parent.parent


def build(source: Path, out: Path, *what: str) -> None:
    """Run the build front end in an environment of its own."""
    command = [sys.executable, "-m", "build", "--outdir", str(out), *what, str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def main() -> None:
    """Stop at the first thing that is wrong, and say it."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    build(ROOT, dist)  # the sdist, and from it the wheel
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        build(ROOT, Path(folder), "--wheel")
        (direct,) = Path(folder).glob("*.whl")
        faults = differences(wheel, direct)
    faults += faults_of_wheel(wheel, ROOT) + faults_of_sdist(sdist, ROOT)
    if faults:
        sys.exit("\n".join(faults))
    for path in (sdist, wheel):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB")
    check = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)]
    if subprocess.run(check).returncode:
        sys.exit("the description cannot be shown by a package index")
    for python in sys.argv[1:] or [sys.executable]:
        print(use_the_wheel(wheel, python))


if __name__ == "__main__":
    main()
