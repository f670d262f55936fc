# The records' mean squared distance from a point, or from their mean: whole numbers, one for each record, and a
# two-sided geometric number on their sum. Proofs: inst/proofs/inference.md.

# How fine the whole numbers are: 2^bits stands for the square of the ball's diameter. Sums fit into doubles, where the
# number is private of as many records as there can be; so does the noise but for a chance of exp(-1000).
variance_bits <- function(n, epsilon) {
  room <- 52 - ceiling(log2(max(2, if (is.na(n)) SIZE_MOST else n)))
  max(1, min(40, room, floor(42 + log2(epsilon))))
}

# `ask` with what the sum of squares is to cost; the coordinates of the point that distances are from are public
variance_ask <- function(M, ask, epsilon, shape = FALSE) {
  steps <- mean_steps(M, ask$ball, if (is.na(ask$n)) 1 else ask$n, lattice = TRUE)
  if (!is.null(steps$why)) abort_riemdp("unsupported", paste0("no mean squared distance: ", steps$why, "."))
  if (!(epsilon >= 2^-30)) abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
  shape <- shape && mf_facts(M)$dimension > 1
  own <- if (shape) outwards_down(epsilon * (1 - NORM_SHARE)) else epsilon
  ask$squares <- list(epsilon = own, bits = variance_bits(ask$n, own), steps = steps,
                      norm = if (shape) NORM_SHARE * epsilon)
  ask
}

# what of it goes to how long the matrix of products is
NORM_SHARE <- 0.4

# Coordinates at the centre of a released point, moved into the ball where it lies outside: post-processing
variance_at <- function(M, ask, at) {
  a <- tryCatch(as.vector(mf_coords(M, ask$center, mf_log(M, ask$center, at))), riemdp_error = function(e) NULL)
  if (is.null(a) || !all(is.finite(a))) a <- numeric(mf_facts(M)$dimension)
  far <- sqrt(sum(a^2))
  if (far > ask$ball$radius) a * (ask$ball$radius / far * (1 - 1e-12)) else a
}

# The point with these coordinates at the centre, or nearer the centre where doubles hold none: a function of these
# coordinates alone, which can't fail
variance_point <- function(M, ask, a) {
  for (i in 1:60) {
    p <- tryCatch(mf_exp(M, ask$center, mf_from_coords(M, ask$center, a)), riemdp_error = function(e) NULL)
    if (!is.null(p)) return(p)
    a <- 0.75 * a
  }
  mf_exp(M, ask$center, mf_from_coords(M, ask$center, 0 * a))
}

# how long logarithms of records of the ball are, at the point with coordinates `a` at the centre
tangent_bound <- function(ask, a) (ask$ball$radius + sqrt(sum(a^2))) * (1 + 1e-9)

# Coordinates at p of the logarithms of records moved to the ball, each from its record alone; 0 for one that has none
tangent_rows <- function(M, x, ask, p) {
  near <- mf_points(.Call(riemdp_to_ball, M, x, ask$center, ask$ball$radius), M)
  d <- mf_facts(M)$dimension
  coords <- function(y) matrix(mf_coords(M, p, tangent_at(M, as.matrix(mf_log(M, p, y)))), ncol = d)
  matrix(each_row(near, coords, d), ncol = d)
}

# What one record may count at most: its distance is no longer than the radius and that from the centre together
variance_most <- function(ask, a) {
  reach <- ask$ball$radius + sqrt(sum(a^2))
  ceiling(2^ask$squares$bits * min(1, (reach / (2 * ask$ball$radius))^2) * (1 + 1e-9))
}

# The sum for records in memory or in chunks, seen from coordinates `a`; with a reach the sums of products
squares_sum <- function(M, x, ask, a, counted, n) {
  s <- ask$squares
  if (n == 0) return(0)
  m0 <- .Call(riemdp_stored, M, ask$center)
  if (!is_chunks(x)) return(.Call(riemdp_chunk_steps, M, x, m0, s$steps$numbers, n, a, counted))
  request <- list(kernel = "squares", M = M, center = m0, numbers = s$steps$numbers, n = n, at = a, squares = counted)
  Reduce(`+`, chunk_ask(x, request, private = TRUE))
}

