#!/usr/bin/env python3
"""Reference values for the accountants, by ways that the package doesn't use: Renyi divergences by quadrature and
hockey-stick divergences of compositions by a contour integral, both in 40 digits.

delta(eps) = 1/(2 pi i) int M(s) e^(-s eps)/(s (s + 1)) ds over Re s = theta > 0, M the moment generating function of the
privacy loss; no grid of losses and no Fourier transform of one.

    python3 tools/oracle/accountant.py > tests/testthat/reference/accountant_extra.json
"""
import json

from mpmath import mp, mpf, mpc, exp, log, sqrt, pi, quad, erfc

mp.dps = 40


def normal(z):
    return exp(-z * z / 2) / sqrt(2 * pi)


def Phi(x):
    return erfc(-x / sqrt(mpf(2))) / 2


def gaussian_delta(mu, eps):
    return Phi(mu / 2 - eps / mu) - exp(eps) * Phi(-mu / 2 - eps / mu)


def renyi_poisson(q, nm, alpha):
    mu = 1 / mpf(nm)
    q, alpha = mpf(q), mpf(alpha)

    def f(z):
        y = q * (exp(mu * z - mu * mu / 2) - 1)
        return normal(z) * ((1 + y) ** alpha - 1 - alpha * y)

    points = [mpf(k) for k in range(-30, int(alpha * mu) + 31, 2)]
    return log(1 + quad(f, points)) / (alpha - 1)


def legendre(n=24):
    import mpmath
    nodes = mpmath.calculus.quadrature.GaussLegendre(mp).calc_nodes(4, mp.prec)
    return nodes


NODES = legendre()
SPANS = []


def panels(lo, hi, width):
    """composite Gauss-Legendre nodes and weights"""
    count = int((hi - lo) / width) + 1
    h = (hi - lo) / count
    for i in range(count):
        mid = lo + (i + mpf(1) / 2) * h
        for x, w in NODES:
            yield mid + h / 2 * x, w * h / 2


def law(kind, *p):
    """(losses, masses under P) as nodes of a quadrature; exact for atoms"""
    if kind in ("leave", "enter"):
        q, mu = mpf(p[0]), 1 / mpf(p[1])
        out = []
        h = min(mpf("0.2"), mpf("0.2") / mu)
        k0, k1 = int(-13 / h), int((mu + 13) / h)
        for k in range(k0, k1 + 1):
            z = k * h
            w = 1 - q + q * exp(mu * z - mu * mu / 2)
            out.append((log(w), normal(z) * w * h) if kind == "leave" else (-log(w), normal(z) * h))
        return out
    if kind == "sample":
        q, mu = mpf(p[0]), 1 / mpf(p[1])
        out, total = [], mpf(0)
        for z, g in panels(mu / 2, mu / 2 + 17 + mu, mpf(1)):
            w = 1 - q + q * exp(mu * z - mu * mu / 2)
            a = normal(z) * g
            out += [(log(w), a * w), (-log(w), a)]
            total += a * w + a
        return out + [(mpf(0), 1 - total)]
    if kind == "pure":
        e = mpf(p[0])
        return [(e, 1 / (1 + exp(-e))), (-e, 1 / (1 + exp(e)))]
    if kind == "laplace":
        e = 1 / mpf(p[0])
        out = [(e, mpf(1) / 2), (-e, exp(-e) / 2)]
        out += [(x, exp((x - e) / 2) / 4 * g) for x, g in panels(-e, e, e)]
        return out
    if kind == "discrete_gaussian":
        s, d = mpf(p[0]), int(p[1])
        xs = range(int(-40 * p[0]), int(40 * p[0]) + 1)
        z = sum(exp(-mpf(x) ** 2 / (2 * s * s)) for x in xs)
        return [((2 * x * d + d * d) / (2 * s * s), exp(-mpf(x) ** 2 / (2 * s * s)) / z) for x in xs]
    raise ValueError(kind)


def moment_function(part):
    if part[0] == "gaussian":
        mu2 = 1 / mpf(part[1]) ** 2
        return lambda s: exp(s * (s + 1) * mu2 / 2)
    atoms = law(*part)
    SPANS.append(max(abs(l) for l, m in atoms))
    return lambda s: sum(m * exp(s * l) for l, m in atoms)


