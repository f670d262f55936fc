# Events in words, and what composed ones are made of.

# ---- printing --------------------------------------------------------------------------------------------------------

# long: a line for each kind of event
describe_event <- function(e) {
  p <- e$parameters
  inside <- vapply(e$children, describe_event, "")
  number <- function(x) sprintf("%.6g", x)
  switch(e$type,
    pure = sprintf("pure(epsilon = %s%s)", number(p$epsilon), if (isTRUE(p$range)) ", range" else ""),
    laplace = sprintf("Laplace(scale = %s)", number(p$scale)),
    discrete_laplace = sprintf("discrete Laplace(scale = %s, sensitivity = %s)", number(p$scale),
                               number(p$sensitivity)),
    gaussian = sprintf("Gaussian(noise multiplier = %s)", number(p$noise_multiplier)),
    discrete_gaussian = sprintf("discrete Gaussian(sigma = %s, sensitivity = %s, dimension = %s)", number(p$sigma),
                                number(p$sensitivity), number(p$dimension)),
    mixture = sprintf("Gaussian(noise multiplier = %s, %d moves up to %s)", number(p$noise_multiplier),
                      length(p$moves), number(max(p$moves))),
    gdp = sprintf("GDP(mu = %s)", number(p$mu)),
    zcdp = sprintf("zCDP(rho = %s)", number(p$rho)),
    rdp = sprintf("RDP(%d orders from %s to %s)", length(p$orders), number(p$orders[1]),
                  number(p$orders[length(p$orders)])),
    approx = sprintf("approximate(epsilon = %s, delta = %s)", number(p$epsilon), number(p$delta)),
    custom = sprintf("custom(%s, assumed: %s)", encodeString(p$label), paste(inside, collapse = ", ")),
    pair = sprintf("pair(%s, assumed: %d outcomes)", encodeString(p$label), length(p$p)),
    poisson = sprintf("Poisson sample(q = %s, %s)", number(p$q), inside),
    poisson_replaced = sprintf("Poisson sample(q = %s, Gaussian(noise multiplier = %s [add-remove]))", number(p$q),
                               number(p$noise_multiplier)),
    poisson_capped = sprintf("Poisson sample(q = %s, at most %s of %s, %s)", number(p$q), number(p$most),
                             number(p$records), inside),
    resample = sprintf("sample with replacement(size = %s of %s, %s)", number(p$size), number(p$n), inside),
    allocation = sprintf("one of %s steps by lot(%s)", number(p$steps), inside),
    sample = sprintf("sample without replacement(q = %s, %s)", number(p$q), inside),
    shuffle = sprintf("shuffle(n = %s%s%s, %s)", number(p$n),
                      if (is.null(p$variation)) "" else sprintf(", variation = %s", number(p$variation)),
                      if (is.null(p$common)) "" else sprintf(", common = %s", number(p$common)), inside),
    select = sprintf("best of several(mean = %s, shape = %s, %s)", number(p$mean), number(p$shape), inside),
    compose = describe_composed(inside, p$times),
    parallel = sprintf("parallel over %s keys(%s)", p$keys, paste(inside, collapse = ", "))
  )
}

describe_composed <- function(inside, times) {
  text <- if (length(inside) > 6) c(inside[1:5], sprintf("and %d more", length(inside) - 5L)) else inside
  text <- paste(text, collapse = " + ")
  if (times == 1) return(text)
  sprintf("%s x %s", format(times, big.mark = ",", scientific = FALSE),
          if (length(inside) > 1) paste0("(", text, ")") else text)
}

#' @rdname dp_event
#' @param x an event.
#' @export
format.riemdp_event <- function(x, ...) {
  x <- check_event(x)
  paste0(describe_event(x), switch(x$adjacency, either = " [adjacency open]", sprintf(" [%s]", x$adjacency)))
}

#' @rdname dp_event
#' @export
print.riemdp_event <- function(x, ...) {
  cat("Event: ", format(x), "\n", sep = "")
  invisible(x)
}

# ---- reading ---------------------------------------------------------------------------------------------------------

# The composed parts as list(event, times), equal ones counted together
event_parts <- function(event, times = 1) {
  parts <- collect_parts(event, times)
  keys <- vapply(parts, function(part) event_key(part$event), "")
  lapply(unname(split(parts, factor(keys, unique(keys)))), function(same) {
    list(event = same[[1]]$event, times = sum(vapply(same, `[[`, 0, "times")))
  })
}

collect_parts <- function(event, times) {
  if (event$type != "compose") {
    return(list(list(event = event, times = times)))
  }
  do.call(c, lapply(event$children, collect_parts, times * event$parameters$times))
}

# equal keys: equal events, whatever their stated adjacency. Words stand behind their length: a label may hold anything.
event_key <- function(e) {
  words <- function(p) {
    if (is.numeric(p)) return(paste(sprintf("%a", p), collapse = ","))
    p <- as.character(p)
    paste0(nchar(p, "bytes"), ":", p, collapse = ",")
  }
  paste0(e$type, "{", paste(vapply(e$parameters, words, ""), collapse = ";"), "}(",
         paste(vapply(e$children, event_key, ""), collapse = "|"), ")")
}

event_assumed <- function(e) e$type %in% c("custom", "pair") || any(vapply(e$children, event_assumed, NA))
