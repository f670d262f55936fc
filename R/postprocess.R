# What may be done with a release afterwards: any function of it and of public things keeps its guarantee.

# Landmarks of every accepted shape as a complex k x n matrix, and back
read_landmarks <- function(x, name) {
  if (is.object(x) && !inherits(x, "data.frame")) x <- unclass(x)
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  d <- dim(x)
  if (is.complex(x) && length(d) <= 2) {
    z <- matrix(as.vector(x), if (is.null(d)) length(x) else d[1])
  } else if (is.numeric(x) && length(d) %in% 2:3 && d[2] == 2) {
    y <- array(as.double(x), c(d[1], 2, if (length(d) == 3) d[3] else 1))
    z <- matrix(complex(real = y[, 1, ], imaginary = y[, 2, ]), d[1])
  } else {
    abort_riemdp("shape", sprintf(paste("`%s` must hold landmarks: a complex vector, a complex k x n matrix, a k x 2",
                                        "matrix or a k x 2 x n array."), name))
  }
  if (nrow(z) < 3) abort_riemdp("shape", sprintf("`%s` must have at least three landmarks.", name))
  if (!all(is.finite(Re(z)) & is.finite(Im(z)))) {
    abort_riemdp("not_finite", sprintf("`%s` must hold finite numbers only.", name))
  }
  z
}

write_landmarks <- function(z, like) {
  if (is.data.frame(like)) like <- data_frame_matrix(like)
  out <- if (is.complex(like)) as.vector(z) else as.vector(rbind(Re(z), Im(z)))
  dim(out) <- dim(like)
  dimnames(out) <- dimnames(like)
  out
}

# applies f to the landmarks of a release of shapes, or of plain configurations
on_landmarks <- function(x, name, f) {
  if (!inherits(x, "riemdp_release")) return(write_landmarks(f(read_landmarks(x, name)), x))
  if (!inherits(x$manifold, "riemdp_manifold") || !inherits(x$manifold, "riemdp_kendall")) {
    abort_riemdp("unsupported", sprintf("`%s` must be a release on kendall(), or landmarks.", name))
  }
  write_landmarks(f(read_landmarks(x$value, name)), x$value)
}

#' Smoothing of a released outline
#'
#' Local linear regression of landmarks along their outline, for shapes whose landmarks follow a curve in order. A
#' function of the release and of public settings only, so a release keeps its guarantee, and says that it was
#' post-processed.
#'
#' At landmark j, the line \eqn{a + b (t - t_j)} is fitted to each coordinate with Epanechnikov weights
#' \eqn{1 - ((t_i - t_j)/h)^2} for \eqn{|t_i - t_j| < h}, and a is the smoothed value (Fan and Gijbels 1996). On a
#' closed outline t runs round, and differences are taken the shorter way. Constants are reproduced exactly, and lines
#' are wherever the window sees one.
#'
#' Without a bandwidth the one with the least leave-one-out error on the grid `2^(0:12/3) * 1.5/k` below .25 is taken: a
#' choice from the release itself. Noise of a released shape isn't independent from landmark to landmark, so this is a
#' rule of thumb.
#'
#' @param x a release of [dp_mean()] on [kendall()], or landmarks: a complex vector, a complex k x n matrix, a k x 2
#'   matrix or a k x 2 x n array.
#' @param bandwidth half the width h of the window as a share of the whole outline, from above 1/k (index) to .5; or
#'   `NULL`.
#' @param closed whether the last landmark is followed by the first.
#' @param position `"index"`: landmarks are equally far apart in t; `"arclength"`: in proportion to the lengths of the
#'   outline's edges, those of `x` itself.
#' @return As `x`: for a release, the release with the smoothed shape (centred and of size 1) as `value`, the bandwidth
#'   in `smoothing` and a line in `post_processed`; for landmarks, the smoothed landmarks.
#' @references
#' Fan, J. and Gijbels, I. (1996). *Local Polynomial Modelling and Its Applications*. Chapman and Hall.
#' \doi{10.1201/9780203748725}
#'
#' Soto, C., Bharath, K., Reimherr, M. and Slavković, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35, 24693-24705. \doi{10.48550/arXiv.2209.12667}
#' @seealso [align_shapes()]
#' @examples
#' # a public template: the first simulated outline stands for one from an atlas
#' r <- dp_mean(callosa[, , -1], kendall(50), epsilon = 2, center = callosa[, , 1], radius = 0.3)
#' s <- smooth_outline(r, bandwidth = 0.06)
#' s
#' plot(align_shapes(s, callosa[, , 1])$value, type = "l", asp = 1)
#' @export
smooth_outline <- function(x, bandwidth = NULL, closed = TRUE, position = c("index", "arclength")) {
  closed <- check_flag(closed, "closed", TRUE)
  position <- check_choice(position, "position", c("index", "arclength"))
  if (!is.null(bandwidth)) {
    bandwidth <- check_number(bandwidth, "bandwidth", least = 0, most = if (closed) 0.5 else 1)
  }
  used <- NULL
  value <- on_landmarks(x, "x", function(z) {
    out <- z
    used <<- double(ncol(z))
    for (i in seq_len(ncol(z))) {
      fit <- smooth_curve(z[, i], bandwidth, closed, position)
      out[, i] <- fit$value
      used[i] <<- fit$bandwidth
    }
    out
  })
  if (!inherits(x, "riemdp_release")) return(value)
  value <- mf_project(x$manifold, value)
  out <- post_processed(x, value,
                        sprintf("local linear smoothing of the outline, Epanechnikov kernel, bandwidth %.4g (%s)", used,
                                if (is.null(bandwidth)) "chosen from the release" else "given"))
  out$smoothing <- list(kernel = "Epanechnikov", bandwidth = used, closed = closed, position = position)
  out
}

