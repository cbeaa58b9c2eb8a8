"""What is said in several places about a release is the same in all of them."""

import re
import tomllib
import zipfile
from pathlib import Path

import pytest

import graphfold

ROOT = Path(__file__).parent.parent
if not (ROOT / "release").exists():
    pytest.skip("a checkout is needed", allow_module_level=True)

from release.contents import differences, faults_of_wheel  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
META = PROJECT["project"]
#: where conda-forge has another name than the package index
CONDA_NAMES = {"matplotlib": "matplotlib-base", "igraph": "python-igraph"}
#: extras for users; the others are for those who work on graphfold
EXTRAS = ("plot", "tables", "graphs", "ad", "map", "disk", "dask")


def bounds(requirements):
    """Lower bound by name: ``numpy>=1.26`` and ``numpy >=1.26`` are the same."""
    pattern = r"([\w-]+)(?:\[[\w,]+\])? ?>=([\d.]+)"
    split = (re.fullmatch(pattern, text) for text in requirements)
    return {match[1]: match[2] for match in split}


@pytest.fixture(scope="module")
def recipe():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())


def test_classifiers_name_each_python_from_the_lowest_on():
    named = [
        int(text.rpartition(".")[2])
        for text in META["classifiers"]
        if re.search(r":: 3\.\d+$", text)
    ]
    lowest = int(META["requires-python"].removeprefix(">=3."))
    assert named == list(range(lowest, 15))


def test_version_is_the_same_everywhere(recipe):
    version = graphfold.__version__
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (\S+)$", citation, re.M)[1] == version
    assert recipe["context"]["version"] == version
    changes = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## (\S+)", changes, re.M)[1].strip("[]")
    assert newest == ("Unreleased" if ".dev" in version else version)


def test_citation_is_whole():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    needed = {"cff-version", "message", "title", "authors", "type", "license"}
    assert needed <= citation.keys()
    assert citation["license"] == META["license"]


def test_recipe_asks_for_what_pyproject_asks_for(recipe):
    run = [text for text in recipe["requirements"]["run"] if "python " not in text]
    assert bounds(run) == bounds(META["dependencies"])
    host = bounds(t for t in recipe["requirements"]["host"] if ">=" in t)
    assert host == bounds(PROJECT["build-system"]["requires"])
    assert META["requires-python"] == ">=" + recipe["context"]["python_min"]


def test_recipe_holds_extras_to_their_versions(recipe):
    extras = META["optional-dependencies"]
    asked = bounds(text for name in EXTRAS for text in extras[name])
    asked = {CONDA_NAMES.get(name, name): low for name, low in asked.items()}
    assert bounds(recipe["requirements"]["run_constraints"]) == asked
    others = {"docs", "dev"}
    assert extras.keys() == {*EXTRAS, *others}


def test_recipe_describes_this_package(recipe):
    about = recipe["about"]
    assert about["summary"] == META["description"]
    assert about["license"] == META["license"]
    assert (ROOT / about["license_file"]).exists()
    ((command, target),) = META["scripts"].items()
    entry_points = recipe["build"]["python"]["entry_points"]
    assert entry_points == [f"{command} = {target}"]


def test_lowest_versions_are_those_promised():
    pins = (ROOT / "tests" / "lowest.txt").read_text()
    pinned = dict(re.findall(r"^([\w-]+)(?:\[[\w,]+\])?==(\S+)$", pins, re.M))
    extras = META["optional-dependencies"]
    promised = bounds(META["dependencies"])
    for name in ("plot", "tables", "graphs", "ad", "dask"):
        promised |= bounds(extras[name])
    for name, version in pinned.items():
        if name in promised:
            assert (version + ".").startswith(promised[name] + "."), name


def test_the_source_archive_lists_what_is_there():
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name).exists(), name


# -- the checks of ``make wheel`` find what they look for --------------------------


@pytest.fixture
def checkout(tmp_path):
    """A checkout of one module, with the licences of its page."""
    package = tmp_path / "src" / "graphfold"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "licences.txt").write_text("Copyright someone\n")
    return tmp_path


GOOD = {
    "graphfold/__init__.py": "",
    "graphfold/py.typed": "",
    "graphfold/views/page.html": "<!-- Copyright someone -->",
    "graphfold-1.dist-info/licenses/LICENSE": "BSD",
}


def wheel_of(folder, files, name="graphfold-1.whl"):
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return path


def test_a_good_wheel_has_no_faults(checkout):
    assert faults_of_wheel(wheel_of(checkout, GOOD), checkout) == []


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_file_is_found(checkout, name):
    files = {file: text for file, text in GOOD.items() if file != name}
    files["graphfold-1.dist-info/RECORD"] = ""
    faults = faults_of_wheel(wheel_of(checkout, files), checkout)
    assert faults[0] == f"graphfold-1.whl lacks {name}"


BAD = {
    "tests": ({"tests/test_it.py": ""}, "holds tests/test_it.py"),
    "tests inside": ({"graphfold/tests/test_it.py": ""}, "holds graphfold/tests"),
    "licence": ({"graphfold/views/page.html": "<html>"}, "'Copyright someone'"),
    "home": ({"graphfold/a.py": "x = '/home/" + "me/data'"}, "path of a machine in"),
    "windows": ({"graphfold/a.py": r"'C:\Users" + r"\me'"}, "path of a machine in"),
}


@pytest.mark.parametrize(("change", "text"), BAD.values(), ids=BAD)
def test_what_does_not_belong_is_found(checkout, change, text):
    faults = faults_of_wheel(wheel_of(checkout, GOOD | change), checkout)
    assert len(faults) == 1
    assert text in faults[0]


def test_the_checkouts_own_path_is_found(checkout):
    change = {"graphfold/a.py": f"root = {str(checkout)!r}"}
    faults = faults_of_wheel(wheel_of(checkout, GOOD | change), checkout)
    assert faults == ["graphfold-1.whl names a path of a machine in graphfold/a.py"]


def test_wheels_that_differ_are_told_apart(tmp_path):
    one = wheel_of(tmp_path, GOOD, "one.whl")
    other = wheel_of(tmp_path, GOOD | {"graphfold/py.typed": "x"}, "other.whl")
    assert differences(one, one) == []
    assert [text.split()[0] for text in differences(one, other)] == [
        "graphfold/py.typed"
    ]
