# What noise is added to. Whatever a private call draws passes pay(): draws_of() listens there, so a new estimator is compared without being
# named here. NUMBERS says for a routine that draws, or for a proof where noise is drawn by itself, how far what is behind it lies apart for two
# data sets, as shares of the sensitivity that the price states, in the norm of the proof. None may exceed 1; a draw that has no entry is found.

# The draws of a call: what drew (`by`: the C routine, or else the price's proof), its arguments, the frame in which it was called, and its price.
# `after` are those of the same call on a neighbour: each draw gives what came out there, so that what follows a release is public
# in both alike, and the comparison is that of adaptive composition.
draws_of <- function(expr, after = NULL) {
  seen <- new.env()
  seen$draws <- seen$released <- list()
  seen$inside <- FALSE
  note <- function(...) seen$draws[[length(seen$draws) + 1]] <- list(...)
  came_out <- function(value) {
    force(value) # drawn on both sides, or else what the simulation draws next differs
    i <- length(seen$released) + 1
    if (i <= length(after$released)) return(seen$released[[i]] <- after$released[[i]])
    seen$released[[i]] <- value
  }
  draw <- function(routine, ...) {
    frame <- parent.frame(2) # of what calls tap()
    n <- ...length()
    args <- lapply(seq_len(n - 1), function(i) ...elt(i))
    seen$inside <- TRUE
    simulated <- ...elt(n)
    seen$inside <- FALSE
    note(by = routine$name, args = args, frame = frame, price = seen$price)
    came_out(do.call(.Call, c(list(routine), args, simulated), quote = TRUE))
  }
  pay <- internal("pay")
  paid <- function(price) {
    simulated <- pay(price)
    if (seen$inside) seen$price <- price else note(by = price$proof, args = NULL, frame = parent.frame(), price = price)
    simulated
  }
  new <- paying()
  before <- mget(c("draw", "came_out"), listening, ifnotfound = list(NULL))
  on.exit({
    list2env(before, listening)
    internal("furnish")()
  })
  list2env(list(draw = draw, came_out = came_out), listening)
  do.call(with_internals, c(list(quote({
    internal("furnish")() # tables of what was tapped
    tryCatch(force(expr), error = function(e) seen$failed <- conditionMessage(e))
  }), pay = paid), new))
  list(draws = seen$draws, released = seen$released, failed = seen$failed)
}

is_pay <- function(e) is.call(e) && identical(e[[1]], quote(pay))

# who listens now; what tapped functions call
listening <- new.env()
tap <- function(routine, ...) listening$draw(routine, ...)

# functions of the namespace, and lists of functions, that pay: tapped, once for the functions that there are
paying <- function() {
  says <- function(x) if (is.function(x)) "pay" %in% all.names(body(x)) else is.list(x) && any(vapply(x, says, NA))
  all <- as.list(asNamespace("riemdp"), all.names = TRUE)
  if (!identical(all, listening$all)) {
    listening$all <- all
    paid <- Filter(says, all)
    listening$tapped <- lapply(paid, function(x) if (is.function(x) && pays_itself(body(x))) listened(x) else tapped(x))
    # what is released is the sum with its noise, not the noise
    for (name in c("noisy_count", "noisy_sizes", "noisy_gradient", "noisy_step")) listening$tapped[[name]] <- listened(paid[[name]])
  }
  listening$tapped
}

# whether pay() stands in it by itself, not as the argument of what draws, nor in a function that is made there
pays_itself <- function(e) {
  if (!is.call(e) || identical(e[[1]], quote(`function`)) || draws_here(e)) return(FALSE)
  is_pay(e) || any(vapply(as.list(e), function(part) !identical(part, quote(expr = )) && pays_itself(part), NA))
}

draws_here <- function(e) identical(e[[1]], quote(.Call)) && is_pay(e[[length(e)]])

listened <- function(f) {
  f <- tapped(f)
  function(...) {
    value <- f(...) # what it pays is to be seen, whatever comes out
    listening$came_out(value)
  }
}

# with `tap` in the place of every .Call that pays
tapped <- function(x) {
  inside <- function(e) {
    if (!is.call(e)) return(e)
    if (draws_here(e)) e[[1]] <- tap
    as.call(lapply(as.list(e), function(part) if (identical(part, quote(expr = ))) part else inside(part)))
  }
  if (is.list(x)) x[] <- lapply(x, tapped)
  if (is.function(x) && "pay" %in% all.names(body(x))) body(x) <- inside(body(x))
  x
}

# Shares of what is allowed by which the draws of two calls differ, the largest of each name; none where nothing was drawn
moved_between <- function(one, two) {
  failed <- c(one$failed, two$failed)
  if (length(failed)) return(stats::setNames(NaN, sprintf("(a call that released has failed here: %s)", failed[1])))
  about <- function(d) d[c("by", "price")]
  if (!identical(lapply(one$draws, about), lapply(two$draws, about))) return(c("(other draws, or other prices)" = NaN))
  shares <- unlist(Map(function(a, b) {
    reader <- NUMBERS[[a$by]] %||% NUMBERS[[a$price$proof]]
    if (is.null(reader)) return(stats::setNames(NaN, sprintf("(NUMBERS has no entry for %s, nor for %s)", a$by, a$price$proof)))
    tryCatch(reader(a, b), error = function(e) stats::setNames(NaN, sprintf("(of %s, not to be had: %s)", a$by, conditionMessage(e))))
  }, one$draws, two$draws))
  if (length(shares)) vapply(split(shares, names(shares)), max, 0)
}

rounding <- 1e-9