# positions on [0, 1): of landmarks in order
outline_positions <- function(z, closed, position) {
  k <- length(z)
  edge <- if (position == "index") rep(1, k) else Mod(c(z[-1], z[1]) - z)
  if (!closed) edge <- edge[-k]
  if (!(sum(edge) > 0)) abort_riemdp("zero_size", "the landmarks of `x` must not all coincide.")
  (cumsum(c(0, edge)) / sum(edge))[seq_len(k)]
}

# rows: weights of all landmarks in the smoothed value of each
smoother_matrix <- function(t, h, closed) {
  gap <- outer(t, t, function(a, b) b - a)
  if (closed) gap <- gap - round(gap)
  w <- pmax(1 - (gap / h)^2, 0)
  dim(w) <- dim(gap)
  s1 <- rowSums(w * gap)
  s2 <- rowSums(w * gap^2)
  total <- rowSums(w)
  det <- total * s2 - s1^2
  # where all weight lies at one position no line can be told: the weighted mean
  flat <- !(det > 1e-12 * total * pmax(s2, h^2 * 1e-6))
  out <- w * (s2 - gap * s1) / det
  out[flat, ] <- (w / total)[flat, ]
  out
}

smooth_curve <- function(z, bandwidth, closed, position) {
  t <- outline_positions(z, closed, position)
  k <- length(z)
  if (is.null(bandwidth)) {
    grid <- 1.5 / k * 2^(0:12 / 3)
    grid <- grid[grid <= 0.25]
    if (length(grid) == 0) grid <- 0.5
    error <- vapply(grid, function(h) {
      s <- smoother_matrix(t, h, closed)
      mean(Mod((z - drop(s %*% z)) / (1 - diag(s)))^2)
    }, numeric(1))
    bandwidth <- if (any(is.finite(error))) grid[which.min(error)] else grid[1]
  } else if (!(bandwidth * k > 1)) {
    abort_riemdp("argument",
                 sprintf("`bandwidth` must be above 1/k = %.4g: the window must hold a landmark's neighbours.", 1 / k))
  }
  list(value = drop(smoother_matrix(t, bandwidth, closed) %*% z), bandwidth = bandwidth)
}

#' Shapes turned to a template
#'
#' Turns configurations of landmarks to a public template, for display. A shape is the same however it lies, so the
#' released point stays the same; a function of the release and of public things only, so a release keeps its guarantee.
#'
#' @param x a release of [dp_mean()] on [kendall()], or landmarks: a complex vector, a complex k x n matrix, a k x 2
#'   matrix or a k x 2 x n array.
#' @param template a public configuration, complex vector or k x 2 matrix, or a release. A non-private [frechet_mean()]
#'   is refused beside a release.
#' @param scale `FALSE`: turned only, the template taken as centred. `TRUE`: also moved and scaled to the template's
#'   position and size (least squares), so that it can be drawn over it.
#' @return As `x`; for a release, with the turned configuration as `value` and a line in `post_processed`.
#' @references Goodall, C. (1991). Procrustes methods in the statistical analysis of shape. *Journal of the Royal
#'   Statistical Society B* 53, 285-339. \doi{10.1111/j.2517-6161.1991.tb01825.x}
#' @seealso [smooth_outline()]
#' @examples
#' x <- callosa[, , 2]
#' y <- align_shapes(x, callosa[, , 1], scale = TRUE)
#' sum((y - callosa[, , 1])^2) <= sum((x - callosa[, , 1])^2)
#' @export
align_shapes <- function(x, template, scale = FALSE) {
  scale <- check_flag(scale, "scale")
  if (inherits(template, "riemdp_frechet_mean")) {
    if (inherits(x, "riemdp_release")) {
      abort_riemdp("argument", "`template` must be public: a non-private Frechet mean of records is not.")
    }
    template <- template$mean
  }
  if (inherits(template, "riemdp_release")) template <- template$value
  to <- read_landmarks(template, "template")
  if (ncol(to) != 1) abort_riemdp("shape", "`template` must be one configuration.")
  to <- drop(to)
  centre <- mean(to)
  to <- to - centre
  if (!(sum(Mod(to)^2) > 0)) abort_riemdp("zero_size", "the landmarks of `template` must not all coincide.")
  value <- on_landmarks(x, "x", function(z) {
    if (nrow(z) != length(to)) {
      abort_riemdp("shape", sprintf("`template` has %d landmarks, `x` has %d.", length(to), nrow(z)))
    }
    for (i in seq_len(ncol(z))) {
      y <- z[, i] - mean(z[, i])
      inner <- sum(Conj(y) * to)
      size <- sum(Mod(y)^2)
      z[, i] <- if (scale) {
        y * (if (size > 0) inner / size else 1) + centre
      } else {
        z[, i] * (if (Mod(inner) > 0) inner / Mod(inner) else 1)
      }
    }
    z
  })
  if (!inherits(x, "riemdp_release")) return(value)
  post_processed(x, value, if (scale) "turned, moved and scaled to a template" else "turned to a template")
}
