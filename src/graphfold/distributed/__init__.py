"""Rows on workers: Dask runs the work, the client holds m x m matrices.

=============  ===========================================================
running        tasks that Dask runs: followed, given up where nobody is left
tasks          calls that workers will make, as graphs of Dask's
memory         used again while a task runs, on workers that give it back
blocks         tables of many rows in blocks; sums by trees, shuffles
ranks          rows chosen by a hash of their content
rows           X of Dask's as blocks: sizes, checks, labels, rows chosen by a hash
edges          edges meet rows by label
grid           sparse matrices in strips; products that move needed rows only
neighbors      which rows are near each other, cell by cell
recipes        graphs that are built from the rows
features       Psi = [Phi, S S Phi], and the sums that a span needs of it
terms          -L, polynomials of L and others, known by such sums
spectrum       the low end of a graph's spectrum; responses
links          labels and pairs as groups of rows
placing        new rows, by their features and edges
cost           bytes and operations of a fit
=============  ===========================================================

This package imports Dask and is itself imported only where X is a collection of it.
"""
