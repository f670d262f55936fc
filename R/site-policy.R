# What a site decides by itself: which statistics of which spaces it answers, in how large a ball, under how much noise.
# A file at the site, whose hash goes into everything that was made of its answers.

#' A site's policy
#'
#' What a site answers is in a file that whoever holds the records writes and signs: without one, and without a ledger,
#' [site_host()] answers nothing. A policy is public; its hash (SHA-256 of its text) goes into every answer and into
#' every release that is made of one, so that it can be shown afterwards what a site had agreed to.
#'
#' @param site name of the site, 1 to 200 characters.
#' @param spaces a manifold, or a list of them: what records may be taken as points of. Not for tables with `columns`.
#' @param radius largest radius of a ball, or length of a gradient, to which records are clipped; for `spaces`.
#' @param columns for a table of several variables: what may be asked about, a character vector with the names of
#'   columns whose elements are `"number"`, `"text"` or `"points"` (of `spaces`; the records are then a list of
#'   variables). What is no number in a column of numbers counts as missing, cell by cell.
#' @param least_noise least noise multiplier of an answer: standard deviation over what one record can move the sum by.
#' @param ... nothing; later arguments must be named.
#' @param sums which sums are answered: `"mean"` (tangent vectors at a public point, for [dp_mean()]), `"gradient"`
#'   (gradients of a [problem()] at a public point, for [dp_optimize()]), `"scatter"` (products of the coordinates of
#'   logarithms at a public point of the ball, for [dp_covariance()], [dp_pga()] and [dp_pca()]; `dp_pga()` that looks
#'   for a mean first needs `"mean"` as well); for `columns` `"products"` (of predictors and responses, each in its
#'   public range, for [dp_lm()]) and `"residuals"` (cut squares of residuals from a line, for [dp_residual_scale()]),
#'   where one has points also `"curve"` (gradients of a curve, for [dp_regression()]) and `"groups"` (tangent vectors
#'   and numbers of records, a block for each group, for [dp_mean()] with a formula). By default the first two, or for
#'   `columns` all of theirs.
#' @param trust `"noise"`: every answer carries noise, drawn at the site and paid for from its ledger. `"curator"`: sums
#'   as they are are answered as well, and **whoever asks is trusted** with all that they tell, single records included;
#'   see [sites()]. Under an analyst who isn't the curator that is no protection.
#'   `"secure"`: besides answers with noise, secure sums, whose noise all sites make together; see [sites()]. No one
#'   sees a single site's sum; what the site pays is the price of the sum of the sites that have to be there.
#' @param least_sites,colluding for `trust = "secure"`: fewest sites of a sum, at least 2, dropouts not counted; and the
#'   least number of other sites that the noise has to allow for, as in [sites()].
#' @param partners for `trust = "secure"`: a named character vector with the public keys of the other sites, as
#'   [site_key()] prints them, under the names of their policies. A site shares masks with no others, so that an analyst
#'   can't play the others' parts.
#' @param least_records fewest records that the site must have for an answer. Their number is public.
#' @param data_set,part the site's data in its ledger, as in [ledger_spend()].
#' @param delta for a ledger by the rule "basic": at which delta an answer is priced.
#' @param most_answers most answers that are given under this policy, to all together; `NULL` for as many as the ledger
#'   covers. A run of many rounds has one for each, of a secure sum as well.
#' @param unit whom answers protect, `NULL` for a record: e.g. `"patient"`, of whom there may be several records. A unit
#'   counts once, with the average of its records' vectors, and is replaced with all of them; numbers of records are
#'   numbers of units then. It is the name of the column that says whose a record is, which need not be among `columns`;
#'   where records are points, see `unit` of [site_host()]. A unit whose records lie at two sites counts as two.
#' @param file path of a file. `write_site_policy()` doesn't replace one.
#' @param policy what `site_policy()` returned.
#' @return `site_policy()` and `read_site_policy()`: a list of class `riemdp_site_policy`. `write_site_policy()`: its
#'   hash, invisibly. Errors: `riemdp_error_argument` for files that hold no policy.
#' @seealso [site_host()], [sites()]
#' @examples
#' site_policy("west", least_noise = 1, columns = c(age = "number", sex = "text", bmi = "number"))
#' policy <- site_policy("north", spd(2), radius = 2, least_noise = 1, least_records = 50)
#' policy
#' file <- tempfile(fileext = ".json")
#' if (requireNamespace("jsonlite", quietly = TRUE)) {
#'   write_site_policy(policy, file)
#'   writeLines(readLines(file))
#'   identical(read_site_policy(file), policy)
#' }
#' @export
site_policy <- function(site, spaces = NULL, radius = NULL, least_noise, ..., columns = NULL, sums = NULL,
                        trust = "noise", least_records = 10, data_set = "default", part = NULL, delta = NULL,
                        least_sites = 3, colluding = 1, partners = NULL, most_answers = NULL, unit = NULL) {
  check_no_more(...)
  need_jsonlite()
  what <- policy_records(spaces, radius, columns)
  if (!is.null(delta)) delta <- check_delta(delta)
  trust <- check_choice(trust, "trust", c("noise", "secure", "curator"))
  if (trust == "curator" && !is.null(most_answers)) {
    abort_riemdp("unsupported", "sums without noise aren't counted: `most_answers` is for the other kinds of trust.")
  }
  if (trust != "secure" && !is.null(partners)) abort_riemdp("argument", "`partners` is for trust = \"secure\".")
  secure <- if (trust == "secure") policy_partners(least_sites, colluding, partners)
  structure(c(list(
    site = policy_name(site, "site"), spaces = what$spaces, radius = what$radius, columns = what$columns,
    least_noise = check_number(least_noise, "least_noise", positive = TRUE),
    sums = policy_sums(sums, what$columns, trust), trust = trust,
    least_records = as.double(check_count(least_records, "least_records", most = 1e9)),
    data_set = policy_name(data_set, "data_set"), part = if (!is.null(part)) policy_name(part, "part"), delta = delta,
    most_answers = if (!is.null(most_answers)) as.double(check_count(most_answers, "most_answers", most = 1e9)),
    unit = if (!is.null(unit)) policy_unit(unit, trust)
  ), secure), class = "riemdp_site_policy")
}

