# Landmarks before shapes are taken of them: files, semilandmarks, symmetry, wireframes.

planar <- function(z) cbind(Re(z), Im(z))
read <- as_mf_points
cube <- cbind(c(0, 1, 1, 0, 0, 1, 1, 0), c(0, 0, 1, 1, 0, 0, 1, 1), 1.5 * rep(0:1, each = 4))

test_that("TPS files, block by block", {
  file <- tempfile(fileext = ".tps")
  writeLines(c("junk", "LM=3", "0 0", "1.5\t0", "0 1e0", "IMAGE=a.jpg", "ID=one", "SCALE=2", "LM=3", "0 0", "2 x", "ID=two", "LM=4", "0 0", "1 1", "2 2", "3 3",
               "lm = 3", "0 0", "-1 2", "1 1", "CURVES=1", "POINTS=2", "5 5", "6 6", "IMAGE=b.jpg", "LM=3"), file)
  x <- read_tps(file, 3)
  expect_identical(dim(x), c(3L, 2L, 5L))
  expect_identical(x[, , 1], rbind(c(0, 0), c(3, 0), c(0, 2)))
  expect_identical(is.na(x[, 1, 2]), c(FALSE, TRUE, TRUE))
  expect_true(all(is.na(x[, , c(3, 5)])))
  expect_identical(x[, , 4], rbind(c(0, 0), c(-1, 2), c(1, 1)))
  expect_identical(dimnames(x)[[3]], c("one", "two", "", "b.jpg", ""))
  expect_true(all(is.na(read_tps(file, 3, negative = "missing")[2, , 4])))
  p <- read(x, kendall(3), invalid = "missing")
  expect_identical(is.na(unname(p)), c(FALSE, TRUE, TRUE, FALSE, TRUE))
  # no block decides about another one
  lines <- readLines(file)
  lines[10] <- "LM"
  writeLines(lines, file)
  expect_identical(read_tps(file, 3)[, , c(1, 4)], x[, , c(1, 4)])
  writeLines(character(), file)
  expect_identical(dim(read_tps(file, 3)), c(3L, 2L, 0L))
  writeBin(as.raw(c(0x4c, 0x4d, 0x3d, 0x33, 0x0a, 0xff, 0xfe, 0x00, 0x0a)), file)
  expect_identical(dim(read_tps(file, 3)), c(3L, 2L, 1L))
  expect_error(read_tps(tempfile(), 3), class = "riemdp_error_argument")
  expect_error(read_tps(file, 2), class = "riemdp_error_argument")
  # in space
  writeLines(c("LM3=4", "0 0 0", "1 0 0", "0 1 0", "0 0 1", "SCALE=3", "LM=4", "0 0 0", "1 0 0", "0 1 0", "0 0 1", "LM3=4", "0 0 0", "1 0"), file)
  y <- read_tps(file, 4, 3)
  expect_identical(y[, , 1], 3 * rbind(0, diag(3)))
  expect_identical(unname(apply(is.na(y), 3, sum)), c(0L, 12L, 9L))
  # a scale that can't be read leaves no size
  block <- c("LM=3", "0 0", "1 0", "0 1")
  writeLines(c(block, "SCALE=0,01", block, "SCALE=-1", block, "SCALE=?", block, block, "SCALE=2"), file)
  expect_identical(unname(apply(is.na(read_tps(file, 3)), 3, all)), c(TRUE, TRUE, TRUE, FALSE, FALSE))
  expect_identical(read_tps(file, 3)[, , 5], 2 * read_tps(file, 3)[, , 4])
  expect_true(all(is.na(read_tps(file, 4)[, , c(1, 3)])))
})

