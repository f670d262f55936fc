#!/usr/bin/env python3
"""Frechet means with 60 digits and more in the model spaces of inst/proofs/mean-solver.md, from normal coordinates at the centre.

Writes tests/testthat/reference/mean_steps.json. Records are multiples of 2^-30 (far out of 2^-44) within the ball, so they are exact
doubles; the far cases are at the edge of the range that is served, with a neighbour each. A mean is written as two doubles a
coordinate. Needs mpmath.
    /usr/bin/python3 tools/oracle/mean_steps.py
"""
import json
import random
from mpmath import mp, mpf, mpc, matrix, sqrt, cos, sin, cosh, sinh, asinh, atan, atan2, eigsy, exp, log, eye, nstr

mp.dps = 90


def norm(v):
    return sqrt(sum(abs(x) ** 2 for x in v))


class Round:
    """unit sphere of R^(d+1), or of C^(d/2+1) modulo phase"""

    def __init__(self, planar):
        self.planar = planar

    def vector(self, c):
        return [mpc(c[i], c[i + 1]) for i in range(0, len(c), 2)] if self.planar else list(c)

    def embed(self, c):
        v = self.vector(c)
        s = norm(v)
        return [cos(s)] + [x * (sin(s) / s if s else 1) for x in v]

    def log(self, p, y):
        ip = sum(x.conjugate() * z for x, z in zip(p, y))
        y = [z * ip.conjugate() / abs(ip) for z in y]
        h = [z - abs(ip) * x for x, z in zip(p, y)]
        s = norm(h)
        t = atan2(s, abs(ip))
        return [x * (t / s if s else 1) for x in h]

    def exp(self, p, v):
        s = norm(v)
        return [cos(s) * x + (sin(s) / s if s else 1) * z for x, z in zip(p, v)]

    def coords(self, p):
        o = [mpf(1)] + [mpf(0)] * (len(p) - 1)
        v = self.log(o, p)[1:]
        return [w for x in v for w in (x.real, x.imag)] if self.planar else v


class Hyperbolic:
    def inner(self, x, y):
        return sum(a * b for a, b in zip(x[1:], y[1:])) - x[0] * y[0]

    def embed(self, c):
        s = norm(c)
        return [cosh(s)] + [x * (sinh(s) / s if s else 1) for x in c]

    def log(self, p, y):
        i = self.inner(p, y)
        h = [z + i * x for x, z in zip(p, y)]
        s = sqrt(abs(self.inner(h, h)))
        return [x * (asinh(s) / s if s else 1) for x in h]

    def exp(self, p, v):
        s = sqrt(abs(self.inner(v, v)))
        return [cosh(s) * x + (sinh(s) / s if s else 1) * z for x, z in zip(p, v)]

    def coords(self, p):
        o = [mpf(1)] + [mpf(0)] * (len(p) - 1)
        return self.log(o, p)[1:]


def spectral(a, f):
    w, v = eigsy(a)
    n = a.rows
    d = matrix(n, n)
    for i in range(n):
        d[i, i] = f(w[i])
    return v * d * v.T


class Spd:
    def __init__(self, k):
        self.k = k

    def sym(self, c):
        a, i = matrix(self.k, self.k), 0
        for col in range(self.k):
            a[col, col] = c[i]
            i += 1
            for row in range(col + 1, self.k):
                a[row, col] = a[col, row] = c[i] / sqrt(mpf(2))
                i += 1
        return a

    def unsym(self, a):
        out = []
        for col in range(self.k):
            out.append(a[col, col])
            out += [sqrt(mpf(2)) * a[row, col] for row in range(col + 1, self.k)]
        return out

    def embed(self, c):
        return spectral(self.sym(c), exp)

    def coords(self, p):
        return self.unsym(spectral(p, log))

    def mean_step(self, p, ys, t):
        h, hi = spectral(p, sqrt), spectral(p, lambda x: 1 / sqrt(x))
        g = matrix(self.k, self.k)
        for y in ys:
            g += spectral(hi * y * hi, log)
        g = g * (t / len(ys))
        return h * spectral(g, exp) * h, max(abs(x) for x in g)


