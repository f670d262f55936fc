"""Kulkarni and Soto (2025), Table 1, row "OPACUS DP": four z-scores of the first 100 red wines on alcohol by Opacus' noisy gradient steps,
epsilon = 2. The paper states no clipping norm, rate, batch, number of epochs or delta: a grid of usual ones, several draws each. Needs Python
with opacus (1.4.0 was used, with torch 1.13) and numpy.

    Rscript -e 'write.csv(riemdp::red_wine, "wine.csv", row.names = FALSE)'
    python3 paper-004-opacus.py wine.csv [file.csv] [draws]
"""

import csv
import itertools
import sys
import warnings

import numpy as np
import opacus
import torch
from opacus.accountants.utils import get_noise_multiplier

warnings.simplefilter("ignore")  # it warns that its generator isn't a cryptographic one
rows = list(csv.DictReader(open(sys.argv[1])))[:100]
draws = int(sys.argv[3]) if len(sys.argv) > 3 else 20


def scores(name):
    v = np.array([float(r[name]) for r in rows])
    return (v - v.mean()) / v.std()


x = torch.tensor(scores("alcohol")[:, None], dtype=torch.float32)
y = torch.tensor(np.column_stack([scores(n) for n in ("fixed_acidity", "density", "pH", "residual_sugar")]), dtype=torch.float32)
data = torch.utils.data.TensorDataset(x, y)


def one(noise, batch, epochs, rate, clip, seed):
    torch.manual_seed(seed)
    model = torch.nn.Linear(1, 4)
    model, optimizer, loader = opacus.PrivacyEngine(accountant="rdp").make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=rate), noise_multiplier=noise, max_grad_norm=clip,
        data_loader=torch.utils.data.DataLoader(data, batch_size=batch))
    for _ in range(epochs):
        for u, v in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(u), v).backward()
            optimizer.step()
    with torch.no_grad():
        return float(torch.nn.functional.mse_loss(model(x), y))


lines = []
for delta, batch, epochs in itertools.product((1e-2, 1e-5), (10, 100), (20, 100)):
    noise = get_noise_multiplier(target_epsilon=2, target_delta=delta, sample_rate=batch / len(rows), epochs=epochs, accountant="rdp")
    for rate, clip in itertools.product((0.01, 0.1), (0.1, 1)):
        error = np.array([one(noise, batch, epochs, rate, clip, i) for i in range(draws)])
        setting = f"delta {delta:g}, batch {batch}, {epochs} epochs, rate {rate:g}, clipping norm {clip:g}"
        lines.append(["mean squared error, Opacus: mean", setting, "paper", f"{error.mean():.6g}", f"{error.std(ddof=1) / draws**0.5:.6g}", 0.982,
                      "Table 1", f"opacus {opacus.__version__}, {draws} draws, noise multiplier {noise:.3g}"])
        print(*lines[-1][1:5], file=sys.stderr)
out = open(sys.argv[2], "w", newline="") if len(sys.argv) > 2 else sys.stdout
writer = csv.writer(out)
writer.writerow(["quantity", "setting", "calibration", "value", "se", "paper", "source", "note"])
writer.writerows(lines)
