"""Kulkarni and Soto (2025), Table 1, row "IBM DP": Diffprivlib's linear regression of four z-scores of the first 100 red wines on
alcohol at epsilon = 2, many draws where the paper has one. Needs Python with diffprivlib (0.6.6 was used), which needs scikit-learn.

    Rscript -e 'write.csv(riemdp::red_wine, "wine.csv", row.names = FALSE)'
    python3 paper-004-diffprivlib.py wine.csv [file.csv] [draws]
"""

import csv
import sys
import warnings

import diffprivlib
import numpy as np
from diffprivlib.models import LinearRegression

warnings.simplefilter("ignore")  # without bounds it warns that it takes them from the data
rows = list(csv.DictReader(open(sys.argv[1])))[:100]
draws = int(sys.argv[3]) if len(sys.argv) > 3 else 3000


def scores(name):
    v = np.array([float(r[name]) for r in rows])
    return (v - v.mean()) / v.std()


x = scores("alcohol")[:, None]
y = np.column_stack([scores(n) for n in ("fixed_acidity", "density", "pH", "residual_sugar")])
settings = {"bounds taken from the records": {}, "all within 3 standard deviations": {"bounds_X": (-3, 3), "bounds_y": (-3 * np.ones(4), 3 * np.ones(4))}}
lines = []
for name, bounds in settings.items():
    error = np.array([((LinearRegression(epsilon=2, random_state=i, **bounds).fit(x, y).predict(x) - y) ** 2).mean() for i in range(draws)])
    told = [("mean", error.mean(), error.std(ddof=1) / draws**0.5)] + [(f"{100 * q:g} % quantile", np.quantile(error, q), "NA") for q in (0.05, 0.25, 0.5, 0.75, 0.95)]
    for what, value, se in told:
        lines.append(["mean squared error, Diffprivlib: " + what, name, "paper", f"{value:.6g}", se if se == "NA" else f"{se:.6g}",
                      *(("7.856", "Table 1") if what == "mean" and not bounds else ("NA", "")), f"diffprivlib {diffprivlib.__version__}, {draws} draws"])
out = open(sys.argv[2], "w", newline="") if len(sys.argv) > 2 else sys.stdout
writer = csv.writer(out)
writer.writerow(["quantity", "setting", "calibration", "value", "se", "paper", "source", "note"])
writer.writerows(lines)
