"""Coverage-guided fuzzing of every parser, with atheris; see README.md.

guard    a hook that fails on code, processes, sockets and files during parsing
targets  one function for each parser: bytes in, a named error or nothing out
seeds    honest files to begin with, made by code
mutate   changes inside of archives, JSON and gzip, which random bytes never get past
"""
