# A site that answers messages: text in, text out. What a site holds is touched by nothing but the kernels of sums.

#' Answering messages at a site
#'
#' `site_host()` puts a site's records behind its policy and its ledger. `site_reply()` answers one message by another;
#' how texts travel (HTTP, a queue, DataSHIELD) is left to whoever carries them, and so is who the analyst is: `analyst`
#' is the name under which the carrier knows whoever sent the message. `site_remote()` is the analyst's side: it makes a
#' site for [sites()] of a function that sends a text and returns the answer.
#'
#' @section What a site does with a message:
#' 1. It reads it. Messages are JSON of a few types (`system.file("wire", "schema.json", package = "riemdp")`), numbers
#'    as the bytes of doubles. Nothing in a message is evaluated, unserialized or looked up, and no file or address can
#'    be named in it.
#' 2. It holds it against the policy: the statistic, the manifold, the ball's radius, the noise.
#' 3. It pays, and writes down the request's number in the same transaction: a request is paid for once. If the same
#'    request comes again, the answer that is kept (`keep`) goes out again, the same bits; if none is kept, as the site
#'    fell between paying and answering, the request is refused and its price is gone. **No request is answered twice
#'    under different noise.**
#' 4. It draws the noise, keeps the answer and sends it.
#'
#' A refusal is one of a dozen fixed words, and none of them depends on a record. How long an answer takes does depend
#' on records, a little: let the carrier answer at fixed times where that matters. Messages hold no time of day, so that
#' clocks which differ do nothing.
#'
#' @section Who is trusted with what:
#' That the site clips and adds noise as asked, and that the carrier tells analysts apart. With the policy's
#' `trust = "noise"` nobody else: each answer has its own price, in the site's own ledger, whatever is asked and by
#' whomever. Bound messages to one site by the policy's hash, which each of them has: a message to a site whose policy
#' has changed is refused before anything is paid.
#'
#' @param policy a [site_policy()], or the path of its file.
#' @param x the site's records: arrays, tables or points, as for [dp_mean()].
#' @param ledger the site's [dp_ledger()]; with quotas each analyst spends from her own.
#' @param keep `NULL`, or an existing directory at the site for the answers that went out, so that a request whose
#'   answer was lost can be answered again. They are what the analyst has (or could have had) already.
#' @param unit where the policy has a `unit` and the records no column of that name: whose each record is, a vector.
#' @param identity for secure sums: the site's own key, or the path of its file; see [site_key()].
#' @param host what `site_host()` returned.
#' @param text a message.
#' @param analyst name of who sent it, as the carrier knows; needed for a ledger with quotas.
#' @param send a function of a text that returns the site's answer, another text.
#' @param ... nothing; later arguments must be named.
#' @return `site_host()`: an object of class `riemdp_site_host`. `site_reply()`: one string, whatever came in.
#'   `site_remote()`: a site for [sites()]; what it is refused becomes an error of class `riemdp_error_refused`, and an
#'   answer that is none one of class `riemdp_error_wire`.
#' @seealso [site_policy()], [sites()]
#' @examples
#' if (requireNamespace("jsonlite", quietly = TRUE)) {
#'   # two hospitals, each with its records, its policy and its budget
#'   host <- function(name, x) {
#'     site_host(site_policy(name, spd(2), radius = 2, least_noise = 0.5), x,
#'               dp_ledger(epsilon = 2, delta = 1e-6, rule = "gdp"))
#'   }
#'   north <- host("north", wishart_spd[, , 1:120])
#'   south <- host("south", wishart_spd[, , 121:200])
#'   # what goes to and fro is text
#'   x <- sites(site_remote(function(text) site_reply(north, text)),
#'              site_remote(function(text) site_reply(south, text)), shares = TRUE)
#'   dp_mean(x, spd(2), 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
#' }
#' @export
site_host <- function(policy, x, ledger, keep = NULL, identity = NULL, unit = NULL) {
  need_jsonlite()
  policy <- if (is_string(policy)) read_site_policy(policy) else check_policy(policy)
  check_ledger(ledger)
  if ((store_meta(ledger)$rule %in% rules_with("stated")) != !is.null(policy$delta)) {
    abort_riemdp("argument", sprintf("a policy has `delta` for a ledger with rule = %s, and for no other.",
                                     choice_words(rules_with("stated"))))
  }
  check_host_ledger(policy, ledger)
  if (!is.null(keep) && !(is_string(keep) && dir.exists(keep))) {
    abort_riemdp("argument", "`keep` must be an existing directory, or NULL.")
  }
  if (is.function(x) || is_chunks(x)) abort_riemdp("unsupported", "a host's records must be in memory.")
  unit <- policy_unit_of(policy, x, unit)
  if (is.null(policy$columns)) {
    if (is.data.frame(x) && !is.null(policy$unit)) x <- x[names(x) != policy$unit] # whose a record is is no coordinate
    x <- plain_numbers(x) # by cells: one of them decides about no other
    n <- points_counted(policy$spaces, x)[1]
  } else {
    x <- policy_table(policy, x)
    n <- as.double(table_records(policy, x))
  }
  shares <- c(list(rows = n), if (!is.null(unit)) person_shares(unit, n))
  n <- shares$units %||% n
  if (n < policy$least_records) abort_riemdp("argument", "the site has fewer records than its policy asks for.")
  if (policy$trust == "secure") need_sodium()
  structure(list(policy = policy, hash = policy_hash(policy), x = x, n = n, shares = shares, ledger = ledger,
                 keep = keep,
                 identity = if (!is.null(identity)) read_key(identity), sessions = new.env(parent = emptyenv())),
            class = "riemdp_site_host")
}

