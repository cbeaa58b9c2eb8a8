"""The same answers in every release, and problems that are badly conditioned.

tables       data by integer formulas: no generator of random numbers, exact in float32
cases        what is fitted, one function a case
golden       answers of each release in golden/<version>.json, and how near they have to
             come again: ``python -m tests.trust.numbers.golden --write``
conditions   matrices that arithmetic finds hard
reference    their eigenvalues in fifty digits
"""
