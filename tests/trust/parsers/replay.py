"""Seeds of the fuzz targets, and changes of them, in a process with little memory.

``python -m tests.trust.parsers.replay NUMBER`` prints what came of each target as JSON.
"""

import importlib.util
import json
import random
import resource
import sys
import traceback

from fuzz import mutate
from fuzz.seeds import seeds_of
from fuzz.targets import NEEDS, TARGETS, warm_up

MEMORY = 6 * 2**30
LONGEST = 2**15


def replayed(name, number):
    """How many inputs a target has survived, and what became of the others."""
    seeds = seeds_of(name)
    warm_up(name, seeds)
    failures = []
    for i in range(len(seeds) + number):
        content = seeds[i % len(seeds)]
        if i >= len(seeds):
            content = changed(name, content, i)
        try:
            TARGETS[name](content)
        except BaseException:
            failures.append(f"{i}: {content[:200]!r} {traceback.format_exc(limit=-3)}")
    return {"inputs": len(seeds) + number, "failures": failures[:3]}


def changed(name, content, seed):
    """The content with a change that the seed decides."""
    rng = random.Random(seed)

    def change(data, most):
        return mutate.plain(data, rng, most)

    return mutate.structured(name, content, rng, change, LONGEST)


def is_there(name):
    module = NEEDS.get(name)
    return module is None or importlib.util.find_spec(module.partition(".")[0])


def peak():
    """Megabytes at most; ru_maxrss would begin with those of who has started us."""
    with open("/proc/self/status", encoding="ascii") as report:
        (line,) = [line for line in report if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    number = int(sys.argv[1])
    found = {name: replayed(name, number) for name in TARGETS if is_there(name)}
    found["megabytes"] = peak()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
