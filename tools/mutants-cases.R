# Faults for tools/mutants: one change each that breaks a promise, with the test files that must notice. `before` stands exactly once in its file.

# ---- sensitivities -------------------------------------------------------------------------------------------------------------------------------

mutant("mean-sensitivity-flat-half", "R/sensitivity.R", 'return(structure(outwards(2 * r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    h <-', 'return(structure(outwards(r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    h <-', "the Frechet mean moves by up to 2r/n where curvature is at most 0", "^sensitivity")
mutant("mean-sensitivity-tan-to-r", "R/sensitivity.R", "structure(outwards(2 * tan(rho) / (n * root) * f)", "structure(outwards(2 * rho / (n * root) * f)",
       "2 tan rho, not 2 rho, on positive curvature", "^sensitivity")
mutant("mean-sensitivity-f-low", "R/sensitivity.R", "c <- rho * tan(rho) / (3 * n)", "c <- rho * tan(rho) / (2 * n)", "the factor F of the closed form", "^sensitivity")
mutant("mean-sensitivity-f-series", "R/sensitivity.R", "1 - 2 * c / 3 + 8 * c^2 / 15", "1 - 5 * c / 3 + 8 * c^2 / 15", "F's series at small c is its value",
       "^sensitivity", equivalent = "the series is taken below c = 1e-6, where the change is at most 1e-6 of the value: less than any scale is tested to")
mutant("gradient-sensitivity-flat-half", "R/sensitivity.R", 'return(structure(outwards(2 * r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    return', 'return(structure(outwards(1.9 * r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    return', "the energy's gradient moves by up to 2r/n", "^sensitivity")
mutant("gradient-sensitivity-mirror", "R/sensitivity.R", "* sqrt(1 - lower^2)", "* (1 - lower^2)", "S of mirrored points on the ball's edge", "^sensitivity")
mutant("gradient-sensitivity-slope", "R/sensitivity.R", "- c / (1 - c^2)", "- c / (1 + c^2)", "S is the maximum over mirrored points", "^sensitivity")
mutant("solver-error-once", "R/sensitivity.R", "outwards(2 * tau / h * if (wrapped", "outwards(tau / h * if (wrapped", "the solver's error counts for both neighbours", "^sensitivity|mechanism-(laplace|wrapped)")
mutant("solver-error-no-curvature", "R/sensitivity.R", "h <- if (rho > 0) cot_factor(2 * rho) else 1\n  outwards(2 * tau", "h <- 1\n  outwards(2 * tau", "the solver's error is divided by the least curvature of the energy", "^sensitivity|mechanism-(laplace|wrapped)")
mutant("unproven-mean-promised", "R/mean-steps.R", "isTRUE(plan$solver_error > 0) && !inherits", "isTRUE(plan$solver_error > 1) && !inherits", "no label without a bound of rounding errors", "guarantee")
mutant("frame-way-short", "src/estimate/mean_steps_lifts.c", "for (int i = 1; i <= 2 * c->terms; i++) {", "for (int i = 1; i <= c->terms; i++) {", "logarithms are followed to their end", "mean-steps")
mutant("frame-contraction-unpaid", "R/mean-steps.R", "each <- 2 * turned_frame(1.04 * r, n - p, p) + turned_frame(2.23 * r, n - p, p)", "each <- 2 * turned_frame(1.04 * r, n - p, p)", "errors of a contraction add up", "mean-steps")
mutant("frame-bound-halved", "R/mean-steps.R", "parts * 1.03 * sqrt(p)", "parts * 0.515 * sqrt(p)", "the error of an exponential that acts on a frame", "mean-steps")
mutant("frame-sums-unpaid", "R/mean-steps.R", "(2.1 + (l + 4 * p + 16)", "((l + 4 * p + 16)", "sums and the series' remainder have their errors, however small the ball", "mean-steps")
mutant("frame-transport-unpaid", "R/mean-steps.R", "(1 + 1e-9) + 2 * slip", "(1 + 1e-9)", "errors of parallel transport slow the contraction down", "mean-steps")
mutant("frame-blas-unsaid", "R/mean-steps.R", "max(facts$rows - facts$cols, 2 * facts$cols)", "facts$cols", "products of the BLAS are taken on trust, and said to be", "mean-steps")
mutant("frame-series-short", "src/estimate/mean_steps_lifts.c", "series_degree(y / s.parts, 58)", "series_degree(y / s.parts, 28)", "the series' remainder is below rounding", "mean-steps")
mutant("frame-series-short-far", "src/estimate/mean_steps_lifts.c", "(euclidean(c) ? 3.15 : 2.23) * r", "0.3 * r", "the series of carried points is for all of them", "mean-steps")
mutant("frame-carry-short", "src/estimate/mean_steps_lifts.c", "series_degree(4.74 * r, 40)", "0", "vectors come back by parallel transport", "mean-steps")
mutant("frame-few-steps", "R/mean-steps.R", "near <- min(0.2 * r, 0.07 * (2 - top(2.02 * r)))", "near <- 0.2 * r", "steps on the way stay where the contraction is proven", "mean-steps")
mutant("bures-polar-short", "src/estimate/mean_steps_lifts.c", "i < c->terms; i++) {\n        la_mul_square('T', 'N', k, x, x, g);", "i < c->terms - 6; i++) {\n        la_mul_square('T', 'N', k, x, x, g);", "polar factors are found to rounding", "mean-steps")
mutant("bures-polar-unpaid", "R/mean-steps.R", "error <- error + step / least", "error <- error + step", "an error of a polar factor counts by its smallest singular value", "mean-steps")
mutant("bures-factor-unpaid", "R/mean-steps.R", "gradient <- 2.02 * lift$factor + log", "gradient <- log", "errors of both factors are in the gradient's", "mean-steps")
mutant("bures-way-back-unpaid", "R/mean-steps.R", "t * gradient + u * (lift$size + 3 * r)) + log + 13 * u * r)", "t * gradient + u * (lift$size + 3 * r)))", "the way back to coordinates has its error", "mean-steps")
mutant("bures-two-smallest", "src/geometry/manifold_spd_bures.c", "double two = sqrt(w[0] + w[1]) - radius;", "double two = sqrt(w[0] + w[1]);", "curvature's bound holds on the whole ball", "manifold-spd|sensitivity")
mutant("bures-largest-curvature", "src/geometry/manifold_spd_bures.c", "? 3 / square(two)", "? 2 / square(two)", "the largest curvature of the Bures-Wasserstein metric", "manifold-spd|sensitivity")
mutant("stiefel-curvature", "src/geometry/manifold_stiefel.c", "m->k_max = c == 2 ? 1 : 1.25;", "m->k_max = c == 2 ? 1 : 1;", "the largest curvature of the canonical metric", "manifold-stiefel")
mutant("solver-error-no-wrap", "R/sensitivity.R", "if (wrapped && rho > 0) rho / sin(rho) else 1", "1", "log at the centre stretches the solver's error", "^sensitivity|mechanism-(laplace|wrapped)")
mutant("radius-limit-double", "R/sensitivity.R", "min(facts$injectivity_radius, pi / (2 * sqrt(facts$k_max))) / 2", "min(facts$injectivity_radius, pi / (2 * sqrt(facts$k_max)))", "balls beyond the theorem's are refused", "^sensitivity|dp-mean$")
mutant("radius-limit-flat-double", "R/sensitivity.R", "    facts$injectivity_radius / 2\n", "    facts$injectivity_radius\n", "balls beyond half the injectivity radius are refused on flat tori and circles", "^sensitivity|dp-mean$")
mutant("radius-limit-not-strict", "R/sensitivity.R", "if (!(radius < limit))", "if (!(radius <= limit))", "the limit itself is refused", "^sensitivity|dp-mean$")
mutant("bures-no-centre", "R/sensitivity.R", "    k_max <- bounds[1]\n", "", "Bures-Wasserstein bounds come from the ball", "^sensitivity")

# ---- loops that reject ---------------------------------------------------------------------------------------------------------------------------

mutant("hull-endless", "src/mechanism/sampler_logconcave.c", "trial < RNG_ROUNDS", "trial < 2000000000", "radii end on a stuck generator", "^rng")
mutant("gamma-endless", "src/base/rng.c", "    for (int round = 0; round < RNG_ROUNDS; round++) {\n        double x = rng_normal(rng), v", "    for (;;) {\n        double x = rng_normal(rng), v", "gamma numbers end on a stuck generator", "^rng")
mutant("gamma-mode", "src/base/rng.c", "    rng_stuck(rng);\n    return d;", "    return d;", "nothing is drawn from a stuck generator", "^rng")
mutant("lattice-uniform-endless", "src/mechanism/sampler_lattice.c", "round < RNG_ROUNDS && x >= most", "x >= most", "whole numbers end on a stuck generator", "^rng")
mutant("lattice-series-endless", "src/mechanism/sampler_lattice.c", "        if (++k > RNG_ROUNDS)\n            rng_stuck(bits->rng);", "        k++;", "series end on a stuck generator", "^rng")
mutant("lattice-l2-endless", "src/mechanism/sampler_lattice.c", "trials <= most && undecided < 8", "trials > 0", "the l2 law ends on a stuck generator", "^rng",
       equivalent = "a generator that gives one number for ever is stopped by the draws inside of a trial, and with one that works the bound is met with a probability below 2^-100")
mutant("radial-endless", "src/mechanism/mechanism.h", "RADIAL_TRIALS = 1000000 ", "RADIAL_TRIALS = 2000000000 ", "draws on SPD end", "mechanism-gaussian")
mutant("radial-unchecked", "R/mechanism-laplace.R", "if (!(share >= LEAST_RADIAL)) {", "if (FALSE) {", "laws that are hardly ever kept are refused", "mechanism-gaussian")
mutant("clipped-kng-endless", "src/estimate/objective_perturbation_kng.c", "trial < trials[0] && !found", "!found", "trials by the records' envelope end", "dp-lm")
mutant("clipped-kng-public-endless", "src/estimate/objective_perturbation_kng.c", "trial < trials[1] && !found", "!found", "trials by the public envelope end", "dp-lm")
mutant("clipped-kng-public-low", "src/estimate/objective_perturbation_kng.c", "return log(toss) <= fmax(r - s, 0) - c->rate", "return log(toss) <= fmax(r - 0.7 * s, 0) - c->rate", "the public envelope lies above the law", "dp-lm")
mutant("clipped-kng-public-mass", "src/estimate/objective_perturbation_kng.c", "factor *= (double)(m - i) / s;", "factor *= (double)m / s;", "masses of the public envelope's parts", "dp-lm")
mutant("clipped-kng-last-at-start", "src/estimate/objective_perturbation_kng.c", "on_gauge(o, most * pow(rng_uniform(rng), 1 / (double)m), rng, c->at);", "memcpy(c->at, c->b, m * sizeof *c->at);", "the last resort is public", "dp-lm")
mutant("clipped-kng-unbounded", "R/dp-lm-methods.R", "KNG_WORK <- 1e10", "KNG_WORK <- Inf", "the work of the last trials has a public bound", "dp-lm")
mutant("clipped-kng-few-trials", "R/dp-lm-methods.R", "+ 1 + log(max(1, inside)) - log(least)\n", "+ 1 + log(max(1, inside))\n", "the last resort is rarer than all that the law allows", "dp-lm")
mutant("clipped-kng-least", "R/dp-lm-methods.R", "least <- exp(-pull) * gamma(m)", "least <- exp(-pull / 2) * gamma(m)", "least acceptance of the public envelope", "dp-lm")
mutant("curve-kng-endless", "R/regression-kng.R", "while (block < plan$blocks) {", "while (TRUE) {", "exact draws of curves end", "regression-kng")
mutant("curve-kng-few-blocks", "R/regression-kng.R", "- log_least) * exp(-log_least) / KNG_BLOCK)", ") * exp(-log_least) / KNG_BLOCK)", "the last resort is rarer than all that the law allows", "regression-kng")
mutant("curve-kng-volume", "R/regression-kng.R", "log_least <- -rule$log_trials - diff(kng_volume(M, ask))", "log_least <- -rule$log_trials", "volume takes its share of candidates", "regression-kng")
mutant("chain-few-blocks", "R/regression-kng.R", "ceiling(800 * exp(", "ceiling(8 * exp(", "a chain's uniform moves are found", "regression-kng")

# ---- mechanisms for means ------------------------------------------------------------------------------------------------------------------------

