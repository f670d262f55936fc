"""Frechet means of ill-conditioned matrices with 40 digits: tests/testthat/reference/mean.json.

Records are the doubles that the package sees, written exactly. The mean is given as a sum of two doubles (hi, lo), since one double is
farther from it, in the metric, than the error to be measured; `inverse` is that of the mean, rounded.
"""
import json
import random
import sys

import mpmath as mp

mp.mp.dps = 40


def function(a, f):
    values, q = mp.eigsy(a)
    return q * mp.diag([f(e) for e in values]) * q.T


def mean(records):
    m = function(sum((function(y, mp.log) for y in records), mp.zeros(records[0].rows)) / len(records), mp.exp)
    for _ in range(400):
        half, back = function(m, mp.sqrt), function(m, lambda e: 1 / mp.sqrt(e))
        g = mp.zeros(m.rows)
        for y in records:
            z = back * y * back
            g += function((z + z.T) / 2, mp.log) / len(records)
        m = half * function(g * mp.mpf("0.4"), mp.exp) * half
        m = (m + m.T) / 2
        if mp.mnorm(g, "f") < mp.mpf(10) ** -25:
            return m
    raise RuntimeError("no mean")


def rotation(k, draw):
    return mp.qr(mp.matrix([[draw.gauss(0, 1) for _ in range(k)] for _ in range(k)]))[0]


def flat(a):
    return [a[i, j] for j in range(a.cols) for i in range(a.rows)]


cases = []
for seed, k, n, decades, spread, common in [(1, 3, 4, 12, 0.3, True), (2, 3, 5, 10, 0.5, True), (3, 4, 4, 3, 1.0, False), (4, 2, 6, 13, 0.2, True)]:
    draw = random.Random(seed)
    q = rotation(k, draw)
    records = []
    for _ in range(n):
        if not common:
            q = rotation(k, draw)
        values = [mp.mpf(10) ** (decades * (mp.mpf(i) / (k - 1) - 0.5)) * mp.exp(spread * draw.gauss(0, 1)) for i in range(k)]
        a = q * mp.diag(values) * q.T
        records.append(mp.matrix([[mp.mpf(float((a[i, j] + a[j, i]) / 2)) for j in range(k)] for i in range(k)]))
    m = mean(records)
    hi = [float(v) for v in flat(m)]
    cases.append({
        "k": k, "condition": float(mp.mpf(10) ** decades),
        "x": [[float(v) for v in flat(y)] for y in records],
        "hi": hi, "lo": [float(v - mp.mpf(h)) for v, h in zip(flat(m), hi)],
        "inverse": [float(v) for v in flat(mp.inverse(m))],
    })
json.dump(cases, sys.stdout)
