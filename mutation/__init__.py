"""Mutation testing: is every line of the model and of the graphs held by a test?

===========  ===============================================================
mutants      what may be changed: the operators of mutmut, one change each
covering     which tests run which lines, and how long they take
trials       one process forked for each mutant, from one that has all imported
survivors    the mutants that no test noticed, and why (survivors.json)
report       what was tried, as JSON
===========  ===============================================================
"""
