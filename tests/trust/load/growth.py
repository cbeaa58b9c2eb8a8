"""What a process holds: traced memory, resident memory, open files, threads."""

import gc
import os
import threading
import tracemalloc

import numpy as np

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def held():
    """Kilobytes traced and resident; files and threads; None where nobody says."""
    gc.collect()
    return {
        "traced": tracemalloc.get_traced_memory()[0] / 1024,
        "resident": resident(),
        "files": _count("/proc/self/fd"),
        "threads": threading.active_count(),
    }


def resident():
    try:
        with open("/proc/self/statm", encoding="ascii") as report:
            return int(report.read().split()[1]) * PAGE / 1024
    except OSError:
        return float("nan")


def _count(folder):
    try:
        return len(os.listdir(folder))
    except OSError:
        return None


def growth_of(work, number, warm_up, traced):
    """Do ``work`` so often; what it added after a warm-up, and per thousand times.

    Allocations are traced, which is slow, of the last ``traced`` times, and counted of
    the second half of these: NumPy keeps small blocks that were freed for later, and
    those it keeps are new ones to who begins to trace. The slope of resident memory is
    that of a line through twenty looks at all of them, so that one page more or less
    does not decide.
    """
    counted = traced // 2
    for i in range(warm_up):
        work(i)
    gc.collect()
    gc.freeze()  # what was there before is not looked through at every look
    first, looks = held(), []
    try:
        for i in range(number):
            if i == number - traced:
                untraced = held()
                tracemalloc.start()
            if i == number - counted:
                before = held()
            work(i)
            if (i + 1) % max(1, number // 20) == 0:
                looks.append((i + 1, resident()))
        after = held()
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    times, pages = np.array(looks).T
    return {
        "traced": after["traced"] - before["traced"],
        # tracing has pages of its own
        "resident": untraced["resident"] - first["resident"],
        "files": None if first["files"] is None else after["files"] - first["files"],
        "threads": after["threads"] - first["threads"],
        "traced per 1,000": 1000 * (after["traced"] - before["traced"]) / counted,
        "resident per 1,000": _slope(times, pages, number - traced),
    }


def _slope(times, pages, untraced):
    seen = times <= untraced
    return 1000 * np.polyfit(times[seen], pages[seen], 1)[0]