class Grassmann:
    """bases; logarithms by tangents of principal angles"""

    def __init__(self, n, p):
        self.n, self.p = n, p

    def root(self, a, f):
        return spectral(a, lambda x: f(sqrt(abs(x))) if abs(x) > mpf(10) ** -60 else mpf(1))

    def exp(self, w, v):
        s = v.T * v
        return w * self.root(s, cos) + v * self.root(s, lambda t: sin(t) / t)

    def log(self, w, y):
        m = y * (w.T * y) ** -1 - w
        return m * self.root(m.T * m, lambda t: atan(t) / t)

    def origin(self):
        w = matrix(self.n, self.p)
        for i in range(self.p):
            w[i, i] = 1
        return w

    def embed(self, c):
        v, l = matrix(self.n, self.p), self.n - self.p
        for j in range(self.p):
            for i in range(l):
                v[self.p + i, j] = c[i + j * l]
        return self.exp(self.origin(), v)

    def coords(self, y):
        v = self.log(self.origin(), y)
        return [v[i, j] for j in range(self.p) for i in range(self.p, self.n)]

    def mean_step(self, w, ys, t):
        g = matrix(self.n, self.p)
        for y in ys:
            g += self.log(w, y)
        g = g * (t / len(ys))
        return self.exp(w, g), max(abs(x) for x in g)


def newton(space, ys, p):
    """the mean on hyperbolic space, whatever its radius: damped Newton steps, convex"""
    def pull(p):
        g = [sum(x) / len(ys) for x in zip(*[space.log(p, y) for y in ys])]
        return g, sqrt(abs(space.inner(g, g)))

    g, size = pull(p)
    while size > mpf(10) ** -62:
        # Hessian sum of u u' + d coth d (I - u u'), in the frame that the boost carries
        frame = []
        for j in range(1, len(p)):
            e = [mpf(i == j) for i in range(len(p))]
            i = space.inner(p, e)
            e = [x + i * z for x, z in zip(e, p)]
            for f in frame:
                i = space.inner(e, f)
                e = [x - i * z for x, z in zip(e, f)]
            i = sqrt(space.inner(e, e))
            frame.append([x / i for x in e])
        n = len(frame)
        h = matrix(n, n)
        for y in ys:
            v = [space.inner(space.log(p, y), f) for f in frame]
            s = norm(v)
            c = s * cosh(s) / sinh(s) if s else mpf(1)
            for i in range(n):
                for j in range(n):
                    h[i, j] += (c * (i == j) + (1 - c) * v[i] * v[j] / s**2 if s else mpf(i == j)) / len(ys)
        x = mp.lu_solve(h, matrix([space.inner(g, f) for f in frame]))
        step = [sum(x[i] * frame[i][k] for i in range(n)) for k in range(len(p))]
        while True:
            q = space.exp(p, step)
            q[0] = sqrt(1 + sum(z * z for z in q[1:]))
            g_new, size_new = pull(q)
            if size_new < size * (1 - mpf(10) ** -3):
                break
            step = [z / 2 for z in step]
        p, g, size = q, g_new, size_new
    return p


def mean(space, records, t):
    ys = [space.embed(c) for c in records]
    p = space.embed([mpf(0)] * len(records[0]))
    if isinstance(space, Hyperbolic):
        return space.coords(newton(space, ys, p))
    for _ in range(5000):
        if isinstance(space, (Spd, Grassmann)):
            p, size = space.mean_step(p, ys, t)
        else:
            g = [sum(x) * t / len(ys) for x in zip(*[space.log(p, y) for y in ys])]
            p, size = space.exp(p, g), norm(g)
        if size < mpf(10) ** -60:
            return space.coords(p)
    raise RuntimeError("no convergence")


def records(rng, n, d, r, edge):
    out = []
    for i in range(n):
        v = [rng.gauss(0, 1) for _ in range(d)]
        if edge and i % 4:  # two clusters at the boundary
            v = [6.0 if j == (i % 2) else x for j, x in enumerate(v)]
        s = sum(x * x for x in v) ** 0.5
        f = r * (0.9999 if edge else rng.random() ** (1 / d)) / s
        out.append([int(f * x * 2**30) / 2**30 for x in v])
    return out