# what the records are: list(spaces, radius, columns)
policy_records <- function(spaces, radius, columns) {
  if (!is.null(columns)) {
    columns <- policy_columns(columns)
    if ("points" %in% columns) return(c(policy_records(spaces, radius, NULL), list(columns = columns)))
    if (!is.null(spaces) || !is.null(radius)) {
      abort_riemdp("argument", "`spaces` and `radius` are for points, of which no column is one.")
    }
    return(list(columns = columns))
  }
  if (inherits(spaces, "riemdp_manifold")) spaces <- list(spaces)
  if (!is.list(spaces) || !length(spaces) || length(spaces) > 100) {
    abort_riemdp("argument", "`spaces` must be a manifold, or a list of up to 100 of them; or give `columns`.")
  }
  list(spaces = lapply(unname(spaces), function(M) {
    wire_manifold(check_manifold(M))
    M
  }), radius = check_number(radius, "radius", positive = TRUE))
}

policy_unit <- function(unit, trust) {
  if (unit %in% c("row", "record")) abort_riemdp("argument", "`unit` must be another word: a row is what is protected.")
  if (trust == "curator") abort_riemdp("unsupported", "sums of units are answered with noise only.")
  policy_name(unit, "unit")
}

policy_columns <- function(columns) {
  ok <- is.character(columns) && length(columns) >= 1 && length(columns) <= 1000 && !is.null(names(columns)) &&
    !anyDuplicated(names(columns)) && all(columns %in% c("number", "text", "points"))
  if (!ok) {
    abort_riemdp("argument",
                 paste("`columns` must be \"number\", \"text\" or \"points\" for each of a table's columns, with their",
                       "names."))
  }
  lapply(names(columns), policy_name, "columns")
  columns[order(names(columns), method = "radix")]
}