# that answers by this policy can be paid from the ledger
check_host_ledger <- function(policy, ledger) {
  if (!identical(ledger$adjacency, "replace-one")) {
    abort_riemdp("argument", "a site's ledger must be one about replaced records: adjacency = \"replace-one\".")
  }
  rows <- summary(ledger)
  if (!any(rows$data_set == policy$data_set & rows$part %in% (policy$part %||% NA))) {
    abort_unknown_account(policy$data_set, policy$part %||% "")
  }
}

# whose each record is, NULL where the policy protects records
policy_unit_of <- function(policy, x, unit) {
  if (is.null(unit) && !is.null(policy$unit) && is.list(x)) unit <- unclass(x)[[policy$unit]]
  if (is.null(unit) != is.null(policy$unit)) {
    abort_riemdp("argument", "a policy with `unit` needs whose each record is: a column of that name, or `unit`.")
  }
  unit
}

# list(share: of each record, a part of 1 within its unit; units: how many). Records of nobody don't count.
person_shares <- function(unit, n) {
  unit <- plain_units(if (is.factor(unit)) factor_labels(unit) else unit)
  of <- match(unit, unique(unit[!is.na(unit)]))
  if (length(of) != n) abort_riemdp("argument", "`unit` must have an element for each record.")
  share <- 1 / tabulate(of, max(0, of, na.rm = TRUE))[of]
  share[is.na(share)] <- 0
  list(share = share, units = as.double(max(0, of, na.rm = TRUE)))
}

# The columns of a policy, nothing else, cell by cell as what the policy says: a table, or a list of variables where one
# holds points
policy_table <- function(policy, x) {
  there <- names(policy$columns)
  if (!is.list(x) || !all(there %in% names(x)) || anyDuplicated(names(x))) {
    abort_riemdp("argument", "the site's records must be a table with the columns of its policy.")
  }
  x <- unclass(x)[there]
  points <- policy$columns == "points"
  x[points] <- lapply(x[points], plain_numbers)
  sizes <- unlist(lapply(there, function(name) {
    if (points[[name]]) points_counted(policy$spaces, x[[name]]) else cell_count(x[[name]])
  }))
  if (length(unique(sizes)) != 1 || sizes[1] < 1) {
    abort_riemdp("argument", "each variable of the site's records must have one value, or point, of each record.")
  }
  x[!points] <- Map(site_cells, x[!points], policy$columns[!points])
  if (any(points)) x else structure(x, class = "data.frame", row.names = .set_row_names(sizes[1]))
}

