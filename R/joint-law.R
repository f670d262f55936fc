# The noise of private groups where a record is replaced, in form "joint": whole counts t_1, ..., t_C that add up to 0,
# and whole vectors z_j. Their probability falls by exp(-rise) with each shell in which max(width |t_j|, |z_j|) lies, in
# each group, and with each step of the count of those in no group. Proof: inst/proofs/mean-sensitivity.md, section 15.

joint_shells <- function(s) {
  rise <- s$shells[3] * s$shells[2] / s$shells[1]
  i <- 0:(ceiling((s$dimension + 1 + 12 * sqrt(s$dimension + 1) + 60) / rise) + 2)
  edge <- s$shells[4] + s$shells[3] * i
  # |t| <= most and |z| <= edge in the first shells; their weight, which falls by log_fall at the edge
  list(rise = rise, edge = edge, most = floor(edge / s$shells[3]), log_fall = -rise * i)
}

# numbers on 0, 1, ... and on the other side of it, on a circle
circle_transform <- function(p, long) {
  at <- numeric(long)
  at[seq_along(p)] <- p
  at[long + 2 - seq_along(p)[-1]] <- p[-1]
  Re(stats::fft(at))
}

# The law of one group's count and vector: even on {|z| <= edge} given a shell, the count among |t| <= most after
# `others`, P(others add up to 0), P(... 1), ..., which times `count` are P(t = 0), P(t = 1), ...; a shell's probability
# is exp(log_p) times the d-th power of its edge. NULL where the others' law would be too long.
joint_law <- function(s) {
  remember(paste(c("joint", s$shells, s$dimension, s$categories, s$rest), collapse = " "), function() {
    shells <- joint_shells(s)
    d <- s$dimension
    most <- max(shells$most)
    if (most * s$categories > 2^21) return(NULL)
    long <- 2^ceiling(log2(2 * s$categories * (most + 1)))
    # counts alone: the volume that is left to the vector
    log_volume <- shells$log_fall + d * log(pmax(shells$edge, 1e-300))
    count <- rev(cumsum(rev(exp(log_volume - max(log_volume)))))
    if (shells$most[1] > 0) count <- c(count[1], count)
    transform <- circle_transform(count / (2 * sum(count) - count[1]), long)^(s$categories - 1 - s$rest)
    if (s$rest) {
      q <- exp(-shells$rise)
      transform <- transform * circle_transform((1 - q) / (1 + q) * q^(0:most), long)
    }
    others <- pmax(Re(stats::fft(transform))[seq_len(most + 1)] / long, 0)
    within <- 2 * cumsum(others) - others[1]
    both <- count * others[seq_along(count)]
    count <- count / (2 * sum(both) - both[1])
    c(list(dimension = d, others = others, within = within, count = count,
           log_p = shells$log_fall + log(within[shells$most + 1])), shells)
  })
}

# by integrals over balls whose radius is that much larger
joint_masses <- function(law, more = 0) law$log_p + law$dimension * log(pmax(law$edge + more, 1e-300))

# half of the diagonal of a lattice's cube: what lies in a ball is compared with integrals over it
joint_half <- function(law) sqrt(law$dimension) / 2

# A length that |z| exceeds with probability 1 - level at most
joint_quantile <- function(level, law) {
  h <- joint_half(law)
  outer <- joint_masses(law, h) - log_sum(joint_masses(law, -h))
  beyond <- function(q) {
    inside <- pmin(1, pmax(0, q - h) / (law$edge + h))^law$dimension
    if (any(inside < 1)) log_sum((outer + log1p(-inside))[inside < 1]) + 1e-9 else -Inf
  }
  ends <- c(0, max(law$edge) + 2 * h)
  for (i in 1:60) {
    q <- mean(ends)
    ends[if (beyond(q) <= log1p(-level)) 2 else 1] <- q
  }
  ends[2]
}

# P(t = 0), P(t = 1), ...
joint_counts <- function(law) law$count * law$others[seq_along(law$count)]

# P(t > 0), P(t > 1), ...; above 1e-10 by sums, below by the others' largest probability
joint_above <- function(law) {
  above <- function(p) rev(cumsum(rev(p)))[-1]
  pmin(above(joint_counts(law)) + 1e-13, above(law$count) * max(law$others))
}

# E|t|
joint_off <- function(law) 2 * sum(joint_counts(law) * (seq_along(law$count) - 1))

# least j with P(t > j) <= tail, in any of the groups
joint_far <- function(s, tail) {
  law <- joint_law(s)
  h <- joint_half(law)
  # what the lattice's points may add to a probability, in each of the groups
  excess <- exp(s$categories * (log_sum(joint_masses(law, h)) - log_sum(joint_masses(law, -h)))) * (1 + 1e-9)
  far <- which(joint_above(law) * excess <= tail)[1] - 1
  if (is.na(far)) length(law$count) else far
}

# minus the log of the density of the noise around the mean, up to a constant
joint_energy <- function(plan) {
  law <- joint_law(plan$ask$size)
  beyond <- rev(cumsum(rev(exp(law$log_p))))
  last <- length(beyond)
  function(rho) {
    i <- pmax(ceiling((rho / plan$details$step - law$edge[1]) / diff(law$edge[1:2])), 0) + 1
    pmax(i - last, 0) * law$rise - log(beyond[pmin(i, last)])
  }
}

# ---- what is said of it ----------------------------------------------------------------------------------------------

joint_words <- function(r) {
  w <- r$details
  sprintf(paste("Noise: the group's number of %s, and that number times the mean's logarithm at the public centre,",
                "rounded to multiples of 2^%d, are released together, with those of all groups. To the number t is",
                "added and to the coordinates z, whole steps whose probability falls with the larger of %.6g |t| and",
                "|z|: the same up to %.6g steps and lower by the factor exp(-%.4g), half of what the means cost, on",
                "each further shell, %.6g steps wide. One %s more or less moves the number by 1 and the coordinates",
                "by at most %.6g steps: the bound above, twice the error that doubles make, and sqrt(d) for rounding.",
                "All is drawn by integer arithmetic on random bits; exp maps the sum over the number back",
                "(proofs/lattice.md)."),
          if (is.null(r$unit)) "records" else "units", -w$k, w$shells[1], w$shells[2], w$shells[1] / w$lattice_scale,
          w$shells[1],
          if (is.null(r$unit)) "record" else "unit", w$lattice_sensitivity)
}

joint_size_words <- function(r) {
  paste("Size: released with the mean, and the noise of all groups' sizes",
        if (r$size$rest) "and of the number of those in none", "adds up to 0. What the size's noise does to",
        "the mean is part of the expected error and of regions (proofs/mean-sensitivity.md, section 15).")
}