# How long the mean of the products of coordinates is, as a matrix: between the mean square over the root of the
# dimension, where records lie evenly in all directions, and the mean square itself, where they lie along one line. With
# what one record moves the sum's length by, in whole numbers (proofs/inference.md, section 2).
NORM_BITS <- 21

norm_bits <- function(epsilon) max(1, min(NORM_BITS, floor(42 + log2(epsilon))))

norm_most <- function(M, ask, a) {
  reach <- min(1, (ask$ball$radius + sqrt(sum(a^2))) / (2 * ask$ball$radius)) * (1 + 1e-9)
  entries <- mf_facts(M)$ambient * (mf_facts(M)$ambient + 1) / 2
  # a replaced record leaves one matrix and brings another; one that is there or not is one
  two <- if (is.na(ask$n) && !isTRUE(ask$replace)) 1 else sqrt(2)
  list(reach = reach, one = ceiling(two * 2^norm_bits(ask$squares$norm) * reach^2 * (1 + 1e-9) + sqrt(entries) +
                                      2 * (1 + entries)))
}

norm_sum <- function(M, x, ask, a, most, n) {
  sums <- squares_sum(M, x, ask, a, c(norm_bits(ask$squares$norm), 1, most$reach), n)
  round(sqrt(sum(sums^2)))
}

# list(sum, scale): one with its noise, or several that a record moves by `moved` in all
noisy_squares <- function(sums, moved, epsilon, proof) {
  noise <- noise_ratio(moved, epsilon)
  list(sum = noisy_count(sums, noise$ratio, proof, moved, 2^53), scale = noise$scale)
}

# of the geometric noise of whole numbers that a record moves by so many
noise_ratio <- function(moved, epsilon) {
  ratio <- as_ratio(outwards(moved / epsilon), ceiling)
  list(ratio = ratio, scale = ratio[1] / ratio[2])
}

# The release of a mean squared distance from the point with coordinates `a`, which is public
release_squares <- function(M, x, ask, a, n) {
  s <- ask$squares
  most <- variance_most(ask, a)
  noisy <- noisy_squares(squares_sum(M, x, ask, a, c(s$bits, most), n), most, s$epsilon, "inference.md, 1")
  told <- squares_told(ask, noisy, most)
  if (is.null(s$norm)) return(told)
  most <- norm_most(M, ask, a)
  noisy <- noisy_squares(norm_sum(M, x, ask, a, most, n), most$one, s$norm, "inference.md, 2")
  c(told, norm_told(ask, noisy))
}

norm_told <- function(ask, noisy) {
  unit <- 4 * ask$ball$radius^2 / 2^norm_bits(ask$squares$norm)
  list(norm = noisy$sum * unit, norm_scale = noisy$scale * unit, norm_epsilon = ask$squares$norm)
}

# beside a private mean: from the point that was drawn
release_variance <- function(M, x, ask, value, n) {
  if (!is.null(ask$variance)) release_squares(M, x, ask, variance_at(M, ask, value), n)
}

# Where a record is replaced the sums of all groups are one release: it leaves one and enters another
squares_in_groups <- function(M, records, ask, values, counts) {
  s <- ask$squares
  at <- lapply(values, variance_at, M = M, ask = ask)
  two <- function(most) sum(sort(most, decreasing = TRUE)[1:2], na.rm = TRUE)
  each <- function(f) vapply(seq_along(at), f, 0)
  most <- each(function(i) variance_most(ask, at[[i]]))
  sums <- each(function(i) squares_sum(M, records[[i]], ask, at[[i]], c(s$bits, most[i]), counts[i]))
  noisy <- noisy_squares(sums, two(most), s$epsilon, "inference.md, 1")
  told <- lapply(seq_along(at), function(i) {
    squares_told(ask, list(sum = noisy$sum[i], scale = noisy$scale), most[i])
  })
  if (is.null(s$norm)) return(told)
  most <- lapply(at, norm_most, M = M, ask = ask)
  norms <- each(function(i) norm_sum(M, records[[i]], ask, at[[i]], most[[i]], counts[i]))
  noisy <- noisy_squares(norms, two(vapply(most, `[[`, 0, "one")), s$norm, "inference.md, 2")
  lapply(seq_along(at), function(i) {
    c(told[[i]], norm_told(ask, list(sum = noisy$sum[i], scale = noisy$scale)))
  })
}

