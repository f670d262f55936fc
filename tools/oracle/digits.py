#!/usr/bin/env python3
"""Whether the errors that mf_dist(), mf_log(), mf_exp() and frechet_mean() tell with `error = TRUE` are above the true ones, which have
110 digits here, 800 where numbers are tiny.

Run from the top of the source tree (no network, only mpmath >= 1.2 and the installed package are needed):

    Rscript tools/oracle/digits.R 300 1 | python3 tools/oracle/digits.py
    (Rscript tools/oracle/digits.R 2 20261128 '^[^am]'; Rscript tools/oracle/digits.R 300 7 '^[^am]' | grep nearest) |
        python3 tools/oracle/digits.py tests/testthat/reference/digits.csv
    Rscript tools/oracle/digits.R 1000 5 arithmetic | python3 tools/oracle/digits.py tests/testthat/reference/digits_arithmetic.csv

Told are, of each space and map, the number of cases, the worst ratio of true and told error (above 1: a bound that is none, and the
status is 1), the median of told over true, and how many were told as Inf. With a file name the cases are written there
with their true values ("nearest": of mf_dist(), where the value is the double that is nearest to what was enclosed, so that the told error
is that of the enclosing set), each as two doubles (three, of the arithmetic itself) whose sum it is: the table of test-certified-digits.R.

True values are from the definitions, and not from the formulas of the package's C: angles of unit vectors; Minkowski's product of points
of the hyperboloid; eigenvalues of L^-1 Q L^-T; logarithms of matrices. A stored point stands for: sphere x/|x|, hyperboloid the point with its space
coordinates; a stored vector for its tangent part (sphere) or the vector with its space part (hyperboloid); a matrix for its lower
triangle. Means are found by steps along the mean logarithm until they are shorter than 1e-60.
"""

import sys

from mpmath import mp, mpf

mp.dps = 110


def dot(x, y):
    return mp.fdot(x, y)


def norm(x):
    return mp.sqrt(dot(x, x))


# ---- spheres ------------------------------------------------------------------------------------------------------------------------

class Sphere:
    def point(self, x):
        s = norm(x)
        return [t / s for t in x]

    def vector(self, p, v):
        s = dot(p, v)
        return [x - s * y for x, y in zip(v, p)]

    def dist(self, p, q):
        c = dot(p, q)
        return mp.atan2(norm(self.vector(p, q)), c)

    def log(self, p, q):
        w = self.vector(p, q)
        s, d = norm(w), self.dist(p, q)
        return [x * d / s for x in w] if s else w

    def exp(self, p, v):
        v = self.vector(p, v)
        t = norm(v)
        return [mp.cos(t) * x + (mp.sin(t) / t * y if t else y) for x, y in zip(p, v)]

    def length(self, p, v):
        return norm(v)


# ---- hyperbolic space: (time, space) ------------------------------------------------------------------------------------------------

class Hyperboloid:
    def lorentz(self, x, y):
        return dot(x[1:], y[1:]) - x[0] * y[0]

    def point(self, x):
        return [mp.sqrt(1 + dot(x[1:], x[1:]))] + x[1:]

    def vector(self, p, v):
        return [dot(p[1:], v[1:]) / p[0]] + v[1:]

    def dist(self, p, q):
        w = [x - y for x, y in zip(p, q)]
        return 2 * mp.asinh(mp.sqrt(max(mpf(0), self.lorentz(w, w))) / 2)

    def log(self, p, q):
        d = self.dist(p, q)
        if not d:
            return [mpf(0)] * len(p)
        return [d / mp.sinh(d) * (y - mp.cosh(d) * x) for x, y in zip(p, q)]

    def exp(self, p, v):
        t = self.length(p, v)
        return [mp.cosh(t) * x + (mp.sinh(t) / t * y if t else y) for x, y in zip(p, v)]

    def length(self, p, v):
        return mp.sqrt(max(mpf(0), self.lorentz(v, v)))


class Ball(Hyperboloid):
    """by way of the hyperboloid, x = a/(1 + a_0)"""

    def point(self, x):
        s = dot(x, x)
        return [(1 + s) / (1 - s)] + [2 * t / (1 - s) for t in x]

    def vector(self, p, v):  # v at x = a/(1 + a_0): the derivative of point()
        x = [t / (1 + p[0]) for t in p[1:]]
        g = 1 - dot(x, x)
        r = dot(x, v)
        return [4 * r / g**2] + [2 * b / g + 4 * r * a / g**2 for a, b in zip(x, v)]


