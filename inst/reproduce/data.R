# Records of Figure 3 of Utpala, Han, Jawanpuria and Mishra (2023), in plain R, for paper-002-optimisers.R, the article
# on optimisation and whoever sources it: covariance descriptors of images, simulated images, WordNet's mammals and
# Poincare embeddings of graphs. Nothing here is private, nor checked as what the package exports is. What is drawn
# follows set.seed().

# Descriptors of colour images (rows x columns x 3 x n, numbers of 0 to 1), an array 11 x 11 x n of points of spd(11):
# the covariance matrix of the pixels' features column, row, red, green, blue, |Ix|, |Iy|, |Ixx|, |Iyy|, sqrt(Ix^2 +
# Iy^2) and arctan(|Ix| / |Iy|), I the intensity, and `eta` on the diagonal (Tuzel, Porikli and Meer 2006,
# doi:10.1007/11744047_45; Utpala et al. 2023, Appendix C.1). Two misprints of the latter are mended: its filter for Iy
# repeats the one for Ix, which has a wrong row, and its last feature is a quotient of intensities. Derivatives are
# Sobel's (1, 2, 1)/4 times (1, 0, -1) and (1, 4, 6, 4, 1)/32 times (1, 0, -2, 0, 1); pixels beyond the border repeat
# it, and where both derivatives vanish the angle is 0.
covariance_descriptors <- function(images, eta = 1e-6, weights = c(0.299, 0.587, 0.114)) {
  d <- c(dim(images), 1)[1:4]
  stopifnot(is.numeric(images), d[3] == 3, eta > 0, length(weights) == 3)
  images <- array(images, d)
  grey <- Reduce(`+`, lapply(1:3, function(j) weights[j] * images[, , j, , drop = FALSE]))
  dim(grey) <- d[-3]
  along <- function(x, weights, side) {
    half <- (length(weights) - 1) / 2
    Reduce(`+`, lapply(which(weights != 0), function(i) {
      at <- pmin(pmax(seq_len(d[side]) + i - 1 - half, 1), d[side])
      weights[i] * if (side == 1) x[at, , , drop = FALSE] else x[, at, , drop = FALSE]
    }))
  }
  smooth <- c(1, 2, 1) / 4
  wide <- c(1, 4, 6, 4, 1) / 32
  bend <- c(1, 0, -2, 0, 1)
  across <- abs(along(along(grey, smooth, 1), c(1, 0, -1), 2))
  down <- abs(along(along(grey, c(1, 0, -1), 1), smooth, 2))
  features <- list(rep(seq_len(d[2]), each = d[1]), rep(seq_len(d[1]), d[2]),
                   images[, , 1, ], images[, , 2, ], images[, , 3, ], across, down,
                   abs(along(along(grey, wide, 1), bend, 2)), abs(along(along(grey, bend, 1), wide, 2)),
                   sqrt(across^2 + down^2), atan2(across, down))
  features <- lapply(features, function(f) matrix(f, d[1] * d[2], d[4]))
  out <- array(0, c(11, 11, d[4]))
  for (i in seq_len(d[4])) {
    f <- vapply(features, function(f) f[, i], double(d[1] * d[2]))
    f <- f - rep(colMeans(f), each = nrow(f))
    out[, , i] <- crossprod(f) / nrow(f) + eta * diag(11)
  }
  out
}

# Points of the sphere with as many coordinates as pixels, one a row, of images (rows x columns x n): the pixels as one
# vector of length 1. An image without light becomes the point whose coordinates are all equal.
images_to_sphere <- function(images) {
  x <- t(matrix(images, prod(dim(images)[1:2])))
  x[rowSums(x^2) == 0, ] <- 1
  x / sqrt(rowSums(x^2))
}

# Colour images of a stained section, size x size x 3 x n. A pixel is a convex combination of a pale background, a pink
# and a violet, whose shares are the normal distribution function of smooth Gaussian fields; every image has its own
# shares and brightness, every channel noise.
simulate_tissue <- function(n, size = 28) {
  pixels <- size^2
  colours <- cbind(c(0.93, 0.90, 0.93), c(0.86, 0.62, 0.76), c(0.45, 0.32, 0.62))
  out <- array(0, c(pixels, 3, n))
  # in blocks, so that memory stays small
  for (begin in seq(1, n, by = 1000)) {
    block <- begin:min(n, begin + 999)
    k <- length(block)
    each <- function(x) rep(x, each = pixels)
    pink <- stats::pnorm(each(stats::rnorm(k)) + 0.8 * as.vector(smooth_field(k, size, 5)))
    violet <- stats::pnorm(each(stats::rnorm(k, -1.2, 0.6)) + 1.1 * as.vector(smooth_field(k, size, 3)))
    light <- each(exp(0.08 * stats::rnorm(k)))
    for (c in 1:3) {
      value <- (1 - violet) * ((1 - pink) * colours[c, 1] + pink * colours[c, 2]) + violet * colours[c, 3]
      out[, c, block] <- pmin(1, pmax(0, light * value + 0.02 * stats::rnorm(k * pixels)))
    }
  }
  array(out, c(size, size, 3, n))
}

