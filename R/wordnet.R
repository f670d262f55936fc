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
