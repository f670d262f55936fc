# What a site decides by itself: which statistics of which spaces it answers, in how large a ball, under how much noise.
# A file at the site, whose hash goes into everything that was made of its answers.

#' A site's policy
#'
#' What a site answers is in a file that whoever holds the records writes and signs: without one, and without a ledger,
#' [site_host()] answers nothing. A policy is public; its hash (SHA-256 of its text) goes into every answer and into
#' every release that is made of one, so that it can be shown afterwards what a site had agreed to.
#'
#' @param site name of the site, 1 to 200 characters.
#' @param spaces a manifold, or a list of them: what records may be taken as points of.
#' @param radius largest radius of a ball, or length of a gradient, to which records are clipped.
#' @param least_noise least noise multiplier of an answer: standard deviation over what one record can move the sum by.
#' @param ... nothing; later arguments must be named.
#' @param sums which sums are answered: `"mean"` (tangent vectors at a public point, for [dp_mean()]), `"gradient"`
#'   (gradients of a [problem()] at a public point, for [dp_optimize()]), `"scatter"` (products of the coordinates of
#'   logarithms at a public point of the ball, for [dp_covariance()], [dp_pga()] and [dp_pca()]). `dp_pga()` that looks
#'   for a mean first needs `"mean"` as well.
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
#' @param file path of a file. `write_site_policy()` doesn't replace one.
#' @param policy what `site_policy()` returned.
#' @return `site_policy()` and `read_site_policy()`: a list of class `riemdp_site_policy`. `write_site_policy()`: its
#'   hash, invisibly. Errors: `riemdp_error_argument` for files that hold no policy.
#' @seealso [site_host()], [sites()]
#' @examples
#' policy <- site_policy("north", spd(2), radius = 2, least_noise = 1, least_records = 50)
#' policy
#' file <- tempfile(fileext = ".json")
#' if (requireNamespace("jsonlite", quietly = TRUE)) {
#'   write_site_policy(policy, file)
#'   writeLines(readLines(file))
#'   identical(read_site_policy(file), policy)
#' }
#' @export
site_policy <- function(site, spaces, radius, least_noise, ..., sums = c("mean", "gradient"), trust = "noise",
                        least_records = 10,
                        data_set = "default", part = NULL, delta = NULL, least_sites = 3, colluding = 1,
                        partners = NULL) {
  check_no_more(...)
  if (inherits(spaces, "riemdp_manifold")) spaces <- list(spaces)
  if (!is.list(spaces) || !length(spaces) || length(spaces) > 100) {
    abort_riemdp("argument", "`spaces` must be a manifold, or a list of up to 100 of them.")
  }
  need_jsonlite()
  spaces <- lapply(unname(spaces), function(M) {
    wire_manifold(check_manifold(M))
    M
  })
  if (!is.null(delta)) delta <- check_delta(delta)
  trust <- check_choice(trust, "trust", c("noise", "secure", "curator"))
  secure <- if (trust == "secure") policy_partners(least_sites, colluding, partners)
  structure(c(list(
    site = policy_name(site, "site"), spaces = spaces, radius = check_number(radius, "radius", positive = TRUE),
    least_noise = check_number(least_noise, "least_noise", positive = TRUE),
    sums = policy_sums(sums), trust = trust,
    least_records = as.double(check_count(least_records, "least_records", most = 1e9)),
    data_set = policy_name(data_set, "data_set"), part = if (!is.null(part)) policy_name(part, "part"), delta = delta
  ), secure), class = "riemdp_site_policy")
}

policy_sums <- function(sums) {
  if (!is.character(sums) || !length(sums) || anyNA(sums) || !all(sums %in% names(registered("vector")))) {
    abort_riemdp("argument", "`sums` must be some of \"mean\", \"gradient\" and \"scatter\".")
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

POLICY_FIELDS <- c("site", "spaces", "radius", "least_noise", "sums", "trust", "least_records", "data_set")
POLICY_MORE <- c("part", "delta", "least_sites", "colluding", "partners")

# the text of a policy: the same for the same policy, whichever version of a package writes JSON
policy_text <- function(policy) {
  number <- function(x) sprintf("%.17g", x)
  quoted <- function(x) paste0("\"", x, "\"")
  spaces <- vapply(policy$spaces, function(M) {
    as.character(jsonlite::toJSON(wire_manifold(M), auto_unbox = TRUE, null = "null", digits = NA))
  }, "")
  told <- c(
    riemdp_policy = "1", site = quoted(policy$site), spaces = sprintf("[%s]", paste(spaces, collapse = ",\n    ")),
    radius = number(policy$radius), least_noise = number(policy$least_noise),
    sums = sprintf("[%s]", paste(quoted(policy$sums), collapse = ", ")), trust = quoted(policy$trust),
    least_records = number(policy$least_records), data_set = quoted(policy$data_set),
    if (!is.null(policy$part)) c(part = quoted(policy$part)),
    if (!is.null(policy$delta)) c(delta = number(policy$delta)),
    if (policy$trust == "secure") {
      c(least_sites = number(policy$least_sites), colluding = number(policy$colluding),
        partners = sprintf("{\n    %s\n  }", paste(sprintf("%s: %s", quoted(names(policy$partners)),
                                                          quoted(policy$partners)), collapse = ",\n    ")))
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
    tree$spaces <- lapply(wire_array(tree$spaces, 100), read_manifold)
    tree$sums <- vapply(wire_array(tree$sums, 10), wire_string, "")
    if (!is.null(tree$partners)) tree$partners <- vapply(wire_fields(tree$partners, names(tree$partners)), wire_string,
                                                         "")
    do.call(site_policy, tree[names(tree) != "riemdp_policy"])
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
      sprintf("  points of %s\n", paste(vapply(x$spaces, label_manifold, ""), collapse = "; ")),
      sprintf("  for sums of: %s\n", paste(x$sums, collapse = ", ")),
      sprintf("  clipped to a radius of at most %s, from %s records on\n", number(x$radius), number(x$least_records)),
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
