# What noise is added to, by mechanism, from the arguments that `release` of a mechanism is given: `moved_*(one, two)` says for two calls how
# far it moves, as shares of what the stated sensitivity allows in the norm of the proof. None may exceed 1.

# The arguments with which a mechanism would be asked to release: the call ends there, nothing is drawn
captured <- function(expr) {
  caught <- function(...) signalCondition(structure(class = c("neighbour_caught", "condition"), list(args = list(...))))
  wrap <- function(methods) {
    force(methods)
    function() lapply(methods, function(m) utils::modifyList(m, list(release = caught)))
  }
  tryCatch({
    with_internals(
      force(expr), mean_mechanisms = wrap(internal("mean_mechanisms")()), release_linear = caught,
      regression_mechanisms = wrap(internal("regression_mechanisms")()), continue_run = caught
    )
    NULL
  }, neighbour_caught = function(e) e$args)
}

rounding <- 1e-9

# ---- means --------------------------------------------------------------------------------------------------------------------

# a mechanism's release with noise too small to be seen
noiseless <- function(M, x, plan, ask, to = list()) {
  plan <- utils::modifyList(plan, c(list(scale = 2e-11 * max(1, ask$ball$radius)), to))
  internal("mean_mechanisms")()[[plan$mechanism]]$release(M, x, plan, ask)
}

coords_at <- function(M, p, x) drop(mf_coords(M, p, mf_log(M, p, x)))

# sums over records, wherever they are
as_tally <- function(M, x, ask) {
  internal("mean_records")(M, if (internal("is_chunks")(x)) x else chunks(list(x)), ask$center, ask$ball$radius)
}

moved_mean <- function(one, two) {
  if (!is.null(one[[4]]$clipped)) {
    # the count has noise of scale 1/epsilon of its own
    outside <- lapply(list(one, two), function(a) internal("outside_count")(a[[1]], a[[2]], a[[4]]))
    clipped <- one[[4]]$clipped
    one[[4]]$clipped <- two[[4]]$clipped <- NULL
    return(c(outside = abs(outside[[1]] - outside[[2]]) / (clipped$scale * clipped$epsilon), moved_mean(one, two)))
  }
  M <- one[[1]]
  plan <- one[[3]]
  ask <- one[[4]]
  total <- plan$sensitivity + plan$solver_error
  each <- function(f) list(f(one), f(two))
  value <- function(to = list()) each(function(a) noiseless(a[[1]], a[[2]], a[[3]], a[[4]], to))
  # the noise that is left has a length of some 1e-10
  share <- function(distance, allowed) distance / (allowed * (1 + rounding) + 1e-8 * max(1, ask$ball$radius))
  if (plan$mechanism == "adaptive") {
    rough <- plan$rough
    counts <- each(function(a) as_tally(M, a[[2]], a[[4]])$counts(seq(0.1, 1, 0.1) * ask$ball$radius))
    return(c(moved_mean(list(M, one[[2]], rough, rough$ask), list(M, two[[2]], rough, rough$ask)), counts = max(abs(counts[[1]] - counts[[2]]))))
  }
  if (ask$numerics == "lattice") {
    # integer steps: a law whose noise is 0 but for a probability of 1e-27
    z <- each(function(a) {
      p <- utils::modifyList(a[[3]], list(law = "laplace", ratio = c(1, 64)))
      round(coords_at(M, ask$center, internal("mean_mechanisms")()[[p$mechanism]]$release(M, a[[2]], p, a[[4]])) / plan$details$step)
    })
    d <- plan$details
    moved <- z[[1]] - z[[2]]
    return(c(steps = sqrt(sum(moved^2)) / d$lattice_sensitivity))
  }
  switch(plan$mechanism,
    laplace = , gaussian = , laplace_truncated = {
      v <- value()
      c(mean = share(mf_dist(M, v[[1]], v[[2]]), total))
    },
    wrapped = , wrapped_gaussian = , tangent = {
      v <- lapply(value(), function(p) coords_at(M, ask$center, p))
      c(logarithm = share(sqrt(sum((v[[1]] - v[[2]])^2)), total))
    },
    euclidean = {
      v <- if (plan$details$target == "frechet") value(list(into_ball = FALSE)) else
        each(function(a) as_tally(M, a[[2]], a[[4]])$points(NULL)[seq_along(ask$center)] / ask$n)
      c(point = share(sqrt(sum((v[[1]] - v[[2]])^2)), total))
    },
    pointwise = {
      sums <- each(function(a) {
        tally <- as_tally(M, a[[2]], a[[4]])
        (if (plan$aligned) tally$aligned else tally$as_given)(NULL)[seq_along(plan$scales)]
      })
      # Laplace noise of each coordinate's own scale
      c(coordinates = sum(abs(sums[[1]] - sums[[2]]) / plan$scales) / ask$n / (plan$guarantee$epsilon * (1 + rounding)))
    },
    kng = {
      # sums of logarithms are those of the ball that is carried to the origin, where there is one
      at <- tryCatch(internal("public_point")(M, .Call(internal("riemdp_origin"), M)), riemdp_error = function(e) ask$center)
      points <- list(at, mf_exp(M, at, mf_from_coords(M, at, c(0.9 * ask$ball$radius, rep(0, mf_facts(M)$dimension - 1)))))
      c(gradient = max(vapply(points, function(p) {
        stored <- .Call(internal("riemdp_stored"), M, p)
        g <- each(function(a) as_tally(M, a[[2]], a[[4]])$logs(stored))
        # the last number is the sum of squared distances; stored tangent vectors of the triangles are real and imaginary parts
        moved <- (g[[1]] - g[[2]])[seq_along(stored)] / ask$n
        stored_norm(M, p, moved) / (total * (1 + rounding))
      }, 0)))
    }
  )
}

