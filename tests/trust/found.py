"""What hostile input, faults and load have found: each with the test that holds it."""

#: what was wrong, and the file and name of the test that failed before it was mended
FOUND: list[tuple[str, str]] = []
