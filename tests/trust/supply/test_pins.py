"""The versions that CI installs: all pinned, and such as pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.trust.ledger import measured, tried

ROOT = Path(__file__).resolve().parents[3]
PINS = ROOT / ".ci" / "constraints.txt"
if not (ROOT / "release").exists():
    pytest.skip("a checkout is needed", allow_module_level=True)

from release.pins import normal, pins  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def pinned():
    lines = PINS.read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def asked_for(requirements):
    """Name and lower bound of each requirement, those of our own extras included."""
    for text in requirements:
        name, extras, low = re.fullmatch(
            r"([\w.-]+)(?:\[([\w,]+)\])?(?:>=([\d.]+))?", text
        ).groups()
        if name != "graphfold":
            yield normal(name), low
            continue
        for extra in extras.split(","):
            yield from asked_for(EXTRAS[extra])


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]


WANTED = dict(asked_for([*PROJECT["dependencies"], *EXTRAS["dev"], *EXTRAS["docs"]]))


@pytest.mark.parametrize("name", sorted(WANTED))
def test_what_ci_installs_is_pinned_and_allowed(name):
    assert name in pinned(), f"{name} has no pin: make constraints renews them"
    low = WANTED[name]
    assert low is None or numbers(pinned()[name]) >= numbers(low)
    tried("supply", "pins of CI", "direct dependency pinned within its bounds")


def test_pins_name_no_machine_and_no_index():
    lines = [line for line in PINS.read_text().splitlines() if line[:1] != "#"]
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[\w.!+]+", line), line
    assert len(lines) == len(pinned()) > len(WANTED)
    assert "graphfold" not in pinned()
    measured("supply", "pinned packages", len(lines))


def test_what_is_not_a_pin_is_refused():
    frozen = "# comment\n-e /here\nNumPy==2.0\npip==1\nzict==3.0.0\n"
    assert pins(frozen) == ["numpy==2.0", "zict==3.0.0"]
    for line in ("a @ file:///opt/a.whl", "a @ git+https://host/a", "a>=1"):
        with pytest.raises(ValueError, match="a pin must be name==version; got"):
            pins(line)


def test_ci_installs_by_the_pins_but_not_in_the_lowest_environment():
    assert 'PIP_CONSTRAINT="$PWD/.ci/constraints.txt"' in (ROOT / ".ci/run").read_text()
    rule = (ROOT / "Makefile").read_text().partition(".venv-lowest/.dev:")[2]
    assert "PIP_CONSTRAINT= .venv-lowest/bin/python" in rule.partition("\n\n")[0]