# length of a tangent vector at p from its stored numbers
stored_norm <- function(M, p, v) mf_norm(M, p, internal("plain_point")(mf_facts(M), v))

# ---- linear regression --------------------------------------------------------------------------------------------------------------

# sums over records of gradients (q x (d + 1)) and of the Hessian's triangle at coefficients B
perturbed_sums <- function(x, y, loss, B) {
  parts <- cbind(B, 0 * B) # coefficients are sums of two doubles
  if (!is.matrix(x)) return(internal("linear_tally")(x, y, loss, dim(B))$sums(c(1, parts)))
  internal("exact_total")(list(.Call(internal("riemdp_chunk_perturbed"), x, y, parts, loss, TRUE)))
}

# loss of objective perturbation between two data sets at output B: the noise's tilt and the curvature's determinant, in the norm whose
# gauge is at most that of the law
perturbed_loss <- function(a, b, rule, B) {
  loss <- internal("kernel_loss")(rule)
  m <- length(B)
  sums <- list(perturbed_sums(a[[1]], a[[2]], loss, B), perturbed_sums(b[[1]], b[[2]], loss, B))
  log_det <- vapply(sums, function(s) {
    h <- matrix(0, m, m)
    h[lower.tri(h, TRUE)] <- s[-seq_len(m)]
    h <- h + t(h) - diag(diag(h), m) + diag(rep(rule$ridge, each = rule$q), m)
    as.double(determinant(h)$modulus)
  }, 0)
  tilt <- matrix(sums[[1]][seq_len(m)] - sums[[2]][seq_len(m)], nrow(B))
  size <- max(sqrt(colSums(tilt^2)))
  allowed <- if (is.null(rule$epsilon)) Inf else rule$epsilon - rule$solver
  c(gradient = size / (2 * rule$tau * (1 + rounding)), loss = (rule$rate * size + abs(diff(log_det))) / (allowed * (1 + rounding)))
}

