"""Distances, a Frechet mean and noise from Python, by ctypes:  python3 mean.py src/core/libriemdpcore.so
An illustration: the mean is not private, and neither is the mean with noise of a scale that was made up."""
import ctypes
import sys

core = ctypes.CDLL(sys.argv[1])
doubles = ctypes.POINTER(ctypes.c_double)
size = ctypes.c_size_t
core.rdp_status.restype = core.rdp_message.restype = ctypes.c_char_p
core.rdp_ambient.restype = core.rdp_dim.restype = size
core.rdp_ambient.argtypes = core.rdp_dim.argtypes = core.rdp_close.argtypes = [ctypes.c_void_p]
core.rdp_close.restype = None
core.rdp_open.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, size, ctypes.POINTER(ctypes.c_int)]
core.rdp_dist.argtypes = [ctypes.c_void_p, size, doubles, size, doubles, doubles]
core.rdp_mean.argtypes = [ctypes.c_void_p, size, doubles, doubles, ctypes.c_double, doubles, doubles]
core.rdp_laplace.argtypes = [ctypes.c_void_p, doubles, ctypes.c_double, size, doubles]


class Manifold:
    def __init__(self, name, *parameters):
        self.handle = ctypes.c_void_p()
        self._must(core.rdp_open(self.handle, name.encode(), len(parameters), (ctypes.c_int * len(parameters))(*parameters)))
        self.ambient = core.rdp_ambient(self.handle)

    def __del__(self):
        core.rdp_close(self.handle)

    @staticmethod
    def _must(status):
        if status:
            raise ValueError(core.rdp_message(status).decode())

    def _in(self, points):
        if any(len(p) != self.ambient for p in points):
            raise ValueError(f"a point has {self.ambient} numbers")
        return (ctypes.c_double * (len(points) * self.ambient))(*(c for p in points for c in p))

    def _out(self, call, count, *arguments):
        out = (ctypes.c_double * count)()
        self._must(call(self.handle, *arguments, out))
        return list(out)

    def dist(self, p, points):
        return self._out(core.rdp_dist, len(points), 1, self._in([p]), len(points), self._in(points))

    def mean(self, points, tol=1e-10):
        out = (ctypes.c_double * self.ambient)()
        self._must(core.rdp_mean(self.handle, len(points), self._in(points), None, tol, out, None))
        return list(out)

    def laplace(self, centre, sigma):
        return self._out(core.rdp_laplace, self.ambient, self._in([centre]), sigma, 1)


spd = Manifold("spd_affine", 2)
x = [[2, 0.5, 0.5, 1], [3, 1, 1, 2], [1, 0.2, 0.2, 4]]
mean = spd.mean(x)
print("distances from the first matrix:", *(f"{d:.6f}" for d in spd.dist(x[0], x)))
print("Frechet mean:", *(f"{mean[j]:.6f}" for j in (0, 1, 3)))
print("a Laplace draw around it:", *(f"{c:.6f}" for c in spd.laplace(mean, 0.1)))
try:
    spd.dist(x[0], [[1, 2, 2, 1]])
except ValueError as refused:
    print("what is no covariance matrix:", refused)
