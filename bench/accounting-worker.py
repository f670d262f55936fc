"""Answers the bench's requests (worker.py) with dp_accounting, autodp and prv_accountant, whichever there is: "seconds value".

One request: the epsilon at delta = 1e-6 of 10,000 Poisson samples (q = .01) of Gaussian noise, or the noise for epsilon = 1.
"""

import sys
import time

from worker import serve

Q, T, DELTA = 0.01, 10000, 1e-6
works = {}

try:
    import dp_accounting
    from dp_accounting import pld, rdp
    from dp_accounting.pld import privacy_loss_distribution

    def event(sigma):
        step = dp_accounting.PoissonSampledDpEvent(Q, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, T)

    def dpa_rdp(setting):
        return rdp.RdpAccountant().compose(event(1)).get_epsilon(DELTA)

    def dpa_pld(setting):
        law = privacy_loss_distribution.from_gaussian_mechanism(
            1, sampling_prob=Q, value_discretization_interval=float(setting), use_connect_dots=True
        )
        return law.self_compose(T).get_epsilon_for_delta(DELTA)

    def dpa_calibrate(setting):
        make = rdp.RdpAccountant if setting == "rdp" else pld.PLDAccountant
        bracket = dp_accounting.ExplicitBracketInterval(0.5, 20)
        return dp_accounting.calibrate_dp_mechanism(make, event, 1.0, DELTA, bracket, tol=1e-5)

    works.update({"dp_accounting rdp": dpa_rdp, "dp_accounting pld": dpa_pld, "dp_accounting calibrate": dpa_calibrate})
except ImportError:
    pass

try:
    from autodp import rdp_acct, rdp_bank

    def autodp_rdp(setting):
        accountant = rdp_acct.anaRDPacct()
        accountant.compose_poisson_subsampled_mechanisms(lambda x: rdp_bank.RDP_gaussian({"sigma": 1}, x), Q, coeff=T)
        return accountant.get_eps(DELTA)

    works["autodp rdp"] = autodp_rdp
except ImportError:
    pass

try:
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    def prv(setting):
        step = PoissonSubsampledGaussianMechanism(sampling_probability=Q, noise_multiplier=1.0)
        # what it may add to delta is a thousandth of it
        accountant = PRVAccountant(prvs=step, eps_error=float(setting), delta_error=DELTA / 1000, max_self_compositions=T)
        return accountant.compute_epsilon(delta=DELTA, num_self_compositions=T)[2]

    works["prv_accountant"] = prv
except ImportError:
    pass


def answer(request):
    call = works[request["work"]]
    start = time.process_time()
    for _ in range(int(request["inner"])):
        value = call(request["setting"])
    return f"{time.process_time() - start:.9f} {float(value):.17g}"


serve(sys.argv[1], ", ".join(sorted({name.split()[0] for name in works})), answer)
