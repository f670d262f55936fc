# Records in other programs' forms as points: against formulas written here, each record by itself, and what is no record's.

read <- function(...) as_mf_points(...)
rows_of <- function(p) unname(as.matrix(p))

test_that("places on a globe", {
  towns <- data.frame(lon = c(24.9, 2.4, -90), lat = c(60.2, 48.9, -90), row.names = c("a", "b", "c"))
  p <- read(towns, sphere(2), units = "degrees")
  own <- function(lat, lon) cbind(cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))
  expect_equal(rows_of(p), own(towns$lat * pi / 180, towns$lon * pi / 180), tolerance = 1e-14)
  expect_identical(names(p), c("a", "b", "c"))
  expect_identical(rows_of(p)[3, ], c(0, 0, -1)) # exact at right angles
  radians <- towns * pi / 180
  expect_equal(rows_of(read(radians, sphere(2), units = "radians")), rows_of(p), tolerance = 1e-14)
  plain <- unname(as.matrix(towns))
  expect_identical(rows_of(read(plain, sphere(2), units = "degrees", layout = "longlat")), rows_of(p))
  expect_identical(rows_of(read(plain[, 2:1], sphere(2), units = "degrees", layout = "latlong")), rows_of(p))
  upper <- stats::setNames(towns[2:1], c("Latitude", "LONG"))
  expect_identical(rows_of(read(upper, sphere(2), units = "degrees")), rows_of(p))
  # in other units of distance
  expect_identical(rows_of(read(towns, product(sphere(2), weights = 6371^2), units = "degrees")), rows_of(p))
  expect_error(read(towns, sphere(2)), "`units` must be said", class = "riemdp_error_argument")
  expect_error(read(plain, sphere(2), units = "degrees"), "which column is the latitude", class = "riemdp_error_argument")
  expect_error(read(towns, sphere(2), units = "grad"), class = "riemdp_error_argument")
  expect_error(read(towns, sphere(2), units = "degrees", template = 1), "no use", class = "riemdp_error_argument")
  # degrees for radians are told
  expect_error(read(towns, sphere(2), units = "radians"), "record 1 is no point.*are `units` right", ignore.case = TRUE, class = "riemdp_error_off_manifold")
  expect_error(read(data.frame(lat = 91, lon = 0), sphere(2), units = "degrees"), "right angle", class = "riemdp_error_off_manifold")
  expect_error(read(data.frame(lat = 0, lon = 361), sphere(2), units = "degrees"), class = "riemdp_error_off_manifold")
  expect_identical(is.na(unname(read(data.frame(lat = c(90.1, 90, NA), lon = 0), sphere(2), units = "degrees", invalid = "missing"))), c(TRUE, FALSE, TRUE))
  # unit vectors as before
  expect_identical(rows_of(read(diag(3), sphere(2))), diag(3))
  expect_identical(rows_of(read(list(c(0, 0, 1), c(0, 1, 0)), sphere(2))), rbind(c(0, 0, 1), c(0, 1, 0)))
  expect_error(read(2 * diag(3), sphere(2)), class = "riemdp_error_off_manifold")
  expect_error(read(diag(4), sphere(2)), "as_mf_points", class = "riemdp_error_shape")
})

test_that("points of package sf", {
  degree <- "ANGLEUNIT[\"degree\",0.0174]"
  system <- list(wkt = sprintf("GEOGCRS[\"WGS 84\", PRIMEM[\"Greenwich\",0,%s], %s]", degree, degree))
  dot <- function(lon, lat) structure(c(lon, lat), class = c("XY", "POINT", "sfg"))
  column <- structure(list(dot(10, 50), dot(NA, NA), dot(-170, -20)), class = c("sfc_POINT", "sfc"), crs = system)
  table <- structure(list(id = 1:3, geom = column), row.names = 1:3, class = c("sf", "data.frame"), sf_column = "geom")
  own <- read(data.frame(lat = c(50, NA, -20), lon = c(10, NA, -170)), sphere(2), units = "degrees", invalid = "missing")
  expect_identical(read(column, sphere(2), invalid = "missing"), own)
  expect_identical(read(table, sphere(2), invalid = "missing"), own)
  planar <- structure(column, crs = structure(list(input = "EPSG:3857", wkt = "PROJCRS[...]"), class = "crs"))
  grads <- structure(column, crs = list(wkt = "GEOGCRS[\"NTF\", PRIMEM[\"Paris\",2.3], ANGLEUNIT[\"grad\",0.0157]]"))
  expect_error(read(grads, sphere(2)), "degrees from Greenwich", class = "riemdp_error_shape")
  paris <- structure(column, crs = list(wkt = "GEOGCRS[\"NTF\", PRIMEM[\"Paris\",2.3], ANGLEUNIT[\"degree\",0.0174]]"))
  expect_error(read(paris, sphere(2)), "degrees from Greenwich", class = "riemdp_error_shape")
  expect_error(read(planar, sphere(2)), "st_transform", class = "riemdp_error_shape")
  expect_error(read(column, sphere(2), units = "degrees"), "no use", class = "riemdp_error_argument")
})

