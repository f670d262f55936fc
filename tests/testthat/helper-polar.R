# Midpoints of polar coordinates in a ball of R^d, d up to 3: points `a`, a row each, and weights `w` in proportion to volume
polar_grid <- function(d, radius, cells = c(300, 60, 48)) {
  mid <- function(k, from, to) from + (to - from) * (seq_len(k) - 0.5) / k
  switch(d, {
    list(a = matrix(mid(1e5, -radius, radius)), w = rep(1, 1e5))
  }, {
    g <- expand.grid(rho = mid(cells[1], 0, radius), phi = mid(4 * cells[2], 0, 2 * pi))
    list(a = g$rho * cbind(cos(g$phi), sin(g$phi)), w = g$rho)
  }, {
    g <- expand.grid(rho = mid(cells[3], 0, radius), z = mid(cells[3] / 2, -1, 1), phi = mid(cells[3], 0, 2 * pi))
    s <- sqrt(1 - g$z^2)
    list(a = g$rho * cbind(s * cos(g$phi), s * sin(g$phi), g$z), w = g$rho^2)
  })
}
