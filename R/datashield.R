# The package as DataSHIELD's server package (inst/DATASHIELD) and on the analyst's side: messages of R/site-host.R
# through DSI, and over HTTP.

#' Sites behind DataSHIELD, and over HTTP
#'
#' The same messages as [site_reply()]'s, carried by DataSHIELD (packages DSI, DSOpal, DSLite) or by HTTP.
#'
#' **At the site** a directory holds each data set with all that it needs: `policy.json` ([write_site_policy()]),
#' `ledger.sqlite` ([dp_ledger()]), `records.rds` (an R object) or `records.csv` (a table, a record a line: cells must
#' have no line breaks, or one record would change their public number), and, where they are wanted,
#' `key` ([site_key()]) and a directory `answers`. `site_open()` makes a host of one. Without policy, ledger and records
#' there is none, and nothing is answered.
#'
#' `riemdpReplyDS()` and `riemdpSitesDS()` are DataSHIELD's aggregate methods. Whoever keeps the server sets the option
#' `riemdp.sites` to the directory of these directories and, for ledgers with quotas, `riemdp.analyst` to the name of
#' who is logged in. An analyst can't hand records to them: what is summed up are the site's own files, so that no table
#' that was cut or changed in the session gets another budget.
#'
#' Further options are the server's disclosure profile, which stands above every site's policy: a policy that is laxer
#' is refused, whatever is asked (`"profile"`).
#' * `nfilter.subset` (or `default.nfilter.subset`; 3): fewest records of a site, DataSHIELD's own name for that.
#' * `riemdp.least_noise` (0): the least noise multiplier that policies must ask for.
#' * `riemdp.curator` (`FALSE`): whether a policy may answer sums without noise, `trust = "curator"`. Under DataSHIELD
#'   the analyst isn't the curator, so that this is off.
#'
#' `site_app()` makes an application for the package `httpuv`, which answers messages that are posted to it, each with a
#' token in its header (`Authorization: Bearer`) that says who the analyst is. Put TLS before it.
#'
#' **At the analyst's**, `ds_sites()` makes [sites()] of DataSHIELD's connections, `site_http()` a site of an address;
#' `ds_dp_mean()`, `ds_dp_lm()`, `ds_dp_regression()`, `ds_dp_optimize()` and `ds_dp_pga()` are [dp_mean()], [dp_lm()],
#' [dp_regression()], [dp_optimize()] and [dp_pga()] on these. `ds_ledger()` says what each site's budget has left,
#' [site_prices()] what a release would cost there.
#'
#' Connections of DSI hand over answers as R objects, which is DSI's doing; what is in them is text, and read as such.
#'
#' @param dir a site's directory.
#' @param message a message in base64url, as DataSHIELD's parser lets through.
#' @param site name of a site's directory; `NULL` where there is one only. For several connections one name, or one
#'   each.
#' @param host what [site_host()] or `site_open()` made.
#' @param tokens a named character vector: analysts' names, and a token of at least 32 characters for each.
#' @param conns connections of DSI, e.g. of `DSI::datashield.login()`.
#' @param ... for `ds_sites()` arguments of [sites()] (`shares`, `secure`, `colluding`, `dropouts`); for the others
#'   those of [dp_mean()], [dp_lm()], [dp_regression()], [dp_optimize()] and [dp_pga()].
#' @param how a list of arguments for `ds_sites()`; by default each site adds all the noise that is needed against all
#'   others.
#' @param manifold,problem,formula what [dp_mean()], [dp_pga()], [dp_optimize()], [dp_lm()] and [dp_regression()] take;
#'   `ds_dp_mean()` with a formula for means of groups.
#' @param url,token address of a `site_app()` and one's token for it. Needs the package `curl`.
#' @return `site_open()`: a host. `riemdpReplyDS()`: a message, whatever came in. `riemdpSitesDS()`: names of sites.
#'   `site_app()`: a list for `httpuv::startServer()`. `ds_sites()`: as [sites()]. `site_http()`: as [site_remote()].
#'   `ds_ledger()`: a data frame with the rows of [summary.riemdp_ledger()] for each site. `ds_dp_mean()`,
#'   `ds_dp_lm()`, `ds_dp_regression()`, `ds_dp_optimize()`, `ds_dp_pga()`: releases.
#' @references
#' Gaye, A. and others (2014). DataSHIELD: taking the analysis to the data, not the data to the analysis. *International
#' Journal of Epidemiology* 43, 1929-1944. \doi{10.1093/ije/dyu188}
#' @seealso [site_host()], [sites()]
#' @examples
#' if (all(vapply(c("jsonlite", "RSQLite"), requireNamespace, NA, quietly = TRUE))) {
#'   root <- tempfile()
#'   dir <- file.path(root, "north")
#'   dir.create(dir, recursive = TRUE)
#'   write_site_policy(site_policy("north", spd(2), radius = 2, least_noise = 0.5),
#'                     file.path(dir, "policy.json"))
#'   dp_ledger(file.path(dir, "ledger.sqlite"), 2, 1e-6, rule = "gdp", create = TRUE)
#'   saveRDS(wishart_spd[, , 1:120], file.path(dir, "records.rds"))
#'   north <- site_open(dir)
#'   x <- sites(site_remote(function(text) site_reply(north, text)), shares = TRUE)
#'   print(dp_mean(x, spd(2), 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent"))
#'   unlink(root, recursive = TRUE)
#' }
#' @name datashield
NULL

