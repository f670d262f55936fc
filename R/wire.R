# Messages between an analyst and a site as text: JSON of few types, which is read by a parser that knows nothing else.
# Nothing that comes from outside is handed to unserialize(), evaluated, or looked up as a name. `schema.json` in
# inst/wire says the same for other languages.

WIRE_VERSION <- 1L
# longest message in bytes, most levels of brackets, longest string
WIRE_MOST <- 2^26
WIRE_DEPTH <- 40
WIRE_STRING <- 2000
# longest message that a site reads, and most bytes outside of strings
REQUEST_MOST <- 2^22
WIRE_SIGNS <- 2e5
# most numbers of one value
WIRE_NUMBERS <- 4e6

abort_wire <- function(...) abort_riemdp("wire", paste0("this is no message: ", ...))

need_jsonlite <- function() {
  if (requireNamespace("jsonlite", quietly = TRUE)) return(invisible())
  abort_riemdp("unsupported", "messages between sites need the package 'jsonlite': install.packages(\"jsonlite\").")
}

# ---- text and tree ---------------------------------------------------------------------------------------------------

# A tree of lists, strings, whole numbers, flags and NULL, or an error. Strings have no escapes: what is sent has no
# need of them, and so brackets can be counted before a recursive parser sees the text.
wire_parse <- function(text, most = WIRE_MOST) {
  need_jsonlite()
  if (!is.character(text) || length(text) != 1 || is.na(text)) abort_wire("one string is wanted.")
  size <- nchar(text, "bytes")
  if (size > most) abort_wire(sprintf("more than %.0f bytes.", most))
  # printable ASCII without a backslash
  if (size == 0 || grepl("[^ -\\[\\]-~]", text, perl = TRUE, useBytes = TRUE)) abort_wire("a character isn't allowed.")
  outside <- charToRaw(gsub("\"[^\"]*+\"", "", text, perl = TRUE, useBytes = TRUE))
  if (length(outside) > WIRE_SIGNS) abort_wire("too many signs outside of strings.")
  depth <- cumsum(outside %in% charToRaw("[{")) - cumsum(outside %in% charToRaw("]}"))
  if (max(0, depth) > WIRE_DEPTH || min(0, depth) < 0 || any(outside == charToRaw("\""))) {
    abort_wire("brackets or quotes.")
  }
  tree <- tryCatch(suppressWarnings(jsonlite::parse_json(text, simplifyVector = FALSE)),
                   error = function(e) abort_wire("no JSON."))
  tree
}

# list(name = value) of a tree's object; names as given and each once
wire_fields <- function(tree, required, optional = character()) {
  names <- names(tree)
  if (!is.list(tree) || is.null(names) || anyDuplicated(names) || !all(required %in% names) ||
      !all(names %in% c(required, optional))) {
    abort_wire("an object has other fields than it should.")
  }
  tree
}

wire_string <- function(tree, pattern = NULL) {
  ok <- is.character(tree) && length(tree) == 1 && !is.na(tree) && nchar(tree, "bytes") <= WIRE_STRING &&
    (is.null(pattern) || grepl(pattern, tree, perl = TRUE))
  if (!isTRUE(ok)) abort_wire("a string isn't as it should be.")
  tree
}

wire_count <- function(tree, most = 2^31 - 1) {
  ok <- is.numeric(tree) && length(tree) == 1 && is.finite(tree) && tree >= 0 && tree <= most && tree == round(tree)
  if (!isTRUE(ok)) abort_wire("a whole number isn't as it should be.")
  as.double(tree)
}

wire_flag <- function(tree) {
  if (!is.logical(tree) || length(tree) != 1 || is.na(tree)) abort_wire("a flag isn't as it should be.")
  tree
}

# ---- numbers ---------------------------------------------------------------------------------------------------------
# The bytes of doubles (or of whole numbers of 32 bits), lowest first, in base 64: bits survive.

wire_numbers <- function(v) {
  bytes <- writeBin(as.vector(v), raw(), endian = "little")
  out <- list(base64(bytes))
  names(out) <- if (is.integer(v)) "integer" else "double"
  if (!is.null(dim(v))) out$dim <- as.list(dim(v))
  out
}

BASE64 <- local({
  allowed <- logical(256)
  allowed[as.integer(charToRaw("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")) + 1] <- TRUE
  allowed
})