# lengths over what the price allows, where it states several numbers each over its own or over the one `of` them
share <- function(draw, length, slack = 0, of = seq_along(draw$price$sensitivity)) {
  max(length / (draw$price$sensitivity[of] * (1 + rounding) + slack))
}

length_of <- function(v) sqrt(sum(v^2))

# ---- means --------------------------------------------------------------------------------------------------------------------

coords_at <- function(M, p, x) drop(mf_coords(M, p, mf_log(M, p, x)))

# a draw again, with other arguments
again <- function(draw, to) {
  args <- draw$args
  args[as.integer(names(to))] <- to
  do.call(.Call, c(list(internal(draw$by)), args, FALSE), quote = TRUE)
}

# sums over records, wherever they are; the arguments are manifold, records, centre and radius
tally_of <- function(draw) {
  a <- draw$args
  if (inherits(a[[2]], "riemdp_tally")) a[[2]] else internal("mean_records")(a[[1]], chunks(list(a[[2]])), a[[3]], a[[4]])
}

# Without noise that could be seen, `scale` being the argument of that number: the noise that is left has a length of some 1e-10
noiseless <- function(scale, to = list()) function(draw) {
  given <- draw$args[[as.integer(scale)]] # of a staircase, the widths of its shells as well
  again(draw, c(stats::setNames(list(2e-11 * max(1, draw$args[[4]]) * (given / given[1])), scale), to))
}

both <- function(a, b, f) list(f(a), f(b))

moved_point <- function(a, b, value, as = identity) {
  v <- lapply(both(a, b, value), as)
  share(a, length_of(v[[1]] - v[[2]]), 1e-8 * max(1, a$args[[4]]))
}

moved_mean <- function(a, b) {
  M <- a$args[[1]]
  law <- a$args[[6]]
  if (law %in% c("laplace", "gaussian", "staircase")) return(c(mean = moved_distance(a, b, noiseless("7"))))
  c(logarithm = moved_point(a, b, noiseless("7"), function(p) coords_at(M, a$args[[3]], p)))
}

# Single points: which of them differ, by how much in the law's own distance, of draws with next to no noise. One may, by what two values differ,
# which with a length is that of the whole ball or space.
moved_local <- function(a, b) {
  M <- a$args[[1]]
  ask <- a$frame$ask
  law <- if (a$by == "riemdp_release_local") a$args[[5]] else "lattice"
  to <- list("6" = switch(law, lattice = c(1, 1), privunit = c(1 - 1e-9, 1e-9), vmf = 1e-24, 2e-11 * max(1, min(a$args[[4]], 100))))
  v <- both(a, b, function(d) storage_of(M, again(d, to)))
  away <- vapply(seq_len(nrow(v[[1]])), function(i) {
    if (identical(v[[1]][i, ], v[[2]][i, ])) return(0)
    p <- lapply(v, function(rows) rows_to_points(rows[i, , drop = FALSE], M))
    tryCatch(switch(law, vmf = length_of(v[[1]][i, ] - v[[2]][i, ]), privunit = mf_dist(M, p[[1]], p[[2]]) / pi,
                    laplace = mf_dist(M, p[[1]], p[[2]]), length_of(coords_at(M, ask$center, p[[1]]) - coords_at(M, ask$center, p[[2]]))),
             riemdp_error = function(e) Inf) # so far out that doubles tell no points: a record without a ball
  }, 0)
  # what the price is of: a step of the lattice, and as much of the whole as the length is
  unit <- if (law == "lattice") 2^-a$args[[5]] else 1
  whole <- if (is.null(ask$per)) 1 else a$frame$plan$widest / a$frame$plan$sensitivity
  slack <- 1e-6 * max(1, min(ask$reach, 1e3)) + 60 * unit * (law == "lattice")
  c(points = if (whole == Inf) 0 else max(away) / (a$price$sensitivity * unit * whole + slack), others = sum(away > slack) / 1)
}

storage_of <- function(M, x) internal("storage_rows")(x, M)

moved_distance <- function(a, b, value) {
  v <- both(a, b, value)
  share(a, mf_dist(a$args[[1]], v[[1]], v[[2]]), 1e-8 * max(1, a$args[[4]]))
}

# of the mean gradient, at two points; the K-norm law on a ball moves with the mean itself where it is Laplace's
moved_gradient <- function(a, b) {
  M <- a$args[[1]]
  if (a$args[[5]] == "laplace_truncated") return(c(mean = moved_distance(a, b, noiseless("6"))))
  # sums of logarithms are those of the ball that is carried to the origin, where there is one
  center <- tryCatch(internal("public_point")(M, .Call(internal("riemdp_origin"), M)), riemdp_error = function(e) a$args[[3]])
  far <- mf_exp(M, center, mf_from_coords(M, center, c(0.9 * a$args[[4]], rep(0, mf_facts(M)$dimension - 1))))
  tallies <- both(a, b, tally_of)
  if (!is.null(a$frame$scale) && a$price$proof == "kng.md, 8") return(moved_sums(a, b, tallies, list(center, far)))
  c(gradient = max(vapply(list(center, far), function(p) {
    stored <- .Call(internal("riemdp_stored"), M, p)
    g <- lapply(tallies, function(t) t$logs(stored))
    # the last number is the sum of squared distances; stored tangent vectors of the triangles are real and imaginary parts
    share(a, stored_norm(M, p, (g[[1]] - g[[2]])[seq_along(stored)] / tallies[[1]]$n))
  }, 0)))
}