moved_lm <- function(one, two) {
  plan <- one[[3]]
  ask <- one[[4]]
  if (!is.null(plan$check)) { # the check's scores and the search's, and then what a fit in units of the guess adds noise to
    moved <- moved_guess(one, two, plan$check, ask)
    kept <- data.frame(center = numeric(ask$q), scale = 1)
    ask <- internal("guess_left")(ask, plan$check, 0)
    y <- lapply(list(one, two), function(a) internal("guessed_responses")(a[[1]], a[[2]], kept, plan$reach %||% internal("REACH")))
    plan$check <- NULL
    return(c(moved, moved_lm(list(one[[1]], y[[1]], plan, ask), list(two[[1]], y[[2]], plan, ask))))
  }
  if (plan$method %in% c("statistics", "adassp")) {
    s <- lapply(list(one, two), function(a) internal("moment_matrices")(a[[1]], a[[2]]))
    xx <- s[[1]]$xx - s[[2]]$xx
    xy <- s[[1]]$xy - s[[2]]$xy
    if (plan$method == "adassp") {
      ends <- vapply(s, function(m) min(eigen(m$xx, symmetric = TRUE, only.values = TRUE)$values), 0)
      xx[1, 1] <- 0 # n takes its place
      return(c(mu = sqrt((diff(ends) / plan$sd[["value"]])^2 + sum(xx^2) / plan$sd[["xx"]]^2 + sum(xy^2) / plan$sd[["xy"]]^2) / (plan$mu * (1 + rounding))))
    }
    # the K-norm: u_k in [-1, 1], u_k^2 in [0, 1], u_j u_k in [-1, 1], x_k y in a ball
    square <- xx[-1, -1, drop = FALSE]
    return(c(k_norm = max(abs(xx[1, -1]) / 2, abs(diag(square)), abs(square[lower.tri(square)]) / 2, sqrt(rowSums(xy^2)) / (2 * plan$reach)) / (1 + rounding)))
  }
  if (plan$method == "recentred") {
    first <- function(a) list(a[[1]], internal("residual_responses")(a[[1]], a[[2]], matrix(0, ask$q, ask$d + 1), 1, limit = TRUE))
    counts <- lapply(list(one, two), function(a) {
      b <- matrix(0.1, ask$q, ask$d + 1)
      y <- internal("residual_responses")(a[[1]], a[[2]], 0 * b, 1)
      if (is.matrix(a[[1]])) internal("residuals_within")(a[[1]], y - b %*% a[[1]], 2^(-5:5))$count else internal("linear_within")(a[[1]], y, b, 2^(-5:5))$count
    })
    return(c(perturbed_at(first(one), first(two), plan$first), counts = max(abs(counts[[1]] - counts[[2]]))))
  }
  rule <- plan$rule
  if (!is.null(rule)) {
    found <- perturbed_at(one, two, rule)
    # only objective perturbation pays by this formula
    if (plan$method %in% c("objective", "huber")) found else found["gradient"]
  }
}

# each utility of the check of the guess and of its search may move by 1
moved_guess <- function(one, two, prices, ask) {
  off <- lapply(list(one, two), function(a) {
    internal("guess_off")(if (is.matrix(a[[1]])) internal("guess_counts")(a[[1]], a[[2]]) else
      Reduce(`+`, internal("linear_ask_chunks")(a[[1]], "linear_guess", a[[2]])), ask$n)
  })
  cells <- lapply(list(one, two), function(a) {
    which <- seq_len(ask$q)
    if (is.matrix(a[[1]])) internal("guess_cells")(a[[1]], a[[2]], which) else
      Reduce(internal("add_cells"), internal("linear_ask_chunks")(a[[1]], "linear_cells", a[[2]], which = which))
  })
  search <- vapply(seq_len(ask$q), function(j) {
    max(vapply(c(-80, -14, -4:4, 9, 10, 80), function(k) {
      at <- lapply(cells, function(c) internal("guess_level")(c[[j]], k, prices$fraction))
      every <- union(at[[1]]$at, at[[2]]$at)
      score <- lapply(at, function(l) c(l$floor, ifelse(every %in% l$at, l$score[match(every, l$at)], l$floor)))
      max(abs(score[[1]] - score[[2]]))
    }, 0))
  }, 0)
  c(check = max(abs(off[[1]] - off[[2]])), search = max(search)) / (1 + rounding)
}

