# a point and n records around it, no further than `radius`, in the plain shapes
chunk_records_on <- function(case, n, share = 0.4) {
  M <- case$M
  facts <- mf_facts(M)
  d <- facts$dimension
  one <- if (M$name == "custom") {
    M$functions$random(1)[1, ]
  } else {
    p <- mf_random(M, 1, sd = 0.3)
    if (facts$rows > 0 && facts$cols > 0) matrix(p[seq_len(facts$rows * facts$cols)], facts$rows) else as.vector(p)
  }
  radius <- share * min(case$reach, 1)
  a <- matrix(runif(n * d, -1, 1) * radius / sqrt(d), n)
  list(one = one, x = mf_exp(M, one, mf_from_coords(M, one, a)), radius = radius)
}

backwards <- function(X, FUN) rev(lapply(rev(X), FUN))[sample(length(X))]

# a folder that goes with the test
test_folder <- function(env = parent.frame()) {
  folder <- tempfile("chunks")
  dir.create(folder)
  do.call(on.exit, list(substitute(unlink(f, recursive = TRUE), list(f = folder)), add = TRUE), envir = env)
  folder
}
