"""Memory that reading a file adds, and what came of it, in a process of its own.

``python -m tests.trust.parsers.reading '["graph", "edges.npz"]'``
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[3]
MEMORY = 9 * 2**30


def measure(reader, path):
    """What a fresh process says of reading a file."""
    request = json.dumps([reader, str(path)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust.parsers.reading", request],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    from graphfold.errors import GraphfoldError
    from graphfold.files import read_column, read_table
    from tests.peak import added
    from tests.trust.parsers.readers import N, graph, named_graph

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    reader, path = json.loads(sys.argv[1])
    read = {
        "table": read_table,
        "graph": graph,
        "named graph": named_graph,
        "column": lambda path: read_column(path, None, N),
    }[reader]
    for name in ("anndata", "networkx", "pandas", "pyarrow.csv", "zarr"):
        with suppress(ImportError):
            __import__(name)  # what is imported is no part of reading
    said = []

    def run():
        try:
            read(path)
        except GraphfoldError as error:
            said.append(str(error))

    started = time.process_time()
    peak = added(run)[0]
    seconds = time.process_time() - started
    print(json.dumps({"peak": peak, "seconds": seconds, "said": "".join(said)}))


if __name__ == "__main__":
    main()