# size x size x k: white noise, averaged twice over a window that wraps round, unit variance
smooth_field <- function(k, size, window) {
  x <- array(stats::rnorm(size^2 * k), c(size, size, k))
  half <- (window - 1) / 2
  average <- function(x) {
    shifted <- function(s) (seq_len(size) - 1 + s) %% size + 1
    x <- Reduce(`+`, lapply(-half:half, function(s) x[shifted(s), , , drop = FALSE]))
    Reduce(`+`, lapply(-half:half, function(s) x[, shifted(s), , drop = FALSE]))
  }
  # a box convolved with itself has weights 1, ..., window, ..., 1 along each side
  weights <- c(seq_len(window), rev(seq_len(window - 1)))
  average(average(x)) / sum(weights^2)
}

# The digit 0 in grey, size x size x n: exp(-d^2 / (2 t^2)) at distance d from a tilted ellipse, whose axes, tilt, place
# and stroke are restricted normals
simulate_digits <- function(n, size = 28) {
  z <- matrix(stats::qnorm(stats::runif(6 * n, stats::pnorm(-2.5), stats::pnorm(2.5))), n)
  place <- (seq_len(size) - 0.5) / size * 2 - 1
  across <- rep(place, each = size)
  down <- rep(place, size)
  image <- function(i) {
    tilt <- 0.2 + 0.25 * z[i, 3]
    x <- across - 0.05 * z[i, 4]
    y <- down - 0.05 * z[i, 5]
    u <- (x * cos(tilt) + y * sin(tilt)) / (0.42 * exp(0.2 * z[i, 2]))
    v <- (-x * sin(tilt) + y * cos(tilt)) / (0.62 * exp(0.12 * z[i, 1]))
    radius <- sqrt(u^2 + v^2)
    # |f| over the length of its gradient
    slope <- sqrt((u / (0.42 * exp(0.2 * z[i, 2])))^2 + (v / (0.62 * exp(0.12 * z[i, 1])))^2) / pmax(radius, 1e-9)
    ink <- exp(-((radius - 1) / pmax(slope, 1e-9))^2 / (2 * (0.11 * exp(0.25 * z[i, 6]))^2))
    ink[ink < 0.05] <- 0
    ink
  }
  array(vapply(seq_len(n), image, double(size^2)), c(size, size, n))
}

# WordNet's mammals from the folder of its files (Debian: wordnet-base): synsets from which `root` is reached by "is a"
# and "is an instance of". list(nodes, edges, direct): names, all pairs of a node and an ancestor, and those of one
# step. With version 3.0 1,180 nodes and 6,540 edges, the graph of Nickel and Kiela (2017) and Utpala et al. (2023),
# which lacks the two leaves of `drop`.
read_wordnet_mammals <- function(path = "/usr/share/wordnet", root = "mammal.n.01",
                                 drop = c("tusker.n.01", "female_mammal.n.01")) {
  files <- file.path(path, c("data.noun", "index.noun"))
  nouns <- read_synsets(files[1])
  name <- paste0(nouns$word, ".n.", sense_numbers(files[2], nouns))
  top <- which(name == root)
  stopifnot("`root` must name one synset" = length(top) == 1)
  # down from the root
  parent <- match(nouns$parent, nouns$offset)
  found <- reached <- top
  while (length(reached)) {
    reached <- setdiff(nouns$child[parent %in% reached], found)
    found <- c(found, reached)
  }
  out <- match(drop, name[found])
  stopifnot("`drop` must name nodes of the subtree" = !anyNA(out))
  keep <- nouns$child %in% found & parent %in% found
  stopifnot("`drop` may name leaves only" = !any(found[out] %in% parent[keep]))
  found <- if (length(out)) found[-out] else found
  found <- found[order(name[found], method = "radix")]
  keep <- keep & nouns$child %in% found & parent %in% found
  direct <- cbind(child = match(nouns$child[keep], found), ancestor = match(parent[keep], found))
  direct <- unique(direct[order(direct[, 1], direct[, 2]), , drop = FALSE])
  edges <- transitive_closure(direct)
  list(nodes = name[found], edges = as.data.frame(edges), direct = as.data.frame(direct))
}

# offset, first word and hypernyms of each synset; `child` is a row number, `parent` an offset
read_synsets <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  lines <- lines[grepl("^[0-9]{8} ", lines)]
  fields <- strsplit(sub(" [|].*$", "", lines), " ", fixed = TRUE)
  offset <- vapply(fields, `[`, "", 1)
  word <- vapply(fields, `[`, "", 5)
  pointers <- lapply(fields, function(f) {
    at <- 5 + 2 * strtoi(f[4], 16L) # words come with a number each
    count <- as.integer(f[at])
    start <- at + 1 + 4 * (seq_len(count) - 1)
    f[start + 1][f[start] %in% c("@", "@i") & f[start + 2] == "n"]
  })
  list(offset = offset, word = tolower(word), child = rep(seq_along(offset), lengths(pointers)),
       parent = unlist(pointers))
}

