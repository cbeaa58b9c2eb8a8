"""npz and npy files of strangers: looked at before any of their arrays is made.

A few bytes can claim to be a terabyte: in the directory of a zip file, in the header
of an array, by compression, or by naming the same bytes many times. What is claimed is
compared with the size of the file first. Whatever is wrong is a ``ValueError`` that
says what; who has asked says which file.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple, Self, final

import numpy as np

from graphfold.allowance import TIMES, refuse_beyond
from graphfold.arrays import Array

#: members that an archive may have, and bytes of the list of them
MEMBERS = 2**16
DIRECTORY = 2**23
#: an array takes this many times its bytes while it is read and checked
COPIES = 2
#: what is unpacked may be this many times its file, where it is large
RATIO = TIMES // COPIES
DEFLATE = 1032  # no byte of a deflated stream stands for more
_HEADER = 10_000
_KINDS = "biufcSUmM"
_MOST_EMPTY = 2**31

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
# "*+" never looks back: ten thousand blanks are passed over once
_PAIR = (
    r"\s*+['\"](?:descr|fortran_order|shape)['\"]\s*+:"
    r"\s*+(?:['\"][^'\"]*+['\"]|True|False|\([\d,\sL]*+\))\s*+"
)
_DICT = re.compile(rf"\s*+\{{{_PAIR},{_PAIR},{_PAIR},?\s*+\}}\s*+", re.ASCII)
_DESCR = re.compile(r"['\"]descr['\"]\s*:\s*['\"]([^'\"]*)['\"]")
_SHAPE = re.compile(r"['\"]shape['\"]\s*:\s*\(([^)]*)\)")
# a width of twenty digits overflows in old versions of NumPy
_TYPE = re.compile(r"[<>|=]?([A-Za-z?])\d{0,9}(\[\w{1,20}\])?", re.ASCII)


class Claim(NamedTuple):
    """What the header of an array says, and where its numbers begin."""

    dtype: Any
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """Bytes from the first of the header to the last number."""
        return self.offset + math.prod(self.shape) * int(self.dtype.itemsize)


class PickledError(ValueError):
    """Python objects, which are not read: loading them would run code."""


@final
class Archive:
    """Arrays of an npz file by name.

    What its directory claims is checked when it is opened, what the header of an array
    claims when that array is asked for.

    Parameters
    ----------
    source : path, or a file that is open for reading bytes (it stays open)
    """

    def __init__(self, source: Any):
        self._own = isinstance(source, str | os.PathLike)
        self._stream: Any = open(source, "rb") if self._own else source  # noqa: SIM115
        try:
            self.size = _size_of(self._stream)
            _refuse_long_directory(self._stream, self.size)
            self._zip = zipfile.ZipFile(self._stream)
            listed = self._zip.infolist()
            _check_directory(listed, self.size)
            self._members = {_name_of(member): member for member in listed}
            if len(self._members) != len(listed):
                raise ValueError("its arrays must have different names")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> Array:
        self._check_claim(name)
        with self._zip.open(self._members[name]) as stream:
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))

    def bytes_of(self, name: str) -> int:
        """Bytes of an array, with its header, when it is unpacked."""
        return self._members[name].file_size

    @property
    def total(self) -> int:
        """Bytes of all arrays when they are unpacked."""
        return sum(member.file_size for member in self._members.values())

    def check_claims(self) -> None:
        """Look at the headers of all arrays, also of those that nobody asks for."""
        for name in self._members:
            self._check_claim(name)

    def _check_claim(self, name: str) -> None:
        member = self._members[name]
        with self._zip.open(member) as stream:
            try:
                claim = claim_of(stream)
            except PickledError:
                raise PickledError(f"its array {name!r} holds Python objects") from None
        if claim.size != member.file_size:
            raise ValueError(
                f"its array {name!r} claims {claim.size} bytes and has "
                f"{member.file_size}"
            )

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._own:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def claim_of(stream: Any) -> Claim:
    """What the header of a stream in npy's format says; nothing behind it is read."""
    start = stream.read(8)
    if len(start) < 8 or start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise ValueError("it does not begin as an array of NumPy's")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _HEADER:
        raise ValueError(f"the header of an array has {length} bytes")
    content = stream.read(length)
    if len(content) < length:
        raise ValueError("the header of an array is cut off")
    return _parsed(content.decode("utf-8"), 8 + width + length)