read_numbers <- function(tree) {
  type <- if ("integer" %in% names(tree)) "integer" else "double"
  tree <- wire_fields(tree, type, "dim")
  text <- tree[[type]]
  size <- c(integer = 4, double = 8)[[type]]
  if (!is.character(text) || length(text) != 1 || is.na(text)) abort_wire("numbers aren't as they should be.")
  bytes <- charToRaw(text)
  if (length(bytes) %% 4 != 0 || !all(BASE64[as.integer(bytes) + 1]) ||
      any(utils::head(bytes, -2) == charToRaw("="))) {
    abort_wire("numbers aren't in base 64.")
  }
  raw <- jsonlite::base64_dec(text)
  if (length(raw) %% size != 0 || length(raw) > size * WIRE_NUMBERS) abort_wire("too many numbers, or half of one.")
  out <- readBin(raw, type, length(raw) / size, size, endian = "little")
  if (anyNA(out) || !all(is.finite(out))) abort_wire("a number isn't finite.")
  if (is.null(tree$dim)) return(out)
  dim <- vapply(wire_array(tree$dim, 3), wire_count, 0)
  if (prod(dim) != length(out)) abort_wire("another number of numbers than its shape says.")
  array(out, dim)
}

wire_array <- function(tree, most) {
  if (!is.list(tree) || !is.null(names(tree)) || length(tree) > most) abort_wire("an array isn't as it should be.")
  tree
}

# ---- values ----------------------------------------------------------------------------------------------------------

# what toJSON() makes the text of
wire_value <- function(v) {
  if (is.null(v)) return(NULL)
  if (inherits(v, "riemdp_manifold")) return(list(manifold = wire_manifold(v)))
  if (inherits(v, "riemdp_problem")) return(list(problem = wire_problem(v)))
  if (is.object(v) || length(setdiff(names(attributes(v)), c("dim", "names")))) {
    abort_riemdp("unsupported", "a value of this kind isn't sent to sites.")
  }
  if (is.numeric(v)) return(wire_numbers(v))
  if (is.logical(v) && length(v) == 1 && !is.na(v)) return(v)
  if (is_string(v) && wire_plain(v)) return(as.vector(v))
  if (!is.list(v)) abort_riemdp("unsupported", "a value of this kind isn't sent to sites.")
  if (is.null(names(v))) return(list(list = lapply(v, wire_value)))
  if (!all(nzchar(names(v)) & vapply(names(v), wire_plain, NA))) {
    abort_riemdp("unsupported", "a list with such names isn't sent to sites.")
  }
  list(fields = lapply(v, wire_value))
}

# printable ASCII without quotes and backslashes
wire_plain <- function(s) nchar(s, "bytes") <= WIRE_STRING && !grepl("[^ !#-\\[\\]-~]", s, perl = TRUE)

read_value <- function(tree) {
  if (is.null(tree)) return(NULL)
  if (is.character(tree)) return(wire_string(tree))
  if (is.logical(tree)) return(wire_flag(tree))
  if (!is.list(tree) || is.null(names(tree)) || !length(tree)) abort_wire("a value isn't as it should be.")
  if (any(c("double", "integer") %in% names(tree))) return(read_numbers(tree))
  kind <- names(tree)
  if (length(kind) != 1) abort_wire("a value isn't as it should be.")
  inner <- tree[[1]]
  switch(kind,
    manifold = read_manifold(inner),
    problem = read_problem(inner),
    list = lapply(wire_array(inner, 1e5), read_value),
    fields = {
      if (length(inner)) wire_fields(inner, names(inner))
      lapply(inner, read_value)
    },
    abort_wire("a value isn't as it should be.")
  )
}

# ---- manifolds and problems ------------------------------------------------------------------------------------------

# Makers by the name in a manifold's table: of its parameters and of the fields that come along. What they make has to
# be what was meant, which wire_manifold() asks before anything is sent.
WIRE_SPACES <- list(
  euclidean = function(p, f) euclidean(p),
  sphere = function(p, f) sphere(p),
  spd = function(p, f) spd(p, f$metric, f$floor),
  hermitian_spd = function(p, f) hermitian_spd(p, f$floor),
  hyperboloid = function(p, f) hyperbolic(p, "hyperboloid"),
  ball = function(p, f) hyperbolic(p, "ball"),
  stiefel = function(p, f) stiefel(p[1], p[2], f$metric),
  grassmann = function(p, f) grassmann(p[1], p[2]),
  kendall = function(p, f) kendall(p, links = f$links),
  kendall_space = function(p, f) kendall(p, 3, links = f$links),
  size_plane = function(p, f) size_and_shape(p, links = f$links),
  size_space = function(p, f) size_and_shape(p, 3, links = f$links),
  correlation = function(p, f) correlation(p, c(offlog = "off-log", logcholesky = "log-cholesky")[[f$metric]], f$floor),
  rotations = function(p, f) single_space(rotations(p)),
  rotations_frames = function(p, f) rotations(p),
  simplex = function(p, f) simplex(p, f$metric, f$floor),
  psd = function(p, f) psd(p[1], p[2])
)
# spaces that are rescaled ones by another name
WIRE_TITLED <- list(
  rotations = function(M) rotations(M$parts[[1]]$param),
  simplex = function(M) simplex(M$parts[[1]]$param + 1L, "fisher"),
  hyperbolic = function(M) hyperbolic(M$parts[[1]]$param, M$parts[[1]]$model, -1 / M$weights)
)

