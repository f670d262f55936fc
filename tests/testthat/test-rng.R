# The secure stream. Statistical tests of normals are in test-tangent-noise.R; here chance decides nothing.

bytes <- function(hex) as.raw(strtoi(strsplit(gsub("[^0-9a-f]+", " ", trimws(hex)), " ")[[1]], 16L))
chacha <- function(key, nonce, counter, set) .Call(riemdp_chacha, key, nonce, counter, set)
environment(chacha) <- asNamespace("riemdp")
stream <- function(secret, n) .Call(riemdp_stream, secret, n)
environment(stream) <- asNamespace("riemdp")

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
