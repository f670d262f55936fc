"""CPU seconds a draw of N_W(0, sd^2) by numpy: noise-worker.py work rows draws, the base point as doubles on standard input.

Prints seconds a draw and, for the check of the law, the mean squared length in the metric over sd^2 (the dimension).
"""

import sys
import time

import numpy as np

work, k, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
base = np.frombuffer(sys.stdin.buffer.read(), dtype=np.float64)
sd = 0.1
rng = np.random.default_rng()


def batched():
    """L sym(G) L' for all draws at once"""
    low = np.linalg.cholesky(base.reshape(k, k))
    g = rng.standard_normal((n, k, k))
    return low @ ((g + np.swapaxes(g, 1, 2)) * (sd / 2)) @ low.T


def square_root(w):
    value, vector = np.linalg.eigh(w)
    return (vector * np.sqrt(value)) @ vector.T


rows, columns = np.tril_indices(k)
scale = np.where(rows == columns, 1.0, np.sqrt(0.5))


def algorithm3():
    """Utpala et al. (2023), Algorithm 3: one draw at one base point"""
    root = square_root(base.reshape(k, k))
    a = np.zeros((k, k))
    a[rows, columns] = scale * rng.normal(0, sd, len(rows))
    a += np.tril(a, -1).T
    return root @ a @ root


def explicit():
    """the basis that Algorithm 3 implies, built and summed up"""
    root = square_root(base.reshape(k, k))
    basis = np.empty((len(rows), k, k))
    for e in range(len(rows)):
        axis = np.zeros((k, k))
        axis[rows[e], columns[e]] = axis[columns[e], rows[e]] = scale[e]
        basis[e] = root @ axis @ root
    return np.tensordot(rng.normal(0, sd, len(rows)), basis, 1)


def chain(steps=10000):
    """random walk Metropolis on symmetric matrices, symmetric in the metric's coordinates"""
    w = base.reshape(k, k)
    inverse = np.linalg.inv(w)
    root = square_root(w)
    at, now = np.zeros((k, k)), 0.0
    step = 2.38 * sd / np.sqrt(len(rows))
    for _ in range(steps):
        g = rng.standard_normal((k, k))
        to = at + step * (root @ ((g + g.T) / 2) @ root)
        s = inverse @ to
        energy = np.sum(s * s.T)
        if np.log(rng.random()) < (now - energy) / (2 * sd**2):
            at, now = to, energy
    return at


def sphere():
    """projection of ambient normals, all draws at once"""
    g = rng.normal(0, sd, (n, len(base)))
    return g - np.outer(g @ base, base)


single = {"algorithm3": algorithm3, "explicit": explicit, "chain": chain}
if work in single:
    call = single[work]
    call()
    start = time.process_time()
    draws = [call() for _ in range(n)]
    seconds = time.process_time() - start
else:
    call = {"batched": batched, "sphere": sphere}[work]
    start = time.process_time()
    draws = call()
    seconds = time.process_time() - start
if work == "sphere":
    square = np.sum(draws**2, 1)
else:
    s = np.linalg.solve(base.reshape(k, k), np.asarray(draws))
    square = np.einsum("nij,nji->n", s, s)
print(seconds / n, np.mean(square) / sd**2)