#' @rdname datashield
#' @export
site_open <- function(dir) {
  if (!is_string(dir) || !dir.exists(dir)) abort_riemdp("argument", "`dir` must be a site's directory.")
  at <- function(name) file.path(dir, name)
  for (name in c("policy.json", "ledger.sqlite")) {
    if (!file.exists(at(name))) abort_riemdp("argument", sprintf("a site's directory must hold \"%s\".", name))
  }
  records <- Filter(file.exists, at(c("records.rds", "records.csv")))
  if (length(records) != 1) abort_riemdp("argument", "a site's directory must hold \"records.rds\" or \"records.csv\".")
  policy <- read_site_policy(at("policy.json"))
  x <- if (endsWith(records, ".rds")) readRDS(records) else read_csv(records)
  unit <- NULL
  if (endsWith(records, ".csv") && is.null(policy$columns)) {
    if (!is.null(policy$unit)) unit <- x[[policy$unit]]
    x <- rows_to_points(csv_numbers(x[setdiff(names(x), policy$unit)]), policy$spaces[[1]])
  }
  site_host(policy, x, dp_ledger(at("ledger.sqlite")), keep = if (dir.exists(at("answers"))) at("answers"),
            identity = if (file.exists(at("key"))) at("key"), unit = unit)
}

# a table of numbers by the rule of chunk_files(): what isn't a number is missing
csv_numbers <- function(table) {
  vapply(table, number_cells, double(length(table[[1]])))
}

# ---- DataSHIELD's server side ----------------------------------------------------------------------------------------

# hosts that this process has opened: sessions of secure sums live in them
open_hosts <- new.env(parent = emptyenv())

ds_host <- function(site, root) {
  if (!is_string(root) || !dir.exists(root)) return(NULL)
  names <- list.dirs(root, full.names = FALSE, recursive = FALSE)
  if (is.null(site) && length(names) == 1) site <- names
  if (!is_string(site) || !site %in% names) return(NULL) # by name: no path
  dir <- normalizePath(file.path(root, site))
  # a policy that was changed holds from the next message on
  policy <- policy_hash(read_site_policy(file.path(dir, "policy.json")))
  if (!identical(open_hosts[[dir]]$hash, policy)) assign(dir, site_open(dir), envir = open_hosts)
  open_hosts[[dir]]
}

# what the server's administrator asks of all: options, as DataSHIELD sets them
server_profile <- function() {
  asked <- function(name, default) {
    value <- getOption(name, getOption(paste0("default.", name), default))
    if (!is_single(value) || !is.atomic(value)) return(NA)
    if (is.logical(value) || value %in% c("TRUE", "FALSE")) return(as.numeric(as.logical(value)))
    suppressWarnings(as.numeric(as.character(value)))
  }
  list(root = getOption("riemdp.sites"), analyst = getOption("riemdp.analyst"),
       curator = identical(asked("riemdp.curator", FALSE), 1), records = asked("nfilter.subset", 3),
       noise = asked("riemdp.least_noise", 0))
}

# whether a site's policy is within that
within_profile <- function(host, profile) {
  isTRUE(host$n >= profile$records && host$policy$least_noise >= profile$noise &&
           (profile$curator || host$policy$trust != "curator"))
}

#' @rdname datashield
#' @export
riemdpReplyDS <- function(message, site = NULL) { # nolint: object_name_linter. (DataSHIELD's own)
  refused <- wire_write("refusal", id = NOBODY, reason = "failed")
  tryCatch(silently({
    profile <- server_profile() # before arguments are evaluated, whose code could set options
    host <- ds_host(site, profile$root)
    if (is.null(host)) return(refused)
    if (!within_profile(host, profile)) return(wire_write("refusal", id = NOBODY, reason = "profile"))
    site_reply(host, url_text(message), profile$analyst)
  }), error = function(e) refused)
}

#' @rdname datashield
#' @export
riemdpSitesDS <- function() { # nolint: object_name_linter. (DataSHIELD's own)
  root <- getOption("riemdp.sites")
  if (is_string(root) && dir.exists(root)) list.dirs(root, full.names = FALSE, recursive = FALSE) else character()
}

# base 64 in the letters that strings may have in DataSHIELD's expressions
text_url <- function(text) gsub("=", "", chartr("+/", "-_", base64(charToRaw(text))), fixed = TRUE)

url_text <- function(text) {
  if (!is_string(text) || !grepl("^[A-Za-z0-9_-]*$", text)) return("")
  text <- chartr("-_", "+/", text)
  read_bytes(paste0(text, strrep("=", -nchar(text) %% 4)))
}

# ---- at the analyst's ------------------------------------------------------------------------------------------------

#' @rdname datashield
#' @export
ds_sites <- function(conns, ..., site = NULL) do.call(sites, c(lapply(ds_sends(conns, site), site_remote), list(...)))

