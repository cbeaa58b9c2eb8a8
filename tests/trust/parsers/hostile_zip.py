"""Zip files and arrays that claim what they do not hold, made byte by byte."""

import io
import json
import struct
import zipfile
import zlib

import numpy as np


def npy(descr="'<f8'", shape="(3,)", payload=b"\0" * 24, more="", version=1):
    """An array of NumPy's whose header says what one likes."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, {more}}}"
    text = header.encode() + b"\n"
    width = "<H" if version == 1 else "<I"
    start = b"\x93NUMPY" + bytes([version, 0])
    return start + struct.pack(width, len(text)) + text + payload


def array(values):
    """The bytes of an honest array."""
    stream = io.BytesIO()
    np.save(stream, np.asarray(values))
    return stream.getvalue()


def header(**content):
    """The bytes of a model's header."""
    return array(np.frombuffer(json.dumps(content).encode(), dtype=np.uint8))


def zipped(*members, method=zipfile.ZIP_STORED):
    """A zip file of (name, bytes), repeated names and all."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return stream.getvalue()


def zip_with_claims(name, content, *, size=None, times=1, apart=True):
    """A deflated member that claims a size; ``times`` entries for the same bytes."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeezed.compress(content) + squeezed.flush()
    size = len(content) if size is None else size
    crc = zlib.crc32(content)
    entries, body, offset = [], [], 0
    for i in range(times):
        own = name.format(i).encode()
        fixed = struct.pack("<HHHHHLLL", 20, 0, 8, 0, 0, crc, len(packed), size)
        fixed += struct.pack("<HH", len(own), 0)
        entry = b"PK\1\2" + struct.pack("<H", 20) + fixed
        entries += [entry, struct.pack("<HHHLL", 0, 0, 0, 0, offset), own]
        if apart or i == times - 1:
            body += [b"PK\3\4", fixed, own, packed]
            offset += sum(map(len, body[-4:]))
    directory = b"".join(entries)
    counts = (0, 0, times, times, len(directory), offset, 0)
    end = struct.pack("<4s4H2LH", b"PK\5\6", *counts)
    return b"".join(body) + directory + end


ARRAYS = {
    "a trillion rows": npy(shape="(1000000000000,)"),
    "more numbers than there are": npy(shape="(10000000000, 10000000000, 99999999999)"),
    "digits without end": npy(shape=f"({'9' * 5000},)"),
    "an empty array of size": npy(shape="(0, 1000000000000000000)", payload=b""),
    "texts of no width": npy("'<U0'", "(1000000000000,)", b""),
    "less than there is": npy(shape="(2,)"),
    "a negative size": npy(shape="(-3,)"),
    "objects": npy("'|O'", "(1,)", b"cos\nsystem\n(S'true'\ntR."),
    "a structure": npy("[('a', '<f8')]", "(3,)"),
    "a structure of objects": npy("[('a', '|O')]", "(3,)"),
    "a void": npy("'|V8'", "(3,)"),
    "no type": npy("'<q9'", "(3,)"),
    "a call": npy("__import__('os').system('true')", "(3,)"),
    "another key": npy(more="'x': 1, "),
    "a type twice": npy(more="'descr': '|O', "),
    "a deep header": npy(shape="(" * 3000 + ")" * 3000),
    "a long header": npy(more=" " * 20_000, version=2),
    "an unknown version": npy(version=9),
    "no array": b"hello, world",
    "nothing": b"",
}

LARGE = np.iinfo(np.int64).max
MATRICES = {
    "columns outside": ([1.0, 1.0], [0, 9], [0, 1, 2], [2, 2]),
    "columns below": ([1.0, 1.0], [0, -1], [0, 1, 2], [2, 2]),
    "rows backwards": ([1.0, 1.0], [0, 1], [0, 2, 1], [2, 2]),
    "rows outside": ([1.0, 1.0], [0, 1], [0, 1, 200], [2, 2]),
    # differences of these wrap around and look like steps forward
    "rows around the world": ([1.0] * 5, [0] * 5, [0, LARGE, -2, 5], [3, 3]),
    "no first row": ([1.0, 1.0], [0, 1], [1, 1, 2], [2, 2]),
    "too few rows": ([1.0, 1.0], [0, 1], [0, 2], [2, 2]),
    "a trillion rows": ([1.0, 1.0], [0, 1], [0, 1, 2], [10**12, 10**12]),
    "a trillion columns": ([1.0, 1.0], [0, 1], [0, 1, 2], [2, 10**12]),
    "negative sizes": ([1.0, 1.0], [0, 1], [0, 1, 2], [-2, 2]),
    "a size of texts": ([1.0, 1.0], [0, 1], [0, 1, 2], ["2", 2]),
    "three sizes": ([1.0, 1.0], [0, 1], [0, 1, 2], [2, 2, 2]),
    "places of fractions": ([1.0, 1.0], [0.0, 1.0], [0, 1, 2], [2, 2]),
    "fewer numbers": ([1.0], [0, 1], [0, 1, 2], [2, 2]),
    "a table of numbers": ([[1.0, 1.0]], [0, 1], [0, 1, 2], [2, 2]),
    "texts": (["a", "b"], [0, 1], [0, 1, 2], [2, 2]),
}
