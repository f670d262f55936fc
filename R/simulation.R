# State of the process: an environment of the namespace, not an option or a variable that a worker could inherit half.
simulation <- new.env(parent = emptyenv())
simulation$depth <- 0L
# what a private release may still draw, see private-release.R
purse <- new.env(parent = emptyenv())

in_simulation <- function() simulation$depth > 0L

#' Reproducible studies with noise that is not private
#'
#' Private functions draw their noise from a cryptographic generator (ChaCha20) that the operating system keys anew for
#' each call, in lattice mode from the operating system's own bits, and [set.seed()] has no say: noise that can be drawn
#' again protects nobody. For simulation studies `with_simulation()` evaluates an expression with noise from R's
#' generator instead, started at `seed`. **Every release made inside is labelled `none`** (see [guarantee()]).
#'
#' The kind of generator is pinned (Mersenne-Twister, inversion, rejection), so that results don't depend on the
#' session. Afterwards `.Random.seed` and the kind are as before, also after an error or an interrupt. Calls nest: an
#' inner call has its own stream and gives back the outer one.
#'
#' @param seed one whole number.
#' @param expr expression to evaluate.
#' @return The value of `expr`.
#' @seealso [dp_mean()], [laplace_noise()]
#' @examples
#' x <- mf_random(sphere(2), 5)
#' one <- with_simulation(1, laplace_noise(sphere(2), c(0, 0, 1), 0.1, 2))
#' two <- with_simulation(1, laplace_noise(sphere(2), c(0, 0, 1), 0.1, 2))
#' identical(one, two)
#' @export
with_simulation <- function(seed, expr) {
  seed <- check_count(seed, "seed", -.Machine$integer.max, .Machine$integer.max)
  env <- globalenv()
  had <- exists(".Random.seed", envir = env, inherits = FALSE)
  before <- if (had) get(".Random.seed", envir = env, inherits = FALSE)
  kind <- RNGkind()
  drawing <- purse$open
  depth <- simulation$depth
  purse$open <- NULL
  on.exit({
    # first, and to what it was: a time limit may end this in the middle
    simulation$depth <- depth
    purse$open <- drawing
    do.call(RNGkind, as.list(kind))
    if (had) {
      assign(".Random.seed", before, envir = env)
    } else if (exists(".Random.seed", envir = env, inherits = FALSE)) {
      rm(".Random.seed", envir = env)
    }
  })
  simulation$depth <- depth + 1L
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  force(expr)
}
