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
