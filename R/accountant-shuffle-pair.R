# The pair of a shuffle as privacy losses.

shuffle_source <- function(event) {
  told <- shuffle_told(event)
  n <- event$parameters$n
  if (n > SHUFFLE_ATOMS) {
    abort_riemdp("unpriced",
                 sprintf("more than %g shuffled reports are priced alone, not in compositions.", SHUFFLE_ATOMS))
  }
  if (is.null(told)) atoms_shuffle(n, event$children[[1]]$parameters$epsilon) else atoms_told(told)
}

# losses above 0 of a pair that is its own mirror image, and the rest of it: what is too much there is no probability
symmetric_source <- function(loss, mass, infinite = 0) {
  mirror <- mass * exp(-loss)
  pld_source(loss = c(-loss, 0, loss), mass = c(mirror, max(0, 1 - sum(mass) - sum(mirror) - infinite), mass),
             infinite = infinite)
}

# The same pair as atoms
atoms_told <- function(told) {
  if (told$epsilon > SHUFFLE_EPSILON_MOST || told$epsilon < 1e-15) {
    return(symmetric_source(told$epsilon, min(1, outwards(told$variation / -expm1(-told$epsilon)))))
  }
  tiny <- 1e-30
  law <- shuffle_law(told, tiny, SHUFFLE_TERMS * 10 / (1 + 6 * sqrt(told$n * told$clone)))
  small <- exp(-told$epsilon)
  parts <- lapply(seq_along(law$clones), function(i) {
    clones <- law$clones[i]
    weight <- law$chance[i] / small
    # A beyond its last number has a chance below `tiny` under the first law, which is at most e times this one
    last <- stats::qbinom(min(0.5, tiny / weight), clones, 0.5, lower.tail = FALSE) + 1
    a <- (floor(clones / 2) + 1):min(clones, max(last, floor(clones / 2) + 1))
    k <- which(law$share[i, ] > 0)
    shared <- told$common * law$at[k]
    second <- outer(small * a + (clones - a), shared, `+`)
    first <- outer(a + small * (clones - a), shared, `+`)
    mass <- outer(stats::dbinom(a, clones, 0.5), law$share[i, k]) * first * (weight / told$n)
    cbind(as.vector(log1p(-expm1(-told$epsilon) * (2 * a - clones) / second)), as.vector(mass))
  })
  atoms <- do.call(rbind, parts)
  atoms <- gather_atoms(atoms[atoms[, 2] > 0, , drop = FALSE], shuffle_far(told) / SHUFFLE_CELLS)
  symmetric_source(atoms$loss, atoms$mass, min(1, 2 * tiny * (length(law$clones) + 2)))
}

# Columns of losses and masses, split between the points of a grid of width h where they are many; what rounding does to
# shares is less than the losses are raised
gather_atoms <- function(atoms, h) {
  if (nrow(atoms) <= SHUFFLE_CELLS) return(list(loss = atoms[, 1], mass = atoms[, 2]))
  parts <- split_atoms(atoms[, 1], h)
  sums <- sum_at(c(parts$below, parts$below + 1), atoms[, 2] * c(1 - parts$share, parts$share))
  list(loss = h * sums$at * (1 + 1e-15) + 1e-15, mass = sums$mass)
}

SHUFFLE_CELLS <- 4096