# of the sum of logarithms, which has no number of records in it; and the scale with which the mean's is drawn
moved_sums <- function(a, b, tallies, points) {
  M <- a$args[[1]]
  sums <- vapply(points, function(p) {
    stored <- .Call(internal("riemdp_stored"), M, p)
    g <- lapply(tallies, function(t) t$logs(stored))
    share(a, stored_norm(M, p, (g[[1]] - g[[2]])[seq_along(stored)]))
  }, 0)
  scales <- mapply(function(d, t) a$price$scale / (d$args[[6]][1] * t$n), list(a, b), tallies)
  c(sum = max(sums), law = max(scales) / (1 + rounding))
}

# `f` of what a law on a lattice sums up for both, at three points of the ball; law(d): the law's name, and the public length of medians
at_points <- function(a, b, law, f) {
  M <- a$args[[1]]
  d <- mf_facts(M)$dimension
  vapply(c(0, 0.3, 0.9), function(far) {
    p <- mf_exp(M, a$args[[3]], mf_from_coords(M, a$args[[3]], far * a$args[[4]]$radius * seq_len(d) / sqrt(sum(seq_len(d)^2))))
    share(a, f(both(a, b, function(d) {
      if (d$args[[6]][1] == Inf) return(0) # no records
      do.call(".Call", c(list(internal("riemdp_lattice_law_sum_nonprivate")), d$args[1:4], law(d), list(p)))
    })))
  }, 0)
}

# of the sum of bounded vectors, at points of the ball; and the scale with which its length over n is drawn
moved_vectors <- function(a, b) {
  lengths <- at_points(a, b, function(d) list("median", d$args[[5]]), function(s) length_of(s[[1]] - s[[2]]))
  scales <- vapply(list(a, b), function(d) {
    if (d$args[[6]] == Inf) 0 else a$price$scale / d$args[[6]]
  }, 0)
  c(vectors = max(lengths), law = max(scales) / (1 + rounding))
}

# of the weights' exponents on a lattice, at points of the ball, with the scales that they are drawn with
moved_exponents <- function(a, b) {
  scaled <- function(s, d) length_of(s) * a$price$scale / d$args[[6]][1]
  lengths <- at_points(a, b, function(d) list(d$args[[5]], 0), function(s) abs(scaled(s[[1]], a) - scaled(s[[2]], b)))
  c(exponents = max(lengths))
}

# how many records of groups there are on one side only
moved_groups <- function(a, b) {
  keys <- both(a, b, function(d) {
    of <- d$frame$records$groups$of
    ask <- d$frame$ask
    x <- .Call(internal("riemdp_to_ball"), d$frame$M, d$frame$records$x, ask$center, ask$ball$radius)
    paste(of, apply(matrix(coords_at(d$frame$M, ask$center, x), length(of)), 1, paste, collapse = " "))[!is.na(of)]
  })
  apart <- sum(vapply(unique(unlist(keys)), function(key) abs(sum(keys[[1]] == key) - sum(keys[[2]] == key)), 0))
  c(groups = share(a, apart))
}

# length of a tangent vector at p from its stored numbers
stored_norm <- function(M, p, v) mf_norm(M, p, internal("plain_point")(mf_facts(M), v))

# integer steps: a law whose noise is 0 but for a probability of 1e-27
moved_steps <- function(a, b) {
  M <- a$args[[1]]
  z <- both(a, b, function(d) round(coords_at(M, a$args[[3]], again(d, list(`6` = "laplace", `7` = c(1, 64)))) * 2^a$args[[5]]))
  moved <- z[[1]] - z[[2]]
  c(steps = share(a, if (a$args[[6]] == "laplace") sum(abs(moved)) else length_of(moved)))
}

# Counts, and sums unrounded, with noise far below a step: of each group the larger of both, of which a record may move two
moved_joint <- function(a, b) {
  s <- a$args[[6]]
  k <- a$args[[5]]
  sums <- both(a, b, function(d) again(d, list(`5` = k + 12, `6` = c(1, 1, 0, 0, 2^20, s[6:7]))) * c(1, rep(2^k, s[6])))
  moved <- sums[[1]] - sums[[2]]
  lengths <- pmax(abs(moved[1, ]) * a$price$sensitivity, sqrt(colSums(moved[-1, , drop = FALSE]^2)))
  c(joint = share(a, sum(lengths) / 2), counts = share(a, max(abs(moved[1, ])) * a$price$sensitivity))
}

moved_around <- function(a, b) {
  if (a$args[[6]] == "frechet") return(c(point = moved_point(a, b, noiseless("8", list(`9` = FALSE)))))
  c(point = moved_point(a, b, function(d) tally_of(d)$points(NULL)[seq_along(a$args[[3]])] / tally_of(d)$n))
}

moved_landmarks <- function(a, b) {
  sums <- both(a, b, function(d) {
    tally <- tally_of(d)
    (if (a$args[[6]]) tally$aligned else tally$as_given)(NULL)[seq_along(a$args[[7]])] / tally$n
  })
  moved <- abs(sums[[1]] - sums[[2]])
  # Laplace noise of each coordinate, of its own width or all together
  c(coordinates = share(a, if (length(a$price$sensitivity) > 1) moved else sum(moved)))
}

# arguments that must follow from public numbers and releases
same_public <- function(a, b, which) c(public = if (identical(a$args[which], b$args[which])) 0 else Inf)

moved_counts <- function(a, b) {
  counts <- both(a, b, function(d) tally_of(d)$counts(a$args[[4]]))
  c(counts = share(a, max(abs(counts[[1]] - counts[[2]]))), same_public(a, b, 4:6))
}

