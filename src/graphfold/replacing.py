"""Files and folders that are there as a whole: the old ones or the new ones.

What is written is filled beside its place, in a folder ``.graphfold-HOST-...`` that its
process holds a lock on, forced to the disk, and renamed. A process that is killed
leaves such a folder behind, and its lock is gone with it: who writes or looks for
something beside it next puts back what had been moved away, and removes the rest.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nobody is taken for dead
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]

#: begins the names of folders that are filled; a host tells of its own processes only
PREFIX = f".graphfold-{re.sub('[^A-Za-z0-9.]', '_', platform.node())[:60]}-"
#: what a place that is none is told by, and what there should be
_NO_PLACES = {
    errno.ENOENT: "make its folder first",
    errno.ENOTDIR: "its folder is a file",
    errno.EISDIR: "it is a folder: choose another name",
}
#: what a disk or a folder that takes no more is told by
_REFUSALS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
)
#: of renameat2: two names change places
_EXCHANGE = 2
#: how often a folder is tried that others replace at the same time
_TRIES = 100
#: seconds that a folder has to be gone before nobody is taken to write there any more,
#: and that are waited at most
_QUIET, _PATIENCE = 0.1, 3.0


def write_atomically(path: PathLike, write: Callable[[Any], object]) -> None:
    """Let ``write`` fill a temporary file, then put it in the place of ``path``."""

    def fill(temporary: str) -> None:
        with open(temporary, "wb") as stream:
            write(stream)

    replace_atomically(path, fill)


def replace_atomically(path: PathLike, fill: Callable[[str], object]) -> None:
    """As ``write_atomically``, for libraries that want the name of a file to fill."""
    with _beside(path) as folder:
        fresh = os.path.join(folder, "new")
        fill(fresh)
        _force_to_disk(fresh)
        os.replace(fresh, path)
        _force_folder(path)


def replace_folder(path: PathLike, fill: Callable[[str], object]) -> None:
    """Fill a folder beside ``path``, then let it take the place of what is there."""
    with _beside(path) as folder:
        fresh = os.path.join(folder, "new")
        try:
            fill(fresh)
        except BaseException:
            _remove_for_good(folder)
            raise
        _force_to_disk(fresh)
        if not _exchanged(fresh, path):
            _rename_twice(path, fresh, folder)
        _force_folder(path)


def recover(path: PathLike) -> None:
    """If ``path`` was moved away by a process that was then killed, put it back."""
    if not os.path.lexists(path):
        clear_up(os.path.dirname(os.path.abspath(path)))


def clear_up(parent: PathLike) -> None:
    """Put back what killed processes had moved away, and remove what they left."""
    for folder in _of_this_user(parent):
        with suppress(OSError):
            lock = _locked(folder)
            try:
                _put_back(folder, parent)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


# -- the folder beside ----------------------------------------------------------------


@contextmanager
def _beside(path: PathLike) -> Iterator[str]:
    """A new folder beside ``path``, locked, and gone afterwards."""
    parent = os.path.dirname(os.path.abspath(path))
    clear_up(parent)
    ours = folder = os.path.join(parent, PREFIX)
    lock = None
    try:
        with _refusal_named(path, ours):
            while lock is None:
                # a name of its own each time: who clears up may be at the last one yet
                folder = ours + secrets.token_hex(8)
                os.mkdir(folder, 0o700)
                lock = _lock_of_new(folder)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None and lock >= 0:
            os.close(lock)


def _remove_for_good(folder: str) -> None:
    """Remove what threads that have not heard of an error yet make again and again.

    zarr writes its pieces in threads of its own, makes folders that are missing, and
    raises the first error at once. What comes later still is cleared up by who writes
    next.
    """
    now = time.monotonic()
    ends, quiet_at = now + _PATIENCE, now + _QUIET
    while now < min(ends, quiet_at):
        if os.path.lexists(folder):
            quiet_at = now + _QUIET
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.01)
        now = time.monotonic()


def _lock_of_new(folder: str) -> int | None:
    """The lock on a folder; -1 where there are none, None if it was cleared up."""
    try:
        return _locked(folder)
    except (BlockingIOError, FileNotFoundError):
        # someone came between, who took it for left behind
        shutil.rmtree(folder, ignore_errors=True)
        return None
    except OSError:
        return -1


def _locked(folder: str) -> int:
    """Lock a folder; an error if it is locked, or cannot be, or is there no more."""
    if fcntl is None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(folder)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _of_this_user(parent: PathLike) -> list[str]:
    with suppress(OSError), os.scandir(parent) as entries:
        return [
            entry.path
            for entry in entries
            if entry.name.startswith(PREFIX)
            and entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == _user()
        ]
    return []


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _put_back(folder: str, parent: PathLike) -> None:
    with suppress(FileNotFoundError):
        for name in os.listdir(os.path.join(folder, "old")):
            if not os.path.lexists(os.path.join(parent, name)):
                os.rename(os.path.join(folder, "old", name), os.path.join(parent, name))


# -- into its place -------------------------------------------------------------------


def _exchanged(one: PathLike, other: PathLike) -> bool:
    """Let two names change places at once; False where they do not."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    here = ctypes.c_int(-100)  # AT_FDCWD
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(here, names[0], here, names[1], ctypes.c_uint(_EXCHANGE)) == 0)


