# The records of a paper's figure (inst/reproduce/data.R), against their definitions. No statistical test but one, at 6 standard errors.
data <- new.env()
sys.source(system.file("reproduce", "data.R", package = "riemdp"), data)

# the definition, pixel by pixel with the whole filters
descriptor_by_hand <- function(image, eta, weights) {
  sobel <- matrix(c(1, 2, 1, 0, 0, 0, -1, -2, -1), 3) / 4
  bend <- matrix(c(1, 4, 6, 4, 1, 0, 0, 0, 0, 0, -2, -8, -12, -8, -2, 0, 0, 0, 0, 0, 1, 4, 6, 4, 1), 5) / 32
  r <- nrow(image)
  k <- ncol(image)
  grey <- weights[1] * image[, , 1] + weights[2] * image[, , 2] + weights[3] * image[, , 3]
  convolve <- function(filter, i, j) {
    h <- (nrow(filter) - 1) / 2
    sum <- 0
    for (a in -h:h) for (b in -h:h) {
      sum <- sum + filter[a + h + 1, b + h + 1] * grey[min(max(i - a, 1), r), min(max(j - b, 1), k)]
    }
    sum
  }
  rows <- list()
  for (j in seq_len(k)) for (i in seq_len(r)) {
    ix <- abs(convolve(sobel, i, j))
    iy <- abs(convolve(t(sobel), i, j))
    rows[[length(rows) + 1]] <- c(j, i, image[i, j, ], ix, iy, abs(convolve(bend, i, j)), abs(convolve(t(bend), i, j)),
                                  sqrt(ix^2 + iy^2), if (ix == 0 && iy == 0) 0 else atan2(ix, iy))
  }
  f <- do.call(rbind, rows)
  stats::cov(f) * (nrow(f) - 1) / nrow(f) + eta * diag(11)
}

test_that("covariance descriptors are those of the definition", {
  set.seed(1)
  images <- array(stats::runif(6 * 7 * 3 * 2), c(6, 7, 3, 2))
  w <- c(0.3, 0.5, 0.2)
  x <- data$covariance_descriptors(images, eta = 1e-3, weights = w)
  for (i in 1:2) expect_equal(x[, , i], descriptor_by_hand(images[, , , i], 1e-3, w), tolerance = 1e-12)
  expect_true(all(mf_is_point(spd(11), x)))
  expect_identical(data$covariance_descriptors(images[, , , 2], 1e-3, w)[, , 1], x[, , 2])
  # a flat image: places vary, nothing else does
  flat <- data$covariance_descriptors(array(0.5, c(8, 8, 3)), eta = 1e-6)[, , 1]
  expect_equal(flat, diag(c(rep((64 - 1) / 12, 2), rep(0, 9))) + 1e-6 * diag(11), tolerance = 1e-12)
})

test_that("simulated images follow the seed and their law", {
  set.seed(3)
  a <- data$simulate_tissue(3, 12)
  b <- data$simulate_digits(3, 12)
  set.seed(3)
  expect_identical(data$simulate_tissue(3, 12), a)
  expect_identical(data$simulate_digits(3, 12), b)
  expect_true(all(a >= 0 & a <= 1) && all(b >= 0 & b <= 1))
  expect_equal(dim(a), c(12, 12, 3, 3))
  # a field has unit variance: 2,000 fields of 144 pixels that share neighbours, at least 5 independent patches each
  z <- data$smooth_field(2000, 12, 3)
  expect_lt(abs(mean(z^2) - 1), 6 * sqrt(2 / (5 * 2000)))
  # digits have their hole in the middle, and are alike enough for a leading eigenvector
  d <- data$simulate_digits(300, 14)
  expect_lt(mean(d[7:8, 7:8, ]), 0.2)
  x <- data$images_to_sphere(d)
  expect_true(all(mf_is_point(sphere(195), x)))
  expect_equal(x[7, ], as.vector(d[, , 7]) / sqrt(sum(d[, , 7]^2)))
  expect_gt(eigen(crossprod(x) / 300)$values[1], 0.3)
  expect_equal(data$images_to_sphere(array(0, c(2, 2, 1))), matrix(0.5, 1, 4))
})