test_that("NTS files, a record's lines each", {
  file <- tempfile(fileext = ".nts")
  rows <- c("0 0 1 0 0 1", "0 0 2 0 1 999", "0 0 1 x 0 1", "0 0 1 0 0", "5e-1 0 1 0 0 1")
  text <- function(sizes, labels, rows) writeLines(c("\"triangles", "' and more", "", sizes, labels, rows), file)
  text("1 5L 6 1 999 DIM=2", c("a b", "c d e"), rows)
  x <- read_nts(file, 3)
  expect_identical(dim(x), c(3L, 2L, 5L))
  expect_identical(dimnames(x)[[3]], letters[1:5])
  expect_identical(x[, , 1], rbind(c(0, 0), c(1, 0), c(0, 1)))
  expect_identical(apply(is.na(x), 3, sum), c(a = 0L, b = 1L, c = 1L, d = 6L, e = 0L))
  expect_identical(x[3, , 2], c(1, NA))
  # no record's line decides about another one's
  text("1 5L 6 1 999 DIM=2", c("a b", "c d e"), replace(rows, 3:4, c("", "0 0 1 0 0 1 7 8 9")))
  expect_identical(read_nts(file, 3)[, , -(3:4)], x[, , -(3:4)])
  # not even one that looks like a comment, or holds a carriage return
  for (line in c("'0 0 1 0 0 1", "\"a\"", "0 0 1\r0 0 1", "\r", " ")) {
    text("1 5L 6 1 999 DIM=2", c("a b", "c d e"), replace(rows, 3, line))
    expect_identical(read_nts(file, 3)[, , -3], x[, , -3])
  }
  writeBin(charToRaw("1 2B 6 0\r\n'a' 0 0 1 0 0 1\r\n'b' 0 0 2 0 0 1\r\n"), file)
  expect_identical(unname(read_nts(file, 3)[2, 1, ]), c(1, 2))
  text("1 2L 6 0", NULL, NULL)
  expect_true(all(is.na(read_nts(file, 3))))
  # labels of columns, labels in rows, rows that take several lines, fewer lines than rows
  text("1 5B 6L 1 999", "x1 y1 x2 y2 x3 y3", paste(letters[1:5], rows))
  expect_identical(read_nts(file, 3), x)
  text("1 5E 6 1 999", NULL, paste(rows, letters[1:5]))
  expect_identical(read_nts(file, 3), x)
  text("1 2 6 0", NULL, c("0 0", "1 0 0", "1", "0 0", "2 0 1", "999"))
  expect_identical(unname(read_nts(file, 3, lines = 3)), unname(replace(x[, , 1:2], 12, 999)))
  text("1 3 6 0", NULL, rows[1])
  expect_identical(apply(is.na(read_nts(file, 3)), 3, sum), c(0L, 6L, 6L))
  # one configuration
  text("1 4 3 0 dim=3", NULL, c("0 0 0", "1 0 0", "0 1 0", "0 0 1"))
  expect_identical(read_nts(file, 4, 3), array(rbind(0, diag(3)), c(4, 3, 1)))
  # six numbers of three landmarks in the plane are those of two in space
  expect_error(read_nts(file, 3), class = "riemdp_error_shape")
  for (sizes in c("2 5 6 0", "1 5", "1 a 6 0", "1 5 0 0", "", "1 1e9 6 0")) {
    text(sizes, NULL, rows)
    expect_error(read_nts(file, 3), class = "riemdp_error_shape")
  }
  writeLines(character(), file)
  expect_error(read_nts(file, 3), class = "riemdp_error_shape")
  expect_error(read_nts(tempfile(), 3), class = "riemdp_error_argument")
})

test_that("missing landmarks in space come from a template as in the plane", {
  M <- kendall(8, 3)
  set.seed(3)
  A <- matrix(rnorm(9), 3)
  moved <- cube %*% A # affine: no spline bends
  gone <- replace(moved, cbind(3, 1:3), c(NA, 2, 3))
  expect_equal(mf_dist(M, read(list(gone), M, template = cube), moved), 0, tolerance = 1e-7)
  few <- replace(moved, cbind(rep(1:5, 3), rep(1:3, each = 5)), NA)
  face <- replace(moved, cbind(rep(5:8, 3), rep(1:3, each = 4)), NA) # four in a plane
  expect_identical(unname(is.na(read(list(few, face, moved), M, template = cube, invalid = "missing"))), c(TRUE, TRUE, FALSE))
  # the equations in space have the kernel |x|
  to <- moved + rnorm(24, sd = 0.1)
  p <- cube[-3, ]
  L <- rbind(cbind(as.matrix(dist(p)), 1, p), cbind(rbind(1, t(p)), matrix(0, 4, 4)))
  w <- qr.solve(L, rbind(to[-3, ], matrix(0, 4, 3)))
  own <- c(sqrt(colSums((t(p) - cube[3, ])^2)), 1, cube[3, ]) %*% w
  expect_equal(riemdp:::spline_image(p, to[-3, ], cube[3, , drop = FALSE]), own, tolerance = 1e-9, ignore_attr = TRUE)
  table <- matrix(c(moved), 1)
  expect_identical(read(table, M, layout = "xxyyzz"), read(list(moved), M))
  expect_identical(read(matrix(c(t(moved)), 1), M, layout = "xyzxyz"), read(list(moved), M))
})

