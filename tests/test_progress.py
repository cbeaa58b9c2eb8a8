"""Stages: what loops report, who hears it, and what a terminal shows of it."""

import contextvars
import io
import re
import sys
import threading
from pathlib import Path

import pytest

from graphfold.errors import DriftWarning, warn
from graphfold.progress import (
    LiveLine,
    Watcher,
    bar,
    counted,
    listening,
    say,
    shown,
    stage,
    watchers,
    watching,
)
from graphfold.progress.terminal import cut


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_of(monkeypatch):
    """Within the test: before it pytest puts a stream of its own in place."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.fixture
def clock(monkeypatch):
    """Time that stands still until it is moved."""
    now = [100.0]
    monkeypatch.setattr(watchers.time, "monotonic", lambda: now[0])
    return now


class Recorder(Watcher):
    def __init__(self, stop=False):
        self.events, self.stop = [], stop

    def began(self, stage):
        self.events.append(("began", stage.name, stage.depth))

    def stepped(self, stage):
        self.events.append(("stepped", stage.name, stage.done))
        return self.stop

    def ended(self, stage):
        self.events.append(("ended", stage.name, stage.done))

    def said(self, text):
        self.events.append(("said", text))

    def finished(self):
        self.events.append("finished")

    def close(self):
        self.events.append("close")


def parts_of(stream):
    return stream.getvalue().split("\r\x1b[2K")[1:]


# -- stages ------------------------------------------------------------------------


def test_where_nobody_listens_a_stage_is_nothing():
    assert stage("one", 5) is stage("other")
    with stage("one", 5) as step:
        assert step("detail") is False
        assert step.done == 0
    assert list(counted("one", range(3))) == [0, 1, 2]
    say("nothing")


@pytest.mark.parametrize(("name", "total"), [("", None), ("", 5), ("once", 1)])
def test_what_is_no_loop_is_not_reported(name, total):
    recorder = Recorder()
    with watching(recorder), stage(name, total) as step:
        step()
    assert recorder.events == ["finished", "close"]


def test_stages_nest_and_all_who_listen_hear_them():
    inner, outer = Recorder(), Recorder()
    with watching(outer), watching(inner), stage("whole") as whole:
        with stage("part", 2) as part:
            part()
            part()
        whole()
    heard = [
        ("began", "whole", 0),
        ("began", "part", 1),
        ("stepped", "part", 1),
        ("stepped", "part", 2),
        ("ended", "part", 2),
        ("stepped", "whole", 1),
        ("ended", "whole", 1),
        "finished",
        "close",
    ]
    assert inner.events == outer.events == heard


def test_one_who_wants_to_stop_is_heard_and_the_others_still_hear():
    eager, calm = Recorder(stop=True), Recorder()
    with watching(eager, calm), stage("rounds") as step:
        assert step() is True
    assert ("stepped", "rounds", 1) in calm.events


def test_a_stage_that_fails_does_not_end_but_all_is_closed():
    recorder = Recorder()
    with (
        pytest.raises(KeyboardInterrupt),
        watching(recorder),
        stage("rounds") as step,
    ):
        step()
        raise KeyboardInterrupt
    assert recorder.events[-2:] == [("stepped", "rounds", 1), "close"]
    with stage("rounds") as step:
        assert step() is False  # nobody listens any more


def test_a_stage_left_by_an_error_that_is_caught_is_over():
    recorder = Recorder()
    with watching(recorder):
        with pytest.raises(ValueError, match="no"), stage("first"):
            raise ValueError("no")
        with stage("second"):
            pass
    assert ("began", "second", 0) in recorder.events


def test_worker_threads_are_not_heard_whatever_context_they_have():
    recorder = Recorder()

    def work():
        with stage("in a thread") as step:
            step()

    with watching(recorder):
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=[work])
        thread.start()
        thread.join()
    assert recorder.events == ["finished", "close"]


# -- a terminal --------------------------------------------------------------------


def test_one_line_shows_the_stages_and_goes_away(monkeypatch, clock):
    terminal = terminal_of(monkeypatch)
    with shown(1, "Model"), stage("weights", unit="update") as update:
        clock[0] += 1
        with stage("filter", 4, "product") as step:
            clock[0] += 1
            step()
            step()  # too soon to be drawn again
            clock[0] += 1
            step()
        clock[0] += 1
        update("objective 5")
    assert parts_of(terminal) == [
        "Model: weights",
        "Model: weights | filter [........................] 0/4",
        "Model: weights | filter [######..................] 1/4",
        "Model: weights | filter [##################......] 3/4",
        "Model: weights, update 1: objective 5",
        "",
    ]


def test_the_bar_is_of_the_outermost_stage_of_known_length(monkeypatch, clock):
    terminal = terminal_of(monkeypatch)
    with shown(1, "gain"), stage("copies", 2, "copy") as copy:
        for _ in range(2):
            with stage("swaps", 3) as step:
                clock[0] += 1
                step()
            copy()
    drawn = "gain: copies [############............] 1/2 | swaps: 1/3"
    assert drawn in parts_of(terminal)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_line_is_cleared_after_an_error(monkeypatch, error):
    terminal = terminal_of(monkeypatch)
    with pytest.raises(error), shown(1, "Model"), stage("solving"):
        raise error
    assert parts_of(terminal) == ["Model: solving", ""]


def test_off_a_terminal_one_line_is_none_and_every_line_is_all(capsys, clock):
    for verbose in (0, 1, True):
        with shown(verbose, "Model"), stage("solving", unit="round") as step:
            step("residual 1")
            say("a plan")
    assert capsys.readouterr() == ("", "")
    with shown(2, "Model"):
        say("a plan")
        with stage("solving", unit="round") as step:
            step("residual 1")
            for _ in counted("kernel", range(5)):
                clock[0] += 0.4  # a line each second
        clock[0] += 1
    assert capsys.readouterr().err.splitlines() == [
        "[Model] a plan",
        "[Model] solving",
        "[Model] solving, round 1: residual 1",
        "[Model] kernel: 3/5",
        "[Model] solving: 2 s",
    ]


def test_a_job_within_a_job_of_the_same_name_is_shown_once(capsys):
    with shown(2, "Model"), shown(2, "Model"), shown(2, "other"):
        say("once")
    assert capsys.readouterr().err == "[Model] once\n[other] once\n"


def test_a_terminal_has_one_live_line_at_a_time(monkeypatch):
    terminal = terminal_of(monkeypatch)
    first, second = LiveLine(), LiveLine()
    first.show("first")
    second.show("second")
    second.clear()
    first.clear()
    second.show("second")
    second.keep()
    assert terminal.getvalue() == "\r\x1b[2Kfirst\r\x1b[2K\r\x1b[2Ksecond\n"
    first.show("left behind")
    del first
    second.show("not in the way")
    assert parts_of(terminal)[-1] == "not in the way"
    second.clear()


def test_a_warning_does_not_run_into_the_line(monkeypatch):
    terminal = terminal_of(monkeypatch)
    line = LiveLine()
    line.show("solving")
    with pytest.warns(DriftWarning):
        warn("new rows", DriftWarning)
    assert parts_of(terminal) == ["solving", ""]
    line.show("still solving")
    line.clear()
    assert parts_of(terminal)[2] == "still solving"


def test_a_terminal_that_has_gone_is_no_reason_to_fail(monkeypatch):
    terminal = terminal_of(monkeypatch)
    line = LiveLine()
    terminal.close()
    line.show("anyone?")
    line.clear()
    assert not line.live


@pytest.mark.parametrize("width", [1, 2, 5, 20, 200])
@pytest.mark.parametrize("text", ["x" * 50, "a 行列 " * 10, ""])
def test_a_line_never_fills_its_terminal(text, width):
    wide = sum(2 if sign in "行列" else 1 for sign in cut(text, width))
    assert wide < width or width == 1


@pytest.mark.parametrize(("done", "total"), [(0, 0), (0, 3), (5, 3)])
def test_a_bar_has_one_length(done, total):
    assert bar(done, total).index("]") == 25


# -- listeners ---------------------------------------------------------------------


def test_a_listener_hears_all_rounds_and_of_blocks_some(clock):
    heard = []
    with listening(heard.append):
        say("a plan")
        with stage("solving", unit="round") as step:
            step("residual 1")
            step("residual 0.1")
            for _ in counted("kernel", range(100)):
                clock[0] += 0.01
    assert heard[:4] == [
        "a plan",
        "solving",
        "solving, round 1: residual 1",
        "solving, round 2: residual 0.1",
    ]
    of_kernel = [report.done for report in heard if report.stage == "kernel"]
    assert of_kernel[-1] == 100
    assert 8 <= len(of_kernel) <= 12
    assert all(report.total == 100 for report in heard[4:])


# -- the page ----------------------------------------------------------------------


def test_the_examples_of_the_page_run(capsys):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    page = Path(__file__).parent.parent / "docs" / "progress.md"
    examples = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
    assert len(examples) == 5
    names: dict = {}
    for example in examples:
        exec(example, names)
    output = capsys.readouterr()
    assert "GridSearchCV" in output.out
    assert output.err.splitlines()[-1] == "[mine] rounds, round 3: residual 1e-02"


def test_the_page_names_every_stage_of_the_package():
    root = Path(__file__).parent.parent
    if not (root / "docs").exists():
        pytest.skip("a checkout is needed")
    page = (root / "docs" / "progress.md").read_text()
    calls = re.compile(
        r"\b(?:stage|counted|blocks|do_blocks|values|held|total|take)\(\s*\"([^\"]+)\""
        r"|\b(?:name|LOCAL) = \"([a-z][^\"]+)\"|\"name\"\]? ?[=:] \"([^\"]+)\""
        r"|\brun\([^\n]*, \"([^\"]+)\"\)"
    )
    named = set()
    for path in (root / "src" / "graphfold").rglob("*.py"):
        if {"cli", "progress", "experiments"}.isdisjoint(path.parts):
            named |= {"".join(found) for found in calls.findall(path.read_text())}
    assert named >= {
        "solving",
        "weights",
        "comparing rows",
        "sign of the kernel",
        "spectrum of the local weights",
        "fingerprints of rows",
    }
    assert not {name for name in named if not re.search(rf"\b{name}\b", page)}