policy_sums <- function(sums, columns, trust) {
  # a table's sums are those that have a model, and some of them points
  fields <- lapply(registered("vector"), `[[`, "fields")
  has <- function(name) vapply(fields, function(f) name %in% f, NA)
  known <- names(fields)[if (is.null(columns)) !has("model") else has("model") & ("points" %in% columns | !has("M"))]
  if (is.null(sums)) sums <- if (is.null(columns)) c("gradient", "mean") else known
  if (!is.character(sums) || !length(sums) || anyNA(sums) || !all(sums %in% known)) {
    abort_riemdp("argument", sprintf("`sums` must be some of %s.", paste0("\"", known, "\"", collapse = ", ")))
  }
  if (!is.null(columns) && trust == "curator") {
    abort_riemdp("unsupported", "tables give sums with noise only: trust = \"noise\" or \"secure\".")
  }
  sort(unique(as.vector(sums)), method = "radix")
}

policy_partners <- function(least_sites, colluding, partners) {
  ok <- is.character(partners) && length(partners) >= 1 && length(partners) <= 254 && !is.null(names(partners)) &&
    !anyDuplicated(names(partners)) && !anyDuplicated(partners) && all(grepl(WIRE_HASH, partners))
  if (!ok) {
    abort_riemdp("argument",
                 paste("`partners` must be the public keys of the other sites, with their names, for secure",
                                   "sums."))
  }
  lapply(names(partners), policy_name, "partners")
  least_sites <- as.double(check_count(least_sites, "least_sites", least = 2, most = 255))
  list(least_sites = least_sites, partners = partners,
       colluding = as.double(check_count(colluding, "colluding", least = 0, most = least_sites - 1)))
}

policy_name <- function(x, name) {
  x <- check_name(x, name)
  if (!wire_plain(x)) {
    abort_riemdp("argument", sprintf("`%s` must be plain: letters, digits and signs, no quotes.", name))
  }
  x
}

check_policy <- function(policy) {
  ok <- inherits(policy, "riemdp_site_policy") && is.list(policy)
  again <- if (ok) tryCatch(do.call(site_policy, unclass(policy), quote = TRUE), error = function(e) NULL)
  if (is.null(again) || !identical(again, policy)) {
    abort_riemdp("argument", "`policy` must be what site_policy() returned.")
  }
  policy
}

POLICY_FIELDS <- c("site", "least_noise", "sums", "trust", "least_records", "data_set")
POLICY_MORE <- c("spaces", "radius", "columns", "part", "delta", "most_answers", "unit", "least_sites", "colluding",
                 "partners")

# the text of a policy: the same for the same policy, whichever version of a package writes JSON
policy_text <- function(policy) {
  number <- function(x) sprintf("%.17g", x)
  quoted <- function(x) paste0("\"", x, "\"")
  named <- function(v) {
    sprintf("{\n    %s\n  }", paste(sprintf("%s: %s", quoted(names(v)), quoted(v)), collapse = ",\n    "))
  }
  spaces <- vapply(policy$spaces, function(M) {
    as.character(jsonlite::toJSON(wire_manifold(M), auto_unbox = TRUE, null = "null", digits = NA))
  }, "")
  told <- c(
    riemdp_policy = "1", site = quoted(policy$site),
    if (length(spaces)) {
      c(spaces = sprintf("[%s]", paste(spaces, collapse = ",\n    ")), radius = number(policy$radius))
    },
    if (!is.null(policy$columns)) c(columns = named(policy$columns)),
    least_noise = number(policy$least_noise),
    sums = sprintf("[%s]", paste(quoted(policy$sums), collapse = ", ")), trust = quoted(policy$trust),
    least_records = number(policy$least_records), data_set = quoted(policy$data_set),
    if (!is.null(policy$part)) c(part = quoted(policy$part)),
    if (!is.null(policy$delta)) c(delta = number(policy$delta)),
    if (!is.null(policy$most_answers)) c(most_answers = number(policy$most_answers)),
    if (!is.null(policy$unit)) c(unit = quoted(policy$unit)),
    if (policy$trust == "secure") {
      c(least_sites = number(policy$least_sites), colluding = number(policy$colluding),
        partners = named(policy$partners))
    }
  )
  paste0("{\n", paste0("  \"", names(told), "\": ", told, collapse = ",\n"), "\n}\n")
}

