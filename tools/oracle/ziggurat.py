#!/usr/bin/env python3
"""Writes src/base/rng_ziggurat.h: edges and heights of 256 layers of equal area under exp(-x^2/2), in 60 digits, rounded to
doubles once (Marsaglia and Tsang 2000, doi:10.18637/jss.v005.i08). Needs mpmath."""
from pathlib import Path

from mpmath import erfc, exp, findroot, log, mp, mpf, pi, sqrt

mp.dps = 60
LAYERS = 256


def density(x):
    return exp(-x * x / 2)


def edges(r):
    area = r * density(r) + sqrt(pi / 2) * erfc(r / sqrt(2))
    x = [area / density(r), r]
    for _ in range(2, LAYERS):
        height = density(x[-1]) + area / x[-1]
        x.append(sqrt(-2 * log(height)) if height < 1 else mpf(0))
    return x, area


def gap(r):
    x, area = edges(r)
    return density(x[-1]) + area / x[-1] - 1


r = findroot(gap, (mpf("3.65415288"), mpf("3.6541529")), solver="anderson", tol=mpf(10) ** -50)
x, _ = edges(r)
x.append(mpf(0))
heights = [density(v) for v in x]
heights[0] = mpf(0)  # not read: the lowest layer has the tail


def rows(values):
    words = [float(v).hex() for v in values]
    return ",\n".join("    " + ", ".join(words[i : i + 5]) for i in range(0, len(words), 5))


out = Path(__file__).resolve().parents[2] / "src" / "base" / "rng_ziggurat.h"
out.write_text(
    "/* Made by tools/oracle/ziggurat.py: 256 layers of equal area under exp(-x^2/2). */\n"
    f"static const double ziggurat_tail = {float(r).hex()};\n"
    f"static const double ziggurat_edge[{LAYERS + 1}] = {{\n{rows(x)}}};\n"
    f"static const double ziggurat_height[{LAYERS + 1}] = {{\n{rows(heights)}}};\n"
)
