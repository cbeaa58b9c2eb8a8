"""Changes inside of archives, JSON and gzip, which random bytes never get past.

A changed byte of a zip file fails its checksum, and nothing behind it is tried. So the
file is taken apart, one part of it is changed, and it is put together again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from graphfold.archives import claim_of

#: (bytes, most bytes) to other bytes
Change = Callable[[bytes, int], bytes]
_ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**12, -(2**63), 1e308, float("nan"), "", "x",
    "__class__", "fit", [], {}, [[]], {"dict": {}}, {"array": "a0"}, {"array": "a1"},
    {"tuple": []}, {"slice": [None, None, None]}, {"objects": []}, "n1", "\0", "é",
]  # fmt: skip
_CELLS = [
    b"", b"nan", b"inf", b"-inf", b"1e400", b"-1", b"1000000000000", b"9" * 25, b"\0",
    b'"', b'""', b"\r", b"\xff", b"\xef\xbb\xbf", b"1_0", b"\xd9\xa1", b"n1", b"0x10",
    b",", b"\t", b"\n", b"x" * 300, b" ", b"1e-400", b"NA", b"=1+1", b"\x1b[2J",
]  # fmt: skip
_SIZES = [b"0", b"-1", b"1000000000000", b"9" * 30, b"2", b"18446744073709551616"]


def plain(data: bytes, rng: random.Random, most: int = 2**14) -> bytes:
    """Bytes changed as fuzzers do it, with no coverage to guide it."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(changed) + 1)
        match rng.randrange(6):
            case 0 if changed:
                changed[place % len(changed)] ^= 1 << rng.randrange(8)
            case 1:
                changed[place:place] = rng.randbytes(rng.randrange(1, 5))
            case 2:
                del changed[place : place + rng.randrange(1, 20)]
            case 3:
                changed[place:place] = rng.choice(_CELLS)
            case 4:
                other = rng.randrange(len(changed) + 1)
                changed[place:place] = changed[other : other + rng.randrange(1, 40)]
            case _:
                numbers = list(re.finditer(rb"\d+", bytes(changed[:4000])))
                if numbers:
                    found = rng.choice(numbers)
                    changed[found.start() : found.end()] = rng.choice(_SIZES)
    return bytes(changed[:most])


def structured(
    target: str, data: bytes, rng: random.Random, change: Change, most: int
) -> bytes:
    """The file with one of its parts changed; as it is changed, where it has none."""
    if rng.random() < 0.1:
        return change(data, most)
    try:
        if target == "model" or target.endswith(".npz"):
            return _of_archive(data, rng, change, most)
        if target.endswith(".json"):
            return json.dumps(_odd_tree(json.loads(data), rng)).encode()[:most]
        if target.endswith(".gz"):
            return gzip.compress(change(gzip.decompress(data), 4 * most), mtime=0)[
                :most
            ]
        if rng.random() < 0.3:
            return plain(data, rng, most)
    except Exception:
        pass  # it has been changed before, and has no parts any more
    return change(data, most)


def _of_archive(data: bytes, rng: random.Random, change: Change, most: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    named = dict(members)
    place = rng.randrange(len(members))
    name, content = members[place]
    match rng.randrange(8):
        case 0 | 1 | 2 if "header.npy" in named:
            place = [name for name, _ in members].index("header.npy")
            members[place] = ("header.npy", _odd_header(named["header.npy"], rng))
        case 3:
            cut = content.find(b"\n") + 1 or 128
            header = plain(content[:cut], rng)
            members[place] = (name, header + content[cut:])
        case 4:
            members[place] = (name, rng.choice(members)[1])
        case 5 if rng.random() < 0.3:
            members.append((rng.choice((name, "../x.npy", "b", "a7.npy")), content))
        case 6 if rng.random() < 0.3:
            del members[place]
        case _:
            members[place] = (name, _odd_payload(content, rng, change, most))
    stream = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED,) * 7 + (zipfile.ZIP_DEFLATED,))
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return stream.getvalue()[:most]


def _odd_payload(
    content: bytes, rng: random.Random, change: Change, most: int
) -> bytes:
    """An array of the same size with other numbers, or other bytes altogether."""
    if rng.random() < 0.2:
        return change(content, most)
    values = _array_of(content)
    if values.size and values.dtype.kind in "iuf":
        odd = [0, 1, -1, values.size, 2**31 - 1, -(2**31), 2**63 - 1, -2]
        with np.errstate(all="ignore"):
            values.flat[rng.randrange(values.size)] = np.array(rng.choice(odd)).astype(
                values.dtype
            )
    shape = rng.choice((values.shape, values.shape[::-1], (-1,), (1, -1), (-1, 1)))
    stream = io.BytesIO()
    np.save(stream, values.reshape(shape))
    return stream.getvalue()


def _array_of(content: bytes) -> Any:
    if claim_of(io.BytesIO(content)).size != len(content):
        raise ValueError("its header was changed before")
    return np.load(io.BytesIO(content), allow_pickle=False).copy()


def _odd_header(content: bytes, rng: random.Random) -> bytes:
    tree = json.loads(bytes(_array_of(content)))
    stream = io.BytesIO()
    text = json.dumps(_odd_tree(tree, rng)).encode()
    np.save(stream, np.frombuffer(text, dtype=np.uint8))
    return stream.getvalue()


def _odd_tree(tree: Any, rng: random.Random) -> Any:
    """JSON with a branch replaced, taken away, renamed, or put elsewhere."""
    places: list[tuple[Any, Any]] = []
    _collect(tree, places)
    if not places:
        return rng.choice(_ODD)
    for _ in range(rng.choice((1, 1, 2))):
        holder, key = rng.choice(places)
        other, own = rng.choice(places)
        try:
            match rng.randrange(4):
                case 0:
                    holder[key] = json.loads(json.dumps(other[own]))
                case 1 if isinstance(holder, dict):
                    holder[rng.choice(("__class__", "transform", "x", str(own)))] = (
                        holder.pop(key)
                    )
                case 2 if rng.random() < 0.5:
                    del holder[key]
                case _:
                    holder[key] = rng.choice(_ODD)
        except (KeyError, IndexError):
            pass  # an earlier change took it away
    return tree


def _collect(tree: Any, places: list[tuple[Any, Any]]) -> None:
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            places.append((tree, key))
            _collect(tree[key], places)