# a mean squared distance goes with the Frechet mean of the records moved to the public ball
check_squares_target <- function(plan, ask) {
  why <- squares_refused(plan, ask)
  if (!is.null(why)) abort_riemdp("unsupported", why)
}

# why it can't be had
squares_refused <- function(plan, ask) {
  if (!is.null(ask$variance) && another_target(plan)) {
    sprintf("`variance` isn't available with mechanism = \"%s\", whose target is another.", plan$mechanism)
  }
}

# of a plan or a release: not the mean of the records moved to the public ball
another_target <- function(x) !is.null(x$target) || identical(x$mechanism, "adaptive")

# the number of records only where it is public
squares_told <- function(ask, noisy, most) {
  unit <- 4 * ask$ball$radius^2 / 2^ask$squares$bits
  list(sum = noisy$sum * unit, scale = noisy$scale * unit, unit = unit, most = most * unit,
       epsilon = ask$squares$epsilon, n = ask$n)
}

# a mean squared distance from a released sum, between 0 and the most that there can be
squares_value <- function(s, n = s$n) min(max(s$sum / max(1, n), 0), s$most)

# ---- intervals -------------------------------------------------------------------------------------------------------
# A two-sided geometric number is no farther than 1 from the continuous one of the same scale with the same quantile,
# and a record's square is rounded up by 1 at most.

# c(lower, upper) for the mean of the squares without noise, of n records: between these numbers, where n is private
squares_interval <- function(s, level, least = s$n, largest = least) {
  far <- s$unit - s$scale * log(1 - level) * (1 + 1e-9)
  ends <- (s$sum + c(-far, far)) / pmax(1, ifelse(s$sum + c(-far, far) < 0, least, c(largest, least)))
  pmin(pmax(ends - c(s$unit, 0), 0), s$most)
}

# c(lower, upper) for the mean of a population of which the squares are a sample, at any number of records: for numbers
# between 0 and 1 with mean y, P(mean of n <= u) <= exp(-n kl(u, y)) (Hoeffding 1963), averaged over the noise, each
# cell of which counts by its worse end.
squares_population <- function(s, level, least = s$n, largest = least) {
  tail <- (1 - level) / 2
  p <- c(0, 10^seq(log10(tail) - 3, -1, length.out = 60), seq(0.12, 0.88, length.out = 100))
  p <- sort(unique(c(p, 1 - p)))
  z <- s$scale * ifelse(p < 0.5, log(2 * p), -log(2 * (1 - p))) # quantiles of the noise, infinite at the ends
  weight <- diff(p)
  # chances of what was seen or less, and of what was seen or more
  below <- function(y) {
    u <- (s$sum + s$unit - z[-length(z)]) / (max(1, least) * s$most)
    sum(weight * ifelse(u < 0, 0, ifelse(u >= y, 1, exp(-max(1, least) * bernoulli_kl(pmin(pmax(u, 0), 1), y)))))
  }
  above <- function(y) {
    u <- (s$sum - s$unit - z[-1]) / (max(1, largest) * s$most)
    sum(weight * ifelse(u > 1, 0, ifelse(u <= y, 1, exp(-max(1, largest) * bernoulli_kl(pmin(pmax(u, 0), 1), y)))))
  }
  s$most * c(max(0, edge_of(above, tail, TRUE) - s$unit / s$most), edge_of(below, tail, FALSE))
}

bernoulli_kl <- function(u, y) {
  part <- function(a, b) ifelse(a > 0, a * log(a / b), 0)
  part(u, y) + part(1 - u, 1 - y)
}