test_that("semilandmarks slide to where the spline from the template bends least", {
  set.seed(4)
  round_8 <- planar(exp(2i * pi * (1:8) / 8) * c(1, 1.2))
  cases <- list(list(kendall(8), round_8, rbind(c(1, 2, 3), c(3, 4, 5), c(5, 6, 7))),
                list(kendall(8, 3), cube + rnorm(24, sd = 0.02), rbind(c(1, 2, 3), c(6, 7, 8), c(5, 4, 1))))
  for (case in cases) {
    M <- case[[1]]
    t <- case[[2]]
    curves <- case[[3]]
    m <- ncol(t)
    x <- array(c(t), c(8, m, 3)) + rnorm(24 * m, sd = 0.1)
    dimnames(x) <- list(NULL, NULL, c("a", "b", "c"))
    y <- slide_landmarks(x, M, t, curves)
    expect_identical(dimnames(y), dimnames(x))
    expect_identical(y[-curves[, 2], , ], x[-curves[, 2], , ])
    # energy by the spline's own weights, no formula of the package's
    kernel <- if (m == 2) function(r) ifelse(r > 0, 2 * r^2 * log(r), 0) else function(r) -r
    L <- rbind(cbind(kernel(as.matrix(dist(t))), 1, t), cbind(rbind(1, t(t)), matrix(0, m + 1, m + 1)))
    energy <- function(z) sum(z * solve(L, rbind(z, matrix(0, m + 1, m)))[1:8, ])
    for (i in 1:3) {
      along <- x[curves[, 3], , i] - x[curves[, 1], , i]
      along <- along / sqrt(rowSums(along^2))
      step <- y[curves[, 2], , i] - x[curves[, 2], , i]
      expect_lt(max(abs(step - along * rowSums(step * along))), 1e-12) # along tangents alone
      least <- energy(y[, , i])
      expect_gt(energy(x[, , i]), least)
      for (j in 1:3) for (h in c(-1e-3, 1e-3)) {
        z <- y[, , i]
        z[curves[j, 2], ] <- z[curves[j, 2], ] + h * along[j, ]
        expect_gt(energy(z), least)
      }
    }
    # a turned, moved and larger record slides as it does, and another record changes nothing
    turn <- qr.Q(qr(matrix(rnorm(m * m), m)))
    turned <- 3 * x[, , 1] %*% turn + rep(rnorm(m), each = 8)
    expect_equal(slide_landmarks(turned, M, t, curves)[, , 1] - turned, 3 * (y[, , 1] - x[, , 1]) %*% turn, tolerance = 1e-10)
    expect_identical(slide_landmarks(x[, , 2], M, t, curves)[, , 1], y[, , 2])
    expect_equal(slide_landmarks(3 * t + 1, M, t, curves)[, , 1], 3 * t + 1, tolerance = 1e-12)
    # twice is once more with tangents taken anew
    expect_identical(slide_landmarks(x, M, t, curves, passes = 2), slide_landmarks(y, M, t, curves))
    # what can't slide is missing, alone
    x[1, 1, 2] <- NA
    x[3, , 3] <- x[1, , 3]
    none <- slide_landmarks(list(x[, , 1], x[, , 2], x[, , 3], matrix(0, 2, 2), replace(x[, , 1], 5, 1e308), replace(x[, , 1], 5, Inf)), M, t, curves)
    expect_identical(none[, , 1], unname(y[, , 1]))
    expect_identical(apply(is.na(none), 3, all), c(FALSE, rep(TRUE, 5)))
  }
  M <- kendall(8)
  expect_error(slide_landmarks(round_8, M, round_8, cbind(1:6, 2:7, 3:8)), "must stay", class = "riemdp_error_argument")
  expect_error(slide_landmarks(round_8, M, round_8, rbind(c(1, 2, 3), c(3, 2, 5))), class = "riemdp_error_argument")
  for (bad in list(c(1, 2, 2), c(0, 1, 2), c(1, 2), "1", matrix(1:4, 1), NULL, c(NA, 1, 2))) {
    expect_error(slide_landmarks(round_8, M, round_8, bad), class = "riemdp_error_argument")
  }
  expect_error(slide_landmarks(round_8, M, round_8 * NA, c(1, 2, 3)), class = "riemdp_error_shape")
  expect_error(slide_landmarks(round_8, M, cbind(1:8, 1:8), c(1, 2, 3)), "`template` must have landmarks that differ", class = "riemdp_error_argument")
  expect_error(slide_landmarks(round_8, sphere(2), round_8, c(1, 2, 3)), class = "riemdp_error_unsupported")
  expect_error(slide_landmarks(structure(list(), class = "gpagen"), M, round_8, c(1, 2, 3)), class = "riemdp_error_unsupported")
})

