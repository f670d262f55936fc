# Small valid arguments for every exported function, every S3 method and every .Call entry. tools/fuzz breaks them,
# tools/gctorture uses them as they are. What is missing here stops both, so that no new function is forgotten.

namespace <- asNamespace("riemdp")
entries <- getDLLRegisteredRoutines("riemdp")$.Call

# the manifolds of the tests, as far as they are small
small_manifolds <- function() {
  helper <- new.env()
  for (f in list.files("tests/testthat", "^helper.*[.]R$", full.names = TRUE)) sys.source(f, helper)
  Filter(function(case) mf_facts(case$M)$ambient <= 16, helper$all_manifolds())
}

# Points, tangent vectors, coordinates: list(M, p, q, x, v, u, a, t, one, n). `many` says whether p holds many records;
# `form` is "plain", "points" (mf_points) or "frame" (a data frame).
make_context <- function(case, many, form, n = 4L) {
  M <- case$M
  d <- mf_facts(M)$dimension
  one <- if (M$name == "custom") M$functions$random(1)[1, ] else single(M, mf_random(M, 1, sd = 0.4))
  length <- 0.4 * min(case$reach, 1)
  near <- function(count) {
    v <- mf_from_coords(M, one, if (d == 1) runif(count, -length, length) else
      matrix(runif(count * d, -1, 1) * length / sqrt(d), count))
    mf_exp(M, one, v)
  }
  x <- near(n)
  p <- if (many) near(n) else one
  count <- if (many) n else sample(c(1L, n), 1)
  tangents <- function() {
    a <- if (d == 1 || count == 1) runif(count * d, -0.3, 0.3) / d else matrix(runif(count * d, -0.3, 0.3) / d, count)
    if (count == 1) a <- as.vector(a)
    list(a = a, v = mf_from_coords(M, p, a))
  }
  one_tangent <- tangents()
  out <- list(M = M, p = p, q = if (many && runif(1) < 0.5) one else near(n), x = x, v = one_tangent$v, u = tangents()$v,
              a = one_tangent$a, t = runif(count), one = one, n = n)
  if (form == "points") {
    for (i in c("q", "x", if (many) "p")) {
      if (length(out[[i]]) > length(one)) out[[i]] <- mf_points(out[[i]], M)
    }
  } else if (form == "frame" && is.matrix(x) && mf_facts(M)$rows == 0) {
    out$x <- as.data.frame(x)
    if (is.matrix(out$q)) out$q <- as.data.frame(out$q)
  }
  list2env(out, parent = emptyenv())
}

single <- function(M, x) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols > 0) matrix(x[seq_len(facts$rows * facts$cols)], facts$rows) else as.vector(x)
}

make_pool <- function() {
  pool <- list()
  for (case in small_manifolds()) {
    for (many in c(FALSE, TRUE)) {
      for (form in c("plain", "points", "frame")) pool[[length(pool) + 1]] <- make_context(case, many, form)
    }
  }
  pool
}

pick <- function(...) sample(c(...), 1)

# made once a context: they are slow
keep <- function(k, name, value) {
  if (is.null(k[[name]])) k[[name]] <- value
  k[[name]]
}

# Kinds of arguments. RECORDS are those whose numbers no message may tell.
RECORDS <- c("points", "point_texts", "point_rows", "tangents", "x_or_tally", "in_chunks", "chunked_any", "exact_parts", "plane_rows", "lm_data", "glm_data",
             "lm_data_any", "curve_data_any", "lm_x_any", "fit_x", "p", "q", "x", "v", "u", "a", "t", "pv", "weights", "landmarks", "curve_data", "times",
             "velocity", "product_points", "product_rows", "places")