# how many records lie in the shadows of balls on each axis, and in balls around records
moved_places <- function(a, b) {
  radius <- a$args[[4]]
  coords <- both(a, b, function(d) {
    M <- d$args[[1]]
    x <- .Call(internal("riemdp_to_ball"), M, d$args[[2]], d$args[[3]], radius)
    matrix(mf_coords(M, d$args[[3]], mf_log(M, d$args[[3]], x)), ncol = mf_facts(M)$dimension)
  })
  moved <- 0
  for (s in radius * 2^(-(a$args[[5]] + seq_len(a$args[[6]]) - 1) / 2)) {
    held <- lapply(coords, function(v) {
      shadow <- apply(v, 2, function(z) vapply(seq(-radius, radius, by = s / 2), function(t) sum(z >= t - s & z < t + s), 0))
      ball <- apply(coords[[1]], 1, function(p) sum(colSums((t(v) - p)^2) <= s^2))
      list(average = c(shadow), ball = ball)
    })
    moved <- max(moved, abs(held[[1]]$average - held[[2]]$average), abs(held[[1]]$ball - held[[2]]$ball))
  }
  c(held = share(a, moved), same_public(a, b, 5:10))
}

# sums that sites send, each with a share of the noise
moved_shares <- function(a, b) {
  mean <- both(a, b, function(d) {
    f <- d$frame
    f$request$sd <- 1e-12
    internal("noisy_sum")(f$x, f$request) / (if (identical(f$request$vector, "scatter")) f$length else f$ask$n)
  })
  c(logarithms = share(a, length_of(mean[[1]] - mean[[2]]), 1e-11))
}

# noisy_count()'s own, whatever was counted
moved_count <- function(a, b) {
  count <- both(a, b, function(d) d$frame$count)
  if (is.null(count[[1]])) return(NULL) # a run that goes on pays for it again, without a draw
  c(count = share(a, sum(abs(count[[1]] - count[[2]]))))
}

# of a choice among tries, whose draws are seen by themselves: what each may spend, times what the law of their number takes
moved_tries <- function(a, b) {
  tries <- both(a, b, function(d) (2 + d$frame$ask$shape) * d$frame$ask$each / d$price$epsilon)
  c(tries = max(unlist(tries)))
}

# of all groups: a replaced record moves two by 1
moved_sizes <- function(a, b) {
  counts <- both(a, b, function(d) d$frame$counts)
  c(sizes = share(a, sum(abs(counts[[1]] - counts[[2]])) / 2))
}

# of a test, under the same lots
moved_statistics_of_lots <- function(a, b) {
  t <- both(a, b, function(d) d$frame$statistics)
  c(statistics = share(a, max(abs(t[[1]] - t[[2]]))))
}

# Of a private number: lots of two numbers are no pairs (test-dp-test-statistics.R couples them), the data's statistic moves by half of what is said
moved_first_statistic <- function(a, b) {
  t <- both(a, b, function(d) d$frame$statistics[1])
  c(statistic = share(a, abs(t[[1]] - t[[2]])))
}

# ---- linear regression --------------------------------------------------------------------------------------------------------------

# Sums over records of gradients (q x p) and of the Hessian's triangle at coefficients B, of a fit's arguments
perturbed_sums <- function(args, B) {
  parts <- cbind(B, 0 * B) # coefficients are sums of two doubles
  if (is.list(args[[1]])) return(args[[1]]$sums(c(1, parts)))
  internal("exact_total")(list(.Call(internal("riemdp_chunk_perturbed"), args[[1]], args[[2]], parts, args[[5]], TRUE)))
}

# Objective perturbation: the noise's tilt in a norm that its gauge is at least, its loss with the curvature's determinant, and the solver's share,
# at some outputs
moved_objective <- function(a, b) {
  ridge <- a$args[[3]]
  m <- length(ridge)
  noise <- a$args[[7]]
  # noise on the minimiser, in the ridge's metric
  stretch <- if (isTRUE(noise$output)) sqrt(sum(1 / ridge[1, ])) else 1
  solver <- if (is.null(noise$cover)) 0 else 2 * noise$cover * a$args[[6]]$eta / min(ridge)
  normal <- a$price$law == "normal tilt" # a record's curvature has what its own gradient leaves of the budget
  rule <- a$frame$rule
  budget <- if (normal) internal("shared_budget")(rule, rule$e1 / 2, rule$t, if (isTRUE(rule$averaged)) identity else log1p)
  at <- list(0 * ridge, 0 * ridge + c(0.5, -0.3, 0.2, rep(0.1, m))[seq_len(m)], 0 * ridge + 30, 0 * ridge + c(0, -30, numeric(m))[seq_len(m)])
  moved <- vapply(at, function(B) {
    sums <- both(a, b, function(d) perturbed_sums(d$args, B))
    log_det <- vapply(sums, function(s) {
      h <- matrix(0, m, m)
      h[lower.tri(h, TRUE)] <- s[-seq_len(m)]
      as.double(determinant(h + t(h) - diag(diag(h), m) + diag(as.vector(ridge), m))$modulus)
    }, 0)
    rows <- sqrt(colSums(matrix(sums[[1]][seq_len(m)] - sums[[2]][seq_len(m)], nrow(B))^2))
    # the largest, or where rows are in blocks the largest sum of a block's
    size <- if (normal) length_of(rows) else if (is.numeric(noise$norm)) max(tapply(rows, noise$norm, sum)) else max(rows)
    if (normal) {
      own <- max(0, 2 * size / a$price$sensitivity - 1)
      return(c(gradient = share(a, size), loss = (abs(diff(log_det)) + rule$e1 / 2 * own) / (budget * (1 + rounding))))
    }
    c(gradient = share(a, size * stretch),
      loss = if (a$price$law == "perturbed objective") (noise$rate * size + abs(diff(log_det))) / ((a$price$epsilon - solver) * (1 + rounding)) else 0)
  }, c(gradient = 0, loss = 0))
  c(apply(moved, 1, max), solver = max(0, unlist(both(a, b, solver_share))))
}

