"""The mathematics of the method: state the problem, solve it, extend the answer.

=============  ===========================================================
terms          a kernel or a graph becomes a term: an operator and its size
problem        ``Problem``: M = sum theta K + gamma sum beta R, centring, solving
strength       from the dimensionless strength to gamma
extend         the fixed-point extension to new points
preimage       from the embedding back to X, by kernel ridge regression
plan           cost of each way of solving; the memory budget
=============  ===========================================================
"""
