# dp_optimize() with budgets of single records (`individual`) beside runs without: errors by clip, steps and price, each with the step size that
# did best on other data sets. Means in a public ball of radius 2 on SPD(2), 500 records with a spread of .2 or .5 a coordinate about a point 1.16
# from the start, epsilon = 1 (root mean square distance from the records' mean); logistic regression on five columns, 1,000 records with weak or
# strong effects, epsilon = .5 (mean excess loss over the fit without noise). A minute (quick), a quarter of an hour (full).
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
source(file.path(dirname(script), "common.R"))
job <- start_job()

M <- spd(2)
mean_data <- function(spread) function() {
  foot <- mf_exp(M, diag(2), mf_from_coords(M, diag(2), c(1, 0.5, 0.3)))
  x <- mf_exp(M, foot, mf_from_coords(M, foot, matrix(stats::rnorm(1500, sd = spread), 500)))
  list(x = x, fit = frechet_mean(x, M)$mean)
}
d <- 5
logistic <- problem(NULL, function(w, z) {
  u <- z[, 1:d, drop = FALSE]
  -u * (z[, d + 1] - stats::plogis(drop(u %*% w)))
}, euclidean(d), batched = TRUE)
loss <- function(w, z) mean(log1p(exp(-(2 * z[, d + 1] - 1) * drop(z[, 1:d] %*% w))))
logistic_data <- function(effect) function() {
  u <- matrix(stats::rnorm(1000 * d), 1000)
  u <- u / pmax(1, sqrt(rowSums(u^2)) / 2)
  y <- as.numeric(stats::runif(1000) < stats::plogis(effect * drop(u %*% c(1, 1, 1, -1, 0)) / 2))
  list(x = cbind(u, y), fit = suppressWarnings(stats::glm.fit(u, y, family = stats::binomial()))$coefficients)
}
# squared errors, whose mean's root is told; excess losses
mean_kind <- list(problem = problem_frechet(M), start = diag(2), radius = 2, epsilon = 1, lr = c(1, 0.5, 0.2, 0.1, 0.05), clips = c(4, 1.5, 0.75),
                  lost = function(r, data) mf_dist(M, r$value, data$fit)^2, told = sqrt)
logistic_kind <- list(problem = logistic, start = double(d), radius = 20, epsilon = 0.5, lr = c(10, 5, 2, 1, 0.5), clips = c(2, 0.7, 0.3),
                      lost = function(r, data) loss(r$value, data$x) - loss(data$fit, data$x), told = identity)
kinds <- list("mean, spread .2" = c(mean_kind, data = mean_data(0.2)), "mean, spread .5" = c(mean_kind, data = mean_data(0.5)),
              "logistic, weak" = c(logistic_kind, data = logistic_data(3)), "logistic, strong" = c(logistic_kind, data = logistic_data(8)))
# steps, and at the price of how many
ways <- list(c(20, 20), c(60, 60), c(60, 20), c(60, 5), c(20, 5))

losses <- function(kind, clip, way, lr, seeds) {
  vapply(seeds, function(seed) {
    set.seed(seed)
    data <- kind$data()
    budget <- if (way[2] < way[1]) way[2]
    kind$lost(with_simulation(seed, dp_optimize(kind$problem, data$x, kind$epsilon, 1e-6, start = kind$start, center = kind$start, radius = kind$radius,
                                                clip = clip, steps = way[1], individual = budget, lr = lr, method = "rgd")), data)
  }, 0)
}
tune <- if (job$quick) 4 else 30
runs <- if (job$quick) 10 else 120
table <- do.call(rbind, lapply(names(kinds), function(name) {
  kind <- kinds[[name]]
  do.call(rbind, lapply(kind$clips, function(clip) do.call(rbind, lapply(ways, function(way) {
    tried <- vapply(kind$lr, function(lr) mean(losses(kind, clip, way, lr, seq_len(tune))), 0)
    lr <- kind$lr[which.min(tried)]
    found <- losses(kind, clip, way, lr, tune + seq_len(runs))
    value <- kind$told(mean(found))
    se <- stats::sd(found) / sqrt(runs) * if (identical(kind$told, sqrt)) 1 / (2 * value) else 1
    message(sprintf("  %s, clip %g, %g steps at the price of %g: %.4f (%.4f), lr %g", name, clip, way[1], way[2], value, se, lr))
    data.frame(problem = name, clip = clip, steps = way[1], paid = way[2], lr = lr, error = value, se = se)
  }))))
}))
save_numbers(job, table)