moved_scores <- function(a, b) c(scores = share(a, max(abs(a$args[[1]] - b$args[[1]]))))

# scores that weigh a part of the price each
moved_misses <- function(a, b) {
  c(scores = share(a, max(abs(a$args[[1]] - b$args[[1]])) * a$args[[2]][1] / a$args[[2]][2] / a$price$epsilon))
}

# Over the widths that the noise has: what was added of each unit of the draw. Numbers of xx one by one, of xy by rows.
moved_statistics <- function(a, b) {
  f <- a$frame
  lower <- function(m) m[-1, -1, drop = FALSE][lower.tri(m[-1, -1, drop = FALSE], TRUE)]
  single <- function(m) c(m[1, -1], lower(m))
  moved <- f$plain$xy - b$frame$plain$xy
  added <- c(single(f$xx - f$plain$xx), t(f$noise$xy))
  width <- abs(added / f$z)
  row <- matrix(width[-seq_along(single(f$xx))], ncol(moved))
  c(k_norm = share(a, c(abs(single(f$plain$xx - b$frame$plain$xx)) / width[seq_along(single(f$xx))],
                        sqrt(rowSums(moved^2)) / apply(row, 2, min)), 0))
}

moved_moments <- function(a, b) {
  s <- both(a, b, function(d) get("a", d$frame))
  moved <- s[[1]] - s[[2]]
  if (a$frame$both) moved <- moved[-1] # n takes the first one's place
  stats::setNames(share(a, length_of(moved)), if (a$frame$both) "squares" else if (length(moved) == 1) "eigenvalue" else "sums")
}

# each candidate's utility in the search for a guess
moved_search <- function(a, b) {
  grid <- a$frame$grid
  c(search = share(a, max(vapply(intersect(c(-80, -28, -14, -4:4, 9, 10, 80), grid$levels), function(k) {
    at <- both(a, b, function(d) internal("guess_level")(d$frame$cells, k, a$frame$fraction, grid = grid))
    every <- union(at[[1]]$at, at[[2]]$at)
    score <- lapply(at, function(l) c(l$floor, ifelse(every %in% l$at, l$score[match(every, l$at)], l$floor)))
    max(abs(score[[1]] - score[[2]]))
  }, 0))))
}

# ---- geodesic regression ------------------------------------------------------------------------------------------------------------

moved_steepest <- function(a, b) {
  g <- both(a, b, function(d) internal("clipped_gradient")(d$frame$records, a$frame$cut))
  c(gradient = share(a, length_of(g[[1]] - g[[2]])))
}

# in the norm that is at most the law's gauge
moved_noisy_step <- function(a, b) {
  g <- both(a, b, function(d) internal("clipped_gradient")(d$frame$records, a$frame$rule$tau))
  c(gradient = share(a, max(sqrt(colSums((g[[1]] - g[[2]])^2)))))
}

moved_curve <- function(a, b) {
  M <- a$frame$M
  ask <- a$frame$ask
  q <- ask$q
  rule <- internal("curve_kng_rule")(M, ask)
  c(gradient = max(vapply(list(c(0, 0), c(0.3, 0.5)), function(far) {
    at <- internal("kng_point")(M, c(far[1] * ask$radius, rep(0, q - 1)), c(rep(0, q - 1), far[2] * ask$speed), ask$center)
    g <- both(a, b, function(d) {
      d <- d$frame
      known <- internal("kng_predictors")(d$x %||% matrix(0, 1, 1), ask$reach, d$y)
      if (is.null(d$x)) return(internal("chunk_pull")(d$y, list(at[c("p", "b", "speed")]), rule, ask$reach)[[1]])
      mean_of <- function(g) if (is.null(known$share)) colMeans(g) else colSums(g * known$share) / ask$n
      do.call(rbind, lapply(internal("kng_gradients")(M, at$p, at$v, at$speed, known, rule, ask$reach), mean_of))
    })
    share(a, sqrt(rowSums((g[[1]] - g[[2]])^2)) / internal("kng_factors")(rule$k_min, at$speed, ask$reach))
  }, 0)))
}

# ---- optimisers -------------------------------------------------------------------------------------------------------------------

