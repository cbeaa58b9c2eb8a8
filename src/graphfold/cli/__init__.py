"""The command line: parse, call, print; no mathematics.

================  ================================================================
shell             ``main``: run a verb; mistakes, bugs and interrupts become codes
arguments         options that verbs share
output            what people read, what machines read, warnings, progress
models            from options to an estimator and the rows it fits
embed             a table into few dimensions
embed_on_workers  the same for rows that Dask's workers read and write
cluster           workers of one's own, or a scheduler to connect to
view              a map to explore
report            what a model says of itself
plan              what a fit would take
demo              three methods on bundled digits
reproduce         the paper's experiments and ours
bench             our time and memory beside those of others
================  ================================================================
"""

from graphfold.cli.shell import main

__all__ = ["main"]
