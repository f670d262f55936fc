#!/usr/bin/env python3
"""Reference values for the geometry of riemdp's manifolds, to some 60 digits.

Run from the top of the source tree (about five minutes, no network, only mpmath >= 1.2 is needed):

    python3 tools/oracle/geometry.py tests/testthat/reference/geometry.json

Without an argument the cases are computed and checked but not written. The output is a function of this
file alone: fixed seed, no library random numbers, no floating-point library functions.
Date 2026-11-21. Own code, written from the definitions below and not from the package's C.

Layout of the JSON: an array of cases, one a line. Fields of a case:

  id         unique name, e.g. "sphere-d10-near-2"
  manifold   sphere, hyperboloid, ball, spd_affine, spd_bures, spd_logeuclidean, grassmann, kendall,
             stiefel_euclidean, stiefel_canonical
  params     {"d": dimension} (sphere: R^{d+1}; hyperboloid: R^{d+1}, time coordinate first; ball: R^d),
             {"k": size} (spd, kendall landmarks) or {"n": rows, "p": columns} (grassmann, stiefel)
  case       near (1e-9, 1e-6), moderate (about .5 to 1.5; Stiefel to 1.8), far, ill (badly conditioned),
             edge (hyperbolic space: 17 to 32 from the apex or centre), graded (Bures-Wasserstein: eigenvalues of very different size), transport (v and transport given)
  p, q       points as stored doubles: matrices by columns, complex vectors as re, im, re, im, ...
  dist       string, 25 digits
  log        log_p(q) in ambient coordinates, nearest doubles (grassmann, kendall: the horizontal vector at p)
  v          stored tangent vector at p
  transport  its parallel transport to q along the minimal geodesic (grassmann, kendall: for the stored
             representative q)
  sens       yardstick for tolerances: largest relative change of dist in a few trials that change every
             stored number of p and q by a relative 2^-53 of random sign (SPD stays symmetric)
  note       where something needs to be said

The stored doubles are exact inputs. A stored point that rounding has moved off its manifold stands for:
sphere x/|x|; hyperboloid the point with its d space coordinates; Kendall the centred and normalised vector; Stiefel and Grassmann
the polar factor x(x'x)^{-1/2}. Ball and SPD points are what they are. A stored v stands for its projection
to the tangent (horizontal) space there, on the hyperboloid for the tangent vector with its space part.

Metrics. sphere, hyperboloid, Kendall, Grassmann: from the ambient product, angles as they come (Grassmann
|U|_F, Kendall in [0, pi/2]); ball 4|dx|^2/(1-|x|^2)^2; spd_affine tr(W^-1 U W^-1 V); spd_bures
(1/2) tr(L_W[U] V) with W L + L W = U; spd_logeuclidean <Dlog U, Dlog V>_F; Stiefel euclidean tr(U'V),
canonical tr(U'(I - WW'/2)V).

How the values are got, and what is checked (CHECK = 1e-40, relative):
  * dist from definitions that need no care at this precision; log by formulas or, on Stiefel, by Newton's
    method on the exponential map. |log| = dist and exp(log) = q are checked. Stiefel distances are at most
    1.8, below the injectivity radius of either metric (pi, and at least 2.8), so the log is minimal.
  * transport by Taylor series (order about 40) for the geodesic and parallel transport equations themselves:
    sphere, hyperboloid, ball, spd_affine, grassmann, kendall (horizontal lifts), Stiefel (both metrics) and
    Bures-Wasserstein. Checked: the integrated geodesic ends in q, transport keeps <v, v> and <v, log>, and
    the velocity at q is -log_q(p). Canonical Stiefel again by the exponential of a linear map.
    Log-Euclidean by derivatives of the matrix exponential (flat space).
"""

import json
import sys

from mpmath import mp, mpf, mpc

mp.dps = 80
CHECK = mpf(10) ** -40


# ---- random numbers: a 64-bit generator of our own, so that no library's version matters ----------------------

