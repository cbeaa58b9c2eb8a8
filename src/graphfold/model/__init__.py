"""The mathematics of the method: state the problem, solve it, extend the answer.

============== ===========================================================
terms          a kernel or a graph becomes a term: an operator and its size
problem        ``Problem``: M = sum theta K + gamma sum beta R, centring, solving
alternate      learned weights: solve for V, then for the weights, and again
strength       from the dimensionless strength to gamma
path           a strength that chooses itself, by what it foretells
landmarks      which rows stand for all: by content, spread out, by leverage
span           the problem restricted to features: m x m sums of rows and edges
refine         the answer in the span, and from there the answer itself
extend         the fixed-point extension to new points
landmark_share the same where the kernel is known by landmarks
certificate    how far each axis can be trusted
separation     entries that are there, and what the robust methods find
robust         robust PCA on a graph: nuclear norm, l1 and a graph, by ADMM
robust_fast    the same without singular vectors, on two graphs, by FISTA
align          axes turned towards another embedding
preimage       from the embedding back to X, by kernel ridge regression
plan           which way of solving a memory budget allows
memory, speed  bytes and seconds of each way, as measured
============== ===========================================================
"""
