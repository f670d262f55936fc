# One adapter a peer and kind of work. An adapter turns records into the peer's own form (not timed), makes the call
# (timed) and turns the answer back (not timed). `settings` are the peer's own arguments; the bench tries them on a
# small draw of the same law and takes the cheapest that comes within 1e-9 of the oracle, or else the most accurate. Where there are
# settings the peer is timed as it comes, too, with `defaults` where a call has to name them.
#
# An entry is list(time = function(inner), answer = function()): CPU seconds of `inner` calls, and the last call's
# answer.

local_entry <- function(run, answer = identity) {
  last <- NULL
  list(
    time = function(inner) {
      if (!quick) gc(FALSE)
      start <- proc.time()
      for (i in seq_len(inner)) last <<- run()
      sum((proc.time() - start)[1:2])
    },
    answer = function() {
      if (is.null(last)) last <<- run()
      answer(last)
    }
  )
}

have <- function(package) requireNamespace(package, quietly = TRUE)

# Settings of one kind, from the cheapest to the dearest: the bench climbs until one is accurate enough
ladder <- function(kind, values, arguments) {
  lapply(values, function(value) list(label = sprintf("%s %g", kind, value), kind = kind, arguments = arguments(value)))
}

as_columns <- function(x) if (length(dim(x)) == 3) matrix(x, ncol = dim(x)[3]) else t(x)

peers <- list()

# ---- manifold --------------------------------------------------------------------------------------------------------
# frechetMean(tol, maxit, lam): steps along the mean logarithm, the i-th shortened by lam^i (.99); ends when the sum
# of squares changes by less than tol, relatively. The sum of squares is flat at the mean, so tol = 1e-9 stops at 1e-5
# to 1e-8, and below 1e-15 rounding decides: tol = 1e-300 runs maxit steps (a negative tol ends after one), lam = 1
# makes them full ones.

manifold_settings <- c(
  ladder("tolerance", c(1e-9, 1e-12, 1e-15), function(tol) list(tol = tol)),
  ladder("tolerance, lam=1", c(1e-12, 1e-15), function(tol) list(tol = tol, lam = 1)),
  ladder("full steps", c(4:10, 12, 15, 20, 30), function(m) list(tol = 1e-300, maxit = m, lam = 1))
)

manifold_mean <- function(class, shape) {
  list(settings = manifold_settings, quick = "full steps 8", make = function(d, setting) {
    M <- manifold::createM(class)
    x <- as_columns(d$x)
    arguments <- setting$arguments
    local_entry(function() suppressWarnings(do.call(manifold::frechetMean, c(list(M, x), arguments))), shape)
  })
}

as_square <- function(m) matrix(m, sqrt(length(m)))

manifold_batch <- function(class, work) {
  list(make = function(d, setting) {
    M <- manifold::createM(class)
    p <- as_columns(d$p)
    q <- as_columns(d$q)
    if (work == "dist") {
      # it reads its arguments by reference and may swap them: copies are its own affair
      return(local_entry(function() manifold::distance(M, p, q)))
    }
    v <- if (work == "exp") as_columns(d$v)
    if (class == "Sphere") {
      run <- if (work == "log") function() manifold::rieLog(M, p, q) else function() manifold::rieExp(M, p, v)
      return(local_entry(run, t))
    }
    # its tangent vectors are p^(-1/2) v p^(-1/2)
    k <- dim(d$p)[1]
    if (work == "log") {
      return(local_entry(function() manifold::rieLog(M, p, q), function(a) {
        list(at = d$check, value = lapply(d$check, function(i) {
          root <- symmetric_function(d$p[, , i], sqrt)
          root %*% matrix(a[, i], k) %*% root
        }))
      }))
    }
    for (i in seq_len(ncol(p))) {
      inverse <- symmetric_function(d$p[, , i], function(l) 1 / sqrt(l))
      v[, i] <- symmetric_function(inverse %*% d$v[, , i] %*% inverse, identity)
    }
    local_entry(function() manifold::rieExp(M, p, v), function(a) array(a, dim(d$p)))
  })
}

