# The tangent mean: mean of the records' logarithms at the public centre. It moves by at most 2r/n on every manifold,
# but is not the Frechet mean: a start or a baseline, which "auto" doesn't choose. No equation is solved, so lattice
# mode needs no bound of a solver's rounding errors and is there on every manifold.

mechanism_tangent <- list(
  name = "tangent",
  auto = FALSE,
  chunks = TRUE,
  shares = TRUE,
  lattice = function(M) TRUE,
  options = c("noise", "mu", "report_mu", "k"),
  unsupported = function(M, ask) {
    c(gaussian_unsupported(ask, "tangent"), lattice_option(ask, "k"),
      if (ask$numerics == "lattice") mechanism_lattice$unsupported(M, ask, "tangent"))[1]
  },
  plan = function(M, ask) {
    noise <- tangent_noise_asked(ask)
    sensitivity <- outwards(2 * ask$ball$radius / ask$n)
    steps <- mean_steps(M, ask$ball, ask$n, "tangent")
    if (steps$model != "none" && !is.null(steps$why)) abort_rounding(steps$why)
    total <- if (steps$model == "none") sensitivity else outwards(sensitivity + 2 * steps$error)
    facts <- mf_facts(M)
    if (is.null(noise)) {
      # both lengths are closed forms of public quantities
      long <- function(noise) noise_mean_length(facts$dimension, tangent_law(M, ask, noise, total)$scale, noise)
      noise <- if (ask$delta > 0 && long("gaussian") < long("knorm")) "gaussian" else "knorm"
    }
    law <- tangent_law(M, ask, noise, total)
    said <- list(noise = noise, moved = "mean tangent vector")
    if (ask$numerics == "lattice") {
      law$details <- c(law$details, said)
    } else {
      law <- c(list(sensitivity = sensitivity, theorem = "2r/n, proofs/gaussian.md", solver_error = total - sensitivity,
                    total = total),
               law, list(acceptance = 1, details = said, numbers = steps$numbers))
    }
    if (!is.null(ask$shares)) law <- share_law(law, M, ask)
    # The ball's radius is below half of the injectivity radius: without curvature it is a ball of Euclidean space,
    # however the space closes up outside (mean-solver.md, flat manifolds).
    flat <- facts$k_min == 0 && facts$k_max == 0
    c(law, list(
      target = if (flat) "the mean of the records' logarithms at the centre: on this flat space the Frechet mean" else
        "exp of the mean of the records' logarithms at the centre: NOT the Frechet mean"
    ))
  },
  error = function(M, plan, ask) { # to its own target
    noise <- plan$details$noise
    if (of_user(M)) return(noise_mean_length(mf_facts(M)$dimension, plan$scale, noise))
    expected_error(M, plan$scale, if (noise == "gaussian") "wrapped_gaussian" else "wrapped", ask$center,
                   ask$ball$radius)
  },
  release = function(M, x, plan, ask) {
    if (!is.null(ask$shares)) return(release_shares(M, x, plan, ask))
    if (ask$numerics == "lattice") return(mechanism_lattice$release(M, x, plan, ask))
    release_mean(M, x, plan, ask, if (plan$details$noise == "gaussian") "tangent_gaussian" else "tangent")
  },
  region = function(r, level) {
    found <- if (r$guarantee$numerics == "lattice") mechanism_lattice$region(r, level) else
      if (identical(r$size$form, "shared")) shared_group_region(r, level) else
        wrapped_region(r, noise_length_quantile(r, r$details$noise, level))
    if (!is.null(found)) {
      found$basis <- paste0(found$basis, "; for exp of the mean logarithm, on curved spaces not the Frechet mean")
    }
    found
  },
  words = function(r) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$words(r))
    paste0(
      "Each record's logarithm at the public centre is no longer than the radius",
      if (identical(r$size$form, "shared")) {
        paste(", and it counts in the sum of its group, which is divided by the noisy number of them. To the quotient",
              "is added, as it were, a vector ")
      } else ", so their mean moves by at most 2r/n. To it is added a vector ",
      if (r$details$noise == "gaussian") {
        sprintf(paste("of independent normals with standard deviation %.6g, by the exact condition for Gaussian noise",
                      "(Balle and Wang 2018)"),
                r$scale)
      } else {
        sprintf("with density proportional to exp(-|z|/scale), scale = sensitivity/epsilon = %.6g", r$scale)
      },
      if (!is.null(r$details$sites)) paste(",", share_words(r$details)),
      paste("; exp maps it back (proofs/gaussian.md). The expected error is the distance to the target named above; on",
            "curved spaces the target itself differs from the Frechet mean by an amount that the guarantee says",
            "nothing about.")
    )
  }
)

# "knorm", "gaussian", or NULL where the shorter one is to be taken
tangent_noise_asked <- function(ask) {
  if (!is.null(ask$shares) && (ask$numerics == "lattice" || ask$delta == 0)) {
    abort_riemdp("unsupported", "noise shares are Gaussian: they need `delta` > 0 and numerics = \"real\".")
  }
  noise <- if (is.null(ask$shares)) ask$options[["noise"]] else "gaussian"
  if (!is.null(noise)) noise <- check_choice(noise, "options$noise", c("knorm", "gaussian"))
  if (identical(noise, "gaussian") && ask$delta == 0) {
    abort_riemdp("argument", "`options = list(noise = \"gaussian\")` needs `delta` > 0.")
  }
  if (is.null(noise) && !is.null(ask$options$mu)) noise <- "gaussian"
  if (is.null(noise) && !is.null(ask$sigma)) noise <- if (ask$delta > 0) "gaussian" else "knorm"
  if (!identical(noise, "gaussian") && !is.null(ask$options$mu)) {
    abort_riemdp("argument", "`options$mu` is for Gaussian noise only.")
  }
  noise
}