kinds <- list(
  M = function(k) k$M, p = function(k) k$p, q = function(k) k$q, x = function(k) k$x, v = function(k) k$v,
  u = function(k) k$u, a = function(k) k$a, t = function(k) k$t, one = function(k) k$one,
  weights = function(k) if (runif(1) < 0.5) runif(k$n),
  start = function(k) if (runif(1) < 0.5) k$one,
  count = function(k) as.double(sample(5, 1)), whole = function(k) as.double(sample(2:4, 1)),
  tol = function(k) pick(1e-10, 1e-6), iterations = function(k) pick(20, 100), memory = function(k) pick(0, 6),
  number = function(k) runif(1), positive = function(k) runif(1) + 0.1, small = function(k) runif(1) * 0.2 + 0.05,
  radius = function(k) pick(0.05, 0.2, 0.35), sigma = function(k) pick(0.02, 0.1), flag = function(k) pick(TRUE, FALSE),
  pca_mechanism = function(k) pick("auto", "gauss", "laplace", "wishart", "bingham", "rgd"),
  pga_from = function(k) pick("auto", "center", "mean"),
  yes = function(k) TRUE, zero = function(k) 0, seed = function(k) 1,
  law = function(k) pick("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat"), kng_law = function(k) pick("kng", "laplace_truncated"),
  law_scale = function(k) sample(list(0.02, 0.5, Inf, c(0.1, 0.2, 0.1), c(0.1, 0.2, 0.3)), 1)[[1]],
  grid_law = function(k) pick("median", "kng", "laplace_truncated"), lattice_dim = function(k) pick(1, 2, 7, 20, 128),
  chain_proposal = function(k) pick("isotropic", "published"),
  mean_target = function(k) pick("frechet", "arithmetic"),
  law_any = function(k) pick("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat", "staircase", "tangent", "tangent_gaussian"),
  laws = function(k) sample(list(0.02, 0.1, c(0.02, 0.1, 0.05)), 1)[[1]],
  kng_scales = function(k) sample(list(0.02, 0.1, Inf, c(0.02, 0.1), c(0.1, Inf), c(0.05, 0.02, 0.1), c(Inf, 0.1, Inf)), 1)[[1]],
  bounds = function(k) with(mf_facts(k$M), c(max(k_min, -1), min(k_max, 1))), rho = function(k) runif(3),
  epsilon = function(k) pick(0.5, 1, 10), any = function(k) pick(1, NA, "a"),
  method = function(k) pick("lbfgs", "gradient"), transport = function(k) pick("parallel", "isometric", "pole"),
  mechanism = function(k) pick("auto", "laplace", "wrapped", "tangent", "euclidean", "pointwise", "chain", "kng",
                                  "laplace_truncated", "staircase_truncated"),
  law_name = function(k) pick("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat"), distance = function(k) pick(0.01, 0.05),
  epsilons = function(k) c(0, 0.5, 2),
  calibration = function(k) pick("proven", "paper"), invalid = function(k) pick("error", "center"),
  neighbours = function(k) pick("replace", "add_remove"),
  metric_spd = function(k) pick("affine", "bures", "logeuclidean", "log-cholesky"), metric_correlation = function(k) pick("off-log", "logcholesky"),
  metric_simplex = function(k) "aitchison", metric_stiefel = function(k) pick("euclidean", "canonical"),
  model = function(k) pick("hyperboloid", "ball"), label = function(k) "a label",
  exp = function(k) function(p, v) p + v, log = function(k) function(p, q) q - p,
  inner = function(k) function(p, u, v) rowSums(u * v), project = function(k) function(x) x,
  project_tangent = function(k) function(p, v) v, transport_function = function(k) function(p, q, v) v,
  check = function(k) function(x) rep(TRUE, nrow(x)), random = function(k) function(n) matrix(0, n, 2),
  places = function(k) data.frame(a = runif(3, -0.2, 0.2), b = runif(3, -3, 3)), angle_unit = function(k) pick("degrees", "radians"),
  place_order = function(k) pick("latlong", "longlat"), three = function(k) 3,
  tps_file = function(k) keep(k, "tps_file", {
    path <- tempfile(fileext = ".tps")
    writeLines(c("LM=3", "0 0", "1 0", "0 1", "ID=a", "LM=3", "0 0", "2 x"), path)
    path
  }),
  nts_file = function(k) keep(k, "nts_file", {
    path <- tempfile(fileext = ".nts")
    writeLines(c("'two", "1 2L 6 1 9", "a b", "0 0 1 0 0 1", "0 0 2 x"), path)
    path
  }),
  to_point = function(k) function(x) x, pulled = function(k) pullback(sphere(2), function(x) x, function(y) y),
  whole_sphere = function(k) sphere(2), both_signs = function(k) list(diag(3), -diag(3)),
  north = function(k) c(0, 0, 1),
  five_landmarks = function(k) array(rnorm(30), c(5, 2, 3)), five_template = function(k) cbind(c(0, 1, 1, 0, 0.5), c(0, 0, 1, 1, 0.2)),
  five_space = function(k) kendall(5), landmark_triples = function(k) t(c(1, 5, 2)), one_pair_of_landmarks = function(k) t(c(1, 2)),
  two = function(k) 2, minus = function(k) -1, product = function(k) product(a = sphere(2), b = spd(2)),
  product_points = function(k) list(a = rbind(c(0, 0, 1), c(1, 0, 0)), b = diag(2)),
  product_rows = function(k) rbind(c(0, 0, 1, 1, 0, 0, 1), c(1, 0, 0, 2, 0, 0, 1)),
  problem_kind = function(k) pick("frechet", "huber", "callback"), n = function(k) as.double(k$n), one_pair = function(k) pick(1, 3),
  callback = function(k) function(p, which) matrix(0.1, length(p) + 1, length(which)),
  optim_settings = function(k) {
    list(sampling = pick("full", "without-replacement", "poisson", "disjoint"), output = pick("last", "average", "random"), steps = 4, batch = 2,
         lots = pick(0, 2), rate = 0.5, divisor = 3, clip = 0.5, sd = 0.05, inner = pick(0, 0, 2), snapshot_clip = 1, snapshot_sd = 0.1,
         snapshot_divisor = 3, paper = pick(FALSE, TRUE), restarts = 2, radius = 0.3, lr = 0.1, until = pick(1, 3, 8),
         individual = list(NULL, NULL, 1, 3)[[pick(1, 2, 3, 4)]],
         units = list(NULL, list(rows = 1:2, first = 0:2), list(rows = c(2L, 1L, 1L), first = c(0L, 3L, 3L)))[[pick(1, 2, 3)]])
  },
  optim_state = function(k) {
    p <- mf_facts(k$M)
    if (runif(1) < 0.5) NULL else c(0, pick(0, 1), 2, rep(if (p$rows == 0) as.double(k$one) else rep(0, p$ambient), 3), double(2 * p$ambient))
  },
  budget = function(k) dp_ledger(NULL, 50, 1e-5), checkpoint_file = function(k) tempfile(fileext = ".rds"),
  paused_file = function(k) pause(k)$file, paused_problem = function(k) pause(k)$problem, paused_ledger = function(k) pause(k)$ledger,
  loss = function(k) function(w, z) 1, own_gradient = function(k) function(w, z) 0 * w, sphere = function(k) sphere(2),
  problem = function(k) if (runif(1) < 0.5) problem_frechet(k$M) else problem_huber(k$M, 0.5),
  solver = function(k) pick("lbfgs", "conjugate", "gradient"), table = function(k) matrix(runif(12), 4),
  optimum = function(k) keep(k, "optimum", riemannian_optimize(problem_frechet(k$M), k$x, k$one, tol = 1e-4)),
  private_optimum = function(k) keep(k, "private_optimum", dp_optimize(problem_huber(k$M, 0.5), k$x, 1, 1e-6, start = k$one, steps = 2, lr = 0.1)),
  tangent_law = function(k) pick("gaussian", "laplace"), tangent_way = function(k) pick("isometric", "basis", "gram-schmidt", "chain"),
  tangent_law_name = function(k) "gaussian",
  tangent_method = function(k) pick("isometric", "basis", "gram-schmidt", "chain"),
  lattice_law = function(k) pick("l2", "laplace", "gaussian"),
  lattice_law_any = function(k) pick("l2", "laplace", "gaussian", "balanced", "staircase", "joint"),
  lattice_scale = function(k) c(sample(2000, 1), sample(3, 1)),
  local_radius = function(k) pick(0.1, 0.3, Inf), local_law = function(k) pick("laplace", "wrapped", "vmf", "privunit"),
  local_sigma = function(k) list(0.02, 0.1, c(0.5, 0.3))[[pick(1, 2, 3)]], local_mechanism = function(k) pick("auto", "laplace", "vmf", "privunit", "wrapped"),
  local_per = function(k) list(NULL, 0.1, 2)[[pick(1, 2, 3)]], numerics = function(k) pick("auto", "lattice", "real"),
  growth = function(k) pick(1, 1.1, 5), place_bits = function(k) pick(1, 8, 48), small_ratio = function(k) c(sample(50, 1), sample(100, 1)),
  joint_scale = function(k) c(1000, 1, pick(0, 500), pick(0, 200), 500, mf_facts(k$M)$dimension, pick(0, 1)),
  group_records = function(k) list(k$x, NULL, k$x), coords_one = function(k) rep(0.1, mf_facts(k$M)$dimension),
  unit_codes = function(k) sample(c(1:2, NA), k$n, TRUE), gathered = function(k) sample(c(0:2, NA), k$n + 1, TRUE),
  steps_numbers = function(k) list(radius = 0.1, step = 0.5, steps = pick(1, 5), bits = 40, base = 0.1, terms = pick(1, 8), accept = pick(0, 1e-3),
                                   carried = pick(TRUE, FALSE), tangent = pick(TRUE, FALSE)),
  kng_bounds = function(k) list(radius = 0.1, step = 0.5, steps = pick(1, 5), bits = 40, base = 0.1, terms = pick(1, 8), accept = pick(0, 1e-3),
                                carried = TRUE, tangent = FALSE, gradient = 1e-10),
  law_bounds = function(k) {
    wide <- kinds$kng_bounds(k)
    if (runif(1) < 0.5) return(wide)
    c(wide, list(whole = utils::modifyList(wide[names(wide) != "gradient"], list(radius = pick(0.1, 1, 10, 31)))))
  },
  lattice_step = function(k) pick(8, 20),
  steps_radius = function(k) 0.1, key_bytes = function(k) as.raw(sample(0:255, 32, TRUE)), nonce_bytes = function(k) as.raw(sample(0:255, 12, TRUE)),
  secret_bytes = function(k) as.raw(sample(0:255, 44, TRUE)), lane_set = function(k) pick(0, 1),
  dim = function(k) pick(1, 3, 7), wide = function(k) pick(0.5, 40),
  operation = function(k) pick("exp", "coords", "project_tangent"), pv = function(k) list(k$p, k$v),
  fit = function(k) keep(k, "fit", frechet_mean(k$x, k$M, tol = 1e-6)),
  release = function(k) keep(k, "release", dp_mean(k$x, k$M, 1, k$one, 0.1, mechanism = "wrapped")),
  bounds_plan = function(k) keep(k, "bounds_plan", dp_bounds_plan(euclidean(1), 50, 1, public = 1:5 / 5, radii = c(0.1, 1))),
  group_release = function(k) keep(k, "group_release", dp_mean(runif(9), euclidean(1), 1, 0, 3, by = gl(3, 3))),
  group_difference = function(k) {
    keep(k, "group_difference", mean_difference(dp_mean(runif(9), euclidean(1), 1, 0, 3), dp_mean(runif(9), euclidean(1), 1, 0, 3)))
  },
  private_median = function(k) keep(k, "private_median", dp_median(cbind(runif(4), 0), euclidean(2), 1, c(0, 0), 3)),
  private_variance = function(k) keep(k, "private_variance", dp_variance(cbind(runif(4), 0), euclidean(2), 1, c(0, 0), 3)),
  private_components = function(k) keep(k, "private_components", dp_pca(cbind(runif(4), 0, 1), 1, 1, bound = 2)),
  private_covariance = function(k) keep(k, "private_covariance", dp_covariance(cbind(runif(4), 0), euclidean(2), 1, c(0, 0), 3, at = c(0, 0))),
  private_modes = function(k) keep(k, "private_modes", dp_pga(cbind(runif(4), 0), euclidean(2), 1, c(0, 0), 3)),
  private_test = function(k) {
    keep(k, "private_test", dp_test(cbind(runif(6), 0), euclidean(2), epsilon = 1, group = c(1, 1, 1, 2, 2, 2), bandwidth = 1, draws = 99))
  },
  test_groups = function(k) rep_len(c(1, 1, 2), k$n),
  test_simulate = function(k) {
    x <- k$x
    group <- rep_len(c(1, 1, 2), k$n)
    function() list(x = x, group = group)
  },
  lots = function(k) 99, any_test = function(k) pick(function(d) runif(1), function(d) stop("no"), function(d) NULL),
  private_selection = function(k) {
    keep(k, "private_selection", dp_select(1:2, function(candidate, epsilon) dp_mean(cbind(1:9, 2), euclidean(2), epsilon, c(5, 2), 6),
                                           function(r, candidate) candidate, 1, tries = 2))
  },
  any_try = function(k) pick(function(candidate, epsilon) dp_mean(cbind(1:9, 2), euclidean(2), epsilon, c(5, 2), 6), function(candidate, epsilon) NULL),
  any_score = function(k) pick(function(r, candidate) runif(1), function(r, candidate) NA, function(r, candidate) stop("no")),
  test_columns = function(k) matrix(runif(8), 2), test_labels = function(k) matrix(sample(0:1, 12, TRUE), 4), whole_weights = function(k) as.double(1:4),
  kernel_kind = function(k) pick("gaussian", "angle", "hyperbolic", "squares"),
  kernel_kinds = function(k) list("gaussian", pick("gaussian", "angle")), kernel_widths = function(k) list(1, 2),
  test_orders = function(k) matrix(sample(4L), 4, 2), test_statistic = function(k) pick("kernel", "variance", "anova"),
  private_points = function(k) keep(k, "private_points", dp_local(cbind(runif(4), 0), euclidean(2), 1, per = 1)),
  private_prediction = function(k) keep(k, "private_prediction", dp_conformal(cbind(runif(9), 0), euclidean(2), 9, c(0, 0), 3,
                                                                                level = 0.3)),
  prediction = function(k) predict(kinds$private_prediction(k)), plane_points = function(k) cbind(runif(4), 0),
  conformal_invalid = function(k) pick("error", "at"),
  trend_statistic = function(k) pick("score", "fit"), curve_covariance = function(k) pick("model", "sandwich", "bootstrap"),
  whole_misses = function(k) as.double(sample(0:9, 5, TRUE)),
  private_scale = function(k) keep(k, "private_scale", dp_residual_scale(kinds$lm_release(k), kinds$lm_data(k), 1)),
  scaled_release = function(k) if (runif(1) < 0.5) kinds$lm_release(k) else kinds$curve_release(k),
  scaled_data = function(k) if (runif(1) < 0.5) kinds$lm_data(k) else kinds$curve_data(k),
  band_about = function(k) pick("estimate", "population"),
  private_ball = function(k) keep(k, "private_ball", dp_ball(runif(4), euclidean(1), 1, 0, 3)),
  guarantee = function(k) guarantee(kinds$release(k)), points = function(k) mf_points(k$x, k$M),
  x_or_texts = function(k) if (runif(1) < 0.7) k$x else as.character(kinds$points(k)),
  point_texts = function(k) pick(list(kinds$points(k), as.character(kinds$points(k))))[[1]], no = function(k) FALSE,
  point_rows = function(k) as.matrix(mf_points(k$x, k$M)), tangents = function(k) mf_log(k$M, k$one, mf_points(k$x, k$M)),
  points_summary = function(k) summary(mf_points(k$x, k$M)),
  norm = function(k) pick("entries", "frobenius", "vech"),
  perturbation_norm = function(k) if (runif(1) < 0.3) c(1, 1, 2) else pick("vertex", "max", "length", "normal"),
  counts = function(k) as.double(c(sample(5, 2), 1)),
  twofold = function(k) pick("add", "divide", "sine", "log", "angle"), three_numbers = function(k) runif(6),
  chain_counts = function(k) list(burn_in = sample(5, 1), keep = sample(0:3, 1), thin = sample(2, 1)),
  chain_start = function(k) pick(list(NULL, TRUE, k$one))[[1]],
  scales = function(k) if (runif(1) < 0.5) double() else runif(mf_facts(k$M)$ambient) + 0.01,
  chain_target = function(k) pick("kng", "laplace"), proposal = function(k) pick("isotropic", "published"),
  chain_from = function(k) pick("spread", "center", "mean"), position = function(k) pick("index", "arclength"),
  landmarks = function(k) if (k$M$name == "kendall") k$x else complex(real = runif(9), imaginary = runif(9)),
  template = function(k) if (k$M$name == "kendall") k$one else complex(real = runif(9), imaginary = runif(9)),
  directions = function(k) if (mf_facts(k$M)$rows == 0) matrix(runif(mf_facts(k$M)$ambient), ncol = 1) else k$v,
  public_subspace = function(k) keep(k, "subspace", subspace(sphere(2), c(0, 0, 1), c(1, 0, 0))),
  subspace_plan = function(k) keep(k, "subspace_plan", dp_mean_plan(sphere(2), 50, 1, radius = 0.1, reduce = subspace(sphere(2), c(0, 0, 1), c(1, 0, 0)))),
  region = function(k) confint(kinds$release(k)),
  ellipsoid = function(k) keep(k, "ellipsoid", {
    x <- cbind(runif(40), 0)
    m <- dp_mean(x, euclidean(2), 1, c(0, 0), 3)
    confint(m, covariance = dp_covariance(x, euclidean(2), 1, c(0, 0), 3, at = m))
  }), mean_plan = function(k) keep(k, "plan", dp_mean_plan(k$M, 50, 1, k$one, 0.1)),
  region_plan = function(k) keep(k, "region_plan", dp_region_plan(k$M, 50, 1, k$one, 0.1, spread = 0.05)),
  spaces_table = function(k) keep(k, "spaces_table", mechanism_table(sphere(2), n = 50)),
  chain = function(k) keep(k, "chain", nonprivate_chain(k$x, k$M, 0.1, k$one, 0.1, chains = 2, iterations = 4, burn_in = 1)),
  ledger = function(k) {
    ledger <- dp_ledger(NULL, 50, 1e-5, sample(names(riemdp:::LEDGER_RULES), 1))
    try(ledger_spend(ledger, event_pure(0.1)), silent = TRUE) # not every rule prices it
    ledger
  },
  ledger_receipt = function(k) ledger_receipt(ledger_spend(dp_ledger(NULL, 1), event_pure(0.1))),
  ledger_check = function(k) ledger_verify(dp_ledger(NULL, 1)), ledger_page = function(k) ledger_report(dp_ledger(NULL, 1)),
  no_path = function(k) NULL, rule = function(k) sample(names(riemdp:::LEDGER_RULES), 1), delta = function(k) 1e-6, note = function(k) "a note",
  data_sets = function(k) pick(list("default", c("default", "more"), list(default = c("a", "b"))))[[1]],
  quotas = function(k) c(ben = 0.3, anna = pick(0.1, 1)), analyst = function(k) pick("anna", "ben"),
  ledger_event = function(k) pick(list(event_pure(0.1), event_pure(0.2)))[[1]],
  event = function(k) pick_event(), step_event = function(k) list(event_gaussian(1), event_laplace(2), event_pure(0.5))[[sample(3, 1)]],
  runs_mean = function(k) pick(1.5, 20), pure_event = function(k) event_pure(0.3), noise_event = function(k) event_gaussian(1.5),
  mass_pair = function(k) c(0.25, 0.75),
  variation = function(k) pick(0.01, 0.1), common = function(k) pick(1, 1.2),
  share = function(k) pick(0.01, 0.3), delta_small = function(k) pick(1e-9, 1e-5, 0.1),
  accountant = function(k) sample(riemdp:::ACCOUNTANTS, 1), conversion = function(k) sample(riemdp:::RDP_CONVERSIONS, 1),
  unit = function(k) pick(names(riemdp:::LEDGER_RULES)), orders = function(k) c(1.5, 2, 8), rdp_values = function(k) c(0.1, 0.2, 0.5),
  json = function(k) {
    pick(event_to_json(event_compose(event_gaussian(1), event_pure(0.1), times = 3)), "{\"class_name\": \"NoOpDpEvent\"}", "{")
  },
  keys_kind = function(k) pick("public", "private"), adjacency = function(k) pick("replace-one", "add-remove"),
  make_event = function(k) list(event_gaussian, function(s) event_compose(event_gaussian(s), times = 3))[[sample(2, 1)]],
  price = function(k) dp_epsilon(event_gaussian(1), 1e-5), tradeoff = function(k) dp_tradeoff(event_gaussian(1), c(0.1, 0.5)),
  accountants_table = function(k) dp_accountants(event_gaussian(1), 1e-5),
  pld_pair = function(k) riemdp:::smooth_pair(pick("gaussian", "laplace", "exchange"), 2, pick(1, 0.1), pick(FALSE, TRUE), moves = c(0.3, 2),
                                               weights = c(0.4, 0.6)),
  moves = function(k) pick(c(0, 1), c(0.2, 3)),
  pld_range = function(k) c(-1, 1),
  fft_numbers = function(k) if (pick(TRUE, FALSE)) runif(16) else c(1 + 0i, 0.5 - 1i, 0.2 + 0i),
  pld_grid = function(k) list(step = 0.01, first = -50, bins = 100, parts = sample(0:4, 1)),
  ratio_law = function(k) list(mass = c(0.2, 0.5, 0.3), first = -1, coarse = 1),
  coarse_law = function(k) pick(list(NULL, list(mass = c(0.6, 0.4), first = -1, coarse = 4)))[[1]],
  spread_grid = function(k) list(step = 0.1, refine = pick(1, 2), first = -10, bins = 60),
  value_law = function(k) list(mass = c(0.2, 0.5, 0.3), value = c(0.5, 1, 1.6)), value_edges = function(k) c(0, 1, 2),
  merge_grid = function(k) list(step = 0.1, first = -10, bins = 20, down = pick(FALSE, TRUE)),
  losses = function(k) seq(-0.9, 0.9, 0.3), masses = function(k) rep(1 / 7, 7),
  lm_step = function(k) 0.04, lm_knots = function(k) 200, lm_x = function(k) rbind(1, seq(-1, 1, length.out = 6)),
  lm_y = function(k) matrix(seq(-1, 2, length.out = 12), 2), lm_ridge = function(k) matrix(1, 2, 2), lm_centre = function(k) matrix(0.1, 2, 2),
  lm_loss = function(k) list(tau = 1, step = 0.04, g = c(0, 0.04, 0.06, 0.07)), lm_solver = function(k) list(eta = 1e-8, steps = pick(0, 20), reach = 2),
  # fits of two responses by a loss of their lengths, or of one by a table; as the arguments of one call go together
  one_response = function(k) keep(k, "one_response", runif(1) < 0.3),
  fit_loss = function(k) if (!kinds$one_response(k)) kinds$lm_loss(k) else {
    list(tau = 1, step = 0.5, g = c(-4, -0.5, 0, 0.5, 4), first = -1, added = pick(FALSE, TRUE))
  },
  fit_x = function(k) if (kinds$one_response(k)) kinds$lm_x_shares(k) else kinds$lm_x_any(k),
  fit_y = function(k) kinds$lm_y(k)[seq_len(2 - kinds$one_response(k)), , drop = FALSE],
  fit_ridge = function(k) kinds$lm_ridge(k)[seq_len(2 - kinds$one_response(k)), , drop = FALSE],
  fit_centre = function(k) kinds$lm_centre(k)[seq_len(2 - kinds$one_response(k)), , drop = FALSE],
  lm_huber = function(k) list(tau = 1, step = 0.04, g = riemdp:::huber_loss()), lm_kng = function(k) list(rate = 0.1, radius = 3, trials = 100, last = 100),
  lm_draw = function(k) list(norm = if (runif(1) < 0.3) c(1, 1) else pick("vertex", "max", "length"), rate = 0.5, cover = 100, output = pick(FALSE, TRUE)),
  lm_formula = function(k) pick(cbind(y, z) ~ x, cbind(y, z) ~ bs(x, knots = c(0.2, 0.5)), cbind(y, z) ~ ns(x, 3), cbind(y, z) ~ poly(x, 2)),
  lm_x_shares = function(k) if (runif(1) < 0.5) kinds$lm_x(k) else {
    structure(kinds$lm_x(k), share = structure(c(0.5, 0.5, 1, 0, 0.25, 0.75), units = 3))
  },
  lm_x_any = function(k) if (runif(1) < 0.7) kinds$lm_x_shares(k) else {
    structure(list(n = 6, sums = function(v) double(if (v[1] == 1) 14 else 4)), class = "riemdp_tally")
  },
  lm_share = function(k) if (runif(1) < 0.5) NULL else c(0.5, 0.5, 1, 0, 0.25, 0.75),
  newton_stage = function(k) {
    list(name = pick("spread", "moments", "step"), weights = c(0.8, 1.5, 1), center = 0.1, spread = 0.5, turn = pick(2, -1),
         b = matrix(0.1, 2, 2), tau = 1, length = 1.4)
  },
  lm_weights = function(k) if (runif(1) < 0.7) NULL else ~x, lm_subset = function(k) if (runif(1) < 0.7) NULL else ~ x > 0.5,
  lm_unit = function(k) if (runif(1) < 0.7) NULL else rep(1:5, 2),
  unit_any = function(k) if (runif(1) < 0.7) NULL else sample(1:2, k$n, TRUE),
  lm_data_any = function(k) if (runif(1) < 0.7) kinds$lm_data(k) else chunks(kinds$lm_data(k), pick(3, 7)),
  curve_data_any = function(k) if (runif(1) < 0.7) kinds$curve_data(k) else chunks(list(kinds$curve_data(k)), sizes = as.double(k$n)),
  lm_data = function(k) data.frame(x = c(runif(9), NA), y = rnorm(10), z = rnorm(10)),
  lm_bounds = function(k) list(x = c(0, 1), y = c(center = 0, scale = 1), z = c(-3, 3)),
  lm_method = function(k) pick("auto", "objective", "recentred", "huber", "statistics", "output", "newton", "descent", "theil_sen", "boosted"),
  lm_release = function(k) keep(k, "lm_release", dp_lm(y ~ x, data.frame(x = runif(9), y = rnorm(9)), 1, bounds = list(x = c(0, 1), y = c(-3, 3)))),
  glm_family = function(k) pick("binomial", "poisson", "quantile"), glm_data = function(k) data.frame(x = c(runif(9), NA), y = rbinom(10, 1, 0.5)),
  glm_formula = function(k) pick(y ~ x, y ~ bs(x, 4)),
  glm_bounds = function(k) list(x = c(0, 1), y = c(0, 1)), glm_predict = function(k) pick("link", "response"),
  glm_release = function(k) keep(k, "glm_release", dp_glm(y ~ x, kinds$glm_data(k), 1, bounds = kinds$glm_bounds(k), family = kinds$glm_family(k))),
  lm_plan = function(k) keep(k, "lm_plan", dp_lm_plan(50, 1, epsilon = 1)), lm_summary = function(k) summary(kinds$lm_release(k)),
  t_row = function(k) matrix(as.double(seq_len(k$n)) / k$n - 0.5, 1), turn = function(k) diag(mf_facts(k$M)$dimension),
  lambda = function(k) rep(pick(0, 1, -1), mf_facts(k$M)$dimension), half = function(k) c(0, 1),
  curve_method = function(k) pick("auto", "newton", "tangent", "gradient", "kng", "paper"),
  curve_release = function(k) keep(k, "curve_release", dp_regression(y ~ t, k$M, list(y = k$x, t = as.double(seq_len(k$n))), epsilon = 1, center = k$one,
                                                                    radius = 0.1, speed = 1, residual_bound = 0.1, bounds = c(0, 9))),
  spline = function(k) {
    if (runif(1) < 0.7) return(y ~ bs(t, df = 4))
    list(y ~ poly(t, 2), y ~ bs(t, df = 4, degree = 1), y ~ t, y ~ bs(t, knots = c(2, 5)), y ~ ns(t, 3))[[sample(5, 1)]]
  },
  spline_release = function(k) keep(k, "spline_release", dp_spline(y ~ bs(t, df = 4), k$M, list(y = k$x, t = as.double(seq_len(k$n))), epsilon = 1,
                                                                   center = k$one, radius = 0.1, bounds = c(0, 9))),
  spline_fit = function(k) keep(k, "spline_fit", spline_regression(y ~ bs(t, df = 4), k$M, list(y = k$x, t = as.double(seq_len(k$n))), center = k$one,
                                                                   bounds = c(0, 9))),
  spline_penalty = function(k) pick("auto", 0, 1, 1e6), spline_target = function(k) pick("tangent", "frechet"),
  spline_velocity = function(k) pick(NULL, kinds$velocity(k)),
  curve_band = function(k) confint(kinds$curve_release(k)),
  curve_plan = function(k) keep(k, "curve_plan", dp_regression_plan(k$M, 50, 1, k$one, 0.1, 1, 0.1, c(0, 1))),
  published_curve = function(k) keep(k, "published_curve", nonprivate_regression_kng(y ~ t, euclidean(2), list(y = cbind(1:5, c(1, 3, 2, 5, 4)), t = 1:5 / 5),
                                                                                    epsilon = 1, feet = 2, burn_in = 1)),
  velocity = function(k) mf_from_coords(k$M, k$one, rep(0.1, mf_facts(k$M)$dimension)),
  times = function(k) as.double(seq_len(k$n)) / k$n,
  fit_control = function(k) list(tol = 1e-6, max_iter = 30, memory = pick(0, 5), starts = pick(0, 1, 3)),
  curve_loss = function(k) list(loss = pick("squared", "huber", "lad"), cutoff = 0.1, smoothing = pick(0, 0.01), clip = pick(Inf, 0.1)),
  curve = function(k) if (runif(1) < 0.7) y ~ t else list(y ~ 1, y ~ t + u, y ~ poly(t, 2))[[sample(3, 1)]],
  curve_data = function(k) list(y = k$x, t = as.double(seq_len(k$n)), u = c(1, 0, 0, 1)),
  loss_name = function(k) pick("squared", "huber", "lad"), origin = function(k) list(0, 2, "mean")[[sample(3, 1)]],
  omit = function(k) na.omit,
  half_width = function(k) pick(NULL, 0.5, 3, -1), window = function(k) pick("gaussian", "epanechnikov"),
  frechet_fit = function(k) keep(k, "frechet_fit", frechet_regression(y ~ t, k$M, list(y = k$x, t = as.double(seq_len(k$n))), bandwidth = pick(NULL, 2))),
  curve_fit = function(k) keep(k, "curve_fit", geodesic_regression(y ~ t, k$M, list(y = k$x, t = as.double(seq_len(k$n))), starts = 1, tol = 1e-6)),
  curve_summary = function(k) keep(k, "curve_summary", summary(kinds$curve_fit(k))),
  stored = function(k) .Call(entries$riemdp_stored, k$M, k$one), ball_sum = function(k) pick("logs", "coords", "points", "centre_coords"),
  curve_state = function(k) c(kinds$stored(k), double(mf_facts(k$M)$ambient)), curve_moments = function(k) c(1, 0.1, 0.1, 1),
  start_seed = function(k) if (runif(1) < 0.5) double(2 * mf_facts(k$M)$ambient), which = function(k) as.double(sample(k$n, 2)),
  far = function(k) pick(-1, 0.3), squares_kind = function(k) list(NULL, c(20, 2^20), c(20, 1, 0.5))[[sample(3, 1)]],
  picture = function(k) keep(k, "picture", plot_data(dp_mean(matrix(0, 9, 2), euclidean(2), 1, center = c(0, 0), radius = 1))),
  coords_zero = function(k) double(mf_facts(k$M)$dimension),
  clip_step = function(k) list(clip = pick(0.5, Inf), apart = pick(FALSE, TRUE), losses = pick(FALSE, TRUE)),
  maybe_which = function(k) if (runif(1) < 0.5) as.double(sample(k$n, 2)),
  maybe_stored = function(k) if (runif(1) < 0.5) kinds$stored(k),
  exact_parts = function(k) list(list(low = 33, digits = matrix(c(1, -2, 3, 4), 2)), list(low = 32, digits = matrix(5, 2))),
  tally = function(k) keep(k, "tally", riemdp:::mean_records(k$M, chunks(k$x, 3), k$one, 0.1)),
  curve_tally = function(k) structure(list(n = 9, total = pick(9, 2.5), energy = function(v) double(length(v) - 2)), class = "riemdp_tally"),
  x_or_tally = function(k) if (runif(1) < 0.8) k$x else kinds$tally(k),
  in_chunks = function(k) chunks(k$x, pick(1, 3)), chunk_size = function(k) pick(1, 3), rds_file = function(k) keep(k, "rds_file", {
    path <- tempfile(fileext = ".rds")
    saveRDS(k$x, path)
    path
  }), open_base = function(k) function() DBI::dbConnect(RSQLite::SQLite(), keep(k, "base", {
    path <- tempfile(fileext = ".sqlite")
    connection <- DBI::dbConnect(RSQLite::SQLite(), path)
    DBI::dbWriteTable(connection, "records", data.frame(id = 1:4, a = runif(4)))
    DBI::dbDisconnect(connection)
    path
  })), table_name = function(k) "records", key_name = function(k) "id", plane_rows = function(k) matrix(runif(8), 4), plane = function(k) euclidean(2),
  site_request = function(k) list(kernel = pick("count", "ball", "noisy"), private = TRUE, M = k$M, center = kinds$stored(k), radius = 0.1, sd = 2, p = NULL,
                                  what = pick(2, 3)),
  curve_chunks = function(k) keep(k, "curve_chunks",
                                  geodesic_regression(y ~ t, k$M, chunks(list(list(y = k$x, t = as.double(seq_len(k$n))))), starts = 1, tol = 1e-6)),
  a_site = function(k) site(4, function(request) site_answer(request, k$x, "sums")), ask = function(k) function(request) site_answer(request, k$x, "sums"),
  site_policy = function(k) pick("sums", "noisy"), site_budget = function(k) dp_ledger(epsilon = 1, delta = 1e-6, rule = pick("gdp", "zcdp")),
  part_key = function(k) rep(pick("a", "b"), 3), host_policy = function(k) riemdp::site_policy("a", kinds$host_space(k), 2, 0.1, least_records = 1),
  host_space = function(k) tryCatch({
    riemdp::site_policy("a", k$M, 2, 0.1)
    k$M
  }, riemdp_error_unsupported = function(e) euclidean(2)),
  host = function(k) keep(k, "host", site_host(kinds$host_policy(k), mf_random(kinds$host_space(k), 3), dp_ledger(epsilon = 50, delta = 1e-6, rule = "gdp"))),
  wire_text = function(k) pick("{\"riemdp\":1,\"type\":\"hello\"}", "{\"riemdp\":1,\"type\":\"ledger\"}", "{}"),
  send = function(k) {
    host <- kinds$host(k)
    function(text) site_reply(host, text)
  }, policy_file = function(k) keep(k, "policy_file", {
    path <- tempfile(fileext = ".json")
    write_site_policy(kinds$host_policy(k), path)
    path
  }), new_file = function(k) tempfile(), tokens = function(k) c(a = strrep("a", 32)), url_letters = function(k) pick("eyJ", "AAAA", "", "abc"),
  the_part = function(k) ledger_part("a", c("a", "a")),
  chunked_any = function(k) if (runif(1) < 0.7) k$x else chunks(k$x, 3),
  model_object = function(k) if (runif(1) < 0.5) kinds$fit(k) else kinds$release(k)
)

