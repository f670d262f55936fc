# Data of the papers' figures: tiles of images, simulated images, WordNet's mammals. The exported functions of these
# names hand over to the ones here (R/figure-data.R), which are read into an environment below the package's namespace.

image_tiles <- function(image, size, channels) {
  size <- check_count(size, "size", most = 1e5)
  d <- dim(image)
  if (!is.numeric(image) || is.object(image) || !length(d) %in% 2:3 || any(d == 0)) {
    abort_riemdp("shape", "`image` must be a numeric matrix, or an array of rows x columns x channels.")
  }
  down <- d[1] %/% size
  across <- d[2] %/% size
  if (down * across == 0) abort_riemdp("shape", "`image` is smaller than one tile.")
  k <- if (length(d) == 3) min(d[3], check_count(channels, "channels")) else 1L
  image <- array(image, c(d[1:2], if (length(d) == 3) d[3] else 1))
  image <- image[seq_len(down * size), seq_len(across * size), seq_len(k), drop = FALSE]
  tiles <- aperm(array(as.double(image), c(size, down, size, across, k)), c(1, 3, 5, 2, 4))
  array(tiles, c(size, size, if (length(d) == 3) k, down * across))
}

simulate_tissue <- function(n, size) {
  if (missing(n)) abort_no_default("n")
  n <- check_count(n, "n", most = 1e5)
  size <- check_count(size, "size", least = 5, most = 256)
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

simulate_digits <- function(n, size) {
  if (missing(n)) abort_no_default("n")
  n <- check_count(n, "n", most = 1e5)
  size <- check_count(size, "size", least = 2, most = 256)
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

read_wordnet_mammals <- function(path, root, drop) {
  words <- function(x, name) {
    if (!is.character(x) || is.object(x) || anyNA(x)) abort_riemdp("argument", sprintf("`%s` must be character.", name))
    x
  }
  if (length(words(path, "path")) != 1) abort_riemdp("argument", "`path` must be one directory.")
  if (length(words(root, "root")) != 1) abort_riemdp("argument", "`root` must be one name.")
  words(drop, "drop")
  files <- file.path(path, c("data.noun", "index.noun"))
  if (!all(file.exists(files))) {
    abort_riemdp("argument",
                 "`path` must be a directory with WordNet's files data.noun and index.noun (Debian: wordnet-base).")
  }
  nouns <- tryCatch(read_synsets(files[1]), error = function(e) NULL)
  if (is.null(nouns) || !length(nouns$offset)) abort_riemdp("argument", "the file data.noun isn't one of WordNet's.")
  name <- paste0(nouns$word, ".n.", sense_numbers(files[2], nouns))
  top <- which(name == root)
  if (length(top) != 1) abort_riemdp("argument", "`root` names no synset, or several.")
  # down from the root
  parent <- match(nouns$parent, nouns$offset)
  found <- reached <- top
  while (length(reached)) {
    reached <- setdiff(nouns$child[parent %in% reached], found)
    found <- c(found, reached)
  }
  out <- match(drop, name[found])
  if (anyNA(out)) abort_riemdp("argument", "a name in `drop` isn't in the subtree.")
  keep <- nouns$child %in% found & parent %in% found
  if (any(found[out] %in% parent[keep])) abort_riemdp("argument", "`drop` may name leaves only.")
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