def _parsed(header: str, offset: int) -> Claim:
    """NumPy would evaluate it as Python's literals; only what NumPy writes gets by."""
    descr, shape = _DESCR.search(header), _SHAPE.search(header)
    if not _DICT.fullmatch(header) or descr is None or shape is None:
        raise ValueError("the header of an array is not one of numbers or texts")
    kind = _TYPE.fullmatch(descr[1])
    if kind is not None and kind[1] == "O":
        raise PickledError("an array in it holds Python objects")
    if kind is None or kind[1] not in _KINDS + "?":
        raise ValueError(f"an array in it is of the type {descr[1][:40]!r}")
    dtype = np.dtype(descr[1])
    parts = [part.strip().rstrip("L") for part in shape[1].split(",")]
    if any(len(part) > 20 for part in parts):
        raise ValueError("an array in it claims to have more numbers than there are")
    sizes = tuple(int(part) for part in parts if part)
    if dtype.itemsize == 0 or len(sizes) > 32:
        raise ValueError(f"an array in it is {len(sizes)} times {dtype}")
    if 0 in sizes and math.prod(size or 1 for size in sizes) > _MOST_EMPTY:
        raise ValueError(f"an empty array in it claims to be of the shape {sizes}")
    return Claim(dtype, sizes, offset)


# -- zip files ------------------------------------------------------------------------


def _size_of(stream: Any) -> int:
    size = int(stream.seek(0, os.SEEK_END))
    stream.seek(0)
    return size


def _refuse_long_directory(stream: Any, size: int) -> None:
    """``zipfile`` makes an object of each entry: their bytes are looked up first.

    At the place where it looks, and in its order: at the very end, and before it the
    record of large files.
    """
    held = min(size, _END.size + _LOCATOR.size + _END_64.size)
    stream.seek(size - held)
    tail = stream.read(held)
    stream.seek(0)
    end = tail[-_END.size :]
    if len(end) < _END.size or end[:4] != b"PK\5\6" or end[-2:] != b"\0\0":
        raise ValueError("it is not a whole npz file")
    length = _END.unpack(end)[5]
    before = tail[: -_END.size]
    locator, large = before[-_LOCATOR.size :], before[: -_LOCATOR.size]
    if locator[:4] == b"PK\6\7":
        # some versions look right before it, others where it points to
        if large[:4] != b"PK\6\6" or _LOCATOR.unpack(locator)[2] != size - held:
            raise ValueError("the list of its arrays is not where it should be")
        length = _END_64.unpack(large)[8]
    if length > min(DIRECTORY, size):
        raise ValueError(f"the list of its arrays has {length} bytes")


def _check_directory(listed: list[zipfile.ZipInfo], size: int) -> None:
    if len(listed) > MEMBERS:
        raise ValueError(f"it has {len(listed)} arrays; {MEMBERS} are allowed")
    end = 0
    for member in sorted(listed, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise ValueError("some of its arrays lie upon each other")
        end = member.header_offset + 30 + member.compress_size
    if end > size:
        raise ValueError("its arrays claim more bytes than the file has")
    for member in listed:
        stored = member.compress_type == zipfile.ZIP_STORED
        most = member.compress_size * (1 if stored else DEFLATE)
        if member.flag_bits & 1 or not (
            stored or member.compress_type == zipfile.ZIP_DEFLATED
        ):
            raise ValueError("it is encrypted, or packed in a way that NumPy does not")
        if member.file_size > most:
            raise ValueError("its arrays claim more bytes than can be packed in it")
    refuse_beyond(
        COPIES * sum(member.file_size for member in listed),
        size,
        "save it with numpy.savez, which does not compress",
    )


def _name_of(member: zipfile.ZipInfo) -> str:
    """The name of an array; nothing that would be a path elsewhere, or a folder."""
    name = member.filename
    steps = re.split(r"[/\\]", name)
    if name.endswith(".npy") and not any(step in ("", "..") for step in steps):
        return name[: -len(".npy")]
    raise ValueError(f"it must hold arrays of NumPy's alone; got {name[:80]!r}")