# an interrupted run
pause <- function(k) {
  keep(k, "pause", {
    calls <- 0
    out <- list(file = tempfile(fileext = ".rds"), ledger = dp_ledger(NULL, 50, 1e-5), problem = problem(NULL, function(w, z) {
      calls <<- calls + 1
      if (calls == 15) signalCondition(structure(class = c("interrupt", "condition"), list()))
      stop("none")
    }, k$M, batched = TRUE))
    data <- if (is.data.frame(k$x)) as.matrix(k$x) else if (inherits(k$x, "riemdp_points")) seq_along(k$x) else k$x
    tryCatch(dp_optimize(out$problem, data, 1, 1e-6, start = k$one, clip = 1, lr = 0.1, steps = 20, ledger = out$ledger,
                         checkpoint = out$file), interrupt = function(e) NULL, riemdp_error = function(e) NULL)
    out
  })
}

# a dictionary of two synsets
pick_event <- function() {
  list(event_gaussian(1), event_pure(0.3), event_compose(event_poisson(0.01, event_gaussian(1)), times = 10),
       event_sample(0.1, event_laplace(1)), event_zcdp(0.1), event_parallel(event_pure(1), event_pure(0.5)),
       event_custom("stated", mu = 0.5), event_shuffle(100, event_pure(0.5)), event_discrete_gaussian(3),
       event_shuffle(50, event_pure(2), 0.3, 2),
       event_allocation(5, event_gaussian(1)), event_resample(3, 20, event_gaussian(1)),
       event_poisson(0.1, event_gaussian(1), most = 60, records = 100))[[sample(13, 1)]]
}

