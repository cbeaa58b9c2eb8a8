"""Progress: a bar on a terminal, the last word elsewhere."""

import io
import sys

import pytest

from graphfold.experiments.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_what_is_shown(stream, monkeypatch):
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    progress = Progress("faces", total=4, done=1)
    progress.stage("preparing")
    for _ in range(3):
        progress.step()
    progress.close(75)
    lines = shown.getvalue().replace("\r\x1b[2K", "\n").strip().splitlines()
    last = "faces: 4 runs (1 of them kept) in 1 min 15 s"
    if stream is Terminal:
        assert lines[0] == "faces: preparing"
        bar = "[############............]"
        assert lines[1].startswith(f"faces: {bar} 2/4 runs, about ")
        assert lines[-1] == last
    else:
        assert lines == [last]


def test_an_interrupt_leaves_an_empty_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(KeyboardInterrupt), Progress("faces", total=4) as progress:
        progress.stage("preparing")
        raise KeyboardInterrupt
    assert terminal.getvalue().endswith("faces: preparing\r\x1b[2K")