moved_optimum <- function(a, b) {
  count_of <- function(d) internal("unit_count")(d$frame$input %||% d$frame$records$input)
  run <- a$frame$run
  M <- run$problem$manifold
  ask <- run$ask
  points <- list(ask$start, mf_exp(M, ask$start, mf_from_coords(M, ask$start, c(0.3, rep(0, mf_facts(M)$dimension - 1)))))
  stored <- lapply(points, function(p) .Call(internal("riemdp_stored"), M, p))
  # sums are over public numbers; where neighbours have one record more or less, a replaced one is two steps away
  apart <- if (ask$adjacency == "add-remove" && count_of(a) == count_of(b)) 2 else 1
  moved <- function(i, clip, snapshot = NULL) {
    sums <- both(a, b, function(d) {
      input <- d$frame$input %||% d$frame$records$input
      step <- list(clip = clip, apart = FALSE, losses = FALSE)
      if (is.list(input$data) && is.function(input$data$gradients)) {
        return(input$data$gradients(c(list(p = stored[[i]]), list(snapshot = snapshot), step)))
      }
      sum_of <- function(which) {
        internal("exact_total")(list(.Call(internal("riemdp_chunk_gradients"), M, input$data, input$kind, input$threshold, input$fun, input$n,
                                           stored[[i]], snapshot, step, which, NULL)))
      }
      of <- input$units
      if (is.null(of)) return(sum_of(NULL))
      Reduce(`+`, lapply(seq_len(length(of$first) - 1), function(u) {
        rows <- of$rows[seq_len(of$first[u + 1] - of$first[u]) + of$first[u]]
        sum_of(as.double(rows)) / length(rows)
      }))
    })
    stored_norm(M, points[[i]], (sums[[1]] - sums[[2]])[seq_along(stored[[i]])])
  }
  # where there are snapshots, of differences from one; its own gradient may be nothing, so gradients alone count as well
  steps <- c(moved(1, ask$clip[2]), moved(2, ask$clip[2]),
             if (ask$inner > 0) c(moved(2, ask$clip[2], stored[[1]]), moved(1, ask$clip[2], stored[[2]])))
  c(gradients = share(a, steps / ask$batch / apart, of = 1),
    if (ask$inner > 0) c(snapshots = share(a, c(moved(1, ask$clip[1]), moved(2, ask$clip[1])) / ask$points / apart, of = 2)))
}

# ---- what solvers promise -----------------------------------------------------------------------------------------------------------

# a - b c as the sum of two doubles, added to (high, low)
less_product <- function(s, b, c) {
  split <- function(v) {
    t <- 134217729 * v
    high <- t - (t - v)
    list(high, v - high)
  }
  p <- b * c
  u <- split(b)
  v <- split(c)
  rest <- ((u[[1]] * v[[1]] - p) + u[[1]] * v[[2]] + u[[2]] * v[[1]]) + u[[2]] * v[[2]]
  high <- s$high - p
  t <- high - s$high
  list(high = high, low = s$low + ((s$high - (high - t)) + (-p - t)) - rest)
}

# The gradient at coefficients b + low to twice the digits of doubles in the residuals and exactly in the sum
true_gradient <- function(f, noise, b, low) {
  q <- nrow(b)
  feature <- function(k, j) if (length(dim(f[[1]])) == 3) f[[1]][j, k, ] else f[[1]][k, ]
  loss <- f[[5]]
  e <- vapply(seq_len(q), function(j) {
    s <- list(high = if (isTRUE(loss$added)) 0 * f[[2]][j, ] else f[[2]][j, ], low = 0 * f[[2]][j, ])
    for (k in seq_len(ncol(b))) for (part in list(b, low)) s <- less_product(s, feature(k, j), rep(part[j, k], ncol(f[[2]])))
    s$high + s$low
  }, numeric(ncol(f[[2]])))
  e <- matrix(e, ncol = q)
  psi <- if (!is.null(loss$first)) cbind(internal("table_at")(loss, e[, 1], f[[2]][1, ])$psi) else
    e * internal("loss_at")(loss$g, loss$tau, pmax(sqrt(rowSums(e^2)), 1e-300))$across
  psi <- psi * (internal("shares_of")(f[[1]]) %||% 1)
  terms <- do.call(cbind, lapply(seq_len(ncol(b)), function(k) vapply(seq_len(q), function(j) -feature(k, j) * psi[, j], numeric(nrow(e)))))
  sums <- internal("exact_total")(list(internal("exact_rows")(matrix(terms, nrow(e)))))[seq_along(b)]
  matrix(sums, q) + f[[3]] * (b - f[[4]]) + f[[3]] * low + noise
}

# What the solver's distance from the minimiser costs, as a share of what the released noise pays for it, of a fit in memory
solver_share <- function(draw) {
  f <- draw$args
  if (is.null(f[[7]]$cover) || !(is.matrix(f[[1]]) || length(dim(f[[1]])) == 3)) return(0) # in chunks: the same solver
  ridge <- f[[3]]
  noise <- matrix(.Call(internal("riemdp_perturbation_noise"), ncol(ridge), nrow(ridge), 1, f[[7]]$norm, f[[7]]$rate, FALSE), nrow(ridge))
  fit <- .Call(internal("riemdp_perturbed_fit_nonprivate"), f[[1]], f[[2]], ridge, f[[4]], noise, f[[5]], f[[6]])
  2 * sqrt(sum(true_gradient(f, noise, fit[[1]], fit[[4]])^2)) / min(ridge) * f[[7]]$cover / draw$frame$rule$solver
}

# ---- second moments -----------------------------------------------------------------------------------------------------------------

# in whole steps, in the Frobenius norm
moved_entries <- function(a, b) {
  steps <- both(a, b, function(d) get("steps", d$frame))
  c(moment_steps = share(a, length_of(steps[[1]] - steps[[2]])))
}

# of smooth curves: products' sums, whose moves add up; vectors of whole numbers, a row each, whose lengths add up; all of them together
moved_spline <- function(a, b) {
  if (exists("count", a$frame, inherits = FALSE)) return(c(products = moved_count(a, b)[["count"]]))
  steps <- both(a, b, function(d) get("steps", d$frame))
  moved <- steps[[1]] - steps[[2]]
  if (is.matrix(moved)) c(logarithms = share(a, sum(sqrt(rowSums(moved^2))))) else c(sums = share(a, length_of(moved)))
}

