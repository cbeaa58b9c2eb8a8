"""``python -m mutation``: mutants of the model and the graphs, against the tests."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
TARGETS = ("graphs", "model")
TESTS = (
    "tests/graphs",
    "tests/model",
    "src/graphfold/graphs",
    "src/graphfold/model",
    # whole fits, the cheaper ones: they run what no test of a part does
    *(
        f"tests/estimators/test_{subject}.py"
        for subject in (
            "against_references",
            "auto_strength",
            "axes",
            "errors",
            "graph_kernel_pca",
            "landmarks",
            "rows",
            "special_cases",
        )
    ),
)
# peaks of memory, each in a process of its own, which would not know the mutant
LEFT_OUT = ("tests/model/test_budget.py",)
QUIETLY = (
    *("-q", "-s", "--tb=no", "-o", "addopts=", "--import-mode=importlib"),
    "--doctest-modules",
    *("-pno:cacheprovider", "-pno:faulthandler", "-pno:xdist"),
)
FIXED = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def main() -> None:
    """In a copy of the repository: nothing is left in the tree but the report."""
    arguments = parse()
    if os.environ.get("MUTATION_WORK") is None:
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            work = (arguments.work or Path(folder)).resolve()
            work.mkdir(parents=True, exist_ok=True)
            copy = fresh_copy(work)
            paths = os.pathsep.join([str(copy), str(copy / "src")])
            environment = {
                **os.environ,
                **FIXED,
                "MUTATION_WORK": str(work),
                "MUTATION_OUT": str(arguments.out.resolve()),
                "PYTHONPATH": paths,
            }
            command = [sys.executable, "-m", "mutation", *sys.argv[1:]]
            if arguments.again:  # the copy is another working folder
                command += ["--again", str(arguments.again.resolve())]
            sys.exit(subprocess.run(command, cwd=copy, env=environment).returncode)
    run(arguments)


def parse() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON to write")
    parser.add_argument("--share", type=float, default=1.0, help="of each module")
    parser.add_argument("--beyond", type=float, default=0.0, help="but not this share")
    parser.add_argument("--seed", type=int, default=0, help="of the share taken")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--work", type=Path, help="folder to keep measurements in")
    parser.add_argument("--budget", type=float, default=1.5, help="seconds of tests")
    parser.add_argument("--only", help="with --again: survivors of this file")
    parser.add_argument("--again", type=Path, help="only survivors of this JSON")
    return parser.parse_args()


def fresh_copy(work: Path) -> Path:
    """The files of the repository as they are now, elsewhere."""
    copy = work / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, check=True)
    for name in names.stdout.decode().split("\0"):
        source = REPOSITORY / name
        if name and source.is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=REPOSITORY, capture_output=True, check=True, text=True,
    )  # fmt: skip
    (copy / "commit.txt").write_text(commit.stdout.strip())
    return copy


def run(arguments: argparse.Namespace) -> None:
    """Make mutants, try them and write the report; the working folder is the copy."""
    import pytest

    from mutation import report
    from mutation.covering import Coverage
    from mutation.mutants import mutants_of
    from mutation.trials import BUDGET, Trials

    copy = Path.cwd()
    root = copy / "src" / "graphfold"
    files = [
        str(path.relative_to(root))
        for target in TARGETS
        for path in sorted((root / target).glob("*.py"))
    ]
    everything, messages = [], {}
    for file in files:
        found, messages[file] = mutants_of(root, file)
        everything.append(found)
    earlier = report.read(arguments.again) if arguments.again else None
    chosen = [
        mutant for found in everything for mutant in sample(found, arguments, earlier)
    ]
    print(f"{sum(map(len, everything))} mutants, {len(chosen)} to try", file=sys.stderr)

    version = hashlib.sha256(
        "".join((root / file).read_text() for file in files).encode()
    ).hexdigest()
    coverage = Coverage(Path(os.environ["MUTATION_WORK"]) / "coverage.json", version)
    tests = {
        str(path.relative_to(copy)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((copy / "tests").rglob("*.py"))
    }
    coverage.forget_changed(tests)
    budget = arguments.budget
    only_new = earlier is not None and budget <= BUDGET
    how = {"budget": budget, "only_new_tests": only_new}
    trials = Trials(root, chosen, coverage, arguments.jobs, **how)
    if earlier is not None and arguments.only:
        trials.leave(earlier["survivors"], arguments.only)
    pytest.main(
        [
            *TESTS,
            *(f"--ignore={name}" for name in LEFT_OUT),
            *QUIETLY,
        ],
        plugins=[trials],
    )
    out = Path(os.environ["MUTATION_OUT"])
    report.write(out, everything, messages, trials, earlier, arguments)


def sample(found: list, arguments: argparse.Namespace, earlier: dict | None) -> list:
    """A share of the mutants of a module; a larger share holds a smaller one."""
    if earlier is not None:
        return survivors_among(found, earlier["survivors"])
    shuffled = random.Random(arguments.seed).sample(found, len(found))
    first, last = (
        round(share * len(found) + 0.4999)
        for share in (arguments.beyond, arguments.share)
    )
    taken = {mutant.name for mutant in shuffled[first:last]}
    return [mutant for mutant in found if mutant.name in taken]


def survivors_among(found: list, survivors: list[dict]) -> list:
    """Mutants that survived before: by number, or, where code has moved, by change."""
    changes = {mutant.name: (mutant.before, mutant.after) for mutant in found}
    taken, moved = set(), []
    for entry in survivors:
        if changes.get(entry["id"]) == (entry["before"], entry["after"]):
            taken.add(entry["id"])
        else:
            moved.append(entry)
    for entry in moved:
        function = entry["id"].rpartition(":")[0]
        alike = (
            name
            for name, change in changes.items()
            if change == (entry["before"], entry["after"])
            and name.rpartition(":")[0] == function
            and name not in taken
        )
        taken |= set(itertools.islice(alike, 1))
    return [mutant for mutant in found if mutant.name in taken]


if __name__ == "__main__":
    main()
