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
#' sites add noise, [dp_covariance()], [dp_pga()], [dp_lm()], [dp_regression()] and, of tables, means of groups by a
#' formula of `dp_mean()`.
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
#' asked for then: one by `dp_mean(mechanism = "tangent")`, `dp_covariance()`, `dp_pca()`, `dp_lm()` and `dp_pga()` at a
#' point that is there, two by `dp_pga()` that looks for a mean first, one for each step by
#' `dp_optimize(method = "rgd")` and `dp_regression()`; all with `delta`. The policies that sites have sent are held
#' against what is to be asked before the first site pays, and so is what their ledgers have left, where they say it
#' (see [site_prices()]). The shares are such that the guarantee holds against `colluding` sites that pool what they
#' know, the curator included:
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
  check_different(all)
  shares <- noise_shares(all, check_flag(shares, "shares"), colluding, check_flag(secure, "secure"), dropouts)
  pieces <- lapply(unname(all), function(s) list(kind = "site", ask = s$ask, policy = s$policy))
  x <- new_chunks(pieces, vapply(all, function(s) s$n, 0), NULL, NULL, NULL, map, "sites", columns)
  x$shares <- shares
  x$protects <- sites_unit(all)
  x$holders <- lapply(seq_along(all), function(i) site_holder(all[[i]], i))
  x$policies <- unlist(lapply(unname(all), function(s) {
    if (!is.null(s$policy)) sprintf("the site \"%s\" answers by its policy %s", s$policy$site, s$policy$hash)
  }))
  x
}

# a site that is asked twice has twice the price, and its records count twice
check_different <- function(all) {
  named <- unlist(lapply(unname(all), function(s) s$policy$site))
  if (anyDuplicated(named)) {
    abort_riemdp("argument", sprintf("the site \"%s\" is given twice.", named[anyDuplicated(named)]))
  }
}

# whom all sites' policies protect, NULL for a record
sites_unit <- function(all) {
  unit <- unique(lapply(unname(all), function(s) s$policy$unit))
  if (length(unit) > 1) abort_riemdp("argument", "the sites' policies protect different units: one sum has one.")
  unit[[1]]
}

