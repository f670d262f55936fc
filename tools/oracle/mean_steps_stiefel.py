#!/usr/bin/env python3
"""Frechet means on Stiefel manifolds with 40 digits, from normal coordinates at the first p axes.

Writes tests/testthat/reference/mean_steps_stiefel.json: records (exact doubles within the ball, the last one the neighbour's first) and
the means of both data sets as two doubles a coordinate. Each logarithm is checked by its exponential, each mean by its gradient. On manifolds
with more rows, records of the form (A, QB) for a Q with orthonormal columns have means of that form, as isometries map frames to QB's: the
tests take columns of the Hadamard matrix of 64 rows, over 8, which keeps records exact doubles. Two such means have their gradients checked
here. Needs mpmath.
    python3 tools/oracle/mean_steps_stiefel.py
"""
import random
from mpmath import mp, mpf, matrix, sqrt
from mean_steps import at_edge, split, write_cases

mp.dps = 45
TINY = mpf(10) ** -38


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
        term = out = y
        for i in range(1, 200):
            term = x * term - term * right if self.euclidean else x * term
            term = term / i
            out = out + term
            if max(abs(t) for t in term) < TINY * mpf(10) ** -7:
                return out
        raise RuntimeError("no exponential")

    def back(self, a, y):
        return self.act([-t for t in a], y)

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


def spread(space, a):
    """coordinates on the manifold with 64 more rows than columns"""
    p, l = space.p, space.n - space.p
    first = p * (p - 1) // 2
    sign = [[-1 if bin(i & j).count("1") % 2 else 1 for j in range(l)] for i in range(64)]
    columns = [a[first + k * l:first + (k + 1) * l] for k in range(p)]
    return list(a[:first]) + [sum(s * t for s, t in zip(row, b)) / 8 for b in columns for row in sign]


def check_spread(space, rows, mean):
    """the gradient at the spread mean"""
    large = Stiefel(space.p + 64, space.p, space.euclidean)
    a, total = spread(space, mean), None
    for c in rows:
        small = space.log(space.back(mean, space.point([mpf(t) for t in c])), [mpf(s) - t for s, t in zip(c, mean)])
        z = large.log(large.back(a, large.point(spread(space, [mpf(t) for t in c]))), spread(space, small))
        total = z if total is None else [s + t for s, t in zip(total, z)]
    assert sqrt(sum(t * t for t in total)) / len(rows) < TINY * 2000


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
                            ("euclidean", 3, 3, 0.8), ("euclidean", 4, 2, 1e-6), ("euclidean", 3, 3, 1.4),
                            ("canonical", 6, 2, 0.6), ("euclidean", 6, 2, 0.7)]:
        space = Stiefel(n, p, metric == "euclidean")
        for kind in ("line", "any"):
            x = edge_records(rng, 4, len(space.pairs), r, kind)
            case = {"metric": metric, "n": n, "p": p, "radius": r, "kind": kind, "records": x}
            for one, rows in (("", x[:4]), ("other_", x[4:] + x[1:4])):
                mean = space.mean(rows)
                case[one + "mean"], case[one + "rest"] = split(mean)
                if n == 6 and kind == "any" and not one:
                    check_spread(space, rows, mean)
            cases.append(case)
            print(n, p, r, kind, flush=True)
    write_cases("mean_steps_stiefel", cases)


if __name__ == "__main__":
    main()