# longer text than messages hold is nobody's level
site_cells <- function(x, type) {
  x <- column_cells(x, type)
  if (type == "text") x[nchar(x, "bytes") > WIRE_STRING] <- NA
  x
}

table_records <- function(policy, x) {
  first <- x[[1]]
  if (policy$columns[[1]] == "points") points_counted(policy$spaces, first)[1] else length(first)
}

points_counted <- function(spaces, v) vapply(spaces, function(M) as.double(.Call(riemdp_count, M, v)), 0)

#' @rdname site_host
#' @param file path of a file for a new key. It isn't replaced, and holds the site's secret: keep it as such.
#' @return `site_key()`: the public key, a string for the policies of the other sites. Needs the package `sodium`.
#' @export
site_key <- function(file) {
  need_sodium()
  if (!is_string(file) || file.exists(file)) {
    abort_riemdp("argument", "`file` must be the path of a file that isn't there.")
  }
  key <- sodium::sig_keygen()
  old <- Sys.umask("077")
  on.exit(Sys.umask(old))
  write_new(file, charToRaw(paste0(hex_bytes(key), "\n")))
  hex_bytes(sodium::sig_pubkey(key))
}

read_key <- function(identity) {
  need_sodium()
  if (is_string(identity) && file.exists(identity)) identity <- readLines(identity, n = 1, warn = FALSE)
  if (!is_string(identity) || !grepl("^[0-9a-f]{128}$", identity)) {
    abort_riemdp("argument", "`identity` must be the path of a key that site_key() made.")
  }
  bytes_hex(identity)
}

#' @export
print.riemdp_site_host <- function(x, ...) {
  cat(sprintf("A site's %s (%.0f) behind a policy and a ledger\n",
              if (is.null(x$policy$unit)) "records" else "units", x$n))
  print(x$policy)
  invisible(x)
}

check_host <- function(host) {
  ok <- inherits(host, "riemdp_site_host") && is.list(host) && inherits(host$policy, "riemdp_site_policy") &&
    is_string(host$hash) && is.environment(host$sessions)
  if (!ok) abort_riemdp("argument", "`host` must be what site_host() returned.")
}

#' @rdname site_host
#' @export
site_reply <- function(host, text, analyst = NULL) {
  check_host(host)
  id <- NOBODY
  refusal <- function(reason) wire_write("refusal", id = id, reason = reason)
  message <- tryCatch(wire_read(text, c("hello", "request", "ledger"), REQUEST_MOST), error = function(e) NULL)
  if (is.null(message)) return(refusal("message"))
  if (message$type == "hello") {
    return(wire_write("policy", text = wire_bytes(policy_text(host$policy)), hash = host$hash, records = host$n))
  }
  if (message$type == "ledger") {
    return(tryCatch(wire_write("budget", site = host$policy$site, value = wire_value(budget_of(host, analyst))),
                    error = function(e) refusal("failed")))
  }
  id <- message$id
  digest <- sha256(canonical("riemdp-request", text, analyst %||% ""))
  tryCatch(reply_to(host, message, digest, analyst), riemdp_reason = function(e) refusal(e$reason),
           error = function(e) refusal("failed"))
}

