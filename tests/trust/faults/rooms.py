"""Places where writing fails: a disk that is full, a file that may not grow, a folder
that takes nothing.

A room is entered in a child process alone: it sees a mount that nobody else does.
"""

import contextlib
import ctypes
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from graphfold import GraphKernelPCA

#: of a batch: some hundred kilobytes
ROWS = np.random.default_rng(0).standard_normal((400, 100))
NEW_NAMESPACE, PRIVATE, RECURSIVE = 0x20000, 1 << 18, 1 << 14
READ_ONLY, REMOUNT = 1, 32
#: of a disk that is filled up
DISK = 4 << 20
NOBODY = 65534


def why_no_mounts():
    """Why this process cannot mount a disk of its own; None if it can."""
    if sys.platform != "linux":
        return "mounts of one process are Linux's"
    if os.geteuid() != 0:
        return "only root can mount a disk"
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(Exception), tempfile.TemporaryDirectory() as folder:
            _mounted(folder)
            code = 0
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    return "this machine does not let us mount a disk" if status else None


def _call(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mounted(folder):
    """A disk of some megabytes at a folder, for this process only."""
    _call("unshare", NEW_NAMESPACE)
    _call("mount", b"none", b"/", None, PRIVATE | RECURSIVE, None)
    how = f"size={DISK}".encode()
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, how)


def _fill_up(folder, room):
    """Leave so many bytes on the disk at a folder."""
    free = os.statvfs(folder)
    bytes_free = free.f_bavail * free.f_frsize
    with open(Path(folder, "filler"), "wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, bytes_free - room))


@contextlib.contextmanager
def full_disk(room):
    """What is written later on has so much room."""
    with tempfile.TemporaryDirectory() as folder:
        _mounted(folder)
        os.mkdir(f"{folder}/inside")
        yield f"{folder}/inside", lambda: _fill_up(folder, room)
        _call("umount2", os.fsencode(folder), 2)


@contextlib.contextmanager
def short_files(size):
    """No file may be longer; a limit that every POSIX system has."""
    with tempfile.TemporaryDirectory() as folder:

        def close_up():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        yield folder, close_up


@contextlib.contextmanager
def read_only_disk(_):
    with tempfile.TemporaryDirectory() as folder:
        _mounted(folder)

        def close_up():
            how = READ_ONLY | REMOUNT
            _call("mount", b"none", os.fsencode(folder), None, how, None)

        yield folder, close_up
        _call("umount2", os.fsencode(folder), 2)


@contextlib.contextmanager
def folder_of_another(_):
    """Of root, where this process is nobody."""
    folder = tempfile.mkdtemp()

    def close_up():
        for path in [folder, *Path(folder).rglob("*")]:
            os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
        if os.geteuid() == 0:
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        else:
            os.chmod(folder, 0o555)

    yield folder, close_up
    shutil.rmtree(folder)


def have_rights_back():
    """Whoever was root is root again: nobody may not import what is imported late."""
    if os.getuid() == 0:
        os.seteuid(0)
        os.setegid(0)


ROOMS = {
    "full disk": full_disk,
    "short files": short_files,
    "read-only disk": read_only_disk,
    "folder of another": folder_of_another,
}


def spill(room, size):
    """Batches beyond a budget of memory lie on a disk: what is said when it is full."""
    with ROOMS[room](size) as (place, close_up):
        tempfile.tempdir = place
        model = GraphKernelPCA(2, landmarks=10, max_memory="1MB")
        model.partial_fit(ROWS)
        close_up()
        said, n_batches = None, 1
        for _ in range(20):
            try:
                model.partial_fit(ROWS)
            except OSError as error:
                said = str(error)
                break
            n_batches += 1
        same = model.n_batches_ == n_batches and model.n_seen_ == n_batches * len(ROWS)
        shape = model.embedding_.shape
        return {"said": said, "same": same, "rows": shape[0] == n_batches * len(ROWS)}
