# Means of records in chunks: the solver and the noise are those of records in memory, its sums come from chunk_ask().

chunk_count <- function(x) sum(check_chunks(x)$sizes)

# numbers of records -> list(chunk, which): chunks hit, and the numbers of their records there
locate_records <- function(sizes, which) {
  ends <- cumsum(sizes)
  chunk <- findInterval(which - 1, ends) + 1
  hit <- sort(unique(chunk))
  list(chunk = hit, which = lapply(hit, function(i) as.double(which[chunk == i] - (ends[i] - sizes[i]))))
}

# stored numbers of records, one a column
chunk_records <- function(M, x, which) {
  at <- locate_records(x$sizes, which)
  got <- chunk_ask(x, list(kernel = "records", M = M), lapply(at$which, function(w) list(which = w)), at$chunk)
  do.call(cbind, got)
}

chunk_check <- function(M, x, private = FALSE) {
  found <- chunk_ask(check_chunks(x), list(kernel = "check", M = M), private = private)
  bad <- which(lengths(found) > 0)[1]
  if (!is.na(bad)) abort_riemdp(sub("^riemdp_error_", "", found[[bad]]$class), sprintf("chunk %d: %s", bad, found[[bad]]$message))
  invisible(x)
}

chunk_fit <- function(x, M, weights, tol, memory, start, max_iter, median) {
  n <- chunk_count(x)
  sizes <- x$sizes
  each <- NULL
  total <- n
  first <- 1
  if (!is.null(weights)) {
    total <- sum(weights)
    first <- which(weights > 0)[1]
    ends <- cumsum(sizes)
    each <- Map(function(from, to) list(weights = weights[from:to]), ends - sizes + 1, ends)
  }
  facts <- mf_facts(M)
  # the records that say how long the first step may be, and the first one that counts
  looked <- chunk_records(M, x, unique(c(first, seq(1, n, by = floor(n / 16) + 1))))
  seed <- if (is.null(start)) c(rep(0, facts$ambient), if (M$name == "grassmann") looked[, 1] else rep(0, facts$ambient))
  sums <- exact_total(chunk_ask(x, list(kernel = "start", M = M, seed = seed), each))
  begin <- if (!is.null(start)) {
    .Call(riemdp_stored, M, start)
  } else if (is.double(sums)) {
    sums
  } else {
    looked[, 1]
  }
  reach <- function(p) do.call(rbind, chunk_ask(x, list(kernel = "reach", M = M, p = p), each))
  tally <- structure(list(
    n = n,
    logs = function(p) exact_total(chunk_ask(x, list(kernel = "logs", M = M, p = p, median = median), each)),
    nearest = function(p) {
      near <- reach(p)
      i <- which.min(near[, 1])
      if (!is.finite(near[i, 1])) return(NULL)
      record <- chunk_records(M, x, sum(sizes[seq_len(i - 1)]) + near[i, 2])
      c(record, sum(reach(as.vector(record))[, 4]))
    }
  ), class = "riemdp_tally")
  fit <- .Call(riemdp_mean_of, M, tally, begin, looked, total, tol, max_iter, memory, median)
  fit$farthest <- if (facts$k_max > 0 || facts$injectivity_radius < Inf) max(reach(fit$stored)[, 3]) else 0
  fit$stored <- NULL
  fit
}

# mean squared distance to a point
chunk_variance <- function(x, M, weights, center) {
  n <- chunk_count(x)
  each <- NULL
  if (!is.null(weights)) {
    ends <- cumsum(x$sizes)
    each <- Map(function(from, to) list(weights = weights[from:to]), ends - x$sizes + 1, ends)
  }
  sums <- exact_total(chunk_ask(x, list(kernel = "logs", M = M, p = .Call(riemdp_stored, M, center), median = FALSE), each))
  if (!is.double(sums)) abort_riemdp("cut_locus", "a record has no logarithm at `center`.")
  sums[length(sums)] / if (is.null(weights)) n else sum(weights)
}

# What a mechanism's C code takes for the records: themselves, or for chunks the functions that sum over them. `center` and
# `radius` are the public ball, `numbers` those of the mean by public steps.
mean_records <- function(M, x, center, radius, numbers = NULL) {
  if (!is_chunks(x)) return(x)
  check_chunks(x)
  m0 <- .Call(riemdp_stored, M, center)
  ball <- function(what) {
    function(p) exact_total(chunk_ask(x, list(kernel = "ball", M = M, center = m0, radius = radius, p = p, what = what),
                                      private = TRUE))
  }
  kng <- function(base, far) {
    request <- list(kernel = "kng", M = M, center = m0, radius = radius, n = sum(x$sizes), base = base, far = far)
    chunk_ask(x, request, private = TRUE)
  }
  structure(list(
    n = sum(x$sizes), logs = ball(1), coords = ball(2), points = ball(3), aligned = ball(4), as_given = ball(5),
    look = function(base) {
      if (at_sites(x)) return(status_number("UNSUPPORTED")) # they count nothing: the envelope does without
      parts <- kng(base, -1)
      sums <- exact_total(parts)
      if (is.double(sums)) c(max(vapply(parts, function(one) attr(one, "far"), 0)), sums) else sums
    },
    cells = function(q) Reduce(`+`, kng(q[-length(q)], q[length(q)])),
    steps = if (!is.null(numbers)) function(a) {
      request <- list(kernel = "steps", M = M, center = m0, numbers = numbers, n = sum(x$sizes), at = a)
      as.vector(Reduce(`+`, chunk_ask(x, request, private = TRUE)))
    },
    counts = function(radii) {
      Reduce(`+`, chunk_ask(x, list(kernel = "counts", M = M, center = m0, radii = radii), private = TRUE))
    }
  ), class = "riemdp_tally")
}