def _rename_twice(path: PathLike, fresh: str, folder: str) -> None:
    """Between the two there is nothing at ``path``: ``_put_back`` knows the name."""
    old = os.path.join(folder, "old", os.path.basename(os.path.abspath(path)))
    os.mkdir(os.path.dirname(old))
    for _ in range(_TRIES):
        try:
            with suppress(FileNotFoundError):  # someone else has it between their two
                os.rename(path, old)
            os.rename(fresh, path)
            return
        except BaseException as error:
            # what stays beside is thrown away: not the only one that there is
            if os.path.lexists(old) and not os.path.lexists(path):
                with suppress(OSError):  # someone may have put theirs there just now
                    os.rename(old, path)
            if getattr(error, "errno", None) not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            shutil.rmtree(old, ignore_errors=True)  # another was faster; now theirs
    raise OSError(errno.EBUSY, "others replace it all the time", os.fspath(path))


def _force_to_disk(path: str) -> None:
    """What was written survives a loss of power before it gets its name."""
    if not os.path.isdir(path):
        _force(path, os.O_RDWR)
        return
    for folder, _, names in os.walk(path):
        for name in names:
            _force(os.path.join(folder, name), os.O_RDWR)
        with suppress(OSError):
            _force(folder, os.O_RDONLY)


def _force_folder(path: PathLike) -> None:
    """So does the new name; where a folder cannot be forced, the system sees to it."""
    with suppress(OSError):
        _force(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)


def _force(path: str, how: int) -> None:
    handle = os.open(path, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- what a disk says -----------------------------------------------------------------


@contextmanager
def _refusal_named(path: PathLike, ours: str) -> Iterator[None]:
    """A disk that is full, or takes nothing, is told of with the name of the file."""
    try:
        yield
    except Exception as error:
        number = _errno_of(error)
        names = [getattr(error, name, None) for name in ("filename", "filename2")]
        named = [str(name) for name in names if name is not None]
        is_ours = not named or any(name.startswith(ours) for name in named)
        if number in _NO_PLACES and named and is_ours:
            remedy = _NO_PLACES[number]
        elif number in _REFUSALS and is_ours:
            remedy = "it was not written, what was there is kept"
        else:
            raise
        sentence = f"{os.strerror(number)}; {remedy}"
        raise OSError(number, sentence, os.fspath(path)) from error


def _errno_of(error: Exception) -> int | None:
    """The system's number for an error; HDF5 has it in its text alone."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = re.search(r"errno = (\d+)", str(error))
    return int(found[1]) if found else None
