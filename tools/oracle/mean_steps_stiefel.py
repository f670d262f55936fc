#!/usr/bin/env python3
"""Frechet means on Stiefel manifolds with 40 digits, from normal coordinates at the first p axes.

Writes tests/testthat/reference/mean_steps_stiefel.json: records (exact doubles within the ball, the last one the neighbour's first) and
the means of both data sets as two doubles a coordinate. Each logarithm is checked by its exponential, each mean by its gradient. Needs mpmath.
    python3 tools/oracle/mean_steps_stiefel.py
"""
import random
from mpmath import mp, mpf, matrix, sqrt, eye
from mean_steps import at_edge, split, write_cases

mp.dps = 45
TINY = mpf(10) ** -38


def expm(x):
    s = 8
    x = x / 2**s
    term = out = eye(x.rows)
    for i in range(1, 22):
        term = term * x / i
        out = out + term
    for _ in range(s):
        out = out * out
    return out


class Stiefel:
    """points exp(X) I exp(-A), X = [cA -B'; B 0], in the canonical metric without the right factor"""

    def __init__(self, n, p, euclidean):
        self.n, self.p, self.euclidean = n, p, euclidean
        self.unit = 1 / sqrt(mpf(2)) if euclidean else mpf(1)  # of A's entries
        self.pairs = [(j, k) for k in range(p) for j in range(k + 1, p)] + [(j, k) for k in range(p) for j in range(p, n)]

    def generators(self, a):
        x, right = matrix(self.n, self.n), matrix(self.p, self.p)
        for (j, k), t in zip(self.pairs, a):
            if j < self.p:
                t = t * self.unit
                right[j, k], right[k, j] = t, -t
                t = t * (2 if self.euclidean else 1)
            x[j, k], x[k, j] = t, -t
        return x, right if self.euclidean else right * 0

    def act(self, a, y):
        """the isometry that carries the centre to exp(a)"""
        x, right = self.generators(a)
        return expm(x) * y * expm(-right)

    def back(self, a, y):
        x, right = self.generators(a)
        return expm(-x) * y * expm(right)

    def point(self, a):
        o = matrix(self.n, self.p)
        for j in range(self.p):
            o[j, j] = 1
        return self.act(a, o)

    def tangent(self, q):
        for j in range(self.p):
            for k in range(j + 1):
                t = (q[j, k] - q[k, j]) / 2
                q[j, k], q[k, j] = t, -t
        return q

    def log(self, y, z):
        """coordinates of y at the centre, from a start"""
        for _ in range(2000):
            q = self.tangent(self.back(z, y))
            if self.euclidean:  # parallel transport back
                x, right = self.generators(z)
                term = q
                for i in range(1, 60):
                    term = self.tangent(x * term - term * right) / i
                    q = q + term
            step = [q[j, k] / self.unit if j < self.p else q[j, k] for j, k in self.pairs]
            z = [a + b for a, b in zip(z, step)]
            if sqrt(sum(t * t for t in step)) < TINY:
                gap = self.point(z) - y
                assert max(abs(t) for t in gap) < TINY * 100
                return z
        raise RuntimeError("no logarithm")

    def mean(self, rows):
        records = [[mpf(t) for t in c] for c in rows]
        ys = [self.point(c) for c in records]
        a, logs = [mpf(0)] * len(rows[0]), records
        for _ in range(500):
            logs = [self.log(self.back(a, y), z) for y, z in zip(ys, logs)]
            v = [sum(t) / len(ys) for t in zip(*logs)]
            if sqrt(sum(t * t for t in v)) < TINY * 1000:
                return a
            a = self.log(self.act(a, self.point(v)), a)
            logs = [[s - t for s, t in zip(z, v)] for z in logs]
        raise RuntimeError("no mean")


def edge_records(rng, n, d, r, kind):
    if kind == "line":
        out = [at_edge(r, [(1.0 if i % 2 else -1.0) * (j == 0) for j in range(d)]) for i in range(n)]
    else:
        out = [at_edge(r, [rng.gauss(0, 1) for _ in range(d)]) for _ in range(n)]
    return out + [[-x for x in out[0]]]


def main():
    rng = random.Random(24)
    cases = []
    for metric, n, p, r in [("canonical", 3, 2, 0.5), ("canonical", 4, 2, 0.3), ("canonical", 4, 2, 0.65), ("canonical", 3, 3, 0.6),
                            ("canonical", 4, 2, 1e-6), ("euclidean", 3, 2, 0.6), ("euclidean", 4, 2, 0.3), ("euclidean", 4, 2, 0.75),
                            ("euclidean", 3, 3, 0.8), ("euclidean", 4, 2, 1e-6)]:
        space = Stiefel(n, p, metric == "euclidean")
        for kind in ("line", "any"):
            x = edge_records(rng, 4, len(space.pairs), r, kind)
            case = {"metric": metric, "n": n, "p": p, "radius": r, "kind": kind, "records": x}
            for one, rows in (("", x[:4]), ("other_", x[4:] + x[1:4])):
                case[one + "mean"], case[one + "rest"] = split(space.mean(rows))
            cases.append(case)
            print(n, p, r, kind, flush=True)
    write_cases("mean_steps_stiefel", cases)


if __name__ == "__main__":
    main()
