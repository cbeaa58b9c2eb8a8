"""Our time and memory beside those of others, on this machine.

=========  ===============================================================
methods    who is compared, and whether it is installed
data       rows of any number, bundled or given
worker     one method on one table, in a process of its own
measuring  all of them in turn, several times; medians and ratios
=========  ===============================================================
"""

from graphfold.bench.measuring import Measured, measure
from graphfold.bench.methods import METHODS, OURS, installed

__all__ = ["METHODS", "OURS", "Measured", "installed", "measure"]