# What requests hold, by statistic: "?" for what may be NULL. The first ones carry noise, the others are for a trusted
# curator.
WIRE_REQUESTS <- list(
  noisy = c(M = "manifold?", center = "numbers?", radius = "positive", sd = "positive", vector = "string?",
            problem = "problem?", at = "numbers?", model = "model?", weight = "positive?",
            frame = "numbers?", lambda = "numbers?", speed = "numbers?"),
  check = c(M = "manifold"),
  ball = c(M = "manifold", center = "numbers", radius = "positive", p = "numbers?", what = "string"),
  steps = c(M = "manifold", center = "numbers", numbers = "steps", n = "positive", at = "numbers"),
  squares = c(M = "manifold", center = "numbers", numbers = "steps", n = "positive", at = "numbers",
              squares = "numbers"),
  gradients = c(M = "manifold", problem = "problem", p = "numbers", snapshot = "numbers?", step = "gradient",
                bound = "positive?", counts = "string", which = "numbers?", share = "numbers?"),
  # of a secure sum, stage by stage
  join = c(session = "session", index = "positive", sites = "positive", threshold = "positive", colluding = "amount",
           M = "manifold?", center = "numbers?", radius = "positive", step = "positive", ratio = "numbers",
           vector = "string?", problem = "problem?", at = "numbers?", model = "model?", weight = "positive?",
           frame = "numbers?", lambda = "numbers?", speed = "numbers?"),
  share = c(session = "session", keys = "keys"),
  masked = c(session = "session", sealed = "strings"),
  agree = c(session = "session", alive = "numbers"),
  unmask = c(session = "session", signs = "strings")
)
# what a sum may be about besides, by its name
VECTOR_FIELDS <- c("M", "center", "problem", "at", "model", "weight", "frame", "lambda", "speed")
WIRE_SECURE <- c("join", "share", "masked", "agree", "unmask")
WIRE_TYPES <- list(
  session = function(v) is_string(v) && grepl(WIRE_ID, v), amount = function(v) is_positive(v) || identical(v, 0),
  strings = function(v) is.list(v) && all(vapply(v, is_string, NA)),
  keys = function(v) is.list(v) && all(vapply(v, is_signed_key, NA)),
  manifold = function(v) inherits(v, "riemdp_manifold"), problem = function(v) inherits(v, "riemdp_problem"),
  model = is.list, numbers = function(v) is.numeric(v), positive = is_positive, string = is_string,
  steps = function(v) {
    is.list(v) && setequal(names(v), c("radius", "step", "steps", "bits", "base", "terms", "accept", "carried",
                                       "tangent")) &&
      all(vapply(v, function(one) is_single(one) && (is.double(one) || is.logical(one)), NA))
  },
  gradient = function(v) {
    is.list(v) && setequal(names(v), c("clip", "apart", "losses")) && is_positive(v$clip) &&
      all(vapply(v[c("apart", "losses")], function(one) isTRUE(one) || isFALSE(one), NA))
  }
)

# whether a value is of a type, or "?" open
is_of <- function(value, type) {
  if (endsWith(type, "?") && is.null(value)) return(TRUE)
  isTRUE(WIRE_TYPES[[sub("?", "", type, fixed = TRUE)]](value))
}

# a request as chunk_answer() takes it
request_of <- function(message) {
  types <- WIRE_REQUESTS[[message$statistic]]
  if (is.null(types)) refuse_because("statistic")
  fields <- message$fields
  if (!all(names(fields) %in% names(types)) || anyDuplicated(names(fields))) refuse_because("message")
  if (!all(vapply(names(types), function(name) is_of(fields[[name]], types[[name]]), NA))) refuse_because("message")
  c(list(kernel = message$statistic, private = TRUE), fields)
}

# refuses what the site's policy doesn't have
hold_to_policy <- function(policy, request) {
  allowed <- c(SITE_KERNELS[[if (policy$trust == "curator") "sums" else "noisy"]],
               if (policy$trust == "secure") WIRE_SECURE)
  if (!request$kernel %in% allowed) refuse_because("statistic")
  summed <- request$kernel %in% c("noisy", "join")
  if (summed) hold_to_sums(policy, request)
  if (!is.null(request$M)) hold_to_points(policy, request)
  if (summed) hold_to_vector(policy, request)
  if (request$kernel == "noisy" && !enough_noise(request, policy$least_noise)) refuse_because("noise")
}

# one of the policy's spaces, and no larger ball
hold_to_points <- function(policy, request) {
  there <- vapply(policy$spaces, identical, NA, request$M)
  if (!any(there) || !(is.null(request$problem) || identical(request$problem$manifold, request$M))) {
    refuse_because("space")
  }
  length <- if (request$kernel == "gradients") request$step$clip else request$radius %||% request$numbers$radius
  if (!is.null(length) && length > policy$radius) refuse_because("ball")
  if (request$kernel %in% c("noisy", "join")) hold_to_ball(request)
}