wire_maker <- function(name) {
  if (!is.null(WIRE_SPACES[[name]])) WIRE_SPACES[[name]] else WIRE_SPACES[[sub("_[a-z-]+$", "", name)]]
}

wire_manifold <- function(M) {
  tree <- manifold_tree(M)
  again <- tryCatch(read_manifold(tree), riemdp_error = function(e) NULL)
  if (!identical(again, M)) abort_riemdp("unsupported", "this manifold isn't sent to sites: it has parts of its own.")
  tree
}

manifold_tree <- function(M) {
  out <- list(name = M$name, param = as.list(as.double(M$param)))
  for (field in intersect(c("metric", "model"), names(M))) out[[field]] <- M[[field]]
  if (!is.null(M$floor)) out$floor <- wire_numbers(M$floor)
  if (!is.null(M$links)) out$links <- wire_numbers(M$links)
  if (is.null(M$parts)) return(out)
  out$weights <- wire_numbers(M$weights)
  if (!is.null(names(M$parts))) out$called <- as.list(names(M$parts))
  if (!is.null(M$title)) out$titled <- titled_as(M)
  out$parts <- lapply(unname(M$parts), manifold_tree)
  out
}

titled_as <- function(M) {
  for (name in names(WIRE_TITLED)) {
    if (identical(tryCatch(WIRE_TITLED[[name]](M), error = function(e) NULL), M)) return(name)
  }
  abort_riemdp("unsupported", "this manifold isn't sent to sites: it has a name of its own.")
}

read_manifold <- function(tree, depth = 0) {
  tree <- wire_fields(tree, c("name", "param"),
                      c("metric", "model", "floor", "links", "weights", "called", "titled", "parts"))
  name <- wire_string(tree$name, "^[a-z_-]{1,40}$")
  param <- vapply(wire_array(tree$param, 4), wire_count, 0)
  if (name == "product") return(read_product(tree, depth))
  maker <- wire_maker(name)
  fields <- list(metric = if (!is.null(tree$metric)) wire_string(tree$metric, "^[a-z-]{1,40}$"),
                 floor = if (!is.null(tree$floor)) read_numbers(tree$floor),
                 links = if (!is.null(tree$links)) read_numbers(tree$links))
  if (is.null(maker) || !length(param)) abort_wire("no manifold of that name.")
  M <- tryCatch(maker(param, fields), error = function(e) abort_wire("no such manifold."))
  if (!identical(M$name, name)) abort_wire("no manifold of that name.")
  M
}

read_product <- function(tree, depth) {
  if (depth > 4) abort_wire("products of products.")
  tree <- wire_fields(tree, c("name", "param", "weights", "parts"), c("called", "titled"))
  parts <- lapply(wire_array(tree$parts, 1000), read_manifold, depth = depth + 1)
  if (!is.null(tree$called)) names(parts) <- vapply(wire_array(tree$called, 1000), wire_string, "")
  weights <- read_numbers(tree$weights)
  M <- tryCatch(
    if (length(parts) == 1) {
      new_manifold("product", 1, c("riemdp_scaled", "riemdp_product"), parts = parts,
                   weights = check_part_weights(weights, 1), extra = list(title = NULL))
    } else {
      product(parts, weights = weights)
    },
    error = function(e) abort_wire("no such product.")
  )
  if (is.null(tree$titled)) return(M)
  maker <- WIRE_TITLED[[wire_string(tree$titled, "^[a-z]{1,40}$")]]
  if (is.null(maker)) abort_wire("no manifold of that name.")
  titled <- tryCatch(maker(M), error = function(e) abort_wire("no such manifold."))
  if (!identical(titled$weights, M$weights) || !identical(titled$parts, M$parts)) abort_wire("no such manifold.")
  titled
}

