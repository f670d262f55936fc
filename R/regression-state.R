# A curve on its way to a release: its point and velocity in coordinates, what records say of it, the steps that move
# it.

# pieces in which residuals are carried back: short against the injectivity radius where that is known
regression_legs <- function(M, ask) {
  inj <- mf_facts(M)$injectivity_radius
  if (!(inj > 0 && inj < Inf)) return(1)
  min(1000, max(1, ceiling(2 * sum(ask$speed * ask$reach) / inj)))
}

# exp of coordinates a at p, shortened until it exists (incomplete manifolds)
exp_reached <- function(M, p, a) {
  for (i in 0:100) {
    out <- tryCatch(public_point(M, mf_exp(M, p, mf_from_coords(M, p, a))), riemdp_error = function(e) NULL)
    if (!is.null(out)) return(out)
    a <- a / 2
  }
  p
}

# coordinates of vectors (q x k) carried from p to r: parallel transport, or the frames' own correspondence where there
# is none
carry_coords <- function(M, p, r, a) {
  apply(a, 2, function(one) {
    moved <- tryCatch(drop(mf_coords(M, r, mf_transport(M, p, r, mf_from_coords(M, p, one)))),
                      riemdp_error = function(e) one)
    if (all(is.finite(moved))) moved else one
  })
}

# a step of dp and dv from (p, v), all q x k coordinates at p; back into the public domain
regression_move <- function(M, state, dp, dv, ask) {
  to <- exp_reached(M, state$p, dp)
  v <- matrix(carry_coords(M, state$p, to, state$v + dv), nrow(state$v))
  inside <- clamp_to_ball(M, ask$center, ask$radius, to)
  if (!identical(inside, to)) v <- matrix(carry_coords(M, to, inside, v), nrow(v))
  size <- sqrt(colSums(v^2))
  v <- v * rep(pmin(1, ask$speed / pmax(size, 1e-300)), each = nrow(v))
  list(p = inside, v = v, edge = !identical(inside, to) || any(size > ask$speed))
}

# The records as a step sees them: list(frame, lambda, features: q x (1 + k) x n, responses: q x n). Each record's
# columns depend on it and on the state alone.
step_records <- function(M, state, x, y, ask) {
  v <- tangent_vectors(M, state$p, state$v)
  frame <- .Call(riemdp_gauss_newton_frame, M, state$p, v)
  if (inherits(y, "riemdp_regression_chunks")) return(chunk_steps(y, state, ask, frame))
  features_at(M, state, frame, x, y, ask)
}

# What regression_steps() sees of the records: sums over them. The frame is made here, once, and sent.
chunk_steps <- function(y, state, ask, frame) {
  ask_all <- function(kernel, ...) {
    exact_total(regression_ask_chunks(y, kernel, state = state, frame = frame,
                                      ask = ask[c("speed", "reach", "q", "k")], ...))
  }
  list(
    frame = frame[[1]], lambda = frame[[2]],
    noisy = if (!is.null(y$noisy)) function(cut, step) y$noisy(state, frame, cut, step),
    sum = function(tau) matrix(ask_all("regression", tau = tau), ask$q),
    perturbed = function(most, loss, scale) {
      shape <- c(ask$q, 1 + ask$k)
      perturbed_tally(counted(y$share, chunk_count(y$data)), shape, function(b, hessian) {
        ask_all("regression_perturbed", most = most, loss = loss, scale = scale, b = matrix(b, shape[1]),
                hessian = hessian)
      })
    }
  )
}

features_at <- function(M, state, frame, x, y, ask) {
  data <- .Call(riemdp_gauss_newton_records_nonprivate, M, state$p, tangent_vectors(M, state$p, state$v), x, y,
                frame[[1]], frame[[2]], ask$reach, regression_legs(M, ask))
  list(frame = frame[[1]], lambda = frame[[2]], features = with_shares(data[[1]], attr(x, "share")),
       responses = data[[2]])
}

# From the centre through the steps of a plan. `increment(records, step)` releases coordinates in the records' frame:
# dp, then reach times dv. The last of them, its rule and what it saw of the curve are told: all were released.
regression_steps <- function(M, x, y, steps, ask, increment) {
  state <- list(p = ask$center, v = matrix(0, ask$q, ask$k))
  for (step in steps) {
    records <- step_records(M, state, x, y, ask)
    moved <- matrix(increment(records, step), ask$q)
    theta <- records$frame %*% moved
    state <- regression_move(M, state, theta[, 1], theta[, -1, drop = FALSE] / rep(ask$reach, each = ask$q), ask)
  }
  c(regression_value(M, state),
    list(last = list(step = moved, rule = step, lambda = records$lambda, edge = state$edge)))
}

# responses shortened to tau
clipped_responses <- function(records, tau) {
  q <- nrow(records$responses)
  psi <- records$responses * rep(pmin(1, tau / pmax(sqrt(colSums(records$responses^2)), 1e-300)), each = q)
  psi[!is.finite(psi)] <- 0
  psi
}

# sum of F'psi over the records, psi the response shortened to tau; q x (1 + k)
clipped_gradient <- function(records, tau) {
  if (!is.null(records$sum)) return(records$sum(tau))
  q <- nrow(records$responses)
  psi <- clipped_responses(records, tau)
  share <- shares_of(records$features)
  if (!is.null(share)) psi <- psi * rep(share, each = q)
  vapply(seq_len(dim(records$features)[2]), function(j) rowSums(matrix(records$features[, j, ], q) * psi), numeric(q))
}

# vectors in the shape that functions of the geometry take: one tangent vector, or many
tangent_vectors <- function(M, p, v) mf_from_coords(M, p, if (ncol(v) == 1) v[, 1] else t(v))

regression_value <- function(M, state) list(p = state$p, v = tangent_vectors(M, state$p, state$v))

# points at predictors x (k x n, from the middle of their ranges)
curve_of_state <- function(M, value, x) {
  a <- matrix(mf_coords(M, value$p, value$v), ncol = mf_facts(M)$dimension)
  mf_exp(M, value$p, mf_from_coords(M, value$p, t(x) %*% a))
}
