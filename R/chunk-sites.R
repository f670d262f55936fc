# Sites: chunks whose records are with somebody else, who answers requests.

# what a site answers, by its policy: sums with noise, or sums over records that were clipped to a public ball (or
# gradients clipped to a public length) as they are. Counts without noise would tell of single records, so there are
# none.
SITE_KERNELS <- list(
  noisy = c("count", "noisy"), sums = c("count", "check", "ball", "steps", "squares", "gradients", "noisy")
)

#' Records that stay with their holders
#'
#' `sites()` stands for records at several sites, e.g. hospitals, in [dp_mean()], [dp_optimize()], [dp_pca()] and, where
#' sites add noise, [dp_covariance()] and [dp_pga()].
#' Records don't move: a request goes to each site, which answers by [site_answer()] with a sum over its records:
#' tangent vectors at a public point or iterate, each record first moved to the public ball (or its gradient clipped).
#' The curator adds the sums up, draws the noise once and releases.
#'
#' @section Whom to trust:
#' What a site answers is its own policy, `answers`:
#' * `"noisy"`, the default: sums that carry noise, drawn at the site. Each costs anew, whoever asks and whatever was
#'   asked before, so the site keeps a [dp_ledger()]: the answer is paid for as
#'   `event_gaussian(request$sd / (2 * request$radius))` (for products of vectors, of [dp_covariance()], [dp_pga()] and
#'   [dp_pca()], twice the radius is root 2 times the square of their length) before its noise is drawn, and refused
#'   where the budget doesn't cover it.
#'   A ledger by the rule "zcdp", "gdp" or "rdp" suits; one by "basic" needs `delta`, at which Gaussian noise has an
#'   epsilon.
#' * `"sums"`: sums over the site's records as they are, one for each round of the solver. **The curator is trusted**
#'   then with all that such sums tell, single records included, and the guarantee is about the release only. A site has
#'   to choose this by name. [guarantee()] says so of the release.
#'
#' Neither policy answers counts without noise, e.g. how many records lie near a point: `mechanism = "adaptive"` isn't
#' available for sites, and `"kng"` with doubles draws without the counts that would make it faster. Requests between
#' sites and curator should be encrypted (mirai does so over TLS).
#'
#' With `shares = TRUE` each site adds a share of Gaussian noise to its sum, and `"noisy"` answers will do. Few sums are
#' asked for then: one by `dp_mean(mechanism = "tangent")`, `dp_covariance()`, `dp_pca()` and `dp_pga()` at a point that
#' is there, two by `dp_pga()` that looks for a mean first, one for each step by `dp_optimize(method = "rgd")`; all with
#' `delta`. Of `dp_covariance()`, `dp_pca()` and `dp_pga()` the policies that sites have sent are held against all that
#' is to be asked before the first site pays; whether all budgets are enough only the sites know. The shares are such
#' that the guarantee holds against `colluding` sites that pool what they know, the curator included:
#' * the default, all sites but one: each site's sum carries by itself all the noise that the guarantee needs, so it
#'   holds even against the curator together with all other sites; the release has \eqn{\sqrt k} times the noise of a
#'   trusted curator's, k the number of sites;
#' * fewer: the release has \eqn{\sqrt{k/(k - colluding)}} times that noise, but a single site's sum carries less than
#'   the guarantee needs. Nobody may see one then: sums have to be added up by a secure aggregation protocol, which is
#'   left to whoever carries requests and answers. The site's ledger counts its own sum, and so more than the release
#'   costs.
#'
#' That sites clip and add noise as asked is assumed. Records that are no points count as the centre then, as with
#' `invalid = "center"`: the curator can't look.
#'
#' @param ... sites, as [site()] makes them; nothing in `site_answer()`, whose later arguments must be named.
#' @param shares whether sites add noise shares.
#' @param colluding number of sites against whose pooled knowledge the guarantee holds; `NULL` for all but one. Only
#'   with `shares`.
#' @param map,columns as in [chunks()]. `columns` is for [dp_pca()]: sites aren't asked how many columns they have.
#' @param secure whether sites add their sums under masks, so that nobody sees one site's and the noise is one curator's
#'   (but for `colluding`, by default 1 of three sites or more, and `dropouts`); for sites by [site_remote()] whose
#'   policies have `trust = "secure"`.
#' @param dropouts how many of the sites of a secure sum may fall silent: the noise is such that the others' is enough.
#' @param n number of a site's records, public.
#' @param ask a function that sends a request to the site and returns its answer.
#' @param request what came from the curator.
#' @param x the site's records.
#' @param answers the site's policy: `"noisy"`, or `"sums"` to trust the curator with sums as they are.
#' @param ledger the site's budget, a [dp_ledger()] that the site holds; needed for `"noisy"`.
#' @param data_set,part the site's data in its ledger, as in [ledger_spend()].
#' @param delta for a ledger by the rule "basic": at which delta an answer is priced.
#' @param least the least noise multiplier that the site adds: standard deviation over what one record can move the sum
#'   by (twice the radius of the request's ball). Smaller ones are refused.
#' @return `sites()`: an object of class `riemdp_chunks`. `site()`: a list. `site_answer()`: what to send back. Errors:
#'   `riemdp_error_refused` for requests that aren't about clipped sums or hold functions.
#' @references
#' McMahan, H. B., Moore, E., Ramage, D., Hampson, S. and Aguera y Arcas, B. (2017). Communication-efficient learning of
#' deep networks from decentralized data. *AISTATS*. \doi{10.48550/arXiv.1602.05629}
#'
#' Dwork, C., Kenthapadi, K., McSherry, F., Mironov, I. and Naor, M. (2006). Our data, ourselves: privacy via
#' distributed noise generation. *EUROCRYPT*, 486-503. \doi{10.1007/11761679_29}
#' @seealso [chunks()], `vignette("chunks", package = "riemdp")`
#' @examples
#' # two sites played by one process; a real one would send the request, e.g. to a mirai daemon
#' north <- wishart_spd[, , 1:120]
#' south <- wishart_spd[, , 121:200]
#' own <- function() dp_ledger(epsilon = 2, delta = 1e-6, rule = "gdp")
#' budget <- list(own(), own())
#' x <- sites(site(120, function(request) site_answer(request, north, ledger = budget[[1]])),
#'            site(80, function(request) site_answer(request, south, ledger = budget[[2]])),
#'            shares = TRUE)
#' dp_mean(x, spd(2), 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
#' summary(budget[[1]])
#'
#' # sites that trust the curator with their sums
#' y <- sites(site(120, function(request) site_answer(request, north, "sums")),
#'            site(80, function(request) site_answer(request, south, "sums")))
#' dp_mean(y, spd(2), epsilon = 1, center = diag(2), radius = 1.5, mechanism = "wrapped")
#' @export
sites <- function(..., shares = FALSE, colluding = NULL, map = NULL, secure = FALSE, dropouts = 0, columns = NULL) {
  all <- list(...)
  ok <- vapply(all, function(s) {
    inherits(s, "riemdp_site") && is.list(s) && is.function(s$ask) && is.double(s$n) && length(s$n) == 1
  }, NA)
  if (length(ok) == 0 || !all(ok)) abort_riemdp("argument", "give sites, as site() makes them.")
  shares <- noise_shares(all, check_flag(shares, "shares"), colluding, check_flag(secure, "secure"), dropouts)
  pieces <- lapply(unname(all), function(s) list(kind = "site", ask = s$ask, policy = s$policy))
  x <- new_chunks(pieces, vapply(all, function(s) s$n, 0), NULL, NULL, NULL, map, "sites", columns)
  x$shares <- shares
  x$policies <- unlist(lapply(unname(all), function(s) {
    if (!is.null(s$policy)) sprintf("the site \"%s\" answers by its policy %s", s$policy$site, s$policy$hash)
  }))
  x
}

