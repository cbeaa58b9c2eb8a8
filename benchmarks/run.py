"""``make bench``: every benchmark, then the page of the documentation."""

from benchmarks import (
    auto,
    exact,
    few_components,
    filters,
    import_time,
    landmark_quality,
    landmarks,
    local,
    local_grid,
    million,
    report,
    robust,
    small,
    spectral,
)

if __name__ == "__main__":
    import_time.main()
    small.main()
    few_components.main()
    exact.main()
    auto.main()
    landmarks.main()
    landmark_quality.main()
    million.main()
    filters.main()
    local_grid.main()
    spectral.main()
    local.main()
    robust.main()
    report.main()