# one string a target: "argument=kind", or the kind alone where both have one name
arguments <- c(
  riemdp_chunk_ball = "M x centre=stored radius p=stored what=ball_sum", riemdp_chunk_counts = "M x centre=stored radii=rho",
  riemdp_chunk_gradients = paste("M data=x kind=problem_kind threshold=positive fun=callback n p=stored snapshot=maybe_stored step=clip_step",
                                 "which=maybe_which share=weights"),
  riemdp_chunk_kng = "M x centre=stored radius n base=stored far",
  riemdp_chunk_steps = "M x centre=stored numbers=steps_numbers n at=coords_zero squares=squares_kind",
  riemdp_chunk_logs = "M x weights p=stored median=flag", riemdp_chunk_reach = "M x weights p=stored", riemdp_chunk_records = "M x which",
  riemdp_chunk_regression = "M state=curve_state x=times y=x weights model=curve_loss",
  riemdp_regression_of = "M tally=curve_tally y=x x=times moments=curve_moments p=no_path v=no_path model=curve_loss control=fit_control",
  riemdp_chunk_start = "M x weights seed=start_seed", riemdp_exact_total = "parts=exact_parts", riemdp_stored = "M p=one",
  riemdp_mean_of = "M tally start=stored looked=stored total=positive tol max_iter=iterations memory median=zero",
  chunks = "x size=chunk_size", chunk_files = "paths=rds_file", chunk_query = "open=open_base table=table_name key=key_name size=chunk_size",
  rows_to_points = "x=plane_rows M=plane", map_future = "", map_mirai = "", mf_dist_blocks = "M x=in_chunks", sites = "a=a_site",
  site = "n=whole ask", site_answer = "request=site_request x answers=site_policy ledger=site_budget",
  riemdp_aliased = "M name=operation args=pv over=count",
  riemdp_ambient_noise = "M at=one centre=one n=count norm sigma radius project=flag simulate=flag",
  riemdp_chain = paste("M x centre=one radius bounds start=chain_start target=chain_target proposal=chain_proposal redraw=flag sigma step=small",
                       "counts=chain_counts truncate=flag tol simulate=flag"),
  riemdp_euclidean_mean = "M x=x_or_tally centre=one radius bounds target=mean_target norm sigma into_ball=flag tol numbers=steps_numbers simulate=flag",
  riemdp_pointwise_mean = "M x centre=one radius bounds aligned=flag scale=scales factor=small tol simulate=flag",
  riemdp_ball_bounds = "M centre=one radius", riemdp_ball_roots = "M centre=one", riemdp_ball_steps = "k_min=minus k_max=number radius=small tol",
  riemdp_carry = "M p q v", riemdp_certified_dist = "M p q x=t", riemdp_certified_exp = "M p v x=q", riemdp_certified_log = "M p q x=v",
  riemdp_certified_mean = "M x weights p=one", riemdp_twofold = "operation=twofold x=three_numbers y=three_numbers",
  riemdp_check = "M x", riemdp_coords = "M p v", riemdp_count = "M x", riemdp_dist = "M p q",
  riemdp_dist_matrix = "M x", riemdp_exp = "M p v", riemdp_facts = "M", riemdp_from_coords = "M p a",
  riemdp_inner = "M p u v", riemdp_is_point = "M x", riemdp_jacobi = "M p v x=t u",
  riemdp_kng_acceptance_nonprivate = "M x centre=one radius=steps_radius law=kng_law sigma=kng_scales bounds=kng_bounds capped=flag draws=count simulate=flag",
  riemdp_kng_domination_nonprivate = "M x centre=one radius=steps_radius sigma bounds=kng_bounds draws=count simulate=flag",
  riemdp_kng_least_acceptance = "M radius law=kng_law sigma=kng_scales gradient=tol",
  riemdp_kng_nonprivate = paste("M x centre=one radius=steps_radius law=kng_law sigma=kng_scales bounds=kng_bounds trials=count draws=count",
                                "envelope=flag simulate=flag"),
  riemdp_regression = "M y=x x=times weights p=no_path v=no_path model=curve_loss control=fit_control",
  riemdp_regression_gradient = "M p=one v=velocity x=times y=x weights model=curve_loss",
  riemdp_regression_records = "M p=one v=velocity x=times y=x model=curve_loss total=flag",
  riemdp_heat_group = "M", riemdp_heat_parts = "rho=sigma sigma", riemdp_chord = "M sigma t=sigma",
  riemdp_gaussian_radii = "M n=count sigma simulate=flag", riemdp_laplace_radii = "M n=count sigma simulate=flag",
  riemdp_log = "M p q", riemdp_log_density = "M p v",
  riemdp_steps_mean_nonprivate = "M x centre=one numbers=steps_numbers start=coords_zero", riemdp_steps_model = "M",
  riemdp_unit_coords = "M x centre=one numbers=steps_numbers unit=unit_codes count=two",
  riemdp_unit_points = "M x centre=one numbers=steps_numbers coords=coords_zero",
  riemdp_unit_rows = "M x centre=one numbers=steps_numbers which",
  riemdp_lattice_noise = "M n=count law=lattice_law_any scale=lattice_scale simulate=flag",
  riemdp_release_lattice = "M x centre=one numbers=steps_numbers k=lattice_step law=lattice_law_any scale=lattice_scale constant=flag simulate=flag",
  riemdp_mean = "M x weights start tol max_iter=iterations memory median=flag",
  riemdp_noise = "M centre=one n=count law=law_any sigma=laws simulate=flag", riemdp_norm = "M p v", riemdp_origin = "M",
  riemdp_points = "rows=point_rows M tangent=flag names=no_path", riemdp_points_rows = "x=point_texts M tangent=no",
  riemdp_pole = "M p q v rungs=count", riemdp_project = "M x", riemdp_project_tangent = "M p v",
  riemdp_radial = "M rho", riemdp_radial_acceptance = "M n=count law=law_any sigma=laws simulate=flag",
  riemdp_release_place = paste("M x centre=one radius=steps_radius first=count levels=count bonus=positive nothing=positive",
                               "slack=small rate=small_ratio growth=growth bits=place_bits simulate=flag"),
  riemdp_scores_nonprivate = "M x p=one", riemdp_release_choice = "miss=whole_misses epsilon=small_ratio simulate=flag",
  riemdp_release_radius = "M x=x_or_tally centre=one radii=rho aim=count epsilon=small_ratio simulate=flag",
  riemdp_release_local = "M x=x_or_tally centre=one radius=local_radius law=local_law sigma=local_sigma simulate=flag",
  riemdp_release_local_lattice = "M x=x_or_tally centre=one numbers=steps_numbers k=lattice_step scale=lattice_scale simulate=flag",
  riemdp_release_median = "M x=x_or_tally centre=one bounds=kng_bounds smooth=zero sigma simulate=flag",
  riemdp_lattice_law_nonprivate = "M x centre=one bounds=law_bounds law=grid_law smooth=zero sigma draws=count simulate=flag",
  riemdp_lattice_law_bounds_nonprivate = "M x centre=one bounds=law_bounds law=grid_law smooth=zero sigma draws=count simulate=flag",
  riemdp_lattice_law_sum_nonprivate = "M x centre=one bounds=law_bounds law=grid_law smooth=zero at=one",
  riemdp_kng_proposed = "d=lattice_dim radius contract=share bend=share slope=sigma less=tol shell=tol first=tol volume=numbers",
  riemdp_release_kng_lattice = "M x=x_or_tally centre=one bounds=law_bounds law=kng_law sigma=law_scale simulate=flag",
  riemdp_release_kng = "M x=x_or_tally centre=one radius=steps_radius law=kng_law sigma=kng_scales bounds=kng_bounds trials=count constant=flag simulate=flag",
  riemdp_release_mean = "M x=x_or_tally centre=one radius=steps_radius bounds law=law_any sigma=laws tol numbers=steps_numbers constant=flag simulate=flag",
  riemdp_statuses = "",
  riemdp_objective_nonprivate = "M data=x kind=problem_kind threshold=positive fun=callback n p=one",
  riemdp_optimize = paste("M data=x kind=problem_kind threshold=positive fun=callback n start=one tol max_iter=count memory=one_pair",
                          "conjugate=flag"),
  riemdp_release_optimum = paste("M data=x kind=problem_kind threshold=positive fun=callback n start=one centre=one settings=optim_settings",
                                 "state=optim_state simulate=flag"),
  riemdp_tangent_noise = "M p=one n=count sd=positive law=tangent_law method=tangent_way steps=whole simulate=flag",
  riemdp_chacha = "key=key_bytes nonce=nonce_bytes counter=count set=lane_set", riemdp_stream = "secret=secret_bytes n=count",
  riemdp_seal = "key=key_bytes bytes=secret_bytes",
  riemdp_release_groups = "M x=group_records centre=one numbers=steps_numbers k=lattice_step scale=joint_scale simulate=flag",
  riemdp_placed = "M x centre=one coords=coords_one",
  riemdp_gathered = "M x centre=one radius which=gathered",
  riemdp_system_uniform = "M", riemdp_to_ball = "M x centre=one radius", riemdp_transport = "M p q v", riemdp_wide = "M x=v y=u set=count",

  riemdp_gauss_newton_frame = "M p=one v=velocity",
  riemdp_gauss_newton_records_nonprivate = "M p=one v=velocity x=t_row y=x turn=turn lambda=lambda reach=positive legs=count",
  riemdp_shared_loss = "k=positive e1=small q=count t=small averaged=flag step=lm_step knots=lm_knots",
  riemdp_chunk_perturbed = "x=lm_x_shares y=fit_y b=fit_centre loss=fit_loss hessian=flag",
  riemdp_newton_sums = "x=lm_x y=lm_y share=lm_share stage=newton_stage",
  riemdp_perturbed_fit_nonprivate = "x=fit_x y=fit_y ridge=fit_ridge centre=fit_centre noise=fit_centre loss=fit_loss solver=lm_solver",
  riemdp_release_perturbed = "x=fit_x y=fit_y ridge=fit_ridge centre=fit_centre loss=fit_loss solver=lm_solver draw=lm_draw simulate=flag",
  riemdp_release_clipped_kng = "x=lm_x_shares y=lm_y ridge=lm_ridge centre=lm_centre loss=lm_huber solver=lm_solver draw=lm_kng simulate=flag",
  riemdp_perturbation_noise = "p=count q=count n=count norm=perturbation_norm rate=positive simulate=flag",
  riemdp_block_noise = "sizes=counts rate=positive simulate=flag", riemdp_exponential_choice = "score=losses epsilon simulate=flag",
  riemdp_pld_cells = "pair=pld_pair range=pld_range grid=pld_grid", riemdp_pld_merge = "loss=losses mass=masses grid=merge_grid",
  riemdp_allocation_spread = "a=ratio_law b=coarse_law grid=spread_grid", riemdp_allocation_merge = "a=value_law b=value_law edges=value_edges",
  riemdp_fft = "x=fft_numbers", riemdp_weighted_cell = "weight=whole_weights simulate=flag",
  riemdp_kernel_products_nonprivate = "x=test_columns y=test_columns kinds=kernel_kinds bandwidths=kernel_widths orders=test_orders",
  riemdp_kernel_sums_nonprivate = "x=test_columns y=test_columns kind=kernel_kind bandwidth=positive groups=test_labels",

  event_pure = "epsilon adjacency range=flag", event_laplace = "scale=positive adjacency", event_gaussian = "noise_multiplier=positive adjacency",
  event_discrete_gaussian = "sigma=positive sensitivity=count dimension=seed adjacency", event_gdp = "mu=positive adjacency",
  event_discrete_laplace = "scale=positive sensitivity=count adjacency",
  event_mixture = "noise_multiplier=positive moves probabilities=mass_pair",
  event_zcdp = "rho=positive adjacency", event_rdp = "orders epsilons=rdp_values adjacency",
  event_approx = "epsilon delta=delta_small adjacency", event_custom = "label epsilon delta=delta_small",
  event_pair = "label p=mass_pair q=mass_pair adjacency",
  event_poisson = "q=share event=step_event adjacency", event_matrix = "strategy=moves noise_multiplier=positive adjacency",
  event_allocation = "steps=count event=step_event", event_resample = "size=count n=whole event=noise_event",
  event_sample = "q=share event=step_event", event_shuffle = "n=whole event=pure_event variation common",
  event_select = "event=step_event mean=runs_mean shape=positive", event_group = "event=step_event size=count",
  event_compose = "a=event times=count", event_parallel = "a=step_event b=step_event keys=keys_kind", check_event = "event",
  event_price = "event unit orders delta=delta_small", dp_epsilon = "event delta=delta_small accountant conversion",
  dp_delta = "event epsilon accountant conversion", dp_bounds = "event delta=delta_small", dp_tradeoff = "event",
  dp_accountants = "event delta=delta_small", dp_calibrate = "make=make_event epsilon delta=delta_small",
  variance_reduced_epsilon = "n=count epochs=count steps=count C0=positive C1=small sigma=positive delta=delta_small accountant conversion conditions=flag",
  align_shapes = "x=landmarks template=template scale=flag",
  nonprivate_chain = paste("x M sigma center=one radius target=chain_target proposal redraw=flag truncate=flag chains=seed",
                           "iterations=count burn_in=count thin=seed step=small start=chain_from"),
  smooth_outline = "x=landmarks bandwidth=radius closed=flag position",
  dp_mean = "x=chunked_any M epsilon center=one radius delta=zero mechanism calibration invalid unit=unit_any source=note ledger",
  mean_difference = "g=release a=release",
  subspace = "M center=one basis=directions", outline_modes = "center=template m=seed", partial_warps = "center=template m=seed",
  dp_bounds_plan = "M n=count epsilon public=x centers=one radii=radius mechanism",
  dp_ball = "x=chunked_any M epsilon center=one radius fraction=share margin=number radii=radius invalid source=note ledger",
  dp_local = "x=chunked_any M epsilon per=local_per center=one radius mechanism=local_mechanism numerics invalid unit=unit_any source=note ledger",
  dp_median = "x=chunked_any M epsilon center=one radius smooth=number invalid unit=unit_any source=note ledger",
  dp_test = "x=x M epsilon group=test_groups statistic=test_statistic center=one radius draws=lots invalid neighbours source=note ledger",
  dp_test_plan = "simulate=test_simulate M epsilon bandwidth=positive draws=lots runs=two",
  event_to_json = "event=ledger_event", event_from_json = "text=json adjacency",
  dp_select = "candidates=positive run=any_try score=any_score epsilon tries=two neighbours source=note ledger",
  dp_test_any = "data=x f=any_test epsilon m=two alpha0=small source=note ledger", power_test_any = "power=small epsilon m=whole alpha0=small alpha=small",
  dp_variance = "x=chunked_any M epsilon center=one radius at=one invalid unit=unit_any source=note ledger",
  dp_conformal = "x=chunked_any M epsilon at=one bound=positive level=share invalid=conformal_invalid unit=unit_any neighbours source=note ledger",
  dp_ledger = "path=no_path epsilon delta rule data_sets quotas analyst", ledger_history = "ledger",
  ledger_part = "name=note key=part_key column=note", site_policy = "site=note spaces=M radius=positive least_noise=positive",
  read_site_policy = "file=policy_file", write_site_policy = "policy=host_policy file=new_file", site_host = "policy=host_policy x ledger=site_budget",
  site_reply = "host text=wire_text", site_remote = "send", site_key = "file=new_file", site_open = "dir=no_path", site_app = "host tokens",
  site_http = "url=note token=note", riemdpReplyDS = "message=url_letters", riemdpSitesDS = "", ds_sites = "conns=any", ds_ledger = "conns=any",
  ds_dp_lm = "conns=any formula=curve",
  ds_dp_regression = "conns=any formula=curve manifold=M", site_prices = "x=any epsilon delta=delta_small", plot_data = "x=model_object",
  riemdp_lanes_least = "seconds=positive",
  ds_dp_mean = "conns=any manifold=M", ds_dp_optimize = "conns=any problem=any", ds_dp_pga = "conns=any manifold=M",
  ledger_spend = "ledger event=ledger_event what=note source=note",
  ledger_receipt = "x=ledger_receipt", ledger_verify = "ledger receipts=ledger_receipt", ledger_report = "ledger", ledger_odometer = "ledger",
  dp_mean_plan = "M n=count epsilon center=one radius",
  dp_region_plan = "M n=count epsilon center=one radius spread=positive", mechanism_table = "spaces=M n=count epsilon delta=zero radius",
  dp_uncertainty = "r=release", confint.riemdp_mean = "object=release covariance=private_covariance", region_contains = "r=ellipsoid x=plane_points",
  mf_to_ball = "M x center=one radius", euclidean = "d=whole",
  discrete_gaussian_noise = "n=count sigma=wide", discrete_l2_noise = "n=count dim scale=wide",
  discrete_laplace_noise = "n=count scale=wide",
  expected_error = "M sigma mechanism=law_name center=one radius", explain = "x=release", explore_plan = "",
  frechet_mean = "x=chunked_any M weights tol method start max_iter=iterations error=flag",
  frechet_median = "x M weights tol method start max_iter=iterations", frechet_variance = "x M weights center=start",
  dp_regression = paste("formula=curve M data=curve_data_any epsilon center=one radius=small speed=positive residual_bound=positive bounds=half",
                        "delta=delta_small method=curve_method loss=loss_name chain=iterations"),
  dp_spline = paste("formula=spline M data=curve_data_any epsilon center=one radius=small bounds=half velocity=spline_velocity delta=delta_small",
                    "penalty=spline_penalty target=spline_target invalid unit=unit_any neighbours source=note ledger"),
  dp_spline_plan = "M n=count epsilon radius=positive df=whole degree=whole delta=delta_small target=spline_target center=one",
  confint.riemdp_spline = "object=spline_release", predict.riemdp_spline = "object=spline_release newdata=curve_data",
  frechet_regression = paste("formula=curve M data=curve_data bandwidth=half_width kernel=window weights=no_path subset=no_path na.action=omit tol",
                             "max_iter=count"),
  predict.riemdp_frechet_regression = "object=frechet_fit newdata=curve_data",
  spline_regression = paste("formula=spline M data=curve_data center=one velocity=spline_velocity bounds=half penalty=spline_penalty",
                            "target=spline_target"),
  predict.riemdp_spline_regression = "object=spline_fit newdata=curve_data",
  nonprivate_regression_kng = "formula=curve M data=curve_data epsilon feet=seed vectors=seed burn_in=iterations step=positive",
  dp_regression_plan = "M n=count epsilon center=one radius=small speed=positive residual_bound=positive bounds=half delta=delta_small",
  confint.riemdp_regression = "object=curve_release about=band_about residual=private_scale",
  predict.riemdp_regression = "object=curve_release newdata=curve_data",
  geodesic_regression = paste("formula=curve M data=curve_data_any loss=loss_name weights=no_path subset=no_path na.action=omit cutoff=no_path origin tol",
                              "max_iter=iterations"),
  geodesic_gradient = "M p=one v=velocity x=times y=x loss=loss_name cutoff=positive weights", augment = "x=curve_fit",
  gdp_parameter = "M sigma distance", gradient_sensitivity = "M n=count radius center=one calibration",
  glance = "x=model_object", grassmann = "n=whole p=seed", guarantee = "r=release",
  hermitian_spd = "k=whole floor=tol", hyperbolic = "d=whole model curvature=minus",
  kendall = "k=whole m=whole links=one_pair_of_landmarks", size_and_shape = "k=whole m=two links=one_pair_of_landmarks",
  laplace_noise = "M center=one sigma n=count mechanism=law_name",
  manifold_custom = paste("dim=two ambient=two exp log inner project project_tangent transport=transport_function check",
                          "random k_min=minus k_max=number injectivity_radius=positive symmetric=flag label"),
  mean_lower_bound = "M n=count epsilon radius delta=zero center=one",
  mean_sensitivity = "M n=count radius center=one calibration", mf_check = "M x", mf_coords = "M p v",
  mf_dist = "M p q error=flag", mf_dist_matrix = "M x", mf_exp = "M p v error=flag", mf_facts = "M", mf_from_coords = "M p a",
  as_mf_points = "x=places M=sphere units=angle_unit layout=place_order", read_tps = "file=tps_file k=three m=two",
  read_nts = "file=nts_file k=three m=two lines=seed",
  slide_landmarks = "x=five_landmarks M=five_space template=five_template curves=landmark_triples passes=count",
  symmetric_landmarks = "x=five_landmarks M=five_space pairs=one_pair_of_landmarks",
  mf_inner = "M p u v", mf_join = "M=product x=product_points",
  mf_part = "M=product x=product_rows which=seed", power = "M=sphere k=two weight=positive",
  product = "a=sphere b=plane weights=positive", torus = "d=two", oblique = "n=three k=two",
  mf_is_point = "M x", mf_jacobi = "M p v x=t u", mf_log = "M p q error=flag", mf_log_density = "M p v",
  mf_norm = "M p v", mf_points = "x=x_or_texts M", mf_project = "M x", mf_project_tangent = "M p v",
  mf_random = "M n=count sd=positive", mf_random_tangent = "M p=one n=whole sd=positive",
  mf_transport = "M p q v method=transport rungs=count", privacy_profile = "M sigma distance epsilon=epsilons",
  riemdp_errors = "", spd = "k=whole metric=metric_spd floor=tol", simplex = "k=whole metric=metric_simplex floor=tol",
  correlation = "k=whole metric=metric_correlation floor=tol",
  problem = "loss=loss gradient=own_gradient M", problem_frechet = "M", problem_huber = "M threshold=positive",
  problem_pca = "M=sphere", problem_facts = "problem radius",
  riemannian_optimize = "problem data=x start=one method=solver tol max_iter=count",
  dp_optimize = paste("problem data=x epsilon delta=small start=one clip=positive lr=small steps=count individual=count unit=unit_any neighbours ledger=budget",
                      "checkpoint=checkpoint_file"),
  dp_resume = "checkpoint=paused_file problem=paused_problem data=x ledger=paused_ledger",
  dp_lm = "formula=lm_formula data=lm_data_any epsilon bounds=lm_bounds method=lm_method r_squared=small unit=lm_unit subset=lm_subset",
  dp_glm = "formula=glm_formula data=glm_data epsilon bounds=glm_bounds family=glm_family quantile=share unit=lm_unit weights=lm_weights subset=lm_subset",
  dp_residual_scale = "fit=scaled_release data=scaled_data epsilon bound=positive unit=unit_any source=note ledger",
  dp_lm_plan = "n=lm_knots d=seed q=count epsilon delta=delta_small", confint.riemdp_lm = "object=lm_release about=band_about residual=private_scale",
  dp_pca = "data=table q=seed epsilon delta=small bound=positive mechanism=pca_mechanism gap=share steps=count neighbours unit=unit_any",
  dp_covariance = "x=chunked_any M epsilon center=one radius at=one delta=small mechanism=pca_mechanism invalid unit=unit_any neighbours source=note ledger",
  dp_pga = paste("x=chunked_any M epsilon center=one radius q=seed delta=small at=one from=pga_from mechanism=pca_mechanism gap=share invalid unit=unit_any",
                 "neighbours source=note ledger"),
  trend_test = "object=curve_fit nsim=count statistic=trend_statistic", vcov.riemdp_geodesic_regression = "object=curve_fit type=curve_covariance nsim=two",
  tangent_noise = "M p=one n=count sd=positive method=tangent_method law=tangent_law_name steps=whole",
  psd = "k=whole rank=seed", pullback = "M=whole_sphere f=to_point inverse=to_point name=label", mf_original = "x=north M=pulled",
  quotient = "M=whole_sphere group=both_signs center=north",
  rotations = "n=whole", rigid = "n=whole scale=positive",
  sphere = "d=whole", stiefel = "n=whole p=seed metric=metric_stiefel", tidy = "x=model_object",
  theme_riemdp = "base_size=positive bare=flag", riemdp_colours = "n=count landmarks=flag",
  with_simulation = "seed expr=any"
)

