#' Optimisation on manifolds
#'
#' Minimises the mean loss of a [problem()] without privacy, by gradient steps, conjugate gradients or limited-memory
#' quasi-Newton steps, with backtracking. Gradient steps take the length at which the slope along the last step would
#' have vanished (Barzilai and Borwein); conjugate directions are those of Polak and Ribiere, kept from turning uphill.
#'
#' @param problem a problem, see [problem()].
#' @param data records in the form that the problem takes, or in [chunks()]; `NULL` for a function of the point alone.
#' @param start one point.
#' @param method `"lbfgs"`, `"conjugate"` or `"gradient"`.
#' @param tol gradient norm at which to stop, positive.
#' @param max_iter most steps, a whole number.
#' @return A list of class `riemdp_optimum`: `value` (the point, in the shape of a single record of the manifold),
#'   `loss` (the mean loss), `gradient_norm`, `iterations`, `evaluations`, `converged`, `method`, `manifold`, `n`.
#'   Errors: those of [mf_check()] for `start`; `riemdp_error_callback` where a user's function fails at `start`, and
#'   the function's own error where it stops later.
#' @references
#' Absil, P.-A., Mahony, R. and Sepulchre, R. (2008). *Optimization Algorithms on Matrix Manifolds*. Princeton
#' University Press. \doi{10.1515/9781400830244}
#'
#' Huang, W., Gallivan, K. A. and Absil, P.-A. (2015). A Broyden class of quasi-Newton methods for Riemannian
#' optimization. *SIAM Journal on Optimization* 25, 1660-1685. \doi{10.1137/140955483}
#' @seealso [frechet_mean()], which chooses its own start; [dp_optimize()]
#' @examples
#' x <- as.matrix(iris[, 1:4])
#' fit <- riemannian_optimize(problem_pca(sphere(3)), x, start = c(1, 1, 1, 1) / 2)
#' fit
#' max(abs(abs(fit$value) - abs(svd(x)$v[, 1]))) # the leading singular vector
#' @export
riemannian_optimize <- function(problem, data = NULL, start, method = c("lbfgs", "conjugate", "gradient"), tol = 1e-10,
                                max_iter = 1000) {
  check_problem(problem)
  method <- check_choice(method, "method", c("lbfgs", "conjugate", "gradient"))
  tol <- check_number(tol, "tol", positive = TRUE)
  max_iter <- check_count(max_iter, "max_iter", least = 0, most = 1e9)
  if (missing(start)) abort_riemdp("argument", "`start` has no default: give one point.")
  if (problem$kind == "callback" && is.null(problem$loss)) {
    abort_riemdp("argument", "`problem` has no loss, which step sizes need here: give problem() one.")
  }
  input <- problem_call(problem, data, private = FALSE)
  memory <- c(lbfgs = 6, conjugate = 1, gradient = 0)[[method]]
  fit <- .Call(riemdp_optimize, problem$manifold, input$data, input$kind, input$threshold, input$fun, input$n, start,
               tol, max_iter, memory, method == "conjugate")
  structure(c(fit, list(method = method, manifold = problem$manifold, n = input$n)), class = "riemdp_optimum")
}

#' @export
print.riemdp_optimum <- function(x, ...) {
  cat(sprintf("Minimum over %s (%d records, not private)\n", label_manifold(x$manifold), as.integer(x$n)))
  cat(sprintf("  %s by %s: %d iterations, gradient norm %.2g, loss %.6g\n",
              if (x$converged) "converged" else "NOT converged",
              x$method, x$iterations, x$gradient_norm, x$loss))
  print(x$value)
  invisible(x)
}

#' @export
summary.riemdp_optimum <- function(object, ...) {
  as.data.frame(c(list(manifold = label_manifold(object$manifold)),
                  object[c("n", "method", "loss", "gradient_norm", "iterations", "evaluations", "converged")]))
}

# mean loss and gradient at p: for tests and for tuning on data that may be seen
nonprivate_objective <- function(problem, data, p) {
  input <- problem_call(check_problem(problem), data, private = FALSE)
  .Call(riemdp_objective_nonprivate, problem$manifold, input$data, input$kind, input$threshold, input$fun, input$n, p)
}