# The end of an interval between 0 and 1: where a chance that rises or falls in y comes to `tail`, from outside
edge_of <- function(chance, tail, rising) {
  ends <- c(1e-15, 1 - 1e-15)
  if (rising && chance(ends[1]) > tail) return(0)
  if (!rising && chance(ends[2]) > tail) return(1)
  ends <- stats::qlogis(ends)
  for (i in 1:60) {
    middle <- mean(ends)
    ends[1 + ((chance(stats::plogis(middle)) > tail) == rising)] <- middle
  }
  stats::plogis(ends[if (rising) 1 else 2])
}

# ---- a population's mean ---------------------------------------------------------------------------------------------

# Radius around the released point that holds the mean of the population of moved records. `noise`: function(level) of
# how far the point may be from the records' mean; n: their number, or a released one. "asymptotic": the error of
# sampling is normal, of a covariance with the released trace and length, one direction apart and all others alike; the
# noise is even in all directions, and what was released minus a draw of its noise stands for what is true
# (proofs/inference.md, section 5).
population_asymptotic <- function(d, ball, s, noise, level, n) {
  both <- population_law(d, ball, s, noise, level, n)
  weighted_quantile(both$length, both$weight, level)
}

# the law of both errors together: lengths and their weights
population_law <- function(d, ball, s, noise, level, n) {
  known <- population_known(d, ball, s, noise, level, n)
  each <- lapply(seq_along(known$square), function(i) {
    sampling_lengths(known$square[i], known$norm[i], d, n, known$cells) / known$bend[i]
  })
  weight <- known$cells$weight
  sampled <- at_cells(unlist(each), rep(weight, length(each)), known$cells)
  turn <- even_turns(d)
  both <- as.vector(outer(sampled^2, known$far^2, `+`)) + 2 * outer(as.vector(outer(sampled, known$far)), turn)
  list(length = sqrt(pmax(0, as.vector(both))), weight = rep(as.vector(outer(weight, weight)), length(turn)))
}

# cosines of the angle between a given direction and an even one
even_turns <- function(d) {
  if (d == 1) c(-1, 1) else 2 * stats::qbeta(stats::ppoints(16, 0.5), (d - 1) / 2, (d - 1) / 2) - 1
}

# Cells of a law of lengths: chances to be beyond their middles, and to be in them, which go by a factor of 1.25.
# `level` is in the middle of one: where there is no other error, that error's quantile comes out as it is.
level_cells <- function(level) {
  edges <- (1 - level) * 1.25^(seq(-16, ceiling(log(1 / (1 - level)) / log(1.25))) + 0.5)
  edges <- c(0, edges[edges < 1], 1)
  list(tail = pmin(edges[-1] / sqrt(1.25), (edges[-1] + edges[-length(edges)]) / 2), weight = diff(edges))
}

# the law that has the values x with these weights, in cells
at_cells <- function(x, weight, cells) {
  o <- order(x)
  weight <- weight[o] / sum(weight)
  stats::approx(cumsum(weight) - weight / 2, x[o], 1 - cells$tail, rule = 2, ties = "ordered")$y
}

# What is known of both errors: lengths of the noise in cells, and traces and lengths of the covariance that the
# released numbers may stand for, with the mean Hessian at least
population_known <- function(d, ball, s, noise, level, n) {
  cells <- level_cells(level)
  known <- list(cells = cells, far = vapply(1 - cells$tail, noise, 0))
  if (is.null(s)) return(known)
  k <- stats::ppoints(if (is.null(s$norm)) 12 else 5, 0.5)
  drawn <- stats::qexp(abs(2 * k - 1)) * sign(k - 0.5)
  square <- pmin(pmax((s$sum - s$scale * drawn) / n, 0), s$most)
  pairs <- data.frame(square = square, norm = square) # along one line
  if (!is.null(s$norm)) {
    pairs <- expand.grid(square = square, norm = pmax(0, (s$norm - s$norm_scale * drawn) / n))
    pairs$norm <- pmin(pmax(pairs$norm, pairs$square / sqrt(d)), pairs$square)
  }
  c(known, as.list(pairs), list(bend = least_bend(ball, pairs$square, s$most)))
}

