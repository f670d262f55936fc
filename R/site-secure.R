# Sums of sites that nobody sees one by one (Bonawitz and others 2017): each site hides its vector of whole numbers
# under masks that cancel in the sum, and holds shares of what would take other sites' masks off. Keys, masks and
# signatures are those of the package sodium (X25519, XSalsa20 with Poly1305, ChaCha20, Ed25519); see
# proofs/federation.md.

# whole numbers are added modulo this: doubles hold sums of two of them
MASK_MODULUS <- 2^48
MASK_BYTES <- 6
# sessions that a site keeps open at most for an analyst
SESSIONS_MOST <- 20

need_sodium <- function() {
  if (requireNamespace("sodium", quietly = TRUE)) return(invisible())
  abort_riemdp("unsupported", "secure sums need the package 'sodium': install.packages(\"sodium\").")
}

# ---- shares of a secret (Shamir 1979), byte by byte over the field of 256 elements -----------------------------------

FIELD <- local({
  exp <- integer(510)
  x <- 1L
  for (i in 1:255) {
    exp[i] <- x
    x <- bitwXor(x, bitwAnd(x * 2L, 255L)) # times 3, the generator
    if (bitwAnd(exp[i], 128L) > 0) x <- bitwXor(x, 27L) # x^8 = x^4 + x^3 + x + 1
  }
  exp[256:510] <- exp[1:255]
  log <- integer(255)
  log[exp[1:255]] <- 0:254
  list(exp = exp, log = log)
})

field_times <- function(a, b) {
  out <- integer(max(length(a), length(b)))
  both <- a > 0 & b > 0
  a <- rep_len(a, length(out))
  b <- rep_len(b, length(out))
  out[both] <- FIELD$exp[FIELD$log[a[both]] + FIELD$log[b[both]] + 1L]
  out
}

field_inverse <- function(a) FIELD$exp[255L - FIELD$log[a] + 1L]

# `count` shares of bytes, of which any `threshold` give them back: a matrix with a column for each share
split_secret <- function(secret, count, threshold) {
  secret <- as.integer(secret)
  random <- matrix(as.integer(sodium::random(length(secret) * (threshold - 1))), length(secret))
  vapply(seq_len(count), function(x) {
    value <- rep_len(0L, length(secret))
    for (j in rev(seq_len(threshold - 1))) value <- field_times(bitwXor(value, random[, j]), x)
    bitwXor(value, secret)
  }, integer(length(secret)))
}

# shares: a column each, with the numbers `at` of whose they are
join_secret <- function(shares, at) {
  value <- integer(nrow(shares))
  for (i in seq_along(at)) {
    weight <- 1L
    for (j in at[-i]) weight <- field_times(field_times(weight, j), field_inverse(bitwXor(j, at[i])))
    value <- bitwXor(value, field_times(shares[, i], weight))
  }
  as.raw(value)
}

# ---- masks -----------------------------------------------------------------------------------------------------------

# a key from bytes, for one purpose in one session
derived_key <- function(purpose, bytes, session) {
  sodium::sha256(c(charToRaw(canonical("riemdp", purpose, session)), bytes))
}

# d whole numbers below the modulus from a key
mask_of <- function(key, d) {
  bytes <- matrix(as.integer(sodium::chacha20(MASK_BYTES * d, key, raw(8))), MASK_BYTES)
  as.vector(256^(seq_len(MASK_BYTES) - 1) %*% bytes)
}

pair_mask <- function(own, other, session, d) {
  mask_of(derived_key("mask", sodium::diffie_hellman(own, other), session), d)
}

add_masked <- function(x, y) (x + y) %% MASK_MODULUS

take_mask <- function(x, y) (x - y) %% MASK_MODULUS

# ---- the plan of a sum -----------------------------------------------------------------------------------------------

# Fewest sites whose answers make a sum: two such sets share an honest one, which agrees to one list of survivors only.
least_threshold <- function(sites, colluding) floor((sites + colluding) / 2) + 1

# Variance, in steps, of the noise of as many honest sites as are there at least; as normal noise
secure_multiplier <- function(query) {
  honest <- (query$threshold - query$colluding) * query$ratio[1] / query$ratio[2]
  sqrt(max(0, outwards_down(honest) - ROUNDING_VARIANCE)) / vector_shift(query, query$step)
}

