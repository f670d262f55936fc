# The mean on a product part by part: each part has a ball, a budget and a mechanism of its own, and the budgets add up
# (proofs/products.md, section 6).

# several radii make a product of balls, several epsilons a budget of each part
by_parts <- function(x) is.numeric(x) && length(x) > 1

# A product of balls, one in each part, and a geodesic ball around it. Its radius may be beyond what a geodesic ball's
# must be below: each part has its own limit.
product_ball <- function(M, radii, center) {
  check_part_numbers(M, radii, "radius")
  for (i in seq_along(M$parts)) check_radius(M$parts[[i]], radii[[i]], mf_part(M, center, i))
  radius <- sqrt(sum(M$weights * radii^2))
  c(ball_facts(M, radius, center), list(radius = radius, radii = as.double(radii)))
}

check_part_numbers <- function(M, x, name) {
  if (!inherits(M, "riemdp_product") || length(x) != length(M$parts)) {
    abort_riemdp("argument", sprintf("`%s` must be one number, or on a product one for each part.", name))
  }
  for (one in x) check_number(one, name, positive = TRUE)
}

# `ask` of a mean in which a radius or an epsilon was given for each part
parts_ask <- function(M, n, epsilon, radius, mechanism, options) {
  apart <- by_parts(epsilon) || by_parts(radius)
  if (is.na(n) && (apart || mechanism == "parts")) {
    abort_riemdp("unsupported", "mechanism = \"parts\" has no proof for a private number of records, nor for groups.")
  }
  if (!apart) return(list(epsilon = epsilon, mechanism = mechanism, options = options))
  if (!mechanism %in% c("auto", "parts")) {
    abort_riemdp("argument", sprintf(paste("a radius or an epsilon for each part is for mechanism = \"parts\", and not",
                                           "for \"%s\"."), mechanism))
  }
  if (by_parts(epsilon)) {
    check_part_numbers(M, epsilon, "epsilon")
    if (!is.null(options[["shares"]])) {
      abort_riemdp("argument", "give an `epsilon` for each part or `shares` of one, not both.")
    }
    options$shares <- epsilon / sum(epsilon)
    epsilon <- sum(epsilon)
  }
  list(epsilon = epsilon, mechanism = "parts", options = options)
}

# What each part is asked for with its share of the budget
part_asks <- function(M, ask, shares) {
  if (!(min(shares) * ask$epsilon >= 2^-30)) {
    abort_riemdp("argument", "each part needs an `epsilon` of at least 2^-30.")
  }
  radii <- ask$ball$radii %||% (ask$ball$radius * (1 - 1e-12) / sqrt(M$weights))
  lapply(seq_along(M$parts), function(i) {
    center <- mf_part(M, ask$center, i)
    one <- ask
    one[c("epsilon", "delta", "mechanism", "post")] <- list(shares[[i]] * ask$epsilon, shares[[i]] * ask$delta, "auto",
                                                            FALSE)
    one$options <- list()
    one$center <- center
    one$ball <- check_radius(M$parts[[i]], radii[[i]], center)
    one
  })
}

part_plans <- function(M, asks) Map(function(part, one) plan_mean(part, one), M$parts, asks)

# Shares that minimise the sum of squared errors where those are in proportion to 1/epsilon, by the errors at even ones
part_shares <- function(M, ask) {
  given <- ask$options$shares
  k <- length(M$parts)
  needed <- sprintf("%d positive numbers that add up to 1, one for each part", k)
  if (!is.null(given)) return(as_shares(given, needed, length(given) == k && isTRUE(all(given > 0))))
  even <- part_asks(M, ask, rep(1 / k, k))
  errors <- vapply(part_plans(M, even), `[[`, 0, "expected_error")
  shares <- (M$weights * errors^2)^(1 / 3)
  as_shares(shares / sum(shares), needed, TRUE)
}

# what is joined of the parts' plans: root of the weighted sum of squares
joined_size <- function(M, plans, name) sqrt(sum(M$weights * vapply(plans, `[[`, 0, name)^2))

# the mean of such a root of independent lengths with these means, which have Gamma laws about (a sum of as many
# exponential ones as there are dimensions)
joined_error <- function(M, errors) {
  squares <- 0
  with_simulation(1, for (i in seq_along(errors)) {
    d <- mf_facts(M$parts[[i]])$dimension
    squares <- squares + M$weights[[i]] * (errors[[i]] * stats::rgamma(20000, d) / d)^2
  })
  mean(sqrt(squares))
}

