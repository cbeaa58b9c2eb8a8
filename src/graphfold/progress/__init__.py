"""How far a long job is: what loops report, and who may hear it.

========  ==================================================================
stages    ``stage`` and ``say``: what a loop reports, whoever listens
terminal  one line on a terminal that is written over and over
watchers  ``verbose`` and ``listening``: those who hear
========  ==================================================================
"""

from graphfold.progress.stages import (
    Stage,
    Watcher,
    counted,
    join,
    say,
    stage,
    watching,
)
from graphfold.progress.terminal import LiveLine, bar, duration, make_room
from graphfold.progress.watchers import Report, listening, shown, watchers_for

__all__ = [
    "LiveLine",
    "Report",
    "Stage",
    "Watcher",
    "bar",
    "counted",
    "duration",
    "join",
    "listening",
    "make_room",
    "say",
    "shown",
    "stage",
    "watchers_for",
    "watching",
]
