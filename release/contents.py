"""What an archive has to hold, and what it must not."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

#: beside the modules, what the package needs at run time
NEEDED = ("graphfold/py.typed", "graphfold/views/page.html")
#: folders of users, where a path of somebody's machine begins
_HOMES = re.compile(rb"/home/[a-z]|/Users/[A-Za-z]|[A-Z]:\\+Users\\")


def differences(one: Path, other: Path) -> list[str]:
    """Files that two wheels do not share, or that are not the same in both."""
    left, right = _in_wheel(one), _in_wheel(other)
    return [
        f"{name} differs between the wheel of the sdist and that of the checkout"
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name)
    ]


def faults_of_wheel(wheel: Path, root: Path) -> list[str]:
    """One sentence for each thing wrong with a wheel made from ``root``."""
    files = _in_wheel(wheel)
    source = root / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    licence = f"{_dist_info(files)}/licenses/LICENSE"
    faults = [
        f"{wheel.name} lacks {name}"
        for name in sorted(modules.union(NEEDED, [licence]) - files.keys())
    ]
    faults += [
        f"{wheel.name} holds {name}, which is no part of the package"
        for name in files
        if not name.startswith(("graphfold/", "graphfold-")) or "/tests/" in name
    ]
    page = files.get("graphfold/views/page.html", b"").decode()
    said = (root / "web" / "licences.txt").read_text()
    missing = [line for line in said.splitlines() if line.strip() not in page]
    if missing:
        faults.append(f"page.html lacks a line of web/licences.txt: {missing[0]!r}")
    return faults + _paths_of_a_machine(wheel, files, root)


def faults_of_sdist(sdist: Path, root: Path) -> list[str]:
    """One sentence for each thing wrong with a source archive of ``root``."""
    files = _in_sdist(sdist)
    faults = [
        f"{sdist.name} lacks {name}"
        for name in ("pyproject.toml", "README.md", "LICENSE", "tests/conftest.py")
        if name not in files
    ]
    return faults + _paths_of_a_machine(sdist, files, root)


def _paths_of_a_machine(
    archive: Path, files: dict[str, bytes], root: Path
) -> list[str]:
    return [
        f"{archive.name} names a path of a machine in {name}"
        for name, content in files.items()
        if str(root).encode() in content or _HOMES.search(content)
    ]


def _dist_info(files: dict[str, bytes]) -> str:
    return next(name.partition("/")[0] for name in files if ".dist-info/" in name)


def _in_wheel(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _in_sdist(sdist: Path) -> dict[str, bytes]:
    """Files by their path below the archive's one folder."""
    found = {}
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member)
            if content is not None:
                found[member.name.partition("/")[2]] = content.read()
    return found