# "01", "02", ...: place of the synset among the senses of its first word, as index.noun lists them
sense_numbers <- function(file, nouns) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  lines <- lines[!startsWith(lines, " ")]
  fields <- strsplit(trimws(lines), " +")
  word <- vapply(fields, `[`, "", 1)
  senses <- lapply(fields, function(f) f[grepl("^[0-9]{8}$", f)])
  key <- paste(rep(word, lengths(senses)), unlist(senses))
  sense <- sequence(lengths(senses))[match(paste(nouns$word, nouns$offset), key)]
  ifelse(is.na(sense), "00", sprintf("%02d", sense))
}

# all pairs (node, ancestor), sorted; a node that is its own ancestor is left out
transitive_closure <- function(direct) {
  known <- new <- direct
  repeat {
    step <- merge(as.data.frame(new), data.frame(ancestor = direct[, 1], above = direct[, 2]), by = "ancestor")
    pairs <- unique(cbind(child = step$child, ancestor = step$above))
    seen <- paste(pairs[, 1], pairs[, 2]) %in% paste(known[, 1], known[, 2]) | pairs[, 1] == pairs[, 2]
    new <- pairs[!seen, , drop = FALSE]
    if (!nrow(new)) break
    known <- rbind(known, new)
  }
  known[order(known[, 1], known[, 2]), , drop = FALSE]
}

# The nodes of a graph as points of hyperbolic(dimension, "ball"), near where there is an edge (Nickel and Kiela 2017,
# doi:10.48550/arXiv.1705.08039, equations 3 to 6). `edges`: two columns of numbers from 1. The loss of an edge (u, v)
# is d(u, v) + log(sum of exp(-d(u, w)) over v and `negatives` random nodes w that u has no edge to); a step moves all
# of them against its Riemannian gradient, and back to length 1 - 1e-5 where it leads beyond. Edges come in random
# order, once an epoch; the first `burn_in` epochs have a tenth of the step size. list(points, loss), a mean loss for
# each epoch.
poincare_embedding <- function(edges, dimension = 5, epochs = 300, negatives = 10, lr = 0.3, burn_in = 10,
                               start = NULL) {
  edges <- unique(as.matrix(edges))
  nodes <- max(edges)
  x <- if (is.null(start)) matrix(stats::runif(nodes * dimension, -1e-3, 1e-3), nodes) else start
  near <- split(edges[, 2], factor(edges[, 1], seq_len(nodes)))
  loss <- double(epochs)
  for (epoch in seq_len(epochs)) {
    rate <- if (epoch <= burn_in) lr / 10 else lr
    for (i in sample.int(nrow(edges))) {
      u <- edges[i, 1]
      others <- sample.int(nodes, negatives, replace = TRUE)
      at <- c(edges[i, 2], others[!others %in% c(u, near[[u]])])
      moved <- embedding_step(x, u, at, rate)
      loss[epoch] <- loss[epoch] + moved$loss / nrow(edges)
      x <- moved$x
    }
  }
  list(points = x, loss = loss)
}

embedding_step <- function(x, u, at, rate) {
  p <- x[u, ]
  q <- x[at, , drop = FALSE]
  a <- 1 - sum(p^2)
  b <- 1 - rowSums(q^2)
  apart <- rowSums((q - rep(p, each = length(at)))^2)
  distance <- 2 * asinh(sqrt(apart / (a * b)))
  shares <- exp(min(distance) - distance)
  weight <- (seq_along(at) == 1) - shares / sum(shares) # derivative of the loss in each distance
  # the Riemannian gradients of a distance; at one place no direction is better than another
  t <- 2 * apart / (a * b)
  root <- sqrt(t * (2 + t))
  weight[root < 1e-12] <- 0
  root[root < 1e-12] <- 1
  cross <- drop(q %*% p)
  of_p <- colSums(weight * a^2 / (b * root) * (outer((1 - b - 2 * cross + 1) / a^2, p) - q / a))
  of_q <- weight * b^2 / (a * root) * ((1 - a - 2 * cross + 1) / b^2 * q - outer(1 / b, p))
  x[u, ] <- x[u, ] - rate * of_p
  for (i in seq_along(at)) x[at[i], ] <- x[at[i], ] - rate * of_q[i, ] # a node may be drawn twice
  touched <- c(u, at)
  long <- sqrt(rowSums(x[touched, , drop = FALSE]^2))
  x[touched, ] <- x[touched, , drop = FALSE] * pmin(1, (1 - 1e-5) / long)
  list(x = x, loss = distance[1] - min(distance) + log(sum(shares)))
}
