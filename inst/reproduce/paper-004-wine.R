# Kulkarni and Soto (2025), 4.2, Table 1 and Figure 4: linear regression of four measurements of the first 100 red wines on alcohol, epsilon = 2.
# Their mechanism (not private) and dp_lm(), many draws of each. Variables are z-scores of the sample, as in the paper: what dp_lm() promises
# is relative to the scaled rows.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(here, "common.R"))
job <- start_job()

responses <- c("fixed_acidity", "density", "pH", "residual_sugar")
score <- function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))
model <- cbind(fixed_acidity, density, pH, residual_sugar) ~ alcohol
draws <- if (job$quick) 300 else 3000

# responses scaled; alcohol too (as the paper has it), or in per cent with a range that one knows beforehand
wines <- function(n, alcohol = score) data.frame(alcohol = alcohol(red_wine$alcohol[seq_len(n)]), lapply(red_wine[seq_len(n), responses], score))
bounds <- function(alcohol) c(list(alcohol = alcohol), sapply(responses, function(i) c(center = 0, scale = 1), simplify = FALSE))
error <- function(data, b) mean((as.matrix(data[responses]) - cbind(1, data$alcohol) %*% b)^2)
errors <- function(data, b, count, ...) {
  # z-scores have mean 0 and standard deviation 1: nothing to check
  release <- function() coef(dp_lm(model, data, 2, bounds = bounds(b), guess = "trusted", ...))
  # lines are drawn for the first 100
  fits <- lapply(seq_len(count), function(i) release())
  list(errors = vapply(fits, function(b) error(data, b), 0), fits = utils::head(fits, 60))
}

step <- steps(6)
small <- wines(100)
public <- wines(100, identity)
all <- wines(1599, function(v) pmin(v, 14)) # one bottle has 14.9 per cent: dp_lm() takes it for 14, and so does the error here
with_simulation(2025, {
  published <- errors(small, c(-1, 1), draws, method = "paper") # the bounds are scales only: the mechanism moves nothing
  step()
  honest <- errors(public, c(8, 14), draws)
  step()
  huber <- errors(public, c(8, 14), draws, method = "huber")
  step()
  gaussian <- errors(public, c(8, 14), draws, method = "adassp", delta = 1e-5)
  step()
  large <- errors(all, c(8, 14), round(draws / 2))
  step()
  uninsured <- errors(all, c(8, 14), round(draws / 2), method = "objective")
  step()
})

ols <- function(data) mean(stats::residuals(stats::lm(as.matrix(data[responses]) ~ data$alcohol))^2)
mean_of <- function(what, at, calibration, r, paper = NA, note = "") {
  m <- monte_carlo(r$errors)
  number(paste("mean squared error,", what), at, calibration, m[["value"]], m[["se"]], paper, if (is.na(paper)) "" else "Table 1", note)
}
first <- "first 100 wines"
table <- rbind(
  number("mean squared error, plain", first, "none", ols(small), 0, 0.873, "Table 1"),
  number("mean squared error, all coefficients 0", first, "none", mean(as.matrix(small[responses])^2), note = "a guess without data"),
  mean_of("published mechanism", first, "paper", published, 0.954, "the paper has one draw"),
  number("median squared error, published mechanism", first, "paper", stats::median(published$errors), NA),
  number("share of draws of the published mechanism at or below the paper's .954", first, "paper", mean(published$errors <= 0.954),
         stats::sd(published$errors <= 0.954) / sqrt(draws)),
  number("share of draws of the published mechanism above a constant 0", first, "paper", mean(published$errors > 1),
         stats::sd(published$errors > 1) / sqrt(draws)),
  mean_of("dp_lm()", first, "honest", honest, note = "pure"),
  mean_of("dp_lm(), method huber", first, "honest", huber, note = "pure"),
  mean_of("dp_lm(), method adassp", first, "honest", gaussian, note = "delta 1e-5"),
  number("mean squared error, plain", "1,599 wines", "none", ols(wines(1599, identity))),
  number("mean squared error, plain, alcohol at most 14", "1,599 wines", "none", ols(all)),
  mean_of("dp_lm()", "1,599 wines", "honest", large, note = "pure; insured against a high R-squared"),
  mean_of("dp_lm(), method objective", "1,599 wines", "honest", uninsured, note = "pure")
)
save_numbers(job, table)

# Figure 4: data, plain line, 60 draws of each mechanism
save_picture(job, {
  graphics::par(mfrow = c(2, 4), mar = c(4, 4, 2.2, 0.6), mgp = c(2.2, 0.7, 0))
  for (way in list(list(published, small, "as published (not private)", riemdp_colours(4)[2]), list(honest, public, "dp_lm(), pure", riemdp_colours(4)[3]))) {
    data <- way[[2]]
    for (j in seq_along(responses)) {
      graphics::plot(data$alcohol, data[[responses[j]]], pch = 19, cex = 0.5, col = "grey60", bty = "n", ylim = c(-3, 4),
                     xlab = if (identical(data, small)) "alcohol, z-score" else "alcohol, per cent", ylab = gsub("_", " ", responses[j]),
                     main = if (j == 1) way[[3]] else "")
      for (b in way[[1]]$fits) graphics::abline(b[, j], col = grDevices::adjustcolor(way[[4]], 0.25))
      graphics::abline(stats::lm(data[[responses[j]]] ~ data$alcohol), lwd = 2)
    }
  }
}, width = 10, height = 5.5)