# which sum a request is for, and that it has what goes with that
hold_to_sums <- function(policy, request) {
  vector <- request$vector %||% "mean"
  if (!vector %in% policy$sums) refuse_because("statistic")
  if (!vector_fields_fit(request)) refuse_because("message")
}

# whether it has all that its vector needs, and nothing that another one has
vector_fields_fit <- function(request) {
  fields <- vector_of(request)$fields
  given <- Filter(function(name) !is.null(request[[name]]), VECTOR_FIELDS)
  needed <- fields[!endsWith(fields, "?")]
  all(needed %in% given) && all(given %in% sub("?", "", fields, fixed = TRUE))
}

# what a sum has of its own to ask for
hold_to_vector <- function(policy, request) {
  own <- vector_of(request)$refused
  why <- if (!is.null(own)) own(policy, request)
  if (!is.null(why)) refuse_because(why)
}

# a ball around a point of the manifold
hold_to_ball <- function(request) {
  if (!radius_fits(request$radius)) refuse_because("ball")
  if (!is_one_point(request$M, request$center)) refuse_because("message")
}

# whether numbers are those of one point, as it is stored
is_one_point <- function(M, numbers) {
  length(numbers) == mf_facts(M)$ambient && is.null(dim(numbers)) &&
    isTRUE(tryCatch(mf_is_point(M, stored_shape(M, numbers)), error = function(e) FALSE))
}

reply_to <- function(host, message, digest, analyst) {
  policy <- host$policy
  if (!identical(message$policy, host$hash)) refuse_because("policy")
  request <- request_of(message)
  hold_to_policy(policy, request)
  if (request$kernel %in% WIRE_SECURE) {
    value <- if (request$kernel == "masked") secure_masked(host, request, analyst %||% "", function(event) {
      pay_request(host, event, message$id, digest, analyst)
    }) else SECURE_STAGES[[request$kernel]](host, request, analyst %||% "")
    return(wire_write("answer", id = message$id, policy = host$hash, value = wire_value(value)))
  }
  tryCatch(check_site_request(request, if (policy$trust == "curator") "sums" else "noisy", policy$least_noise),
           riemdp_error = function(e) refuse_because("statistic"))
  noisy <- request$kernel == "noisy"
  if (noisy) {
    kept <- kept_answer(host, message$id, digest)
    if (!is.null(kept)) return(kept)
    check_answerable(request, host$n)
    pay_request(host, answer_event(request), message$id, digest, analyst)
  }
  value <- tryCatch(silently(chunk_answer(c(request, host$shares), host$x)),
                    error = function(e) refuse_because("failed"))
  answer <- wire_write("answer", id = message$id, policy = host$hash, value = wire_value(value))
  if (noisy) keep_answer(host, message$id, digest, answer)
  answer
}

# What is left of the data set's budget, or of the analyst's quota: sums of prices, which are public; and of the answers
# that the policy has
budget_of <- function(host, analyst) {
  rows <- summary(host$ledger)
  part <- host$policy$part %||% NA
  mine <- rows$data_set == host$policy$data_set & (if (is.na(part)) is.na(rows$part) else rows$part %in% part)
  if (has_quotas(host$ledger)) mine <- mine & rows$analyst %in% check_analyst(host$ledger, analyst)
  rows <- rows[mine, ]
  if (!nrow(rows)) refuse_because("budget")
  most <- host$policy$most_answers
  c(list(unit = as.list(rows$unit), limit = rows$limit, spent = rows$spent, left = rows$left),
    if (!is.null(most)) list(answers = store_slots(host$ledger, host$hash, most)))
}

pay_request <- function(host, event, id, digest, analyst) {
  ledger <- host$ledger
  if (has_quotas(ledger)) {
    ledger$analyst <- tryCatch(check_analyst(ledger, analyst), riemdp_error = function(e) NULL)
    if (is.null(ledger$analyst)) refuse_because("budget")
  }
  tryCatch(pay_answer(ledger, event, host$policy$data_set, host$policy$part, host$policy$delta, named_files(host$x),
                      once = list(id = id, digest = digest, most = host$policy$most_answers, of = host$hash)),
           riemdp_error_refused = function(e) refuse_because("budget"),
           riemdp_error_answers = function(e) refuse_because("answers"),
           riemdp_error_replayed = function(e) refuse_because("replayed"))
}