# The query of a sum of n records' vectors, with `multiplier` times what one of them moves it by the noise of one
# curator: in steps so small that rounding a site's sum to them costs a part in a thousand at most. `about`: what a
# request says of the vectors. With `shift`, in steps.
secure_query <- function(shares, about, multiplier, n) {
  plan <- noise_steps(about, multiplier, n, shares$threshold - shares$colluding)
  list(shift = plan$shift, query = c(list(
    sites = as.double(shares$sites), threshold = as.double(shares$threshold), colluding = as.double(shares$colluding),
    step = plan$step, ratio = plan$ratio
  ), about))
}

# standard deviation, in steps, of the noise that so many sites make together
summed_sd <- function(query, sites) sqrt(sites * query$ratio[1] / query$ratio[2])

# of the noise that the guarantee is about
honest_sd <- function(query) summed_sd(query, query$threshold - query$colluding)

# of the noise of so many sites in the sum over `unit`
summed_scale <- function(query, sites, unit) summed_sd(query, sites) * query$step / unit

secure_assumption <- function(shares) {
  sprintf(paste("no record is at two sites; each site clips its records and adds its share of the noise as asked; at",
                "most %d of %d sites tell what they know; the keys of the partners are theirs; X25519, XSalsa20,",
                "ChaCha20 and Ed25519 hold (computational privacy)"), as.integer(shares$colluding),
          as.integer(shares$sites))
}

# ---- at a site -------------------------------------------------------------------------------------------------------

# the numbers of a request to join that all sites have to see alike
SECURE_TERMS <- c("session", "sites", "threshold", "colluding", "M", "center", "radius", "step", "ratio", "vector",
                  "problem", "at", "model", "weight", "frame", "lambda", "speed")

secure_digest <- function(query) {
  terms <- lapply(query[SECURE_TERMS], wire_value)
  sha256(canonical("riemdp-secure", as.character(jsonlite::toJSON(terms, auto_unbox = TRUE, null = "null",
                                                                  digits = NA))))
}

# Before anything is paid: whether there can be a sum of such a request, of one record that anybody may know, and noise
check_answerable <- function(request, n) {
  trial <- vector_of(request)$trial
  d <- vector_dimension(request)
  if (!(d <= WIRE_NUMBERS)) refuse_because("message")
  sum <- tryCatch(silently(vector_of(request)$sum(c(request, list(rows = 1)), trial(request))),
                  error = function(e) NULL)
  if (length(sum) != d) refuse_because("message")
  if (is.null(request$sd)) return(invisible())
  tryCatch(noise_steps(request, request$sd / vector_moved(request), n),
           riemdp_error = function(e) refuse_because("noise"))
}

hold_to_terms <- function(policy, query, n) {
  k <- query$sites
  whole <- c(k, query$threshold, query$colluding, query$index)
  ok <- all(whole == round(whole)) && k >= policy$least_sites && k <= 255 && query$index >= 1 && query$index <= k &&
    query$threshold <= k && query$threshold >= least_threshold(k, query$colluding) && length(query$ratio) == 2 &&
    all(query$ratio >= 1 & query$ratio == round(query$ratio) & query$ratio <= 2^62) &&
    query$ratio[2] <= 2^31 && query$ratio[1] >= 2 * ROUNDING_VARIANCE * query$ratio[2] &&
    query$threshold >= policy$least_sites
  if (!ok || query$colluding < policy$colluding) refuse_because("trust")
  # beyond that rounding tells, and sums leave the whole numbers
  if (!steps_fit(query, n, query$step)) refuse_because("message")
  if (!(secure_multiplier(query) >= policy$least_noise)) refuse_because("noise")
}

signed_text <- function(digest, name, index, mask, seal) {
  charToRaw(canonical("riemdp-join", digest, name, index, mask, seal))
}