# How sites make up the noise: list(sites, colluding, threshold: of a secure sum), or NULL
noise_shares <- function(all, shares, colluding, secure, dropouts) {
  shares <- shares || secure
  if (!is.null(colluding) && !shares) {
    abort_riemdp("argument", "`colluding` is for `shares = TRUE` and `secure = TRUE`.")
  }
  most <- length(all) - 1L
  dropouts <- check_count(dropouts, "dropouts", least = 0, most = most)
  if (dropouts > 0 && !secure) abort_riemdp("argument", "`dropouts` is for `secure = TRUE`.")
  if (!shares) return(NULL)
  colluding <- if (!is.null(colluding)) check_count(colluding, "colluding", least = 0, most = most) else
    if (secure) min(1, max(0, most - 1)) else most
  c(list(sites = length(all), colluding = colluding),
    if (secure) list(threshold = secure_threshold(all, colluding, dropouts)))
}

#' @rdname sites
#' @export
site <- function(n, ask) {
  if (!is.function(ask)) abort_riemdp("argument", "`ask` must be a function of a request.")
  structure(list(n = as.double(check_count(n, "n", most = 2^31 - 1)), ask = ask), class = "riemdp_site")
}

#' @rdname sites
#' @export
site_answer <- function(request, x, answers = c("noisy", "sums"), ledger = NULL, ..., least = 0, data_set = "default",
                        part = NULL,
                        delta = NULL) {
  check_no_more(...)
  answers <- check_choice(answers, "answers", c("noisy", "sums"))
  if (!is.null(ledger)) check_ledger(ledger)
  if (is.null(ledger) && answers == "noisy") {
    abort_riemdp("argument",
                 "a site that answers with noise needs a `ledger`: each answer costs anew. See dp_ledger().")
  }
  least <- check_number(least, "least", least = 0)
  check_site_request(request, answers, least)
  if (request$kernel == "noisy" && !is.null(ledger) && !in_simulation()) {
    pay_answer(ledger, answer_event(request), data_set, part, delta, named_files(x))
  }
  tryCatch(silently(chunk_answer(request, x)), error = function(e) {
    abort_riemdp("refused", "the request can't be answered.") # what went wrong may be about records
  })
}

