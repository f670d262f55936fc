# dp_pga(): the angle of its first q directions to those of the same records without noise, at the same point, beside single mechanisms and dp_pca() on
# tangent coordinates at the public centre. Writes pga.csv beside this file, in some five minutes of one core:
#   Rscript bench/pga.R [quick]
# Records are drawn at a public centre (with `off` at a point that lies .4 radii from it, alike in all coordinates) with standard deviations that fall by a
# half from one coordinate to the next (to a twentieth of the first), and moved to the ball; `shapes` are those of 10 landmarks, `callosa` the package's 409
# simulated outlines. `angle` is the mean over `draws` of the largest angle between the subspaces, in radians: "mean" of the whole call, which says where
# the mean is as well, to the directions of the records' covariance at their own Frechet mean, carried to the released point; the others at the public
# centre (with `off` at the records' own mean, as if it were public) with all of epsilon. `taken` is where the whole call takes logarithms. `best` is the
# least of gauss, wishart, laplace, bingham and dp_pca(), `over_best` and `mean_over_best` those of mechanism = "auto" at that point and of the whole call
# over it.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

spaces <- list(
  sphere = list(M = sphere(9), center = c(1, numeric(9)), radius = 0.6),
  matrices = list(M = spd(3), center = diag(3), radius = 1.5),
  shapes = list(M = kendall(10), center = mf_project(kendall(10), exp(2i * pi * (1:10) / 10) * (1 + 0.2 * cos(1:10))), radius = 0.35)
)
records <- function(s, n, off = 0) {
  d <- mf_facts(s$M)$dimension
  sd <- s$radius * 0.4 * pmax(0.5^(seq_len(d) - 1), 0.05)
  from <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, rep(off * s$radius / sqrt(d), d)))
  mf_points(mf_exp(s$M, from, mf_from_coords(s$M, from, matrix(rnorm(n * d), n) * rep(sd, each = n))), s$M)
}

angle <- function(A, B) asin(min(1, sqrt(max(0, 1 - min(svd(crossprod(A, B))$d)^2))))
# coordinates at p of the records moved to the ball, and the directions without noise
seen_from <- function(s, x, p) mf_coords(s$M, p, mf_log(s$M, p, mf_points(mf_to_ball(s$M, x, s$center, s$radius), s$M)))
leading <- function(a, q) eigen(crossprod(a), TRUE)$vectors[, seq_len(q), drop = FALSE]

MECHANISMS <- c("gauss", "wishart", "laplace", "bingham")
# directions at one point, as coordinates at another
carried <- function(s, from, to, V) t(mf_coords(s$M, to, mf_transport(s$M, from, to, mf_from_coords(s$M, from, t(V)))))
row_of <- function(name, s, x, q, epsilon, delta, draws, off) {
  n <- length(x)
  middle <- frechet_mean(mf_points(mf_to_ball(s$M, x, s$center, s$radius), s$M), s$M)$mean
  own <- leading(seen_from(s, x, middle), q)
  point <- if (off) middle else s$center
  a <- seen_from(s, x, point)
  plain <- leading(a, q)
  mean_of <- function(f) mean(vapply(seq_len(draws), function(i) with_simulation(i, f()), 0))
  call <- function(...) dp_pga(x, s$M, epsilon, s$center, s$radius, q = q, delta = delta, ...)
  at <- function(mechanism) tryCatch(mean_of(function() angle(plain, call(at = point, mechanism = mechanism)$components$loadings)),
                                     riemdp_error_unsupported = function(e) NA_real_)
  one <- vapply(MECHANISMS, at, 0)
  pca <- mean_of(function() angle(plain, dp_pca(a, q, epsilon, delta, bound = s$radius + mf_dist(s$M, s$center, point))$loadings))
  chosen <- with_simulation(1, call(at = point))$mechanism # with a first look, what that one chose
  auto <- if (chosen %in% MECHANISMS) one[[chosen]] else at("auto")
  whole <- mean_of(function() {
    r <- call()
    angle(carried(s, middle, r$value$mean, own), r$components$loadings)
  })
  best <- min(one, pca, na.rm = TRUE)
  data.frame(space = name, off = off, n = n, q = q, epsilon = epsilon, delta = delta, t(signif(one, 3)), dp_pca = signif(pca, 3),
             auto = signif(auto, 3), chosen = chosen, mean = signif(whole, 3), taken = with_simulation(1, call())$from,
             over_best = signif(auto / best, 3), mean_over_best = signif(whole / best, 3), draws = draws)
}

cells <- expand.grid(delta = c(0, 1e-6), epsilon = c(0.5, 2), q = c(1, 2), n = c(200, 2000, 20000), space = names(spaces), stringsAsFactors = FALSE)
cells <- cells[cells$epsilon == 2 | cells$n == 2000, ]
away <- cells[cells$epsilon == 2, ]
cells <- rbind(cbind(cells, off = 0), cbind(away, off = 0.4))
cells <- rbind(cells, expand.grid(delta = c(0, 1e-6), epsilon = c(2, 10), q = c(1, 2), n = 409, space = "callosa", off = 0, stringsAsFactors = FALSE))
if (quick) cells <- cells[cells$n == 200 & cells$epsilon == 2, ]
table <- do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
  cell <- cells[i, ]
  if (cell$space == "callosa") {
    s <- list(M = kendall(50), center = callosum_template, radius = 0.3)
    x <- mf_points(callosa, s$M)
  } else {
    s <- spaces[[cell$space]]
    set.seed(cell$n)
    x <- records(s, cell$n, cell$off)
  }
  row <- row_of(cell$space, s, x, cell$q, cell$epsilon, cell$delta, if (cell$n > 2000) 10 else if (cell$space == "callosa") 10 else 24, cell$off)
  utils::write.table(row, row.names = FALSE, col.names = i == 1, quote = FALSE)
  row
}))
if (!quick) utils::write.csv(table, file.path(dirname(script), "pga.csv"), row.names = FALSE, na = "")