secure_join <- function(host, query, analyst) {
  if (is.null(host$identity)) refuse_because("trust")
  check_answerable(query, host$n)
  hold_to_terms(host$policy, query, host$n)
  if (!is.null(host$sessions[[query$session]])) refuse_because("replayed")
  open <- Filter(function(s) identical(host$sessions[[s]]$analyst, analyst), ls(host$sessions))
  numbers <- vapply(open, function(s) host$sessions[[s]]$number, 0)
  # an analyst's own oldest
  if (length(open) >= SESSIONS_MOST) rm(list = open[which.min(numbers)], envir = host$sessions)
  own <- new.env(parent = emptyenv())
  own$number <- max(0, numbers) + 1
  own$analyst <- analyst
  own$query <- query
  own$digest <- secure_digest(query)
  own$keys <- list(mask = sodium::keygen(), seal = sodium::keygen(), self = sodium::random(32))
  own$stage <- "joined"
  assign(query$session, own, envir = host$sessions)
  mask <- hex_bytes(sodium::pubkey(own$keys$mask))
  seal <- hex_bytes(sodium::pubkey(own$keys$seal))
  own$said <- list(site = host$policy$site, mask = mask, seal = seal, sign = hex_bytes(sodium::sig_sign(
    signed_text(own$digest, host$policy$site, query$index, mask, seal), host$identity
  )))
}

# each stage of a session is gone through once
session_at <- function(host, session, stage, analyst) {
  own <- if (is_string(session)) host$sessions[[session]]
  if (is.null(own) || own$stage != stage || !identical(own$analyst, analyst)) refuse_because("replayed")
  own$stage <- "over" # until the stage has come to its end
  own
}

# Others' keys, by their signatures those of partners that the policy names; to each a share of both secrets
secure_share <- function(host, fields, analyst) {
  own <- session_at(host, fields$session, "joined", analyst)
  query <- own$query
  keys <- fields$keys
  if (length(keys) != query$sites || !identical(keys[[query$index]], own$said)) refuse_because("message")
  names <- vapply(keys, `[[`, "", "site")
  if (anyDuplicated(names)) refuse_because("trust")
  for (i in seq_along(keys)[-query$index]) {
    key <- host$policy$partners[names[i]]
    good <- !is.na(key) && isTRUE(tryCatch(sodium::sig_verify(
      signed_text(own$digest, names[i], i, keys[[i]]$mask, keys[[i]]$seal), bytes_hex(keys[[i]]$sign), bytes_hex(key)
    ), error = function(e) FALSE))
    if (!good) refuse_because("trust")
  }
  own$others <- keys
  own$listed <- sha256(do.call(canonical, as.list(unlist(keys, use.names = FALSE))))
  shares <- list(self = split_secret(own$keys$self, query$sites, query$threshold),
                 mask = split_secret(own$keys$mask, query$sites, query$threshold))
  own$shares <- vector("list", query$sites)
  own$shares[[query$index]] <- as.raw(c(shares$self[, query$index], shares$mask[, query$index]))
  own$stage <- "shared"
  lapply(seq_along(keys), function(i) {
    if (i == query$index) return("")
    plain <- as.raw(c(query$index, i, shares$self[, i], shares$mask[, i]))
    base64(as.vector(sodium::auth_encrypt(plain, own$keys$seal, bytes_hex(keys[[i]]$seal),
                                          sealed_nonce(query$session, query$index, i))))
  })
}

sealed_nonce <- function(session, from, to) sodium::sha256(charToRaw(canonical("seal", session, from, to)))[1:24]

# The site's sum with its share of the noise, under the masks; paid for as what the sum of those who are there promises
secure_masked <- function(host, fields, analyst, pay) {
  own <- session_at(host, fields$session, "shared", analyst)
  query <- own$query
  sealed <- fields$sealed
  if (length(sealed) != query$sites) refuse_because("message")
  there <- query$index
  for (i in seq_along(sealed)[-query$index]) {
    if (!nzchar(sealed[[i]])) next
    plain <- tryCatch(sodium::auth_decrypt(jsonlite::base64_dec(sealed[[i]]), own$keys$seal,
                                           bytes_hex(own$others[[i]]$seal),
                                           sealed_nonce(query$session, i, query$index)), error = function(e) NULL)
    if (length(plain) != 66 || !identical(as.integer(plain[1:2]), as.integer(c(i, query$index)))) {
      refuse_because("trust")
    }
    own$shares[[i]] <- plain[-(1:2)]
    there <- c(there, i)
  }
  if (length(there) < query$threshold) refuse_because("sites")
  own$there <- sort(there)
  d <- vector_dimension(query)
  pay(event_gaussian(outwards_down(secure_multiplier(query)), "replace-one"))
  x <- site_integers(c(query, host$shares), host$x, query$step, query$ratio)
  x <- add_masked(x, mask_of(derived_key("self", own$keys$self, query$session), d))
  for (j in setdiff(own$there, query$index)) {
    mask <- pair_mask(own$keys$mask, bytes_hex(own$others[[j]]$mask), query$session, d)
    x <- if (j > query$index) add_masked(x, mask) else take_mask(x, mask)
  }
  own$stage <- "masked"
  x
}

