"""Trials: tests against a mutant, in a process forked from one that has all imported.

A plugin of pytest: the tests are collected once, and instead of running them in a row
the loop forks a process for each trial.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mutation.covering import Coverage, Covered, traced
from mutation.mutants import Mutant

SLOW = 1.0  # CPU seconds: a test that takes longer takes no part
BUDGET = 1.5  # CPU seconds of tests that a mutant meets, if nobody asks for more
EXAMPLES = 25  # of a hypothesis property
MEMORY = 6 * 2**30  # bytes of address space on top of what the imports take


class Trials:
    """The loop of pytest, with what it needs and what it found."""

    def __init__(
        self,
        root: Path,
        mutants: list[Mutant],
        coverage: Coverage,
        jobs: int,
        *,
        budget: float = BUDGET,
        only_new_tests: bool = False,
    ) -> None:
        """``only_new_tests``: those measured before have met these mutants already."""
        self.budget = budget
        self.root, self.mutants, self.coverage = root, mutants, coverage
        self.jobs = jobs
        self.met = set(coverage.tests) if only_new_tests else set()
        self.verdicts: dict[str, str] = {}
        self.controls: dict[str, str] = {}
        self.failed = False
        self.killers: Counter[tuple[str, str]] = Counter()

    def leave(self, survivors: list[dict[str, str]], file: str) -> None:
        """Take earlier verdicts for the mutants of all files but one."""
        known = {entry["id"]: entry["outcome"] for entry in survivors}
        left = [mutant for mutant in self.mutants if mutant.file != file]
        self.verdicts |= {m.name: known.get(m.name, "survived") for m in left}
        self.mutants = [mutant for mutant in self.mutants if mutant.file == file]

    # -- hooks of pytest -------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any) -> Iterator[None]:
        report = yield
        self.failed |= report.failed
        return report

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        for item in session.items:
            few_examples(item)
        gc.collect()
        gc.freeze()
        self.out = Path(os.environ["MUTATION_WORK"])
        self._measure()
        self._control()
        self._try_all()
        return True

    # -- processes -------------------------------------------------------------

    def _start(self, key: str, action: Callable[[Any], int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        code = 3
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            limit = virtual_size() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(self.out / f"{key}.json", "w") as notes:
                code = action(notes)
        finally:
            os._exit(code)

    def _each(
        self,
        work: list[tuple[str, Callable[[Any], int]]],
        ended: Callable[[str, int, Any], None],
    ) -> None:
        """Run what is to be done in at most ``jobs`` processes at a time."""
        running: dict[int, tuple[str, int]] = {}
        waiting = list(enumerate(work))[::-1]
        while waiting or running:
            while waiting and len(running) < self.jobs:
                number, (key, action) = waiting.pop()
                running[self._start(str(number), action)] = key, number
            pid, status = os.wait()
            if pid not in running:
                continue
            key, number = running.pop(pid)
            path = self.out / f"{number}.json"
            notes = None
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
                notes = json.loads(path.read_text())
            path.unlink(missing_ok=True)
            ended(key, os.waitstatus_to_exitcode(status), notes)

    def _run(self, names: list[str], limit: Callable[[str], float]) -> str | None:
        """The first of these tests that fails."""
        items = [self.items[name] for name in names]
        for item, following in zip(items, [*items[1:], None], strict=True):
            seconds = limit(item.nodeid)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, 20 * seconds)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return str(item.nodeid)
        return None

    # -- without a mutant ------------------------------------------------------

    def _measure(self) -> None:
        known = self.coverage.tests
        new = [name for name in self.items if name not in known]
        began = time.monotonic()

        def action(name: str) -> Callable[[Any], int]:
            def measured(notes: Any) -> int:
                def run() -> str:
                    lost = self._run([name], lambda _: SLOW)
                    return "failed" if lost else "passed"

                json.dump(traced(self.root, run), notes)
                return 0

            return measured

        def ended(name: str, code: int, notes: Any) -> None:
            slow = code in (-signal.SIGPROF, -signal.SIGALRM)
            lost = Covered("slow" if slow else "failed")
            known[name] = Covered(**notes) if notes else lost
            if len(known) % 100 == 0:  # a run that is interrupted goes on here
                self.coverage.save()

        self._each([(name, action(name)) for name in new], ended)
        for name in list(known):
            if name not in self.items:
                del known[name]
        self.coverage.save()
        outcomes = Counter(test.outcome for test in known.values())
        say(
            f"{len(new)} tests measured in {time.monotonic() - began:.0f} s; {outcomes}"
        )

    def _control(self) -> None:
        """The tests of a mutant pass where nothing is changed."""
        chosen = {mutant.file: mutant for mutant in self.mutants}

        def ended(name: str, code: int, notes: Any) -> None:
            self.controls[name] = f"{code} {notes}"
            if code:
                say(f"control {name}: exit {code}, {notes}")

        by_line = self.coverage.by_line(SLOW)
        tests = {name: self.tests_for(m, by_line) for name, m in chosen.items()}
        work = [(name, self._trial(None, some)) for name, some in tests.items() if some]
        self._each(work, ended)

    # -- with one --------------------------------------------------------------

    def tests_for(
        self, mutant: Mutant, by_line: dict[tuple[str, int], list[str]]
    ) -> list[str]:
        """Tests that run the changed statement, as many as the budget allows."""
        lines = range(mutant.first_line, mutant.last_line + 1)
        found = {t for line in lines for t in by_line.get((mutant.file, line), [])}
        found -= self.met
        cost = self.coverage.tests
        where = f"{mutant.file}:{mutant.function}"

        def rank(test: str) -> tuple[int, float, str]:
            return -self.killers[where, test], cost[test].seconds, test

        chosen, spent = [], 0.0
        for test in sorted(found, key=rank):
            if chosen and spent + cost[test].seconds > self.budget:
                break
            chosen.append(test)
            spent += cost[test].seconds
        return chosen

    def _trial(self, mutant: Mutant | None, tests: list[str]) -> Callable[[Any], int]:
        def trial(notes: Any) -> int:
            if mutant is not None:
                mutant.apply((self.root / mutant.file).read_text())
            limit = {t: 2 + 5 * self.coverage.tests[t].seconds for t in tests}
            lost = self._run(tests, limit.__getitem__)
            json.dump(lost, notes)
            return 1 if lost else 0

        return trial

    def _try_all(self) -> None:
        by_line = self.coverage.by_line(SLOW)
        mutants = {mutant.name: mutant for mutant in self.mutants}
        began = time.monotonic()

        def ended(name: str, code: int, notes: Any) -> None:
            mutant = mutants[name]
            self.verdicts[name] = verdict(code)
            with open(self.out / "verdicts.txt", "a") as log:  # to be read meanwhile
                log.write(f"{self.verdicts[name]}\t{name}\t{notes}\n")
            if notes:
                self.killers[f"{mutant.file}:{mutant.function}", notes] += 1
            if len(self.verdicts) % 100 == 0:
                spent = time.monotonic() - began
                so_far = dict(Counter(self.verdicts.values()))
                say(f"{len(self.verdicts)} tried in {spent:.0f} s: {so_far}")

        lazy: list[tuple[str, Callable[[Any], int]]] = []
        for name, mutant in mutants.items():
            if self.tests_for(mutant, by_line):
                lazy.append((name, self._later(mutant, by_line)))
            else:
                lines = range(mutant.first_line, mutant.last_line + 1)
                known = any((mutant.file, line) in by_line for line in lines)
                self.verdicts[name] = "survived" if known else "no tests"
        self._each(lazy, ended)

    def _later(self, mutant: Mutant, by_line: Any) -> Callable[[Any], int]:
        """Tests are chosen in the forked process: by then it is known which kill."""
        return lambda notes: self._trial(mutant, self.tests_for(mutant, by_line))(notes)


def verdict(code: int) -> str:
    """What the end of a process says of its mutant."""
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        return "timeout"
    if code == 3:
        return "broken"
    return "survived" if code == 0 else "killed"


def few_examples(item: Any) -> None:
    """A property with fewer examples, always the same, and no search for the least."""
    from hypothesis import Phase, settings

    name = "_hypothesis_internal_use_settings"
    function = getattr(item, "obj", None)
    given = getattr(function, name, None)
    if given is not None:
        few = settings(
            given,
            max_examples=min(given.max_examples, EXAMPLES),
            phases=(Phase.explicit, Phase.generate),
            derandomize=True,
            database=None,
            deadline=None,
        )
        setattr(getattr(function, "__func__", function), name, few)


def virtual_size() -> int:
    """Bytes of address space that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def say(text: str) -> None:
    """One line on the terminal, past pytest."""
    os.write(2, f"{text}\n".encode())
