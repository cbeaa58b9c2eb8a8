"""Fuzz a parser, or all: ``python -m fuzz model --seconds 60``, ``--all``."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

INSTRUMENTED = [
    "graphfold.archives",
    "graphfold.check",
    "graphfold.documents",
    "graphfold.files",
    "graphfold.graphs",
    "graphfold.hints",
    "graphfold.io",
    "graphfold.sparse_parts",
    "csv",
    "gzip",
    "json",
    "networkx.readwrite.graphml",
    "xml",
    "zipfile",
]
LIMITS = ["-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1", "-verbosity=1"]
MOST = 2**15


def main() -> int:
    """Run what the arguments say; 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", nargs="?")
    parser.add_argument("--all", action="store_true", help="every target in turn")
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    parser.add_argument("--findings", type=Path, help="a folder for inputs that fail")
    arguments = parser.parse_args()
    folder = arguments.findings or Path(tempfile.mkdtemp(prefix="graphfold-findings-"))
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.all and not arguments.out:
        return _fuzz(arguments.target, arguments.seconds, arguments.seed, folder)
    _instrumented()
    from fuzz.targets import TARGETS

    names = list(TARGETS) if arguments.all else [arguments.target]
    found = {}
    for name in names:
        found[name] = _in_a_process(name, arguments.seconds, arguments.seed, folder)
        print(name, json.dumps(found[name]), flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(_summary(found), indent=1) + "\n")
    bad = [name for name, result in found.items() if result["findings"]]
    print(f"{len(names)} targets, findings in {bad or 'none'}; inputs in {folder}")
    return 1 if bad else 0


def _summary(found: dict[str, Any]) -> dict[str, Any]:
    import numpy
    import scipy

    return {
        "fuzzer": "atheris 3.0.0 (libFuzzer)",
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "limits": LIMITS[:2],
        "executions": sum(result["executions"] for result in found.values()),
        "seconds": sum(result["seconds"] for result in found.values()),
        "findings": sum(len(result["findings"]) for result in found.values()),
        "targets": found,
    }


def _in_a_process(name: str, seconds: int, seed: int, folder: Path) -> dict[str, Any]:
    """What came of one target; a process of its own dies alone.

    It is a copy of this one, so that modules are instrumented once for all targets.
    """
    log = folder / f"{name.replace(' ', '-')}.log"
    before = {*os.listdir(folder), log.name}
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        with open(log, "wb") as stream:
            for number in (1, 2):
                os.dup2(stream.fileno(), number)
        try:
            _fuzz(name, seconds, seed, folder)
        finally:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    text = log.read_text(errors="replace")
    done = re.findall(r"Done (\d+) runs in (\d+) second", text)
    covered = re.findall(r"cov: (\d+)", text)
    findings = sorted(set(os.listdir(folder)) - before)
    if not done and not findings:
        findings = [f"status {status}: {text[-500:]}"]
    return {
        "executions": int(done[-1][0]) if done else 0,
        "seconds": int(done[-1][1]) if done else 0,
        "edges": int(covered[-1]) if covered else 0,
        "findings": findings,
    }


def _instrumented() -> None:
    """Import all that is fuzzed so that its branches are counted."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        import fuzz.mutate
        import fuzz.seeds
        import fuzz.targets  # noqa: F401


def _fuzz(name: str, seconds: int, seed: int, folder: Path) -> int:
    _instrumented()
    import atheris

    from fuzz import mutate
    from fuzz.seeds import seeds_of
    from fuzz.targets import TARGETS, warm_up

    target = TARGETS[name]
    seeds = seeds_of(name)
    warm_up(name, seeds)

    def changed(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        return mutate.structured(name, data, rng, atheris.Mutate, most)

    with tempfile.TemporaryDirectory() as corpus:
        for i, content in enumerate(seeds):
            Path(corpus, f"seed{i}").write_bytes(content)
        prefix = f"{folder}/{name.replace(' ', '-')}-"
        how = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={MOST}"]
        options = [*LIMITS, *how, f"-artifact_prefix={prefix}", corpus]
        atheris.Setup([sys.argv[0], *options], target, custom_mutator=changed)
        atheris.Fuzz()  # ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main())