# functions that send a text to a connection's site
ds_sends <- function(conns, site) {
  # not among the suggested packages: its current version wants a newer R than this package does
  dsi <- "DSI"
  if (!requireNamespace(dsi, quietly = TRUE)) {
    abort_riemdp("unsupported", "DataSHIELD's connections need the package 'DSI': install.packages(\"DSI\").")
  }
  if (inherits(conns, "DSConnection")) conns <- list(conns)
  if (!is.null(site) && !(is.character(site) && length(site) %in% c(1, length(conns)) && !anyNA(site))) {
    abort_riemdp("argument", "`site` must be one name, or one for each connection.")
  }
  site <- if (!is.null(site)) rep_len(site, length(conns))
  lapply(seq_along(conns), function(i) {
    function(text) {
      call <- as.call(c(list(as.name("riemdpReplyDS"), text_url(text)), if (!is.null(site)) list(site[i])))
      getExportedValue(dsi, "datashield.aggregate")(conns[i], call)[[1]]
    }
  })
}

#' @rdname datashield
#' @export
ds_dp_mean <- function(conns, manifold, ..., formula = NULL, how = list(shares = TRUE), site = NULL) {
  if (any(c("mechanism", "data", "x", "M") %in% ...names())) {
    abort_riemdp("argument", "the records are those of `conns`, and the mechanism is \"tangent\".")
  }
  x <- do.call(ds_sites, c(list(conns, site = site), how))
  if (is.null(formula)) return(dp_mean(x, manifold, ..., mechanism = "tangent"))
  dp_mean(formula, M = manifold, data = x, ..., mechanism = "tangent")
}

#' @rdname datashield
#' @export
ds_dp_optimize <- function(conns, problem, ..., how = list(shares = TRUE), site = NULL) {
  dp_optimize(problem, do.call(ds_sites, c(list(conns, site = site), how)), ..., method = "rgd")
}

#' @rdname datashield
#' @export
ds_dp_regression <- function(conns, formula, manifold, ..., how = list(shares = TRUE), site = NULL) {
  dp_regression(formula, manifold, do.call(ds_sites, c(list(conns, site = site), how)), ..., method = "gradient")
}

#' @rdname datashield
#' @export
ds_dp_pga <- function(conns, manifold, ..., how = list(shares = TRUE), site = NULL) {
  dp_pga(do.call(ds_sites, c(list(conns, site = site), how)), manifold, ...)
}

#' @rdname datashield
#' @export
ds_dp_lm <- function(conns, formula, ..., how = list(shares = TRUE), site = NULL) {
  dp_lm(formula, do.call(ds_sites, c(list(conns, site = site), how)), ..., method = "adassp")
}

#' @rdname datashield
#' @export
ds_ledger <- function(conns, site = NULL) {
  do.call(rbind, lapply(ds_sends(conns, site), function(send) budget_left(contained_send(send))))
}

# ---- HTTP ------------------------------------------------------------------------------------------------------------

#' @rdname datashield
#' @export
site_app <- function(host, tokens) {
  check_host(host)
  if (!is.character(tokens) || !length(tokens) || is.null(names(tokens)) || any(nchar(tokens) < 32) ||
      anyDuplicated(tokens)) {
    abort_riemdp("argument", "`tokens` must be tokens of 32 characters or more, with the analysts' names.")
  }
  # by their hashes: how long a comparison takes says nothing of a token
  known <- stats::setNames(names(tokens), vapply(tokens, sha256, ""))
  list(call = function(req) {
    reply <- function(status, body) list(status = status, headers = list("Content-Type" = "application/json"),
                                         body = body)
    given <- sub("^Bearer ", "", req$HTTP_AUTHORIZATION %||% "")
    analyst <- known[sha256(given)]
    if (is.na(analyst)) return(reply(401L, "{}"))
    if (!identical(req$REQUEST_METHOD, "POST")) return(reply(405L, "{}"))
    text <- tryCatch(rawToChar(req$rook.input$read(REQUEST_MOST + 1)), error = function(e) "")
    reply(200L, site_reply(host, text, unname(analyst)))
  })
}

#' @rdname datashield
#' @export
site_http <- function(url, token) {
  if (!requireNamespace("curl", quietly = TRUE)) {
    abort_riemdp("unsupported", "sites over HTTP need the package 'curl': install.packages(\"curl\").")
  }
  if (!is_string(url) || !grepl("^https?://", url)) abort_riemdp("argument", "`url` must be an address.")
  if (!is_string(token)) abort_riemdp("argument", "`token` must be one string.")
  site_remote(function(text) {
    handle <- curl::new_handle()
    curl::handle_setopt(handle, post = TRUE, postfields = text, maxfilesize = WIRE_MOST)
    curl::handle_setheaders(handle, Authorization = paste("Bearer", token), "Content-Type" = "application/json")
    got <- curl::curl_fetch_memory(url, handle)
    if (got$status_code != 200) abort_riemdp("refused", sprintf("the site answers with status %d.", got$status_code))
    rawToChar(got$content)
  })
}
