# Records on their way to a mean: in memory or in chunks, counted, and as the solvers' C code takes them.

# tau: gradient norm to which the private solver goes; public and fixed
SOLVER_TOLERANCE <- 1e-10

record_count <- function(M, x) {
  n <- if (is_chunks(x)) chunk_count(x) else .Call(riemdp_count, M, x)
  if (n < 1) {
    abort_riemdp("shape", "`x` must hold at least one record.")
  }
  n
}

# What a mechanism's C code takes for the records: themselves, or for chunks the functions that sum over them. `center`
# and `radius` are the public ball, `numbers` those of the mean by public steps.
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
    n = sum(x$sizes), logs = ball("logs"), coords = ball("coords"), points = ball("points"),
    aligned = ball("aligned"), as_given = ball("unturned"),
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