policy_hash <- function(policy) sha256(policy_text(policy))

# a policy by its text, which may come from elsewhere
parse_policy <- function(text) {
  refuse <- function(e) abort_riemdp("argument", "this is no policy of a site, as write_site_policy() makes them.")
  tryCatch({
    tree <- wire_parse(gsub("[\n\r\t]", " ", text))
    tree <- wire_fields(tree, c("riemdp_policy", POLICY_FIELDS), POLICY_MORE)
    if (!identical(wire_count(tree$riemdp_policy), 1)) stop("version")
    if (!is.null(tree$spaces)) tree$spaces <- lapply(wire_array(tree$spaces, 100), read_manifold)
    tree$sums <- vapply(wire_array(tree$sums, 10), wire_string, "")
    for (name in intersect(c("columns", "partners"), names(tree))) {
      tree[[name]] <- vapply(wire_fields(tree[[name]], names(tree[[name]])), wire_string, "")
    }
    made <- do.call(site_policy, tree[names(tree) != "riemdp_policy"])
    if (!all(setdiff(names(tree), "riemdp_policy") %in% names(Filter(Negate(is.null), made)))) stop("fields")
    made
  }, error = refuse)
}

#' @rdname site_policy
#' @export
read_site_policy <- function(file) {
  if (!is_string(file) || !file.exists(file)) abort_riemdp("argument", "`file` must be the path of a file.")
  parse_policy(paste(readLines(file, warn = FALSE), collapse = "\n"))
}

#' @rdname site_policy
#' @export
write_site_policy <- function(policy, file) {
  check_policy(policy)
  if (!is_string(file)) abort_riemdp("argument", "`file` must be one string.")
  if (file.exists(file)) abort_riemdp("argument", "`file` is there: a policy is never replaced in silence.")
  write_new(file, charToRaw(policy_text(policy)))
  invisible(policy_hash(policy))
}

# the bytes of a file that wasn't there: all of them, or an error (a full disk is a warning of R's, and half a file)
write_new <- function(file, bytes) {
  connection <- NULL
  tryCatch(suppressWarnings({
    connection <- file(file, "wb")
    writeBin(bytes, connection)
  }), error = function(e) NULL)
  if (!is.null(connection)) suppressWarnings(close(connection))
  if (!identical(file.size(file), as.double(length(bytes)))) abort_riemdp("argument", "the file can't be written.")
}

#' @export
print.riemdp_site_policy <- function(x, ...) {
  check_policy(x)
  number <- function(v) format(v, digits = 4)
  cat(sprintf("Policy of the site \"%s\" (%s)\n", x$site, substr(policy_hash(x), 1, 12)),
      if (!is.null(x$columns)) {
        sprintf("  rows of %s\n", paste(sprintf("%s (%s)", names(x$columns), x$columns), collapse = ", "))
      },
      if (!is.null(x$spaces)) {
        sprintf("  points of %s\n", paste(vapply(x$spaces, label_manifold, ""), collapse = "; "))
      },
      sprintf("  for sums of: %s\n", paste(x$sums, collapse = ", ")),
      if (!is.null(x$radius)) sprintf("  clipped to a radius of at most %s\n", number(x$radius)),
      sprintf("  from %s %s on\n", number(x$least_records), if (is.null(x$unit)) "records" else "units"),
      if (!is.null(x$unit)) sprintf("  a %s counts once, with the average over its records\n", x$unit),
      if (!is.null(x$most_answers)) sprintf("  %.0f answers in all\n", x$most_answers),
      switch(x$trust,
        noise = sprintf("  sums with noise only, of multiplier %s or more\n", number(x$least_noise)),
        secure = sprintf(paste0("  sums with noise, or secure sums of %s sites or more with %s, of ",
                                "multiplier %s or more,",
                                " against %s of them\n"),
                         number(x$least_sites), paste0("\"", names(x$partners), "\"", collapse = ", "),
                         number(x$least_noise), number(x$colluding)),
        curator = "  SUMS WITHOUT NOISE: who asks is trusted with single records\n"
      ), sep = "")
  invisible(x)
}