mutant("pure-scale-low", "R/mechanism.R", "list(scale = outwards(loss * total / ask$epsilon)", "list(scale = 0.97 * outwards(loss * total / ask$epsilon)", "scale = loss total/epsilon", "^mechanism|^dp-mean$")
mutant("pure-scale-no-solver", "R/mechanism.R", "total = as.numeric(sensitivity) + extra, numbers", "total = as.numeric(sensitivity), numbers", "the solver's error is paid for", "mean-steps")
mutant("sigma-epsilon-half", "R/mechanism.R", "list(scale = ask$sigma, epsilon = outwards(loss * total / ask$sigma))", "list(scale = ask$sigma, epsilon = outwards(total / ask$sigma))", "a scale by hand states the epsilon that it implies, with the loss' factor", "mechanism|dp-mean$")
mutant("auto-takes-worst", "R/mechanism.R", "if (able[[i]]$expected_error < able[[best]]$expected_error / 1.02) best <- i", "if (able[[i]]$expected_error > able[[best]]$expected_error / 1.02) best <- i", "auto takes the smallest expected error", "dp-mean")
mutant("lattice-unasked", "R/mechanism.R", 'numerics = if (ask$numerics == "lattice") "lattice" else "real-valued"', 'numerics = "lattice"', "only lattice mode says lattice", "mechanism|dp-mean")
mutant("needs-no-delta", "R/mechanism.R", "if (ask$delta == 0 && isTRUE(mechanism$needs_delta))", "if (FALSE)", "Gaussian noise needs delta > 0", "mechanism|dp-mean")
mutant("laplace-radial-rate", "src/mechanism/mechanism_laplace.c", "*value -= rho / law->sigma;\n    *slope -= 1 / law->sigma;", "*value -= 1.03 * rho / law->sigma;\n    *slope -= 1.03 / law->sigma;", "the Laplace law's rate", "mechanism-laplace")
mutant("laplace-no-acceptance", "src/mechanism/mechanism_laplace.c", "if (!m->ops->radial_accept || log(rng_uniform(rng)) <= m->ops->radial_accept(m, coords, rho, work))", "if (rho >= 0)", "true area over its bound decides", "mechanism-laplace")
mutant("knorm-small", "src/mechanism/mechanism_laplace.c", "double r = sigma * rng_gamma(rng, (double)d);", "double r = 0.97 * sigma * rng_gamma(rng, (double)d);", "length of K-norm noise", "mechanism")
mutant("knorm-shape", "src/mechanism/mechanism_laplace.c", "rng_gamma(rng, (double)d);", "rng_gamma(rng, (double)d - 0.1);", "shape of the length of K-norm noise", "mechanism")
mutant("gaussian-radial-rate", "src/mechanism/mechanism_gaussian.c", "double t = rho / law->sigma;", "double t = 1.03 * rho / law->sigma;", "the Riemannian Gaussian's sigma", "mechanism-gaussian")
mutant("profile-rounding-flat", "R/gaussian-profile.R", "2^-46 * (law$size(x) + abs(shift))", "2^-46 * (1 + abs(shift))", "the rounding margin grows with the dimension", "mechanism-gaussian")
mutant("profile-cells-exact", "R/gaussian-profile.R", "up <- 1 + 2 * (CELL + pmax.int(off[-n], off[-1]))", "up <- 1 + 2 * CELL", "cells pay for the density's rounding", "mechanism-gaussian")
mutant("profile-cells-steep", "R/gaussian-profile.R", "is.finite(curve) & curve < 0.2 & abs(s) < 30", "is.finite(curve) & curve < 0.2", "a cell that exp overflows on has no mass from below", "mechanism-gaussian")
mutant("profile-cells-chord", "R/gaussian-profile.R", "up * exp(curve) * chord + mass_hi * off, Inf)", "up * exp(curve) * chord, Inf)", "a chord is no bound of what bends", "mechanism-gaussian")
mutant("profile-moments-cancel", "R/gaussian-profile.R", "either(abs(s) < 1, series", "either(abs(s) < 1e-2, series", "first moments of cells by their series where the closed form cancels", "mechanism-gaussian")
mutant("interval-exact", "R/gaussian-profile.R", "list(lo = lo - (abs(lo) * by + 1e-300)", "list(lo = lo", "intervals are rounded outwards from below", "mechanism-gaussian")
mutant("interval-inwards", "R/gaussian-profile.R", "hi = hi + (abs(hi) * by + 1e-300)", "hi = hi - (abs(hi) * by + 1e-300)", "intervals are rounded outwards from above", "mechanism-gaussian")
mutant("interval-library", "R/gaussian-profile.R", "LIBRARY <- 2^-46", "LIBRARY <- 2^-51", "the C library may be off by 64 units of rounding", "mechanism-gaussian")
mutant("interval-csq-cancels", "R/gaussian-profile.R", "either(abs(x) < 0.5, series", "either(abs(x) < 1e-2, series", "(cos - sinc)/x^2 by its series where it cancels", "mechanism-gaussian")
mutant("enclosure-bow", "R/gaussian-profile.R", "bow <- iv_mul(h, iv(wide))$hi / 8", "bow <- iv_mul(h, iv(wide))$hi / 80", "the cosine leaves its chord by h^2 |c''|/8", "mechanism-gaussian")
mutant("enclosure-slope", "R/gaussian-profile.R", "wide <- iv_mul(h, iv(size))$hi", "wide <- iv_mul(h, iv(size))$hi / 10", "the cosine's slope leaves its chord's by h |c''|", "mechanism-gaussian")
mutant("profile-sinh-overflows", "R/gaussian-profile.R", "(if (k > 0) log(iv_sn(k, iv(a, b))$hi) else log_sn(b))", "log(iv_sn(k, iv(a, b))$hi)", "a bound of the density where sinh overflows", "mechanism-gaussian")
mutant("gaussian-scale-above", "R/gaussian-profile.R", "exp(step_until(root, 1e-7, function(x) at(x) <= delta))", "exp(step_until(root, 1e-7, function(x) at(x) <= delta * (1 + 1e-5)))", "the scale's delta is at most what was asked", "mechanism-gaussian")
mutant("gaussian-kept-of-any-space", "R/mechanism-gaussian.R", "key <- paste(c(\"gaussian\", what, unlist(space), ", "key <- paste(c(\"gaussian\", what, ", "a scale that is kept is of one space", "mechanism-gaussian")
mutant("gaussian-kept-near", "R/mechanism-gaussian.R", "format(c(...), digits = 17)), collapse", "format(c(...), digits = 7)), collapse", "a scale that is kept is of these numbers, not of some near them", "mechanism-gaussian")
mutant("gdp-tangent-straight", "R/gaussian-profile.R", "(exp(b) + margin) * expm1(e2 - touch) >= y2", "(exp(b) + margin) * (e2 - touch) >= y2", "the tangent is one in exp(epsilon)", "mechanism-gaussian")
mutant("gdp-tangent-high", "R/gaussian-profile.R", "value <- exp(a) * -expm1(b - a) - margin", "value <- (1 + 1e-5) * exp(a) * -expm1(b - a) - margin", "the tangent lies below the profile of normal noise", "mechanism-gaussian")
mutant("gaussian-delta-rounding", "R/accountant-gdp.R", "small <- 1e-14 *", "small <- 1e-19 *", "rounding of the condition for normal noise", "mechanism-gaussian")
mutant("circle-rounding", "R/gaussian-profile.R", "+ 1e-14 * ends) / total", "+ 0 * ends) / total", "rounding of the circle's profile", "mechanism-gaussian",
       equivalent = "with good libraries the error stays below the other margin, 1e-13; the proof needs it for the libraries that it allows")
mutant("wrapped-gaussian-small", "src/mechanism/mechanism_gaussian.c", "z[j] = sigma * rng_normal(rng);", "z[j] = 0.97 * sigma * rng_normal(rng);", "sigma of wrapped Gaussian noise", "mechanism-gaussian")
mutant("tangent-noise-small", "src/mechanism/tangent_noise.c", "        rng_normals(rng, (end - begin) * d, sd, a);", "        rng_normals(rng, (end - begin) * d, 0.97 * sd, a);", "sd of tangent noise in coordinates", "tangent-noise")
mutant("tangent-noise-projected-small", "src/mechanism/tangent_noise.c", "rng_normals(rng, (end - begin) * n, sd, out + begin * n);", "rng_normals(rng, (end - begin) * n, 0.97 * sd, out + begin * n);", "sd of projected tangent noise", "tangent-noise")
mutant("adaptive-last-stage-whole", "R/mechanism-adaptive.R", 'last <- adaptive_stage(M, ask, shares[["mean"]], ball)', "last <- adaptive_stage(M, ask, 1, ball)", "the last stage spends its share only", "mechanism-adaptive")
mutant("adaptive-radius-twice", "R/mechanism-adaptive.R", "fraction,\n              epsilon, pay", "fraction,\n              2 * epsilon, pay", "the radius' exponential mechanism spends its share only, in balls too", "mechanism-adaptive|dp-ball")
mutant("adaptive-none-served", "R/mechanism-adaptive.R", "  list(center = ask$center, radius = ask$ball$radius)\n}", "  ball\n}", "what is spent is answered, whatever the first stage released", "mechanism-adaptive")
mutant("adaptive-first-whole", "R/mechanism-adaptive.R", "rough <- adaptive_stage(M, ask, share, adaptive_served(M, ask, share, found))", "rough <- adaptive_stage(M, ask, 1, adaptive_served(M, ask, 1, found))", "the rough centre spends its share only", "mechanism-adaptive")
mutant("unit-groups-first", "R/dp-mean.R", "alone <- tabulate(pairs[, 1], units$count) == 1", "alone <- tabulate(pairs[, 1], units$count) >= 1", "a unit is in one group at most", "groups")
mutant("unit-groups-rows", "R/dp-mean.R", "    records$groups$of <- of\n    records$x <- sized", "    records$x <- sized", "groups are the units', not the rows'", "groups")
mutant("place-in-constant-time", "R/mechanism-adaptive.R", "!isTRUE(ask$chunked) && !identical(ask$timing, \"constant\")", "!isTRUE(ask$chunked)", "constant time covers the whole call", "mechanism-adaptive")
mutant("place-rate-twice", "src/ffi/ffi_ball.c", ".rate = in->epsilon / 2,", ".rate = in->epsilon,", "scores move both ways: half of epsilon a point", "mechanism-adaptive")
mutant("place-no-floor", "src/mechanism/mechanism_place.c", "return fall <= -in->slack || holds", "return holds", "the score's floor, without which trials don't end for some records", "mechanism-adaptive")
mutant("place-sum", "src/mechanism/mechanism_place.c", "double rate = in->rate / (double)in->d;", "double rate = in->rate;", "the average over the axes, not the sum", "mechanism-adaptive")
mutant("place-share-more", "R/mechanism-adaptive.R", "plan$bonus / 2, ADAPTIVE_FLOOR, epsilon,", "plan$bonus / 2, ADAPTIVE_FLOOR, 1.5 * epsilon,", "the place spends its share only", "mechanism-adaptive")
mutant("place-wide-keeps", "R/mechanism-adaptive.R", 'c(shares[["place"]], 0, 0, (1 - shares[["place"]]) * (1 - 1e-15))', "c(shares[[1]], 0, 0, 1)", "what the last stage takes is what is left", "mechanism-adaptive")
mutant("place-edge", "src/mechanism/mechanism_place.c", "most = radius * radius * (1 + 1e-9);", "most = radius * radius * (1 - 1e-9);", "records at the public edge count as inside", "mechanism-adaptive")
mutant("room-log2", "R/numeric.R", "if (r * 2^k > 2^51) k - 1 else k", "k", "a radius just above a power of 2 has room for its sums", "mean-steps")

# ---- random numbers ------------------------------------------------------------------------------------------------------------------------------

mutant("ziggurat-tail", "src/base/rng.c", "x = -log(system_uniform(rng)) / ziggurat_tail;", "x = -log(system_uniform(rng));", "the normal's tail", "rng|random|noise")
mutant("ziggurat-wedge", "src/base/rng.c", "if (low + system_uniform(rng) * (high - low) < exp(-0.5 * x * x))", "if (low + system_uniform(rng) * (high - low) < 1)", "edges of the normal's layers", "rng|random|noise")
mutant("ziggurat-sign", "src/base/rng.c", "u.bits |= (word & 256) << 55;", "u.bits |= (word & 128) << 56;", "the sign has a bit of its own", "rng|random|noise")
mutant("gamma-accept-all", "src/base/rng.c", "if (log(rng_uniform(rng)) < 0.5 * x * x + d * (1 - v + log(v)))", "if (v > 0)", "gamma draws are accepted by the ratio of densities", "rng|random|noise|mechanism-laplace")
mutant("gamma-shape", "src/base/rng.c", "double d = shape - 1.0 / 3,", "double d = shape - 1.0 / 2,", "gamma draws have the shape asked for", "rng|random|noise|mechanism-laplace")
mutant("direction-biased", "src/base/rng.c", "            out[i] = rng_normal(rng);\n        s = norm2", "            out[i] = rng_normal(rng) + 0.1;\n        s = norm2", "directions are uniform", "rng|random|noise|mechanism-laplace")
mutant("below-biased", "src/base/rng.c", "uint64_t most = UINT64_MAX - UINT64_MAX % n, x = most;", "uint64_t most = UINT64_MAX, x = most;", "no bias in indices", "rng|random|optim",
       equivalent = "an index would be off by n/2^64 of its probability: 2^-33 for the largest number of records, which no test of draws can see")
mutant("key-not-erased", "src/base/rng.c", "memcpy(rng->secret, rng->word + rng->left, CHACHA_KEY * sizeof *out);", "", "each block of output brings the next key", "rng|random|stream")
mutant("words-stay", "src/base/rng.c", "rng->word[rng->left] = 0; /* what was used can't be read back */", "", "used words are wiped", "rng|random|stream",
       equivalent = "no call can read the words back: the wipe is against other programs that see the process' memory")
mutant("hull-mass", "src/mechanism/sampler_logconcave.c", "        total += exp(h->mass[i] - biggest);\n        h->mass[i] = total;", "        total += exp(1.2 * (h->mass[i] - biggest));\n        h->mass[i] = total;", "segments of the hull are drawn by their mass", "mechanism-laplace|logconcave|sampler")
mutant("hull-accept-all", "src/mechanism/sampler_logconcave.c", "if (log(rng_uniform(rng)) <= value - h->peak - h->value[i] - s * (x - h->at[i]))", "if (value <= h->peak + 1e300)", "points under the hull are kept by the density", "mechanism-laplace|logconcave|sampler")
mutant("hull-tail", "src/mechanism/sampler_logconcave.c", "x = from + log(v) / s;", "x = from + 1.1 * log(v) / s;", "the hull's tail is exponential with its slope", "mechanism-laplace|logconcave|sampler")

# ---- lattice mode --------------------------------------------------------------------------------------------------------------------------------

mutant("lattice-no-rounding-errors", "R/mechanism-lattice.R", "real <- as.numeric(sensitivity) + 2 * bounds$error", "real <- as.numeric(sensitivity)", "rounding errors of both neighbours are paid for", "mechanism-lattice")
mutant("lattice-no-grid", "R/mechanism-lattice.R", "shift <- outwards(real / step + sqrt(d))", "shift <- outwards(real / step)", "rounding to the lattice moves by up to sqrt(d) steps", "mechanism-lattice")
mutant("lattice-laplace-l2", "R/mechanism-lattice.R", 'move <- if (law == "l2") shift else outwards(sqrt(d) * shift)', "move <- shift", "coordinate-wise Laplace noise needs the l1 sensitivity", "mechanism-lattice")
mutant("lattice-gaussian-rho", "R/mechanism-lattice.R", "(ask$sigma / step)^2 else outwards(shift^2 / (2 * rho))", "(ask$sigma / step)^2 else outwards(shift^2 / (4 * rho))", "sigma^2 = shift^2/(2 rho)", "mechanism-lattice")
mutant("lattice-scale-down", "R/mechanism-lattice.R", "outwards(move / epsilon), if (by_hand) floor else ceiling)", "outwards(0.97 * move / epsilon), if (by_hand) floor else ceiling)", "the lattice's scale is shift/epsilon", "mechanism-lattice")
mutant("lattice-by-hand", "R/mechanism-lattice.R", "if (by_hand) epsilon <- outwards(move / scale)", "if (by_hand) epsilon <- outwards(shift / (2 * scale))", "a scale by hand states its epsilon", "mechanism-lattice")
mutant("lattice-tangent-half", "R/mechanism-lattice.R", 'structure(outwards(2 * r / ask$n), theorem = "2r/n, proofs/gaussian.md")', 'structure(outwards(r / ask$n), theorem = "2r/n, proofs/gaussian.md")', "the tangent mean moves by 2r/n", "mechanism-lattice|mechanism-tangent")

# ---- prices --------------------------------------------------------------------------------------------------------------------------------------

