"""The bill of materials of a wheel: CycloneDX, of what it installs and nothing more."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

#: what a bill of graphfold has to list
NEEDED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
Bill = dict[str, Any]


def bill_of(wheel: Path, python: str) -> Bill:
    """The bill of a wheel that is installed, alone, for ``python``."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", python]
    command += ["--output-reproducible", "--short-PURLs", "--mc-type", "library"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return about_the_wheel(json.loads(done.stdout), digest)


def about_the_wheel(bill: Bill, sha256: str) -> Bill:
    """A bill of an environment turned into one of graphfold.

    graphfold becomes the root, with the digest of its wheel; what it does not need
    (pip) goes, and so do addresses and paths: a machine's own, or an index's.
    """
    (root,) = (part for part in bill["components"] if part["name"] == "graphfold")
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    kept, waiting = set(), [root["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        if ref not in kept:
            kept.add(ref)
            waiting += needs.get(ref, [])
    parts = [_plain(part) for part in bill["components"] if part["bom-ref"] in kept]
    tools = [_plain(tool) for tool in bill["metadata"]["tools"]["components"]]
    own = {
        "type": "library",
        "purl": f"pkg:pypi/graphfold@{root['version']}",
        "hashes": [{"alg": "SHA-256", "content": sha256}],
    }
    return bill | {
        "metadata": bill["metadata"]
        | {
            "component": _plain(root) | own,
            "tools": {"components": tools},
        },
        "components": [part for part in parts if part["name"] != "graphfold"],
        "dependencies": [
            entry for entry in bill["dependencies"] if entry["ref"] in kept
        ],
    }


def _plain(part: Bill) -> Bill:
    """A component without addresses."""
    left = ("externalReferences", "properties", "evidence")
    return {name: value for name, value in part.items() if name not in left}


def faults_of_bill(bill: Bill, version: str) -> list[str]:
    """One sentence for each thing wrong with the bill of a wheel."""
    root = bill["metadata"].get("component", {})
    names = {part["name"].lower(): part for part in bill["components"]}
    faults = [f"the bill lacks {name}" for name in NEEDED if name not in names]
    if (root.get("name"), root.get("version")) != ("graphfold", version):
        faults.append(f"the bill is of {root.get('name')} {root.get('version')}")
    if not any(entry.get("alg") == "SHA-256" for entry in root.get("hashes", [])):
        faults.append("the bill has no digest of the wheel")
    faults += [
        f"the bill gives no licence of {part['name']}"
        for part in [root, *bill["components"]]
        if not part.get("licenses")
    ]
    said = json.dumps({key: value for key, value in bill.items() if key != "$schema"})
    return faults + [
        f"the bill has an address or a path: {mark}"
        for mark in ("://", "file:", "/home/", "/tmp/", "/root/", "\\\\Users")
        if mark in said
    ]


def faults_of_schema(bill: Bill) -> list[str]:
    """What the schema of CycloneDX says against the bill."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    version = SchemaVersion.from_version(bill["specVersion"])
    error = JsonStrictValidator(version).validate_str(json.dumps(bill))
    return [] if error is None else [f"the bill is not valid: {error}"]


def write(bill: Bill, wheel: Path) -> Path:
    """Beside the wheel: graphfold-<version>.cdx.json."""
    name = "-".join(wheel.name.split("-")[:2])
    path = wheel.with_name(f"{name}.cdx.json")
    path.write_text(json.dumps(bill, indent=1) + "\n")
    return path