# Signs who took part and who has answered: one list, once
secure_agree <- function(host, fields, analyst) {
  own <- session_at(host, fields$session, "masked", analyst)
  alive <- fields$alive
  if (anyDuplicated(alive) || !all(alive %in% own$there) || !own$query$index %in% alive ||
      length(alive) < own$query$threshold) {
    refuse_because("sites")
  }
  own$alive <- sort(alive)
  own$stage <- "agreed"
  hex_bytes(sodium::sig_sign(agreed_text(own), host$identity))
}

agreed_text <- function(own) {
  charToRaw(canonical("riemdp-agree", own$digest, own$listed, paste(own$there, collapse = " "),
                      paste(own$alive, collapse = " ")))
}

# Of each site one share: that of its own mask if it has answered, else that of the key of its masks with others. Only
# where so many have signed the same list that no other list can have as many.
secure_unmask <- function(host, fields, analyst) {
  own <- session_at(host, fields$session, "agreed", analyst)
  if (length(fields$signs) != own$query$sites) refuse_because("message")
  keys <- c(host$policy$partners, stats::setNames(hex_bytes(sodium::sig_pubkey(host$identity)), host$policy$site))
  alive <- own$alive
  signed <- vapply(alive, function(i) {
    isTRUE(tryCatch(sodium::sig_verify(agreed_text(own), bytes_hex(fields$signs[[i]]),
                                       bytes_hex(keys[[own$others[[i]]$site]])), error = function(e) FALSE))
  }, NA)
  if (sum(signed) < own$query$threshold) refuse_because("sites")
  out <- lapply(seq_along(own$shares), function(j) {
    if (!j %in% own$there) return("")
    hex_bytes(if (j %in% alive) own$shares[[j]][1:32] else own$shares[[j]][33:64])
  })
  rm(list = fields$session, envir = host$sessions)
  out
}

SECURE_STAGES <- list(join = secure_join, share = secure_share, agree = secure_agree, unmask = secure_unmask)

# ---- at the curator --------------------------------------------------------------------------------------------------