test_that("the symmetric part of a record is symmetric, and half way to its mirror image", {
  set.seed(5)
  pairs <- rbind(c(1, 2), c(4, 3), c(5, 6))
  other <- c(2, 1, 4, 3, 6, 5, 7, 8)
  for (M in list(kendall(8), kendall(8, 3))) {
    m <- if (inherits(M, "riemdp_kendall")) 2 else 3
    mirror <- function(x) {
      x <- x[other, , , drop = FALSE]
      x[, 1, ] <- -x[, 1, ]
      x
    }
    x <- array(c(cube[, seq_len(m)] + c(0, 0, 0.3, 0)), c(8, m, 10)) + rnorm(80 * m, sd = 0.2)
    s <- symmetric_landmarks(x, M, pairs)
    expect_lt(max(mf_dist(M, s, mirror(s))), 1e-7)
    expect_equal(mf_dist(M, x, s), mf_dist(M, x, mirror(x)) / 2, tolerance = 1e-10)
    expect_equal(apply(s, 2:3, mean), apply(x, 2:3, mean), tolerance = 1e-12)
    expect_equal(symmetric_landmarks(s, M, pairs), s, tolerance = 1e-12)
    expect_identical(symmetric_landmarks(x[, , 3], M, pairs)[, , 1], s[, , 3])
    y <- symmetric_landmarks(list(a = x[, , 1], b = replace(x[, , 2], 3, NA), c = matrix(0, 8, m), d = 1), M, pairs)
    expect_identical(apply(is.na(y), 3, all), c(a = FALSE, b = TRUE, c = TRUE, d = TRUE))
    expect_identical(unname(y[, , 1]), s[, , 1])
  }
  # no rotation is the best one: a record at right angles to its mirror image
  on_a_line <- cbind(c(-sqrt(6) / 3 - sqrt(2), -sqrt(6) / 3 + sqrt(2), 2 * sqrt(6) / 3), 0)
  expect_true(all(is.na(symmetric_landmarks(on_a_line, kendall(3), c(1, 2)))))
  expect_false(anyNA(symmetric_landmarks(on_a_line, kendall(3), c(1, 3))))
  for (bad in list(c(1, 1), c(1, 9), rbind(c(1, 2), c(2, 3)), 1, NULL)) {
    expect_error(symmetric_landmarks(x[, , 1], M, bad), class = "riemdp_error_argument")
  }
  # a private mean takes the result
  x <- symmetric_landmarks(array(c(cube[, 1:2] + c(0, 0, 0.3, 0)), c(8, 2, 50)) + rnorm(800, sd = 0.02), kendall(8), pairs)
  expect_identical(guarantee(dp_mean(x, kendall(8), 10, x[, , 1], 0.2))$label, "pure")
})