test_that("angles and objects of package circular", {
  a <- c(x = 10, y = 350, z = 180)
  p <- read(a, sphere(1), units = "degrees")
  expect_identical(names(p), names(a))
  expect_equal(rows_of(p), unname(cbind(cos(a * pi / 180), sin(a * pi / 180))), tolerance = 1e-15)
  expect_identical(rows_of(p)[3, ], c(-1, 0))
  expect_error(read(a, sphere(1)), "units", class = "riemdp_error_argument")
  expect_error(read(a, sphere(1), units = "radians"), "beyond a turn", class = "riemdp_error_off_manifold")
  expect_identical(rows_of(read(rbind(c(1, 0), c(0, 1)), sphere(1))), diag(2))
  circular <- function(x, units = "radians", zero = 0, rotation = "counter", modulo = "asis", type = "angles") {
    structure(x, circularp = list(type = type, units = units, template = "none", modulo = modulo, zero = zero, rotation = rotation),
              class = c("circular", "numeric"))
  }
  # north is up, angles run clockwise: a wind from 90 degrees is one from the east
  wind <- circular(c(0, 90, 725), "degrees", zero = pi / 2, rotation = "clock")
  expect_equal(rows_of(read(wind, sphere(1))), rbind(c(0, 1), c(1, 0), c(sinpi(5 / 180), cospi(5 / 180))), tolerance = 1e-14)
  expect_equal(rows_of(read(circular(6, "hours"), sphere(1))), cbind(0, 1), tolerance = 1e-15)
  expect_error(read(circular(1, modulo = "pi"), sphere(1)), "double the", class = "riemdp_error_unsupported")
  expect_identical(read(circular(1, type = "directions"), sphere(1)), read(circular(1), sphere(1)))
  expect_silent(q <- read(circular(c(1, Inf, 2)), sphere(1), invalid = "missing"))
  expect_identical(is.na(q), c(FALSE, TRUE, FALSE))
  expect_error(read(structure(1, class = "circular"), sphere(1)), class = "riemdp_error_shape")
  # a torus, a column for each circle
  t <- cbind(c(10, 20), c(90, 270))
  expect_equal(rows_of(read(t, torus(2), units = "degrees")), do.call(cbind, lapply(1:2, function(j) cbind(cospi(t[, j] / 180), sinpi(t[, j] / 180)))))
  expect_equal(read(data.frame(phi = circular(1:2), psi = circular(3:4)), torus(2)), read(cbind(1:2, 3:4), torus(2), units = "radians"))
  expect_identical(is.na(read(data.frame(a = c("10", "ten"), b = 1:2), torus(2), units = "degrees", invalid = "missing")), c(FALSE, TRUE))
})

