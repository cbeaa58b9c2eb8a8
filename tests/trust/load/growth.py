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


def growth_of(work, number, warm_up):
    """Do ``work`` so often; what it added after a warm-up, and per thousand times.

    The slope is that of a line through twenty looks, so that one page more or less
    does not decide.
    """
    for i in range(warm_up):
        work(i)
    gc.collect()
    gc.freeze()  # what was there before is not looked through at every look
    tracemalloc.start()
    try:
        work(warm_up)
        before, looks = held(), []
        every = max(1, number // 20)
        for i in range(number):
            work(i)
            if (i + 1) % every == 0:
                now = held()
                looks.append((i + 1, now["traced"], now["resident"]))
        after = held()
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    times, traced, resident_now = np.array(looks).T
    return {
        "traced": after["traced"] - before["traced"],
        "resident": after["resident"] - before["resident"],
        "files": None if before["files"] is None else after["files"] - before["files"],
        "threads": after["threads"] - before["threads"],
        "traced per 1,000": 1000 * np.polyfit(times, traced, 1)[0],
        "resident per 1,000": 1000 * np.polyfit(times, resident_now, 1)[0],
    }