# that a site's policy allows the answer
check_site_request <- function(request, answers, least) {
  refuse <- function(...) abort_riemdp("refused", paste0(...))
  kernel <- if (is.list(request)) request$kernel
  if (!is.character(kernel) || length(kernel) != 1 || !kernel %in% SITE_KERNELS[[answers]] ||
      !isTRUE(request$private)) {
    refuse("this site answers with clipped sums", if (answers == "noisy") " that carry noise",
           " only, and with no counts.")
  }
  if (holds_code(unclass(request))) refuse("requests with functions are not run at a site.")
  step <- request$step
  clipped <- is.list(step) && isTRUE(step$clip < Inf) && identical(step$losses, FALSE)
  if (kernel == "gradients" && !clipped) refuse("this site gives clipped gradients only.")
  if (kernel == "noisy" && !enough_noise(request, least)) refuse("the noise asked for is too small for this site.")
}

# FALSE too where the request names no sum that there is
enough_noise <- function(request, least) {
  is_positive(request$sd) && is_positive(request$radius) && request$radius >= LEAST_RADIUS &&
    isTRUE(tryCatch(request$sd >= least * vector_moved(request), error = function(e) FALSE))
}

holds_code <- function(v) {
  is.function(v) || is.language(v) || is.environment(v) || (is.list(v) && any(vapply(v, holds_code, NA)))
}

is_positive <- function(v) is.numeric(v) && length(v) == 1 && is.finite(v) && v > 0

share_assumption <- function(shares) {
  if (!is.null(shares$threshold)) return(secure_assumption(shares))
  paste0("each site clips its records and adds its share of the noise as asked",
         if (shares$sites - shares$colluding > 1) {
           sprintf("; nobody sees a single site's sum, and at most %d of %d sites tell theirs",
                   as.integer(shares$colluding), as.integer(shares$sites))
         })
}

# What a release says of them, from its details: in words of how the noise is made, and in a line where some fell silent
share_words <- function(details) {
  paste0(sprintf("made up of shares that %d sites draw and add, so large that it holds against %d of them together",
                 as.integer(details$sites), as.integer(details$colluding)),
         if (!is.null(details$threshold)) {
           sprintf(paste(", and that as few as %d sites make it. The sums were added under masks, so that nobody sees",
                         "one site's (proofs/federation.md)"), as.integer(details$threshold))
         })
}

silent_sites <- function(details, what = "") {
  if (isTRUE(details$alive < details$sites)) {
    sprintf("  %sof %d of %d sites: the others didn't answer", what, as.integer(details$alive),
            as.integer(details$sites))
  }
}

# how many times the noise of one curator the sum has
share_excess <- function(shares) sqrt(shares$sites / ((shares$threshold %||% shares$sites) - shares$colluding))

answer_event <- function(request) event_gaussian(outwards_down(request$sd / vector_moved(request)), "replace-one")

# What sites are asked for by a plan of shared noise (`share_sd`, or `query` of a secure sum); `about` says what of
shared_request <- function(plan, about, M, center) {
  m0 <- .Call(riemdp_stored, M, center)
  if (is.null(plan$query)) return(c(list(kernel = "noisy", center = m0, sd = plan$share_sd), about))
  c(list(kernel = "join", center = m0), plan$query)
}

# How many columns the rows at sites have, a public number: what `columns` of sites() says, or the d of the one space
# R^d that is in the policies of all that have one
site_width <- function(x) {
  if (!is.null(x$columns)) {
    if (all(x$columns == "number")) return(length(x$columns))
    abort_riemdp("argument", "`columns` of sites must all be numbers here.")
  }
  policies <- Filter(Negate(is.null), lapply(x$pieces, `[[`, "policy"))
  of <- function(M) if (inherits(M, "riemdp_euclidean")) M$param
  d <- Reduce(intersect, lapply(policies, function(policy) unlist(lapply(policy$spaces, of))))
  if (length(d) == 1) return(d)
  abort_riemdp("argument", paste("how many columns the sites' rows have must be said: by sites(columns = ), e.g. c(a =",
                                 "\"number\", b = \"number\"), or by policies with one Euclidean space."))
}

# The sum of all sites' answers to a request for one with noise
noisy_sum <- function(x, request) {
  seeds <- lapply(seq_along(x$pieces), function(i) list(seed = if (in_simulation()) floor(stats::runif(1) * 1e9)))
  parts <- chunk_ask(x, request, seeds, private = TRUE)
  d <- vector_dimension(request)
  bad <- which(!vapply(parts, function(s) is.double(s) && length(s) == d && all(is.finite(s)), NA))
  if (length(bad)) abort_riemdp("chunk", sprintf("site %d has sent no sum.", bad[1]))
  Reduce(`+`, parts)
}

# before the noise is drawn
pay_answer <- function(ledger, event, data_set, part, delta, files, once = NULL) {
  tryCatch(
    spend_event(ledger, event, "site_answer", data_set, part, if (!is.null(delta)) check_delta(delta), files = files,
                once = once),
    riemdp_error_budget = function(e) abort_riemdp("refused", "the budget of this site doesn't cover the answer.")
  )
}
