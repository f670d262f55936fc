# What can be asked of the records of a chunk, where they are. Kernels are named in the request; a site answers these and
# nothing else.

chunk_answer <- function(request, x, size = NULL) {
  kernel <- chunk_kernels()[[request$kernel]]
  if (is.null(kernel)) abort_riemdp("argument", "this request is not known here.")
  if (isTRUE(request$private) && !isTRUE(request$counts %in% c("own", "frame"))) x <- plain_numbers(x)
  if (!is.null(size) && !(is.null(request$M) && is.null(request$counts))) {
    n <- switch(if (is.null(request$counts)) "points" else request$counts, own = own_count(x), rows = records_in(x),
                frame = if (is.data.frame(x)) nrow(x) else records_in(x), .Call(riemdp_count, request$M, x))
    if (n != size) {
      abort_riemdp("chunk_size", "it has another number of records than was fixed when the chunks were made: sizes are public.")
    }
  }
  request$size <- size
  kernel(request, x)
}

chunk_kernels <- function() {
  list(
    count = function(q, x) records_in(x),
    contents = function(q, x) list(n = records_in(x), names = if (is.list(x)) names(x)),
    names = function(q, x) {
      if (!is.list(x) || is.null(names(x))) abort_riemdp("shape", "a chunk must be a table, or a list of variables.")
      names(x)
    },
    # what is wrong with a record, which names its number and no more, is the answer
    check = function(q, x) {
      tryCatch({
        .Call(riemdp_check, q$M, x)
        list()
      }, riemdp_error = function(e) list(class = class(e)[1], message = conditionMessage(e)))
    },
    start = function(q, x) .Call(riemdp_chunk_start, q$M, x, q$weights, q$seed),
    records = function(q, x) .Call(riemdp_chunk_records, q$M, x, q$which),
    logs = function(q, x) .Call(riemdp_chunk_logs, q$M, x, q$weights, q$p, q$median),
    reach = function(q, x) .Call(riemdp_chunk_reach, q$M, x, q$weights, q$p),
    ball = function(q, x) .Call(riemdp_chunk_ball, q$M, x, q$center, q$radius, q$p, q$what),
    steps = function(q, x) .Call(riemdp_chunk_steps, q$M, x, q$center, q$numbers, q$n, q$at),
    kng = function(q, x) .Call(riemdp_chunk_kng, q$M, x, q$center, q$radius, q$n, q$base, q$far),
    # a sum that leaves with its share of the noise, drawn here
    noisy = function(q, x) {
      sum <- exact_total(list(.Call(riemdp_chunk_ball, q$M, x, q$center, q$radius, NULL, 6)))
      if (!is.double(sum)) sum <- rep(0, mf_facts(q$M)$dimension)
      d <- length(sum)
      draw <- function() as.vector(tangent_noise(euclidean(d), rep(0, d), 1, q$sd))
      sum + if (in_simulation()) with_simulation(q$seed, draw()) else draw()
    },
    distances = function(q, x) {
      d <- if (is.null(q$other)) as.matrix(mf_dist_matrix(q$M, x)) else dist_across(q$M, x, q$other)
      dimnames(d) <- NULL
      if (is.null(q$each)) d else q$each(d, q$i, q$j)
    },
    # plain regression: predictors of a chunk's model frame (a matrix with names), and sums over its records
    design = function(q, x) {
      d <- chunk_design(q, x)
      if (is.null(d)) return(list(n = 0))
      list(names = colnames(d$x), n = nrow(d$x), sums = exact_rows(design_products(d$z, d$w)),
           logs = if (!is.null(d$w)) exact_rows(matrix(log(d$w))))
    },
    frame = function(q, x) {
      d <- chunk_design(q, x)
      full <- stats::model.matrix(stats::delete.response(d$frame$terms), d$frame$model)
      terms <- d$frame$terms
      environment(terms) <- baseenv()
      list(terms = terms, xlevels = stats::.getXlevels(d$frame$terms, d$frame$model), contrasts = attr(full, "contrasts"),
           points = d$frame$points)
    },
    sample = function(q, x) {
      d <- chunk_design(q, x)
      list(z = d$z[q$which, , drop = FALSE], rows = as.matrix(d$y)[q$which, , drop = FALSE])
    },
    energy = function(q, x) {
      d <- chunk_design(q, x)
      .Call(riemdp_chunk_regression, q$M, q$state, if (q$constant) d$z[, 0, drop = FALSE] else d$z, d$y, d$w, q$numbers)
    },
    # how many distances from a curve are at most as large as each of `edges`, those in between, or all
    distance_order = function(q, x) {
      d <- chunk_design(q, x)
      size <- if (is.null(d)) double() else chunk_distances(q, d)
      if (!is.null(q$between)) return(size[size > q$between[1] & size <= q$between[2]])
      if (is.null(q$edges)) return(size)
      here <- size[is.finite(size)]
      list(count = findInterval(q$edges, sort(here)), most = max(-1, here), finite = as.double(length(here)))
    },
    crossproducts = function(q, x) {
      chunk_crossproducts(q, chunk_design(q, x))
    },
    regression_check = function(q, x) {
      tryCatch({
        checked_responses(chunk_private(q, x)$y, q$M)
        list()
      }, riemdp_error = function(e) list(class = class(e)[1], message = conditionMessage(e)))
    },
    regression = function(q, x) {
      d <- chunk_private(q, x)
      records <- features_at(q$M, q$state, q$frame, d$x, d$y, q$ask)
      psi <- clipped_responses(records, q$tau)
      parts <- lapply(seq_len(dim(records$features)[2]), function(j) matrix(records$features[, j, ], nrow(psi)) * psi)
      exact_rows(t(do.call(rbind, parts)))
    },
    regression_perturbed = function(q, x) {
      d <- chunk_private(q, x)
      records <- features_at(q$M, q$state, q$frame, d$x, d$y, q$ask)
      .Call(riemdp_chunk_perturbed, records$features, limited_responses(records$responses, q$most), q$b, q$loss, q$hessian)
    },
    regression_pull = function(q, x) {
      d <- chunk_private(q, x)
      d <- kng_predictors(d$x, q$reach, d$y)
      exact_rows(do.call(cbind, lapply(q$at, function(at) {
        do.call(cbind, kng_gradients(q$M, at$p, tangent_vectors(q$M, at$p, matrix(at$b)), at$speed, d, q$rule, q$reach))
      })))
    },
    linear_perturbed = function(q, x) {
      r <- linear_chunk(q, x)
      .Call(riemdp_chunk_perturbed, r$x, r$y, q$b, q$loss, q$hessian)
    },
    linear_within = function(q, x) {
      r <- linear_chunk(q, x)
      residuals_within(r$x, fitted_away(r$x, r$y, q$b), q$limit)$count
    },
    linear_guess = function(q, x) {
      r <- linear_chunk(q, x)
      guess_counts(r$x, r$y)
    },
    linear_cells = function(q, x) {
      r <- linear_chunk(q, x)
      guess_cells(r$x, r$y, q$which)
    },
    linear_moments = function(q, x) {
      r <- linear_chunk(q, x)
      both <- rbind(r$x, r$y)
      k <- nrow(r$x)
      exact_rows(t(both[rep(seq_len(nrow(both)), each = k), , drop = FALSE] * r$x[rep(seq_len(k), nrow(both)), , drop = FALSE]))
    },
    columns = function(q, x) ncol(pca_rows(x)),
    seal = function(q, x) seal_of(q$key, plain_records(x)),
    gradients = function(q, x) {
      if (!is.null(q$bound)) x <- shorten_rows(pca_rows(x), q$bound)
      input <- problem_call(q$problem, x, private = q$private)
      .Call(riemdp_chunk_gradients, q$M, input$data, input$kind, input$threshold, input$fun, input$n, q$p, q$snapshot,
            q$numbers, q$which)
    },
    counts = function(q, x) .Call(riemdp_chunk_counts, q$M, x, q$center, q$radii)
  )
}