class Random:
    def __init__(self, seed):
        self.s = seed & (2**64 - 1)

    def bits(self):  # splitmix64
        self.s = (self.s + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.s
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def unif(self):
        return (mpf(self.bits() >> 11) + mpf(1) / 2) / 2**53

    def norm(self):
        return mp.sqrt(-2 * mp.log(self.unif())) * mp.cos(2 * mp.pi * self.unif())

    def sign(self):
        return 1 if self.bits() >> 63 else -1

    def normals(self, n, m=1):
        return [[self.norm() for _ in range(m)] for _ in range(n)]


def name_seed(name):
    s = 20261121
    for c in name.encode():
        s = (s * 1099511628211 + c) & (2**64 - 1)
    return s


# ---- matrices as lists of rows; vectors are matrices with one column ------------------------------------------

def tr(a):
    return [list(c) for c in zip(*a)]


def mm(a, b, *more):
    cols = list(zip(*b))
    r = [[mp.fdot(x, y) for y in cols] for x in a]
    return mm(r, *more) if more else r


def add(a, b, s=1):
    return [[x + s * y for x, y in zip(r, t)] for r, t in zip(a, b)]


def sub(a, b):
    return add(a, b, -1)


def mul(a, s):
    return [[x * s for x in r] for r in a]


def eye(n):
    return [[mpf(i == j) for j in range(n)] for i in range(n)]


def diag(d):
    return [[d[i] if i == j else mpf(0) for j in range(len(d))] for i in range(len(d))]


def sym(a):
    return mul(add(a, tr(a)), mpf(1) / 2)


def conj(a):
    return [[mp.conj(x) for x in r] for r in a]


def inner(a, b):  # real part of tr(a* b)
    return mp.re(mp.fsum(mp.fdot([mp.conj(x) for x in r], t) for r, t in zip(a, b)))


def norm(a):
    return mp.sqrt(inner(a, a))


def trace(a):
    return mp.fsum(a[i][i] for i in range(len(a)))


def eig(a):  # of a symmetric matrix
    e, v = mp.eigsy(mp.matrix(sym(a)))
    return list(e), v.tolist()


def fun(a, f):
    e, v = eig(a)
    return mm([[x * f(l) for x, l in zip(r, e)] for r in v], tr(v))


def solve(a, b):
    return mp.lu_solve(mp.matrix(a), mp.matrix(b)).tolist()


def inv(a):
    return (mp.matrix(a) ** -1).tolist()


def expm(a):
    size = max(mp.fsum(abs(x) for x in r) for r in a)
    s = 0
    while size > mpf(1) / 8:
        size /= 2
        s += 1
    with mp.extradps(10 + s):
        a = mul(a, mpf(1) / 2**s)
        r = t = eye(len(a))
        n = 0
        while norm(t) > mpf(10) ** -(mp.dps + 2):
            n += 1
            t = mul(mm(t, a), mpf(1) / n)
            r = add(r, t)
        for _ in range(s):
            r = mm(r, r)
    return mul(r, 1)


def orth(a, basis=()):
    """Orthonormal columns by Gram-Schmidt, orthogonal to the columns in basis as well."""
    done = [list(c) for c in basis]
    out = []
    for c in tr(a):
        for _ in range(2):
            for d in done:
                s = mp.fdot(d, c)
                c = [x - s * y for x, y in zip(c, d)]
        n = mp.sqrt(mp.fdot(c, c))
        c = [x / n for x in c]
        done.append(c)
        out.append(c)
    return tr(out)


def polar(a):
    return mm(a, fun(mm(tr(a), a), lambda l: 1 / mp.sqrt(l)))


def complement(w):
    """Orthonormal columns that complete w."""
    n, p = len(w), len(w[0])
    cols = list(zip(*w))
    rest = [[mpf(i == j) for i in range(n)] for j in range(n)]
    out = []
    for c in sorted(range(n), key=lambda j: sum(x * x for x in w[j])):
        if len(out) < n - p:
            out.append([r[0] for r in orth([[x] for x in rest[c]], list(cols) + out)])
    return tr(out)


def lyapunov(w, u):
    """L with w L + L w = u."""
    e, v = eig(w) if not isinstance(w, tuple) else w
    m = mm(tr(v), u, v)
    return mm(v, [[m[i][j] / (e[i] + e[j]) for j in range(len(e))] for i in range(len(e))], tr(v))


def sinc(x):
    return mp.sin(x) / x if x else mpf(1)


def sinhc(x):
    return mp.sinh(x) / x if x else mpf(1)


# ---- Taylor series of ordinary differential equations ---------------------------------------------------------

def cv(a, b, n):
    """Coefficient n of the product of the matrix series a and b."""
    rows = [[x for i in range(n + 1) for x in a[i][r]] for r in range(len(a[0]))]
    cols = [[b[n - i][k][c] for i in range(n + 1) for k in range(len(b[0]))] for c in range(len(b[0][0]))]
    return [[mp.fdot(r, c) for c in cols] for r in rows]


def flow(state, rhs, steps, order=40):
    """Solve y' = f(y) over [0, 1]; rhs(y, aux, n) gives coefficient n of f from those of y up to n."""
    h = mpf(1) / steps
    for _ in range(steps):
        y = [[m] for m in state]
        aux = {}
        for n in range(order):
            f = rhs(y, aux, n)
            for s, g in zip(y, f):
                s.append(mul(g, mpf(1) / (n + 1)))
        state = []
        for s in y:
            r = s[-1]
            for c in reversed(s[:-1]):
                r = add(mul(r, h), c)
            state.append(r)
    return state


def series(aux, name, value):
    s = aux.setdefault(name, [])
    s.append(value)
    return s


# ---- the manifolds --------------------------------------------------------------------------------------------

class Manifold:
    complex = False
    symmetric = False       # points are symmetric matrices
    steps = 16

    def hat(self, x):
        return x

    def given(self, p, v):  # what a stored v stands for
        return self.tangent(p, v)

    def tangent(self, p, v):
        return v

    def represent(self, q, rng):    # another representative of the same point
        return q

    def transport(self, p, q, u, v):
        x, w, v = flow([p, u, v], self.rhs, self.steps)
        return x, w, v

    def norm(self, p, u):
        return mp.sqrt(self.g(p, u, u))

    def unit(self, p, rng):
        u = self.tangent(p, self.noise(rng))
        return mul(u, 1 / self.norm(p, u))

    def noise(self, rng):
        return rng.normals(*self.shape)


class Sphere(Manifold):
    name, s = "sphere", 1

    def __init__(self, d):
        self.params, self.d, self.shape = {"d": d}, d, (d + 1, 1)

    def low(self, x):
        return x

    def ip(self, x, y):
        return mp.fdot([a[0] for a in self.low(x)], [a[0] for a in y])

    def g(self, p, u, v):
        return self.ip(u, v)

    def hat(self, x):
        return mul(x, 1 / mp.sqrt(self.s * self.ip(x, x)))

    def tangent(self, p, v):
        return add(v, p, -self.s * self.ip(p, v))

    def point(self, rng):
        return self.hat(self.noise(rng))

    def dist(self, p, q):
        c = self.ip(p, q)
        return mp.atan2(norm(add(q, p, -c)), c)

    def exp(self, p, u):
        d = self.norm(p, u)
        return add(mul(p, mp.cos(d)), u, sinc(d))

    def log(self, p, q):
        u = self.tangent(p, q)
        return mul(u, self.dist(p, q) / self.norm(p, u))

    def rhs(self, y, aux, n):
        # x'' = -s <x', x'> x, v' = -s <x', v> x
        x, w, v = y
        lw = series(aux, "lw", tr(self.low(w[n])))
        ww = series(aux, "ww", cv(lw, w, n))
        wv = series(aux, "wv", cv(lw, v, n))
        return w[n], mul(cv(x, ww, n), -self.s), mul(cv(x, wv, n), -self.s)


class Hyperboloid(Sphere):
    name, s = "hyperboloid", -1

    def low(self, x):
        return [[-x[0][0]]] + x[1:]

    def lift(self, y):
        return [[mp.sqrt(1 + inner(y, y))]] + y

    def hat(self, x):
        return self.lift(x[1:])

    def given(self, p, v):
        return [[inner(p[1:], v[1:]) / p[0][0]]] + v[1:]

    def at(self, rng, r):
        y = rng.normals(self.d)
        return self.lift(mul(y, mp.sinh(r) / norm(y)))

    def dist(self, p, q):
        return mp.acosh(-self.ip(p, q))

    def exp(self, p, u):
        d = self.norm(p, u)
        return add(mul(p, mp.cosh(d)), u, sinhc(d))


class Ball(Manifold):
    name, steps = "ball", 24

    def __init__(self, d):
        self.params, self.d, self.shape = {"d": d}, d, (d, 1)
        self.hyp = Hyperboloid(d)

    def at(self, rng, r):
        y = self.noise(rng)
        return mul(y, r / norm(y))

    def lam(self, p):
        return 2 / (1 - inner(p, p))

    def g(self, p, u, v):
        return self.lam(p) ** 2 * inner(u, v)

    def dist(self, p, q):
        z = sub(p, q)
        return mp.acosh(1 + 2 * inner(z, z) / ((1 - inner(p, p)) * (1 - inner(q, q))))

    # the stereographic isometry with the hyperboloid, and its derivative and inverse
    def up(self, p):
        return [[self.lam(p) - 1]] + mul(p, self.lam(p))

    def dup(self, p, u):
        lam = self.lam(p)
        dlam = lam**2 * inner(p, u)
        return [[dlam]] + add(mul(u, lam), p, dlam)

    def down(self, x):
        return mul(x[1:], 1 / (1 + x[0][0]))

    def ddown(self, x, u):
        return add(mul(u[1:], 1 / (1 + x[0][0])), x[1:], -u[0][0] / (1 + x[0][0]) ** 2)

    def exp(self, p, u):
        return self.down(self.hyp.exp(self.up(p), self.dup(p, u)))

    def log(self, p, q):
        return self.ddown(self.up(p), self.hyp.log(self.up(p), self.up(q)))

    def rhs(self, y, aux, n):
        # Levi-Civita of lam^2 |dx|^2 with grad log lam = lam x; lam' = lam^2 <x, x'>
        x, w, v, lam = y
        xt = series(aux, "xt", tr(x[n]))
        wt = series(aux, "wt", tr(w[n]))
        xw = series(aux, "xw", cv(xt, w, n))
        xv = series(aux, "xv", cv(xt, v, n))
        ww = series(aux, "ww", cv(wt, w, n))
        wv = series(aux, "wv", cv(wt, v, n))
        a = series(aux, "a", sub(mul(cv(w, xw, n), 2), cv(x, ww, n)))
        b = series(aux, "b", sub(add(cv(v, xw, n), cv(w, xv, n)), cv(x, wv, n)))
        lxw = series(aux, "lxw", cv(lam, xw, n))
        return w[n], mul(cv(a, lam, n), -1), mul(cv(b, lam, n), -1), cv(lam, lxw, n)

    def transport(self, p, q, u, v):
        x, w, v, lam = flow([p, u, v, [[self.lam(p)]]], self.rhs, self.steps)
        return x, w, v


class Spd(Manifold):
    symmetric = True

    def __init__(self, k):
        self.params, self.k, self.shape = {"k": k}, k, (k, k)

    def noise(self, rng):
        return sym(rng.normals(self.k, self.k))

    def frame(self, rng):
        return orth(rng.normals(self.k, self.k))

    def make(self, frame, values):
        return mm([[x * l for x, l in zip(r, values)] for r in frame], tr(frame))

    def point(self, rng):
        return self.make(self.frame(rng), [mp.exp(mpf(7) / 10 * rng.norm()) for _ in range(self.k)])


class Affine(Spd):
    name, steps = "spd_affine", 10

    def g(self, p, u, v):
        i = inv(p)
        return trace(mm(i, u, i, v))

    def roots(self, p):
        e, v = eig(p)
        r = [mp.sqrt(l) for l in e]
        return self.make(v, r), self.make(v, [1 / x for x in r])

    def dist(self, p, q):
        c = inv_chol(p)
        return mp.sqrt(mp.fsum(mp.log(l) ** 2 for l in eig(mm(c, q, tr(c)))[0]))

    def exp(self, p, u):
        r, i = self.roots(p)
        return mm(r, fun(mm(i, u, i), mp.exp), r)

    def log(self, p, q):
        r, i = self.roots(p)
        return mm(r, fun(mm(i, q, i), mp.log), r)

    def rhs(self, y, aux, n):
        # X'' = X' Z X', V' = (X' Z V + V Z X')/2 with Z = X^{-1}, Z' = -Z X' Z
        x, w, v, z = y
        a = series(aux, "a", cv(w, z, n))
        return w[n], cv(a, w, n), sym(cv(a, v, n)), mul(cv(z, a, n), -1)

    def transport(self, p, q, u, v):
        x, w, v, z = flow([p, u, v, inv(p)], self.rhs, self.steps, 36)
        return x, w, v


def inv_chol(p):
    return inv(mp.cholesky(mp.matrix(p)).tolist())


class Bures(Spd):
    name = "spd_bures"

    def g(self, p, u, v):
        return trace(mm(lyapunov(p, u), v)) / 2

    def root(self, p):
        return fun(p, mp.sqrt)

    def dist(self, p, q):
        r = self.root(p)
        return mp.sqrt(trace(p) + trace(q) - 2 * mp.fsum(mp.sqrt(l) for l in eig(mm(r, q, r))[0]))

    def exp(self, p, u):
        t = add(eye(self.k), lyapunov(p, u))
        if eig(t)[0][0] <= 0:
            raise ValueError("outside the domain")
        return mm(t, p, t)

    def log(self, p, q):
        # q = t p t with t symmetric positive definite, u = p (t - 1) + (t - 1) p
        r = self.root(p)
        i = inv(r)
        l = sub(mm(i, self.root(mm(r, q, r)), i), eye(self.k))
        return mul(sym(mm(p, l)), 2)

    def transport(self, p, q, u, v, steps=40, order=40):
        """As the quotient X -> XX' of the flat matrices: with W(t) = (I+tL) p (I+tL) and v = SW + WS, the lift of
        v(t) at X(t) = (I+tL)X0 is SX, and its derivative is vertical where
        S'W + WS' = -(S M + M'S), M = L p (I+tL)."""
        one = eye(self.k)
        l = lyapunov(p, u)
        s = lyapunov(p, v)
        m0 = mm(l, p)
        h = mpf(1) / steps
        for i in range(steps):
            a = add(one, l, i * h)
            w = [mm(a, p, a), mul(sym(mm(l, p, a)), 2), mm(l, p, l)]
            m = [mm(m0, a), mm(m0, l)]
            e = eig(w[0])
            c = [s]
            for n in range(order):
                f = mul(sym(mm(c[n], m[0])), -2)
                if n:
                    f = add(f, sym(mm(c[n - 1], m[1])), -2)
                for j in (1, 2):
                    if n - j >= 0:
                        f = add(f, sym(mm(c[n - j + 1], w[j])), -2 * (n - j + 1))
                c.append(mul(lyapunov(e, f), mpf(1) / (n + 1)))
            s = c[-1]
            for d in reversed(c[:-1]):
                s = add(mul(s, h), d)
        a = add(one, l)
        x = mm(a, p, a)
        return x, mul(sym(mm(l, p, a)), 2), mul(sym(mm(s, x)), 2)


class LogEuclidean(Spd):
    name = "spd_logeuclidean"

    def ln(self, p):
        return fun(p, mp.log)

    def dexp(self, a, e):
        """Derivative of the matrix exponential at a along e, from that of a block matrix."""
        k = self.k
        big = expm([r + t for r, t in zip(a, e)] + [[mpf(0)] * k + r for r in a])
        return [r[k:] for r in big[:k]]

    def dlog(self, p, u):
        """By divided differences of the logarithm: the inverse of dexp at log p."""
        e, v = eig(p)
        m = mm(tr(v), u, v)
        for i in range(self.k):
            for j in range(self.k):
                d = e[i] - e[j]
                m[i][j] *= (mp.log(e[i]) - mp.log(e[j])) / d if d else 1 / e[i]
        return mm(v, m, tr(v))

    def g(self, p, u, v):
        return inner(self.dlog(p, u), self.dlog(p, v))

    def dist(self, p, q):
        return norm(sub(self.ln(q), self.ln(p)))

    def exp(self, p, u):
        return fun(add(self.ln(p), self.dlog(p, u)), mp.exp)

    def log(self, p, q):
        a = self.ln(p)
        return sym(self.dexp(a, sub(self.ln(q), a)))

    def transport(self, p, q, u, v):
        a = add(self.ln(p), self.dlog(p, u))
        x = fun(a, mp.exp)
        return x, self.dexp(a, self.dlog(p, u)), sym(self.dexp(a, self.dlog(p, v)))


class Grassmann(Manifold):
    name = "grassmann"

    def __init__(self, n, p):
        self.params, self.n, self.p, self.shape = {"n": n, "p": p}, n, p, (n, p)

    hat = staticmethod(polar)

    def point(self, rng):
        return orth(self.noise(rng))

    def represent(self, q, rng):
        r = orth(rng.normals(self.p, self.p))
        if mp.det(mp.matrix(r)) < 0:
            r = [[-row[0]] + row[1:] for row in r]
        return mm(q, r)

    def tangent(self, p, v):
        return sub(v, mm(p, tr(p), v))

    def g(self, p, u, v):
        return inner(u, v)

    def angles(self, p, q):
        """tan of the principal angles: q (p'q)^{-1} - p = Q tan(theta) V'."""
        t = self.tangent(p, mm(q, inv(mm(tr(p), q))))
        e, v = eig(mm(tr(t), t))
        return t, [mp.atan(mp.sqrt(max(x, 0))) for x in e], v

    def dist(self, p, q):
        return mp.sqrt(mp.fsum(a * a for a in self.angles(p, q)[1]))

    def log(self, p, q):
        t, a, v = self.angles(p, q)
        return mm(t, v, diag([x / mp.tan(x) if x > mpf(10) ** -35 else mpf(1) for x in a]), tr(v))

    def exp(self, p, u):
        e, v = eig(mm(tr(u), u))
        s = [mp.sqrt(max(x, 0)) for x in e]
        c = mm(v, diag([mp.cos(x) for x in s]), tr(v))
        return add(mm(p, c), mm(u, v, diag([sinc(x) for x in s]), tr(v)))

    def align(self, x, q):
        """The rotation r with x r = q."""
        return mm(tr(x), q)

    def same(self, x, q):
        return norm(sub(mm(x, self.align(x, q)), q))

    def rhs(self, y, aux, n):
        # horizontal lifts: X'' = -X X'^T X', V' = -X X'^T V
        x, w, v = y
        wt = series(aux, "wt", tr(w[n]))
        ww = series(aux, "ww", cv(wt, w, n))
        wv = series(aux, "wv", cv(wt, v, n))
        return w[n], mul(cv(x, ww, n), -1), mul(cv(x, wv, n), -1)

    def transport(self, p, q, u, v):
        x, w, v = flow([p, u, v], self.rhs, self.steps)
        r = self.align(x, q)
        return mm(x, r), mm(w, r), mm(v, r)


class Kendall(Manifold):
    name, complex = "kendall", True

    def __init__(self, k):
        self.params, self.k, self.shape = {"k": k}, k, (k, 1)

    def noise(self, rng):
        return [[mpc(rng.norm(), rng.norm())] for _ in range(self.k)]

    def centre(self, x):
        m = mp.fsum(r[0] for r in x) / self.k
        return [[r[0] - m] for r in x]

    def hat(self, x):
        x = self.centre(x)
        return mul(x, 1 / norm(x))

    def point(self, rng):
        return self.hat(self.noise(rng))

    def represent(self, q, rng):
        return mul(q, mp.expj(2 * mp.pi * rng.unif()))

    def herm(self, x, y):   # x* y
        return mp.fdot([mp.conj(a[0]) for a in x], [a[0] for a in y])

    def tangent(self, p, v):
        v = self.centre(v)
        return add(v, p, -self.herm(p, v))

    def g(self, p, u, v):
        return inner(u, v)

    def dist(self, p, q):
        z = self.herm(p, q)
        return mp.atan2(norm(add(q, p, -z)), abs(z))

    def log(self, p, q):
        z = self.herm(p, q)
        u = self.tangent(p, mul(q, mp.conj(z) / abs(z)))
        return mul(u, self.dist(p, q) / norm(u))

    def exp(self, p, u):
        d = norm(u)
        return add(mul(p, mp.cos(d)), u, sinc(d))

    def align(self, x, q):
        z = self.herm(x, q)
        return z / abs(z)

    def same(self, x, q):
        return norm(sub(mul(x, self.align(x, q)), q))

    def rhs(self, y, aux, n):
        # horizontal lifts: x'' = -(x'* x') x, v' = -(x'* v) x
        x, w, v = y
        wt = series(aux, "wt", conj(tr(w[n])))
        ww = series(aux, "ww", cv(wt, w, n))
        wv = series(aux, "wv", cv(wt, v, n))
        return w[n], mul(cv(x, ww, n), -1), mul(cv(x, wv, n), -1)

    def transport(self, p, q, u, v):
        x, w, v = flow([p, u, v], self.rhs, self.steps)
        r = self.align(x, q)
        return mul(x, r), mul(w, r), mul(v, r)


class Stiefel(Manifold):
    def __init__(self, n, p):
        self.params, self.n, self.p, self.shape = {"n": n, "p": p}, n, p, (n, p)

    hat = staticmethod(polar)

    def point(self, rng):
        return orth(self.noise(rng))

    def tangent(self, p, v):
        return sub(v, mm(p, sym(mm(tr(p), v))))

    def split(self, p, u, c):
        return mm(tr(p), u), mm(tr(c), u)

    def basis(self, p):
        c = complement(p)
        out = []
        for i in range(self.p):
            for j in range(i):
                a = [[mpf((r, s) == (i, j)) - mpf((r, s) == (j, i)) for s in range(self.p)] for r in range(self.p)]
                out.append(mm(p, a))
        for i in range(self.n - self.p):
            for j in range(self.p):
                b = [[mpf((r, s) == (i, j)) for s in range(self.p)] for r in range(self.n - self.p)]
                out.append(mm(c, b))
        return out

    def log(self, p, q, start=None):
        """Newton's method for exp_p(u) = q from a start nearby; its first difference Jacobian is kept."""
        if start is None:
            start = self.start
        basis, seen = self.basis(p), self.basis(q)
        def residual(u):
            r = sub(self.exp(p, u), q)
            return [[inner(b, r)] for b in seen]
        u = self.tangent(p, start)
        h = mpf(10) ** -38
        r = residual(u)
        jac = tr([[(a[0] - b[0]) / h for a, b in zip(residual(add(u, e, h)), r)] for e in basis])
        factor = inv(jac)
        for _ in range(8):
            step = mm(factor, r)
            for s, e in zip(step, basis):
                u = add(u, e, -s[0])
            r = residual(u)
            if norm(step) < mpf(10) ** -68 * norm(u):
                return u
        raise ArithmeticError("Newton's method on Stiefel")

    def dist(self, p, q):
        return self.norm(p, self.log(p, q))


class StiefelEuclidean(Stiefel):
    name = "stiefel_euclidean"

    def g(self, p, u, v):
        return inner(u, v)

    def exp(self, p, u):
        a, s = mm(tr(p), u), mm(tr(u), u)
        one = eye(self.p)
        e = expm([r + [-x for x in t] for r, t in zip(a, s)] + [r + t for r, t in zip(one, a)])
        e = [r[:self.p] for r in e]
        return mm(add(mm(p, e[:self.p]), mm(u, e[self.p:])), expm(mul(a, -1)))

    def rhs(self, y, aux, n):
        # embedded: X'' = -X X'^T X', V' = -X sym(X'^T V)
        x, w, v = y
        wt = series(aux, "wt", tr(w[n]))
        ww = series(aux, "ww", cv(wt, w, n))
        wv = series(aux, "wv", sym(cv(wt, v, n)))
        return w[n], mul(cv(x, ww, n), -1), mul(cv(x, wv, n), -1)


class StiefelCanonical(Stiefel):
    name = "stiefel_canonical"

    def g(self, p, u, v):
        return inner(u, v) - inner(mm(tr(p), u), mm(tr(p), v)) / 2

    def generator(self, p, u, c):
        a, b = self.split(p, u, c)
        z = [[mpf(0)] * (self.n - self.p) for _ in range(self.n - self.p)]
        return [r + [-x for x in t] for r, t in zip(a, tr(b))] + [r + t for r, t in zip(b, z)]

    def exp(self, p, u):
        c = complement(p)
        e = expm(self.generator(p, u, c))
        return mm([r + t for r, t in zip(p, c)], [r[:self.p] for r in e])

    def rhs(self, y, aux, n):
        # X'' = -(X' X'^T X + X X'^T (I - XX^T) X'), polarised for V
        x, w, v = y
        xt = series(aux, "xt", tr(x[n]))
        wt = series(aux, "wt", tr(w[n]))
        a = series(aux, "a", cv(xt, w, n))
        b = series(aux, "b", cv(xt, v, n))
        at = series(aux, "at", tr(a[n]))
        bt = series(aux, "bt", tr(b[n]))
        f = series(aux, "f", sub(cv(wt, w, n), cv(at, a, n)))
        k = series(aux, "k", sym(sub(cv(wt, v, n), cv(at, b, n))))
        acc = mul(add(cv(w, at, n), cv(x, f, n)), -1)
        dv = mul(add(add(cv(w, bt, n), cv(v, at, n)), cv(x, k, n), 2), -mpf(1) / 2)
        return w[n], acc, dv

    def transport(self, p, q, u, v):
        x, w, t = flow([p, u, v], self.rhs, self.steps)
        close(norm(sub(t, self.transport_linear(p, u, v))), norm(t), "canonical transport, second way")
        return x, w, t

    def transport_linear(self, p, u, v):
        """As the quotient of O(n) with metric (1/2) tr: in the frame exp(t W) the lift obeys
        V' = -(1/2) hor [W, V], a linear equation with constant coefficients."""
        c = complement(p)
        w = self.generator(p, u, c)
        n, r = self.n, self.p
        index = [(i, j) for j in range(r) for i in range(j + 1, n)]
        def matrix(z):
            m = [[mpf(0)] * n for _ in range(n)]
            for (i, j), x in zip(index, z):
                m[i][j], m[j][i] = x, -x
            return m
        cols = []
        for k in range(len(index)):
            m = matrix([mpf(i == k) for i in range(len(index))])
            b = sub(mm(w, m), mm(m, w))
            cols.append([-b[i][j] / 2 for i, j in index])
        v0 = self.generator(p, v, c)
        z = mm(expm(tr(cols)), [[v0[i][j]] for i, j in index])
        q0 = [s + t for s, t in zip(p, c)]
        return mm(q0, expm(w), [s[:r] for s in matrix([x[0] for x in z])])


# ---- cases ----------------------------------------------------------------------------------------------------

def close(error, scale, what):
    global worst
    e = error / scale
    worst = max(worst, e)
    if not e < CHECK:
        raise ArithmeticError("%s: %s" % (what, mp.nstr(e, 3)))


def double(x):
    """The nearest double."""
    return float(mp.nstr(x, 60)) + 0.0


def flat(m, x):
    out = []
    for c in tr(x):
        for z in c:
            out += [double(mp.re(z)), double(mp.im(z))] if m.complex else [double(z)]
    return out


def unflat(m, a):
    rows, cols = m.shape
    a = [mpf(x) for x in a]
    if m.complex:
        a = [mpc(x, y) for x, y in zip(a[::2], a[1::2])]
    return [[a[j * rows + i] for j in range(cols)] for i in range(rows)]


def stored(m, x):
    """Round to doubles; what R will see."""
    if m.symmetric:
        x = [[x[min(i, j)][max(i, j)] for j in range(m.k)] for i in range(m.k)]
    return flat(m, x)


def perturb(m, a, rng):
    b = [mpf(x) * (1 + rng.sign() * mpf(2) ** -53) for x in a]
    if m.symmetric:
        b = [b[min(i, j) * m.k + max(i, j)] for i in range(m.k) for j in range(m.k)]
    return m.hat(unflat(m, b))


def ends(m, x, q):
    return m.same(x, q) if hasattr(m, "same") else norm(sub(x, q))


class Book:
    def __init__(self):
        self.cases, self.count = [], {}

    def put(self, m, case, p, q, v=None, note=None, log=True, start=None, trials=4):
        """p, q: nearly exact points; they are rounded to doubles first and everything starts from those."""
        label = "".join("%s%d" % kv for kv in m.params.items())
        key = "%s-%s-%s" % (m.name, label, case)
        self.count[key] = self.count.get(key, 0) + 1
        key = "%s-%d" % (key, self.count[key])
        rec = {"id": key, "manifold": m.name, "params": m.params, "case": case}
        rec["p"], rec["q"] = stored(m, p), stored(m, q)
        p, q = m.hat(unflat(m, rec["p"])), m.hat(unflat(m, rec["q"]))
        if m.symmetric:
            assert eig(p)[0][0] > 0 and eig(q)[0][0] > 0, key
        if m.name == "ball":
            assert inner(p, p) < 1 and inner(q, q) < 1
        m.start = start
        u = m.log(p, q)
        m.start = u
        d = m.norm(p, u) if isinstance(m, Stiefel) else m.dist(p, q)
        close(abs(m.norm(p, u) - d), d, key + " |log|")
        close(ends(m, m.exp(p, u), q), norm(q), key + " exp(log)")
        close(norm(sub(m.tangent(p, u), u)), norm(u), key + " tangency of log")
        rec["dist"] = mp.nstr(d, 25, strip_zeros=False, min_fixed=-3, max_fixed=6)
        rng = Random(name_seed(key + " sens"))
        sens = mpf(0)
        for _ in range(trials):
            sens = max(sens, abs(m.dist(perturb(m, rec["p"], rng), perturb(m, rec["q"], rng)) / d - 1))
        rec["sens"] = float(mp.nstr(sens, 2))
        if log:
            rec["log"] = flat(m, u)
        if v is not None:
            rec["v"] = stored(m, v)
            v = m.given(p, unflat(m, rec["v"]))
            x, w, t = m.transport(p, q, u, v)
            close(norm(sub(x, q)), norm(q), key + " end of the geodesic")
            close(norm(sub(m.tangent(q, t), t)), norm(t), key + " tangency of transport")
            close(abs(m.g(q, t, t) - m.g(p, v, v)), m.g(p, v, v), key + " isometry")
            close(abs(m.g(q, t, w) - m.g(p, v, u)), d * m.norm(p, v), key + " angle with the geodesic")
            m.start = mul(w, -1)
            close(norm(add(m.log(q, p), w)), norm(w), key + " velocity at q")
            if m.name == "spd_bures":
                t2 = m.transport(p, q, u, v, 60)[2]
                close(norm(sub(t, t2)), norm(t), key + " finer steps")
            rec["transport"] = flat(m, t)
        if note:
            rec["note"] = note
        self.cases.append(rec)
        print(key, mp.nstr(d, 17), "sens %.1e" % rec["sens"], flush=True)

    def along(self, m, case, rng, d, p, turn=False, v=False, note=None, **more):
        """q at distance d from p in a random direction, where turn: in another representative."""
        raw = unflat(m, stored(m, p))
        p = m.hat(raw)
        u = mul(m.unit(p, rng), mpf(d))
        q = m.exp(p, u)
        if turn:
            q = m.represent(q, rng)
        if isinstance(m, Stiefel):
            more["start"] = u
        self.put(m, case, raw, q, m.unit(p, rng) if v else None, note, **more)


MODERATE = ("0.5", "1", "1.5")
REPRESENTATIVE = "transport is at the stored representative q"


def spheres(book):
    for d in (2, 10, 50):
        m = Sphere(d)
        rng = Random(name_seed("sphere %d" % d))
        for t in ("1e-9", "1e-9", "1e-6"):
            book.along(m, "near", rng, t, m.point(rng))
        for t in MODERATE:
            book.along(m, "moderate", rng, t, m.point(rng))
        for t in ("2.5", "2.8", "3.1"):
            book.along(m, "far", rng, t, m.point(rng))
        for t in ("1e-6", "1", "2.5"):
            book.along(m, "transport", rng, t, m.point(rng), v=True)


def hyperboloids(book):
    for d in (2, 5, 20):
        m = Hyperboloid(d)
        rng = Random(name_seed("hyperboloid %d" % d))
        for t, r in (("1e-9", 1), ("1e-9", 3), ("1e-6", 2)):
            book.along(m, "near", rng, t, m.at(rng, r))
        for t, r in zip(MODERATE, (1, 2, 3)):
            book.along(m, "moderate", rng, t, m.at(rng, r))
        book.along(m, "far", rng, "5", m.at(rng, 2))
        # distance 10 through the apex: both points 5 away from it
        p = m.at(rng, 5)
        p = m.hat(unflat(m, stored(m, p)))
        apex = [[mpf(i == 0)] for i in range(d + 1)]
        book.put(m, "far", p, m.exp(p, mul(m.log(p, apex), 10 / m.dist(p, apex))))
        book.along(m, "ill", rng, "10", m.at(rng, 3), note="q is far from the apex, where its rounding matters: sens")
        for t, r in (("1e-6", 1), ("1", 2), ("3", "1.5")):
            book.along(m, "transport", rng, t, m.at(rng, mpf(r)), v=True)


def hyperbolic_edges(book):
    """Far out, where terms of e^(2r) would cancel: with more digits."""
    with mp.workdps(150):
        for d in (2, 5, 20):
            m = Hyperboloid(d)
            rng = Random(name_seed("hyperboloid edges %d" % d))
            for r in ("17", "20", "23", "26", "30", "31.5"):
                for t in ("1e-6", "1e-2", "1"):
                    book.along(m, "edge", rng, t, m.at(rng, mpf(r)))
            for r, t in ((20, 20), (30, 32), (32, 5), (1, 31)):
                book.put(m, "edge", m.at(rng, mpf(r)), m.at(rng, mpf(t)))
            for r, t in (("20", "1"), ("30", "0.01"), ("28", "4")):
                book.along(m, "edge", rng, t, m.at(rng, mpf(r)), v=True)
        for d in (2, 5):
            m = Ball(d)
            rng = Random(name_seed("ball edges %d" % d))
            for r in ("1e-9", "1e-12", "1e-13"):
                for t in ("1e-2", "1", "15"):
                    p = m.at(rng, 1 - mpf(r))
                    p = unflat(m, stored(m, p))
                    inwards = add(mul(p, -1 / m.norm(p, p)), m.unit(p, rng), mpf("1e-6") if t == "15" else mpf("0.25"))
                    book.put(m, "edge", p, m.exp(p, mul(inwards, mpf(t) / m.norm(p, inwards))))
                book.put(m, "edge", m.at(rng, 1 - mpf(r)), m.at(rng, 1 - 2 * mpf(r)))


def balls(book):
    for d in (2, 5):
        m = Ball(d)
        rng = Random(name_seed("ball %d" % d))
        for t, r in (("1e-9", "0.4"), ("1e-9", "0.99"), ("1e-6", "0.8")):
            book.along(m, "near", rng, t, m.at(rng, mpf(r)))
        for t, r in zip(MODERATE, ("0.3", "0.6", "0.9")):
            book.along(m, "moderate", rng, t, m.at(rng, mpf(r)))
        book.along(m, "far", rng, "5", m.at(rng, mpf("0.7")))
        p = m.at(rng, mp.tanh(mpf(5) / 2))
        p = unflat(m, stored(m, p))
        book.put(m, "far", p, m.exp(p, mul(p, -10 / m.norm(p, p))))
        edge = "near the boundary"
        for t, r in (("1", "1e-4"), ("1", "1e-8"), ("1e-3", "1e-10"), ("12", "1e-6")):
            book.along(m, "ill", rng, t, m.at(rng, 1 - mpf(r)), note=edge)
        for t, r in (("1e-6", "0.5"), ("1", "0.6"), ("2", "0.9")):
            book.along(m, "transport", rng, t, m.at(rng, mpf(r)), v=True)


def ill_spd(book, m, rng, step):
    """Condition numbers 1e6 and 1e12: the same eigenvectors up to rounding, others, and a short step."""
    k = m.k
    for c in (6, 12):
        low = [mpf(10) ** (-mpf(c) * i / (k - 1)) for i in range(k)]
        frame = m.frame(rng)
        p = m.make(frame, low)
        q = m.make(frame, [l * mp.exp(rng.norm() / 2) for l in low])
        text = "condition about 1e%d: " % c
        book.put(m, "ill", p, q, note=text + "same eigenvectors up to rounding")
        q = m.make(m.frame(rng), [2 * l for l in low])
        book.put(m, "ill", p, q, note=text + "unrelated eigenvectors")
        p = unflat(m, stored(m, p))
        u = mul(m.unit(p, rng), mpf(step))
        q = m.exp(p, u)
        book.put(m, "ill", p, q, note=text + "a geodesic step of %s, then rounded" % step)


def affine(book):
    for k in (2, 3, 11):
        m = Affine(k)
        rng = Random(name_seed("affine %d" % k))
        for t in ("1e-9", "1e-9", "1e-6"):
            book.along(m, "near", rng, t, m.point(rng))
        for t in MODERATE:
            book.along(m, "moderate", rng, t, m.point(rng))
        book.along(m, "far", rng, "5", m.point(rng))
        ill_spd(book, m, rng, "1")
        for t in ("1e-6", "1", "2") if k < 11 else ("1",):
            book.along(m, "transport", rng, t, m.point(rng), v=True)
    m = Affine(30)
    rng = Random(name_seed("affine 30"))
    book.along(m, "near", rng, "1e-9", m.point(rng), trials=2)
    book.along(m, "near", rng, "1e-6", m.point(rng), log=False, trials=2)
    book.along(m, "moderate", rng, "1", m.point(rng), trials=2)
    book.along(m, "far", rng, "5", m.point(rng), log=False, trials=2)


def bures(book):
    for k in (2, 3, 5):
        m = Bures(k)
        rng = Random(name_seed("bures %d" % k))

        def roomy(d):   # a point and a direction in which exp reaches distance d with room to spare
            while True:
                p = unflat(m, stored(m, mul(m.point(rng), 4)))
                u = mul(m.unit(p, rng), mpf(d))
                t = eig(add(eye(k), lyapunov(p, u)))[0]
                if t[0] > mpf(3) / 10:
                    return p, m.exp(p, u)

        for t in ("1e-9", "1e-9", "1e-6"):
            book.along(m, "near", rng, t, m.point(rng))
        for t in MODERATE:
            book.put(m, "moderate", *roomy(t))
        for _ in range(2):
            p = unflat(m, stored(m, m.point(rng)))
            a = rng.normals(k, k)
            u = mul(sym(mm(p, a, tr(a))), 2)
            book.put(m, "far", p, m.exp(p, mul(u, 5 / m.norm(p, u))))
        ill_spd(book, m, rng, "1e-7")
        for t in ("1e-6", "1", "1.5"):
            p, q = roomy(t)
            book.put(m, "transport", p, q, m.unit(p, rng))
        p = diag([mpf(i + 1) / 2 for i in range(k)])
        q = diag([mpf(3 * k - 2 * i) / 4 for i in range(k)])
        book.put(m, "transport", p, q, m.unit(p, rng), note="p and q commute")


def bures_graded(book):
    """Graded spectra, where small entries of the transport map move the solution far: q from p by off-diagonal entries in its
    eigenbasis that come near to making it singular, and by short geodesic steps."""
    for k in (2, 3, 5):
        m = Bures(k)
        rng = Random(name_seed("bures graded %d" % k))
        for c in (4, 6, 8):
            low = [mpf(10) ** (-mpf(c) * i / (k - 1)) for i in range(k)]
            text = "condition 1e%d: " % c
            for t in ("0.5", "0.95"):
                frame, middle = m.frame(rng), diag(low)
                middle[0][-1] = middle[-1][0] = mpf(t) * mp.sqrt(low[0] * low[-1])
                book.put(m, "graded", m.make(frame, low), mm(frame, middle, tr(frame)), note=text + "correlation " + t)
            for d in ("1e-1", "1e-3", "1e-6"):
                p = unflat(m, stored(m, m.make(m.frame(rng), low)))
                a = rng.normals(k, k)
                u = sym(mm(p, a, tr(a)))    # exp of it stays inside
                book.put(m, "graded", p, m.exp(p, mul(u, mpf(d) / m.norm(p, u))), note=text + "a geodesic step of " + d)


def logeuclidean(book):
    for k in (2, 3, 5):
        m = LogEuclidean(k)
        rng = Random(name_seed("logeuclidean %d" % k))
        for t in ("1e-9", "1e-9", "1e-6"):
            book.along(m, "near", rng, t, m.point(rng))
        for t in MODERATE:
            book.along(m, "moderate", rng, t, m.point(rng))
        book.along(m, "far", rng, "5", m.point(rng))
        ill_spd(book, m, rng, "1")
        p = diag([mpf(2), mpf(2)] + [mpf(i + 3) / 4 for i in range(k - 2)])
        book.along(m, "moderate", rng, "1", p, note="p has equal eigenvalues")
        for t in ("1e-6", "1", "2"):
            book.along(m, "transport", rng, t, m.point(rng), v=True)


def grassmann(book):
    for n, p in ((4, 2), (5, 2), (10, 3)):
        m = Grassmann(n, p)
        rng = Random(name_seed("grassmann %d %d" % (n, p)))
        turned = "q is turned by a random rotation"
        book.along(m, "near", rng, "1e-9", m.point(rng))
        book.along(m, "near", rng, "1e-9", m.point(rng), True, note=turned)
        book.along(m, "near", rng, "1e-6", m.point(rng), True, note=turned)
        book.along(m, "moderate", rng, "0.5", m.point(rng))
        for t in ("0.5", "1", "1.4"):
            book.along(m, "moderate", rng, t, m.point(rng), True, note=turned)
        for top in ("1.5", "1.57"):     # one angle near pi/2
            x = m.hat(unflat(m, stored(m, m.point(rng))))
            c = orth(rng.normals(n, p), tr(x))
            a = diag([mpf(top) if i == 0 else mpf(top) * mpf(2) / (i + 3) for i in range(p)])
            u = mm(c, a, tr(orth(rng.normals(p, p))))
            book.put(m, "far", x, m.represent(m.exp(x, u), rng), note=turned + "; largest angle about " + top)
        book.along(m, "transport", rng, "1", m.point(rng), v=True, note=REPRESENTATIVE)
        for t in ("1e-6", "0.7", "1.4"):
            book.along(m, "transport", rng, t, m.point(rng), True, v=True, note=turned + "; " + REPRESENTATIVE)


def kendall(book):
    for k in (4, 10, 50):
        m = Kendall(k)
        rng = Random(name_seed("kendall %d" % k))
        turned = "q is turned by a random phase"
        book.along(m, "near", rng, "1e-9", m.point(rng))
        book.along(m, "near", rng, "1e-9", m.point(rng), True, note=turned)
        book.along(m, "near", rng, "1e-6", m.point(rng), True, note=turned)
        book.along(m, "moderate", rng, "0.5", m.point(rng))
        for t in ("0.5", "1"):
            book.along(m, "moderate", rng, t, m.point(rng), True, note=turned)
        for t in ("1.5", "1.57"):
            book.along(m, "far", rng, t, m.point(rng), True, note=turned)
        book.along(m, "transport", rng, "0.7", m.point(rng), v=True, note=REPRESENTATIVE)
        for t in ("1e-6", "1.3"):
            book.along(m, "transport", rng, t, m.point(rng), True, v=True, note=turned + "; " + REPRESENTATIVE)


def stiefel(book):
    for kind in (StiefelEuclidean, StiefelCanonical):
        for n, p in ((4, 2), (5, 3), (6, 2)):
            m = kind(n, p)
            rng = Random(name_seed("%s %d %d" % (m.name, n, p)))
            for t in ("1e-9", "1e-9", "1e-6"):
                book.along(m, "near", rng, t, m.point(rng))
            for t in ("0.5", "1", "1.8"):
                book.along(m, "moderate", rng, t, m.point(rng))
            for t in ("1e-6", "0.5", "1.2"):
                book.along(m, "transport", rng, t, m.point(rng), v=True)


def number(x):
    return "%.17g" % x


def line(rec):
    parts = []
    for k, v in rec.items():
        if isinstance(v, list):
            t = "[" + ",".join(number(x) for x in v) + "]"
        elif isinstance(v, float):
            t = number(v) if k != "sens" else "%.1e" % v
        else:
            t = json.dumps(v)
        parts.append('"%s":%s' % (k, t))
    return "{" + ",".join(parts) + "}"


worst = mpf(0)


def main():
    book = Book()
    for make in (spheres, hyperboloids, hyperbolic_edges, balls, affine, bures, bures_graded, logeuclidean, grassmann, kendall, stiefel):
        make(book)
    assert len({c["id"] for c in book.cases}) == len(book.cases)
    text = "[\n" + ",\n".join(line(c) for c in book.cases) + "\n]\n"
    for a, b in zip(json.loads(text), book.cases):
        assert all(a[k] == b[k] for k in b if k != "sens"), b["id"]
    print(len(book.cases), "cases,", len(text), "bytes, largest relative error in a check", mp.nstr(worst, 3))
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
