"""Answers the bench's requests (worker.py) with geomstats. CPU time is taken around the call alone."""

import logging
import os
import sys
import time

import numpy as np

logging.disable(logging.CRITICAL)

import geomstats  # noqa: E402
from geomstats.geometry.grassmannian import Grassmannian  # noqa: E402
from geomstats.geometry.hyperboloid import Hyperboloid  # noqa: E402
from geomstats.geometry.hypersphere import Hypersphere  # noqa: E402
from geomstats.geometry.pre_shape import PreShapeSpace  # noqa: E402
from geomstats.geometry.spd_matrices import SPDAffineMetric, SPDBuresWassersteinMetric, SPDMatrices  # noqa: E402
from geomstats.geometry.stiefel import Stiefel  # noqa: E402
from geomstats.learning.frechet_mean import FrechetMean  # noqa: E402

from worker import serve  # noqa: E402

directory = sys.argv[1]
arrays = {}


def frechet_mean(space, method, epsilon, max_iter):
    """Its estimator; until 2.8.0 settings had a method of their own."""
    settings = {"epsilon": epsilon, "max_iter": max_iter}
    try:
        return FrechetMean(space, method=method, optimizer_kwargs=settings)
    except TypeError:
        return FrechetMean(space, method=method).set(**settings)


def load(name, shape):
    """Array written by R; R's last index runs slowest, as numpy's first does."""
    if name not in arrays:
        arrays[name] = np.fromfile(os.path.join(directory, name), dtype=np.float64).reshape(shape)
    return arrays[name]


def space_of(kind, a, b):
    if kind in ("spd_affine", "spd_bures"):
        space = SPDMatrices(a, equip=False)
        space.equip_with_metric(SPDAffineMetric if kind == "spd_affine" else SPDBuresWassersteinMetric)
        return space
    if kind == "sphere":
        return Hypersphere(a - 1)
    if kind == "hyperboloid":  # a is the ball's number of coordinates
        return Hyperboloid(a)
    if kind == "grassmann":
        return Grassmannian(a, b)
    if kind == "stiefel":
        return Stiefel(a, b)
    if kind == "kendall":
        space = PreShapeSpace(a, 2)
        space.equip_with_group_action("rotations")
        space.equip_with_quotient()
        return space
    raise ValueError(kind)


def prepare(request):
    kind, a, b = request["kind"], int(request["a"]), int(request["b"])
    names = request["files"].split(",")
    if kind.startswith("spd"):
        shape = (-1, a, a)
    elif kind == "sphere":
        shape = (-1, a)
    elif kind == "hyperboloid":
        shape = (-1, a + 1)
    elif kind == "kendall":
        shape = (-1, a, 2)
    elif kind == "grassmann":
        shape = (-1, a, a)
    else:
        shape = (-1, b, a)
    data = [load(name, shape) for name in names]
    if kind == "stiefel":
        data = [np.ascontiguousarray(np.swapaxes(x, 1, 2)) for x in data]
    return space_of(kind, a, b), data


def call_of(request):
    space, data = prepare(request)
    work = request["work"]
    if work == "mean":
        epsilon, max_iter = float(request["epsilon"]), int(request["max_iter"])
        method = request["method"]

        def mean():
            x = data[0]
            target = space
            if request["kind"] == "kendall":
                x = space.projection(x)  # raw landmarks: centred and scaled, as riemdp does inside
                target = space.quotient
            return frechet_mean(target, method, epsilon, max_iter).fit(x).estimate_

        return mean
    metric = space.metric
    if work == "pairs":
        x = data[0]
        return lambda: np.concatenate([metric.dist(x[i], x[i + 1 :]) for i in range(len(x) - 1)])
    if work == "log":
        return lambda: metric.log(data[1], data[0])
    if work == "exp":
        return lambda: metric.exp(data[1], data[0])
    if work == "dist":
        return lambda: metric.dist(data[0], data[1])
    if work == "transport":
        return lambda: metric.parallel_transport(data[2], data[0], end_point=data[1])
    raise ValueError(work)


calls = {}


def answer(request):
    key = tuple(sorted((k, v) for k, v in request.items() if k not in ("inner", "out")))
    if key not in calls:
        calls.clear()
        calls[key] = call_of(request)
    call = calls[key]
    start = time.process_time()
    for _ in range(int(request["inner"])):
        out = call()
    seconds = time.process_time() - start
    np.ascontiguousarray(np.real(out), dtype=np.float64).tofile(os.path.join(directory, request["out"]))
    return f"{seconds:.9f}"


def forget():
    arrays.clear()
    calls.clear()


serve(directory, geomstats.__version__, answer, forget)