if (have("manifold")) {
  peers$manifold <- list(
    mean_spd_affine = manifold_mean("AffInv", as_square),
    mean_sphere = manifold_mean("Sphere", drop),
    pairs_spd_affine = list(make = function(d, setting) {
      M <- manifold::createM("AffInv")
      x <- as_columns(d$x)
      n <- ncol(x)
      # one against many is its cheapest form: the one's root is taken once
      local_entry(function() unlist(lapply(seq_len(n - 1), function(i) {
        manifold::distance(M, x[, i], x[, (i + 1):n, drop = FALSE])
      })))
    }),
    log_spd = manifold_batch("AffInv", "log"), exp_spd = manifold_batch("AffInv", "exp"),
    dist_spd = manifold_batch("AffInv", "dist"), log_sphere = manifold_batch("Sphere", "log"),
    exp_sphere = manifold_batch("Sphere", "exp"), dist_sphere = manifold_batch("Sphere", "dist")
  )
}

# ---- RiemBase --------------------------------------------------------------------------------------------------------
# rbase.mean(maxiter, eps): full steps from the extrinsic mean until one is shorter than eps. Its distances are acos
# (on Grassmann manifolds of single-precision numbers), which are 0 or noise below 1e-8 or 1e-4: eps stops too early
# or never. eps = -1 runs exactly maxiter steps. Its Stiefel logarithm is the canonical metric's, to 1e-6 inside.

riembase_settings <- c(
  ladder("eps", c(1e-6, 1e-8, 1e-10), function(e) list(eps = e, maxiter = 60)),
  ladder("steps", c(3:10, 12, 15, 20, 30), function(m) list(eps = -1, maxiter = m))
)

riembase_mean <- function(name, shape = identity) {
  list(settings = riembase_settings, quick = "steps 8", make = function(d, setting) {
    x <- RiemBase::riemfactory(if (name == "sphere") t(d$x) else d$x, name)
    arguments <- setting$arguments
    local_entry(function() do.call(RiemBase::rbase.mean, c(list(x), arguments)), function(a) shape(a$x))
  })
}

if (have("RiemBase")) {
  peers$RiemBase <- list(
    mean_spd_affine = riembase_mean("spd"), mean_sphere = riembase_mean("sphere", drop),
    mean_grassmann = riembase_mean("grassmann"), mean_stiefel_canonical = riembase_mean("stiefel"),
    pairs_spd_affine = list(make = function(d, setting) {
      x <- RiemBase::riemfactory(d$x, "spd")
      local_entry(function() RiemBase::rbase.pdist(x), function(a) a[lower.tri(a)])
    })
  )
}

# ---- GeodRegr --------------------------------------------------------------------------------------------------------
# intrinsic_location() and geo_reg(p_tol, V_tol): gradient descent with a step that is halved and enlarged, until a
# step is shorter than p_tol (and V changes by less than V_tol). Regression wants centred x.

geodregr_settings <- ladder("p_tol", 10^-(5:9), function(e) list(p_tol = e, V_tol = e, max_iter = 2000))

geodregr_mean <- function(name, native, shape) {
  list(settings = geodregr_settings, quick = "p_tol 1e-05", make = function(d, setting) {
    y <- native(d$x)
    arguments <- setting$arguments
    local_entry(function() {
      suppressWarnings(do.call(GeodRegr::intrinsic_location, c(list(name, y, "l2"), arguments)))
    }, shape)
  })
}

geodregr_regression <- function(name, native, shape) {
  list(settings = geodregr_settings, quick = "p_tol 1e-05", make = function(d, setting) {
    y <- native(d$y)
    x <- d$x - mean(d$x)
    arguments <- setting$arguments
    local_entry(function() suppressWarnings(do.call(GeodRegr::geo_reg, c(list(name, x, y, "l2"), arguments))), function(a) {
      # the fitted line where x is 0 and 1
      v <- drop(a$V)
      speed <- sqrt(sum(Mod(v)^2))
      t <- (0:1 - mean(d$x)) * speed
      shape(outer(drop(a$p), cos(t)) + outer(v / speed, sin(t)))
    })
  })
}