# list(sum in steps, alive): the sum over the sites that were there to the end, of a plan's query
secure_sum <- function(x, query) {
  need_sodium()
  k <- length(x$pieces)
  session <- random_id()
  query$session <- session
  refused <- NULL
  # an answer that isn't one of its stage is none; who refuses has fallen silent
  ask <- function(i, kernel, ...) {
    value <- tryCatch(x$pieces[[i]]$ask(c(list(kernel = kernel, session = session), list(...))),
                      error = function(e) {
                        if (inherits(e, "riemdp_error_refused")) refused <<- refused %||% e
                        NULL
                      })
    if (isTRUE(SECURE_ANSWERS[[kernel]](value, k, d))) value
  }
  d <- vector_dimension(query)
  each <- function(who, kernel, fields) lapply(who, function(i) do.call(ask, c(list(i, kernel), fields(i))))
  all <- seq_len(k)
  keys <- each(all, "join", function(i) c(query[intersect(SECURE_TERMS[-1], names(query))], list(index = as.double(i))))
  if (any(vapply(keys, is.null, NA))) {
    if (!is.null(refused)) stop(refused)
    abort_riemdp("chunk", "a site doesn't answer: nothing was asked of its records.")
  }
  sealed <- each(all, "share", function(i) list(keys = keys))
  sharing <- all[!vapply(sealed, is.null, NA)]
  enough <- function(who) {
    if (length(who) < query$threshold) {
      if (!is.null(refused)) stop(refused)
      abort_riemdp("chunk", "too few sites answer for a sum: what they paid is gone, and nothing is released.")
    }
  }
  enough(sharing)
  masked <- each(sharing, "masked", function(i) {
    list(sealed = lapply(all, function(j) if (j == i || is.null(sealed[[j]])) "" else sealed[[j]][[i]]))
  })
  alive <- sharing[!vapply(masked, is.null, NA)]
  enough(alive)
  signs <- each(alive, "agree", function(i) list(alive = as.double(alive)))
  agreed <- alive[!vapply(signs, is.null, NA)]
  enough(agreed)
  signs <- lapply(all, function(i) if (i %in% alive) signs[[match(i, alive)]] %||% "" else "")
  shares <- each(agreed, "unmask", function(i) list(signs = signs))
  told <- agreed[!vapply(shares, is.null, NA)]
  enough(told)
  shares <- shares[match(told, agreed)]
  sum <- unmasked(query, keys, masked[match(alive, sharing)], alive, sharing, shares, told, d)
  # no longer than all vectors and the noise, but with a probability of 1e-100
  most <- sum(x$sizes[alive]) * vector_length(query) / query$step * (1 + 1e-9) +
    summed_sd(query, length(alive)) * (sqrt(d) + 25) + k * sqrt(d)
  if (!(sqrt(sum(sum^2)) <= most)) {
    abort_riemdp("chunk", "the sum is none that can be: a site has sent something else than it should.")
  }
  list(sum = sum, alive = alive)
}

# what a site's answer to each stage looks like, of k sites and d numbers
SECURE_ANSWERS <- list(
  join = function(v, k, d) is_signed_key(v),
  share = function(v, k, d) are_texts(v, k),
  masked = function(v, k, d) is.double(v) && length(v) == d && all(v >= 0 & v < MASK_MODULUS & v == round(v)),
  agree = function(v, k, d) is_string(v) && grepl("^[0-9a-f]{128}$", v),
  unmask = function(v, k, d) are_texts(v, k) && all(grepl("^([0-9a-f]{64})?$", unlist(v)))
)

is_signed_key <- function(v) {
  is.list(v) && identical(names(v), c("site", "mask", "seal", "sign")) && all(vapply(v, is_string, NA)) &&
    all(grepl(WIRE_HASH, v[c("mask", "seal")])) && grepl("^[0-9a-f]{128}$", v$sign)
}

are_texts <- function(v, k) is.list(v) && length(v) == k && all(vapply(v, is_string, NA))

unmasked <- function(query, keys, masked, alive, sharing, shares, told, d) {
  use <- seq_len(query$threshold)
  secret <- function(j) join_secret(vapply(shares[use], function(s) as.integer(bytes_hex(s[[j]])), integer(32)),
                                    told[use])
  total <- Reduce(add_masked, masked)
  for (i in alive) total <- take_mask(total, mask_of(derived_key("self", secret(i), query$session), d))
  for (j in setdiff(sharing, alive)) {
    key <- secret(j)
    for (i in alive) {
      mask <- pair_mask(key, bytes_hex(keys[[i]]$mask), query$session, d)
      total <- if (j > i) take_mask(total, mask) else add_masked(total, mask)
    }
  }
  ifelse(total >= MASK_MODULUS / 2, total - MASK_MODULUS, total)
}

# How many of the sites have to be there to the end; an error where that many can't be spared
secure_threshold <- function(all, colluding, dropouts) {
  remote <- vapply(all, function(s) identical(s$policy$trust, "secure"), NA)
  if (!all(remote)) {
    abort_riemdp("argument", "`secure = TRUE` needs sites by site_remote() whose policies have trust = \"secure\".")
  }
  threshold <- length(all) - dropouts
  least <- least_threshold(length(all), colluding)
  if (threshold < least) {
    abort_riemdp("argument",
                 sprintf("of %d sites, of which %d may collude, at least %d must be there: `dropouts` is too large.",
                         length(all), as.integer(colluding), as.integer(least)))
  }
  threshold
}