# ---- positive definite matrices, as lists by columns ----------------------------------------------------------------------------------

class Spd:
    def __init__(self, k):
        self.k = k

    def point(self, x):
        k = self.k
        return mp.matrix([[x[max(i, j) + min(i, j) * k] for j in range(k)] for i in range(k)])

    def vector(self, p, v):
        return self.point(v)

    def white(self, p, v):
        l = mp.cholesky(p) if self.k > 1 else mp.matrix([[mp.sqrt(p[0, 0])]])
        i = l**-1
        s = i * v * i.T
        return l, (s + s.T) / 2

    def spectral(self, l, s, f):
        e, u = mp.eigsy(s)
        return l * u * mp.diag([f(x) for x in e]) * u.T * l.T

    def dist(self, p, q):
        e = mp.eigsy(self.white(p, q)[1], eigvals_only=True)
        return mp.sqrt(sum(mp.log(x) ** 2 for x in e))

    def log(self, p, q):
        return self.spectral(*self.white(p, q), mp.log)

    def exp(self, p, v):
        return self.spectral(*self.white(p, v), mp.exp)

    def length(self, p, v):
        return mp.mnorm(self.white(p, v)[1], "f")


class LogEuclidean(Spd):
    def logarithm(self, p):
        return self.spectral(mp.eye(self.k), p, mp.log)

    def derivative(self, p, v, inverse):
        e, u = mp.eigsy(p)
        s = u.T * v * u
        for i in range(self.k):
            for j in range(self.k):
                x, y = (mp.log(t) for t in (e[i], e[j]))
                f = 1 / e[i] if abs(x - y) < mpf(10) ** -60 else (x - y) / (e[i] - e[j])
                s[i, j] = s[i, j] / f if inverse else s[i, j] * f
        return u * s * u.T

    def dist(self, p, q):
        return mp.mnorm(self.logarithm(q) - self.logarithm(p), "f")

    def log(self, p, q):
        return self.derivative(p, self.logarithm(q) - self.logarithm(p), True)

    def exp(self, p, v):
        return self.spectral(mp.eye(self.k), self.logarithm(p) + self.derivative(p, v, False), mp.exp)

    def length(self, p, v):
        return mp.mnorm(self.derivative(p, v, False), "f")


def less(a, b):
    return a - b if isinstance(a, mp.matrix) else [x - y for x, y in zip(a, b)]


class Arithmetic:
    """numbers of two doubles and what their sets are wrong by, which is 0 of arguments"""
    def point(self, x):
        return x[0] + x[1]

    def vector(self, x, y):
        return self.point(y)

    def __getattr__(self, name):
        own = {"add": lambda x, y: x + y, "multiply": lambda x, y: x * y, "divide": lambda x, y: x / y, "angle": mp.atan2}
        one = {"sine": mp.sin, "cosine": mp.cos, "root": mp.sqrt}
        f = own.get(name) or one.get(name) or getattr(mp, name)
        return f if name in own else lambda x, y: f(x)


def mean_of(s, x, w):
    """by steps along the mean logarithm, from a record, until they are shorter than 1e-60; vectors here are whole ones"""
    m, before = x[0], None
    for _ in range(2000):
        logs = [s.log(m, y) for y in x]
        v = [dot(w, c) / sum(w) for c in zip(*logs)]
        size = s.length(m, v)
        if size < mpf(10) ** -60:
            return m
        step = mpf(1) if isinstance(s, Sphere) else 1 / max(mpf(1), max(s.length(m, l) for l in logs))
        m = s.exp(m, [step * c for c in v])
        m = s.point(m) if isinstance(s, Sphere) else [mp.sqrt(1 + dot(m[1:], m[1:]))] + m[1:]
    raise ValueError("no mean")


def space_of(name, k):
    if name == "arithmetic":
        return Arithmetic()
    matrices = {"spd": Spd, "logeuclidean": LogEuclidean}
    return matrices[name](k) if name in matrices else {"sphere": Sphere, "hyperboloid": Hyperboloid, "ball": Ball}[name]()


