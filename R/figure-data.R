# Data of the papers' figures: exported names and their pages. The code serves nothing else, and stands with the figures
# in inst/reproduce/data.R.

# the functions of that file, below the namespace: read when the first of them is asked for, and kept for the session
figure_functions <- new.env()

figure_function <- function(name) {
  if (is.null(figure_functions[[name]])) {
    sys.source(system.file("reproduce", "data.R", package = "riemdp", mustWork = TRUE), figure_functions)
  }
  figure_functions[[name]]
}

#' Tiles of an image
#'
#' Cuts an image into square tiles without overlap, column by column; what is left at the right and lower border is
#' dropped.
#'
#' A 512 x 512 image such as `ihc.png` of scikit-image gives 324 tiles of 28 x 28, the size of the images in Utpala et
#' al. (2023).
#'
#' @param image a matrix, or an array rows x columns x channels, e.g. of `png::readPNG()`.
#' @param size pixels along a tile's side.
#' @param channels how many channels to keep: 3 drops transparency.
#' @return An array size x size x n, or size x size x channels x n.
#' @seealso [covariance_descriptors()]
#' @examples
#' dim(image_tiles(volcano, size = 28))
#' @export
image_tiles <- function(image, size = 28, channels = 3) figure_function("image_tiles")(image, size, channels)

#' Simulated images
#'
#' Images drawn at random, for studies of the size of those in Utpala et al. (2023) where their image collections aren't
#' at hand. No picture of a patient or writer went into them. They follow [set.seed()].
#'
#' `simulate_tissue()`: colour images of a stained section. A pixel's colour is a convex combination of three public
#' colours: pale background (.93, .90, .93), a pink (.86, .62, .76) and a violet (.45, .32, .62). The share of pink is
#' the normal distribution function of a smooth Gaussian field \eqn{m_1 + .8 F_1}, the violet's that of
#' \eqn{m_2 + 1.1 F_2} (it covers the pink); every image has its own \eqn{m_1 \sim N(0, 1)},
#' \eqn{m_2 \sim N(-1.2, .6^2)} and brightness, a factor \eqn{e^{.08 z}}. A field is white noise averaged over a square
#' window of 5 (\eqn{F_1}) or 3 pixels (\eqn{F_2}), twice, and scaled to unit variance. Every channel gets normal noise
#' of standard deviation .02, and is cut to 0 to 1.
#'
#' `simulate_digits()`: the digit 0 in grey. The pixel at distance \eqn{d} (in units of the image's half width) from a
#' tilted ellipse has \eqn{e^{-d^2/(2 t^2)}}, with the distance to first order. Half axes are \eqn{.62 e^{.12 z_1}} up
#' and \eqn{.42 e^{.2 z_2}} across, the tilt \eqn{.2 + .25 z_3} radians, the centre \eqn{.05 (z_4, z_5)},
#' \eqn{t = .11 e^{.25 z_6}}; the \eqn{z_j} are standard normals restricted to \eqn{\pm 2.5}. Values below .05 are 0.
#'
#' @param n number of images. The paper's sets have 10,704 and 10,356 sections, 6,903 and 7,877 digits (a 0 and a 1
#'   each).
#' @param size pixels along a side.
#' @return `simulate_tissue()`: an array size x size x 3 x n; `simulate_digits()`: size x size x n. Numbers from 0 to 1.
#' @references
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#' @seealso [covariance_descriptors()], [images_to_sphere()]
#' @examples
#' set.seed(1)
#' image <- simulate_tissue(1)
#' plot(as.raster(image[, , , 1]), interpolate = FALSE)
#' digits <- simulate_digits(3)
#' plot(as.raster(digits[, , 1]), interpolate = FALSE)
#' @export
simulate_tissue <- function(n, size = 28) figure_function("simulate_tissue")(n, size)

#' @rdname simulate_tissue
#' @export
simulate_digits <- function(n, size = 28) figure_function("simulate_digits")(n, size)

#' The mammals of WordNet
#'
#' Reads the mammal subtree of WordNet from its data files: synsets from which mammal.n.01 is reached by hypernym edges
#' ("is a") and instance edges ("is an instance of"), and the transitive closure of these edges. With version 3.0 and
#' the default `drop` it has 1,180 nodes and 6,540 edges, the graph that Nickel and Kiela (2017) and Utpala et al.
#' (2023) embed.
#'
#' The whole subtree has two synsets more, the leaves tusker.n.01 and female_mammal.n.01, which that graph lacks. Names
#' are the usual ones: first word of the synset, part of speech, and number of the word's sense.
#'
#' @param path directory with the files `data.noun` and `index.noun`, e.g. of the Debian package wordnet-base.
#' @param root name of the subtree's root.
#' @param drop names of leaves to leave out.
#' @return A list: `nodes` (names, sorted), `edges` (a data frame with `child` and `ancestor`, numbers of nodes: the
#'   transitive closure without the pairs of a node with itself), `direct` (the same for single steps). Errors:
#'   `riemdp_error_argument` where files are missing or aren't WordNet's, or a name isn't there.
#' @references
#' Miller, G. A. (1995). WordNet: a lexical database for English. *Communications of the ACM* 38(11), 39-41.
#' \doi{10.1145/219717.219748}
#'
#' Nickel, M. and Kiela, D. (2017). Poincare embeddings for learning hierarchical representations. *Advances in Neural
#' Information Processing Systems* 30.
#' @seealso [poincare_embedding()]
#' @examples
#' path <- "/usr/share/wordnet"
#' if (file.exists(file.path(path, "data.noun"))) {
#'   mammals <- read_wordnet_mammals(path)
#'   length(mammals$nodes)
#'   nrow(mammals$edges)
#' }
#' @export
read_wordnet_mammals <- function(path = "/usr/share/wordnet", root = "mammal.n.01",
                                 drop = c("tusker.n.01", "female_mammal.n.01")) {
  figure_function("read_wordnet_mammals")(path, root, drop)
}
