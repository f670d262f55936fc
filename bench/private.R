# What privacy adds, by the calls that users make: dp_mean() beside frechet_mean() of the same records, by turns. Sourced by bench.R.

near_points <- function(M, o, n, spread) {
  a <- with_seed(seed, matrix(rnorm(n * mf_facts(M)$dimension), n))
  mf_points(mf_exp(M, o, mf_from_coords(M, o, a / sqrt(rowSums(a^2)) * spread)), M)
}

PRIVATE_CASES <- list(
  list("S^2", sphere(2), c(0, 0, 1), 0.5), list("S^50", sphere(50), c(rep(0, 50), 1), 0.5), list("H^2", hyperbolic(2), c(1, 0, 0), 1),
  list("SPD(3)", spd(3), diag(3), 1), list("SPD(11)", spd(11), diag(11), 1),
  list("SPD(3), log-Euclidean", spd(3, "log-euclidean"), diag(3), 1.5), list("HPD(2)", hermitian_spd(2), diag(2), 1.5),
  list("Kendall(50)", kendall(50), exp(2i * pi * 1:50 / 50), 0.25), list("Gr(4, 2)", grassmann(4, 2), diag(4)[, 1:2], 0.3),
  list("Gr(50, 5)", grassmann(50, 5), diag(50)[, 1:5], 0.25), list("SO(3)", rotations(3), diag(3), 0.4),
  list("S^2 x SPD(2)", product(sphere(2), spd(2)), c(0, 0, 1, diag(2)), 0.4)
)

# what a call may cost with a plan that an earlier one has left: milliseconds beyond the mean of 50 records, or times the mean of many
allowed_ms <- function(space, n, what) if (n == 50 && what != "first call") c(`S^2` = 0.2, `SPD(11)` = 1)[space] else NA_real_
allowed_ratio <- function(n, what) if (n > 50) c(tangent = 1.3, lattice = 5)[what] else NA_real_

private_rows <- function() {
  cache <- asNamespace("riemdp")$cache # emptied for the first call alone
  rows <- list()
  for (case in PRIVATE_CASES) for (n in c(50, if (quick) 500 else if (length(case[[3]]) > 100) 2e4 else 1e5)) {
    space <- case[[1]]
    M <- case[[2]]
    x <- near_points(M, case[[3]], n, 0.6 * case[[4]])
    private <- function(...) function() dp_mean(x, M, 1, case[[3]], case[[4]], ...)
    calls <- list(auto = private(), laplace = private(mechanism = "laplace"), tangent = private(mechanism = "tangent", numerics = "real"),
                  lattice = private(mechanism = "tangent", numerics = "lattice"), gaussian = private(mechanism = "gaussian", delta = 1e-6))
    calls <- Filter(function(f) !inherits(try(f(), silent = TRUE), "try-error"), calls)
    mean <- local_entry(function() frechet_mean(x, M))
    base <- inner_for(mean)
    first <- replicate(if (quick) 1 else 3, {
      rm(list = ls(cache), envir = cache)
      local_entry(calls$auto)$time(1)
    })
    calls$auto() # its plan stays
    for (what in c("first call", names(calls))) {
      if (what == "first call") {
        pairs <- rbind(rep(base$each, length(first)), first)
      } else {
        call <- local_entry(calls[[what]])
        rate <- inner_for(call)
        pairs <- replicate(if (quick) 2 else if (rate$each > 2) 2 else 5, c(mean$time(base$inner) / base$inner, call$time(rate$inner) / rate$inner))
      }
      rows[[length(rows) + 1]] <- data.frame(
        space = space, n = n, call = what, mean = median(pairs[1, ]), private = median(pairs[2, ]), beyond = median(pairs[2, ] - pairs[1, ]),
        ratio = median(pairs[2, ] / pairs[1, ]), low = min(pairs[2, ] / pairs[1, ]), high = max(pairs[2, ] / pairs[1, ]),
        allowed_ms = unname(allowed_ms(space, n, what)), allowed_ratio = unname(allowed_ratio(n, what)))
    }
    say("private %s, n = %g", space, n)
  }
  do.call(rbind, rows)
}