wire_problem <- function(problem) {
  if (is.null(registered("problem", problem$kind))) {
    abort_riemdp("unsupported", "a problem with functions of its own isn't sent to sites.")
  }
  list(kind = problem$kind, threshold = wire_numbers(problem$threshold), manifold = wire_manifold(problem$manifold))
}

read_problem <- function(tree) {
  tree <- wire_fields(tree, c("kind", "threshold", "manifold"))
  M <- read_manifold(tree$manifold)
  threshold <- read_numbers(tree$threshold)
  make <- registered("problem", wire_string(tree$kind))
  if (is.null(make)) abort_wire("no such problem.")
  tryCatch(make(M, threshold), error = function(e) abort_wire("no such problem."))
}

# ---- messages --------------------------------------------------------------------------------------------------------

WIRE_ID <- "^[0-9a-f]{32}$"
WIRE_HASH <- "^[0-9a-f]{64}$"
# types of messages: what else each of them holds
WIRE_MESSAGES <- list(
  hello = character(), policy = c("text", "hash", "records"),
  request = c("id", "policy", "statistic", "fields"), answer = c("id", "policy", "value"),
  refusal = c("id", "reason"), ledger = character(), budget = c("site", "value")
)
# the number of a refusal of what was no request that could be read
NOBODY <- strrep("0", 32)

# why a site refuses: words that tell nothing of records
WIRE_REASONS <- c(
  message = "the message isn't one that this site reads", policy = "the site's policy is another one by now",
  statistic = "the site's policy doesn't have this statistic",
  columns = "the site's policy doesn't have these columns as these types",
  space = "the site's policy doesn't have this manifold",
  ball = "the ball is larger than the site's policy allows", noise = "the noise is less than the site's policy allows",
  profile = "the server's disclosure profile is stricter than the site's policy",
  trust = "the site's policy doesn't trust that many sites, or one of them isn't its partner",
  sites = "too few sites are there", answers = "the site has given as many answers as its policy allows",
  budget = "the budget of this site doesn't cover the answer",
  replayed = "this request was paid for before, and its answer isn't kept",
  failed = "the site can't answer"
)

# ends the work on a message
refuse_because <- function(reason) {
  stop(structure(class = c("riemdp_reason", "error", "condition"), list(message = reason, call = NULL,
                                                                        reason = reason)))
}

wire_write <- function(type, ...) {
  need_jsonlite()
  message <- c(list(riemdp = WIRE_VERSION, type = type), list(...))
  as.character(jsonlite::toJSON(message, auto_unbox = TRUE, null = "null", digits = NA))
}

# A message of one of the `types`, its strings checked; `value` and `fields` as values. `riemdp_error_wire` otherwise.
wire_read <- function(text, types = names(WIRE_MESSAGES), most = WIRE_MOST) {
  tree <- wire_parse(text, most)
  type <- if (is.list(tree) && is.character(tree$type) && length(tree$type) == 1) tree$type
  if (is.null(type) || !type %in% types) abort_wire("its type isn't one that is wanted here.")
  tree <- wire_fields(tree, c("riemdp", "type", WIRE_MESSAGES[[type]]))
  if (!identical(wire_count(tree$riemdp), as.double(WIRE_VERSION))) abort_wire("it is of another version.")
  checked <- list(
    id = function(v) wire_string(v, WIRE_ID), policy = function(v) wire_string(v, WIRE_HASH),
    hash = function(v) wire_string(v, WIRE_HASH), records = wire_count,
    site = wire_string, statistic = function(v) wire_string(v, "^[a-z_]{1,40}$"),
    reason = function(v) wire_string(v, "^[a-z]{1,40}$"),
    text = function(v) read_bytes(v), value = read_value, fields = function(v) read_value(list(fields = v))
  )
  for (name in WIRE_MESSAGES[[type]]) tree[name] <- list(checked[[name]](tree[[name]]))
  tree
}

# in one line
base64 <- function(bytes) gsub("\n", "", jsonlite::base64_enc(bytes), fixed = TRUE)

# text as base 64, as it may hold quotes
wire_bytes <- function(text) base64(charToRaw(text))

read_bytes <- function(tree) {
  if (!is.character(tree) || length(tree) != 1 || is.na(tree) || nchar(tree, "bytes") %% 4 != 0 ||
      !all(BASE64[as.integer(charToRaw(tree)) + 1])) {
    abort_wire("text isn't in base 64.")
  }
  bytes <- jsonlite::base64_dec(tree)
  if (any(bytes == 0)) abort_wire("a character isn't allowed.")
  rawToChar(bytes)
}