mechanism_parts <- list(
  name = "parts",
  auto = FALSE, # joint noise errs less
  lattice = function(M) inherits(M, "riemdp_product") && all(vapply(M$parts, has_lattice, NA, "wrapped")),
  options = "shares",
  unsupported = function(M, ask) {
    if (!inherits(M, "riemdp_product") || inherits(M, "riemdp_scaled")) {
      "mechanism = \"parts\" is for products of several manifolds."
    } else if (ask$calibration == "paper") {
      "`calibration = \"paper\"` doesn't exist for mechanism = \"parts\"."
    } else if (is.null(ask$epsilon)) {
      "mechanism = \"parts\" has no single scale: give `epsilon`."
    } else if (!is.null(ask$clipped) || !is.null(ask$variance)) {
      "`clipped` and `variance` are about one ball: not with mechanism = \"parts\"."
    }
  },
  plan = function(M, ask) {
    shares <- part_shares(M, ask)
    asks <- part_asks(M, ask, shares)
    plans <- part_plans(M, asks)
    none <- vapply(plans, function(p) p$guarantee$label == "none", NA)
    of <- function(name) vapply(plans, function(p) p$guarantee[[name]], 0)
    list(
      scale = NA_real_, sensitivity = joined_size(M, plans, "sensitivity"),
      theorem = "each part's own, proofs/products.md, section 6", solver_error = joined_size(M, plans, "solver_error"),
      acceptance = NA_real_, asks = asks, plans = plans, numbers = if (!any(none)) list(tangent = FALSE),
      target = "the Frechet mean of the records whose parts were moved into the parts' balls",
      details = list(
        shares = shares, radii = vapply(asks, function(one) one$ball$radius, 0),
        parts = Map(function(p, one) {
          c(p[c("mechanism", "scale", "sensitivity", "solver_error", "details")], one[c("n", "center", "calibration")],
            list(radius = one$ball$radius, epsilon = p$guarantee$nominal_epsilon))
        }, plans, asks)
      ),
      guarantee = list(
        epsilon = min(sum(of("nominal_epsilon")), ask$epsilon), delta = sum(of("nominal_delta")),
        reasons = unique(unlist(lapply(plans[none], function(p) p$guarantee$reason))), sampler = "exact",
        assumptions = c("the parts are released one after the other, their budgets added",
                        setdiff(unlist(lapply(plans, function(p) p$guarantee$assumptions)),
                                c(PUBLIC_BALL, steps_assumptions(M, list(numbers = list(tangent = FALSE))))))
      )
    )
  },
  error = function(M, plan, ask) joined_error(M, vapply(plan$plans, `[[`, 0, "expected_error")),
  release = function(M, x, plan, ask) {
    values <- lapply(seq_along(M$parts), function(i) {
      part <- M$parts[[i]]
      one <- plan$asks[[i]]
      point_held(part, release_plan(part, mf_part(M, x, i), plan$plans[[i]], one)$value, one$center)
    })
    mf_join(M, values)
  },
  # what may fail is divided evenly
  region = function(r, level) {
    M <- r$manifold
    k <- length(M$parts)
    each <- vapply(seq_len(k), function(i) {
      one <- part_release(r, i)
      found <- mean_mechanisms()[[one$mechanism]]$region(one, 1 - (1 - level) / k)
      min(found$radius, mf_dist(one$manifold, one$center, one$value) + one$radius) # where its ball says more
    }, 0)
    list(radius = sqrt(sum(M$weights * each^2)),
         basis = "the laws of the parts' noise, each with its part of what may fail")
  },
  words = function(r) {
    of <- names(r$manifold$parts)
    if (is.null(of)) of <- paste("part", seq_along(r$manifold$parts))
    told <- vapply(seq_along(of), function(i) {
      p <- r$details$parts[[i]]
      sprintf("%s by mechanism %s in a ball of radius %.4g (%.3g of epsilon)", of[i], p$mechanism, p$radius,
              r$details$shares[[i]])
    }, "")
    paste0("Each part has a release of its own, and their budgets add up: ", paste(told, collapse = "; "),
           ". A record's parts are moved to their balls one by one: one that lies outside changes in that part alone.",
           " Joint noise errs less for the same epsilon (proofs/products.md, section 4).")
  }
)

# one part of a release as a mean of its own
part_release <- function(r, i) {
  one <- r
  p <- r$details$parts[[i]]
  one[names(p)] <- p
  one$manifold <- r$manifold$parts[[i]]
  one$value <- mf_part(r$manifold, r$value, i)
  one$target <- NULL
  one
}