def delta_of(parts, eps):
    """parts: [(part, times), ...]"""
    eps = mpf(eps)
    SPANS.clear()
    fs = [(moment_function(part), times) for part, times in parts]

    def log_chernoff(theta):
        return sum(t * log(f(theta)) for f, t in fs) - theta * eps

    # theta near the saddle point
    lo, hi = mpf("1e-3"), mpf("1e-3")
    best = None
    theta = mpf("1e-2")
    while theta < 1e6:
        v = log_chernoff(theta).real
        if best is not None and v > best[0] + 1e-12:
            break
        if best is None or v < best[0]:
            best = (v, theta)
        theta *= mpf("1.3")
    theta = best[1]
    d = theta / 1000
    curvature = (log_chernoff(theta + d) - 2 * log_chernoff(theta) + log_chernoff(theta - d)).real / d ** 2

    def integrand(t):
        s = mpc(theta, t)
        total = mpc(1)
        for f, times in fs:
            total *= f(s) ** times
        return (total * exp(-s * eps) / (s * (s + 1))).real

    # trapezoidal rule, exponentially accurate: poles at 0 and -1 are theta away, and 2 pi/h is beyond any loss that matters
    h = min(mpf(1) / (2 * sqrt(curvature)), 2 * pi * theta / 40, 2 * pi / (3 * max(SPANS, default=mpf(0)) + 20 * sqrt(curvature)))
    # lattice laws come back periodically in t: only the Gaussian part ends that
    gauss = [t / mpf(p[1]) ** 2 for p, t in parts if p[0] == "gaussian"]
    least = 14 / sqrt(sum(gauss)) if gauss else mpf(0)
    first = integrand(mpf(0))
    total = first / 2
    k, quiet = 1, 0
    while (quiet < 12 or k * h < least) and k < 60000:
        v = integrand(k * h)
        total += v
        quiet = quiet + 1 if abs(v) < abs(first) * mpf("1e-17") else 0
        k += 1
    assert quiet >= 12, (parts, eps, k)
    return total * h / pi


def both(parts, eps):
    """largest delta over the directions of Poisson samples"""
    sides = [[((d,) + p[1:] if p[0] == "poisson" else p, t) for p, t in parts] for d in ("leave", "enter")]
    if sides[0] == sides[1]:
        sides = sides[:1]
    return max(delta_of(side, eps) for side in sides)


def number(x):
    return float(mp.nstr(x, 17))


def near_epsilon(q, nm, times, delta):
    """an epsilon near which delta is asked for, by the central limit theorem; any number would do"""
    import math
    mu = 1 / nm
    cdf = lambda x: math.erfc(-x / math.sqrt(2)) / 2
    total = math.sqrt(2 * times) * q * math.sqrt(math.exp(mu * mu) * cdf(1.5 * mu) + 3 * cdf(-0.5 * mu) - 2)
    lo, hi = 0.0, 100.0
    for _ in range(60):
        mid = (lo + hi) / 2
        if cdf(total / 2 - mid / total) - math.exp(mid) * cdf(-total / 2 - mid / total) > delta:
            lo = mid
        else:
            hi = mid
    return float("%.3g" % hi)


out = {"renyi_poisson": [], "gaussian": [], "composition": [], "many_samples": []}
for q, nm, alpha in [(1e-6, 1, 1.5), (1e-6, 1, 8), (1e-6, 0.5, 2.25), (0.001, 0.7, 1.01), (0.01, 1, 4.43), (0.3, 0.4, 3.7),
                     (0.9, 2, 33.3), (0.02, 1.5, 7.3), (0.1, 10, 250.5), (0.999, 1, 1.2)]:
    out["renyi_poisson"].append({"q": q, "noise_multiplier": nm, "alpha": alpha, "value": number(renyi_poisson(q, nm, alpha))})
for nm, eps in [(1, 10), (1, 30), (0.01, 5000), (100, 1e-6), (1000, 0.01), (5, 0), (0.1, 200)]:
    out["gaussian"].append({"noise_multiplier": nm, "epsilon": eps, "delta": number(gaussian_delta(1 / mpf(nm), mpf(eps)))})
CASES = [
    ([(("poisson", 0.01, 1), 10000)], 6.907), ([(("poisson", 0.01, 1), 10000)], 10.3), ([(("poisson", 0.001, 1), 1000000)], 8.6),
    ([(("poisson", 0.001, 1), 1000000)], 0.5), ([(("poisson", 1e-6, 1), 1000000)], 0.0036), ([(("poisson", 0.1, 1), 1000)], 30),
    ([(("sample", 0.05, 1), 400)], 8.799), ([(("sample", 0.01, 1), 1000)], 4),
    ([(("poisson", 0.01, 1), 500), (("gaussian", 5), 3)], 2.5),
    ([(("poisson", 0.02, 0.8), 300), (("poisson", 0.001, 0.6), 1000), (("gaussian", 8), 5), (("pure", 0.1), 10)], 4.5),
    ([(("sample", 0.01, 2), 1000), (("gaussian", 4), 1), (("laplace", 5), 20)], 3),
    ([(("discrete_gaussian", 2, 1), 50), (("gaussian", 10), 1)], 18),
    ([(("pure", 0.1), 300), (("laplace", 4), 10), (("gaussian", 3), 1)], 8),
]
for parts, eps in CASES:
    out["composition"].append({"parts": [{"kind": p[0], "parameters": list(p[1:]), "times": t} for p, t in parts],
                               "epsilon": eps, "delta": number(both(parts, eps))})
# many small steps without replacement, where a planning law whose mass isn't 1 shows
for q, nm in [(0.001, 100), (0.001, 30), (0.001, 200), (0.01, 100), (0.01, 200), (0.0001, 30), (0.1, 300), (0.02, 2000)]:
    for times, delta in [(3000, 1e-5), (10000, 1e-6), (30000, 1e-4), (100000, 1e-8), (300000, 1e-6), (1000000, 1e-6), (2000000, 1e-8)]:
        eps = near_epsilon(q, nm, times, delta)
        out["many_samples"].append({"q": q, "noise_multiplier": nm, "times": times, "epsilon": eps,
                                    "delta": number(delta_of([(("sample", q, nm), times)], eps))})
print(json.dumps(out, indent=1))
