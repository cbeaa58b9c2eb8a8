"""The paper's formulas as dense NumPy, written from its text; nothing of the library.

Shen, Traganitis, Giannakis: Graph-adaptive nonlinear dimensionality reduction, arXiv
1801.09390. As there, Y is D x N with a sample in each column, and Psi is d x N. Every
function forms whole matrices and costs O(N^3): it is read, not used on large data.

What the text leaves open is chosen as follows. Alternation starts from equal weights
and stops when the objective does not grow. The N x N matrix W of Algorithm 3 is the
sum of the coefficients over the powers. Weights of penalties, whose traces are all
negative, are learned with b I - L in the place of -L, which moves no eigenvector.
"""

import numpy as np

# -- Table I: kernels -----------------------------------------------------------------


def linear(Y):
    return Y.T @ Y


def gaussian(Y, sigma):
    N = Y.shape[1]
    K = np.empty((N, N))
    for i in range(N):
        for j in range(N):
            K[i, j] = np.exp(-np.sum((Y[:, i] - Y[:, j]) ** 2) / (2 * sigma**2))
    return K


def polynomial(Y, p, c):
    return (Y.T @ Y + c) ** p


# -- Table II: functions of the eigenvalues of a Laplacian, ascending -----------------


def diffusion(eigenvalues, sigma2):
    return np.exp(sigma2 * eigenvalues / 2)


def random_walk(eigenvalues, a, p):
    return (a - eigenvalues) ** -float(p)


def regularized_laplacian(eigenvalues, sigma2):
    return 1 + sigma2 * eigenvalues


def bandlimited(eigenvalues, beta, B):
    n = np.arange(1, len(eigenvalues) + 1)
    return np.where(n <= B, 1 / beta, beta)


def laplacian(A):
    """L = D - A."""
    return np.diag(A.sum(axis=1)) - A


def function_of(L, r):
    """r(L) = U r(Lambda) U'."""
    eigenvalues, U = np.linalg.eigh(L)
    return U @ np.diag(r(np.maximum(eigenvalues, 0.0))) @ U.T


def graph_kernel(L, r):
    """r^dagger(L) = U r^dagger(Lambda) U', with 1 / r and 0 where r = 0."""

    def dagger(eigenvalues):
        values = r(eigenvalues)
        zero = values <= 1e-10 * max(eigenvalues.max(), 1e-300)
        return np.where(zero, 0.0, 1 / np.where(zero, 1.0, values))

    return function_of(L, dagger)


# -- Algorithm 1: kernel PCA on graphs ------------------------------------------------


def leading(M, d):
    """The d largest eigenvalues of M, and Psi = V_d'."""
    eigenvalues, V = np.linalg.eigh((M + M.T) / 2)
    return eigenvalues[::-1][:d], V[:, ::-1][:, :d].T


def gkpca(K, L, gamma, d, r=lambda eigenvalues: eigenvalues):
    """Top of K - gamma r(L); r(L) = L is the Laplacian regularizer."""
    return leading(K - gamma * function_of(L, r), d)


def gkpca_of_graph_kernel(K, L, gamma, d, r):
    """Top of K + gamma r^dagger(L)."""
    return leading(K + gamma * graph_kernel(L, r), d)


# -- Algorithm 2 and several graphs ---------------------------------------------------


def traces(Psi, matrices):
    return np.array([np.trace(Psi @ M @ Psi.T) for M in matrices])


def on_the_ball(t):
    """The closed form of theta and beta."""
    return t / np.sqrt(np.sum(t**2))


def weighted(weights, matrices):
    return sum(w * M for w, M in zip(weights, matrices, strict=True))