# ---- a site that a process asks -------------------------------------------------------------------------------------

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
  request <- known_request(request)
  check_site_request(request, answers, least)
  if (request$kernel == "noisy") check_sum_request(request, x)
  if (request$kernel == "noisy" && !is.null(ledger) && !in_simulation()) {
    pay_answer(ledger, answer_event(request), data_set, part, delta, named_files(x))
  }
  tryCatch(silently(chunk_answer(request, x)), error = function(e) {
    abort_riemdp("refused", "the request can't be answered.") # what went wrong may be about records
  })
}

# What of a request its statistic has: all else isn't looked at, least of all what would stand for the site's own
# numbers.
known_request <- function(request) {
  kernel <- if (is.list(request)) request[["kernel"]]
  types <- if (is_string(kernel) && !kernel %in% WIRE_SECURE) WIRE_REQUESTS[[kernel]]
  unclass(request)[intersect(c("kernel", "private", "seed", names(types)), names(request))]
}

# that a request for a sum with noise has what belongs to that, and that there can be one
check_sum_request <- function(request, x) {
  types <- WIRE_REQUESTS$noisy
  refuse <- function(e) abort_riemdp("refused", "the request isn't one for a sum that there is.")
  if (!all(vapply(names(types), function(name) is_of(request[[name]], types[[name]]), NA))) refuse()
  if (!vector_fields_fit(request)) refuse()
  tryCatch(check_answerable(request, 1), riemdp_reason = refuse)
  if (!is.null(request$model) && !all(unlist(request$model[c("responses", "predictors")]) %in% names(x))) refuse()
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
  is_positive(request$sd) && is_positive(request$radius) && radius_fits(request$radius) &&
    isTRUE(tryCatch(request$sd >= least * vector_moved(request), error = function(e) FALSE))
}

# before the noise is drawn
pay_answer <- function(ledger, event, data_set, part, delta, files, once = NULL) {
  tryCatch(
    spend_event(ledger, event, "site_answer", data_set, part, if (!is.null(delta)) check_delta(delta), files = files,
                once = once),
    riemdp_error_budget = function(e) abort_riemdp("refused", "the budget of this site doesn't cover the answer.")
  )
}

# ---- answers that went out -------------------------------------------------------------------------------------------

# the request's own text and who sent it name its answer: another request under the same number finds none
answer_path <- function(host, id, digest) file.path(host$keep, paste0(id, "-", digest, ".json"))

kept_answer <- function(host, id, digest) {
  if (is.null(host$keep)) return(NULL)
  path <- answer_path(host, id, digest)
  if (file.exists(path)) paste(readLines(path, warn = FALSE), collapse = "\n")
}

# whole or not at all
keep_answer <- function(host, id, digest, answer) {
  if (is.null(host$keep)) return(invisible())
  half <- tempfile("answer", host$keep)
  on.exit(unlink(half))
  write_new(half, charToRaw(answer))
  if (!file.rename(half, answer_path(host, id, digest))) refuse_because("failed")
}

# ---- the analyst's side ----------------------------------------------------------------------------------------------

#' @rdname site_host
#' @export
site_remote <- function(send, ...) {
  check_no_more(...)
  if (!is.function(send)) abort_riemdp("argument", "`send` must be a function of a text.")
  send <- contained_send(send)
  told <- wire_read(send(wire_write("hello")), c("policy", "refusal"))
  if (told$type == "refusal") abort_riemdp("refused", paste0(reason_words(told$reason), "."))
  policy <- parse_policy(told$text)
  if (!identical(policy_hash(policy), told$hash) || !identical(sha256(told$text), told$hash)) {
    abort_wire("the policy isn't what its hash says.")
  }
  hash <- told$hash
  out <- site(told$records, function(request) ask_remote(send, request, hash))
  out$policy <- c(unclass(policy), list(hash = hash))
  out$budget <- function() budget_left(send)
  out
}