mutant("zcdp-laplace-low", "R/event-price.R", "laplace = tanh(0.5 / p$scale) / p$scale,", "laplace = 0.9 * tanh(0.5 / p$scale) / p$scale,", "zCDP price of Laplace noise", "event-price|accountant")
mutant("zcdp-pure-low", "R/event-price.R", "zcdp_pure <- function(epsilon) epsilon * tanh(epsilon / 2)", "zcdp_pure <- function(epsilon) epsilon^2 / 2.2", "zCDP price of pure DP", "event-price|accountant")
mutant("zcdp-gaussian-low", "R/event-price.R", "gaussian = 0.5 / p$noise_multiplier^2,", "gaussian = 0.48 / p$noise_multiplier^2,", "zCDP price of Gaussian noise", "event-price|accountant")
mutant("zcdp-discrete-low", "R/event-price.R", "discrete_gaussian = (p$sensitivity / p$sigma)^2 / 2,", "discrete_gaussian = (p$sensitivity / p$sigma)^2 / 2.1,", "zCDP price of discrete Gaussian noise", "event-price|accountant")
mutant("zcdp-approx", "R/event-price.R", '  if (event$parameters$delta > 0) unpriced(event, unit, "its delta is above 0")\n', "", "no zCDP or Renyi price for a delta above 0", "event-price|accountant")
mutant("gdp-compose-sum", "R/event-price.R", "compose = sqrt(sum_parts(event, function(child) gdp_price(child)^2)),", "compose = sqrt(max(0, sum_parts(event, function(child) gdp_price(child)^2) - 0.1)),", "mu adds in squares", "event-price|accountant")
mutant("gdp-gaussian", "R/event-price.R", "gaussian = 1 / p$noise_multiplier,", "gaussian = 0.97 / p$noise_multiplier,", "mu of Gaussian noise", "event-price|accountant")
mutant("basic-laplace", "R/event-price.R", "laplace = c(1 / p$scale, 0),", "laplace = c(0.97 / p$scale, 0),", "epsilon of Laplace noise", "event-price|accountant")
mutant("basic-compose-once", "R/event-price.R", "if (!is.null(inner)) p$times * inner", "if (!is.null(inner)) inner", "repeated steps are paid as often", "event-price|accountant")
mutant("sum-parts-once", "R/event-price.R", "  total * event$parameters$times\n", "  total\n", "repeated steps are paid as often", "event-price|accountant")
mutant("sampled-epsilon", "R/event-price.R", "sampled_epsilon <- function(epsilon, q) log_mix(epsilon, q)", "sampled_epsilon <- function(epsilon, q) 0.97 * log_mix(epsilon, q)", "amplification of a pure step by sampling", "event-price|accountant")
mutant("sampled-delta", "R/event-price.R", "c(sampled_epsilon(inner[1], p$q), p$q * inner[2])", "c(sampled_epsilon(inner[1], p$q), p$q^2 * inner[2])", "delta of a sampled step", "event-price|accountant")
mutant("balle-bun-steinke", "R/accountant-zcdp.R", "(rho + 2 * sqrt(-rho * log(delta))) * (1 + 1e-15)))", "(rho + 1.9 * sqrt(-rho * log(delta))) * (1 + 1e-15)))", "Bun and Steinke's conversion", "accountant")
mutant("zcdp-rho-high", "R/accountant-zcdp.R", "max(renyi_limit(order, epsilon, delta) / order, simple) * (1 - 1e-12)", "max(renyi_limit(order, epsilon, delta) / order, simple) * 1.03", "the rho that (epsilon, delta) allows", "accountant|mechanism-lattice")
mutant("bun-steinke-delta", "R/accountant-zcdp.R", "exp(-(epsilon - rho)^2 / (4 * rho))", "exp(-(epsilon - rho)^2 / (3.9 * rho))", "Bun and Steinke's delta", "event-price|accountant")
mutant("optimal-composition", "R/accountant-pure.R", "j <- seq(max(from, floor(peak - spread)), min(k, ceiling(peak + spread)))", "j <- seq(max(from + 1, floor(peak - spread)), min(k, ceiling(peak + spread)))", "every positive term of optimal composition counts", "accountant")
mutant("optimal-finite-delta", "R/accountant-pure.R", "min(1, -expm1(finite) + exp(finite) * inner * (1 + rounding))", "min(1, exp(finite) * inner * (1 + rounding))", "steps' own deltas count in optimal composition", "event-price|accountant")
mutant("advanced-first-order", "R/accountant-pure.R", "+ sum(times * e * expm1(e))", "+ 0.9 * sum(times * e * expm1(e))", "advanced composition's second term", "accountant")
mutant("accountant-estimate-chosen", "R/accountant.R", 'note = "an estimate by', 'auto = TRUE, note = "an estimate by', "what is no bound is never chosen", "accountant")
mutant("shuffle-gain", "R/accountant-pure.R", "exp(epsilon) * (other * at + s * above) else 0", "1.03 * exp(epsilon) * (other * at + s * above) else 0", "delta of a shuffle", "accountant")
mutant("steps-single", "R/plot-accountant.R", "setdiff(SOUND, accountants_with(\"once\"))", "SOUND", "what prices one step has no line over steps", "accountant")
mutant("single-laplace", "R/accountant-pure.R", "-expm1((epsilon - (1 + 4e-16) / p$scale) / 2)", "-expm1((epsilon - 0.97 / p$scale) / 2)", "profile of Laplace noise", "accountant")
mutant("single-poisson-one-way", "R/accountant-pure.R", "  max(leave, enter)\n", "  enter\n", "both directions of add/remove count", "accountant")
mutant("single-sample", "R/accountant-pure.R", "sample = p$q * single_delta_of(event$children[[1]], above_sample(epsilon, p$q)),", "sample = p$q^2 * single_delta_of(event$children[[1]], above_sample(epsilon, p$q)),", "profile of one sampled step", "accountant")

# Prices and noise made for half of what a record moves: nothing in a release differs from a sound one, so it is seen by whole calls on
# neighbours alone.
mutant("half-mean", "R/mechanism-laplace.R", "total <- plan$sensitivity + plan$solver_error", "total <- 0.5 * (plan$sensitivity + plan$solver_error)",
       "Laplace, normal and wrapped draws state what a record moves", "^neighbours$")
mutant("half-kng", "R/mechanism-kng.R", "price_normalised(plan$sensitivity + plan$solver_error", "price_normalised(0.5 * (plan$sensitivity + plan$solver_error)",
       "a K-norm gradient draw states what a record moves", "^neighbours$")
mutant("half-euclidean", "R/mechanism-euclidean.R", "price_laplace(plan$sensitivity + plan$solver_error", "price_laplace(0.5 * (plan$sensitivity + plan$solver_error)",
       "noise around a point of the space around states what a record moves", "^neighbours$")
mutant("half-lattice", "R/mechanism-lattice.R", "shift <- plan$details$lattice_sensitivity", "shift <- plan$details$lattice_sensitivity / 2",
       "a lattice draw states what a record moves", "^neighbours$")
mutant("half-perturbed", "R/objective-perturbation.R", "moved <- 2 * rule$tau", "moved <- rule$tau",
       "objective perturbation states what a record moves", "^neighbours$")
mutant("half-adassp", "R/dp-lm-methods.R", "xy = 2 * sqrt(d + 1) * reach)", "xy = sqrt(d + 1) * reach)",
       "AdaSSP's noise is for the whole width of X'Y", "^neighbours$")
mutant("half-statistics", "R/linear-statistics.R", "list(u = rep(2, d)", "list(u = rep(1, d)",
       "K-norm noise is for the whole width of sums of predictors", "^neighbours$")
mutant("half-statistics-responses", "R/linear-statistics.R", "xy = rep(2, d + 1))", "xy = rep(1, d + 1))",
       "K-norm noise is for the whole width of X'Y", "^neighbours$")
mutant("half-shares", "R/mechanism-tangent.R", "price_normal(plan$sensitivity + plan$solver_error, honest", "price_normal(0.5 * (plan$sensitivity + plan$solver_error), honest",
       "sites' shares of noise are for what a record moves", "^neighbours$")
mutant("half-snapshots", "R/optimum-run.R", "snapshot_sensitivity <- function(ask) 2 *", "snapshot_sensitivity <- function(ask)",
       "a snapshot's noise is for a record that turns its clipped gradient around", "^neighbours$")
mutant("half-curve-steps", "R/regression-gradient.R", "price_normal(2 * step$tau", "price_normal(step$tau",
       "a gradient step along a curve states what a record moves", "^neighbours$")
mutant("half-curve-noisy", "R/regression-newton.R", "price_laplace(2 * rule$tau", "price_laplace(rule$tau",
       "a noisy last step states what a record moves", "^neighbours$")
mutant("half-curve-kng", "R/regression-kng.R", "price_normalised(2 * rule$tau / ask$n", "price_normalised(rule$tau / ask$n",
       "a K-norm gradient draw of a curve states what a record moves", "^neighbours$")
mutant("half-optimiser", "R/optimum-run.R", "1 else 2) * ask$clip[2]", "0.5 else 1) * ask$clip[2]",
       "a step's noise is for a record that turns its clipped gradient around", "^neighbours$")

# ---- private optimisation ------------------------------------------------------------------------------------------------------------------------

mutant("rows-single-untried", "R/problem.R", "all(vapply(c(1, 4, n), function(i) same(results(w, i), i), NA)) &&", "TRUE &&", "one record alone gives what it gives among others", "optimize")
mutant("rows-unchecked", "R/problem.R", "if (out$batched) out$tried <- rows_apart(out, made_up_points(M))", "if (out$batched) out$tried <- TRUE", "rows are tried when the problem is made", "optimize")
mutant("rows-unchecked-run", "R/dp-optimize.R", "  problem <- apart_in(problem, data, public_value(start, \"start\"))\n", "", "rows are tried in the form of the data", "optimize")
mutant("rows-together-unshown", "R/problem.R", "problem$alone <- !isTRUE(shown)", "problem$alone <- FALSE", "rows that can't be shown to stay apart come one at a time", "optimize")
mutant("optimum-sensitivity-half", "R/optimum-run.R", '(if (ask$sampling == "poisson") 1 else 2) * ask$clip[2] / ask$batch', "ask$clip[2] / ask$batch", "a replaced record moves the clipped mean by 2C/b", "optimize")
mutant("optimum-poisson-double", "R/optimum-run.R", '(if (ask$sampling == "poisson") 1 else 2) *', '(if (ask$sampling == "poisson") 0.97 else 2) *', "an added record moves the clipped sum by C", "optimize")
mutant("snapshot-half", "R/optimum-run.R", "2 * ask$clip[1] / ask$n", "ask$clip[1] / ask$n", "a replaced record moves the snapshot by 2 C0/n", "optimize")
mutant("snapshots-unpaid", "R/optimum-run.R", "rsvrg = total(event_compose(event_gaussian(z * split), times = steps / ask$inner),\n                  event_compose(sampled(z), times = steps))", "rsvrg = total(event_compose(sampled(z), times = steps))", "snapshots are paid for", "optimize")
mutant("restarts-unpaid", "R/optimum-run.R", "  steps <- ask$steps * ask$restarts\n  total <-", "  steps <- ask$steps\n  total <-", "restarts are paid for", "optimize")
mutant("disjoint-restarts-unpaid", "R/optimum-run.R", "total(event_gaussian(z), times = ceiling(ask$steps / (ask$n %/% ask$batch)) * ask$restarts)", "total(event_gaussian(z), times = ceiling(ask$steps / (ask$n %/% ask$batch)))", "restarts over disjoint batches are paid for", "optimize")
mutant("gaussian-total-steps", "R/optimum-run.R", "    rgd = ask$steps * ask$restarts / z^2,\n    rsgd", "    rgd = 0.95 * ask$steps * ask$restarts / z^2,\n    rsgd", "mu of full-gradient steps", "optimize")
mutant("gaussian-total-snapshots", "R/optimum-run.R", "(1 + 1 / (ask$inner * split^2)) / z^2", "1 / z^2", "mu of snapshots", "optimize")
mutant("sampled-as-poisson", "R/optimum-run.R", 'if (ask$sampling == "poisson") event_poisson(ask$rate, g) else if (ask$share < 1) event_sample(ask$share, g) else g', "if (ask$share < 1) event_sample(ask$share^2, g) else g", "batches are priced at their share", "optimize")

# ---- order of spending, ledger -------------------------------------------------------------------------------------------------------------------