def gmkpca(kernels, graph_terms, gamma, d, *, learn_beta=False, rounds=5000):
    """Multi-kernel PCA on graphs: theta, and beta if it is learned, by alternation.

    ``graph_terms`` are added with gamma: r^dagger(L), or -L. Equal say of the graphs is
    beta = 1. Returns theta, beta, the eigenvalues, Psi and the objectives.
    """
    N = len((kernels + graph_terms)[0])
    theta = np.full(len(kernels), len(kernels) ** -0.5) if kernels else np.empty(0)
    beta, shifts = np.ones(len(graph_terms)), np.zeros(len(graph_terms))
    if learn_beta:
        beta = np.full(len(graph_terms), len(graph_terms) ** -0.5)
        lowest = [np.linalg.eigvalsh(R)[0] for R in graph_terms]
        # b: twice the largest degree bounds the spectrum of L
        bounds = [2 * np.max(-np.diag(R)) for R in graph_terms]
        negative = [low < -1e-9 for low in lowest]
        shifts = np.where(negative, bounds, 0.0)
    objectives = []
    for _ in range(rounds):
        M = np.zeros((N, N))
        if kernels:
            M = M + weighted(theta, kernels)
        if graph_terms:
            M = M + gamma * weighted(beta, graph_terms)
        eigenvalues, Psi = leading(M, d)
        objectives.append(eigenvalues.sum() + d * gamma * beta @ shifts)
        if len(objectives) > 2 and objectives[-1] - objectives[-2] < 1e-15 * abs(
            objectives[-1]
        ):
            break
        if len(kernels) > 1:
            theta = on_the_ball(traces(Psi, kernels))
        if learn_beta:
            beta = on_the_ball(traces(Psi, graph_terms) + d * shifts)
    return theta, beta, eigenvalues, Psi, objectives


def multimodal(laplacians, d, r):
    """Top of sum_m r^dagger(L_m)."""
    return leading(sum(graph_kernel(L, r) for L in laplacians), d)


# -- must-links and cannot-links ------------------------------------------------------


def adjacency_of_pairs(pairs, N):
    A = np.zeros((N, N))
    for i, j in pairs:
        A[i, j] = A[j, i] = 1.0
    return A


def pairs_of_labels(labels):
    """All pairs of labelled samples of one class, and of different classes."""
    known = [i for i, label in enumerate(labels) if label >= 0]
    pairs = [(i, j) for i in known for j in known if i < j]
    same = [(i, j) for i, j in pairs if labels[i] == labels[j]]
    return same, [pair for pair in pairs if pair not in same]


def semi_supervised(K, must, cannot, gamma1, gamma2, d):
    """Top of K - gamma1 L^S + gamma2 L^D."""
    L_S = laplacian(adjacency_of_pairs(must, len(K)))
    L_D = laplacian(adjacency_of_pairs(cannot, len(K)))
    return leading(K - gamma1 * L_S + gamma2 * L_D, d)


# -- LLE and Algorithm 3: local nonlinear embedding -----------------------------------


def neighbors(Y, i, k):
    distances = np.sum((Y - Y[:, [i]]) ** 2, axis=0)
    distances[i] = np.inf
    return np.argsort(distances, kind="stable")[:k]


def lle_weights(Y, k):
    """Column i holds the weights of sample i: least squares, their sum is one."""
    N = Y.shape[1]
    W = np.zeros((N, N))
    for i in range(N):
        near = neighbors(Y, i, k)
        C = Y[:, near] - Y[:, [i]]
        w = np.linalg.solve(C.T @ C, np.ones(k))
        W[near, i] = w / w.sum()
    return W


def lne_weights(Y, k, P):
    """min |Y - Y~ W~|_F^2 + |W~|_1 over powers 1 ... P of neighbours, W summed over p.

    By coordinate descent, each coefficient minimised exactly until none moves.
    """
    N = Y.shape[1]
    W = np.zeros((N, N))
    for i in range(N):
        near = neighbors(Y, i, k)
        powers = np.hstack([Y[:, near] ** p for p in range(1, P + 1)])
        W[near, i] = l1_least_squares(powers, Y[:, i]).reshape(P, k).sum(axis=0)
    return W


def l1_least_squares(Z, y, sweeps=200_000):
    """min |y - Z w|^2 + |w|_1."""
    gram, products = Z.T @ Z, Z.T @ y
    w = np.zeros(Z.shape[1])
    for _ in range(sweeps):
        moved = 0.0
        for j in range(len(w)):
            t = products[j] - gram[j] @ w + gram[j, j] * w[j]
            new = np.sign(t) * max(abs(t) - 0.5, 0.0) / gram[j, j]
            moved, w[j] = max(moved, abs(new - w[j])), new
        if moved <= 1e-15 * max(np.abs(w).max(), 1.0):
            break
    return w


def local_kernel(W):
    """K = [(I - W)(I - W)']^dagger."""
    T = np.eye(len(W)) - W
    return np.linalg.pinv(T @ T.T, rcond=1e-13, hermitian=True)