# who a site is, and what tells of its budget where that can be asked
site_holder <- function(s, i) {
  list(site = s$policy$site %||% sprintf("%d", i), policy = s$policy$hash %||% NA_character_, n = s$n,
       budget = s$budget)
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

is_positive <- function(v) is.numeric(v) && length(v) == 1 && is.finite(v) && v > 0

share_assumption <- function(shares) {
  if (!is.null(shares$threshold)) return(secure_assumption(shares))
  paste0("no record is at two sites; each site clips its records and adds its share of the noise as asked",
         if (shares$sites - shares$colluding > 1) {
           sprintf("; nobody sees a single site's sum, and at most %d of %d sites tell theirs",
                   as.integer(shares$colluding), as.integer(shares$sites))
         })
}

# What a release says of them, from its details: in words of how the noise is made, and in a line where some fell silent
share_words <- function(details) {
  paste0(sprintf("made up of shares that %d sites draw and add, so large that it holds %s", as.integer(details$sites),
                 if (details$colluding == 0) "as long as none of them tells its own" else
                   sprintf("against %d of them together", as.integer(details$colluding))),
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

# what a question about records at sites that add noise has besides
noise_of_sites <- function(x) if (is_chunks(x) && !is.null(x$shares)) x[c("shares", "holders")]

# many sums need all sites for each
check_all_there <- function(shares) {
  if (isTRUE(shares$threshold < shares$sites)) {
    abort_riemdp("unsupported", "a run has many sums, and all sites have to be there for each: no `dropouts`.")
  }
}

# What a release of mu-GDP costs a site in mu: the price of its own sum, which the release is safer than, or of a secure
# one
site_mu <- function(shares, mu) mu * if (is.null(shares$threshold)) sqrt(shares$sites - shares$colluding) else 1

# What each site would pay and has left, in its ledger's unit where that is one of Gaussian noise: a list of list(site,
# policy, n, unit, price, left), NA where it isn't known
holder_prices <- function(holders, mu) {
  lapply(holders, function(h) {
    refused <- FALSE
    told <- if (!is.null(h$budget)) tryCatch(h$budget(), riemdp_error = function(e) {
      refused <<- inherits(e, "riemdp_error_refused")
      NULL
    })
    row <- if (!is.null(told)) told[told$unit %in% c("mu^2", "rho"), ]
    known <- !is.null(row) && nrow(row) == 1
    list(site = h$site, policy = h$policy, n = h$n, refused = refused, unit = if (known) row$unit else NA_character_,
         price = if (known) mu^2 / c("mu^2" = 1, rho = 2)[[row$unit]] else NA_real_,
         left = if (known) row$left else NA_real_)
  })
}

# Before anything is asked of sites: one that couldn't pay would leave the others poorer for nothing
check_holders <- function(holders, shares, mu) {
  if (is.null(mu)) return(invisible())
  told <- holder_prices(holders, site_mu(shares, mu))
  spare <- shares$sites - (shares$threshold %||% shares$sites)
  silent <- Filter(function(h) h$refused, told)
  if (length(silent) > spare) {
    abort_riemdp("refused", sprintf("the site \"%s\" has no budget for whoever asks. Nothing was asked of any site.",
                                    silent[[1]]$site))
  }
  poor <- Filter(function(h) isTRUE(h$left < h$price * (1 - 1e-9)), told)
  if (length(poor) <= spare) return(invisible())
  abort_riemdp("budget", sprintf(
    "the budget of the site \"%s\" has %.4g of %s left, and this release costs it %.4g. Nothing was asked of any site.",
    poor[[1]]$site, poor[[1]]$left, poor[[1]]$unit, poor[[1]]$price
  ))
}

#' What a release costs each site
#'
#' Before anything is asked of records: what a release of (epsilon, delta) by Gaussian noise costs each site in its own
#' ledger, all rounds together, and what is left there. With shares of noise a site pays for its own sum, which holds
#' less noise than the release; with secure sums for the release.
#'
#' @param x [sites()] with `shares = TRUE` or `secure = TRUE`.
#' @param epsilon,delta privacy budget of the release, both positive.
#' @return A data frame with a row for each site: `site` (its policy's name, or its number), `policy` (its hash), `n`,
#'   `mu` (the release is `mu`-GDP for those who see the site's answers), `unit`, `price` and `left` (of the site's
#'   ledger, by whoever asks; `NA` for ledgers that don't count mu or rho, and for sites that can't be asked) and
#'   `covered`. Releases look at the same before they ask for the first sum, and are refused (`riemdp_error_budget`)
#'   where a site couldn't pay.
#' @seealso [sites()], [ds_ledger()]
#' @examples
#' host <- site_host(site_policy("north", spd(2), radius = 2, least_noise = 0.5), wishart_spd,
#'                   dp_ledger(epsilon = 2, delta = 1e-6, rule = "gdp"))
#' x <- sites(site_remote(function(text) site_reply(host, text)), shares = TRUE)
#' site_prices(x, epsilon = 1, delta = 1e-6)
#' @export
site_prices <- function(x, epsilon, delta) {
  if (!at_sites(x) || is.null(x$shares)) abort_riemdp("argument", "`x` must be sites() that add noise.")
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_delta(delta)
  mu <- if (delta > 0) gaussian_mu(epsilon, delta) else NA_real_
  if (!(is.finite(mu) && mu > 0)) abort_riemdp("argument", "`delta` must be > 0, and Gaussian noise must have both.")
  own <- site_mu(x$shares, mu)
  rows <- lapply(holder_prices(x$holders, own), function(h) {
    data.frame(site = h$site, policy = h$policy, n = h$n, mu = own, unit = h$unit, price = h$price, left = h$left,
               covered = h$left >= h$price * (1 - 1e-9))
  })
  do.call(rbind, rows)
}

# what a release says of the sites that made its noise
shared_details <- function(noise) c(noise$shares, if (!is.null(noise$alive)) list(alive = noise$alive))

# sites sum up records, not units, and their number is public
check_whole_rows <- function(x, unit, replace) {
  if (!at_sites(x)) return(invisible())
  if (!is.null(unit)) abort_riemdp("unsupported", "`unit` needs the records in memory.")
  if (!replace) abort_riemdp("unsupported", "neighbours = \"add_remove\" needs the records in memory.")
}

# how many times the noise of one curator the sum has
share_excess <- function(shares) sqrt(shares$sites / ((shares$threshold %||% shares$sites) - shares$colluding))

answer_event <- function(request) event_gaussian(outwards_down(request$sd / vector_moved(request)), "replace-one")

# The plan of a sum of n records' vectors whose noise is `needed` but for those who collude: list(share_sd), or the
# query and the shift of a secure sum
sites_plan <- function(shares, about, needed, n) {
  if (is.null(shares$threshold)) return(list(share_sd = needed / sqrt(shares$sites - shares$colluding)))
  secure_query(shares, about, needed / vector_moved(about), n)
}

# What sites are asked for by a plan of shared noise (`share_sd`, or `query` of a secure sum); `about` says what of
shared_request <- function(plan, about, M = NULL, center = NULL) {
  at <- if (!is.null(center)) list(center = .Call(riemdp_stored, M, center))
  if (is.null(plan$query)) c(list(kernel = "noisy", sd = plan$share_sd), at, about) else
    c(list(kernel = "join"), at, plan$query)
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
  # no longer than all its records' vectors and the noise, but with a probability of 1e-100
  most <- x$sizes * vector_length(request) * (1 + 1e-9) + answer_noise(request, x$sizes) * (sqrt(d) + 25)
  bad <- which(!mapply(function(s, most) {
    is.double(s) && length(s) == d && all(is.finite(s)) && sqrt(sum(s^2)) <= most
  }, parts, most))
  if (length(bad)) abort_riemdp("chunk", sprintf("site %d has sent no sum that can be.", bad[1]))
  Reduce(`+`, parts)
}

# the standard deviation of sites' noise with its steps, of n records each
answer_noise <- function(request, n) {
  vapply(n, function(size) {
    plan <- noise_steps(request, request$sd / vector_moved(request), size)
    plan$step * sqrt(plan$ratio[1] / plan$ratio[2])
  }, 0)
}
