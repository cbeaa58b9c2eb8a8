"""``make bench``: every benchmark, then the page of the documentation."""

from benchmarks import exact, import_time, linear_graph, local, report, robust

if __name__ == "__main__":
    import_time.main()
    exact.main()
    linear_graph.main()
    local.main()
    robust.main()
    report.main()