test_that("wireframes join what `links` says, in all pictures", {
  links <- rbind(c(1, 2), c(2, 3), c(3, 5))
  M <- kendall(5, links = links)
  x <- cbind(c(0, 1, 1, 0, 0.5), c(0, 0, 1, 1, 1.5))
  o <- riemdp:::as_outlines(M, x)[[1]]
  path <- riemdp:::closed_curves(M, x)[[1]]
  expect_identical(path, rbind(o[1:2, ], NA, o[2:3, ], NA, o[c(3, 5), ], NA))
  # five landmarks without links are dots; twenty are an outline
  expect_identical(riemdp:::closed_curves(kendall(5), x)[[1]], o)
  expect_true(all(plot_data(mf_points(x, kendall(5)))$kind %in% c("point", "text")))
  ring <- cbind(cos(2 * pi * 1:20 / 20), sin(2 * pi * 1:20 / 20))
  o <- riemdp:::as_outlines(kendall(20), ring)[[1]]
  expect_identical(riemdp:::closed_curves(kendall(20), ring)[[1]], rbind(o, o[1, ]))
  expect_identical(riemdp:::closed_curves(product(M, weights = 2), x)[[1]], path)
  # two views, each upright, and lengths as they are
  S <- kendall(8, 3, links = rbind(c(1, 2), c(1, 5)))
  set.seed(6)
  turn <- qr.Q(qr(matrix(rnorm(9), 3)))
  v <- riemdp:::as_outlines(S, list(cube, cube %*% (turn * sign(det(turn)))) |> simplify2array())
  expect_equal(v[[1]], v[[2]], tolerance = 1e-12)
  size <- cube - rep(colMeans(cube), each = 8)
  size <- size / sqrt(sum(size^2))
  across <- cbind(v[[1]][1:8, 1], v[[1]][1:8, 2], v[[1]][9:16, 1])
  expect_equal(as.vector(dist(across)), as.vector(dist(size)), tolerance = 1e-12)
  expect_equal(v[[1]][1:8, 2], v[[1]][9:16, 2])
  expect_gt(min(v[[1]][9:16, 1]), max(v[[1]][1:8, 1]))
  # a mirror image is not turned into itself: its handedness is its own
  skew <- cube + rnorm(24, sd = 0.2)
  both <- riemdp:::as_outlines(S, simplify2array(list(skew, skew * rep(c(-1, 1, 1), each = 8))))
  hand <- function(v) det(cbind(v[2:4, ] - rep(v[1, ], each = 3), v[10:12, 1] - v[9, 1]))
  expect_lt(hand(both[[1]]) * hand(both[[2]]), 0)
  expect_identical(nrow(riemdp:::closed_curves(S, cube)[[1]]), 12L)
  dots <- vapply(list(kendall(8, 3), kendall(19), S, kendall(20), spd(2)), riemdp:::as_dots, NA)
  expect_identical(dots, c(TRUE, TRUE, FALSE, FALSE, FALSE))
  # pictures
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (space in list(M, S, kendall(8, 3))) {
    one <- if (identical(space, M)) x else cube
    many <- mf_points(array(c(one), c(dim(one), 4)) + rnorm(4 * length(one), sd = 0.02), space)
    expect_silent(plot(many))
    expect_silent(plot(frechet_mean(many), records = many))
    skip_if_not_installed("ggplot2")
    plots <- list(ggplot2::autoplot(many), ggplot2::autoplot(many, panels = TRUE), ggplot2::autoplot(frechet_mean(many), records = many))
    for (p in plots) expect_silent(ggplot2::ggplotGrob(p))
    expect_identical(sum(plots[[1]]$data$kind != "text"), 4L * nrow(riemdp:::outline_links(space)))
  }
  for (bad in list(c(1, 1), c(1, 6), 1, "a")) expect_error(kendall(5, links = bad), class = "riemdp_error_argument")
  expect_identical(mf_dist(M, x, x * 2), mf_dist(kendall(5), x, x * 2))
})
