# The C interface of inst/include/riemdp.h from a package that links to this one. tools/test-core tries the same library without R.

client <- function() {
  dir <- tempfile("client")
  dir.create(file.path(dir, "rdpclient", "src"), recursive = TRUE)
  dir.create(file.path(dir, "library"))
  at <- function(...) file.path(dir, "rdpclient", ...)
  writeLines(c("Package: rdpclient", "Version: 0.0.1", "Title: Calls the Core", "Author: Nobody", "Maintainer: Nobody <nobody@example.org>",
               "Description: Nothing.", "License: MIT", "Imports: riemdp", "LinkingTo: riemdp"), at("DESCRIPTION"))
  writeLines(c("useDynLib(rdpclient, rdp_client)", "importFrom(riemdp, mf_dist)"), at("NAMESPACE"))
  writeLines(c(
    "#define RIEMDP_FROM_R",
    "#include <riemdp.h>",
    "#include <Rinternals.h>",
    "/* operation, name, parameters, first points (or n, of noise), second ones (weights, scale) */",
    "SEXP rdp_client(SEXP op, SEXP name, SEXP par, SEXP p, SEXP q)",
    "{",
    "    rdp_manifold *m;",
    "    int status = rdp_open(&m, CHAR(STRING_ELT(name, 0)), (size_t)XLENGTH(par), INTEGER(par)), what = Rf_asInteger(op);",
    "    if (status)",
    "        return Rf_mkString(rdp_status(status));",
    "    size_t a = rdp_ambient(m), n = (size_t)XLENGTH(p) / a, k = (size_t)XLENGTH(q) / a, many = n == 1 ? k : n;",
    "    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(what == 1 ? many : what == 5 ? 1000 * a : what == 4 ? a : many * a)));",
    "    double *to = REAL(out);",
    "    switch (what) {",
    "    case 1: status = rdp_dist(m, n, REAL(p), k, REAL(q), to); break;",
    "    case 2: status = rdp_log(m, n, REAL(p), k, REAL(q), to); break;",
    "    case 3: status = rdp_exp(m, n, REAL(p), k, REAL(q), to); break;",
    "    case 4: status = rdp_mean(m, n, REAL(p), XLENGTH(q) ? REAL(q) : NULL, 1e-10, to, NULL); break;",
    "    case 5: status = rdp_laplace(m, REAL(p), REAL(q)[0], 1000, to); break;",
    "    case 6: status = rdp_random(a * sizeof *to, to); break;",
    "    default: status = rdp_version() == RIEMDP_VERSION ? rdp_project(m, n, REAL(p), to) : 1;",
    "    }",
    "    if (!status && what != 1 && what < 5 && rdp_dim(m) == 0)",
    "        status = 1;",
    "    rdp_close(m);",
    "    UNPROTECT(1);",
    "    return status ? Rf_mkString(rdp_status(status)) : out;",
    "}"), at("src", "client.c"))
  said <- suppressWarnings(system2(file.path(R.home("bin"), "R"),
    c("CMD", "INSTALL", "--no-docs", "--no-multiarch", "--no-byte-compile", paste0("--library=", shQuote(file.path(dir, "library"))), shQuote(at())),
    stdout = TRUE, stderr = TRUE, env = c(paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)), "R_TESTS=")))
  list(library = file.path(dir, "library"), said = said)
}

test_that("a package that links to this one gets the same numbers", {
  skip_on_cran()
  built <- client()
  expect_true(dir.exists(file.path(built$library, "rdpclient", "libs")), info = paste(tail(built$said, 10), collapse = "\n"))
  made_up <- "rdpclient" # no dependency that R CMD check should look for
  ns <- loadNamespace(made_up, lib.loc = built$library)
  on.exit(unloadNamespace(made_up))
  call <- function(op, M, p, q) .Call(ns$rdp_client, op, M$name, as.integer(M$param), as.double(p), as.double(q))
  set.seed(4)
  for (M in list(euclidean(3), sphere(3), spd(3), spd(9), hyperbolic(2), stiefel(4, 2), grassmann(5, 2))) {
    o <- mf_random(M, 1)
    x <- mf_exp(M, o, tangent_noise(M, o, 70, 0.2)) # more than a block
    flat <- function(x) if (is.matrix(x) && nrow(x) == 70) t(x) else x # records one after the other
    one <- function(x) if (is.matrix(x) && nrow(x) == 1) x[1, ] else x
    expect_identical(call(1, M, one(o), flat(x)), as.double(mf_dist(M, o, x)), label = M$name)
    v <- mf_log(M, o, x)
    expect_identical(call(2, M, one(o), flat(x)), as.double(flat(v)), label = M$name)
    expect_identical(call(3, M, one(o), flat(v)), as.double(flat(mf_exp(M, o, v))), label = M$name)
    expect_identical(call(0, M, flat(x), 0), as.double(flat(mf_project(M, x))), label = M$name)
    expect_identical(call(4, M, flat(x), numeric()), as.double(frechet_mean(x, M)$mean), label = M$name)
    w <- runif(70)
    expect_identical(call(4, M, flat(x), w), as.double(frechet_mean(x, M, weights = w)$mean), label = M$name)
  }
  # noise and bytes: others each time; at the law's distances
  M <- hyperbolic(2)
  draws <- t(matrix(call(5, M, c(1, 0, 0), 0.5), 3))
  expect_true(all(mf_is_point(M, draws)))
  expect_false(identical(draws, t(matrix(call(5, M, c(1, 0, 0), 0.5), 3))))
  expect_lt(abs(mean(mf_dist(M, c(1, 0, 0), draws)) - 4 / 3), 6 * sqrt(10 / 9 / 1000))
  expect_false(identical(call(6, M, 1:3, 1:3), call(6, M, 1:3, 1:3)))
  # statuses, and a library that goes on after them
  expect_identical(call(1, sphere(2), c(1, 0, 0), c(1, 1, 0)), "off_manifold")
  expect_identical(call(1, sphere(2), c(1, 1, 0), c(1, 0, 0)), "off_manifold")
  expect_identical(call(2, sphere(2), c(1, 0, 0), c(-1, 0, 0)), "cut_locus")
  expect_identical(call(3, sphere(2), c(1, 0, 0), c(1, 0, 0)), "not_tangent")
  expect_identical(call(1, list(name = "custom", param = c(2, 2)), c(1, 0), c(1, 0)), "manifold")
  expect_identical(call(4, sphere(2), c(1, 0, 0), -1), "argument")
  expect_identical(call(5, stiefel(3, 2), mf_random(stiefel(3, 2), 1), 1), "unsupported")
  expect_identical(call(1, sphere(2), c(1, 0, 0), c(0, 1, 0)), pi / 2)
})
