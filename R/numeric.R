# Numbers: rounding outwards, sums in logarithms, roots that end on the safe side, what is remembered.

outwards <- function(x) x * (1 + 1e-12)

outwards_down <- function(x) x * (1 - 1e-14)

# x, moved in growing steps until ok(x): where a root's last digits don't decide
step_until <- function(x, step, ok) {
  while (!ok(x)) {
    x <- x + step
    step <- 2 * step
  }
  x
}

# smallest epsilon up to `most` (where f(most) <= delta) with f(epsilon) <= delta, rounded up; f falls
falling_root <- function(f, delta, most) {
  if (!is.finite(most)) return(Inf) # beyond doubles
  if (f(0) <= delta) return(0)
  if (most == 0 || delta == 0) return(most)
  lower <- 0
  upper <- most
  log_f <- function(epsilon) log(max(f(epsilon), 1e-320)) - log(delta)
  root <- stats::uniroot(log_f, c(lower, upper), f.upper = min(log_f(upper), -1e-300), tol = 1e-14 * (1 + upper))$root
  min(most, step_until(root, 1e-13 * root + 1e-16, function(x) x >= most || f(x) <= delta))
}

logs_add <- function(a, b) pmax.int(a, b) + log1p(exp(-abs(a - b)))

# log(rest + q e^x), rest being 1 - q, which may be known better than q tells
log_mix <- function(x, q, rest = 1 - q) {
  low <- q > 0.5 & x < -1
  ifelse(x > 500, logs_add(x + log(q), log(rest)), ifelse(low, log(rest + q * exp(x)), log1p(q * expm1(pmin(x, 500)))))
}

# ifelse() of plain vectors, where one of two ways mostly serves for all: the other isn't gone
either <- function(test, yes, no) {
  if (anyNA(test)) return(ifelse(test, yes, no))
  n <- length(test)
  if (!any(test)) return(rep_len(no, n))
  if (all(test)) return(rep_len(yes, n))
  out <- rep_len(no, n)
  out[test] <- rep_len(yes, n)[test]
  out
}

cache <- new.env(parent = emptyenv())

# `fun()` once for each key; keys and values are made of what is public alone. A name in an environment has 10,000 bytes
# at most.
remember <- function(key, fun) {
  if (nchar(key) > 9000) return(fun())
  if (is.null(cache[[key]])) {
    if (length(cache) > 500) rm(list = ls(cache, all.names = TRUE), envir = cache)
    assign(key, fun(), envir = cache)
  }
  cache[[key]]
}

# The same without a key, which would take longer to make: facts are compared, bit by bit, with those that were asked
# about last. Code may tell another thing each time, and what holds some is not kept.
LATEST <- 16

latest <- function(what, facts, fun) {
  kept <- cache[[what]]
  for (one in kept) if (identical(one$facts, facts, FALSE, FALSE, FALSE)) return(one$value)
  value <- fun()
  if (!holds_code(facts)) {
    one <- list(facts = facts, value = value)
    assign(what, c(list(one), kept[seq_len(min(length(kept), LATEST - 1))]), envir = cache)
  }
  value
}

holds_code <- function(v) {
  is.function(v) || is.language(v) || is.environment(v) || (is.list(v) && any(vapply(unclass(v), holds_code, NA)))
}

# the binary digits of a number from 1 up, without the first
binary_digits <- function(n) {
  out <- double()
  while (n > 1) {
    out <- c(n %% 2, out)
    n <- floor(n / 2)
  }
  out
}

# the largest k for which r 2^k is at most 2^51; log2() rounds a number just above a power of 2 to it
room_bits <- function(r) {
  k <- floor(51 - log2(r))
  if (r * 2^k > 2^51) k - 1 else k
}

# ---- symmetric matrices as vectors -----------------------------------------------------------------------------------

# Entries on the diagonal, then root 2 times those above it: the Euclidean length is the Frobenius norm
symmetric_entries <- function(S) c(diag(S), sqrt(2) * S[upper.tri(S)])

symmetric_matrix <- function(v, d) {
  S <- matrix(0, d, d)
  S[upper.tri(S)] <- v[-seq_len(d)] / sqrt(2)
  S <- S + t(S)
  diag(S) <- v[seq_len(d)]
  S
}

# how many there are
symmetric_count <- function(d) d * (d + 1) / 2

# A positive number as whole numerator and denominator, exactly a power of two; `whole` says which way to round
as_ratio <- function(x, whole = round) {
  bits <- max(0, min(31, 52 - ceiling(log2(x))))
  num <- whole(x * 2^bits)
  if (!(num >= 1 && num <= 2^62)) {
    abort_riemdp("argument", sprintf("a scale of %.3g lattice steps is out of range: `k` of another size would do.", x))
  }
  c(num, 2^bits)
}

# discrete normals of a lattice, of this variance more (proofs/lattice.md, section 1)
ROUNDING_VARIANCE <- 9

# bytes as text of two hexadecimal digits each, and back
hex_bytes <- function(x) paste(as.character(x), collapse = "")

bytes_hex <- function(text) as.raw(strtoi(substring(text, seq(1, nchar(text), 2), seq(2, nchar(text), 2)), 16L))
