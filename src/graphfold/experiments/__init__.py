"""The experiments of the paper, and two of ours."""