# The largest eigenvalue that a covariance with this trace and this length can have
largest_eigenvalue <- function(trace, norm, d) trace / d + sqrt(pmax(0, (norm^2 - trace^2 / d) * (d - 1) / d))

# Both errors in one direction, in units of the metric, no less than they are in any: roots of mean squares of the
# noise and of sampling, and the half-width of an interval. Noise is even in all directions.
population_direction <- function(d, ball, s, noise, level, n) {
  known <- population_known(d, ball, s, noise, level, n)
  turn <- even_turns(d)
  lengths <- as.vector(outer(turn, known$far))
  weight <- rep(known$cells$weight, each = length(turn))
  privacy <- sqrt(sum(known$cells$weight * known$far^2) / d)
  if (is.null(s)) {
    return(list(privacy = privacy, sampling = NA_real_, half = weighted_quantile(abs(lengths), weight, level)))
  }
  each <- sqrt(largest_eigenvalue(known$square, known$norm, d) / n) / known$bend
  sampled <- at_cells(as.vector(outer(each, stats::qt(1 - known$cells$tail / 2, max(1, n - 1)))),
                      rep(known$cells$weight, each = length(each)), known$cells)
  list(privacy = privacy, sampling = sqrt(mean(each^2)),
       half = weighted_quantile(abs(as.vector(outer(sampled, lengths, `+`))),
                                as.vector(outer(known$cells$weight, weight)), level))
}

# A normal vector's length, in cells: its covariance has this trace and this length over n, the largest eigenvalue once,
# all others alike. For that one direction the law is Student's.
sampling_lengths <- function(trace, norm, d, n, cells) {
  student <- stats::qt(1 - cells$tail / 2, max(1, n - 1))
  if (d == 1) return(sqrt(trace / n) * student)
  first <- largest_eigenvalue(trace, norm, d)
  rest <- max(0, trace - first) / (d - 1) * stats::qchisq(cells$tail, d - 1, lower.tail = FALSE)
  weight <- as.vector(outer(cells$weight, cells$weight))
  squares <- at_cells(as.vector(outer(first * student^2, rest, `+`)), weight, cells)
  sqrt(squares / n)
}

weighted_quantile <- function(x, weight, level) {
  o <- order(x)
  x[o][which(cumsum(weight[o]) >= level * sum(weight) * (1 - 1e-12))[1]]
}

# The mean Hessian of half the squared distances, at least, where their mean square is `square`: x cot x is concave in
# x^2 (proofs/kng.md, section 9), and distances in the ball are no longer than `most` squared
least_bend <- function(ball, square, most) {
  curved <- sqrt(max(0, ball$k_max))
  if (curved == 0) return(rep(1, length(square)))
  1 - (1 - cot_factor(min(2 * ball$radius, sqrt(most)) * curved)) * pmin(1, square / most)
}

# The same at any number of records, for any law of theirs: four chances of failing of a fourth each (section 6 of the
# proof). Distances from the population's mean are within the diameter.
population_finite <- function(ball, s, noise, level, sizes) {
  part <- (1 - level) / 4
  off <- noise(1 - part)
  wide <- 2 * ball$radius
  root <- sqrt(squares_interval(s, 1 - part, sizes[1], sizes[2])[2])
  n <- max(1, sizes[1])
  far <- bound <- wide
  for (i in 1:60) {
    seen <- min(wide, root + far)^2
    share <- min(1, seen / wide^2)
    square <- wide^2 * edge_of(function(y) if (y <= share) 1 else exp(-n * bernoulli_kl(share, y)), part, FALSE)
    x <- log(2 / part) / n
    t <- wide * x / 3 + sqrt((wide * x / 3)^2 + 2 * square * x)
    bound <- off + t / least_bend(ball, seen, wide^2)
    far <- min(wide, bound)
  }
  bound
}
