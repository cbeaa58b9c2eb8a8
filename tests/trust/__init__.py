"""Hostile input, faults, load, and the same answer everywhere; see docs/trust.md.

ledger       what was tried, counted while tests run
examples     how many examples a property gets: a few here, thousands in ``make fuzz``
page         docs/trust.md from the ledger, from records of fuzzing, coverage and
             mutants, and from the list of what was found (docs/trust/)
figures      tables of what was measured      markdown   tables at all
covered      branch coverage by folder
properties/  invariants of every estimator and graph builder on generated input
parsers/     bytes from strangers: edge lists, tables, matrices, graphml, models, json
faults/      kill -9, full disks, read-only folders, interrupts, threads, processes
numbers/     golden results, and problems that are badly conditioned
load/        a thousand fits, sixty-four threads, a stream without an end
supply/      no network, the wheel alone, its bill of materials
"""
