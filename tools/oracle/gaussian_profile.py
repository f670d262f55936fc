#!/usr/bin/env python3
"""Reference values for the Gaussian law's profile, in 50 digits: deltas by quadrature over the radius, with the law of
cosines as it stands; the cosine and its first two derivatives at points of narrow cells, by differences
in 120 digits; logarithms of radial densities; and deltas of normal noise and on the circle.

    python3 tools/oracle/gaussian_profile.py > tests/testthat/reference/gaussian_profile.json
"""
import json
import random

from mpmath import mp, mpf, acos, acosh, betainc, cos, cosh, erfc, exp, expm1, log, pi, quad, sin, sinh, sqrt

mp.dps = 50


def pair(x):
    """a sum of two doubles"""
    hi = float(x)
    return [hi, float(x - mpf(hi))]


def Phi(x):
    return erfc(-x / sqrt(mpf(2))) / 2


def sn(k, x):
    return sin(x) if k > 0 else sinh(x)


def cs(k, x):
    return cos(x) if k > 0 else cosh(x)


def cosine(k, far, two, x):
    D = sqrt(x * x + two)
    return k * (cs(k, D) - cs(k, x) * cs(k, far)) / (sn(k, x) * sn(k, far))


def angle(d, c):
    """P(cos <= c) for a uniform direction in d dimensions"""
    if c <= -1:
        return mpf(0)
    if c >= 1:
        return mpf(1)
    if d == 2:
        return 1 - acos(c) / pi
    if d == 3:
        return (1 + c) / 2
    p = mpf(d - 1) / 2
    return betainc(p, p, 0, (1 + c) / 2, regularized=True).real


def total(f, log_g, top, points, scale, shift=0):
    """integral of exp(log_g - shift) f over (0, top), split at `points`"""
    cuts = sorted({mpf(0), top} | {p for p in points if 0 < p < top})
    fine = []
    for a, b in zip(cuts, cuts[1:]):
        # no part longer than two scales
        m = min(int((b - a) / (2 * scale)) + 1, 60)
        fine += [a + (b - a) * i / m for i in range(m)]
    fine.append(cuts[-1])
    return quad(lambda x: exp(log_g(x) - shift) * f(x), fine, maxdegree=9)


def mode_of(log_g, top, guess):
    lo, hi = mpf(0), top
    for _ in range(300):
        a, b = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        if log_g(a) < log_g(b):
            lo = a
        else:
            hi = b
        if hi - lo < guess * mpf(10) ** -12:
            break
    return (lo + hi) / 2


def curved_delta(space, d, sigma, far, eps):
    """for shapes: with the sphere's angle, an upper bound"""
    k = -1 if space == "hyperbolic" else 1
    full = pi if space == "sphere" else pi / 2
    sigma, far, eps = mpf(sigma), mpf(far), mpf(eps)

    def log_g(x):
        if x <= 0 or (k > 0 and x >= full):
            return mpf("-1e9")
        return (d - 1) * log(abs(sn(k, x))) + (log(abs(cos(x))) if space == "kendall" else 0) - x * x / (2 * sigma ** 2)

    reach = sigma * (sqrt(mpf(d)) + 26) + (d * sigma ** 2 if k < 0 else 0) + (eps * sigma ** 2 / far if eps else 0)
    top = min(full, reach) if k > 0 else reach
    mode = mode_of(log_g, top, sigma)
    shift = log_g(mode)
    two = 2 * sigma ** 2 * eps

    def inside(f, sign):
        def g(x):
            D2 = x * x + sign * two
            if D2 <= 0:
                return mpf(0)
            if k > 0 and D2 >= full ** 2:
                return mpf(0)
            return f(cosine(k, far, sign * two, x))
        return g

    up = inside(lambda c: angle(d, c), 1)
    down = inside(lambda c: angle(d, -c), -1)
    # nodes: where a cosine reaches 1 or -1, and where D does its end
    points = {mode, mode + sigma / 2, abs(mode - sigma / 2)}
    for sign in (1, -1):
        for e in ((sign * two - far ** 2) / (2 * far), (far ** 2 - sign * two) / (2 * far)):
            points.add(e)
        if k > 0:
            r = 2 * pi - far
            points |= {(r * r - sign * two) / (2 * r), (r * r + sign * two) / (2 * r)}
            if full ** 2 > sign * two:
                points.add(sqrt(full ** 2 - sign * two))
    z = total(lambda x: 1, log_g, top, {mode}, sigma, shift=shift)
    # quad()'s tolerance is absolute
    return (total(up, log_g, top, points, sigma, shift=shift) - total(down, log_g, top, points, sigma, shift=shift - eps)) / z


