"""docs/benchmarks.md from the saved results: no number is typed by hand."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.harness import RESULTS, rows_of, sentence

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
TITLES = {
    "small": "A fit of 200 x 10",
    "few_components": "A few components, without a graph and with",
    "exact": "Exact fit with a graph, MNIST, 10 components",
    "many_kernels": "Ten learned kernels, and what others do with many",
    "auto": "A strength that chooses itself, over a fit at strength 1",
    "linear_graph": "Linear kernel with a sparse graph, nothing n x n",
    "landmarks": "Landmarks on 70,000 x 784 (MNIST) with a graph, 10 components",
    "landmark_quality": "What landmarks lose, MNIST and Cora",
    "million": "Landmarks up to 1,000,000 x 50 with a graph, 10 components",
    "filters": "Filters of a graph by Chebyshev polynomials",
    "local_grid": "Locally linear embedding at the sizes that people use",
    "spectral": "Laplacian eigenmaps, against ARPACK and AMG",
    "local": "Locally linear embedding and Laplacian eigenmaps, MNIST",
    "neighbors": "Ten nearest rows of MNIST",
    "robust": "Robust PCA on two graphs (FRPCAG), 5,000 x 256",
    "command_line": "The command line on a csv of 100,000 x 50",
    "map": "Opening a map in Chromium",
    "import_time": "Importing",
}
NOTES = {
    "small": (
        "Two components, defaults on both sides: GraphKernelPCA looks for a median "
        "width, KernelPCA takes 1/10. Seconds are of 100 fits, one after the other."
    ),
    "few_components": (
        "Gaussian kernel with one gamma for all, pixels in [0, 1]. A cell is the time "
        "of the fastest of KernelPCA's solvers (LAPACK up to 2,000 rows, ARPACK, also "
        "at our residual, randomized) over ours without a graph / with the 10-NN graph "
        "given, and our milliseconds. Ours to a residual of 1e-10 (float32: 1e-5), or, "
        "beside the randomized solver, to the residual that it has left. KernelPCA has "
        "no graph in either. Up to 1,000 rows a fit follows an untimed one.\n\n"
        "Where a line is not met: of 200 rows a fit takes 1.4 to 3.2 ms here, of which "
        "half is no arithmetic but what a fit checks, plans and keeps, and a twelfth "
        "the second vector that tells whether an eigenvector was missed, which ARPACK "
        "does not ask; with a graph it adds a Laplacian and a second, short solve for "
        "the unit of strength. Cells of 2,000 and 5,000 rows that are just below were "
        "measured by three to five repeats, and change sides from run to run."
    ),
    "local_grid": (
        "12 neighbours, order 1; neighbour search and weights included. A cell is the "
        "time of scikit-learn's LocallyLinearEmbedding with ARPACK over ours, and our "
        "seconds. Up to 2,000 rows a fit follows an untimed one. The Swiss roll has as "
        "many columns as dimensions are asked for."
    ),
    "spectral": (
        "A 10-NN graph of MNIST, given to both. A cell is the time of "
        "SpectralEmbedding over ours, and our seconds. AMG, which stops at a residual "
        "of about 1e-4, is compared with us at that tolerance."
    ),
    "exact": (
        "Gaussian kernel, the 10-NN graph given, relative residual 1e-5 asked of us. "
        "KernelPCA has no graph to handle; its default at d = 10 is LAPACK on the "
        "whole matrix. The floor is the kernel matrix once (symmetric rank-k update, "
        "exp on a half) plus 20 products with a block of width 20: what block Krylov "
        "would take. Lanczos from one vector reads half of the matrix at a product, "
        "and comes out just below."
    ),
    "many_kernels": (
        "MNIST, Gaussians around the median width, the 10-NN graph given, 10 "
        "components, residual 1e-10. Seconds of the first rows leave the evaluation "
        "of the kernels out; peak memory does not. The floor is 5 weighted sums of "
        "ten matrices, 4 times ten products with 10 columns and 50 products with 14. "
        "MKLpy learns weights from labels, which we do not need; mvlearn's MVMDS has "
        "no graphs. Run in an environment of their own "
        "(benchmarks/requirements-kernels.txt)."
    ),
    "auto": (
        '`graph_strength="auto"` over `graph_strength=1.0` at the same settings, the '
        "last fit included: 4 folds of columns at 11 strengths. Cora: words, "
        "citations, 20 components. osmFISH: 33 genes, 6 nearest cells, 20 components. "
        "Of digits the graph is built by every fit and every fold."
    ),
    "local": (
        "12 neighbours, 10 components, float64. scikit-learn and tapkee with their "
        "defaults (tapkee without its check that parts hang together, which would "
        "make it slower). Ours to a relative residual of 1e-12, scikit-learn's "
        "tolerance is 1e-6. The growth exponent compares 10,000 and 40,000 rows, the "
        "seconds of the neighbour search taken off. Eigenmaps are of a 10-NN graph "
        "that is given. The floor is the neighbour search and 1,300 products of ten "
        "columns; the Krylov space of this fit takes some 1,030 of them. The two "
        "growth cases are run by themselves, on a quiet machine "
        "(`--only growth`): beside other work 1.32 was measured."
    ),
    "linear_graph": (
        "MNIST rows in float64 and their 10-NN graph, CASE with its defaults on the "
        "same sparse matrix. Our default residual is 1e-10. Run in an environment of "
        "their own (benchmarks/requirements-case.txt): graspologic holds NumPy below 2."
    ),
    "landmarks": (
        "Gaussian kernel, float32, the 10-NN graph given. The span is the best "
        "function of the features of m landmarks; refined goes on to the answer of "
        "the whole problem. The floor of "
        "the span is its dense products in float32: X Z', whitening, half of Phi'Phi, "
        "Phi'(S Phi), into memory that is there. The floor of refining adds the "
        "sparse products, as many as a fit makes. UMAP has the same neighbours "
        "(`precomputed_knn`) and its threads. We and UMAP have been called once on few "
        "rows before the clock starts. Ratios are medians over the rounds.\n\n"
        "Where a line is not met: landmarks are centres of k-means by default now, "
        "which counts in our time and in no floor: of the span 3.4 s, and 3.0 s with "
        "rows chosen uniformly. These are still 1.4 of the floor, which was 1.3 when "
        "other code was measured on another machine; why was not found out."
    ),
    "landmark_quality": (
        "MNIST: 10,000 rows, 10 components, m = 1,000 with refining, against the "
        "exact solution; the largest principal angle, and 5-fold accuracy of five "
        "neighbours. Cora: linear kernel, 20 components, m = 1,000, 5-fold accuracy "
        "of a logistic regression. New papers are unknown to the fit and placed by "
        "`transform` with their citations; the gain is over exact PCA of their words. "
        "Seconds are of everything, accuracies included."
    ),
    "million": (
        "A hundred clusters, 10-NN graph given, m = 500, refined. Memory beyond the "
        "inputs is the peak during the fit less what was resident before it. Within "
        "1GB the features of a million rows are cut to their leading directions: they "
        "see less of the kernel (`landmark_error`), but what the answer is made of is "
        "in the directions that are left, as the angle says."
    ),
    "filters": (
        "Heat on the normalised Laplacian of a 10-NN graph, degree 30 on both sides, "
        "float64; per edge and column. Our rows are in an order found once for a "
        "graph, apart from the clock. PyGSP is given the bound 2 of the spectrum. The "
        "residual is the distance to a polynomial of degree 200, in units of the "
        "columns filtered. Products with ten columns are bound by memory: the code of "
        "4aef677, which gave 0.60 on another machine of this kind, gave 1.14 here."
    ),
    "neighbors": (
        "Exact searches, our cells, and libraries; [Nearest rows](neighbors.md) has "
        "the recall of each. float32 unless said otherwise; 70,000 rows by `--large`, "
        "once. Run in an environment of their own "
        "(benchmarks/requirements-neighbors.txt)."
    ),
    "robust": (
        "Ten clusters in 12 dimensions, tanh into 256 features, noise; normalised "
        "Laplacians of 10 nearest neighbours, built beforehand. pyunlocbox runs its "
        "forward-backward method with FISTA on the same terms. Each side is timed "
        "until it is within 1e-4 of the objective at which the other one stops. The "
        "residual is the root mean square of the smallest subgradient. The floor is "
        "the products and the shrinking for as many rounds as we take. Run with "
        "OPENBLAS_NUM_THREADS=1."
    ),
    "command_line": (
        "`graphfold embed` against `pandas.read_csv` and the library call. In the "
        "strictest reading the other side has imported everything before its clock "
        "starts; the script pays for its imports, as the command does. With 300 "
        "landmarks the fit is so short that importing scikit-learn is half of it.\n\n"
    ),
    "map": (
        "By the clock of the page, from opening the file to a map that is drawn and "
        "answers, each in a browser of its own that draws in software; memory is of "
        "the process that asks. The floor decodes and draws the same points by WebGL "
        "and nothing else; its columns are not gzipped.\n\n"
    ),
    "import_time": "Whole interpreter start included, 15 alternating starts.",
}


def main() -> None:
    lines = [
        "# Benchmarks",
        "",
        "Us and the peer in one run, alternating, each case in a process of its own. "
        "Read the ratios: seconds belong to the machine. Peak memory counts the "
        "interpreter and the whole MNIST file too. Made by `make bench` "
        "(`GRAPHFOLD_DATA` must hold `mnist.npz`); the raw runs are in "
        "`benchmarks/results`.",
    ]
    for name, title in TITLES.items():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        record = json.loads(path.read_text())
        facts = record["machine"]
        lines += [
            "",
            f"## {title}",
            "",
            f"{NOTES[name].rstrip()}",
            "",
            f"`{record['command']}`, {record['date']}, commit "
            f"{record['commit']}, {facts['cores']} cores, NumPy {facts['numpy']}, "
            f"SciPy {facts['scipy']}, scikit-learn {facts['scikit-learn']}.",
            "",
            *(f"* {sentence(claim)}" for claim in record["claims"]),
            "",
            *(record.get("table") or rows_of(record["runs"])),
        ]
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
