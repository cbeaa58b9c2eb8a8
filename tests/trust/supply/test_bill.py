"""The bill of materials is of the wheel alone, and names no machine and no index."""

import copy
from pathlib import Path

import pytest

from tests.trust.ledger import tried

ROOT = Path(__file__).resolve().parents[3]
if not (ROOT / "release").exists():
    pytest.skip("a checkout is needed", allow_module_level=True)

from release.sbom import (  # noqa: E402
    NEEDED,
    about_the_wheel,
    faults_of_bill,
    faults_of_schema,
    write,
)

DIGEST = "ab" * 32


def part(name, version="1.0", **more):
    return {
        "bom-ref": f"{name}=={version}",
        "name": name,
        "version": version,
        "type": "library",
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [
            {"license": {"id": "BSD-3-Clause", "acknowledgement": "declared"}}
        ],
        **more,
    }


@pytest.fixture
def raw():
    """What cyclonedx-py says of an environment, in small: with pip and addresses."""
    place = [{"type": "distribution", "url": "file:///tmp/dist/graphfold.whl"}]
    names = [*NEEDED, "joblib", "pip"]
    needs = [f"{name}==1.0" for name in NEEDED]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [
                    {
                        "name": "cyclonedx-py",
                        "type": "application",
                        "externalReferences": [
                            {"type": "vcs", "url": "https://example.org/"}
                        ],
                    }
                ]
            }
        },
        "components": [
            part("graphfold", "0.1.0", externalReferences=place),
            *(part(name) for name in names),
        ],
        "dependencies": [
            {"ref": "graphfold==0.1.0", "dependsOn": needs},
            {"ref": "scikit-learn==1.0", "dependsOn": ["joblib==1.0", "numpy==1.0"]},
            *({"ref": f"{name}==1.0"} for name in names if name != "scikit-learn"),
        ],
    }


def test_the_bill_is_of_the_wheel_and_what_it_needs(raw):
    before = copy.deepcopy(raw)
    bill = about_the_wheel(raw, DIGEST)
    assert raw == before
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("graphfold", "0.1.0")
    assert root["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]
    assert {entry["name"] for entry in bill["components"]} == {*NEEDED, "joblib"}
    assert {entry["ref"] for entry in bill["dependencies"]} == {
        root["bom-ref"],
        *(entry["bom-ref"] for entry in bill["components"]),
    }
    assert faults_of_bill(bill, "0.1.0") == []
    tried("supply", "bill of materials", "root, digest, licences, no addresses")


def test_faults_of_a_bill_are_found(raw):
    bill = about_the_wheel(raw, DIGEST)
    assert faults_of_bill(bill, "0.2.0") == ["the bill is of graphfold 0.1.0"]
    other = copy.deepcopy(bill)
    other["components"] = [p for p in other["components"] if p["name"] != "scipy"]
    other["components"][0].pop("licenses")
    other["metadata"]["component"].pop("hashes")
    assert faults_of_bill(other, "0.1.0") == [
        "the bill lacks scipy",
        "the bill has no digest of the wheel",
        "the bill gives no licence of numpy",
    ]
    other = copy.deepcopy(bill)
    other["components"][0]["description"] = "see https://example.org"
    assert faults_of_bill(other, "0.1.0") == ["the bill has an address or a path: ://"]
    tried("supply", "bill of materials", "a faulty bill is refused", 3)


def test_the_bill_is_valid(raw):
    pytest.importorskip("cyclonedx", reason="the schema comes with cyclonedx-bom")
    pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    bill = about_the_wheel(raw, DIGEST)
    assert faults_of_schema(bill) == []
    bill["components"][0]["type"] = "nonsense"
    assert faults_of_schema(bill)[0].startswith("the bill is not valid")


def test_it_is_written_beside_the_wheel(raw, tmp_path):
    path = write(about_the_wheel(raw, DIGEST), tmp_path / "graphfold-0.1.0-py3-any.whl")
    assert path == tmp_path / "graphfold-0.1.0.cdx.json"
    assert '"SHA-256"' in path.read_text()