mutant("spends-late", "R/private-release.R",
"  budget <- spend_release(ledger, plan$guarantee, event, estimator$entry(plan, ask), data_set, part, ask$source)
  paid <- out_of_purse(plan$guarantee, estimator$draw(records, plan, ask, budget), event)
",
"  paid <- out_of_purse(plan$guarantee, estimator$draw(records, plan, ask, NULL), event)
  budget <- spend_release(ledger, plan$guarantee, event, estimator$entry(plan, ask), data_set, part, ask$source)
", "the price is taken before noise is drawn", "private-release")
mutant("spends-late-seen-by-calls", "R/private-release.R",
"  budget <- spend_release(ledger, plan$guarantee, event, estimator$entry(plan, ask), data_set, part, ask$source)
  paid <- out_of_purse(plan$guarantee, estimator$draw(records, plan, ask, budget), event)
",
"  paid <- out_of_purse(plan$guarantee, estimator$draw(records, plan, ask, NULL), event)
  budget <- spend_release(ledger, plan$guarantee, event, estimator$entry(plan, ask), data_set, part, ask$source)
", "the price is taken before noise is drawn", "^dp-mean$|^dp-regression$|^dp-lm$|ledger|neighbours")
mutant("purse-open", "R/private-release.R", "    if (mine$held) check_paid(mine)\n", "", "a draw that isn't paid for is stopped", "private-release")
mutant("purse-empty", "R/private-release.R", 'if (mine$held && !length(mine$prices)) abort_contract("nothing was drawn")', "", "a release without noise is none", "private-release")
mutant("purse-simulated", "R/private-release.R", " || identical(g$reason, SIMULATED)", "", "simulations are held to what they simulate", "private-release")
mutant("purse-mu", "R/private-release.R", " || isTRUE(cost$mu > mine$stated$mu * (1 + 1e-9))", "", "draws keep the mu that is stated", "private-release")
mutant("purse-mu-adds", "R/private-release.R", "gaussian_delta(cost$mu, rest) <=", "gaussian_delta(cost$mu, budget$epsilon) <=", "normal draws are paid for beside others", "private-release")
mutant("purse-delta", "R/private-release.R", "rest >= 0 && left >= 0 && (cost", "rest >= 0 && (cost", "draws keep the delta that is stated", "private-release")
mutant("purse-caught", "R/private-release.R", "  if (mine$held) check_paid(mine) # again: a user's callback may have caught the error of a draw\n", "", "an error that a callback catches stops the release", "private-release")
mutant("purse-unpriced", "R/private-release.R", "    if (mine$held && !isTRUE(length(cost) >= 3 && any(cost > 0) && !anyNA(cost))) abort_contract(\"a draw has no price\")\n", "", "a draw without a price isn't made", "private-release")
mutant("purse-untold", "R/private-release.R", "estimator$draw(records, plan, ask, budget), event)", "estimator$draw(records, plan, ask, budget))", "what the ledger takes covers what is drawn", "private-release")
mutant("purse-told-of-half", "R/private-release.R", "  if (!is.null(mine$taken) && !within_sum(mine$taken, cost) && !covers(mine$taken, cost)) {", "  if (FALSE) {", "what the ledger takes covers what is drawn", "private-release")
mutant("purse-other-steps", "R/private-release.R", "  if (!is.null(told) && !identical(told, event)) {", "  if (FALSE) {", "the ledger takes the event of the very steps", "private-release")
mutant("optimum-event-cheap", "R/dp-optimize.R", "    event = function(plan, ask) plan$event,", "    event = function(plan, ask) event_gaussian(100 / plan$guarantee$nominal_epsilon),", "the ledger takes the event of the very steps", "optimize|private-release")
mutant("purse-in-simulations", "R/simulation.R", "  purse$open <- NULL\n", "", "simulations inside a release are no draws of it", "private-release")
mutant("price-trials-uncounted", "R/mechanism-kng.R", "price$epsilon + log1p(exp(-price$epsilon)) + plan$trials * log1p(-plan$acceptance)", "-Inf", "a cap on trials is paid for", "private-release")
mutant("resume-unpriced", "R/checkpoint.R", "    pay(price_steps(run$ask, run$plan))\n    run_saved", "    run_saved", "a resumed run is held to what it states", "private-release")
mutant("price-laplace-low", "R/private-release.R", "epsilon = sensitivity / scale)", "epsilon = 0.97 * sensitivity / scale)", "noise is priced at its sensitivity over its scale", "private-release")
mutant("price-normalised-low", "R/private-release.R", "epsilon = 2 * sensitivity / scale, delta", "epsilon = sensitivity / scale, delta", "a constant that moves with the records costs as much again", "private-release")
mutant("price-normal-low", "R/private-release.R", "mu = sensitivity / sd)", "mu = 0.97 * sensitivity / sd)", "normal noise is priced at its mu", "private-release")
mutant("price-curved-low", "R/private-release.R", "profile_delta(space, scale, sensitivity, epsilon))", "profile_delta(space, scale, 0.97 * sensitivity, epsilon))", "the Riemannian normal law is priced by its profile", "private-release")
mutant("price-choice-low", "R/private-release.R", "1, 2 / epsilon, epsilon = epsilon)", "1, 2 / epsilon, epsilon = epsilon / 2)", "choices are paid for", "private-release")
mutant("price-discrete-low", "R/private-release.R", "rho <- sensitivity^2 / (2 * scale^2)", "rho <- sensitivity^2 / (2.1 * scale^2)", "discrete normals are priced by concentrated privacy", "private-release")
mutant("price-objective-slope", "R/objective-perturbation.R", "cost(t * across[i]) + cost(t * slope)", "cost(t * across[i])", "the objective's curvature is paid for", "private-release")
mutant("price-objective-noise", "R/objective-perturbation.R", "epsilon = solver + moved * rate * max(1, g) / 2 + max(", "epsilon = solver + max(", "the objective's noise is paid for", "private-release")
mutant("price-steps-low", "R/optimum-run.R", "    epsilon <- steps_epsilon(ask, z, split)", "    epsilon <- 0.9 * steps_epsilon(ask, z, split)", "sampled steps are paid for", "private-release")
mutant("clipped-counts-first", "R/dp-mean.R", '    if (ask$invalid == "error") check_records(ask$manifold, records$x)
', '    if (ask$invalid == "error") check_records(ask$manifold, records$x)
    release_clipped(ask$manifold, records$x, ask)
', "records outside are counted after the price is taken", "clipped-share")
mutant("clipped-unit-rows", "R/clipped-share.R", "sum(beyond > 0)", "sum(beyond)", "a unit is outside once, however many of its rows are", "clipped-share")
mutant("clipped-unit-means", "R/dp-mean.R", "release_clipped(M, records$rows %||% records$x, ask, records$units)", "release_clipped(M, records$x, ask)", "a unit is outside where a row of it is", "clipped-share")
mutant("clipped-scale-low", "R/private-size.R", "as_ratio(max(outwards(1 / epsilon), 2^-20), ceiling)", "as_ratio(max(outwards(0.97 / epsilon), 2^-20), ceiling)", "the count's noise has scale 1/epsilon", "clipped-share|private-size")
mutant("clipped-unpaid", "R/clipped-share.R", "ask$epsilon <- outwards_down(epsilon - own)", "ask$epsilon <- outwards_down(epsilon)", "what the count costs is taken from the mean", "clipped-share")
mutant("clipped-event-lost", "R/clipped-share.R", "event_compose(event_pure(ask$clipped$epsilon, adjacency = event$adjacency), event)", "event", "the ledger takes the count's price", "clipped-share")
mutant("clipped-promise-lost", "R/clipped-share.R", "both <- max(ask$total, g$nominal_epsilon + ask$clipped$epsilon)", "both <- g$nominal_epsilon", "the promise is about both releases", "clipped-share")
mutant("clipped-keeps-mu", "R/clipped-share.R", "    g$mu <- NA_real_\n", "", "the mean's mu isn't that of both", "clipped-share")
mutant("clipped-at-sites", "R/dp-mean.R", "if (ask$sites && !is.null(ask$clipped)) {", "if (FALSE) {", "sites don't count", "clipped-share")
mutant("clipped-noise-continuous", "R/private-size.R", '"laplace", ratio,', '"l2", ratio,', "the count's noise is two-sided geometric", "clipped-share|private-size")
mutant("clipped-interval-short", "R/private-size.R", "* (1 + 1e-12)) - 1)", "* (1 + 1e-12)) - 2)", "the interval holds the share as often as it says", "clipped-share|private-size")
mutant("outside-invalid", "src/ffi/ffi_ball.c", "                q = p; /* with the work of any other */\n            if (manifold_dist(m, &d, one(p), one(q), 0, 1, work) != STATUS_OK || !(d >= 0))\n                d = 0;", "                q = p; /* with the work of any other */\n            if (q == p || manifold_dist(m, &d, one(p), one(q), 0, 1, work) != STATUS_OK || !(d >= 0))\n                d = INFINITY;", "what is no point counts as inside", "clipped-share")

# ---- a private number of records ---------------------------------------------------------------------------------------------------------------------

mutant("size-plain-half", "R/sensitivity.R", "structure(outwards(2 * each / (n + 1)),", "structure(outwards(each / (n + 1)),", "a record more than N moves the mean twice as far as one at a centre's place", "private-size")
mutant("size-plain-flat", "R/sensitivity.R", "if (facts$radius * root > 0) tan(facts$radius * root) / root else facts$radius", "facts$radius", "on positive curvature the mean moves farther", "private-size")
mutant("size-sum-half", "R/sensitivity.R", "sum = structure(outwards(r / n),", "sum = structure(outwards(0.5 * r / n),", "one record moves a sum by the radius", "private-size")
mutant("size-tail-half", "R/sensitivity.R", "tail = structure(outwards((1 + rho^2 / 2) * each / n),", "tail = structure(outwards((1 + rho^2 / 2) * each / (n + 1)),", "a record at a centre's place moves the mean by r/N", "private-size")
mutant("size-tail-short", "R/private-size.R", "geometric_far(scale, tail) + 1 else 0", "geometric_far(scale, tail) - 1 else 0", "sizes too small have a probability that delta pays for", "private-size")
mutant("size-tail-free", "R/private-size.R", "outwards_down(ask$delta - tail * gaussian_asked(ask))", "ask$delta", "the tail's delta isn't the noise's", "private-size")
mutant("size-unpaid", "R/private-size.R", "ask$epsilon <- outwards_down(ask$epsilon - own)", "ask$epsilon <- outwards_down(ask$epsilon)", "what the size costs is taken from the mean", "private-size")
mutant("size-event-lost", "R/private-size.R", 'if (ask$size$share > 0) list(event_pure(ask$size$epsilon, adjacency = "add-remove")),', "", "the ledger takes the size's price", "private-size")
mutant("size-event-tail", "R/private-size.R", "if (ask$size$tail > 0) list(event_approx", "if (FALSE) list(event_approx", "the ledger takes the tail's delta", "private-size")
mutant("size-unpadded", "R/private-size.R", "c(seq_len(n), rep(NA_integer_, max(0, ask$n - n)))", "if (n == 0) NA_integer_ else seq_len(n)", "missing records are filled up with the centre", "private-size")
mutant("size-divisor", "R/private-size.R", "structure(list(n = ask$n, steps = sums)", "structure(list(n = max(1, n), steps = sums)", "a sum is divided by the released size", "private-size")
mutant("size-exact", "R/private-size.R", "plan <- plan_size(M, ask, count)", "plan <- plan_size(M, ask, n)", "plans follow from the released size", "private-size")
mutant("size-told", "R/dp-mean.R", "mean_ask(M, if (private_n) NA_real_ else count,", "mean_ask(M, count,", "the number of records isn't in the release", "private-size")
mutant("size-adjacency", "R/private-size.R", 'g$adjacency <- "add-remove"', 'g$adjacency <- "replace-one"', "a private number of records is another promise", "private-size")
mutant("size-counted-aloud", "R/dp-mean.R", "return(uncounted(release_private(", "return(identity(release_private(", "ticks tell no number of records", "private-size")
mutant("size-any-mechanism", "R/private-size.R", 'if (!ask$mechanism %in% c("auto", SIZE_SERVED)) {', "if (FALSE) {", "mechanisms without a proof are refused", "private-size")
mutant("size-region-without", "R/uncertainty.R", "found$radius + size_reach(object, (1 + level) / 2)", "found$radius", "a region is about the mean of all records", "private-size")
mutant("kng-sum-half", "R/mechanism-kng.R", "at(outwards(2 * ball$radius), ", "at(outwards(ball$radius), ", "one record moves a sum of logarithms by twice the radius", "private-size")
mutant("kng-sum-normaliser", "R/mechanism-kng.R", "law <- pure_scale(ask, bounds$total, 2)", "law <- pure_scale(ask, bounds$total, 1)", "the normaliser takes half of epsilon", "private-size")
mutant("kng-sum-counted", "R/mechanism-kng.R", "s <- min(n, plan$most) / plan$scale", "s <- min(max(n, 20), plan$most) / plan$scale", "no guess of n is in the law of sums", "private-size")
mutant("kng-sum-finer", "R/mechanism-kng.R", "s <- min(n, plan$most) / plan$scale", "s <- n / plan$scale", "noise isn't finer than doubles hold", "private-size")
mutant("kng-sum-curved", "R/mechanism-kng.R", "out <- at(max(replaced, out$sensitivity),", "out <- at(out$sensitivity,", "beyond that number of records the mean's gradient counts", "private-size")
mutant("kng-sum-rounding", "R/mechanism-kng.R", "SIZE_MOST * kng_conversion(M, ball)", "kng_conversion(M, ball)", "rounding of 2^31 records is paid for", "private-size")
mutant("kng-sum-trials", "R/mechanism-kng.R", "law$scale / bounds$most, law$epsilon", "law$scale, law$epsilon", "the cap on trials serves the largest n", "private-size")
mutant("kng-sum-one-scale", "R/mechanism-kng.R", "1 / c(s[j], s[j - 1]), steps$slope", "1 / s[length(s)], steps$slope", "the acceptance holds for every n", "private-size")
mutant("kng-sum-tangent", "src/mechanism/mechanism_kng_envelope.c", "return fmin(least, tangent - s->top[1] + (s->top[1] - s->top[0]) * at);", "return fmax(least, tangent);", "the acceptance holds between the ends of a range", "private-size")
mutant("kng-sum-region", "R/mechanism-kng.R", "fewest <- min(size_least(r, (1 + level) / 2), r$details$most)", "fewest <- 2 * min(r$size$count, r$details$most)", "a region holds for the fewest records of the interval", "private-size")
mutant("kng-sum-auto", "R/dp-mean-plan.R", "Filter(function(p) is.null(p$why) && p$auto, plans)", "Filter(function(p) is.null(p$why), plans)", "auto compares what a released size tells of", "private-size")
mutant("kng-sum-told", "R/private-size.R", "if (ask$size$share > 0) noisy_count(", "if (TRUE) n else noisy_count(", "no number is told without noise", "private-size")
mutant("ledger-pairs-unasked", "R/ledger.R", "isTRUE(ledger$pairs) && ledger$adjacency", "ledger$adjacency", "notions are mixed only where that is asked for", "private-size")
mutant("ledger-pairs-once", "R/ledger.R", "event <- group_of_two(event)", "event$adjacency <- \"replace-one\"", "a group of two costs twice", "private-size")
mutant("pairs-by-part-delta", "R/event-price.R", "if (event$type != \"compose\" || !all(", "if (event$type != \"compose\" || FALSE && !all(", "a part's delta may be about the others", "private-size")

mutant("formula-levels-by-place", "R/mean-records.R", "lapply(names, function(name) levels[[name]])", "unname(levels)", "levels are those of the variable they are named for", "^groups$")
mutant("formula-constants-unsaid", "R/dp-mean.R", "chunk_assumptions(x) else given$said", "chunk_assumptions(x)", "a formula's constants are named", "^groups$")
mutant("formula-sized-unsaid", "R/dp-mean.R", "    plan$guarantee$assumptions <- c(plan$guarantee$assumptions, ask$assumptions)\n    plan$guarantee <- of_units(plan$guarantee, ask$unit)\n    plan\n", "    plan$guarantee <- of_units(plan$guarantee, ask$unit)\n    plan\n", "a formula's constants are named", "^groups$")
mutant("formula-constant-group", "R/mean-records.R", "  lacking <- setdiff(names, names(rows$columns))", "  lacking <- character()", "a group's variable has an element for each record", "^groups$")
mutant("groups-whole-epsilon", "R/dp-mean.R", "ask$epsilon <- outwards_down(ask$epsilon / 2)", "ask$epsilon <- outwards_down(ask$epsilon)", "a replaced record touches two groups", "^groups$")
mutant("groups-half-delta", "R/dp-mean.R", "ask$delta <- outwards_down(ask$delta / (1 + exp(ask$epsilon)))", "ask$delta <- outwards_down(ask$delta / 2)", "a record replaced within its group costs more than two deltas", "^groups$")
mutant("groups-price-half", "R/dp-mean.R", "g$nominal_epsilon <- ask$groups_epsilon", "g$nominal_epsilon <- g$nominal_epsilon * 1", "all groups have the price of two", "^groups$")
mutant("groups-undeclared", "R/mean-records.R", "list(of = match(as.character(by), as.character(levels)), names", "list(of = match(as.character(by), as.character(levels), nomatch = 1L), names", "a record in no declared group counts in none", "^groups$")
mutant("groups-levels-read", "R/mean-records.R", "  if (is.null(levels)) {\n    abort_riemdp", "  if (is.null(levels)) levels <- unique(by)\n  if (FALSE) {\n    abort_riemdp", "levels are declared, not read off the records", "^groups$")
mutant("groups-aloud", "R/dp-mean.R", "      if (anyNA(records$groups$of)) {", "    }\n    if (TRUE) {\n      if (anyNA(records$groups$of)) {", "a record in no group is an error for the curator alone", "^groups$")
mutant("groups-shown", "R/dp-mean.R", "r$size$count >= ask$suppress, NA)", "TRUE, NA)", "small groups aren't shown", "^groups$")
mutant("difference-one-region", "R/dp-groups-object.R", "reach <- regions[[1]]$radius + regions[[2]]$radius", "reach <- regions[[1]]$radius", "both means may be off", "^groups$")

# ---- what is said of records near the ball's edge --------------------------------------------------------------------------------------------------

mutant("edge-without-noise", "R/uncertainty.R", "from_center <- apart - mean_region(r, 1 - EDGE_ERROR)$radius", "from_center <- apart", "the noise may have moved the release outwards", "error-words")
mutant("edge-half-sure", "R/uncertainty.R", "EDGE_ERROR <- 0.01", "EDGE_ERROR <- 0.5", "what is said is false with probability .01 at most", "error-words")
mutant("edge-share-high", "R/uncertainty.R", "(from_center / ball$radius - EDGE_FROM) / (1 - EDGE_FROM)", "(from_center / ball$radius - EDGE_FROM) / (1 - EDGE_FROM) * 1.3", "the share is what convexity gives", "error-words")
mutant("region-of-public-ball", "R/mechanism.R", 'identical(r$mechanism, "adaptive") && !is.null', "FALSE && !is.null", "the adaptive region is about the released ball", "error-words")
mutant("release-event-mu", "R/ledger.R", "event_gaussian(1 / g$mu, adjacency = g$adjacency)", "event_gaussian(1.03 / g$mu, adjacency = g$adjacency)", "a Gaussian release is priced at its mu", "^dp-mean$|ledger")
mutant("release-event-delta", "R/ledger.R", "  } else if (g$delta > 0) {\n    event_approx(", "  } else if (FALSE) {\n    event_approx(", "the delta of a release is priced", "^dp-mean$|ledger")
mutant("release-event-pure", "R/ledger.R", "    event_pure(g$epsilon, adjacency = g$adjacency)\n  }\n}", "    event_pure(0.97 * g$epsilon, adjacency = g$adjacency)\n  }\n}", "a pure release is priced at its epsilon", "^dp-mean$|ledger")
mutant("release-event-lattice", "R/ledger.R", "event_discrete_gaussian(details$lattice_scale, details$lattice_sensitivity, dimension,", "event_discrete_gaussian(1.03 * details$lattice_scale, details$lattice_sensitivity, dimension,", "discrete Gaussian noise is priced as such", "mechanism-lattice|ledger")
mutant("none-is-free", "R/ledger.R", '  if (g$label == "none") {
    abort_riemdp("ledger"', '  if (FALSE) {
    abort_riemdp("ledger"', "what promises nothing has no price and is refused", "ledger|dp-mean")
mutant("simulation-unmarked", "R/guarantee.R", "if (simulated) SIMULATED,", "", "a simulation's label is none", "simulation|guarantee|dp-mean$")
mutant("custom-trusted", "R/guarantee.R", 'if (inherits(trusted, "riemdp_custom")) "curvature bounds and callbacks of a user\'s manifold are taken on trust"', "NULL", "a user's manifold is labelled none", "guarantee|dp-mean")
mutant("none-keeps-epsilon", "R/guarantee.R", 'epsilon = if (label == "none") Inf else epsilon,', "epsilon = epsilon,", "no script trusts a label none", "guarantee|dp-mean|simulation")
mutant("ledger-delta-unchecked", "R/ledger-rules.R", "  ok[last] && any(ok[-last])", "  any(ok[-last])", "the ledger's delta is a limit too", "ledger")
mutant("ledger-part-not-largest", "R/ledger-rules.R", "total <- sums_add(state$spent, state$largest)", "total <- state$spent", "what parts have used counts for the whole", "ledger")
mutant("ledger-largest-forgotten", "R/ledger-rules.R", "state$largest <- sums_max(state$largest, state$part)", "state$largest <- state$part", "the dearest part counts", "ledger")
mutant("ledger-limit-loose", "R/ledger-rules.R", "<= limits * LEDGER_ROUNDING", "<= limits * 0.03", "a budget is a budget", "ledger")
mutant("ledger-gdp-limit", "R/ledger-rules.R", "c(inwards(gaussian_mu(epsilon, delta * (1 - reserve))^2), delta * reserve)", "c(1.03 * gaussian_mu(epsilon, delta * (1 - reserve))^2, delta * reserve)", "the limit in mu^2", "ledger")
mutant("ledger-zcdp-limit", "R/ledger-rules.R", "c(zcdp_rho(epsilon, delta * (1 - reserve)), delta * reserve),", "c(1.03 * zcdp_rho(epsilon, delta * (1 - reserve)), delta * reserve),", "the limit in rho", "ledger")
mutant("ledger-rdp-grid", "R/ledger-rules.R", "each <- delta * (1 - reserve) / length(orders)", "each <- delta * (1 - reserve)", "each order of a grid has its share of delta", "ledger")
mutant("ledger-gdp-mu", "R/ledger-rules.R", "c(gdp_price(event)^2, 0)", "c(gdp_price(event), 0)", "mu adds in squares", "ledger")
mutant("ledger-adjacency", "R/ledger.R", '  set_adjacency(event$adjacency, meta$adjacency, "the ledger")\n', "", "add/remove and replace-one aren't mixed", "ledger")
mutant("ledger-opens-fresh", "R/ledger.R", "  if (is.null(found) && !create && !is_memory(ledger)) abort_no_ledger(ledger)\n", "", "a missing ledger is no fresh budget", "ledger")
mutant("ledger-basic-other-event", "R/ledger.R", 'priced <- if (ledger$rule %in% rules_with("stated") && g$delta > 0) {', "priced <- if (FALSE) {", "by basic the stated epsilon and delta are taken", "ledger|dp-mean$")

# ---- columns and formulas ------------------------------------------------------------------------------------------------------------------------

mutant("csv-quotes-swallow", "R/columns.R", "whole <- closed & width == width[1]", "whole <- closed | width == width[1]", "a line whose quotes don't match is a record with missing cells", "columns|chunk|neighbours")
mutant("text-numbers-comma", "R/columns.R", "([0-9]+[.]?[0-9]*|[.][0-9]+)", "([0-9]+[.,]?[0-9]*|[.][0-9]+)", "no decimal comma", "columns",
       equivalent = "as.double() reads no comma either: the cell is missing as before")
mutant("factor-codes", "R/columns.R", "number_cells <- function(x) {\n  missing <- rep(NA_real_, length(x))\n  if (is.factor(x)) return(text_numbers(factor_labels(x)))", "number_cells <- function(x) {\n  missing <- rep(NA_real_, length(x))\n  if (is.factor(x)) return(as.double(plain_vector(x)))", "a factor counts by its labels, never by its codes", "columns|dp-lm")
mutant("formula-any-call", "R/formula.R", "if (!name %in% ROWWISE) refuse_call(name)", "", "functions that may mix rows are refused", "columns|formula|dp-lm|dp-regression")
mutant("formula-makers-all", "R/formula.R", "classes[vapply(classes, exists, NA, here, mode = \"function\", inherits = FALSE)]", "c(classes, \"manifold_custom\")", "a formula makes no manifold of a user's", "^formula$")
mutant("left-side-any-call", "R/formula.R", "  } else {\n    check_rowwise(expr)\n  }\n  invisible(expr)", "  }\n  invisible(expr)", "both sides of a private formula are functions of one row", "columns|formula|dp-lm|dp-regression")
mutant("constants-unsaid", "R/formula.R", "constants <- constants[!base]", "constants <- constants[0]", "the guarantee lists the formula's constants", "columns|formula|dp-lm|dp-regression")

# ---- linear regression: objective perturbation, statistics, re-centring --------------------------------------------------------------------------

mutant("perturbation-solver-free", "R/objective-perturbation.R", "  solver <- solver_share(n) * epsilon\n  core <- epsilon - solver\n  errors", "  solver <- solver_share(n) * epsilon\n  core <- epsilon\n  errors", "the noise for the solver's error is part of epsilon", "objective-perturbation|dp-lm")
mutant("perturbation-rate-high", "R/objective-perturbation.R", "rate = best$e1 / (2 * best$tau)", "rate = 1.03 * best$e1 / (2 * best$tau)", "rate = e1/(2 tau)", "objective-perturbation|dp-lm")
mutant("perturbation-huber-free", "R/objective-perturbation.R", "t <- leverage(1, (core - e1) * (1 - 1e-12), q, averaged)", "t <- leverage(1, core * (1 - 1e-12), q, averaged)", "e1 + q log(1 + t) = epsilon", "objective-perturbation|dp-lm")
mutant("perturbation-shared-half", "R/objective-perturbation.R", "  found <- existing_loss(epsilon - e1 / 2, e1, q, h, averaged)", "  found <- existing_loss(epsilon - 0.4 * e1, e1, q, h, averaged)", "gradient and curvature share epsilon - e1/2", "objective-perturbation|dp-lm")
mutant("leverage-twice", "R/objective-perturbation.R", "list(e1 = e1, t = found$t, g = found$g, tau = tau, ridge = shared_ridge(found$t, if (d > 0) 1 / 4 else 1, d))", "list(e1 = e1, t = found$t, g = found$g, tau = tau, ridge = shared_ridge(2 * found$t, if (d > 0) 1 / 4 else 1, d))", "the ridge keeps every record's leverage at t", "objective-perturbation|dp-lm")
mutant("ridge-shares", "R/objective-perturbation.R", "c(1 / (w * t), rep(d / ((1 - w) * t), d))", "c(1 / (w * t), rep(1 / ((1 - w) * t), d))", "d slopes share the leverage", "objective-perturbation|dp-lm")
mutant("solver-noise-low", "R/objective-perturbation.R", "outwards_down(rule$solver * min(ridge) / (2 * tolerance))", "outwards_down(1.03 * rule$solver * min(ridge) / (2 * tolerance))", "noise that covers the solver's error", "objective-perturbation|dp-lm")
mutant("solver-tolerance-low", "R/objective-perturbation.R", "  4 * (rule$n * sqrt(reach) * (rule$tau", "  (rule$n * sqrt(reach) * (rule$tau", "eta is four times what rounding may do", "objective-perturbation")
mutant("solver-tolerance-size", "R/objective-perturbation.R", "  residual <- 8 * (p + 1)^2 * u^2 * sqrt(rule$q) * size", "  residual <- 0", "eta holds what far responses do to rounding", "objective-perturbation")
mutant("loss-first-term", "src/estimate/objective_perturbation.c", "affordable_curvature(k - e1 * ahead / 2 - (q", "affordable_curvature(k - e1 * ahead / 2.2 - (q", "the loss' knots keep the shared budget", "objective-perturbation",
       equivalent = "a loss that breaks the condition is refused by the check that follows; where it is refused everywhere nothing is released")
mutant("loss-check-off", "src/estimate/objective_perturbation.c", "        if (!(e1 * u / 2 + all <= k - 1e-12) ||", "        if (0 * u * a * e1 * all ||", "every interval of the loss is checked", "objective-perturbation",
       equivalent = "the knots are made to satisfy the condition; the check guards against rounding in them, below 1e-12")
mutant("loss-middle-term", "src/estimate/objective_perturbation.c", "k - e1 * ahead / 2 - (q - 1) * curvature_cost(t * a, averaged), averaged) / t;", "k - e1 * ahead / 2, averaged) / t;", "the other q - 1 directions have their log-determinants", "objective-perturbation",
       equivalent = "refused by the check that follows")
mutant("psi-double", "src/estimate/objective_perturbation.c", "    *psi = loss->tau * (loss->g[i] + rise * (z - (double)i));", "    *psi = 1.03 * loss->tau * (loss->g[i] + rise * (z - (double)i));", "psi is at most tau", "objective-perturbation")
mutant("psi-tail", "src/estimate/objective_perturbation.c", "        *psi = loss->tau * loss->g[loss->knots];", "        *psi = 1.03 * loss->tau * loss->g[loss->knots];", "psi is at most tau", "objective-perturbation")
mutant("gradient-without-noise", "src/estimate/objective_perturbation.c", "        add(gradient + k, carry + k, o->noise[k]);\n", "        add(gradient + k, carry + k, 0.97 * o->noise[k]);\n", "the objective is tilted by the noise drawn", "objective-perturbation|dp-lm")
mutant("solver-squares-endless", "src/estimate/objective_perturbation.c", "(log(8 * l / mu * far) + log(far))", "log(8 * l / mu * far * far)", "the solver's last way ends whatever the records", "objective-perturbation")
mutant("probe-untold", "src/estimate/regression_fit.c", "    c->fit->evaluations += steps.evaluations;", "    if (status == STATUS_OK)\n        c->fit->evaluations += steps.evaluations;", "evaluations of starts that fail are told", "^regression$")
mutant("solver-gives-up", "src/estimate/objective_perturbation.c", "    return gradual(o, eta, b, g, rest);", "    return STATUS_OK;", "the solver's last way gets there", "objective-perturbation")
mutant("solver-accepts-early", "src/estimate/objective_perturbation.c", "        if (size <= REACHED * eta)\n            return STATUS_OK;\n        if (size < least) {", "        if (size <= 1e3 * eta)\n            return STATUS_OK;\n        if (size < least) {", "the gradient is below eta", "objective-perturbation")
mutant("block-draw-shape", "src/estimate/objective_perturbation.c", "    double r = rng_gamma(rng, m + 1) / rate;\n    for (size_t k = 0; k < blocks; k++) {", "    double r = rng_gamma(rng, m) / rate;\n    for (size_t k = 0; k < blocks; k++) {", "radius of K-norm noise", "objective-perturbation|dp-lm")
mutant("max-draw-shape", "src/estimate/objective_perturbation.c", "        double r = rng_gamma(rng, (double)m + 1) / rate;", "        double r = rng_gamma(rng, (double)m) / rate;", "radius of noise in the largest row's norm", "objective-perturbation|dp-lm")
mutant("length-draw-shape", "src/estimate/objective_perturbation.c", "        double r = rng_gamma(rng, (double)m) / rate;\n        for (size_t k = 0; k < m; k++)\n            b[k] *= r;", "        double r = 0.97 * rng_gamma(rng, (double)m) / rate;\n        for (size_t k = 0; k < m; k++)\n            b[k] *= r;", "radius of noise in the length", "objective-perturbation|dp-lm")
mutant("vertex-draw-low", "src/estimate/objective_perturbation.c", "        double r = rng_gamma(rng, (double)q) / rate;", "        double r = 0.97 * rng_gamma(rng, (double)q) / rate;", "radius of vertex noise", "objective-perturbation|dp-lm")
mutant("choice-not-half", "src/ffi/ffi_objective_perturbation.c", "        total += exp(in->epsilon * (score[i] - best) / 2);", "        total += exp(in->epsilon * (score[i] - best));", "the exponential mechanism takes half of epsilon a score", "objective-perturbation|dp-lm")
mutant("choice-epsilon-whole", "src/ffi/ffi_objective_perturbation.c", "        u -= exp(in->epsilon * (score[pick] - best) / 2);", "        u -= exp(in->epsilon * (score[pick] - best));", "the exponential mechanism takes half of epsilon a score", "objective-perturbation|dp-lm")
mutant("statistics-rate", "R/linear-statistics.R", "rate <- outwards_down(epsilon)", "rate <- outwards_down(1.03 * epsilon)", "K-norm noise of rate epsilon", "dp-lm|private-release")
mutant("statistics-width", "R/linear-statistics.R", "list(u = rep(2, d),", "list(u = rep(1, d),", "a sum of u moves by up to 2", "dp-lm|chunk-linear")
mutant("statistics-reach", "R/linear-statistics.R", "xy <- plain$xy + width$xy * reach *", "xy <- plain$xy + reach *", "a sum of x y moves by up to 2 reach", "dp-lm|chunk-linear")
mutant("adassp-share", "R/dp-lm-methods.R", "share <- sqrt(c(value = 0.1, xx = 0.35, xy = 0.55)) * mu", "share <- c(value = 0.4, xx = 0.7, xy = 0.8) * mu", "squares of mu add up to mu^2", "dp-lm")
mutant("adassp-width", "R/dp-lm-methods.R", "xx = sqrt(2) * (d + 1), xy", "xx = d + 1, xy", "X'X moves by up to sqrt(2)(d + 1)", "dp-lm")
mutant("output-rate", "R/dp-lm-methods.R", "rate = core / (2 * tau * sqrt(t)), solver", "rate = core / (tau * sqrt(t)), solver", "the minimiser moves by 2 tau sqrt(t)", "dp-lm|objective-perturbation")
mutant("kng-linear-rate", "R/dp-lm-methods.R", "rate = ask$epsilon / (4 * tau)", "rate = ask$epsilon / (2 * tau)", "the K-norm gradient mechanism needs epsilon/2", "dp-lm")
mutant("recentring-last-share", "R/dp-lm-methods.R", "(1 - rounds * (share$first + share$scale)) * (1 - 1e-14)", "(1 - rounds * share$first) * (1 - 1e-14)", "all rounds and the last fit share epsilon", "dp-lm")
mutant("linear-clip-off", "R/dp-lm-methods.R", "  limit <- if (limit) REACH else Inf\n", "  limit <- Inf\n", "responses are moved to REACH", "dp-lm|objective-perturbation|linear-guess")

# ---- private curves ------------------------------------------------------------------------------------------------------------------------------

mutant("newton-rate", "R/regression-newton.R", "norm = norm, rate = e1 / (2 * tau))", "norm = norm, rate = 1.03 * e1 / (2 * tau))", "rate = e1/(2 tau)", "regression-newton|dp-regression")
mutant("newton-gauge-unused", "R/regression-newton.R", "  rate <- outwards_down(rule$rate / gauge)\n  x <-", "  rate <- outwards_down(rule$rate)\n  x <-", "curved features are longer: the noise takes their gauge", "regression-newton|dp-regression")
mutant("newton-ridge-unused", "R/regression-newton.R", "  ridge <- matrix(rep(rule$ridge * grow, each = q), q)", "  ridge <- matrix(rep(rule$ridge, each = q), q)", "curved features have more leverage: the ridge grows", "regression-newton|dp-regression")
mutant("noisy-step-rate", "R/regression-newton.R", "rate = epsilon / (2 * best$tau), epsilon = epsilon", "rate = epsilon / best$tau, epsilon = epsilon", "clipped sums move by 2 tau", "regression-newton|dp-regression")
mutant("noisy-step-gauge", "R/regression-newton.R", "  rate <- outwards_down(rule$rate / gauge)\n  noise", "  rate <- outwards_down(rule$rate)\n  noise", "curved features are longer: the noise takes their gauge", "regression-newton|dp-regression")
mutant("newton-patterns-over", "R/regression-newton.R", "rule <- noisy_rule(n, pattern[i] * epsilon, q, k, bound, prior, model)", "rule <- noisy_rule(n, epsilon, q, k, bound, prior, model)", "each step has its share of epsilon", "regression-newton|dp-regression")
mutant("newton-first-whole", "R/regression-newton.R", "rule <- if (best) newton_rule(n, pattern[i] * epsilon, q, k", "rule <- if (best) newton_rule(n, epsilon, q, k", "each step has its share of epsilon", "regression-newton|dp-regression")
mutant("curve-kng-scale", "R/regression-kng.R", "  scale <- 2 * (2 * tau / ask$n) / ask$epsilon", "  scale <- (2 * tau / ask$n) / ask$epsilon", "the K-norm gradient mechanism needs twice the sensitivity over epsilon", "regression-kng|dp-regression")
mutant("curve-kng-foot-uncut", "R/regression-kng.R", "  list(foot * pmin(1, most[1] / pmax(sqrt(rowSums(foot^2)), 1e-300)),", "  list(foot,", "gradients at the foot point are cut to their bound", "regression-kng")
mutant("curve-kng-vector-uncut", "R/regression-kng.R", "       vector * pmin(1, most[2] / pmax(sqrt(rowSums(vector^2)), 1e-300)))", "       vector)", "gradients of the vector are cut to their bound", "regression-kng")
mutant("curve-kng-factor", "R/regression-kng.R", "  c(cosh(a), reach *", "  c(1, reach *", "Jacobi fields grow where curvature is negative", "regression-kng")

# ---- the mean's solver and its rounding bound ----------------------------------------------------------------------------------------------------

mutant("steps-sphere-error", "R/mean-steps.R", "      log <- 2 * r * ((16 * d + 900) * u + slip)", "      log <- 0.02 * r * ((16 * d + 900) * u + slip)", "the bound of a logarithm's rounding on spheres", "mean-steps")
mutant("steps-few", "R/mean-steps.R", "count = if (q < 1) ceiling(log(1e-12) / log(q)) else Inf", "count = if (q < 1) ceiling(log(1e-3) / log(q)) else Inf", "as many steps as the contraction asks for", "mean-steps")
mutant("steps-too-long", "R/mean-steps.R", "  step <- min(cot_factor(rho) / zeta, 2 / (zeta * (zeta + h))) * (1 - 1e-12)", "  step <- 2.2 / zeta", "steps that contract", "mean-steps")
mutant("steps-distance", "R/mean-steps.R", "  distance <- if (lattice) settled else max(settled, ((1 + 1e-6) * accept + errors$gradient) / across)", "  distance <- settled", "what a mean found otherwise is off by counts", "mean-steps")
mutant("steps-settled", "R/mean-steps.R", "  settled <- s$q^s$count * r + s$eta / (1 - s$q)", "  settled <- s$q^s$count * r", "rounding errors of all steps add up", "mean-steps")
mutant("steps-wrap", "R/mean-steps.R", "error = outwards((if (rho > 0) rho / sin(rho) else 1) * distance)", "error = outwards(distance)", "log at the centre stretches the error", "mean-steps")

# ---- distributions of the privacy loss, transforms -----------------------------------------------------------------------------------------------

mutant("fft-error-none", "R/accountant-pld-grid.R", "fft_error <- function(n) 8 * log2(n + 1) * .Machine$double.eps", "fft_error <- function(n) 0", "the transform's rounding counts", "accountant")
mutant("pld-tails-lost", "R/accountant-pld-grid.R", '    infinite <- infinite + tails[["high"]]\n', "", "what lies beyond the grid counts as infinite", "accountant")
mutant("pld-low-tail-lost", "R/accountant-pld-grid.R", '      mass[i] <- mass[i] + tails[["low"]]\n', "", "all of the mass counts", "accountant",
       equivalent = "masses of 1e-6 and less a composition at the law's low end, where losses are negative: no epsilon or delta above 0 changes in 12 digits")
mutant("pld-atoms-down", "R/accountant-pld-grid.R", "    mass <- c(mass, source$mass[keep] * (1 - parts$share), source$mass[keep] * parts$share)\n  }\n  sums", "    mass <- c(mass, source$mass[keep], 0 * source$mass[keep])\n  }\n  sums", "atoms are split so that both laws keep their mass", "accountant")
mutant("pld-fold-mirror", "R/accountant-pld-grid.R", "  mirror <- mass * exp(-h * at)", "  mirror <- 0 * mass", "the mirror image of sampled replace-one steps", "accountant",
       equivalent = "masses at negative losses; what is missing goes to 0, which is above them: a looser bound")
mutant("pld-leave-only", "R/accountant-pld-source.R", 'if (has_poisson(event)) c("leave", "enter") else "both"', 'if (has_poisson(event)) "enter" else "both"', "both directions of add/remove count", "accountant")
mutant("pld-infinite-lost", "R/accountant-pld.R", "  source$infinite <- q * source$infinite\n", "  source$infinite <- q^2 * source$infinite\n", "what tells all in a sampled step counts", "event-price|accountant")
mutant("pld-gaussian-mu", "R/accountant-pld.R", "    mu <- sqrt(sum(vapply(parts[flat], `[[`, 0, \"times\") * unlist(mus[flat])^2))", "    mu <- 0.97 * sqrt(sum(vapply(parts[flat], `[[`, 0, \"times\") * unlist(mus[flat])^2))", "Gaussian steps compose to one", "accountant")
mutant("pld-chernoff-infinite", "R/accountant-pld.R", "  max(0, epsilon_balle(d$theta + 1, v, delta - d$infinite) + pld_slack(d))", "  max(0, epsilon_balle(d$theta + 1, v, delta) + pld_slack(d))", "infinite losses take of delta", "accountant")
mutant("pld-cells-split", "src/account/accountant_pld.c", "        double up = clamp(above / top, 0, mass);", "        double up = 0.97 * clamp(above / top, 0, mass);", "a bin's mass goes to its ends so that both laws keep theirs", "accountant")
mutant("pld-private-once", "R/accountant-pld.R", "    return(new_event(\"compose\", event$adjacency, list(times = 1), list(of_rank(1), of_rank(2))))", "    return(of_rank(1))", "private keys cost the two dearest parts", "accountant|event-price")

# ---- private optimisation: clipping, noise, batches ----------------------------------------------------------------------------------------------

mutant("clip-off", "src/mechanism/optim_parts.c", "                scale = length <= clip ? 1 : clip / length;", "                scale = 1;", "gradients are clipped record by record", "optimize")
mutant("clip-loose", "src/mechanism/optim_parts.c", "                scale = length <= clip ? 1 : clip / length;", "                scale = length <= clip ? 1 : 1.03 * clip / length;", "gradients are clipped to their bound", "optimize")
mutant("optimum-noise-low", "src/mechanism/optim_parts.c", "    int status = tangent_noise(m, z, one(p), TANGENT_GAUSSIAN, sd, o->rng, 0, 1, rest);", "    int status = tangent_noise(m, z, one(p), TANGENT_GAUSSIAN, 0.97 * sd, o->rng, 0, 1, rest);", "noise has the sd stated", "optimize")
mutant("optimum-noise-none", "src/mechanism/optim_rsvrg.c", "    return optim_add_noise(o, v, p, o->sd, rest);", "    return STATUS_OK;", "each step has fresh noise", "optimize")
mutant("snapshot-noise-none", "src/mechanism/optim_rsgd.c", "    return optim_add_noise(o, r, p, o->snapshot_sd, work);", "    return STATUS_OK;", "snapshots have noise", "optimize")
mutant("snapshot-clip", "src/mechanism/optim_rsgd.c", "    const struct problem_step s = {.p = p, .clip = o->snapshot_clip};", "    const struct problem_step s = {.p = p, .clip = 1e300};", "snapshots are clipped", "optimize")
mutant("difference-unclipped", "src/mechanism/optim_rsvrg.c", "    const struct problem_step s = {p, snapshot, o->clip, o->paper};", "    const struct problem_step s = {p, snapshot, 1e300, o->paper};", "differences are clipped", "optimize")
mutant("poisson-divisor", "src/mechanism/optim_rsgd.c", "    double divisor = o->sampling == OPTIM_POISSON ? o->divisor : (double)count;", "    double divisor = (double)(count > 0 ? count : 1);", "a Poisson batch is divided by a public number", "optimize")
mutant("disjoint-overlap", "src/mechanism/optim_parts.c", "        *which = w + step % batches * o->batch;", "        *which = w + step % batches * (o->batch / 2);", "disjoint batches are disjoint", "optimize")
mutant("poisson-rate", "src/mechanism/optim_parts.c", "scale = 1 / log1p(-o->rate);;", "scale = 1 / log1p(-0.9 * o->rate);;", "each record is drawn with the rate stated", "optimize")

# ---- sites, checkpoints --------------------------------------------------------------------------------------------------------------------------

mutant("site-event-half", "R/chunk-sites.R", "event_gaussian(outwards_down(request$sd / (2 * request$radius)), \"replace-one\")", "event_gaussian(outwards_down(request$sd / request$radius), \"replace-one\")", "one record moves a site's sum by 2 radius", "chunk-sites")
mutant("site-sums-counts", "R/chunk-sites.R", "  if (kernel == \"noisy\" && !enough) refuse(\"the noise asked for is too small for this site.\")\n", "", "a site's own least noise holds", "chunk-sites")
mutant("site-any-kernel", "R/chunk-sites.R", "!kernel %in% SITE_KERNELS[[answers]] ||", "FALSE ||", "sites answer with noisy sums only", "chunk-sites")
mutant("site-gradients-unclipped", "R/chunk-sites.R", "  if (kernel == \"gradients\" && !clipped) refuse(\"this site gives clipped gradients only.\")\n", "", "sites give clipped gradients only", "chunk-sites")

# ---- lattice noise -------------------------------------------------------------------------------------------------------------------------------

mutant("bernoulli-exp-k", "src/mechanism/sampler_lattice.c", "    while (bernoulli(bits, num, den) && bernoulli(bits, 1, k))", "    while (bernoulli(bits, num, den) && bernoulli(bits, 1, k + 1))", "Bernoulli trials of probability exp(-x)", "sampler-lattice")
mutant("discrete-laplace-zero", "src/mechanism/sampler_lattice.c", "        if (negative && u == 0)\n            continue;\n", "", "zero isn't drawn twice as often", "sampler-lattice")
mutant("discrete-gaussian-keep", "src/mechanism/sampler_lattice.c", "        if (bernoulli_exp_big(bits, &gamma, &den))\n            return y;", "        if (bernoulli_exp_big(bits, &gamma, &den) || 1)\n            return y;", "discrete Gaussian noise is kept by its probability", "sampler-lattice")
mutant("l2-grid-corner", "src/mechanism/sampler_lattice.c", "    big_add(norm, &t);\n    big_copy(&t, norm);", "    big_copy(&t, norm);", "the trial counts the half diagonal of a cell", "sampler-lattice")
mutant("l2-degrees", "src/mechanism/sampler_lattice.c", "    for (size_t i = 0; i < l->d; i++) {\n        big_deviate(l->bits, &t, l->e + i, l->digits);", "    for (size_t i = 0; i + 1 < l->d || i == 0; i++) {\n        big_deviate(l->bits, &t, l->e + i, l->digits);", "the radius is a sum of d exponentials", "sampler-lattice")
mutant("normal-sign", "src/mechanism/sampler_lattice.c", "        x->negative = (int)take(bits, 1);", "        x->negative = 0;", "noise has both signs", "sampler-lattice")
mutant("uniform-biased", "src/mechanism/sampler_lattice.c", "        x &= mask;\n    }", "        x = (x & mask) % most;\n    }", "no bias in whole numbers", "sampler-lattice")
# ---- the check of a linear fit's guess -----------------------------------------------------------------------------------------------------------

mutant("guess-check-unpaid", "R/linear-guess.R", "- ask$q * prices$check -", "-", "the check of the guess is paid for", "linear-guess")
mutant("guess-trusted-checked", "R/linear-guess.R", "if (!m$auto || ask$trusted || ask$n <", "if (!m$auto || ask$n <", "a trusted guess is not checked", "^dp-lm$")
mutant("guess-check-once", "R/linear-guess.R", "- ask$q * prices$check -", "- prices$check -", "each response's check is paid for", "linear-guess")
mutant("guess-search-unpaid", "R/linear-guess.R", " - searched * prices$search)", ")", "the search is paid for", "linear-guess")
mutant("guess-search-once", "R/linear-guess.R", " - searched * prices$search)", " - (searched > 0) * prices$search)", "each response's search is paid for", "linear-guess")
mutant("guess-fit-unsearched", "R/dp-lm-methods.R", "ask <- guess_left(ask, plan$check, sum(guess$searched))", "ask <- guess_left(ask, plan$check, 0)", "the fit has what the search left", "linear-guess")
mutant("guess-fit-whole", "R/dp-lm.R", "plan <- c(m$plan(left), method = name)", "plan <- c(m$plan(ask), method = name)", "the fit has what the check left", "linear-guess")
mutant("guess-promise-part", "R/dp-lm.R", "    plan$guarantee$epsilon <- ask$epsilon\n", "", "the guarantee and the ledger have the check and the fit", "linear-guess")
mutant("guess-promise-mu", "R/dp-lm.R", "    plan$guarantee$mu <- NULL\n", "", "a check beside normal noise is not Gaussian privacy", "linear-guess")
mutant("guess-check-twice", "R/linear-guess.R", "c(-s, s), epsilon,", "c(-2 * s, 2 * s), epsilon,", "the check's utilities move by 1", "linear-guess")
mutant("guess-counts-both", "R/linear-guess.R", "apply(counts - rep(most, each = nrow(counts)), 1, max)", "apply(counts - rep(most, each = nrow(counts)), 1, function(over) sum(sort(over)[3:4]))", "one record moves the check's score by 1", "linear-guess")
mutant("guess-weights-twice", "R/linear-guess.R", "c(epsilon * level$score / 2, epsilon * level$floor / 2", "c(epsilon * level$score, epsilon * level$floor", "utilities weigh half of epsilon", "linear-guess")
mutant("guess-draw-twice", "R/linear-guess.R", "as.double(2 * log_weights / epsilon)", "as.double(4 * log_weights / epsilon)", "a candidate is drawn with its weight", "linear-guess")
mutant("guess-window-twice", "R/linear-guess.R", "window <- below[, 4] - below[, 1] - fraction * total", "window <- 2 * (below[, 4] - below[, 1]) - fraction * total", "one record moves a window's count by 1", "linear-guess")
mutant("guess-windows-missed", "R/linear-guess.R", "step <- max(least, least * floor(GUESS_FLOOR * total / least))", "step <- max(least, least * floor(9 * GUESS_FLOOR * total / least))", "every window above the floor is listed", "linear-guess")
mutant("guess-span-late", "R/linear-guess.R", "before <- c(0, sums[-length(sums)])", "before <- sums - 1", "a span begins at the first record of a cell", "linear-guess")
mutant("guess-span-wide", "R/linear-guess.R", "total == 0 || 8 * unit <= table$span", "total == 0 || 4 * unit <= table$span", "no level is passed over that has a window above the floor", "linear-guess")
mutant("guess-sides-blind", "R/linear-guess.R", "count(y > GUESS_SIDE[[\"length\"]]),\n        count(y < -GUESS_SIDE[[\"length\"]])", "0 * rowSums(y), 0 * rowSums(y)", "a centre some scales off is noticed on either side", "linear-guess")
mutant("guess-next-blind", "R/linear-guess.R", "GUESS_NEXT <- c(length = 0.15, share = 0.4)", "GUESS_NEXT <- c(length = 0.15, share = 1)", "a scale that is wholly too large hardly ever passes", "linear-guess")
mutant("guess-alarm-often", "R/linear-guess.R", "GUESS_SIDE <- c(length = 0.7, share = 0.45)", "GUESS_SIDE <- c(length = 0.7, share = 0.3)", "good guesses are seldom searched", "linear-guess")
mutant("guess-scale-off", "R/linear-guess.R", "scale <- 2^(found[[\"k\"]] / 4)", "scale <- 1.5 * 2^(found[[\"k\"]] / 4)", "a scale that is found fits", "linear-guess")
mutant("guess-cells-coarse", "R/linear-guess.R", "(least * (GUESS_CENTRES + 16))", "(least * (GUESS_CENTRES / 16))", "cells are as fine as the candidates' windows", "linear-guess")
mutant("guess-missing-counted", "R/linear-guess.R", "  valid <- x[1, ] != 0\n  y <- y[, valid, drop = FALSE]", "  valid <- rep(TRUE, ncol(y))", "missing records count neither far nor near", "linear-guess")
mutant("guess-interval-whole", "R/dp-lm-object.R", "statistics_sd(d, q, details$left)", "statistics_sd(d, q, object$epsilon)", "intervals are of the noise that was added", "linear-guess")
mutant("scale-score-twice", "R/dp-lm-methods.R", "c(-abs(count[-last] - aim)", "c(-2 * abs(count[-last] - aim)", "a scale's score moves by 1", "linear-guess|objective-perturbation")
mutant("scale-top-twice", "R/dp-lm-methods.R", "-max(0, count[last - 1] - aim))", "-2 * max(0, count[last - 1] - aim))", "the top's score moves by 1", "linear-guess|objective-perturbation")

# ---- the core from C -----------------------------------------------------------------------------------------------------------------------------

mutant("core-point-unchecked", "src/core/core.c", "int status = h->m.ops->check_point(&h->m, in[0], 0, n_p, h->work);\n    if (status == STATUS_OK)\n        status = tangent", "int status = STATUS_OK;\n    if (status == STATUS_OK)\n        status = tangent",
       "the C interface refuses what is no point", "^core$")
mutant("core-laplace-scale", "src/core/core.c", "laplace_make(&law, &h->m, sigma)", "laplace_make(&law, &h->m, 0.8 * sigma)", "draws through the C interface have the scale that was asked for", "^core$")
mutant("core-mean-start", "src/core/core.c", "weights ? weights + begin : NULL", "NULL", "the C interface's mean is R's, bit for bit", "^core$")
mutant("core-callable-wrong", "src/init.c", '"rdp_" #name, (DL_FUNC)', '"rdp_" #name "_", (DL_FUNC)', "the C interface is found by its names", "^core$")

# ---- readers, and the data of the papers' figures -------------------------------------------------------------------------------------------------

mutant("sphere-image-without-light", "R/image.R", "  x[bad, ] <- 1\n", "", "an image that gives no direction is a fixed point", "image")
mutant("descriptor-of-the-first", "src/ffi/ffi_readers.c", "REAL(in->images) + i * rows", "REAL(in->images) + 0 * i * rows", "a descriptor is a function of its own image", "image")
mutant("descriptor-derivative", "src/readers/image.c", "return i < 0 ? 0 :", "return i < 0 ? 1 :", "pixels beyond the border repeat it", "image")
mutant("embedding-negative-has-edge", "src/readers/embedding.c", "if (w == u || has_edge(e, u, w))", "if (w == u)", "nodes with an edge are no negatives", "embedding")
mutant("embedding-out-of-the-ball", "src/readers/embedding.c", "    into_ball(n, x + u * n);\n", "", "no step leaves the ball", "embedding")
mutant("figure-data-other-size", "R/figure-data.R", 'figure_function("simulate_digits")(n, size)', 'figure_function("simulate_digits")(n, 28)', "arguments are handed over", "image")
mutant("figure-field-variance", "inst/reproduce/data.R", "/ sum(weights^2)", "/ sum(weights)", "a simulated field has unit variance", "image")
mutant("figure-wordnet-leaf", "inst/reproduce/data.R", "if (any(found[out] %in% parent[keep]))", "if (FALSE)", "leaves only are left out", "wordnet")

# ---- the tables of manifolds, and words in the place of numbers ------------------------------------------------------------------------------------

mutant("table-mean-curvature", "src/geometry/manifold_spd_affine.c", "-k / (4 * (double)m->dim)", "-k / (4.2 * (double)m->dim)", "mean curvature is that of the geometry", "geometry-laws")
mutant("table-mean-curvature-shapes", "src/geometry/manifold_kendall.c", "((double)m->dim + 2) / ((double)m->dim - 1)", "((double)m->dim + 2) / (double)m->dim", "mean curvature is that of the geometry", "geometry-laws")
mutant("table-volume-growth", "src/geometry/manifold_spd_affine.c", "sqrt(k * (k * k - 1) / 3) / 2", "sqrt(k * (k * k - 1) / 3) / 2.1", "volume grows at the rate that is stated", "geometry-laws")
mutant("table-arithmetic-stays", "src/geometry/manifold_stiefel.c", "MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM", "MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM | MANIFOLD_ARITHMETIC", "arithmetic means of frames can leave the ball", "geometry-laws")
mutant("table-kng-on-frames", "src/geometry/manifold_stiefel.c", "MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM", "MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM | MANIFOLD_KNG", "the K-norm sampler is offered only where its bounds are proven", "mechanism-kng|geometry-laws")
mutant("class-unlike-name", "src/ffi/ffi.c", "return strcmp(name + 7, family) == 0;", "return 1;", "methods go by the class and C by the name: they agree", "errors")
mutant("release-no-point", "R/dp-mean.R", "point_held(ask$manifold, out$value, ask$center)", "out$value", "a released mean is a point of its space", "uncertainty")
mutant("region-beyond-doubles", "R/uncertainty.R", " || isTRUE(object$beyond)) NULL else if", ") NULL else if", "a stand-in's region doesn't use the noise's law", "uncertainty")
mutant("plan-untyped", "R/private-release.R", "plan <- typed_plan(estimator$plan(ask), estimator$parts)", "plan <- estimator$plan(ask)", "a plan with a part missing is stopped before anything is spent", "private-release")
mutant("plan-of-mean-untyped", "R/mechanism.R", "typed_plan(plan, c(MEAN_PARTS", "(function(plan, parts) plan)(plan, c(MEAN_PARTS", "a plan with a part missing is never shown", "private-release")

# ---- units -------------------------------------------------------------------------------------------------------------------------------------------

mutant("unit-rows-counted", "R/dp-mean.R", "count <- units$count %||% n", "count <- n", "noise is for the number of units, not of rows", "units")
mutant("unit-not-gathered", "R/dp-mean.R", "if (is.null(records$units)) return(records[\"x\"])", "return(records[\"x\"])", "a unit counts once", "units")
mutant("unit-other-records", "src/ffi/ffi_steps.c", "s.records.y = y + begin[u] * size;", "s.records.y = y;", "a unit's point is made of its own records", "units")
mutant("unit-words-of-rows", "R/dp-mean.R", "plan$guarantee <- of_units(plan$guarantee, ask$unit)\n    plan$mean", "plan$mean", "the guarantee says who is protected", "units")
mutant("unit-missing-passes", "R/dp-mean.R", 'check_units(records$units, paste("With', 'c(records$units$of, paste("With', "rows without a unit are refused before anything is spent", "units")
mutant("unit-timing", "R/dp-mean.R", 'if (identical(timing, "constant")) {', "if (FALSE) {", "no constant time is promised where units have their own numbers of rows", "units")
mutant("unit-entry", "R/guarantee.R", 'if (!is.null(unit)) paste(", unit", unit))', "NULL)", "the ledger says which unit an entry is about", "units")
mutant("unit-gradients-summed", "src/mechanism/optim_rsgd.c", "q->share[some++] = 1 / (double)size;", "q->share[some++] = 1;", "a unit counts with the average of its rows' gradients", "units")
mutant("unit-gradients-clipped-late", "src/mechanism/optim_rsgd.c", "        optim_rows(q, s, g, h, NULL, q->some, some, rest);", "        struct problem_step loose = *s;\n        loose.clip = INFINITY;\n        optim_rows(q, &loose, g, h, NULL, q->some, some, rest);", "each row's gradient is clipped by itself", "units")
mutant("unit-steps-of-rows", "R/optimum-run.R", "if (is.null(input$units)) input$n else length(input$units$first) - 1", "input$n", "noise is for the number of units, not of rows", "units")
mutant("unit-steps-first-row", "src/mechanism/optim_rsgd.c", "q->some[some] = q->rows[begin + (*row)++];", "q->some[some] = q->rows[begin];\n            ++*row;", "all rows of a unit count", "units")
mutant("unit-steps-words", "R/dp-optimize.R", "of_units(optimum_guarantee(ask$problem, ask, plan), ask$unit)", "optimum_guarantee(ask$problem, ask, plan)", "the guarantee says who is protected", "units")
mutant("unit-steps-missing", "R/optimum-run.R", "  check_units(units)\n", "", "rows without a unit are refused before anything is spent", "units")
mutant("unit-seal", "R/checkpoint.R", "if (!is.null(units)) records <- list(records, units$of)", "", "a run goes on with the units that were paid for", "units")
mutant("unit-fits-of-rows", "R/mean-records.R", 'if (is.null(share)) n else attr(share, "units")', "n", "noise is for the number of units, not of rows", "units")
mutant("unit-fits-summed", "R/mean-records.R", "share <- floor(2^30 / tabulate(units$of, units$count)[units$of]) / 2^30", "share <- rep(1, length(units$of))", "a unit counts with the average over its rows", "units")
mutant("unit-plan-of-rows", "R/dp-lm.R", 'guess, if (check_flag(unit, "unit")) "unit")', "guess)", "a plan for units has the constants of the call with units", "units")
mutant("unit-curve-plan-of-rows", "R/dp-regression.R", "    ask$unit <- unit\n    rows <- c(rows", "    rows <- c(rows", "a plan for units has the constants of the call with units", "units")
mutant("unit-log-det", "src/estimate/objective_perturbation.c", "return averaged ? v : log1p(v);", "return log1p(v);", "an average's curvature is paid for by its trace", "units")
mutant("unit-log-det-inverse", "src/estimate/objective_perturbation.c", "return averaged ? left : expm1(left);", "return expm1(left);", "the table of averages is made by traces", "units")
mutant("unit-log-det-price", "R/objective-perturbation.R", "cost <- if (isTRUE(rule$averaged)) identity else log1p", "cost <- log1p", "an average's curvature has the price of its trace", "units",
       equivalent = "the rules keep the budget by traces; this price is the second of two guards")
mutant("unit-log-det-huber", "R/objective-perturbation.R", "t <- leverage(1, (core - e1) * (1 - 1e-12), q, averaged)", "t <- leverage(1, (core - e1) * (1 - 1e-12), q)", "e1 + q t = epsilon for averages", "units")
mutant("unit-rule-of-rows", "R/dp-lm-methods.R", "averaged = !is.null(ask$unit))", "averaged = FALSE)", "fits of units have constants for averages", "units")
mutant("unit-steps-of-rows-rule", "R/regression-newton.R", "if (is.finite(bend)) bend else 1, !is.null(ask$unit))", "if (is.finite(bend)) bend else 1)", "steps of units have constants for averages", "units")
mutant("unit-share-left-out", "src/estimate/objective_perturbation.c", "    if (o->share) {\n        *across *= o->share[i];", "    if (o->share) {", "a row's gradient counts by its share", "units")
mutant("unit-moments-summed", "R/linear-statistics.R", "root <- rep(sqrt(share), each = nrow(x))", "root <- 1", "sums of products are of averages", "units")
mutant("unit-counts-summed", "R/dp-lm-methods.R", "share <- shares_of(x) %||% rep(1, length(size))", "share <- rep(1, length(size))", "counts of residuals are of averages", "units")
mutant("unit-guess-summed", "R/linear-guess.R", "share <- shares_of(x)[valid] %||% rep(1, ncol(y))", "share <- rep(1, ncol(y))", "counts far from a guess are of averages", "units")
mutant("unit-cells-summed", "R/linear-guess.R", "share <- shares_of(x)[valid] %||% rep(1, sum(valid))", "share <- rep(1, sum(valid))", "the search for a guess counts averages", "units")
mutant("unit-windows-missed", "R/linear-guess.R", "least <- if (all(table$count == floor(table$count))) 1 else 2^-30", "least <- 7", "every window of units above the floor is listed", "units|linear-guess")
mutant("unit-curve-summed", "R/regression-state.R", "if (!is.null(share)) psi <- psi * rep(share, each = q)", "", "sums of clipped gradients are of averages", "units")
mutant("unit-curve-kng-summed", "R/regression-kng.R", "colSums(g * d$share) / ask$n", "colSums(g) / ask$n", "mean gradients are of averages", "units")
mutant("unit-kng-envelope", "src/estimate/objective_perturbation_kng.c", "far[2 * i + 1] = share_of(o, i) * (f * f * (1 + 1e-12));", "far[2 * i + 1] = 0 * f;", "the envelope lies above the law", "units|dp-lm",
       endless = FALSE)
mutant("unit-fits-words", "R/dp-lm.R", "plan$guarantee <- of_units(linear_promise(plan, ask$reasons, ask$assumptions), ask$unit)", "plan$guarantee <- linear_promise(plan, ask$reasons, ask$assumptions)", "the guarantee says who is protected", "units")
mutant("unit-curve-words", "R/dp-regression.R", "plan$guarantee <- of_units(plan$guarantee, ask$unit)", "", "the guarantee says who is protected", "units")
mutant("unit-fits-missing", "R/mean-records.R", "  if (!is.null(otherwise)) check_units(units, otherwise)\n", "", "rows without a unit are refused before anything is spent", "units")
mutant("unit-share-rounding", "R/objective-perturbation.R", "shares <- if (isTRUE(rule$averaged)) 2 else 0", "shares <- 0", "products with shares have their rounding paid for", "units")

# ---- where public numbers come from, and what budgets are worth ------------------------------------------------------------------------------------

mutant("source-dropped", "R/private-release.R", "  release$source <- ask$source\n", "", "a release carries where its public numbers come from", "guarantee")
mutant("source-not-entered", "R/private-release.R", "estimator$entry(plan, ask), data_set, part, ask$source)", "estimator$entry(plan, ask), data_set, part)", "the ledger's row carries it", "guarantee")
mutant("source-lost-on-resume", "R/checkpoint.R", "run$ask$source %||% NA_character_", "NA_character_", "a resumed run carries it", "^optimize")
mutant("source-unprinted", "R/guarantee.R", 'if (is_string(r$source)) sprintf("origin of the public %s: %s", what, r$source) else', "if (FALSE) NULL else", "print and explain say it", "guarantee")
mutant("source-silence-unprinted", "R/dp-mean-object.R", '    paste0("  ", origin_words(x)),\n', '    if (!is.na(x$source)) paste0("  ", origin_words(x)),\n', "print says where it isn't stated", "guarantee")
mutant("source-silence-unprinted-lm", "R/dp-lm-object.R", "budget_remarks(x$guarantee, x$n), origin_words(x)", "budget_remarks(x$guarantee, x$n), if (is_string(x$source)) origin_words(x)", "print says where it isn't stated", "guarantee")
mutant("source-unchecked", "R/records.R", 'source <- check_name(source, "source", 1000)', "source <- source", "a source is one string, refused before anything is spent", "guarantee")
mutant("source-of-sample", "R/dp-lm.R", 'if (from_sample) "the records"', "NULL", "bounds from the records say so", "guarantee")
mutant("source-release-unsaid", "R/records.R", "if (!any(known) || (", "if (TRUE || (", "public numbers that were released say so", "guarantee")
mutant("source-rest-unsaid", "R/records.R", 'if (length(rest)) paste0(rest, ": not stated")', "NULL", "a radius beside a released centre isn't taken for one that was released", "guarantee")
mutant("source-none-public", "R/records.R", 'x$guarantee$label %in% c("pure", "approx", "approx-sampler")', "TRUE", "a release without a proof isn't public", "guarantee")
mutant("source-radius-none-public", "R/dp-regression.R", 'check_number(public_value(radius, "radius"),', "check_number(if (inherits(radius, \"riemdp_release\")) radius$value else radius,", "nor is its value as a radius", "guarantee")
mutant("source-delta-unsaid", "R/records.R", 'if (g$delta > 0) paste0(", delta = ", format(g$delta))', "NULL", "a release's whole price is said", "guarantee")
mutant("ledger-source-column", "R/ledger-store.R", "      add_source(con, run)\n", "", "ledgers of earlier versions take a source", "ledger-store")
mutant("ledger-source-old", "R/ledger-store.R", "    if (is.null(rows$source)) rows$source <- rep(NA_character_, nrow(rows)) # of an earlier version\n", "", "ledgers of earlier versions open and show NA", "ledger-store")
mutant("ledger-source-unasked", "R/ledger-store.R", "    if (!is.na(entry$source)) {\n      add_source", "    if (TRUE) {\n      add_source", "a ledger of an earlier version is changed only where that is needed", "ledger-store")
mutant("explore-source-unsaid", "R/explore-plan.R", 'if (nzchar(source)) paste("source =", encodeString(source, quote = "\\""))', "NULL", "the page's call states the origin", "explore-plan")
mutant("explore-source-silent", "R/explore-plan.R", "error_note(\"mean\")),\n    origin_sentence(list(source = explore_source(w)), \"ball\")", 'error_note("mean"))', "the page says whether the origin is stated", "explore-plan")
mutant("remark-epsilon-silent", "R/guarantee.R", "if (g$epsilon > 10) paste0(", "if (g$epsilon > 100) paste0(", "an epsilon that promises nothing is remarked on", "guarantee")
mutant("remark-bet", "R/guarantee.R", "(1 - g$delta) / (1 + exp(g$epsilon))", "(1 - g$delta) / (1 + exp(g$epsilon / 2))", "the chance to win a bet follows from the guarantee", "guarantee")
mutant("remark-bet-delta", "R/guarantee.R", "(1 - g$delta) / (1 + exp(g$epsilon))", "1 / (1 + exp(g$epsilon))", "delta wins bets too", "guarantee")
mutant("remark-bet-rounded", "R/guarantee.R", "floor(rest / unit) * unit", "ceiling(rest / unit) * unit", "the chance is never understated", "guarantee")
mutant("remark-delta-loose", "R/guarantee.R", "isTRUE(g$delta >= 1 / n)", "isTRUE(g$delta > 1 / n)", "a delta of 1/n is remarked on", "guarantee")
mutant("remark-delta-half", "R/guarantee.R", "if (g$delta >= 0.5) {", "if (g$delta > 0.5) {", "a delta of a half publishes everything", "guarantee")
mutant("remark-private-n", "R/guarantee.R", "!private_n && isTRUE(g$delta >= 1 / n)", "isTRUE(g$delta >= 1 / n)", "remarks read public numbers only", "guarantee")
mutant("remark-on-none", "R/guarantee.R", 'if (!isTRUE(g$label != "none")) return(NULL)', "if (is.null(g$label)) return(NULL)", "where nothing is promised there is no remark on its numbers", "guarantee")
mutant("remark-of-rows", "R/guarantee.R", 'one <- if (of_rows(g)) "record" else "unit"', 'one <- "record"', "a bet is on whoever is protected", "guarantee")

# ---- plans that answer inverse questions ----------------------------------------------------------------------------------------------------------

mutant("plan-any-centre", "R/mechanism.R", "if (isTRUE(ask$any_center) && !is.null(mechanism$by_center)", "if (FALSE && !is.null(mechanism$by_center)", "costs that depend on the centre aren't told without one", "dp-mean-plan")
mutant("plan-centre-everywhere", "R/dp-mean-plan.R", "if (!facts$homogeneous || facts$local_bounds ||", "if (", "a centre has no default where the answer depends on it", "dp-mean-plan")
mutant("plan-least-too-low", "R/dp-mean-plan.R", "if (enough(middle)) high <- middle else low <- middle\n  }\n  high\n", "if (enough(middle)) high <- middle else low <- middle\n  }\n  low\n", "with the number found the error is kept", "dp-mean-plan")
mutant("plan-least-too-high", "R/dp-mean-plan.R", "SOUGHT_TOLERANCE <- 1e-3", "SOUGHT_TOLERANCE <- 1e-2", "a little less doesn't do", "dp-mean-plan")
mutant("plan-least-clipped", "R/dp-mean-plan.R", "share_epsilon(ask, value, ask$clipped$share)", "share_epsilon(ask, value, NULL)", "the count's share is in the epsilon that is found", "dp-mean-plan|clipped-share")
mutant("plan-found-rounded-down", "R/dp-mean-object.R", "signif(ceiling(value / unit) * unit, 4)", "signif(floor(value / unit) * unit, 4)", "the number printed keeps the error", "dp-mean-plan")
mutant("plan-adaptive-unasked", "R/dp-mean-plan.R", "!isTRUE(staged >= best$expected_error / 1.02)", "TRUE", "adaptive is chosen where its error is the smallest only", "dp-mean-plan")
mutant("plan-picture-silent", "R/plot-release.R", "below <- unlist(lapply(plan_undrawn(x), strwrap, width = 140, exdent = 4))", "below <- NULL", "rows without a curve are named in the picture", "dp-mean-plan")

# ---- released balls ---------------------------------------------------------------------------------------------------------------------------------

mutant("ball-radius-unpaid", "R/mechanism-adaptive.R", "              epsilon, pay(price_choice(epsilon, \"mean-sensitivity.md, 12\"))", "              epsilon, pay(price_choice(epsilon / 2, \"mean-sensitivity.md, 12\"))", "the radius' price is that of its draw", "private-release|dp-ball")
mutant("ball-radius-more", "R/dp-ball.R", "ask$fraction, ask$split[[\"radius\"]])", "ask$fraction, 2 * ask$split[[\"radius\"]])", "the radius is chosen with its share of epsilon", "dp-ball")
mutant("ball-center-more", "R/dp-ball.R", "ask$split[[\"center\"]], list(center = ask$center", "1, list(center = ask$center", "the centre has its share of epsilon", "private-release|dp-ball")
mutant("ball-shares-over", "R/mechanism-adaptive.R", "abs(sum(shares) - 1) < 1e-9", "TRUE", "shares add up to 1", "dp-ball|mechanism-adaptive")
mutant("ball-center-anywhere", "R/dp-ball.R", "clamp_to_ball(M, ask$center, ask$ball$radius, point)", "point", "the centre lies in the wide ball", "dp-ball")
mutant("ball-radius-wider", "R/check.R", "all(radii > 0) && all(radii <= most)", "all(radii > 0)", "no radius is beyond the wide ball's", "dp-ball")
mutant("ball-radius-unserved", "R/dp-ball.R", "if (any(served)) list(center = center, radii = ask$radii[served])", "if (any(served)) list(center = center, radii = ask$radii)", "radii with which nothing can be released aren't offered", "dp-ball")
mutant("stage-unserved", "R/mechanism-adaptive.R", "adaptive_stage(M, ask, share, ball)\n    TRUE\n  }, riemdp_error = function(e) FALSE)", "adaptive_stage(M, ask, share, ball)\n    TRUE\n  }, riemdp_error = function(e) TRUE)", "what can't be served isn't taken for served", "mechanism-adaptive|dp-ball")
mutant("ball-provenance", "R/records.R", "if (inherits(x, \"riemdp_release\")) return(released_by(x))", "if (inherits(x, \"riemdp_release\")) return(NULL)", "a ball's provenance stays with what uses it", "dp-ball|guarantee")
mutant("ball-as-radius", "R/records.R", "x$value[[if (name == \"radius\") \"radius\" else \"center\"]]", "x$value[[if (name == \"radius\") \"center\" else \"center\"]]", "a ball given as radius is its radius", "dp-ball")
mutant("ball-unit-rows", "R/dp-ball.R", "mean_ask(M, units$count %||% n,", "mean_ask(M, n,", "units are counted, not rows", "dp-ball|neighbours")
mutant("ball-unit-unsaid", "R/dp-ball.R", "of_units(promise_of(g, assumptions, trusted = M), ask$unit)", "promise_of(g, assumptions, trusted = M)", "a ball of units says so", "dp-ball")

# ---- plans of balls ---------------------------------------------------------------------------------------------------------------------------------

mutant("bounds-no-clipping", "R/dp-bounds-plan.R", "total = sqrt(clipping^2 + noise^2)", "total = noise", "clipping is in the total", "dp-bounds-plan")
mutant("bounds-sum", "R/dp-bounds-plan.R", "total = sqrt(clipping^2 + noise^2)", "total = clipping + noise", "errors are combined as it is said", "dp-bounds-plan")
mutant("bounds-sure-center", "R/dp-bounds-plan.R", "worth = function(n) m * n / (m + n), center", "worth = function(n) 1e5, center", "a centre of the records' own is uncertain", "dp-bounds-plan")
mutant("bounds-narrow", "R/dp-bounds-plan.R", "row(first$center, first$radius * tried$widened)", "row(first$center, first$radius)", "a small sample's ball is wider", "dp-bounds-plan")
mutant("bounds-limit", "R/dp-bounds-plan.R", "r <- r[vapply(r * widened, allowed_radius, NA, M = M, center = center)]", "r <- r[r > 0]", "radii that dp_mean() refuses aren't told", "dp-bounds-plan")
mutant("bounds-outside-within", "R/dp-bounds-plan.R", "mean(!(mf_dist(M, center, records$x) <= radius))", "mean(mf_dist(M, center, records$x) <= radius)", "the share told is of those outside", "dp-bounds-plan")
mutant("bounds-unsaid", "R/dp-bounds-plan.R", "said <- function(x) structure(x, riemdp_origin = records$words)", "said <- identity", "centre and radius keep their provenance", "dp-bounds-plan")
mutant("bounds-plan-unsaid", "R/records.R", "if (inherits(x, \"riemdp_bounds_plan\")) x$source else attr", "attr", "a plan given as the ball says where it comes from", "dp-bounds-plan")
mutant("bounds-source-hidden", "R/records.R", "all(unlist(told) == source)", "TRUE", "a caller's words don't hide the provenance", "dp-bounds-plan|dp-ball|guarantee")
mutant("bounds-worse-left-out", "R/dp-bounds-plan.R", "if (isTRUE(min(errors) < ask$ball$radius / 4)) {", "if (TRUE) {", "laws on the ball are tried where they can be better", "dp-bounds-plan")
mutant("explore-bet-low", "R/explore-plan.R", "won <- (exp(best$epsilon) + delta) / (1 + exp(best$epsilon))", "won <- exp(best$epsilon / 2) / (1 + exp(best$epsilon / 2))", "the board reads what a bet can win", "explore-plan")
mutant("explore-records-unsaid", "R/explore-plan.R", "if (is.null(space$public)) \"simulated records\"", "if (TRUE) \"simulated records\"", "public records in the picture are not called simulated", "explore-plan")
mutant("explore-ledger-less", "R/explore-plan.R", "epsilon = \", number(w$epsilon)", "epsilon = \", number(w$epsilon / 2)", "the ledger has room for the call", "explore-plan")