perturbed_at <- function(one, two, rule) {
  at <- list(matrix(0, rule$q, rule$d + 1), matrix(c(0.5, -0.3, 0.2, rep(0.1, rule$q * (rule$d + 1)))[seq_len(rule$q * (rule$d + 1))], rule$q),
             matrix(30, rule$q, rule$d + 1))
  apply(vapply(at, function(B) perturbed_loss(one, two, rule, B), c(gradient = 0, loss = 0)), 1, max)
}

# ---- geodesic regression ------------------------------------------------------------------------------------------------------------

moved_regression <- function(one, two) {
  M <- one[[1]]
  plan <- one[[4]]
  ask <- one[[5]]
  q <- ask$q
  if (plan$mechanism == "kng") {
    rule <- internal("curve_kng_rule")(M, ask)
    norms <- lapply(list(c(0, 0), c(0.3, 0.5)), function(far) {
      a <- c(far[1] * ask$radius, rep(0, q - 1))
      b <- c(rep(0, q - 1), far[2] * ask$speed)
      at <- internal("kng_point")(M, a, b, ask$center)
      g <- lapply(list(one, two), function(x) {
        d <- internal("kng_predictors")(x[[2]] %||% matrix(0, 1, 1), ask$reach, x[[3]])
        if (is.null(x[[2]])) return(internal("chunk_pull")(x[[3]], list(at[c("p", "b", "speed")]), rule, ask$reach)[[1]])
        do.call(rbind, lapply(internal("kng_gradients")(M, at$p, at$v, at$speed, d, rule, ask$reach), colMeans))
      })
      sqrt(rowSums((g[[1]] - g[[2]])^2)) / (2 * rule$tau * internal("kng_factors")(rule$k_min, at$speed, ask$reach) / ask$n)
    })
    return(c(gradient = max(unlist(norms)) / (1 + rounding)))
  }
  states <- list(list(p = ask$center, v = matrix(0, q, ask$k)), list(p = ask$center, v = matrix(0.5 * ask$speed / sqrt(q), q, ask$k)))
  found <- vapply(states, function(state) {
    records <- lapply(list(one, two), function(a) internal("step_records")(M, state, a[[2]], a[[3]], ask))
    vapply(plan$steps, function(step) {
      g <- lapply(records, internal("clipped_gradient"), step$tau)
      moved <- g[[1]] - g[[2]]
      if (plan$mechanism == "gradient") {
        sqrt(length(plan$steps)) * sqrt(sum(moved^2)) / step$sd / plan$guarantee$mu
      } else {
        # no longer than two residuals, in the norm that is at most the law's gauge
        max(sqrt(colSums(moved^2))) / (2 * step$tau * internal("newton_gauge")(records[[1]]$lambda, ask$reach, step$norm))
      }
    }, 0)
  }, numeric(length(plan$steps)))
  c(gradient = max(0, found) / (1 + rounding))
}

# ---- optimisers -------------------------------------------------------------------------------------------------------------------

moved_optimum <- function(one, two) {
  run <- one[[1]]
  M <- run$problem$manifold
  ask <- run$ask
  d <- mf_facts(M)$dimension
  points <- list(ask$start, mf_exp(M, ask$start, mf_from_coords(M, ask$start, c(0.3, rep(0, d - 1)))))
  clip <- ask$clip[2]
  # by which a step's sum may move; where neighbours have one record more or less, a replaced one is two steps away
  allowed <- run$plan$sd / run$plan$multiplier * ask$batch * (if (ask$adjacency == "add-remove") 2 else 1)
  c(gradients = max(vapply(points, function(p) {
    stored <- .Call(internal("riemdp_stored"), M, p)
    sums <- lapply(list(one, two), function(a) {
      input <- a[[2]]
      if (is.list(input$data) && is.function(input$data$gradients)) return(input$data$gradients(list(p = stored, clip = clip, apart = FALSE)))
      internal("exact_total")(list(.Call(internal("riemdp_chunk_gradients"), M, input$data, input$kind, input$threshold, input$fun, input$n, stored, NULL,
                                         list(clip = clip, apart = FALSE, losses = FALSE), NULL)))
    })
    stored_norm(M, p, (sums[[1]] - sums[[2]])[seq_along(stored)]) / (allowed * (1 + rounding))
  }, 0)))
}

