"""``make bench``: every benchmark, then the page of the documentation."""

from benchmarks import (
    auto,
    exact,
    filters,
    import_time,
    landmark_quality,
    landmarks,
    linear_graph,
    local,
    million,
    report,
    robust,
)

if __name__ == "__main__":
    import_time.main()
    exact.main()
    linear_graph.main()
    auto.main()
    landmarks.main()
    landmark_quality.main()
    million.main()
    filters.main()
    local.main()
    robust.main()
    report.main()
