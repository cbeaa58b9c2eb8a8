"""A file that a reader has to refuse."""

import tracemalloc

import pytest

from graphfold.errors import GraphfoldError
from graphfold.files import read_table
from tests.trust.ledger import tried
from tests.trust.parsers.readers import MEGABYTE


@pytest.fixture
def refused(tmp_path):
    """The sentence with which a reader refuses bytes, for at most so much memory."""

    def sentence(name, content, read=read_table, most=24 * MEGABYTE):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        tracemalloc.start()
        try:
            with pytest.raises(GraphfoldError) as caught:
                read(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < most
        said = str(caught.value)
        assert said.isprintable() and len(said) < 800
        tried("parsers", name.partition(".")[2], "hostile files")
        return said

    return sentence