def numbers(text):
    return [mpf(float.fromhex(x)) for x in text.split()]


def stored(name, k, what, p, x):
    """a true value as the package stores it: numbers"""
    if what == "dist" or name == "arithmetic":
        return [x]
    if isinstance(x, mp.matrix):
        return [x[i, j] for j in range(k) for i in range(k)]
    if name != "ball":
        return list(x)
    if what == "exp":
        return [t / (1 + x[0]) for t in x[1:]]
    return [b / (1 + p[0]) - a * x[0] / (1 + p[0]) ** 2 for a, b in zip(p[1:], x[1:])]


def true_error(s, what, p, true, value):
    if isinstance(s, Arithmetic):
        return abs(s.point(value) - true)
    if what == "dist":
        return abs(value[0] - true)
    if what == "log":
        return s.length(p, less(s.vector(p, value) if not isinstance(s, Sphere) else value, true))
    y = s.point(value)
    try:
        return s.dist(y, true)
    except (ValueError, ZeroDivisionError):  # what was computed is no positive definite matrix
        return mp.inf


def compare(s, what, p, b, value):
    x = s.point(p)
    true = getattr(s, what)(x, s.vector(x, b) if what == "exp" else s.point(b))
    return x, true, true_error(s, what, x, true, value)


def two(x, arithmetic):
    hi = float(x)
    lo = float(x - mpf(hi))
    return hi.hex(), lo.hex() + (" " + float(x - mpf(hi) - mpf(lo)).hex() if arithmetic else "")


def main(path):
    found, bad = {}, 0
    for line in sys.stdin:
        name, k, label, p, b, value, told = line.rstrip("\n").split("|")
        # numbers as small as 1e-322 beside 1 need more digits than others
        tiny = [abs(t) for t in numbers(p) + numbers(b) + numbers(value) if t and abs(t) < 1e-30]
        mp.dps = 800 if tiny and name != "arithmetic" else 110
        k, told, what = int(k), float.fromhex(told), "dist" if label == "nearest" else label
        s = space_of(name, k)
        if what == "mean":
            mp.dps = 110
            flat, size = numbers(p), len(numbers(value))
            true = mean_of(s, [s.point(flat[i:i + size]) for i in range(0, len(flat), size)], numbers(b))
            error, x = s.dist(s.point(numbers(value)), true), true
        else:
            x, true, error = compare(s, what, numbers(p), numbers(b), numbers(value))
        f = found.setdefault((name, label), {"n": 0, "inf": 0, "worst": mpf(0), "ratios": []})
        f["n"] += 1
        if told == float("inf"):
            f["inf"] += 1
        else:
            f["worst"] = max(f["worst"], error / mpf(told))
            if error > 0:
                f["ratios"].append(mpf(told) / error)
            if error > mpf(told):
                bad += 1
                print("BELOW", mp.nstr(error, 5), told, line.strip(), file=sys.stderr)
        parts = [two(t, name == "arithmetic") for t in stored(name, k, what, x, true)]
        row = f"{name},{k},{label},{p},{b},{' '.join(t[0] for t in parts)},{' '.join(t[1] for t in parts)}"
        f.setdefault("rows", []).append((error / mpf(told) if told < float("inf") else 0, row))
    for (name, what), f in found.items():
        ratios = sorted(f["ratios"])
        at = lambda q: mp.nstr(ratios[int(q * (len(ratios) - 1))], 4) if ratios else "-"
        print(f"{name:12s} {what:8s} {f['n']:7d} cases, true/told at most {mp.nstr(f['worst'], 10)}, "
              f"told/true median {at(.5)}, 99% {at(.99)}, most {at(1)}; told Inf: {f['inf']}")
    if path:
        with open(path, "w") as file:
            file.write("space,k,what,p,q,true,rest\n")
            for (name, what), f in found.items():  # arithmetic: the worst; nearest: where the set is largest beside a double
                rows = f["rows"]
                if name == "arithmetic" or what == "nearest":
                    rows = sorted(rows, key=lambda r: -r[0])
                    rows = rows[:5] if name == "arithmetic" else rows[-15:]
                file.write("".join(row + "\n" for ratio, row in rows))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