# methods of exported and of base generics: by the class they are for
classes <- c(riemdp_spline = "spline_release", riemdp_spline_regression = "spline_fit", riemdp_frechet_regression = "frechet_fit",
             riemdp_regression = "curve_release",
             riemdp_regression_plan = "curve_plan", riemdp_band = "curve_band",
             riemdp_geodesic_regression = "curve_fit", summary.riemdp_geodesic_regression = "curve_summary", riemdp_points = "points",
             riemdp_tangents = "tangents", riemdp_points.riemdp_points = "points", riemdp_tangents.riemdp_tangents = "tangents", riemdp_frechet_mean = "fit",
             riemdp_release = "release", riemdp_mean = "release", riemdp_ball = "private_ball", riemdp_median = "private_median",
             riemdp_variance = "private_variance", riemdp_components = "private_components", riemdp_pga = "private_modes",
             riemdp_covariance = "private_covariance", riemdp_ellipsoid = "ellipsoid",
             riemdp_test = "private_test", riemdp_selection = "private_selection",
             riemdp_conformal = "private_prediction", riemdp_prediction = "prediction",
             riemdp_residual_scale = "private_scale",
             riemdp_local = "private_points",
             riemdp_groups = "group_release",
             riemdp_difference = "group_difference", riemdp_bounds_plan = "bounds_plan", riemdp_subspace = "public_subspace",
             riemdp_subspace_plan = "subspace_plan",
             riemdp_guarantee = "guarantee", riemdp_manifold = "M",
             riemdp_part = "the_part", riemdp_site_host = "host", riemdp_site_policy = "host_policy",
             summary.riemdp_points = "points_summary", riemdp_ledger = "ledger", riemdp_receipt = "ledger_receipt",
             riemdp_verification = "ledger_check", riemdp_ledger_report = "ledger_page", riemdp_nonprivate_chain = "chain",
             riemdp_nonprivate_regression_kng = "published_curve", riemdp_event = "event", riemdp_price = "price", riemdp_tradeoff = "tradeoff",
             riemdp_accountants = "accountants_table", riemdp_region = "region", riemdp_mean_plan = "mean_plan",
             riemdp_region_plan = "region_plan", riemdp_mechanism_table = "spaces_table",
             riemdp_optimum = "optimum", riemdp_problem = "problem", riemdp_optimize = "private_optimum",
             riemdp_picture = "picture", riemdp_chunks = "in_chunks", riemdp_geodesic_regression_chunks = "curve_chunks",
             riemdp_lm = "lm_release", riemdp_glm = "glm_release", summary.riemdp_lm = "lm_summary", riemdp_lm_plan = "lm_plan")