if (have("GeodRegr")) {
  peers$GeodRegr <- list(
    mean_sphere = c(geodregr_mean("sphere", t, drop), most_coordinates = 100), # minutes with 784 coordinates
    mean_kendall = geodregr_mean("kendall", preshape, drop),
    mean_ball = geodregr_mean("hyperbolic", function(x) t(ball_to_hyperboloid(x)),
                              function(a) drop(hyperboloid_to_ball(matrix(a, 1)))),
    regression_sphere = geodregr_regression("sphere", t, function(p) c(p)),
    regression_kendall = geodregr_regression("kendall", preshape, function(p) c(rbind(Re(p), Im(p))))
  )
}

# ---- shapes ----------------------------------------------------------------------------------------------------------
# procGPA() finds the full Procrustes mean, another mean: its time is printed, it is not compared with. frechet(mean =
# "intrinsic") minimises the same functional as riemdp, by nlm() with numerical derivatives: 109 s for 60 shapes of 50
# landmarks (error 2e-8), too slow to be timed here. estcov() computes all pairs of distances on the way to a mean of
# covariance matrices, so its cost is quadratic in n: not timed.

if (have("shapes")) {
  shapes_landmarks <- function(x) {
    out <- array(0, c(nrow(x), 2, ncol(x)))
    out[, 1, ] <- Re(x)
    out[, 2, ] <- Im(x)
    out
  }
  planar <- function(m) complex(real = m[, 1], imaginary = m[, 2])
  peers[["shapes procGPA"]] <- list(
    mean_kendall = list(other = TRUE, make = function(d, setting) {
      x <- shapes_landmarks(d$x)
      local_entry(function() shapes::procGPA(x, tol1 = 1e-12, distances = FALSE, pcaoutput = FALSE),
                  function(a) planar(a$mshape))
    })
  )
}

# ---- peers in Python -------------------------------------------------------------------------------------------------
# A worker is a process that answers requests through files of its directory: worker.py.

find_python <- function(module) {
  candidates <- c(Sys.getenv("RIEMDP_BENCH_PYTHON"), "python3")
  for (python in candidates[nzchar(candidates)]) {
    if (!nzchar(Sys.which(python))) next
    status <- suppressWarnings(system2(python, c("-c", shQuote(paste("import", module))), stdout = FALSE, stderr = FALSE))
    if (status == 0) return(python)
  }
  NULL
}

start_worker <- function(worker, python, script, directory) {
  worker$directory <- directory
  worker$number <- 0
  dir.create(directory)
  log <- file.path(directory, "log")
  # the worker ends with the shell that runs it, which ends with this process's request to quit or with the directory
  system2(python, c(shQuote(script), shQuote(directory)), wait = FALSE, stdout = log, stderr = log)
  ready <- file.path(directory, "ready")
  for (i in 1:1200) {
    if (file.exists(ready)) break
    Sys.sleep(0.05)
  }
  if (!file.exists(ready)) return(FALSE)
  worker$version <- readLines(ready, warn = FALSE)
  TRUE
}

# numbers of the reply
ask_worker <- function(to, ...) {
  request <- list(...)
  to$number <- to$number + 1
  path <- function(stem) file.path(to$directory, paste0(stem, "-", to$number))
  writeLines(paste0(names(request), "=", vapply(request, format, "", digits = 15, scientific = NA)), path("part"))
  file.rename(path("part"), path("request"))
  if (identical(request$work, "quit")) return(invisible(0))
  while (!file.exists(path("reply"))) Sys.sleep(0.003)
  reply <- readLines(path("reply"))
  unlink(c(path("reply"), path("request")))
  if (startsWith(reply, "error")) stop(request$work, ": ", reply)
  as.double(strsplit(reply, " ")[[1]])
}

# ---- geomstats -------------------------------------------------------------------------------------------------------
# FrechetMean(method).set(epsilon, max_iter): steps along the mean logarithm from the first record until the squared
# norm of the step is below epsilon times the dimension ("default"), or below epsilon squared ("adaptive").

geomstats <- new.env()

start_geomstats <- function(python, bench, scratch) {
  geomstats$arrays <- 0
  start_worker(geomstats, python, file.path(bench, "geomstats-worker.py"), file.path(scratch, "geomstats"))
}

ask_geomstats <- function(...) ask_worker(geomstats, ...)

geomstats_file <- function(x) {
  geomstats$arrays <- geomstats$arrays + 1
  name <- paste0("array-", geomstats$arrays)
  writeBin(as.double(x), file.path(geomstats$directory, name))
  name
}

