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
      wrapped_region(r, noise_length_quantile(r, r$details$noise, level))
    if (!is.null(found)) {
      found$basis <- paste0(found$basis, "; for exp of the mean logarithm, on curved spaces not the Frechet mean")
    }
    found
  },
  words = function(r) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$words(r))
    paste0(
      paste("Each record's logarithm at the public centre is no longer than the radius, so their mean moves by at most",
            "2r/n. "),
      "To it is added a vector ",
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

# What is left when `colluding` sites take theirs back is the noise that the guarantee is about; in a secure sum, which
# nobody sees by site, that of those who are there at least.
share_law <- function(law, M, ask) {
  s <- ask$shares
  if (is.null(s$threshold)) {
    law$share_sd <- law$scale * ask$n / sqrt(s$sites - s$colluding)
    law$scale <- law$scale * share_excess(s)
  } else {
    found <- secure_query(s, list(M = M, radius = ask$ball$radius), law$scale / law$total, ask$n)
    law[names(found)] <- found
    law$scale <- summed_scale(law$query, s$sites, ask$n)
  }
  law$details <- c(law$details, s)
  law$guarantee$assumptions <- c(law$guarantee$assumptions, share_assumption(s))
  law
}

release_secure <- function(M, x, plan, ask) {
  query <- plan$query
  query$center <- .Call(riemdp_stored, M, ask$center)
  pay(price_normal_discrete(plan$shift, honest_sd(query), "federation.md, 2"))
  found <- secure_sum(x, query)
  n <- sum(x$sizes[found$alive])
  plan$details$alive <- length(found$alive)
  plan$scale <- summed_scale(query, length(found$alive), n)
  value <- exp_of_coords(M, found$sum * query$step / n, ask$center)
  structure(list(value = value, details = plan$details, scale = plan$scale, sensitivity = plan$sensitivity * ask$n / n,
                 counted = n), class = "riemdp_staged")
}

# noisy sums, one a site; what follows is post-processing
release_shares <- function(M, x, plan, ask) {
  if (!is.null(plan$query)) return(release_secure(M, x, plan, ask))
  request <- list(kernel = "noisy", M = M, center = .Call(riemdp_stored, M, ask$center), radius = ask$ball$radius,
                  sd = plan$share_sd)
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