# ---- what solvers promise -----------------------------------------------------------------------------------------------------------

# The arguments of every fit by objective perturbation in a call, and the constants that it goes by
perturbed_fits <- function(expr) {
  entry <- internal("riemdp_release_perturbed")
  seen <- list()
  tap <- function(routine, ...) {
    if (identical(routine, entry)) seen[[length(seen) + 1]] <<- c(list(rule = get("rule", parent.frame())), list(...))
    .Call(routine, ...)
  }
  tapped <- function(expr) {
    if (is.call(expr)) as.call(lapply(as.list(expr), function(part) if (identical(part, quote(expr = ))) part else tapped(part))) else
      if (identical(expr, quote(.Call))) tap else expr
  }
  ns <- asNamespace("riemdp")
  users <- Filter(function(name) is.function(ns[[name]]) && "riemdp_release_perturbed" %in% all.names(body(ns[[name]])), ls(ns, all.names = TRUE))
  new <- lapply(stats::setNames(nm = users), function(name) {
    f <- ns[[name]]
    body(f) <- tapped(body(f))
    f
  })
  do.call(with_internals, c(list(quote(tryCatch(force(expr), error = function(e) NULL))), new))
  seen
}

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
  feature <- function(k, j) if (length(dim(f[[2]])) == 3) f[[2]][j, k, ] else f[[2]][k, ]
  e <- vapply(seq_len(q), function(j) {
    s <- list(high = f[[3]][j, ], low = 0 * f[[3]][j, ])
    for (k in seq_len(ncol(b))) for (part in list(b, low)) s <- less_product(s, feature(k, j), rep(part[j, k], ncol(f[[3]])))
    s$high + s$low
  }, numeric(ncol(f[[3]])))
  e <- matrix(e, ncol = q)
  across <- internal("loss_at")(f[[6]]$g, f[[6]]$tau, pmax(sqrt(rowSums(e^2)), 1e-300))$across
  terms <- do.call(cbind, lapply(seq_len(ncol(b)), function(k) vapply(seq_len(q), function(j) -feature(k, j) * across * e[, j], numeric(nrow(e)))))
  sums <- internal("exact_total")(list(internal("exact_rows")(matrix(terms, nrow(e)))))[seq_along(b)]
  matrix(sums, q) + f[[4]] * (b - f[[5]]) + f[[4]] * low + noise
}

# What the solver's distance from the minimiser costs, as a share of what the released noise pays for it, over a call's fits
solver_shares <- function(expr) {
  shares <- vapply(perturbed_fits(expr), function(f) {
    if (!is.matrix(f[[2]]) && length(dim(f[[2]])) != 3) return(0) # in chunks: the same solver
    noise <- matrix(.Call(internal("riemdp_perturbation_noise"), ncol(f[[4]]), nrow(f[[4]]), 1, f[[8]]$norm, f[[8]]$rate, FALSE), nrow(f[[4]]))
    fit <- .Call(internal("riemdp_perturbed_fit_nonprivate"), f[[2]], f[[3]], f[[4]], f[[5]], noise, f[[6]], f[[7]])
    2 * sqrt(sum(true_gradient(f, noise, fit[[1]], fit[[4]])^2)) / min(f[[4]]) * f[[8]]$cover / f$rule$solver
  }, 0)
  c(solver = max(0, shares))
}