def at_edge(r, v):
    """v made as long as r, nearly, in doubles"""
    s = sum(x * x for x in v) ** 0.5
    return [int(r * (1 - 1e-9) / s * x * 2**44) / 2**44 for x in v]


def write_cases(name, cases):
    with open("tests/testthat/reference/%s.json" % name, "w") as f:
        json.dump(cases, f, indent=None, separators=(",", ":"))
        f.write("\n")


def edge_records(rng, n, d, r, kind):
    """n + 1 records; the last one is the neighbour's first"""
    def around(width):
        return at_edge(r, [1.0] + [rng.gauss(0, width) for _ in range(d - 1)])

    if kind == "line":  # the mean moves by all of 2r/n
        out = [at_edge(r, [1.0 if i % 2 else -1.0] + [0.0] * (d - 1)) for i in range(n)]
    elif kind == "near":  # angles that doubles only just tell apart
        out = [around(3 * 2.718281828 ** -min(r, 22)) for _ in range(n)]
    else:
        out = [at_edge(r, [rng.gauss(0, 1) for _ in range(d)]) for _ in range(n)]
    return out + [[-x for x in out[0]]]


def split(m):
    high = [float(c) for c in m]
    return high, [float(c - mpf(h)) for c, h in zip(m, high)]


def main():
    rng = random.Random(20)
    cases = []
    for name, space, d, radii, t in [
        ("sphere", Round(False), 2, [0.3, 0.78], 0.8), ("sphere", Round(False), 9, [0.7], 0.8),
        ("hyperbolic", Hyperbolic(), 2, [0.5, 2.5], 0.2), ("hyperbolic", Hyperbolic(), 5, [1.0], 0.5),
        ("kendall", Round(True), 2, [0.39], 0.8), ("kendall", Round(True), 6, [0.35], 0.8),
        ("spd", Spd(2), 3, [0.5, 2.0], 0.5), ("spd", Spd(3), 6, [1.5], 0.5),
        ("grassmann 4 2", Grassmann(4, 2), 4, [0.1, 0.55], 0.8), ("grassmann 6 2", Grassmann(6, 2), 8, [0.5], 0.8),
        ("grassmann 4 1", Grassmann(4, 1), 3, [0.7], 0.8),
    ]:
        for r in radii:
            for edge in (False, True):
                x = records(rng, 8, d, r, edge)
                high, low = split(mean(space, [[mpf(c) for c in row] for row in x], mpf(t)))
                cases.append({"model": name, "d": d, "radius": r, "records": x, "mean": high, "rest": low})
    for name, space, d, r, t in [
        ("sphere", Round(False), 2, 1e-9, 1), ("sphere", Round(False), 3, 0.785, 0.8), ("kendall", Round(True), 4, 0.392, 0.8),
        ("kendall", Round(True), 4, 1e-6, 1), ("grassmann 4 2", Grassmann(4, 2), 4, 0.555, 0.8), ("grassmann 4 1", Grassmann(4, 1), 3, 0.785, 0.8),
        ("hyperbolic", Hyperbolic(), 2, 1e-9, 1), ("hyperbolic", Hyperbolic(), 2, 6, 1), ("hyperbolic", Hyperbolic(), 2, 12, 1),
        ("hyperbolic", Hyperbolic(), 2, 18, 1), ("hyperbolic", Hyperbolic(), 2, 22, 1), ("hyperbolic", Hyperbolic(), 4, 20, 1),
        ("spd", Spd(2), 3, 4, 0.2), ("spd", Spd(2), 3, 6, 0.12), ("spd", Spd(3), 6, 5, 0.15),
    ]:
        for kind in ("line", "near", "any"):
            x = edge_records(rng, 5, d, r, kind)
            case = {"model": name, "d": d, "radius": r, "kind": kind, "records": x}
            for one, rows in (("", x[:5]), ("other_", x[5:] + x[1:5])):
                case[one + "mean"], case[one + "rest"] = split(mean(space, [[mpf(c) for c in row] for row in rows], mpf(t)))
            cases.append(case)
            print(name, d, r, kind, flush=True)
    write_cases("mean_steps", cases)


if __name__ == "__main__":
    main()