moved_spectrum <- function(a, b, name) {
  S <- both(a, b, function(d) get(name, d$frame))
  D <- S[[1]] - S[[2]]
  eigen((D + t(D)) / 2, TRUE, TRUE)$values
}

# by the difference of two positive ones, whose traces add up
moved_traces <- function(a, b) c(moment_trace = share(a, sum(abs(moved_spectrum(a, b, "sum")))))

# along any direction, up or down but for a constant
moved_squares <- function(a, b) c(moment_direction = share(a, diff(range(moved_spectrum(a, b, "S"))) / 2))

# ---- all of them --------------------------------------------------------------------------------------------------------------------

NUMBERS <- list(
  riemdp_release_mean = moved_mean, riemdp_release_kng = moved_gradient, riemdp_release_kng_lattice = moved_exponents,
  riemdp_release_local = moved_local, riemdp_release_local_lattice = moved_local,
  riemdp_release_median = moved_vectors, riemdp_release_lattice = moved_steps, riemdp_release_groups = moved_joint,
  riemdp_euclidean_mean = moved_around,
  riemdp_pointwise_mean = moved_landmarks, riemdp_release_radius = moved_counts, riemdp_release_place = moved_places,
  riemdp_release_perturbed = moved_objective,
  riemdp_release_clipped_kng = moved_objective, riemdp_exponential_choice = moved_scores, riemdp_release_choice = moved_misses,
  # noise that is drawn by itself, and what is drawn in several steps
  "mean-sensitivity.md, 11" = moved_count, "mean-sensitivity.md, 14" = moved_count, "mean-sensitivity.md, 15" = moved_groups,
  "mean-sensitivity.md, 15, sizes" = moved_sizes, "mean-sensitivity.md, 15, shares outside" = moved_count,
  "subspaces.md, 2" = moved_entries, "subspaces.md, 3" = moved_traces, "subspaces.md, 4" = moved_squares, "subspaces.md, 7" = moved_count,
  "testing.md, 3" = moved_statistics_of_lots, "testing.md, 4" = moved_statistics_of_lots, "testing.md, 7" = moved_count,
  "testing.md, 11" = moved_first_statistic, "accounting.md, 4" = moved_tries,
  "inference.md, 1" = moved_count, "inference.md, 2" = moved_count, "inference.md, 3" = moved_count, "inference.md, 7" = moved_count,
  "chunks.md, 4" = moved_shares, "linear-regression.md, 4" = moved_statistics,
  "linear-regression.md, 5" = moved_moments, "linear-regression.md, 16" = moved_moments, "linear-regression.md, 10" = moved_entries,
  "linear-regression.md, 8" = moved_search, "regression.md, 1" = moved_noisy_step, "regression.md, 3" = moved_steepest,
  "regression.md, 4" = moved_curve, "regression.md, 6" = moved_spline, "regression.md, 7" = moved_spline, "optimisers.md, Whole runs" = moved_optimum,
  "optimisers.md, Individual budgets" = moved_optimum
)

# ---- trials -----------------------------------------------------------------------------------------------------------------------

# in a folder that is always the same one, so that texts don't differ by its name
in_folder <- function(expr) {
  folder <- file.path(tempdir(), "neighbours")
  unlink(folder, recursive = TRUE)
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  expr
}

# A receipt with the ledger's random name and the entry's time, which its hash covers, left out: only where it is that of the entry
plain_receipt <- function(receipt, ledger) {
  parts <- as.data.frame(receipt)
  rows <- internal("store_history")(ledger)
  fits <- identical(parts$ledger, ledger$uid) && identical(rows$head[rows$link %in% parts$link], parts$head)
  if (fits) internal("new_receipt")(strrep("0", 32), parts$link, strrep("0", 64)) else receipt
}