tangent_law <- function(M, ask, noise, total) {
  if (ask$numerics == "lattice") {
    return(mechanism_lattice$plan(M, with_law(ask, if (noise == "gaussian") "gaussian" else "l2"), "tangent"))
  }
  if (noise == "gaussian") return(gaussian_law(ask, FLAT_SPACE, total))
  law <- pure_scale(ask, total)
  list(scale = law$scale, guarantee = list(epsilon = law$epsilon, delta = 0, reasons = NULL, sampler = "exact"))
}

# what sites send sums of: logarithms at the centre, or what is made of them
tangent_about <- function(M, ask) c(list(M = M, radius = ask$ball$radius), ask$about)

# The noisy sum of what a plan of shared noise is about: list(sum, sd), and of a secure one n and alive
draw_shared_sum <- function(x, plan, shares, proof, M = NULL, center = NULL) {
  request <- shared_request(plan, plan$about, M, center)
  if (is.null(plan$query)) {
    # against those who collude the others' shares are the noise
    pay(price_normal(vector_moved(plan$about), plan$share_sd * sqrt(shares$sites - shares$colluding), proof))
    return(list(sum = noisy_sum(x, request), sd = plan$share_sd * sqrt(shares$sites)))
  }
  pay(price_normal_discrete(plan$shift, honest_sd(plan$query), "federation.md, 2"))
  found <- secure_sum(x, request)
  alive <- length(found$alive)
  list(sum = found$sum * plan$query$step, sd = summed_scale(plan$query, alive, 1), n = sum(x$sizes[found$alive]),
       alive = alive)
}

# What is left when `colluding` sites take theirs back is the noise that the guarantee is about; in a secure sum, which
# nobody sees by site, that of those who are there at least.
share_law <- function(law, M, ask) {
  s <- ask$shares
  law$about <- tangent_about(M, ask)
  found <- sites_plan(s, law$about, law$scale * ask$n, ask$n)
  law[names(found)] <- found
  law$scale <- if (is.null(found$query)) law$scale * share_excess(s) else summed_scale(law$query, s$sites, ask$n)
  law$details <- c(law$details, s)
  law$guarantee$assumptions <- c(law$guarantee$assumptions, share_assumption(s))
  law
}

release_secure <- function(M, x, plan, ask) {
  query <- plan$query
  pay(price_normal_discrete(plan$shift, honest_sd(query), "federation.md, 2"))
  found <- secure_sum(x, shared_request(plan, plan$about, M, ask$center))
  n <- sum(x$sizes[found$alive])
  plan$details$alive <- length(found$alive)
  plan$scale <- summed_scale(query, length(found$alive), n)
  value <- exp_of_coords(M, found$sum * query$step / n, ask$center)
  structure(list(value = value, details = plan$details, scale = plan$scale, sensitivity = plan$sensitivity * ask$n / n,
                 counted = n), class = "riemdp_staged")
}

# Of one of several groups, whose released number has noise as well
shared_group_region <- function(r, level) {
  if (r$size$count < 1) return(NULL)
  wrapped_region(r, r$scale * counted_quantile(mf_facts(r$manifold)$dimension, level))
}

# A length that |z + a e| exceeds with probability 1 - level at most, z of d and e of one standard normal numbers, |a|
# at most 1: all but one direction, and one of twice the variance
counted_quantile <- function(d, level) {
  within <- function(q) {
    stats::integrate(function(u) stats::dnorm(u) * stats::pchisq(pmax(0, q^2 - 2 * u^2), d - 1), -q / sqrt(2),
                     q / sqrt(2), rel.tol = 1e-9)$value
  }
  if (d == 1) return(sqrt(2) * stats::qnorm((1 + level) / 2))
  top <- sqrt(2 * stats::qchisq(level, d)) * (1 + 1e-6) + 1e-6
  stats::uniroot(function(q) within(q) - level, c(0, top), tol = 1e-10)$root * (1 + 1e-7)
}

# noisy sums, one a site; what follows is post-processing
release_shares <- function(M, x, plan, ask) {
  if (!is.null(plan$query)) return(release_secure(M, x, plan, ask))
  request <- shared_request(plan, plan$about, M, ask$center)
  # against those who collude the others' shares are the noise
  honest <- plan$share_sd * sqrt(ask$shares$sites - ask$shares$colluding) / ask$n
  pay(price_normal(plan$sensitivity + plan$solver_error, honest, "chunks.md, 4"))
  sum <- noisy_sum(x, request) # here: exp_of_coords() tries again where it is met by an error
  exp_of_coords(M, sum / ask$n, ask$center)
}

exp_of_coords <- function(M, a, center) {
  for (k in 1:200) { # beyond the domain of exp (incomplete manifolds) half-way, as elsewhere
    # computed points at the edge of the space may be none
    value <- tryCatch(public_point(M, mf_exp(M, center, mf_from_coords(M, center, a))), riemdp_error = function(e) NULL)
    if (!is.null(value)) return(value)
    a <- a / 2
  }
  center
}
