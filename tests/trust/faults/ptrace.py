"""A child that is killed at a given system call: before it, or when it is done.

As a debugger does, with ptrace: whatever library makes the call. Counted are calls that
can change a file system, each of them twice.
"""

import ctypes
import os
import platform
import signal
import sys

TRACE_ME, PEEK_USER, SYSCALL, SET_OPTIONS = 0, 3, 24, 0x4200
#: calls are told from signals; threads are followed; nobody survives the tracer
OPTIONS = 0x1 | 0x8 | 0x100000
ALL_THREADS = 0x40000000
NUMBER_OF_CALL, FIRST_ARGUMENT = 8 * 15, 8 * 14
#: on x86-64
CHANGES = {
    1: "write",
    2: "open",
    18: "pwrite64",
    20: "writev",
    26: "msync",
    40: "sendfile",
    74: "fsync",
    75: "fdatasync",
    76: "truncate",
    77: "ftruncate",
    82: "rename",
    83: "mkdir",
    84: "rmdir",
    85: "creat",
    87: "unlink",
    90: "chmod",
    91: "fchmod",
    257: "openat",
    258: "mkdirat",
    263: "unlinkat",
    264: "renameat",
    268: "fchmodat",
    280: "utimensat",
    285: "fallocate",
    316: "renameat2",
    326: "copy_file_range",
}
#: flags of open that make a file, or write to it
TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT

FORBIDDEN = 77


class Forbidden(Exception):
    """This machine does not let a process trace its child."""


def why_not():
    """Why no child can be traced here; None if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "system calls are counted on Linux and x86-64 only"
    try:
        run_traced(lambda: None)
    except Forbidden as error:
        return str(error)
    return None


def _ptrace(request, pid, address=0, data=0):
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    return call(request, pid, address, data)


def run_traced(work, kill_at=None):
    """Run ``work`` in a child; kill it at that stop. Names of the stops that came.

    The last of them is None if the child came to its end.
    """
    pid = os.fork()
    if pid == 0:
        if _ptrace(TRACE_ME, 0) != 0:
            os._exit(FORBIDDEN)
        os.kill(os.getpid(), signal.SIGSTOP)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise Forbidden("ptrace is not allowed here")
    _ptrace(SET_OPTIONS, pid, 0, OPTIONS)
    _ptrace(SYSCALL, pid)
    return _followed(pid, kill_at)


def _followed(pid, kill_at):
    stops, entered = [], {}
    while True:
        thread, status = os.waitpid(-1, ALL_THREADS)
        if not os.WIFSTOPPED(status):
            if thread != pid:
                continue
            if os.WIFEXITED(status):
                assert os.WEXITSTATUS(status) == 0, "the work failed by itself"
                stops.append(None)
            return stops
        told = os.WSTOPSIG(status)
        if told == signal.SIGTRAP | 0x80:
            entered[thread] = not entered.get(thread, False)
            name = _change(thread)
            if name is not None:
                stops.append(f"{'before' if entered[thread] else 'after'} {name}")
                if len(stops) - 1 == kill_at:
                    os.kill(pid, signal.SIGKILL)
                    continue
            told = 0
        elif status >> 16 or told in (signal.SIGSTOP, signal.SIGTRAP):
            told = 0  # a thread that begins
        _ptrace(SYSCALL, thread, 0, told)


def _change(thread):
    """The name of the call a thread is in, if it may change a file system."""
    name = CHANGES.get(_ptrace(PEEK_USER, thread, NUMBER_OF_CALL))
    first = _ptrace(PEEK_USER, thread, FIRST_ARGUMENT)
    if name in ("write", "writev") and 0 <= first <= 2:
        return None
    if name == "openat":
        flags = _ptrace(PEEK_USER, thread, 8 * 12)
        return name if flags & TO_WRITE else None
    return name