geomstats_entry <- function(kind, work, a, b, arrays, answer, setting = NULL) {
  files <- paste(vapply(arrays, geomstats_file, ""), collapse = ",")
  ask <- function(inner) {
    ask_geomstats(kind = kind, work = work, a = a, b = b, files = files, inner = inner, out = "answer",
                  epsilon = if (is.null(setting)) 0 else setting$arguments$epsilon, max_iter = 500,
                  method = if (is.null(setting)) "none" else setting$arguments$method)
  }
  done <- FALSE
  list(
    time = function(inner) {
      done <<- TRUE
      ask(inner)
    },
    answer = function() {
      if (!done) ask(1)
      path <- file.path(geomstats$directory, "answer")
      answer(readBin(path, "double", file.size(path) / 8))
    }
  )
}

geomstats_settings <- c(
  ladder("default, epsilon", 10^-(seq(14, 24, 2)), function(e) list(epsilon = e, method = "default")),
  ladder("adaptive, epsilon", 10^-(8:10), function(e) list(epsilon = e, method = "adaptive"))
)

geomstats_mean <- function(kind, native = identity, shape = drop, settings = geomstats_settings) {
  list(settings = settings, defaults = list(epsilon = 1e-4, method = "default"), make = function(d, setting) {
    size <- if (is.complex(d$x)) c(nrow(d$x), 2) else if (is.matrix(d$x)) c(ncol(d$x), 1) else dim(d$x)[1:2]
    geomstats_entry(kind, "mean", size[1], size[2], list(native(d$x)), function(a) shape(a, size), setting)
  })
}

square <- function(a, size) {
  a <- matrix(a, size[1])
  (a + t(a)) / 2
}

geomstats_batch <- function(kind, work) {
  force(work) # the last of a loop's otherwise
  list(make = function(d, setting) {
    native <- if (kind == "sphere") t else identity
    arrays <- switch(work, log = , dist = list(d$p, d$q), exp = list(d$p, d$v), transport = list(d$p, d$q, d$v))
    size <- if (kind == "sphere") ncol(d$p) else dim(d$p)[1]
    geomstats_entry(kind, work, size, 1, lapply(arrays, native), function(a) {
      if (work == "dist") a else if (kind == "sphere") matrix(a, ncol = size, byrow = TRUE) else array(a, dim(d$p))
    })
  })
}

add_geomstats <- function(peers) {
  landmarks <- function(x) { # record, landmark, coordinate, the last fastest
    aperm(array(c(Re(x), Im(x)), c(dim(x), 2)), c(3, 1, 2))
  }
  projectors <- function(x) apply(x, 3, tcrossprod)
  peers$geomstats <- list(
    mean_spd_affine = geomstats_mean("spd_affine", shape = square),
    mean_spd_bures = geomstats_mean("spd_bures", shape = square),
    mean_sphere = geomstats_mean("sphere", t, function(a, size) a),
    # the hyperboloid: its maps are cheaper there than in the ball
    mean_ball = geomstats_mean("hyperboloid", function(x) t(ball_to_hyperboloid(x)),
                               function(a, size) drop(hyperboloid_to_ball(matrix(a, 1)))),
    mean_kendall = geomstats_mean("kendall", landmarks, function(a, size) {
      complex(real = a[c(TRUE, FALSE)], imaginary = a[c(FALSE, TRUE)])
    }),
    mean_grassmann = geomstats_mean("grassmann", projectors, function(a, size) {
      eigen(square(a, c(size[1], size[1])), symmetric = TRUE)$vectors[, seq_len(size[2])]
    }),
    mean_stiefel_canonical = geomstats_mean("stiefel", shape = function(a, size) matrix(a, size[1], byrow = TRUE),
                                            settings = geomstats_settings[c(3, 4)]),
    pairs_spd_affine = list(make = function(d, setting) {
      geomstats_entry("spd_affine", "pairs", dim(d$x)[1], 1, list(d$x), identity)
    })
  )
  for (work in c("log", "exp", "dist", "transport")) {
    peers$geomstats[[paste0(work, "_spd")]] <- geomstats_batch("spd_affine", work)
    peers$geomstats[[paste0(work, "_sphere")]] <- geomstats_batch("sphere", work)
  }
  peers
}
