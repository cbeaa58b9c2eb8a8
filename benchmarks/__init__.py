"""Benchmarks: us and the peers in one run, never imported by the package."""