# One pair by one function, case and form: list(what, findings), findings a character vector. `outcome` says whether anything was released.
neighbour_trial <- function(name, case, form, seed, seconds = 60, make_pair = neighbour_pair, calls = neighbour_calls()) {
  make_room()
  call <- calls[[name]]
  label <- paste(name, case, form)
  case <- call$cases[[case]]
  form <- neighbour_forms()[[form]]
  set.seed(seed)
  kind <- trial_kind(call, case)
  space <- neighbour_spaces()[[case$spaces[pick_from(case$spaces)]]]
  pair <- pair_of(make_pair(kind, space, form, case[["n"]] %||% NEIGHBOURS), case$pair)
  noisy <- case$noisy %||% call$noisy_of[[case$method]] %||% call$noisy
  run <- function(side, live, again = 0) in_folder({
    records <- pair[[side]]
    case <- with_side(case, length(records), side)
    ledger <- if (live) dp_ledger(NULL, 1e4, 0.1, pairs = identical(case$args$neighbours, "add_remove"))
    set.seed(seed) # a live call must not read this generator
    random <- .Random.seed
    data <- form$make(records, kind, space, getwd())
    ask <- function() call$call(data(), case, space, ledger)
    seen <- observe(if (live) ask() else with_simulation(seed + again, ask()), seconds)
    seen$state <- if (!identical(random, .Random.seed)) "R's random numbers were used"
    seen$files <- setdiff(list.files(recursive = TRUE, all.files = TRUE), list.files(pattern = "^part-|^records"))
    if (live) {
      seen$ticks <- NULL # of other noise
      history <- ledger_history(ledger)
      seen$ledger <- unlist(history[setdiff(names(history), "made_at")])
      if (is.list(seen$value) && !is.null(seen$value$budget$receipt)) seen$value$budget$receipt <- plain_receipt(seen$value$budget$receipt, ledger)
    }
    seen
  })
  findings <- character()
  promise <- TRUE
  for (live in c(TRUE, FALSE)) {
    one <- run(1, live)
    two <- run(2, live)
    pair_of_runs <- with_same_outcome(call$outcome_of[[case$method]], one, two, function(side, again) run(side, live, again), if (live) 400 else 20)
    one <- pair_of_runs[[1]]
    two <- pair_of_runs[[2]]
    release <- Filter(function(r) is.list(r$value) && !is.null(r$value$guarantee), list(one, two))
    if (live && length(release)) promise <- release[[1]]$value$guarantee$label != "none"
    for (e in list(one$error, two$error)) {
      if (!is.null(e) && !inherits(e, "riemdp_error")) findings <- c(findings, paste("an error without a class of the package:", text_of(conditionMessage(e))))
    }
    if (!promise) break # nothing is promised, so nothing else is asked
    if (live && name == "dp_lm") { # what is said of a guess is a function of the one that was released, with noise of its own
      findings <- c(findings, guess_said(one), guess_said(two))
      one <- without_guess_said(one)
      two <- without_guess_said(two)
    }
    if (live && length(release) == 2) { # texts are functions of the object: where the numbers are the same ones they must be, too
      newdata <- if (!is.null(call$newdata)) call$newdata(space)
      one$said <- said_of(one$value, newdata)
      two$said <- said_of(with_noise_of(two$value, one$value, noisy), newdata)
    }
    found <- differences(one, two, noisy, call$free_of[[case$method]] %||% call$free)
    if (length(found)) findings <- c(findings, paste(if (live) "live," else "simulated,", found))
  }
  moved <- NULL
  if (promise && is.null(one$error) && is.null(two$error)) {
    moved <- in_folder({
      draws <- function(side, after = NULL) {
        records <- pair[[side]]
        case <- with_side(case, length(records), side)
        folder <- tempfile("side", getwd())
        dir.create(folder)
        data <- form$make(records, kind, space, folder)
        draws_of(with_simulation(seed, call$call(data(), case, space, NULL)), after)
      }
      first <- draws(1)
      moved_between(first, draws(2, first))
    })
    undrawn <- case$undrawn %||% call$undrawn
    if (is.null(moved) && is.null(undrawn)) findings <- c(findings, "nothing that noise is added to was seen: no draw has passed pay()")
    if (!is.null(moved) && !is.null(undrawn)) findings <- c(findings, paste("noise was drawn, though", undrawn))
    bad <- which(is.na(moved) | moved > 1)
    if (length(bad)) findings <- c(findings, sprintf("quantity %s moves by %.4g of what is allowed", names(moved)[bad], moved[bad]))
  }
  list(what = sprintf("%s, seed %.0f: %s", label, seed, pair$what), findings = findings, promise = promise,
       outcome = if (is.null(one$error)) "released" else "refused", moved = moved, why = one$outcome)
}

# Live runs draw each its own noise. Where a noisy choice among a few outcomes says what else is done and said, they are compared given that
# choice, which each data set makes with a probability near the other's: run again until both made the same one. So is whether noise has left
# what doubles hold (`beyond`), of the release or of a group.
# Simulated runs have the same noise, so that choices are apart only at an edge between outcomes: other noise is tried, the same for both.
with_same_outcome <- function(outcome, one, two, run, tries = 400) {
  beyond <- function(value) if (is.list(value)) c(isTRUE(value$beyond), unlist(lapply(value$groups, function(g) isTRUE(g$beyond))))
  choice <- function(value) list(beyond(value), if (!is.null(outcome)) outcome(value))
  apart <- function() is.null(one$error) && is.null(two$error) && !identical(choice(one$value), choice(two$value))
  while (apart() && (tries <- tries - 1) > 0) {
    one <- run(1, tries)
    two <- run(2, tries)
  }
  list(one, two) # that still differ: found as a difference
}

of_guess <- function(conditions) grepl("^riemdp_warning_guess", conditions)

# a warning where the released guess is at an end of what is searched, and nowhere else
guess_said <- function(seen) {
  if (!is.list(seen$value)) return(NULL)
  details <- seen$value$details
  ends <- any(details$guess$highest, details$guess$lowest) || isTRUE(details$top)
  if (ends != any(of_guess(seen$conditions))) "live, a warning of the guess that isn't a function of the release"
}

without_guess_said <- function(seen) {
  seen$conditions <- seen$conditions[!of_guess(seen$conditions)]
  if (is.list(seen$value) && any(seen$value$details$guess$highest)) seen$value$expected_error <- 0 # NA says the same
  seen
}

trial_kind <- function(call, case) {
  if (!is.null(case$kind)) return(case$kind)
  if (length(call$kind) == 1) call$kind else if (isTRUE(case$own)) "own" else setdiff(call$kind, "own")[1]
}

# every function x case x form that can be tried: a data frame
neighbour_table <- function() {
  forms <- able_forms()
  out <- lapply(names(neighbour_calls()), function(name) {
    call <- neighbour_calls()[[name]]
    do.call(rbind, lapply(names(call$cases), function(case) {
      kind <- trial_kind(call, call$cases[[case]])
      fit <- names(Filter(function(f) kind %in% f$kinds, forms))
      asked <- call$cases[[case]]$forms %||% call$forms
      fit <- if (is.null(asked)) setdiff(fit, ASKED_FORMS) else intersect(fit, asked)
      data.frame(call = name, case = case, method = call$cases[[case]]$method, form = fit, stringsAsFactors = FALSE)
    }))
  })
  do.call(rbind, out)
}
