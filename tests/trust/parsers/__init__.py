"""Bytes from strangers: no crash, no hang, no code run, no memory taken on a claim."""