test_that("landmarks in arrays, tables and lists are the same shapes", {
  set.seed(4)
  x <- array(rnorm(5 * 2 * 4), c(5, 2, 4), list(NULL, NULL, letters[1:4]))
  M <- kendall(5)
  p <- read(x, M)
  expect_equal(mf_dist(M, p, x), rep(0, 4), tolerance = 1e-7)
  expect_identical(names(p), letters[1:4])
  xyxy <- t(apply(x, 3, function(z) as.vector(t(z))))
  xxyy <- t(apply(x, 3, as.vector))
  z <- matrix(complex(real = x[, 1, ], imaginary = x[, 2, ]), 5, dimnames = list(NULL, letters[1:4]))
  for (q in list(read(xyxy, M, layout = "xyxy"), read(xxyy, M, layout = "xxyy"), read(as.data.frame(xyxy), M, layout = "xyxy"), read(z, M),
                 read(stats::setNames(lapply(1:4, function(i) x[, , i]), letters[1:4]), M), read(p, M))) {
    expect_equal(rows_of(q), rows_of(p), tolerance = 1e-14)
  }
  expect_identical(rows_of(read(x[, , 2], M)), rows_of(p)[2, , drop = FALSE])
  expect_error(read(xyxy, M), "layout", class = "riemdp_error_argument")
  expect_error(read(x, M, layout = "xyxy"), "no use", class = "riemdp_error_argument")
  expect_error(read(array(0, c(5, 3, 2)), M), class = "riemdp_error_shape")
  for (class in c("gpagen", "symproc", "nosymproc")) {
    expect_error(read(structure(list(coords = x), class = class), M), "depend on each other", class = "riemdp_error_unsupported")
  }
  # one place, no number, another size: that record alone is missing
  bad <- list(x[, , 1], matrix(1, 5, 2), x[-1, , 1], x[, , 2] * NA, "text", x[, , 3])
  expect_identical(is.na(unname(read(bad, M, invalid = "missing"))), c(FALSE, TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_error(read(bad, M), "record 2 is no point", class = "riemdp_error_off_manifold")
})

test_that("missing landmarks come from the record and the template alone", {
  t <- exp(2i * pi * (1:8) / 8) * c(1, 1.2, 1, 0.8, 1, 1.1, 1, 0.9)
  M <- kendall(8)
  planar <- function(z) cbind(Re(z), Im(z))
  # affine images of the template are completed exactly
  image <- 3 - 1i + (2 + 1i) * t + 0.3 * Conj(t)
  gone <- image
  gone[c(2, 5)] <- NA
  expect_lt(mf_dist(M, read(list(planar(gone)), M, template = t), image), 1e-7)
  # the spline's equations: it takes what is seen to itself, and its bends have no moments
  set.seed(2)
  to <- image[-3] + complex(real = rnorm(7, sd = 0.1), imaginary = rnorm(7, sd = 0.1))
  expect_equal(riemdp:::spline_image(planar(t[-3]), planar(to), planar(t[-3])), planar(to), tolerance = 1e-10)
  u <- function(r2) ifelse(r2 > 0, r2 * log(r2), 0)
  p <- t[-3]
  L <- rbind(cbind(u(Mod(outer(p, p, `-`))^2), 1, Re(p), Im(p)), cbind(rbind(rep(1, 7), Re(p), Im(p)), matrix(0, 3, 3)))
  w <- qr.solve(L + 0i, c(to, 0, 0, 0))
  own <- sum(w * c(u(Mod(t[3] - p)^2), 1, Re(t[3]), Im(t[3])))
  expect_equal(riemdp:::spline_image(planar(p), planar(to), planar(t[3])), planar(own), tolerance = 1e-9)
  # another record changes nothing
  a <- planar(replace(to[c(1, 2, 2, 3:7)], 3, NA))
  one <- read(list(a), M, template = t)
  expect_identical(rows_of(read(list(matrix(NA_real_, 8, 2), a), M, template = t, invalid = "missing"))[2, ], rows_of(one)[1, ])
  # too few, or all on a line
  few <- planar(replace(rep(NA_complex_, 8), 1:2, t[1:2]))
  line <- planar(replace(1:8 + 0i, 3, NA))
  expect_identical(is.na(unname(read(list(few, line, planar(image)), M, template = t, invalid = "missing")))[c(1, 3)], c(TRUE, FALSE))
  expect_error(read(list(a), M, template = t[1:4]), class = "riemdp_error_shape")
  expect_error(read(list(a), M, template = replace(t, 1, NA)), class = "riemdp_error_shape")
})

test_that("halves of symmetric matrices, images of tensors and lists", {
  set.seed(6)
  S <- mf_random(spd(3), 4, sd = 0.3)
  half <- t(apply(S, 3, function(a) a[lower.tri(a, TRUE)]))
  upper <- t(apply(S, 3, function(a) a[upper.tri(a, TRUE)]))
  diagonal <- t(apply(S, 3, function(a) c(diag(a), a[2, 1], a[3, 1], a[3, 2])))
  p <- mf_points(S, spd(3))
  for (q in list(read(half, spd(3), layout = "lower"), read(upper, spd(3), layout = "upper"), read(diagonal, spd(3), layout = "diagonal"), read(S, spd(3)),
                 read(lapply(1:4, function(i) S[, , i]), spd(3)), read(array(half, c(2, 2, 1, 6)), spd(3), layout = "lower"),
                 read(as.data.frame(upper), spd(3), layout = "upper"),
                 read(structure(array(upper, c(2, 2, 1, 1, 6)), pixdim = rep(1, 5), class = c("niftiImage", "array")), spd(3), layout = "upper"))) {
    expect_identical(rows_of(q), rows_of(p))
  }
  frames <- split(iris[1:4], iris$Species)
  expect_equal(rows_of(read(lapply(frames, cov), spd(4)))[2, ], as.vector(cov(frames[[2]])))
  expect_identical(names(read(lapply(frames, cov), spd(4))), levels(iris$Species))
  expect_identical(rows_of(read(half, product(spd(3), weights = 2), layout = "lower")), rows_of(p))
  expect_error(read(half, spd(3)), "layout", class = "riemdp_error_argument")
  expect_error(read(array(0, c(2, 2, 2, 5)), spd(3), layout = "lower"), class = "riemdp_error_argument")
  expect_error(read(array(0, c(2, 2, 2, 5)), spd(3)), class = "riemdp_error_shape")
  expect_identical(is.na(read(rbind(half, 0), spd(3), layout = "lower", invalid = "missing")), c(FALSE, FALSE, FALSE, FALSE, TRUE))
})

test_that("correlations and compositions", {
  frames <- split(iris[1:4], iris$Species)
  M <- correlation(4)
  p <- read(lapply(frames, cor), M)
  expect_equal(as.array(p)[, , 2], unname(cor(frames[[2]])), tolerance = 1e-15)
  for (order in c("lower", "upper")) {
    half <- t(vapply(frames, function(f) cor(f)[if (order == "lower") lower.tri(diag(4)) else upper.tri(diag(4))], numeric(6)))
    expect_identical(rows_of(read(half, M, layout = order)), rows_of(p))
  }
  three <- cbind(c(0.1, 0.2, 0.3), c(0, 0.1, 0.2), c(0.5, 0.1, 0))
  expect_silent(square <- read(three, correlation(3), layout = "lower"))
  expect_identical(as.array(square)[, , 2], matrix(c(1, 0.2, 0.1, 0.2, 1, 0.1, 0.1, 0.1, 1), 3))
  expect_silent(none <- read(matrix(0, 0, 3), correlation(3), layout = "lower"))
  expect_identical(length(none), 0L)
  expect_error(read(half, M, layout = "diagonal"), class = "riemdp_error_argument")
  expect_error(read(lapply(frames, cov), M), "record 1 is no point", class = "riemdp_error_off_manifold")
  x <- rbind(a = c(2, 0, 8), b = c(0, 0, 0), c = c(1, -1, 1), d = c(0.2, 0.3, 0.5), e = c(NA, 1, 1))
  S <- simplex(3, floor = 0.01)
  q <- read(x, S, invalid = "missing")
  expect_identical(unname(is.na(q)), c(FALSE, TRUE, TRUE, FALSE, TRUE))
  expect_equal(rows_of(q)[c(1, 4), ], rbind(c(2, 0.08, 8) / 10.08, x[4, ]), tolerance = 1e-14, ignore_attr = TRUE)
  acomp <- structure(x[c(1, 4), ] / 10, class = c("acomp", "rmult"))
  expect_equal(rows_of(read(acomp, S)), rows_of(q)[c(1, 4), ], tolerance = 1e-14)
  expect_identical(rows_of(read(as.data.frame(x[c(1, 4), ]), S)), rows_of(q)[c(1, 4), ])
  expect_error(read(x, S), "record 2 is no point", class = "riemdp_error_off_manifold")
})

test_that("products take a list with each part's form, and private means take the result", {
  M <- product(place = sphere(2), size = euclidean(1), shape = spd(2))
  half <- rbind(c(2, 0, 1), c(1, 0.1, 3))
  given <- list(size = c(3, 4), shape = half, place = data.frame(lat = c(10, 20), lon = c(0, 5)))
  p <- read(given, M, units = list(place = "degrees"), layout = list(shape = "lower"))
  expect_identical(rows_of(mf_part(M, p, "shape"))[2, ], c(1, 0.1, 0.1, 3))
  expect_identical(rows_of(mf_part(M, p, "place")), rows_of(read(given$place, sphere(2), units = "degrees")))
  expect_error(read(list(size = 1, shape = half, place = given$place), M, units = list(place = "degrees"), layout = list(shape = "lower")),
               class = "riemdp_error_shape")
  columns <- array(c(1, 0, 0, 0, 1, 0, 0, 0, 1, 0.6, 0.8, 0), c(3, 2, 2))
  O <- oblique(3, 2)
  expect_identical(O, power(sphere(2), 2))
  expect_identical(rows_of(read(columns, O)), rbind(c(1, 0, 0, 0, 1, 0), c(0, 0, 1, 0.6, 0.8, 0)))
  expect_identical(is.na(read(replace(columns, 1, 2), O, invalid = "missing")), c(TRUE, FALSE))
  set.seed(3)
  towns <- data.frame(lat = c(rnorm(60, 50, 3), 400), lon = c(rnorm(60, 10, 3), NA))
  q <- read(towns, sphere(2), units = "degrees", invalid = "missing")
  r <- dp_mean(q, sphere(2), 50, rows_of(read(data.frame(lat = 50, lon = 10), sphere(2), units = "degrees"))[1, ], 0.3, invalid = "center")
  expect_identical(guarantee(r)$label, "pure")
  expect_lt(mf_dist(sphere(2), r$value, frechet_mean(q[1:60])$mean), 0.05)
})