neighbour_quantities <- list(dp_mean = moved_mean, dp_lm = moved_lm, dp_regression = moved_regression, dp_optimize = moved_optimum, dp_resume = moved_optimum,
                             dp_pca = moved_optimum)

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

# One pair by one function, case and form: list(what, findings), findings a character vector. `outcome` says whether anything was released.
neighbour_trial <- function(name, case, form, seed, seconds = 60) {
  call <- neighbour_calls()[[name]]
  label <- paste(name, case, form)
  case <- call$cases[[case]]
  form <- neighbour_forms()[[form]]
  set.seed(seed)
  kind <- trial_kind(call, case)
  space <- neighbour_spaces()[[case$spaces[pick_from(case$spaces)]]]
  pair <- neighbour_pair(kind, space, form, case$n %||% NEIGHBOURS)
  noisy <- call$noisy_of[[case$method]] %||% call$noisy
  run <- function(records, live) in_folder({
    ledger <- if (live) dp_ledger(NULL, 1e4, 0.1)
    set.seed(seed) # a live call must not read this generator
    random <- .Random.seed
    data <- form$make(records, kind, space, getwd())
    ask <- function() call$call(data(), case, space, ledger)
    seen <- observe(if (live) ask() else with_simulation(seed, ask()), seconds)
    seen$state <- if (!identical(random, .Random.seed)) "R's random numbers were used"
    seen$files <- setdiff(list.files(recursive = TRUE, all.files = TRUE), list.files(pattern = "^part-|^records"))
    if (live) {
      seen$ticks <- NULL # of other noise
      history <- ledger_history(ledger)
      seen$ledger <- unlist(history[setdiff(names(history), "made_at")])
    }
    seen
  })
  findings <- character()
  promise <- TRUE
  for (live in c(TRUE, FALSE)) {
    one <- run(pair$one, live)
    two <- run(pair$two, live)
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
    found <- differences(one, two, noisy, call$free)
    if (length(found)) findings <- c(findings, paste(if (live) "live," else "simulated,", found))
  }
  quantity <- neighbour_quantities[[name]]
  moved <- NULL
  if (promise && !is.null(quantity) && is.null(one$error) && is.null(two$error)) {
    moved <- in_folder({
      args <- lapply(pair[c("one", "two")], function(records) {
        folder <- tempfile("side", getwd())
        dir.create(folder)
        data <- form$make(records, kind, space, folder)
        list(captured(call$call(data(), case, space, NULL)), if (name == "dp_lm") solver_shares(call$call(data(), case, space, NULL)))
      })
      tryCatch(c(quantity(args[[1]][[1]], args[[2]][[1]]), pmax(args[[1]][[2]], args[[2]][[2]])),
               error = function(e) stats::setNames(NaN, paste("(not to be had:", conditionMessage(e), ")")))
    })
    bad <- which(is.na(moved) | moved > 1)
    if (length(bad)) findings <- c(findings, sprintf("quantity %s moves by %.4g of what is allowed", names(moved)[bad], moved[bad]))
  }
  list(what = sprintf("%s, seed %.0f: %s", label, seed, pair$what), findings = findings, promise = promise,
       outcome = if (is.null(one$error)) "released" else "refused", moved = moved, why = one$outcome)
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

trial_kind <- function(call, case) if (length(call$kind) == 1) call$kind else if (isTRUE(case$own)) "own" else setdiff(call$kind, "own")[1]

# every function x case x form that can be tried: a data frame
neighbour_table <- function() {
  forms <- able_forms()
  out <- lapply(names(neighbour_calls()), function(name) {
    call <- neighbour_calls()[[name]]
    do.call(rbind, lapply(names(call$cases), function(case) {
      kind <- trial_kind(call, call$cases[[case]])
      fit <- names(Filter(function(f) kind %in% f$kinds, forms))
      if (!is.null(call$forms)) fit <- intersect(fit, call$forms)
      data.frame(call = name, case = case, method = call$cases[[case]]$method, form = fit, stringsAsFactors = FALSE)
    }))
  })
  do.call(rbind, out)
}