private_lines <- function(rows) {
  timed <- !is.na(rows$allowed_ms)
  compared <- !is.na(rows$allowed_ratio)
  ok <- ifelse(timed, 1e3 * rows$beyond <= rows$allowed_ms, rows$ratio <= rows$allowed_ratio)
  allowed <- ifelse(timed, sprintf("%g ms beyond", rows$allowed_ms), ifelse(compared, sprintf("%g×", rows$allowed_ratio), ""))
  c("| space | n | call | frechet_mean() | dp_mean() | beyond the mean | ratio (range) | allowed | |", "|---|---|---|---|---|---|---|---|---|",
    sprintf("| %s | %s | %s | %s | %s | %s | %.2f (%.2f to %.2f) | %s | %s |", rows$space, format(rows$n, big.mark = ",", scientific = FALSE, trim = TRUE), rows$call,
            vapply(rows$mean, seconds, ""), vapply(rows$private, seconds, ""), vapply(pmax(rows$beyond, 0), seconds, ""),
            rows$ratio, rows$low, rows$high, allowed, met(ok)))
}

# The K-norm gradient mechanism, drawn exactly, beside the papers' Markov chains run in C to the burn-in that each paper prints
chain_rows <- function() {
  shapes <- data_kendall(409, 50, seed)
  t <- 2 * pi * (0:49) / 50
  outline <- (1 + 0.3 * cos(3 * t)) * complex(real = 1.5 * cos(t), imaginary = sin(t)) # the workload's own, without its noise
  north <- c(0, 0, 1)
  cases <- list(
    list(label = "sphere, 3 coordinates, n = 1,000, r = .4", M = sphere(2), center = north, radius = 0.4,
         x = mf_to_ball(sphere(2), data_sphere(1000, 2, 0.2, seed), north, 0.4)),
    list(label = "SPD(2), n = 1,000, r = 1.5", M = spd(2), center = diag(2), radius = 1.5, x = wishart_spd[, , 1:1000]),
    list(label = "Kendall k = 50, n = 409, r = .35", M = kendall(50), center = outline, radius = 0.35, x = shapes)
  )
  do.call(rbind, lapply(cases, function(case) {
    private <- function(...) local_entry(function() dp_mean(case$x, case$M, 1, case$center, case$radius, ...))
    ours <- private(mechanism = "kng")
    theirs <- private(mechanism = "chain", options = list(proposal = "published"))
    refused <- tryCatch({
      ours$time(1)
      FALSE
    }, riemdp_error = function(e) TRUE)
    if (refused) return(data.frame(label = case$label, ours = NA, theirs = theirs$time(1), ratio = NA, low = NA, high = NA))
    theirs$time(1)
    rate <- inner_for(ours)
    pairs <- replicate(if (quick) 1 else 5, c(ours$time(rate$inner) / rate$inner, theirs$time(1)))
    ratio <- pairs[2, ] / pairs[1, ]
    data.frame(label = case$label, ours = median(pairs[1, ]), theirs = median(pairs[2, ]), ratio = median(ratio), low = min(ratio), high = max(ratio))
  }))
}

chain_lines <- function(rows) {
  refused <- is.na(rows$ours)
  c("| release, whole calls | exact draw | papers' chain | chain / exact (range) | target | |", "|---|---|---|---|---|---|",
    sprintf("| %s | %s | %s | %s | 100× | %s |", rows$label, ifelse(refused, "refused: too many trials for some records", vapply(rows$ours, seconds, "")),
            vapply(rows$theirs, seconds, ""), ifelse(refused, "", sprintf("%.0f (%.0f to %.0f)", rows$ratio, rows$low, rows$high)), met(rows$ratio >= 100)))
}