# what a site's budget has left for whoever asks
budget_left <- function(send) {
  told <- wire_read(send(wire_write("ledger")), c("budget", "refusal"))
  if (told$type == "refusal") abort_riemdp("refused", paste0(reason_words(told$reason), "."))
  value <- if (is.list(told$value)) told$value
  rows <- length(value$unit)
  ok <- rows >= 1 && all(vapply(value$unit, is_string, NA)) &&
    all(vapply(c("limit", "spent", "left"), function(name) is.double(value[[name]]) && length(value[[name]]) == rows,
               NA))
  ok <- ok && (is.null(value$answers) || is_positive(value$answers) || identical(value$answers, 0))
  if (!ok) abort_wire("no budget.")
  data.frame(site = told$site, unit = unlist(value$unit), limit = value$limit, spent = value$spent, left = value$left,
             answers = value$answers %||% Inf)
}

# What the policies of sites that have sent theirs would refuse, of all that a call is going to ask: told before the
# first site pays
check_policies <- function(x, requests, answers = length(requests)) {
  for (i in seq_along(x$pieces)) {
    policy <- x$pieces[[i]]$policy
    if (is.null(policy)) next
    for (request in requests) check_policy_has(policy, request, i, x$sizes[i])
    if (is.null(policy$most_answers)) next
    budget <- x$holders[[i]]$budget
    told <- if (!is.null(budget)) tryCatch(budget(), riemdp_error = function(e) NULL)
    left <- min(policy$most_answers, told$answers[1])
    if (answers > left) {
      abort_riemdp("refused", sprintf(
        "site \"%s\": of its policy's %.0f answers %.0f are left, and %.0f are needed. Nothing was asked.",
        policy$site, policy$most_answers, left, answers
      ))
    }
  }
}

check_policy_has <- function(policy, request, i, n) {
  request$index <- as.double(i)
  if (!(vector_dimension(request) <= WIRE_NUMBERS)) {
    abort_riemdp("unsupported", "a sum of so many numbers doesn't fit into a site's message.")
  }
  tryCatch({
    hold_to_policy(policy, request)
    check_answerable(request, n)
    if (request$kernel == "join") hold_to_terms(policy, request, n)
  }, riemdp_reason = function(e) {
    abort_riemdp("refused", sprintf("site \"%s\": %s. Nothing was asked.", policy$site, WIRE_REASONS[[e$reason]]))
  })
}

# a user's function, whose own errors become one of the package
contained_send <- function(send) {
  force(send)
  function(text) {
    tryCatch(send(text), error = function(e) {
      pass_on(e)
      abort_riemdp("callback", paste("`send` stopped:", conditionMessage(e)))
    })
  }
}

reason_words <- function(reason) {
  if (reason %in% names(WIRE_REASONS)) WIRE_REASONS[[reason]] else "the site refuses"
}

ask_remote <- function(send, request, hash) {
  refuse <- function(...) abort_riemdp("refused", paste0(...))
  kernel <- request$kernel
  types <- WIRE_REQUESTS[[kernel]]
  if (is.null(types)) refuse("the site's policy doesn't have this statistic.")
  seed <- if (in_simulation()) request$seed
  id <- request$id %||% random_id()
  request <- request[intersect(names(types), names(request))]
  text <- wire_write("request", id = id, policy = hash, statistic = kernel,
                     fields = lapply(request, wire_value))
  # a seed isn't sent; a site of this process draws by it in a simulation
  answer <- wire_read(if (is.null(seed)) send(text) else with_simulation(seed, send(text)), c("answer", "refusal"))
  if (answer$type == "refusal" && answer$id %in% c(id, NOBODY)) refuse(reason_words(answer$reason), ".")
  if (!identical(answer$id, id)) abort_wire("the answer is to another request.")
  if (!identical(answer$policy, hash)) abort_wire("the answer is by another policy.")
  answer$value
}