def spd_delta(size, sigma, far, eps):
    """E (1 - exp(eps - L))_+ for the largest loss L at each radius and the law of bound radii"""
    sigma, far, eps = mpf(sigma), mpf(far), mpf(eps)
    rate, pairs = 1 / sqrt(mpf(2 * (size - 1))), mpf(size * (size - 1)) / 2

    def log_g(x):
        return (size - 1) * log(x) + pairs * log(sinh(rate * x)) - x * x / (2 * sigma ** 2) if x > 0 else mpf("-1e9")

    start = (2 * sigma ** 2 * eps - far ** 2) / (2 * far)
    d = size * (size + 1) // 2
    top = sigma * (sqrt(mpf(d)) + 26) + pairs * rate * sigma ** 2 + max(start, 0)
    mode = mode_of(log_g, top, sigma)
    shift = log_g(mode)
    f = lambda x: -expm1(eps - far * (2 * x + far) / (2 * sigma ** 2)) if x > start else mpf(0)
    return total(f, log_g, top, {mode, start}, sigma, shift=shift) / total(lambda x: 1, log_g, top, {mode}, sigma, shift=shift)


def circle_delta(sigma, far, eps):
    sigma, far, eps = mpf(sigma), mpf(far), mpf(eps)
    def arc(x):
        x = abs(x)
        return min(x, 2 * pi - x)
    f = lambda x, c: exp(-arc(x - c) ** 2 / (2 * sigma ** 2))
    r = 2 * pi - far
    lo, hi = sigma ** 2 * eps / r - r / 2, far / 2 - sigma ** 2 * eps / far
    if lo >= far - pi:
        return mpf(0)
    cuts = sorted({lo, far - pi, hi} | {c for i in range(1, 200) for c in (hi - i * sigma / 4, lo + i * sigma / 4) if lo < c < hi} |
                  ({mpf(0)} if lo < 0 < hi else set()))
    z = 2 * quad(lambda x: f(x, 0), [0, pi] if sigma > 0.5 else [0, sigma, 6 * sigma, pi])
    big = f(min(hi, mpf(0)), 0) # quad()'s tolerance is absolute
    return big * quad(lambda x: (f(x, 0) - exp(eps) * f(x, far)) / big, cuts) / z


def cell(k, far, two, a, b, wide):
    at = [mpf(a), (mpf(a) + mpf(b)) / 2, mpf(b)]
    f = lambda x: cosine(k, mpf(far), mpf(two), x)
    step = mpf(10) ** -30
    slope = [(f(x + x * step) - f(x - x * step)) / (2 * x * step) for x in at]
    second = [(f(x + x * step) - 2 * f(x) + f(x - x * step)) / (x * step) ** 2 for x in at]
    return {"k": k, "far": far, "two": two, "a": a, "b": b, "wide": wide, "c": [pair(f(x)) for x in at],
            "slope": [pair(x) for x in slope], "second": [pair(x) for x in second]}


out = {"curved": [], "spd": [], "circle": [], "flat": [], "cells": [], "density": [], "moments": [], "csq": []}

for case in [("sphere", 2, 1e-9, 1e-10, 0.1), ("sphere", 2, 0.2, 2e-8, 1e-8), ("sphere", 2, 0.1, 0.05, 0.3), ("sphere", 2, 3, 3, 0.2),
             ("sphere", 2, 10, 3.1, 0.01), ("sphere", 2, 0.01, 0.05, 45), ("sphere", 2, 0.02, 0.1, 30), ("sphere", 2, 0.4, 3.14, 0),
             ("sphere", 3, 0.2, 0.05, 0.8), ("sphere", 3, 0.5, 2.9, 3), ("sphere", 3, 1e-3, 1e-5, 0.05), ("sphere", 10, 0.3, 0.1, 1),
             ("sphere", 20, 2, 0.5, 0.05), ("sphere", 100, 0.02, 0.01, 2), ("hyperbolic", 2, 1, 0.1, 0.4), ("hyperbolic", 2, 1e-6, 1e-6, 2),
             ("hyperbolic", 2, 2, 0.3, 0.1), ("hyperbolic", 2, 0.05, 0.5, 90), ("hyperbolic", 3, 0.5, 0.02, 0), ("hyperbolic", 5, 0.4, 0.2, 1),
             ("hyperbolic", 5, 0.01, 0.03, 12), ("hyperbolic", 20, 0.5, 0.1, 3), ("kendall", 6, 0.1, 0.03, 0.5), ("kendall", 4, 1, 0.4, 0.1),
             ("kendall", 16, 0.05, 0.05, 2)]:
    out["curved"].append(dict(zip(("space", "d", "sigma", "far", "epsilon"), case), delta=float(curved_delta(*case))))
for case in [(2, 0.3, 0.1, 0.4), (3, 0.2, 0.05, 0.5), (2, 1e-5, 1e-7, 0.01), (4, 0.1, 0.2, 8), (8, 0.5, 0.05, 1)]:
    out["spd"].append(dict(zip(("size", "sigma", "far", "epsilon"), case), delta=float(spd_delta(*case))))