test_that("a step of an embedding is the Riemannian gradient of the loss", {
  # edge 1 -> 2 of three nodes: whatever is drawn, node 3 is the one that there is no edge to
  M <- hyperbolic(2, "ball")
  x <- rbind(c(0.3, -0.2), c(-0.1, 0.4), c(0.5, 0.55))
  loss <- function(x) {
    d <- c(mf_dist(M, x[1, ], x[2, ]), mf_dist(M, x[1, ], x[3, ]))
    log(sum(exp(-d))) + d[1]
  }
  step <- data$embedding_step(x, 1, c(2, 3), 0.02)
  slope <- x
  for (i in 1:3) for (j in 1:2) {
    e <- x * 0
    e[i, j] <- 1e-6
    slope[i, j] <- (loss(x + e) - loss(x - e)) / 2e-6
  }
  expect_equal(step$x, x - 0.02 * (1 - rowSums(x^2))^2 / 4 * slope, tolerance = 1e-8)
  expect_equal(step$loss, loss(x), tolerance = 1e-14)
  # node 1 has an edge to all others: nothing to tell them from
  still <- data$poincare_embedding(rbind(c(1, 2), c(1, 3)), 2, epochs = 4, lr = 0.5, start = x)
  expect_identical(still$points, x)
  set.seed(2)
  far <- data$poincare_embedding(cbind(1:19, 2:20), 2, lr = 50, epochs = 20)
  expect_true(all(mf_is_point(M, far$points)))
})

test_that("a tree is embedded with its root in the middle", {
  edges <- do.call(rbind, lapply(2:31, function(i) {
    above <- i %/% 2^(1:4)
    cbind(i, above[above > 0])
  }))
  set.seed(1)
  fit <- data$poincare_embedding(edges, 2, epochs = 200)
  expect_lt(fit$loss[200], 0.5 * fit$loss[1])
  radius <- sqrt(rowSums(fit$points^2))
  expect_lt(radius[1], min(radius[16:31]))
})

# A dictionary of nine synsets in WordNet's format: mammal; dog and cat below it; poodle below dog; a pet below both dog and cat (two
# parents); Lassie, an instance of poodle; a tusker below mammal; a dog that is a sausage, outside; entity above mammal.
small_wordnet <- function() {
  path <- tempfile("wordnet")
  dir.create(path)
  synset <- function(offset, words, ...) {
    pointers <- list(...)
    paste0(offset, " 05 n ", sprintf("%02x", length(words)), " ", paste(words, "0", collapse = " "), " ",
           sprintf("%03d", length(pointers)), if (length(pointers)) " ", paste(unlist(pointers), collapse = " "), " | a gloss | with a bar")
  }
  writeLines(c(
    "  1 the licence", "  2 of the files",
    synset("00000100", "entity", "~ 00000200 n 0000"),
    synset("00000200", c("mammal", "mammalian"), "@ 00000100 n 0000", "~ 00000300 n 0000", "#m 00000900 n 0000"),
    synset("00000300", c("dog", "domestic_dog"), "@ 00000200 n 0000"),
    synset("00000400", "cat", "@ 00000200 n 0000", "+ 00000001 v 0101"),
    synset("00000500", "poodle", "@ 00000300 n 0000"),
    synset("00000600", "Pet", "@ 00000300 n 0000", "@ 00000400 n 0000"),
    synset("00000700", "Lassie", "@i 00000500 n 0000"),
    synset("00000800", "tusker", "@ 00000200 n 0000"),
    synset("00000900", "dog", "@ 00000100 n 0000")
  ), file.path(path, "data.noun"))
  writeLines(c(
    "  1 the licence",
    "cat n 1 1 @ 1 0 00000400  ", "dog n 2 1 @ 2 0 00000900 00000300  ", "entity n 1 0 1 0 00000100  ", "lassie n 1 1 @i 1 0 00000700  ",
    "mammal n 1 1 @ 1 0 00000200  ", "pet n 1 1 @ 1 0 00000600  ", "poodle n 1 1 @ 1 0 00000500  ", "tusker n 1 1 @ 1 0 00000800  "
  ), file.path(path, "index.noun"))
  path
}

test_that("a subtree of WordNet is read with instances, several parents and senses", {
  path <- small_wordnet()
  m <- data$read_wordnet_mammals(path, drop = "tusker.n.01")
  expect_identical(m$nodes, c("cat.n.01", "dog.n.02", "lassie.n.01", "mammal.n.01", "pet.n.01", "poodle.n.01"))
  named <- function(e) paste(m$nodes[e$child], m$nodes[e$ancestor])
  expect_setequal(named(m$direct), c("cat.n.01 mammal.n.01", "dog.n.02 mammal.n.01", "poodle.n.01 dog.n.02", "pet.n.01 dog.n.02",
                                     "pet.n.01 cat.n.01", "lassie.n.01 poodle.n.01"))
  expect_setequal(setdiff(named(m$edges), named(m$direct)), c("poodle.n.01 mammal.n.01", "pet.n.01 mammal.n.01",
                                                              "lassie.n.01 dog.n.02", "lassie.n.01 mammal.n.01"))
  expect_error(data$read_wordnet_mammals(path, drop = "dog.n.02"), "leaves only")
  expect_error(data$read_wordnet_mammals(path), "of the subtree")
})