all_methods <- function() {
  table <- getNamespaceInfo("riemdp", "S3methods")
  exports <- getNamespaceExports("riemdp")
  internal <- vapply(table[, 1], function(g) exists(g, namespace, inherits = FALSE) && !g %in% exports, NA)
  table <- table[!internal & table[, 2] != "default", , drop = FALSE] # defaults take what no class fits: the generic's targets do that
  unknown <- setdiff(table[, 2], names(classes))
  if (length(unknown)) stop("tools/fuzz-cases.R: no objects of class ", paste(unknown, collapse = ", "), call. = FALSE)
  stats::setNames(classes[table[, 2]], table[, 3])
}

parse_arguments <- function(text) {
  words <- strsplit(text, " ", fixed = TRUE)[[1]]
  pairs <- strsplit(words, "=", fixed = TRUE)
  stats::setNames(vapply(pairs, function(w) w[length(w)], ""), vapply(pairs, `[`, "", 1))
}

# list(name, type, run = function(args), kinds, optional)
all_targets <- function() {
  exports <- sort(getNamespaceExports("riemdp"))
  exports <- exports[vapply(exports, function(e) is.function(get(e, asNamespace("riemdp"))), NA)]
  unknown <- setdiff(c(exports, names(entries)), names(arguments))
  if (length(unknown)) {
    stop("tools/fuzz-cases.R has no arguments for ", paste(unknown, collapse = ", "), ": add a line each.", call. = FALSE)
  }
  entry <- lapply(stats::setNames(nm = names(entries)), function(name) {
    list(name = name, type = "entry", kinds = parse_arguments(arguments[[name]]), optional = character(),
         run = function(args) do.call(.Call, c(list(entries[[name]]), unname(args)), quote = TRUE))
  })
  export <- lapply(stats::setNames(nm = exports), function(name) {
    f <- get(name, namespace)
    has_default <- vapply(formals(f), function(v) !identical(v, quote(expr = )), NA)
    list(name = name, type = if (identical(environment(f), namespace)) "export" else "reexport",
         # the lengths of chains are given always: their defaults are slow where operations are R functions
         kinds = parse_arguments(arguments[[name]]),
         optional = setdiff(names(formals(f))[has_default], c("chains", "iterations", "burn_in")),
         run = function(args) do.call(f, args, quote = TRUE))
  })
  methods <- all_methods()
  method <- lapply(stats::setNames(nm = names(methods)), function(name) {
    f <- get(name, namespace)
    list(name = name, type = "method", kinds = c(object = methods[[name]]), optional = character(),
         run = function(args) do.call(f, unname(args), quote = TRUE))
  })
  c(entry, export, method)
}

valid_arguments <- function(target, pool) {
  context <- pool[[sample(length(pool), 1)]]
  args <- lapply(target$kinds, function(kind) kinds[[kind]](context))
  drop <- names(args) %in% target$optional & runif(length(args)) < 0.5
  args[!drop]
}
