# The heat kernel of compact spaces that a group of matrices turns: which, at what scales, and its errors. Proofs:
# inst/proofs/gaussian.md, section 7.

# What is known of the group, list(dimension, rho (squared length of half the sum of the positive roots), reach (length
# of the shortest element of the Lie algebra where a factor of the density is 0), ricci (a lower bound of the curvature
# that the proof uses), longer (of the metric's lengths over the group's), within (the number of directions in which
# they are)); NULL where the package has none. Of a product: `parts`, those that a group turns, with the roots of their
# weights, besides flat ones; its curvature is the least of all.
heat_space <- function(M) {
  if (inherits(M, "riemdp_product")) return(heat_product(M))
  group <- .Call(riemdp_heat_group, M)
  n <- group[1]
  if (n < 2) return(NULL)
  unitary <- group[2] == 1
  list(
    dimension = if (unitary) n^2 else n * (n - 1) / 2,
    rho = group[3],
    reach = if (unitary) pi else if (n == 2) Inf else if (n == 3) 2 * pi else sqrt(2) * pi,
    ricci = switch(M$name, sphere = n - 2, grassmann = n - 2, kendall = 2 * n, (n - 2) / 2),
    longer = if (M$name == "stiefel_euclidean") sqrt(2) else 1,
    within = if (M$name == "stiefel_euclidean") M$param[2] * (M$param[2] - 1) / 2 else 0
  )
}

heat_product <- function(M) {
  leaves <- part_leaves(M)
  parts <- lapply(leaves, function(leaf) heat_space(leaf$M))
  turned <- !vapply(parts, is.null, NA)
  flat <- vapply(leaves, function(leaf) mf_facts(leaf$M)$model == "flat", NA)
  if (!any(turned) || !all(turned | flat)) return(NULL)
  parts <- Map(function(part, leaf) c(part, root = sqrt(leaf$weight)), parts[turned], leaves[turned])
  list(parts = parts, ricci = min(if (!all(turned)) 0, vapply(parts, function(p) p$ricci / p$root^2, 0)),
       longer = max(vapply(parts, `[[`, 0, "longer")), within = sum(vapply(parts, `[[`, 0, "within")))
}

# An upper bound of 4 s, s the mass below 0 of the signed law that the sampler's is made of: 1 + 2 s of a product is the
# product of the parts' (proofs/products.md, section 5)
heat_slack <- function(space, sigma) {
  if (!is.null(space$parts)) {
    sum <- sum(vapply(space$parts, function(part) heat_slack(part, sigma / part$root), 0))
    return(if (sum == 0) 0 else outwards(2 * expm1(sum / 2 * (1 + 1e-9)) * (1 + 1e-9)))
  }
  if (space$reach == Inf) return(0)
  parts <- heat_parts(space, sigma)
  tail <- stats::pchisq((space$reach / sigma)^2 * parts, space$dimension, lower.tail = FALSE, log.p = TRUE)
  outwards(4 * exp(log(parts) + space$rho * sigma^2 / 2 / parts + tail) * (1 + 1e-9))
}

# Of how many independent motions one of standard deviation sigma is made, so that matrices are kept: as many as one in
# e trials keeps
heat_parts <- function(space, sigma) .Call(riemdp_heat_parts, space$rho, sigma)

# the standard deviation of flat normal noise that protects no better than time sigma^2 does, and back
heat_flat <- function(space, sigma) {
  if (space$ricci == 0) sigma else sigma * sqrt(expm1_ratio(space$ricci * sigma^2)) * (1 - 1e-12)
}

heat_scale <- function(space, flat) {
  if (space$ricci == 0) flat else outwards(flat * sqrt(log1p_ratio(space$ricci * flat^2)) * (1 + 1e-11))
}

expm1_ratio <- function(x) expm1(x) / x
log1p_ratio <- function(x) log1p(x) / x

# one over how many matrices are drawn on average; each part of a product is drawn by itself
heat_kept <- function(space, sigma) {
  if (is.null(space$parts)) {
    if (space$rho == 0) return(1)
    parts <- heat_parts(space, sigma)
    return(exp(-space$rho * sigma^2 / 2 / parts) / parts)
  }
  min(vapply(space$parts, function(part) heat_kept(part, sigma / part$root), 0))
}

no_heat <- function(M) {
  sprintf(paste("the heat kernel is drawn where the package knows the compact group that turns the space: spheres,",
                "Stiefel and Grassmann manifolds, planar shapes, products of these and of flat spaces. %s isn't one."),
          label_manifold(M))
}

check_heat <- function(M, sigma) {
  space <- heat_space(M)
  if (is.null(space)) abort_riemdp("unsupported", no_heat(M))
  check_kept(M, "heat", sigma, heat_kept(space, sigma))
  space
}

# At most the mean length of normal noise in flat space, which is near it for small scales. In the Euclidean metric of
# frames directions within their span are longer: E sqrt(2 X + Y), X and Y chi-squared, by their Laplace transform
heat_error <- function(M, sigma) {
  d <- mf_facts(M)$dimension
  within <- heat_space(M)$within
  if (within == 0) return(noise_mean_length(d, sigma, "gaussian"))
  lacks <- function(u) -expm1(-within / 2 * log1p(4 * u^2) - (d - within) / 2 * log1p(2 * u^2)) / u^2
  sigma * stats::integrate(lacks, 0, Inf, rel.tol = 1e-9)$value / sqrt(pi)
}

# from what moves by the sensitivity at most, and the motion's standard deviation
price_heat <- function(M, sensitivity, scale) {
  space <- heat_space(M)
  slack <- heat_slack(space, scale)
  draw_price("heat", "gaussian.md, 7", sensitivity, scale, delta = if (slack > LATTICE_SLACK) slack else 0,
             mu = sensitivity / heat_flat(space, scale))
}
