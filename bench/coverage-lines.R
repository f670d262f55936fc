# How often 95 % intervals about the population hold its line, and bands its curve, how wide they are, and where they are refused. Writes
# coverage-lines.csv beside this file: Rscript bench/coverage-lines.R [runs a cell of lines] [of curves] [a space: this one alone]. Lines: a fifth of epsilon
# for dp_residual_scale(), curves: .3. `inside` counts coefficients, or the curve at four predictors, of the runs that weren't refused. "statistics" moves
# responses to 2.5 scales: its line is that of moved responses, from a million of them. Bands of a hundred draws have the level of those of
# a thousand, and widths that vary more.
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
runs <- as.integer(c(lines = if (length(arguments) > 0) arguments[1] else 1000, curves = if (length(arguments) > 1) arguments[2] else 1000))
names(runs) <- c("lines", "curves")
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
mf_facts <- getFromNamespace("mf_facts", "riemdp")
spaces <- list(S2 = list(sphere(2), c(0, 0, 1)), "SPD(3)" = list(spd(3), diag(3)), "kendall(10)" = list(kendall(10), exp(2i * pi * (1:10) / 10)))
# errors of standard deviation 1 in each of q coordinates
laws <- list(
  normal = function(n, q) matrix(stats::rnorm(n * q), n), heavy = function(n, q) matrix(stats::rnorm(n * q), n) / sqrt(stats::rchisq(n, 3)),
  light = function(n, q) matrix(stats::runif(n * q, -sqrt(3), sqrt(3)), n)
)
laws$`guess too small` <- laws$`guess too large` <- laws$normal
guessed <- function(law) switch(law, `guess too small` = 0.4, `guess too large` = 3, 1)

line_data <- function(n, d, law) {
  x <- matrix(stats::runif(n * d, -1, 1), n, dimnames = list(NULL, paste0("x", seq_len(d))))
  data.frame(y = drop(0.2 + x %*% rep(0.5 / sqrt(d), d)) + 0.8 * laws[[law]](n, 1)[, 1], x)
}
known <- list()
line_truth <- function(d, law, method) {
  if (method != "statistics") return(c(0.2, rep(0.5 / sqrt(d), d)))
  key <- paste(d, law)
  if (is.null(known[[key]])) {
    set.seed(1)
    data <- line_data(1e6, d, law)
    data$y <- pmin(2.5 * guessed(law), pmax(-2.5 * guessed(law), data$y))
    known[[key]] <<- unname(stats::coef(stats::lm(y ~ ., data)))
  }
  known[[key]]
}
line_run <- function(case) {
  data <- line_data(case$n, case$d, case$law)
  bounds <- c(stats::setNames(rep(list(c(-1, 1)), case$d), names(data)[-1]), list(y = c(center = 0, scale = guessed(case$law))))
  formula <- stats::as.formula(paste("y ~", paste(names(data)[-1], collapse = " + ")))
  fit <- dp_lm(formula, data, 0.8 * case$epsilon, bounds = bounds, method = case$method, guess = "trusted")
  residual <- dp_residual_scale(fit, data, 0.2 * case$epsilon)
  ends <- confint(fit, about = "population", residual = residual, nsim = 400)
  true <- line_truth(case$d, case$law, case$method)
  c(mean(ends[, 1] <= true & true <= ends[, 2]), ends[case$d + 1, 2] - ends[case$d + 1, 1], diff(stats::confint(stats::lm(formula, data))[case$d + 1, ]))
}
curve_run <- function(case) {
  s <- spaces[[case$space]]
  M <- s[[1]]
  q <- mf_facts(M)$dimension
  x <- stats::runif(case$n)
  foot <- mf_exp(M, s[[2]], mf_from_coords(M, s[[2]], c(0.1, numeric(q - 1))))
  curve <- function(x) mf_points(mf_exp(M, foot, mf_from_coords(M, foot, outer(x - 0.5, c(0.5, 0.3, numeric(q - 2))))), M)
  sd <- 0.1 / sqrt(q)
  y <- mf_points(mf_exp(M, curve(x), mf_from_coords(M, curve(x), sd * laws[[case$law]](case$n, q))), M)
  data <- list(x = x, y = y)
  fit <- dp_regression(y ~ x, M, data, 0.7 * case$epsilon, s[[2]], 0.4, 1.2, guessed(case$law) * sd * sqrt(stats::qchisq(0.95, q)), c(0, 1))
  residual <- dp_residual_scale(fit, data, 0.3 * case$epsilon)
  at <- c(0, 0.25, 0.5, 1)
  band <- confint(fit, newdata = data.frame(x = at), residual = residual, nsim = 100)
  plain <- stats::predict(geodesic_regression(y ~ x, M, data), data.frame(x = at))
  c(mean(mf_dist(M, band$curve, curve(at)) <= band$radius), band$radius[4], mf_dist(M, plain, curve(at))[4])
}
cases <- function(...) {
  all <- expand.grid(..., epsilon = c(0.2, 1, 10), n = c(50, 200, 1000, 10000), law = names(laws), stringsAsFactors = FALSE)
  all[all$law == "normal" | all$epsilon == 1, ]
}
columns <- c("space", "method", "law", "n", "epsilon", "runs", "refused", "inside", "width", "plain")
file <- file.path(dirname(script), "coverage-lines.csv")
table <- if (file.exists(file)) utils::read.csv(file)[columns]
key <- function(t) paste(t$space, t$method, t$law, t$n, t$epsilon)
# written after each cell: what is stopped leaves what it had, and the next run goes on with cells that have fewer runs
add_cells <- function(cases, run, runs) {
  for (i in seq_len(if (runs > 0) nrow(cases) else 0)) {
    case <- cases[i, ]
    if (length(arguments) > 2 && case$space != arguments[3]) next
    if (any(key(table) == key(case) & table$runs >= runs)) next
    out <- with_simulation(i, vapply(seq_len(runs), function(k) tryCatch(run(case), riemdp_error_unsupported = function(e) rep(NA_real_, 3)), numeric(3)))
    served <- !is.na(out[1, ])
    of <- function(f, row) if (any(served)) f(out[row, served]) else NA
    row <- data.frame(case, runs = runs, refused = round(mean(!served), 3), inside = round(of(mean, 1), 4), width = signif(of(stats::median, 2), 3),
                      plain = signif(of(stats::median, 3), 3), row.names = NULL)
    table <<- rbind(table[key(table) != key(row), ], row[columns])
    utils::write.csv(table, file, row.names = FALSE)
  }
}
lines <- cases(method = c("auto", "statistics"), d = c(1, 5))
lines$space <- paste0("line, d = ", lines$d)
add_cells(lines, line_run, runs[["lines"]])
curves <- cases(space = names(spaces))
curves$method <- "auto"
add_cells(curves, curve_run, runs[["curves"]])
