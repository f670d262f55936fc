# The secure stream. Statistical tests of normals are in test-tangent-noise.R; here chance decides nothing.

bytes <- function(hex) as.raw(strtoi(strsplit(gsub("[^0-9a-f]+", " ", trimws(hex)), " ")[[1]], 16L))
chacha <- function(key, nonce, counter, set) .Call(riemdp_chacha, key, nonce, counter, set)
environment(chacha) <- asNamespace("riemdp")
stream <- function(secret, n) .Call(riemdp_stream, secret, n)
environment(stream) <- asNamespace("riemdp")
seal <- function(key, bytes) .Call(riemdp_seal, key, bytes)
environment(seal) <- asNamespace("riemdp")

test_that("ChaCha20 gives the test vectors of RFC 8439 on every set of instructions", {
  zero <- raw(32)
  one <- c(raw(31), as.raw(1))
  sunscreen <- bytes("10 f1 e7 e4 d1 3b 59 15 50 0f dd 1f a3 20 71 c4 c7 d1 f4 c7 33 c0 68 03 04 22 aa 9a c3 d4 6c 4e
    d2 82 64 46 07 9f aa 09 14 c2 d7 05 d9 8b 02 a2 b5 12 9c d1 de 16 4e b9 cb d0 83 e8 a2 50 3c 4e")
  zero_0 <- bytes("76 b8 e0 ad a0 f1 3d 90 40 5d 6a e5 53 86 bd 28 bd d2 19 b8 a0 8d ed 1a a8 36 ef cc 8b 77 0d c7
    da 41 59 7c 51 57 48 8d 77 24 e0 3f b8 d8 4a 37 6a 43 b8 f4 15 18 a1 1c c3 87 b6 69 b2 ee 65 86")
  zero_1 <- bytes("9f 07 e7 be 55 51 38 7a 98 ba 97 7c 73 2d 08 0d cb 0f 29 a0 48 e3 65 69 12 c6 53 3e 32 ee 7a ed
    29 b7 21 76 9c e6 4e 43 d5 71 33 b0 74 d8 39 d5 31 ed 1f 28 51 0a fb 45 ac e1 0a 1f 4b 79 4d 6f")
  one_1 <- bytes("3a eb 52 24 ec f8 49 92 9b 9d 82 8d b1 ce d4 dd 83 20 25 e8 01 8b 81 60 b8 22 84 f3 c9 49 aa 5a
    8e ca 00 bb b4 a7 3b da d1 92 b5 c4 2f 73 f2 fd 4e 27 36 44 c8 b3 61 25 a6 4a dd eb 00 6c 13 a0")
  for (set in c(0, 1)) {
    skip_if(is.null(chacha(zero, raw(12), 0, set)), "this processor has no AVX2")
    # section 2.3.2, and appendix A.1, vectors 1 to 3
    nonce <- bytes("00 00 00 09 00 00 00 4a 00 00 00 00")
    expect_identical(chacha(as.raw(0:31), nonce, 1, set)[1:64], sunscreen)
    both <- chacha(zero, raw(12), 0, set)
    expect_identical(both[1:64], zero_0)
    expect_identical(both[65:128], zero_1)
    expect_identical(chacha(one, raw(12), 1, set)[1:64], one_1)
  }
})

test_that("all sets of instructions give the same bits, and blocks follow their counters", {
  set.seed(1)
  for (i in 1:50) {
    key <- as.raw(sample(0:255, 32, TRUE))
    nonce <- as.raw(sample(0:255, 12, TRUE))
    counter <- floor(stats::runif(1) * 2^32)
    plain <- chacha(key, nonce, counter, 0)
    wide <- chacha(key, nonce, counter, 1)
    if (!is.null(wide)) expect_identical(plain, wide)
    # block 3 is the first one of counter + 3, which wraps round at 2^32
    expect_identical(plain[3 * 64 + 1:64], chacha(key, nonce, (counter + 3) %% 2^32, 0)[1:64])
    expect_identical(chacha(key, nonce, 2^32 - 3, 0)[3 * 64 + 1:64], chacha(key, nonce, 0, 0)[1:64])
  }
})

# Fast key erasure written again, from blocks in the RFC's order: 64 blocks, of which the last 32 bytes are the next key.
# Words are taken from the end; number i of block b is 4-byte word 8 i + b of a group of eight blocks.
fresh_words <- function(secret, n) {
  key <- secret[1:32]
  out <- raw()
  while (length(out) < 8 * n) {
    groups <- lapply(0:7, function(g) {
      aperm(array(chacha(key, secret[33:44], 8 * g, 0), c(4, 16, 8)), c(1, 3, 2))
    })
    all <- matrix(unlist(groups), 8)
    key <- as.vector(all[, 509:512])
    out <- c(out, as.vector(all[, 508:1]))
  }
  out[seq_len(8 * n)]
}

test_that("the stream is ChaCha20 with fast key erasure", {
  skip_if(.Platform$endian != "little")
  set.seed(2)
  secret <- as.raw(sample(0:255, 44, TRUE))
  expect_identical(stream(secret, 1700), fresh_words(secret, 1700))
  expect_identical(stream(secret, 0), raw())
  expect_error(stream(secret[-1], 1), class = "riemdp_error_argument")
  expect_error(chacha(raw(32), raw(11), 0, 0), class = "riemdp_error_argument")
  expect_error(chacha(raw(32), raw(12), 2^32, 0), class = "riemdp_error_argument")
})

test_that("each call has a key of its own, in forked processes as well", {
  draw <- function(i) as.vector(tangent_noise(euclidean(1), 0, 3))
  draws <- lapply(1:5, draw)
  if (.Platform$OS.type == "unix") {
    draws <- c(draws, parallel::mclapply(1:4, draw, mc.cores = 2, mc.preschedule = FALSE))
  }
  expect_equal(anyDuplicated(unlist(draws)), 0)
  # set.seed() is no part of it, and nothing of R's own stream is used up
  set.seed(3)
  before <- .Random.seed
  draw(1)
  expect_identical(.Random.seed, before)
})

test_that("fingerprints are the cascade of the block function, by R's own chain of blocks", {
  chain <- function(key, bytes) {
    length <- as.raw(c(length(bytes) %% 256, length(bytes) %/% 256, rep(0, 14)))
    for (part in split(c(length, bytes, raw(-length(bytes) %% 16)), (seq_len(16 + 16 * ceiling(length(bytes) / 16)) - 1) %/% 16)) {
      counter <- sum(as.numeric(part[13:16]) * 256^(0:3))
      key <- chacha(key, part[1:12], counter, 0)[1:32]
    }
    key
  }
  key <- as.raw(1:32)
  for (n in c(0, 1, 15, 16, 17, 300)) {
    bytes <- as.raw(seq_len(n) %% 251)
    expect_identical(seal(key, bytes), chain(key, bytes))
  }
  # every byte and the length count
  expect_false(identical(seal(key, raw(16)), seal(key, raw(17))))
  expect_error(seal(raw(31), raw(1)), class = "riemdp_error_argument")
  expect_error(seal(key, 1), class = "riemdp_error_argument")
})

test_that("Gamma and normal draws follow their laws to the last per cent", {
  # the rejection steps of both change their laws by .3 to 2 % only: 400,000 draws, Kolmogorov-Smirnov at 1e-6 each
  n <- 4e5
  far <- function(u) {
    u <- sort(u)
    max(u - (seq_len(n) - 1) / n, seq_len(n) / n - u)
  }
  bound <- sqrt(log(2e6) / (2 * n))
  for (shape in 1:3) { # the length of K-norm noise on R^shape
    b <- matrix(with_simulation(21, .Call(riemdp_perturbation_noise, 1, shape, n, "length", 1, TRUE)), shape)
    expect_lt(far(stats::pgamma(sqrt(colSums(b^2)), shape)), bound)
  }
  z <- .Call(riemdp_perturbation_noise, 1, 1, n, "normal", 1, FALSE) # the system's stream has a ziggurat of its own
  expect_lt(far(stats::pnorm(as.vector(z))), bound)
  expect_lt(abs(stats::var(as.vector(z)) - 1), 5 * sqrt(2 / n))
  # the ziggurat's edges: with all of them kept the variance is 1.0067. Its tail, which one draw of 3,900 reaches
  z <- replicate(4, as.vector(.Call(riemdp_perturbation_noise, 1, 1, 1e6, "normal", 1, FALSE)))
  expect_lt(abs(mean(z^2) - 1), 5.5 * sqrt(2 / length(z)))
  end <- 3.6541528853610088
  beyond <- abs(z[abs(z) > end])
  expect_gt(stats::ks.test(stats::pnorm(-beyond) / stats::pnorm(-end), "punif")$p.value, 1e-7)
  g <- .Call(riemdp_perturbation_noise, 1, 2, n, "length", 1, FALSE)
  expect_lt(far(stats::pgamma(sqrt(colSums(matrix(g, 2)^2)), 2)), bound)
})

test_that("no sampler waits for ever on a generator that is stuck: the call ends in an error and gives nothing", {
  skip_on_cran()
  dir <- tempfile("stuck")
  dir.create(dir)
  # R's way to a generator of the user's: all numbers alike
  writeLines(c("static double value;", "double *user_unif_rand(void) { return &value; }", "void stuck_at(double *x) { value = *x; }"),
             file.path(dir, "stuckrng.c"))
  built <- suppressWarnings(system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(file.path(dir, "stuckrng.c"))), stdout = FALSE, stderr = FALSE))
  skip_if(built != 0, "no compiler")
  dll <- dyn.load(file.path(dir, paste0("stuckrng", .Platform$dynlib.ext)))
  kind <- RNGkind()
  on.exit({
    RNGkind(kind[1], kind[2], kind[3])
    dyn.unload(dll[["path"]])
  })
  calls <- list(
    laplace = function() .Call(riemdp:::riemdp_laplace_radii, sphere(3), 5, 0.1, TRUE),
    gamma = function() .Call(riemdp:::riemdp_noise, euclidean(3), numeric(3), 5, "wrapped", 1, TRUE),
    l2 = function() .Call(riemdp:::riemdp_lattice_noise, euclidean(3), 5, "l2", c(1024, 1), TRUE),
    laplace_lattice = function() .Call(riemdp:::riemdp_lattice_noise, euclidean(3), 5, "laplace", c(1000, 7), TRUE),
    gaussian_lattice = function() .Call(riemdp:::riemdp_lattice_noise, euclidean(3), 5, "gaussian", c(1000, 7), TRUE)
  )
  ended <- 0
  for (name in names(calls)) {
    for (value in c(0, 0.3, 0.5, 0.7, 0.99999)) {
      RNGkind("user-supplied", kind[2], kind[3])
      .C("stuck_at", value)
      setTimeLimit(elapsed = 20)
      out <- tryCatch(calls[[name]](), error = function(e) e)
      setTimeLimit(elapsed = Inf)
      if (inherits(out, "error")) {
        expect_true(inherits(out, "riemdp_error_randomness"), label = paste(name, value, conditionMessage(out)))
        ended <- ended + 1
      }
    }
  }
  expect_gte(ended, 5)
})
