#!/usr/bin/env python3
"""Frechet means of positive definite matrices in the Bures-Wasserstein metric with 60 digits, from normal coordinates at diag(roots^2).

Writes tests/testthat/reference/mean_steps_bures.json: records (exact doubles within the ball, the last one the neighbour's first) and
the means of both data sets as two doubles a coordinate. Needs mpmath.
    python3 tools/oracle/mean_steps_bures.py
"""
import random
from mpmath import mp, mpf, matrix, sqrt, eigsy
from mean_steps import at_edge, split, write_cases

mp.dps = 80


class Bures:
    """a point by a factor A of A A'; logarithms lifted to the factor"""

    def __init__(self, roots):
        self.roots = [mpf(x) for x in roots]
        self.k = len(roots)

    def factor(self, c):
        r, k = self.roots, self.k
        a, i = matrix(k, k), 0
        for col in range(k):
            a[col, col] = r[col] + c[i]
            i += 1
            for row in range(col + 1, k):
                s = c[i] / sqrt(r[row] ** 2 + r[col] ** 2)
                a[row, col], a[col, row] = s * r[col], s * r[row]
                i += 1
        return a

    def polar(self, m):
        w, v = eigsy(m.T * m)
        d = matrix(self.k, self.k)
        for i in range(self.k):
            d[i, i] = 1 / sqrt(w[i])
        return m * v * d * v.T

    def log(self, b, a):
        return a * self.polar(b.T * a).T - b

    def coords(self, b):
        r, k = self.roots, self.k
        o = matrix(k, k)
        for i in range(k):
            o[i, i] = r[i]
        z, out = self.log(o, b), []
        for col in range(k):
            out.append(z[col, col])
            out += [(r[col] * z[row, col] + r[row] * z[col, row]) / sqrt(r[row] ** 2 + r[col] ** 2) for row in range(col + 1, k)]
        return out

    def pull(self, b, ys):
        g = matrix(self.k, self.k)
        for y in ys:
            g += self.log(b, y) / len(ys)
        return g, sqrt(sum(x ** 2 for x in g))

    def mean(self, rows):
        ys = [self.factor([mpf(x) for x in c]) for c in rows]
        b = self.factor([mpf(0)] * len(rows[0]))
        for _ in range(2000):
            g, size = self.pull(b, ys)
            if size < mpf(10) ** -60:
                return self.coords(b)
            b = b + g
        raise RuntimeError("no convergence")


def edge_records(rng, n, d, r, kind):
    axis = {"line": 0, "cross": 1}.get(kind)
    if axis is not None:  # of the smallest eigenvalue, or between the two smallest; the mean moves by all of 2r/n
        out = [at_edge(r, [(1.0 if i % 2 else -1.0) * (j == axis) for j in range(d)]) for i in range(n)]
    elif kind == "singular":  # all as near to singular matrices as they come
        out = [at_edge(r, [-1.0] + [rng.gauss(0, 0.1) for _ in range(d - 1)]) for _ in range(n)]
    else:
        out = [at_edge(r, [rng.gauss(0, 1) for _ in range(d)]) for _ in range(n)]
    return out + [[-x for x in out[0]]]


def main():
    rng = random.Random(24)
    cases = []
    for roots, r in [([1, 1], 0.3), ([1, 1], 1e-6), ([1, 100], 0.33), ([0.5, 0.5, 1.5], 0.15), ([0.015625, 1, 1], 0.005),
                     ([1, 2, 3, 50], 0.32), ([2.0**60, 2.0**61], 2.0**58)]:
        space = Bures(roots)
        d = len(roots) * (len(roots) + 1) // 2
        for kind in ("line", "cross", "singular", "any"):
            x = edge_records(rng, 5, d, r, kind)
            case = {"roots": roots, "radius": r, "kind": kind, "records": x}
            for one, rows in (("", x[:5]), ("other_", x[5:] + x[1:5])):
                case[one + "mean"], case[one + "rest"] = split(space.mean(rows))
            cases.append(case)
            print(roots, r, kind, flush=True)
    write_cases("mean_steps_bures", cases)


if __name__ == "__main__":
    main()