for case in [(1.3, 0.9, 0.4), (0.1, 0.3, 12), (0.05, 1, 400), (30, 0.5, 1e-4), (0.01, 0.001, 0.7), (2, 3.1, 0.9), (0.02, 0.1, 40), (0.5, 0.7, 3.5),
             (0.03, 0.3, 170)]:
    out["circle"].append(dict(zip(("sigma", "far", "epsilon"), case), delta=float(circle_delta(*case))))
for mu, eps in [(1e-9, 0), (1e-9, 3e-9), (1e-5, 1e-4), (0.01, 0.2), (0.1, 2.7), (1, 1), (1, 30), (5, 100), (40, 500), (40, 1500), (0.3, 11.2)] + [(m, m * m / 2 + m * z) for m in (21234.567, 23456.789, 34567.891, 45678.912) for z in (-0.3, 0.2, 1.1)]:
    m, e = mpf(mu), mpf(eps)
    out["flat"].append({"mu": mu, "epsilon": eps, "delta": float(Phi(m / 2 - e / m) - exp(e) * Phi(-m / 2 - e / m))})

# narrow cells: eight steps of the last digit wide; and wide ones
random.seed(7)
mp.dps = 120
while len(out["cells"]) < 80:
    k = random.choice((1, -1))
    a = 10 ** random.uniform(-9, 0.49)
    far = min(10 ** random.uniform(-9, 0.49), 3.1)
    if k < 0 and random.random() < 0.3:
        a = random.uniform(2, 15)
    c = random.uniform(-0.95, 0.95)
    target = cs(k, mpf(a)) * cs(k, mpf(far)) + k * mpf(c) * sn(k, mpf(a)) * sn(k, mpf(far))
    D = acos(target) if k > 0 else acosh(target)
    two = float(D ** 2 - mpf(a) ** 2)
    wide = len(out["cells"]) % 4 == 3
    b = a * (1 + (1e-3 if wide else 8 * 2.0 ** -52))
    if k > 0 and (b > 3.13 or mpf(b) ** 2 + mpf(two) > 9.8) or mpf(a) ** 2 + mpf(two) <= 0 or two == 0:
        continue
    out["cells"].append(cell(k, far, two, a, b, wide))
# around the cosine's largest value, where it leaves its chord on one side
for far, two in [(1.0, 1.5), (0.3, 0.5), (1.5, 3.0), (0.05, 0.2)]:
    f = lambda x: cosine(1, mpf(far), mpf(two), x)
    lo, hi = two / (2 * mpf(far)) - mpf(far) / 2, min(sqrt(pi ** 2 - two), ((2 * pi - far) ** 2 - two) / (2 * (2 * pi - far)))
    for _ in range(400):
        x, y = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        lo, hi = (x, hi) if f(x) < f(y) else (lo, y)
    for width in (1e-3, 1e-2):
        out["cells"].append(cell(1, far, two, float(lo * (1 - width)), float(lo * (1 + width)), True))

mp.dps = 50
for space, d, sigma, x in [("sphere", 2, 0.3, 0.2), ("sphere", 1000, 0.01, 0.31), ("sphere", 100000, 1e-9, 3.1e-7), ("sphere", 100000, 1e-9, 2.8e-7),
                           ("sphere", 7, 5, 3.1), ("hyperbolic", 5, 0.4, 1.7), ("hyperbolic", 3000, 0.04, 4.1), ("hyperbolic", 50000, 1e-7, 2.2e-5),
                           ("kendall", 2000, 0.02, 0.77), ("kendall", 40, 1, 1.41), ("spd", 3, 0.2, 0.7), ("spd", 40, 0.3, 13.2)]:
    s, r = mpf(sigma), mpf(x)
    if space == "spd":
        value = (d - 1) * log(r) + mpf(d * (d - 1)) / 2 * log(sinh(r / sqrt(mpf(2 * (d - 1)))))
    else:
        value = (d - 1) * log(sn(-1 if space == "hyperbolic" else 1, r)) + (log(cos(r)) if space == "kendall" else 0)
    out["density"].append({"space": space, "d": d, "sigma": sigma, "x": x, "log": pair(value - r * r / (2 * s * s))})
for s in [-29.7, -3, -1.01, -0.99, -0.3, -0.011, -0.009, -1e-5, -1e-10, 1e-10, 1e-7, 2e-3, 0.0099, 0.0101, 0.5, 0.99, 1.01, 4, 29.7]:
    t = mpf(s)
    out["moments"].append({"s": s, "zero": pair(expm1(t) / t), "one": pair((exp(t) * (t - 1) + 1) / t ** 2)})
for k in (1, -1):
    for x in [1e-9, 1e-4, 0.0099, 0.0101, 0.013, 0.027, 0.09, 0.31, 0.499, 0.501, 1.2, 2.2, 3.1]:
        t = mpf(x)
        out["csq"].append({"k": k, "x": x, "value": pair((cs(k, t) - sn(k, t) / t) / t ** 2)})
print("{" + ",\n".join(json.dumps(k) + ": [\n" + ",\n".join(map(json.dumps, v)) + "]" for k, v in out.items()) + "}")
