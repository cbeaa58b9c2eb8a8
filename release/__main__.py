"""Build both archives, look into them, and use the wheel as a stranger would."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from release.contents import differences, faults_of_sdist, faults_of_wheel
from release.sbom import bill_of, faults_of_bill, faults_of_schema, write
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
        if not faults and wheel.read_bytes() != direct.read_bytes():
            faults.append(f"{wheel.name} is not the same bytes when it is built again")
    faults += faults_of_wheel(wheel, ROOT) + faults_of_sdist(sdist, ROOT)
    if faults:
        sys.exit("\n".join(faults))
    for path in (sdist, wheel):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB")
    check = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)]
    if subprocess.run(check).returncode:
        sys.exit("the description cannot be shown by a package index")
    for number, python in enumerate(sys.argv[1:] or [sys.executable]):
        look = None if number else partial(list_materials, wheel)
        print(use_the_wheel(wheel, python, look))


def list_materials(wheel: Path, python: str) -> None:
    """Write the bill of materials of a wheel that ``python`` has installed."""
    bill = bill_of(wheel, python)
    faults = faults_of_bill(bill, wheel.name.split("-")[1]) + faults_of_schema(bill)
    if faults:
        sys.exit("\n".join(faults))
    path = write(bill, wheel)
    print(f"{path.relative_to(ROOT)}: {len(bill['components'])} packages, valid")


if __name__ == "__main__":
    main()
