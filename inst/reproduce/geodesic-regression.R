# dp_regression() by space, number of records and epsilon: root mean squared distance between the private and the plain curve, beside what
# its plan predicts and beside a curve that stays at the public centre. Records on a geodesic of speed .87 over [0, 1] whose
# foot point at the middle is .1 from the centre, normal noise; bounds are public round numbers. About a minute (quick), ten (full).
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
source(file.path(dirname(script), "common.R"))
job <- start_job()
set.seed(4)

spaces <- list(
  "S^2" = list(M = sphere(2), center = c(0, 0, 1), radius = pi / 8, bound = 0.1),
  "H^2" = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1, bound = 0.2),
  "SPD(2)" = list(M = spd(2), center = diag(2), radius = 1, bound = 0.2),
  "CP^2" = list(M = kendall(4), center = exp(2i * pi * (1:4) / 4), radius = pi / 10, bound = 0.1),
  "Gr(4, 2)" = list(M = grassmann(4, 2), center = diag(4)[, 1:2], radius = pi / 8, bound = 0.1)
)

unit <- function(d) {
  z <- stats::rnorm(d)
  z / sqrt(sum(z^2))
}
records <- function(s, n, speed, off) {
  M <- s$M
  d <- mf_facts(M)$dimension
  foot <- mf_exp(M, s$center, mf_from_coords(M, s$center, off * unit(d)))
  x <- seq(0, 1, length.out = n)
  on <- mf_exp(M, foot, mf_from_coords(M, foot, outer(x - 0.5, speed * unit(d))))
  # noise of standard deviation sqrt(.001) a coordinate at a bound of .1
  y <- mf_exp(M, on, mf_from_coords(M, on, matrix(stats::rnorm(n * d, sd = sqrt(0.001) * s$bound / 0.1), n)))
  list(x = x, y = mf_points(y, M))
}
distance <- function(M, a, b) sqrt(mean(mf_dist(M, a, b)^2))
at <- data.frame(x = seq(0, 1, length.out = 41))

one <- function(s, n, epsilon, speed, off, method) {
  d <- records(s, n, speed, off)
  plain <- predict(geodesic_regression(y ~ x, s$M, d, starts = 1, tol = 1e-9), at)
  r <- dp_regression(y ~ x, s$M, d, epsilon = epsilon, center = s$center, radius = s$radius, speed = 1.5, residual_bound = s$bound,
                     x_range = c(0, 1), method = method)
  c(distance(s$M, predict(r, at), plain), distance(s$M, s$center, plain), r$expected_error)
}

settings <- rbind(
  expand.grid(space = names(spaces), n = c(20, 50, 100, 200, 500), epsilon = 2, speed = 0.87, off = 0.1, method = "auto"),
  expand.grid(space = "S^2", n = 100, epsilon = c(0.5, 1, 4, 8), speed = 0.87, off = 0.1, method = "auto"),
  expand.grid(space = "S^2", n = c(20, 100), epsilon = 2, speed = 1.4, off = 0.1, method = "auto"),
  expand.grid(space = "S^2", n = c(20, 100), epsilon = 2, speed = 0.87, off = 0.3, method = "auto"),
  expand.grid(space = "S^2", n = c(20, 50, 100, 200, 500), epsilon = 2, speed = 0.87, off = 0.1, method = "tangent")
)
count <- if (job$quick) 12 else 100
step <- steps(nrow(settings))
table <- do.call(rbind, lapply(seq_len(nrow(settings)), function(i) {
  p <- settings[i, ]
  s <- spaces[[as.character(p$space)]]
  out <- with_simulation(100 + i, vapply(seq_len(count), function(j) one(s, p$n, p$epsilon, p$speed, p$off, as.character(p$method)), numeric(3)))
  step()
  setting <- sprintf("%s, n = %d, epsilon = %g, speed %g, centre off by %g, %s", p$space, as.integer(p$n), p$epsilon, p$speed, p$off, p$method)
  found <- monte_carlo(out[1, ])
  rbind(number("distance to the plain curve", setting, "honest", found[["value"]], found[["se"]]),
        number("predicted", setting, "honest", out[3, 1]),
        number("centre alone", setting, "none", mean(out[2, ])))
}))
save_numbers(job, table)
main <- seq_len(25)
value <- table$value[table$quantity == "distance to the plain curve"][main]
save_picture(job, {
  colours <- grDevices::hcl.colors(length(spaces), "Dark 3")
  graphics::par(mar = c(4.2, 4.2, 1, 1))
  graphics::plot(settings$n[main], value, log = "xy", type = "n", ylim = range(value, 0.3), xlab = "records", ylab = "distance to the plain curve, epsilon = 2")
  for (k in seq_along(spaces)) {
    part <- main[settings$space[main] == names(spaces)[k]]
    graphics::lines(settings$n[part], value[part], type = "b", pch = 14 + k, col = colours[k], lwd = 2)
    graphics::lines(settings$n[part], table$value[table$quantity == "predicted"][part], lty = 3, col = colours[k])
  }
  graphics::abline(h = 0.277, lty = 2, col = "grey50")
  graphics::legend("bottomleft", c(names(spaces), "predicted", "centre alone"), col = c(colours, "black", "grey50"), pch = c(15:19, NA, NA),
                   lty = c(rep(1, 5), 3, 2), bty = "n")
}, width = 7, height = 5)
